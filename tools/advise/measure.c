/*
  measure.c - the times of conversions and products, measured: of the parent type on the host by MatMult(), of the
  formats by the functions of libspmvpack, on the host and on the GPU where there is one. Processes measure the same
  type at the same time, because they share the memory. The parent type of the GPU belongs to PETSc and is not measured.
*/
#include "advise.h"
#include <petsctime.h>

/* The least of several times counts, until so much time is spent */
#define SECONDS_OF_A_TYPE 0.1
enum { PRODUCTS_AT_LEAST = 5, PRODUCTS_AT_MOST = 1000, PRODUCTS_IN_A_ROW = 10 /* on a GPU, between two waits */ };

/* A product to be repeated: of a matrix on the host, or of a plan on the GPU */
typedef struct {
  Mat       matrix; /* NULL: plan serves */
  Vec       x, y;
  SpmvPlan *plan;
  void     *memory[3]; /* x, y and work of the plan */
  SpmvExec  exec;
} Product;

static PetscErrorCode Multiply(Product *p)
{
  const PetscScalar one = 1, zero = 0;

  PetscFunctionBegin;
  if (p->matrix) PetscCall(MatMult(p->matrix, p->x, p->y));
  else AIJFmtCallSpmv(&p->exec, spmv_mult(p->plan, &one, p->memory[0], &zero, p->memory[1], p->memory[2], &p->exec));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Repeat(Product *p, double *seconds)
{
  const int      in_a_row = p->exec.space == SPMV_DEVICE ? PRODUCTS_IN_A_ROW : 1;
  PetscLogDouble start, end;
  double         least = 0, spent = 0;

  PetscFunctionBegin;
  for (int run = 0; run < PRODUCTS_AT_LEAST || (spent < SECONDS_OF_A_TYPE && run < PRODUCTS_AT_MOST); run++) {
    PetscCall(PetscTime(&start));
    for (int i = 0; i < in_a_row; i++) PetscCall(Multiply(p));
    if (in_a_row > 1) AIJFmtCallSpmv(&p->exec, spmv_stream_wait(&p->exec));
    PetscCall(PetscTime(&end));
    least = run > 0 ? PetscMin(least, end - start) : end - start;
    spent += end - start;
  }
  *seconds += least / in_a_row;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A block on the host, in another matrix of that type. Where it declines, that is a product of the parent type. */
static PetscErrorCode MeasureOnHost(Mat block, MatType type, PetscBool packed, AdviceCost *cost)
{
  Product       p = {.matrix = NULL};
  MatAIJFmtInfo info;

  PetscFunctionBegin;
  spmv_exec_init(&p.exec, SPMV_HOST);
  PetscCall(MatConvert(block, type, MAT_INITIAL_MATRIX, &p.matrix));
  if (packed) PetscCall(MatAIJFmtSetDevice(p.matrix, MATAIJFMT_DEVICE_HOST));
  PetscCall(MatCreateVecs(p.matrix, &p.x, &p.y));
  PetscCall(VecSet(p.x, 1));
  PetscCall(Multiply(&p)); /* which converts */
  PetscCall(Repeat(&p, &cost->measured));
  if (packed) {
    PetscCall(MatAIJFmtGetInfo(p.matrix, &info));
    cost->measured_convert += info.convert_time;
  }
  PetscCall(VecDestroy(&p.y));
  PetscCall(VecDestroy(&p.x));
  PetscCall(MatDestroy(&p.matrix));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Analysis and build; x is filled with zeros, as no format looks at its values */
static SpmvStatus MakePlan(const SpmvFormat *format, const SpmvCsr *csr, Product *p)
{
  const int64_t size = spmv_scalar_bytes(csr->scalar_type), x_bytes = size * csr->pattern.cols;
  SpmvOptions   options;
  SpmvAnalysis  analysis;
  SpmvStatus    status;
  void         *zeros = NULL;

  spmv_options_init(&options, format);
  status = spmv_analyze(format, &csr->pattern, csr->scalar_type, &options, &p->exec, &analysis);
  if (status) return status;
  status = spmv_build(csr, &analysis, &p->exec, &p->plan);
  spmv_analysis_clear(&analysis, &p->exec);
  if (status) return status;
  status = spmv_alloc(&p->exec, p->exec.space, x_bytes, "x", &p->memory[0]);
  if (!status) status = spmv_alloc(&p->exec, p->exec.space, size * csr->pattern.rows, "y", &p->memory[1]);
  if (!status) status = spmv_alloc(&p->exec, p->exec.space, p->plan->memory.work_bytes, "work", &p->memory[2]);
  if (!status) status = spmv_alloc(&p->exec, SPMV_HOST, x_bytes, "zeros", &zeros);
  if (!status && zeros) memset(zeros, 0, (size_t)x_bytes);
  if (!status && zeros) status = spmv_copy(p->memory[0], p->exec.space, zeros, SPMV_HOST, x_bytes, &p->exec);
  if (!status && p->exec.space == SPMV_DEVICE) status = spmv_stream_wait(&p->exec);
  spmv_exec_free(&p->exec, SPMV_HOST, zeros);
  return status;
}

/* A block on the GPU. One that is declined takes the time of the parent type, which is not measured: it adds nothing.
 */
static PetscErrorCode MeasureOnGpu(const SpmvFormat *format, const AdviceMatrix *m, int b, AdviceCost *cost)
{
  Product        p   = {.matrix = NULL};
  SpmvCsr        csr = {.pattern = m->pattern[b], .scalar_type = AIJFMT_SCALAR, .values_space = SPMV_HOST};
  PetscLogDouble start, end;

  PetscFunctionBegin;
  spmv_exec_init(&p.exec, SPMV_DEVICE);
  PetscCall(MatSeqAIJGetArrayRead(m->block[b], (const PetscScalar **)&csr.values));
  PetscCall(PetscTime(&start));
  AIJFmtCallSpmv(&p.exec, MakePlan(format, &csr, &p));
  PetscCall(PetscTime(&end));
  cost->measured_convert += end - start;
  PetscCall(Repeat(&p, &cost->measured));
  for (int i = 0; i < 3; i++) spmv_exec_free(&p.exec, SPMV_DEVICE, p.memory[i]);
  spmv_destroy(&p.plan);
  PetscCall(MatSeqAIJRestoreArrayRead(m->block[b], (const PetscScalar **)&csr.values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The sequential form of a type, as blocks have it */
static PetscErrorCode SequentialType(const AdviceRow *row, MatType *type)
{
  const AIJFmtRow *ours;

  PetscFunctionBegin;
  PetscCall(AIJFmtRowFind(row->type, &ours));
  *type = ours ? ours->seq : MATSEQAIJ;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MeasureType(const AdviceMatrix *m, const AdviceRow *row, int place, AdviceCost *cost)
{
  MatType type = MATSEQAIJ; /* gcc does not see that it is set whenever the call succeeds */
  double  most[2];

  PetscFunctionBegin;
  PetscCall(SequentialType(row, &type));
  for (int b = 0; b < m->count; b++)
    if (place == ADVICE_HOST) PetscCall(MeasureOnHost(m->block[b], type, row->format ? PETSC_TRUE : PETSC_FALSE, cost));
    else PetscCall(MeasureOnGpu(row->format, m, b, cost));
  most[0] = cost->measured;
  most[1] = cost->measured_convert;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, most, 2, MPI_DOUBLE, MPI_MAX, PetscObjectComm((PetscObject)m->whole)));
  cost->measured         = most[0];
  cost->measured_convert = most[1];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A type that declines everything is the parent type. On the GPU no block of that can be measured. */
static PetscBool IsMeasured(const AdviceRow *row, AdvicePlace place)
{
  const AdviceCost *cost = &row->at[place];

  if (!row->format) return place == ADVICE_HOST ? PETSC_TRUE : PETSC_FALSE;
  if (place == ADVICE_GPU && cost->declined > 0) return PETSC_FALSE;
  return cost->declined < cost->blocks ? PETSC_TRUE : PETSC_FALSE;
}

/* Collective */
PetscErrorCode AdviceMeasure(const AdviceMatrix *m, MatAIJFmtAdvice advice)
{
  PetscFunctionBegin;
  for (int place = ADVICE_HOST; place <= ADVICE_GPU; place++) {
    for (int i = 0; advice->place[place].present && i < advice->count; i++) {
      AdviceCost *cost = &advice->row[i].at[place];

      if (!IsMeasured(&advice->row[i], (AdvicePlace)place)) continue;
      PetscCallMPI(MPI_Barrier(advice->comm));
      PetscCall(MeasureType(m, &advice->row[i], place, cost));
    }
  }
  advice->measured = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}
