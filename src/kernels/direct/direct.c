/*
  direct.c - factorizations by cuDSS, and solves with them.

  cuDSS compares pivots with an absolute threshold. So the values are multiplied by a power of two, after which the largest
  one is between 1/2 and 1, and solutions by the same factor: no bit is lost.
*/
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "device/memory.h"
#include "device/object.h"
#include "library.h"

/* The handle of the process, and the device for which it was made: to make one takes as long as a small factorization */
static CudssObject handle;
static int64_t     handle_place;

struct SpmvDirect {
  SpmvObject        object;
  SpmvDirectOptions options;
  SpmvPattern       pattern; /* of the copy ... */
  double           *values;  /* [nnz][parts] and its values, times factor */
  double            factor;
  int64_t           library_bytes; /* allocated by cuDSS for this object */
  CudssObject       config, data, matrix, x, b;
  int               factored; /* so that the next factorization is a refactorization */
  SpmvDirectInfo    info;
};

static SpmvDirect *at_work; /* the object for which cuDSS allocates */

/* ---- the memory of cuDSS comes from the pool ---- */

static int library_alloc(void *ctx, void **block, size_t bytes, void *stream)
{
  (void)ctx;
  *block = spmv_device_alloc_for(SPMV_FOR_ONE_STREAM, (int64_t)bytes, stream);
  if (!*block && bytes > 0) return 1;
  if (at_work) at_work->library_bytes += (int64_t)bytes;
  return 0;
}

static int library_free(void *ctx, void *block, size_t bytes, void *stream)
{
  (void)ctx;
  if (at_work) at_work->library_bytes -= (int64_t)bytes;
  if (block) spmv_device_free_on(block, stream);
  return 0;
}

static SpmvStatus handle_make(SpmvExec *exec)
{
  const CudssLibrary *l      = spmv_cudss();
  CudssMemory         memory = {.alloc = library_alloc, .free = library_free, .name = "petscpack"};

  if (!l) return spmv_fail(exec, SPMV_ERR_UNSUPPORTED, "cuDSS is not open: call spmv_direct_load() first");
  if (handle && handle_place != spmv_device_place())
    return spmv_fail(exec, SPMV_ERR_UNSUPPORTED, "cuDSS serves one device in a process, and another one is current");
  if (handle) return SPMV_SUCCESS;
  SPMV_TRY(spmv_cudss_status(l->Create(&handle), "cudssCreate()", exec));
  handle_place = spmv_device_place();
  SPMV_TRY(spmv_cudss_status(l->SetDeviceMemHandler(handle, &memory), "cudssSetDeviceMemHandler()", exec));
  /* without it one thread reorders; a layer that is named in the environment is taken by NULL */
  (void)l->SetThreadingLayer(handle, getenv("CUDSS_THREADING_LIB") ? NULL : spmv_cudss_threads());
  return SPMV_SUCCESS;
}

void spmv_direct_release(void)
{
  if (handle) (void)spmv_cudss()->Destroy(handle);
  handle = NULL;
}

/* ---- an object ---- */

void spmv_direct_options_init(SpmvDirectOptions *o) { *o = (SpmvDirectOptions){.kind = SPMV_DIRECT_GENERAL}; }

static SpmvStatus set(SpmvDirect *d, int which, int value, SpmvExec *exec)
{
  return spmv_cudss_status(spmv_cudss()->ConfigSet(d->config, which, &value, sizeof value), "cudssConfigSet()", exec);
}

static SpmvStatus configure(SpmvDirect *d, SpmvExec *exec)
{
  const SpmvDirectOptions *o = &d->options;

  SPMV_TRY(set(d, CUDSS_MATCHING, o->matching ? CUDSS_MATCH_PRODUCT : CUDSS_NO_MATCHING, exec));
  /* the deterministic mode has diagonal pivots only: others it refuses for matrices of more than some thousand rows */
  if (o->kind == SPMV_DIRECT_SYMMETRIC && !o->deterministic)
    SPMV_TRY(set(d, CUDSS_PIVOT_TYPE, CUDSS_BUNCH_KAUFMAN, exec));
  if (o->deterministic) SPMV_TRY(set(d, CUDSS_DETERMINISTIC, 1, exec));
  if (d->info.hybrid) {
    SPMV_TRY(set(d, CUDSS_HYBRID_MEMORY, 1, exec));
    SPMV_TRY(spmv_cudss_status(
        spmv_cudss()->ConfigSet(d->config, CUDSS_HYBRID_LIMIT, &o->most_bytes, sizeof o->most_bytes), "a limit", exec));
  }
  return set(d, CUDSS_IR_STEPS, o->deterministic ? 0 : o->refine, exec); /* it has not both */
}

