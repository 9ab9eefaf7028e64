/*
  costs.c - what every type would cost: the formats analyze the pattern of each sequential block, as before a
  conversion, and the model of spmv_predict.h turns bytes into seconds. A block that a format declines counts as a block
  of the parent type, which it would stay.
*/
#include "advise.h"
#include <math.h>

static const SpmvScalar scalar = sizeof(PetscReal) == 4 ? SPMV_F32 : SPMV_F64;

static const AdvicePlace places[ADVICE_PLACES] = {
    {.name = "host", .title = "Host, one core", .machine = "one core of an AMD EPYC", .parent = "", .space = SPMV_HOST},
    {.name    = "gpu",
     .title   = "GPU",
     .machine = "an NVIDIA H200",
     .note =
         "There is no GPU here, so the bytes are those of arrays on the host; on a GPU aijrbp takes fewer where many "
         "rows have the same pattern",
     .parent = "cusparse",
     .space  = SPMV_DEVICE},
};

/* The workload of a block, by the parent type if the format declines. Without a GPU, plans for the GPU are analyzed as
   plans for the host. */
static PetscErrorCode Analyze(AdviceCost *cost, const SpmvPattern *pattern, const AdvicePlace *place,
                              const SpmvPatternFacts *facts, SpmvWorkload *work)
{
  const char  *reason = NULL;
  SpmvOptions  options;
  SpmvAnalysis analysis;
  SpmvStatus   status;
  SpmvExec     exec;

  PetscFunctionBegin;
  *work = spmv_workload_csr(pattern, scalar, place->space, facts);
  if (!cost->format) PetscFunctionReturn(0);
  spmv_exec_init(&exec, place->available ? place->space : SPMV_HOST);
  spmv_options_init(&options, cost->format);
  status = spmv_pattern_check(pattern, &exec);
  if (!status) status = spmv_analyze(cost->format, pattern, scalar, &options, &exec, &analysis);
  PetscCheck(status != SPMV_ERR_MEMORY && status != SPMV_ERR_DEVICE, PETSC_COMM_SELF, PETSC_ERR_LIB, "%s: %s",
             spmv_status_text(status), exec.message);
  if (status) reason = exec.message;
  else if (!analysis.accepted) reason = analysis.reason;
  else {
    *work       = spmv_workload(&analysis, facts);
    work->space = place->space;
  }
  if (reason) {
    cost->declined++;
    if (!cost->reason[0]) PetscCall(PetscStrncpy(cost->reason, reason, sizeof cost->reason));
  }
  if (!status) spmv_analysis_clear(&analysis, &exec);
  PetscFunctionReturn(0);
}

static PetscErrorCode AddBlock(AdviceCost *cost, const SpmvPattern *pattern, const AdvicePlace *place,
                               const SpmvPatternFacts *facts)
{
  const SpmvWorkload csr = spmv_workload_csr(pattern, scalar, place->space, facts);
  SpmvPrediction     predicted, parent;
  SpmvWorkload       work;

  PetscFunctionBegin;
  PetscCall(Analyze(cost, pattern, place, facts, &work));
  if (!spmv_predict(&work, &predicted)) predicted.product = INFINITY; /* unknown; sums and maxima preserve it */
  cost->blocks++;
  cost->bytes += (double)work.bytes;
  cost->product += predicted.product;
  (void)spmv_predict(&csr, &parent); /* on a GPU the parent type also makes a copy, which is not a cost of the format */
  cost->convert += predicted.convert - parent.convert;
  PetscFunctionReturn(0);
}

/* The cost of one type in one place over all processes; reason becomes that of the lowest rank that has one */
static PetscErrorCode Reduce(MPI_Comm comm, AdviceCost *cost)
{
  double      sum[] = {cost->bytes, cost->blocks, cost->declined}, most[] = {cost->product, cost->convert};
  PetscMPIInt rank, processes, first;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCallMPI(MPI_Comm_size(comm, &processes));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, sum, 3, MPI_DOUBLE, MPI_SUM, comm));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, most, 2, MPI_DOUBLE, MPI_MAX, comm));
  first = cost->reason[0] ? rank : processes;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_INT, MPI_MIN, comm));
  if (first < processes) PetscCallMPI(MPI_Bcast(cost->reason, sizeof cost->reason, MPI_CHAR, first, comm));
  cost->bytes    = sum[0];
  cost->blocks   = sum[1];
  cost->declined = sum[2];
  cost->product  = most[0];
  cost->convert  = most[1];
  if (AdviceDeclines(cost) && !cost->reason[0])
    PetscCall(PetscStrncpy(cost->reason, "there is nothing to pack", sizeof cost->reason));
  if (AdviceDeclines(cost) || isinf(cost->product)) cost->product = cost->convert = NAN;
  PetscFunctionReturn(0);
}