/* Doubles of a value */
static int parts(const SpmvDirect *d) { return d->options.is_complex ? 2 : 1; }
static int type_of(const SpmvDirect *d) { return d->options.is_complex ? CUDSS_C_64F : CUDSS_R_64F; }

static SpmvStatus describe(SpmvDirect *d, SpmvExec *exec)
{
  static const int    kinds[] = {CUDSS_GENERAL, CUDSS_SYMMETRIC, CUDSS_SPD};
  const CudssLibrary *l       = spmv_cudss();
  const SpmvPattern  *p       = &d->pattern;
  int                 result  = l->ConfigCreate(&d->config);

  if (!result) result = l->DataCreate(handle, &d->data);
  if (!result)
    result = l->MatrixCreateCsr(&d->matrix, p->rows, p->rows, p->nnz, p->row_ptr, NULL, p->col, d->values, CUDSS_R_32I,
                                CUDSS_R_32I, type_of(d), kinds[d->options.kind],
                                d->options.kind == SPMV_DIRECT_GENERAL ? CUDSS_FULL : CUDSS_UPPER, 0);
  return spmv_cudss_status(result, "a description of the matrix", exec);
}

static void forget_vectors(SpmvDirect *d)
{
  if (d->x) (void)spmv_cudss()->MatrixDestroy(d->x);
  if (d->b) (void)spmv_cudss()->MatrixDestroy(d->b);
  d->x = d->b = NULL;
}

static SpmvStatus execute(SpmvDirect *d, int phase, const char *what, SpmvExec *exec)
{
  int result = spmv_cudss()->SetStream(handle, exec->stream);

  at_work = d;
  if (!result) result = spmv_cudss()->Execute(handle, phase, d->config, d->data, d->matrix, d->x, d->b);
  at_work = NULL;
  return spmv_cudss_status(result, what, exec);
}

/* Numbers that the library gives, of 64 or of 32 bits according to its version: it refuses the other size */
static SpmvStatus numbers(SpmvDirect *d, int which, int count, int64_t values[], SpmvExec *exec)
{
  const CudssLibrary *l                            = spmv_cudss();
  int32_t             narrow[CUDSS_ESTIMATE_COUNT] = {0};
  size_t              written                      = 0;
  int                 result = l->DataGet(handle, d->data, which, values, (size_t)count * sizeof *values, &written);

  if (!result && written == (size_t)count * sizeof *values) return SPMV_SUCCESS;
  result = l->DataGet(handle, d->data, which, narrow, (size_t)count * sizeof *narrow, &written);
  for (int i = 0; i < count; i++) values[i] = narrow[i];
  return spmv_cudss_status(result, "cudssDataGet()", exec);
}

static SpmvStatus take_values(SpmvDirect *d, const void *values, SpmvExec *exec)
{
  const int64_t count    = d->pattern.nnz * parts(d);
  double        largest  = 0;
  int           exponent = 0;

  if (count > 0) SPMV_TRY(spmv_largest(count, SPMV_F64, values, &largest, exec));
  if (!isfinite(largest)) return spmv_fail(exec, SPMV_ERR_MATRIX, "a value of the matrix is NaN or infinite");
  (void)frexp(largest, &exponent);
  d->factor = ldexp(1, -exponent);
  return spmv_convert(count, d->factor, SPMV_F64, values, SPMV_F64, d->values, exec);
}

static SpmvStatus vectors(SpmvDirect *d, int64_t columns, const void *b, int64_t ldb, void *x, int64_t ldx,
                          SpmvExec *exec)
{
  const CudssLibrary *l = spmv_cudss();
  int                 result;

  forget_vectors(d);
  result = l->MatrixCreateDn(&d->b, d->pattern.rows, columns, ldb, b, type_of(d), 0);
  if (!result) result = l->MatrixCreateDn(&d->x, d->pattern.rows, columns, ldx, x, type_of(d), 0);
  return spmv_cudss_status(result, "cudssMatrixCreateDn()", exec);
}

static SpmvStatus analyse(SpmvDirect *d, SpmvExec *exec)
{
  const size_t bytes = (size_t)d->pattern.rows * sizeof *d->options.order;

  SPMV_TRY(describe(d, exec));
  SPMV_TRY(configure(d, exec));
  if (d->options.order)
    SPMV_TRY(spmv_cudss_status(spmv_cudss()->DataSet(handle, d->data, CUDSS_USER_PERM, d->options.order, bytes),
                               "an ordering", exec));
  SPMV_TRY(
      vectors(d, 1, d->values, d->pattern.rows, d->values, d->pattern.rows, exec)); /* their shapes are looked at */
  SPMV_TRY(execute(d, CUDSS_ANALYSIS, "the analysis", exec));
  return numbers(d, CUDSS_LU_NNZ, 1, &d->info.factor_nonzeros, exec);
}

static void forget_description(SpmvDirect *d)
{
  at_work = d;
  forget_vectors(d);
  if (d->matrix) (void)spmv_cudss()->MatrixDestroy(d->matrix);
  if (d->data) (void)spmv_cudss()->DataDestroy(handle, d->data);
  if (d->config) (void)spmv_cudss()->ConfigDestroy(d->config);
  d->matrix = d->data = d->config = NULL;
  at_work                         = NULL;
}

/* Whether the factors may lie in the host's memory must be told before the analysis, which is what knows their size */
static SpmvStatus analyse_for_memory(SpmvDirect *d, SpmvExec *exec)
{
  int64_t  estimate[CUDSS_ESTIMATE_COUNT], room, total;
  int64_t *most = &d->options.most_bytes;

  SPMV_TRY(analyse(d, exec));
  SPMV_TRY(numbers(d, CUDSS_ESTIMATES, CUDSS_ESTIMATE_COUNT, estimate, exec));
  SPMV_TRY(spmv_device_memory(&room, &total, exec));
  if (*most <= 0 || *most > room) *most = room;
  if (estimate[CUDSS_ESTIMATE_PEAK] <= *most) return SPMV_SUCCESS;
  if (estimate[CUDSS_ESTIMATE_LEAST] > *most)
    return spmv_fail(exec, SPMV_ERR_MEMORY,
                     "the factorization needs %lld MiB of GPU memory, and at most %lld are there",
                     (long long)estimate[CUDSS_ESTIMATE_LEAST] >> 20, (long long)*most >> 20);
  d->info.hybrid = 1;
  forget_description(d);
  return analyse(d, exec);
}

static SpmvStatus check_matrix(const SpmvCsr *csr, SpmvExec *exec)
{
  const SpmvPattern *p = &csr->pattern;

  SPMV_TRY(spmv_check_device("a factorization", exec));
  if (p->rows != p->cols || p->space != SPMV_DEVICE || csr->values_space != SPMV_DEVICE || p->index_type != SPMV_I32 ||
      csr->scalar_type != SPMV_F64)
    return spmv_fail(
        exec, SPMV_ERR_UNSUPPORTED,
        "a factorization needs a square matrix of doubles with 32-bit indices in device memory; it has %lld rows "
        "and %lld columns",
        (long long)p->rows, (long long)p->cols);
  return SPMV_SUCCESS;
}

static SpmvStatus copy_matrix(SpmvDirect *d, const SpmvCsr *csr, SpmvExec *exec)
{
  const SpmvPattern *p       = &csr->pattern;
  const int64_t      bytes[] = {(p->rows + 1) * 4, p->nnz * 4, p->nnz * 8 * parts(d)};
  void *row_ptr, *col, *values, **const arrays[] = {&row_ptr, &col, &values};

  SPMV_TRY(spmv_object_hold(&d->object, SPMV_DEVICE, 3, bytes, "matrix to factor", arrays, exec));
  d->pattern         = *p;
  d->pattern.row_ptr = row_ptr;
  d->pattern.col     = col;
  d->values          = values;
  SPMV_TRY(spmv_copy(row_ptr, SPMV_DEVICE, p->row_ptr, SPMV_DEVICE, bytes[0], exec));
  SPMV_TRY(spmv_copy(col, SPMV_DEVICE, p->col, SPMV_DEVICE, bytes[1], exec));
  return take_values(d, csr->values, exec);
}