static PetscErrorCode PatternGet(Mat block, SpmvPattern *pattern)
{
  static const PetscInt no_rows[1] = {0};
  const PetscInt       *row_ptr, *col;
  PetscInt              rows, cols, n;
  PetscBool             done;

  PetscFunctionBegin;
  PetscCall(MatGetLocalSize(block, &rows, &cols));
  PetscCall(MatGetRowIJ(block, 0, PETSC_FALSE, PETSC_FALSE, &n, &row_ptr, &col, &done));
  PetscCheck(done, PETSC_COMM_SELF, PETSC_ERR_SUP, "The matrix does not give its row pointers and columns");
  *pattern = (SpmvPattern){.rows       = rows,
                           .cols       = cols,
                           .nnz        = row_ptr ? row_ptr[rows] : 0,
                           .index_type = sizeof(PetscInt) == 8 ? SPMV_I64 : SPMV_I32,
                           .space      = SPMV_HOST,
                           .row_ptr    = row_ptr ? row_ptr : no_rows,
                           .col        = col};
  PetscFunctionReturn(0);
}

static PetscErrorCode PatternRestore(Mat block, SpmvPattern *pattern)
{
  const PetscInt *row_ptr = pattern->row_ptr, *col = pattern->col;
  PetscInt        n;
  PetscBool       done;

  PetscFunctionBegin;
  PetscCall(MatRestoreRowIJ(block, 0, PETSC_FALSE, PETSC_FALSE, &n, &row_ptr, &col, &done));
  PetscFunctionReturn(0);
}

/* Collective. Blocks without nonzeros are left out. */
PetscErrorCode AdvicePredict(Mat A, Advice *advice)
{
  MPI_Comm         comm     = PetscObjectComm((PetscObject)A);
  Mat              block[2] = {A, NULL};
  const int        blocks   = advice->parallel ? 2 : 1;
  SpmvPattern      pattern[2];
  SpmvPatternFacts facts[2];
  int              devices = spmv_device_count(NULL) > 0;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &devices, 1, MPI_INT, MPI_MIN, comm));
  advice->count = PetscMin(spmv_format_count() + 1, ADVICE_ROWS_MAX);
  if (advice->parallel) PetscCall(MatMPIAIJGetSeqAIJ(A, &block[0], &block[1], NULL));
  for (int b = 0; b < blocks; b++) {
    PetscCall(PatternGet(block[b], &pattern[b]));
    spmv_pattern_facts(&pattern[b], &facts[b]); /* the model uses them only for the host */
  }
  for (int p = 0; p < ADVICE_PLACES; p++) {
    AdvicePlace *place = &advice->place[p];

    *place           = places[p];
    place->available = place->space == SPMV_HOST || devices ? PETSC_TRUE : PETSC_FALSE;
    for (int i = 0; i < advice->count; i++) {
      AdviceCost *cost = &place->row[i];

      *cost = (AdviceCost){.format = i ? spmv_format_get(i - 1) : NULL, .measured = NAN, .measured_convert = NAN};
      PetscCall(PetscSNPrintf(cost->type, sizeof cost->type, "aij%s", i ? cost->format->name : place->parent));
      for (int b = 0; b < blocks; b++)
        if (pattern[b].nnz > 0 || !advice->parallel) PetscCall(AddBlock(cost, &pattern[b], place, &facts[b]));
      PetscCall(Reduce(comm, cost));
    }
  }
  for (int b = 0; b < blocks; b++) PetscCall(PatternRestore(block[b], &pattern[b]));
  PetscFunctionReturn(0);
}

/* Measured seconds if both types were measured, so that measured and predicted times are not mixed */
static void Compared(const AdviceCost *cost, const AdviceCost *parent, double *product, double *convert, double *before)
{
  const PetscBool measured = isfinite(cost->measured) && isfinite(parent->measured);

  *product = measured ? cost->measured : cost->product;
  *convert = measured ? cost->measured_convert : cost->convert;
  *before  = measured ? parent->measured : parent->product;
}

/* Smaller relative gains count as none: times below the resolution of the clock differ by rounding */
#define LEAST_GAIN 1e-6

/* Number of products after which a conversion has paid; NAN: never, or unknown */
double AdvicePaysAfter(const AdviceCost *cost, const AdviceCost *parent)
{
  double product, convert, before;

  Compared(cost, parent, &product, &convert, &before);
  if (cost == parent || !(before - product > LEAST_GAIN * before)) return NAN;
  return PetscMax(1, ceil(convert / (before - product)));
}

/* The rule of aijauto, src/mat/impls/aij/choose.c: the lowest cost of a conversion and all expected products;
   products of a format must be faster than the parent type's by the margin. The unit is one product of the parent type,
   because some times may be measured and some predicted. */
void AdviceChooseBest(Advice *advice)
{
  for (int p = 0; p < ADVICE_PLACES; p++) {
    AdvicePlace *place  = &advice->place[p];
    double       lowest = SPMV_PREDICT_PRODUCTS, product, convert, before;

    for (int i = 1; i < advice->count; i++) {
      double cost;

      Compared(&place->row[i], &place->row[0], &product, &convert, &before);
      cost = (convert + SPMV_PREDICT_PRODUCTS * SPMV_PREDICT_MARGIN * product) / before;
      if (!(cost < lowest)) continue; /* also true if a time is unknown */
      lowest      = cost;
      place->best = i;
    }
  }
}