static SpmvStatus make(SpmvDirect *d, const SpmvCsr *csr, SpmvExec *exec)
{
  SPMV_TRY(handle_make(exec));
  SPMV_TRY(copy_matrix(d, csr, exec));
  const SpmvStatus status = d->pattern.rows == 0 ? SPMV_SUCCESS : analyse_for_memory(d, exec);
  d->options.order        = NULL; /* the caller's */
  return status;
}

SpmvStatus spmv_direct_create(const SpmvCsr *csr, const SpmvDirectOptions *options, SpmvExec *exec, SpmvDirect **out)
{
  SPMV_TRY(spmv_object_create(check_matrix(csr, exec), sizeof **out, "factorization", exec, out));
  (*out)->options         = *options;
  (*out)->info.rows       = csr->pattern.rows;
  (*out)->info.nonzeros   = csr->pattern.nnz;
  const SpmvStatus status = make(*out, csr, exec);
  if (status) spmv_direct_destroy(out, exec);
  return status;
}

void spmv_direct_destroy(SpmvDirect **out, SpmvExec *exec)
{
  SpmvDirect *d = *out;

  if (!d) return;
  (void)spmv_stream_wait(exec);
  if (handle) {
    (void)spmv_cudss()->SetStream(handle, exec->stream);
    forget_description(d);
  }
  spmv_object_destroy(out);
}

SpmvStatus spmv_direct_factor(SpmvDirect *d, const void *values, SpmvExec *exec)
{
  int64_t     ended = 0, signs[2] = {0, 0};
  const int   phase = d->factored ? CUDSS_REFACTORIZATION : CUDSS_FACTORIZATION;
  const char *what  = d->factored ? "the factorization with new values" : "the factorization";

  SPMV_TRY(take_values(d, values, exec));
  d->info.factorizations++;
  d->info.replaced = 0;
  if (d->pattern.rows == 0) return SPMV_SUCCESS;
  SPMV_TRY(execute(d, phase, what, exec));
  d->factored = 1;
  SPMV_TRY(spmv_stream_wait(exec));
  SPMV_TRY(numbers(d, CUDSS_INFO, 1, &ended, exec));
  if (ended) return spmv_fail(exec, SPMV_ERR_MATRIX, "%s ended at pivot %lld", what, (long long)ended);
  SPMV_TRY(numbers(d, CUDSS_NPIVOTS, 1, &d->info.replaced, exec));
  if (d->options.kind == SPMV_DIRECT_SYMMETRIC && !d->options.is_complex)
    SPMV_TRY(numbers(d, CUDSS_INERTIA, 2, signs, exec));
  d->info.positive = signs[0];
  d->info.negative = signs[1];
  return SPMV_SUCCESS;
}

SpmvStatus spmv_direct_solve(SpmvDirect *d, int transposed, int64_t columns, const void *b, int64_t ldb, void *x,
                             int64_t ldx, SpmvExec *exec)
{
  if (d->pattern.rows == 0 || columns == 0) return SPMV_SUCCESS;
  SPMV_TRY(set(d, CUDSS_SOLVE_MODE, transposed && d->options.kind == SPMV_DIRECT_GENERAL, exec));
  SPMV_TRY(vectors(d, columns, b, ldb, x, ldx, exec));
  SPMV_TRY(execute(d, CUDSS_SOLVE, "a solve", exec));
  d->info.solves++;
  if (d->factor == 1) return SPMV_SUCCESS;
  for (int64_t j = 0; j < columns; j++)
    SPMV_TRY(
        spmv_device_scale(d->pattern.rows * parts(d), SPMV_F64, &d->factor, (double *)x + j * ldx * parts(d), exec));
  return SPMV_SUCCESS;
}

SpmvStatus spmv_direct_refine(SpmvDirect *d, int steps, SpmvExec *exec)
{
  d->options.refine = steps;
  return d->config ? set(d, CUDSS_IR_STEPS, d->options.deterministic ? 0 : steps, exec) : SPMV_SUCCESS;
}

SpmvStatus spmv_direct_function(void *direct, const void *r, void *z, SpmvExec *exec)
{
  SpmvDirect *d = direct;

  SPMV_TRY(spmv_direct_solve(d, 0, 1, r, d->pattern.rows, z, d->pattern.rows, exec));
  d->info.applied++;
  return SPMV_SUCCESS;
}

void spmv_direct_info(const SpmvDirect *d, SpmvDirectInfo *info)
{
  *info       = d->info;
  info->bytes = d->object.bytes + d->library_bytes;
}
