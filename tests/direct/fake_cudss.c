/*
  fake_cudss.c - a replacement of libcudss.so.1 for the emulated GPU. It has the functions that petscpack opens, with the
  arguments and meaning of cuDSS. Factors are dense complex matrices, also of real ones, in device memory from the memory handler.

  As cuDSS does, it replaces pivots that are absolutely small, counts them, and reports success. With matching it exchanges
  rows, and a zero pivot becomes NaN. A factorization of a symmetric matrix has no exchanges. Deterministic mode excludes
  refinement and Bunch-Kaufman pivots. In hybrid memory the factor is in the host's.

  FAKE_CUDSS_VERSION is the version that it reports; with FAKE_CUDSS_WITHOUT_EXECUTE it lacks cudssExecute(). The environment
  variable SPMV_FAKE_CUDSS_FAIL names a function, or a phase ("analysis", "factorization", "refactorization", "solve"), that
  fails, or is "pivots" or "growth": each factorization without matching has a wrong last pivot, which it has replaced, or
  which it does not tell of; with "cores" an analysis by a thread that has one core fails.
*/
#define _GNU_SOURCE /* for sched_getaffinity() */
#include <complex.h>
#include <cuda_runtime_api.h>
#include <math.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifndef FAKE_CUDSS_VERSION
  #define FAKE_CUDSS_VERSION 10000
#endif
#define PUBLIC __attribute__((visibility("default")))

enum { SUCCESS = 0, ALLOC_FAILED = 2, INVALID = 3, NOT_SUPPORTED = 4, FAILED = 5 };
enum { GENERAL = 0, SYMMETRIC = 1, SPD = 3 };
enum { REAL = 1, COMPLEX = 5 };
enum { ANALYSIS = 3, FACTORIZATION = 4, REFACTORIZATION = 8, SOLVE = 1008 };
enum {
  MATCHING      = 3,
  SOLVE_MODE    = 4,
  IR_STEPS      = 5,
  PIVOT_TYPE    = 7,
  HYBRID        = 11,
  HYBRID_LIMIT  = 12,
  DETERMINISTIC = 24,
  CONFIGS       = 40,
  BUNCH_KAUFMAN = 6
};
enum { INFO = 0, LU_NNZ = 1, NPIVOTS = 2, INERTIA = 3, USER_PERM = 9, ESTIMATES = 13 };

typedef double complex Number;

typedef struct {
  void *ctx;
  int (*alloc)(void *, void **, size_t, void *);
  int (*free)(void *, void *, size_t, void *);
  char name[64];
} Memory;
typedef struct {
  Memory       memory;
  cudaStream_t stream;
} Handle;
typedef struct {
  int     value[CONFIGS];
  int64_t limit; /* of device memory in hybrid mode */
} Config;
typedef struct {
  int64_t     rows, columns, ld, nnz;
  const void *row_ptr, *col;
  void       *values;
  int         kind, upper, type;
} Matrix;
typedef struct {
  Handle  *handle;
  int64_t  n;
  Number  *factor; /* [n][n] by rows, in device memory, or in the host's if hybrid */
  int64_t *row;    /* [n] on the host: row i of the factors is row row[i] of the matrix */
  int      info, pivots, inertia[2], hybrid;
  int64_t  nnz, estimate[16]; /* of memory; 1: peak on the device; 4: the least in hybrid mode */
} Data;

static const double least = 1e-13; /* of a pivot */

static int fails(const char *what)
{
  const char *which = getenv("SPMV_FAKE_CUDSS_FAIL");

  return which && !strcmp(which, what);
}

static void *get(const Handle *h, const void *from, size_t bytes)
{
  void *to = malloc(bytes + 1);

  (void)cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, h->stream);
  (void)cudaStreamSynchronize(h->stream);
  return to;
}
static int put(const Handle *h, void *to, const void *from, size_t bytes)
{
  return cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, h->stream) || cudaStreamSynchronize(h->stream)
             ? FAILED
             : SUCCESS;
}

/* Numbers of a type in device memory, as complex ones on the host, and back */
static Number *get_numbers(const Handle *h, const void *from, int64_t n, int type)
{
  double *read = get(h, from, (size_t)n * (type == COMPLEX ? sizeof(Number) : sizeof(double)));
  Number *to   = malloc((size_t)n * sizeof *to + 1);

  for (int64_t i = 0; i < n; i++) to[i] = type == COMPLEX ? CMPLX(read[2 * i], read[2 * i + 1]) : read[i];
  free(read);
  return to;
}
static int put_numbers(const Handle *h, void *to, Number from[], int64_t n, int type)
{
  double *real = (double *)from;

  for (int64_t i = 0; i < n && type == REAL; i++) real[i] = creal(from[i]); /* from the first on: none is overwritten */
  return put(h, to, from, (size_t)n * (type == COMPLEX ? sizeof(Number) : sizeof(double)));
}

static int make(const char *function, size_t bytes, void *out)
{
  void *made = fails(function) ? NULL : calloc(1, bytes);

  memcpy(out, &made, sizeof made);
  return made ? SUCCESS : FAILED;
}

PUBLIC int cudssGetProperty(int property, int *value)
{
  if (fails("cudssGetProperty")) return FAILED;
  *value = property == 0   ? FAKE_CUDSS_VERSION / 10000
           : property == 1 ? FAKE_CUDSS_VERSION / 100 % 100
                           : FAKE_CUDSS_VERSION % 100;
  return SUCCESS;
}
PUBLIC int cudssCreate(Handle **h) { return make("cudssCreate", sizeof **h, h); }
PUBLIC int cudssDestroy(Handle *h)
{
  free(h);
  return SUCCESS;
}
PUBLIC int cudssSetStream(Handle *h, void *stream)
{
  h->stream = stream;
  return SUCCESS;
}
PUBLIC int cudssSetThreadingLayer(Handle *h, const char *file) { return h && file ? SUCCESS : INVALID; }
PUBLIC int cudssSetDeviceMemHandler(Handle *h, const Memory *memory)
{
  h->memory = *memory;
  return SUCCESS;
}
PUBLIC int cudssConfigCreate(Config **c) { return make("cudssConfigCreate", sizeof **c, c); }
PUBLIC int cudssConfigDestroy(Config *c)
{
  free(c);
  return SUCCESS;
}
PUBLIC int cudssConfigSet(Config *c, int which, const void *value, size_t bytes)
{
  const int wide = which == HYBRID_LIMIT;

  if (bytes != (wide ? sizeof c->limit : sizeof(int)) || which < 0 || which >= CONFIGS || fails("cudssConfigSet"))
    return INVALID;
  memcpy(wide ? (void *)&c->limit : (void *)&c->value[which], value, bytes);
  return SUCCESS;
}
PUBLIC int cudssDataCreate(Handle *h, Data **d)
{
  const int result = make("cudssDataCreate", sizeof **d, d);

  if (!result) (*d)->handle = h;
  return result;
}
PUBLIC int cudssDataDestroy(Handle *h, Data *d)
{
  if (d->factor && !d->hybrid)
    (void)h->memory.free(h->memory.ctx, d->factor, (size_t)(d->n * d->n) * sizeof(Number), h->stream);
  if (d->hybrid) free(d->factor);
  free(d->row);
  free(d);
  return SUCCESS;
}
/* A permutation from the user is checked, and not used */
PUBLIC int cudssDataSet(Handle *h, Data *d, int which, const void *value, size_t bytes)
{
  const int64_t  n    = (int64_t)(bytes / 4);
  const int32_t *perm = value;
  char          *seen = calloc((size_t)n + 1, 1);
  int            bad  = which != USER_PERM;

  (void)h;
  (void)d;
  for (int64_t i = 0; i < n && !bad; i++) bad = perm[i] < 0 || perm[i] >= n || seen[perm[i]]++;
  free(seen);
  return bad ? INVALID : SUCCESS;
}
PUBLIC int cudssDataGet(Handle *h, Data *d, int which, void *value, size_t bytes, size_t *written)
{
  const void *from = which == INFO        ? (void *)&d->info
                     : which == LU_NNZ    ? (void *)&d->nnz
                     : which == NPIVOTS   ? (void *)&d->pivots
                     : which == ESTIMATES ? (void *)d->estimate
                                          : d->inertia;

  (void)h;
  *written = which == ESTIMATES ? sizeof d->estimate : which == LU_NNZ || which == INERTIA ? 8 : 4;
  if (bytes != *written || (which > INERTIA && which != ESTIMATES) || fails("cudssDataGet")) return INVALID;
  memcpy(value, from, *written);
  return SUCCESS;
}
PUBLIC int cudssMatrixCreateDn(Matrix **m, int64_t rows, int64_t columns, int64_t ld, const void *values, int type,
                               int layout)
{
  const int result = make("cudssMatrixCreateDn", sizeof **m, m);

  if (result || (type != REAL && type != COMPLEX) || layout != 0 || ld < rows) return result ? result : INVALID;
  **m          = (Matrix){.rows = rows, .columns = columns, .ld = ld, .type = type};
  (*m)->values = (void *)(uintptr_t)values;
  return SUCCESS;
}
PUBLIC int cudssMatrixCreateCsr(Matrix **m, int64_t rows, int64_t columns, int64_t nnz, const void *row_ptr,
                                const void *row_end, const void *col, const void *values, int offset_type,
                                int index_type, int value_type, int kind, int part, int base)
{
  const int result = make("cudssMatrixCreateCsr", sizeof **m, m);

  if (result || row_end || offset_type != 10 || index_type != 10 || (value_type != REAL && value_type != COMPLEX) ||
      base)
    return result ? result : INVALID;
  if (value_type == COMPLEX && kind == SPD) return INVALID;
  **m          = (Matrix){.rows    = rows,
                          .columns = columns,
                          .nnz     = nnz,
                          .row_ptr = row_ptr,
                          .col     = col,
                          .kind    = kind,
                          .upper   = part == 2,
                          .type    = value_type};
  (*m)->values = (void *)(uintptr_t)values;
  return SUCCESS;
}
PUBLIC int cudssMatrixDestroy(Matrix *m)
{
  free(m);
  return SUCCESS;
}

static int analyse(const Config *c, Data *d, const Matrix *m)
{
  cpu_set_t cores;

  if (c->value[DETERMINISTIC] && (c->value[IR_STEPS] || c->value[PIVOT_TYPE])) return NOT_SUPPORTED;
  if (c->value[PIVOT_TYPE] == BUNCH_KAUFMAN && m->kind != SYMMETRIC) return NOT_SUPPORTED;
  if (fails("cores") && (sched_getaffinity(0, sizeof cores, &cores) || CPU_COUNT(&cores) < 2)) return FAILED;

  d->n           = m->rows;
  d->row         = realloc(d->row, (size_t)d->n * sizeof *d->row);
  d->nnz         = d->n * d->n;
  d->hybrid      = c->value[HYBRID];
  d->estimate[1] = d->hybrid ? c->limit : d->nnz * (int64_t)sizeof(Number);
  d->estimate[4] = d->nnz * 4;
  return d->hybrid && c->limit < d->estimate[4] ? INVALID : SUCCESS;
}

static int make_room(Handle *h, Data *d)
{
  void        *block = NULL;
  const size_t bytes = (size_t)d->nnz * sizeof(Number);

  if (d->factor) return SUCCESS;
  if (d->hybrid) block = malloc(bytes + 1);
  else if (h->memory.alloc(h->memory.ctx, &block, bytes, h->stream)) return ALLOC_FAILED;
  d->factor = block;
  return SUCCESS;
}

/* The matrix as a dense one, of both triangles */
static Number *dense(const Handle *h, const Matrix *m)
{
  const int64_t n       = m->rows;
  int32_t      *row_ptr = get(h, m->row_ptr, (size_t)(n + 1) * 4), *col = get(h, m->col, (size_t)m->nnz * 4);
  Number       *values = get_numbers(h, m->values, m->nnz, m->type), *a = calloc((size_t)(n * n) + 1, sizeof *a);

  for (int64_t i = 0; i < n; i++)
    for (int64_t k = row_ptr[i]; k < row_ptr[i + 1]; k++) {
      if (m->upper && col[k] < i) continue;
      a[i * n + col[k]] = values[k];
      if (m->upper) a[col[k] * n + i] = values[k];
    }
  free(row_ptr);
  free(col);
  free(values);
  return a;
}

static void exchange(Data *d, Number *a, int64_t k)
{
  int64_t best = k;

  for (int64_t i = k + 1; i < d->n; i++)
    if (cabs(a[i * d->n + k]) > cabs(a[best * d->n + k])) best = i;
  for (int64_t j = 0; best != k && j < d->n; j++) {
    const Number t     = a[k * d->n + j];
    a[k * d->n + j]    = a[best * d->n + j];
    a[best * d->n + j] = t;
  }
  const int64_t r = d->row[k];
  d->row[k]       = d->row[best];
  d->row[best]    = r;
}

static void eliminate(const Data *d, Number *a, int64_t k)
{
  const int64_t n = d->n;

  for (int64_t i = k + 1; i < n; i++) {
    const Number l = a[i * n + k] /= a[k * n + k];
    for (int64_t j = k + 1; l != 0 && j < n; j++) a[i * n + j] -= l * a[k * n + j];
  }
}

static int factor(Handle *h, const Config *c, Data *d, const Matrix *m)
{
  const int64_t n = d->n;
  Number       *a = dense(h, m);

  if (make_room(h, d)) {
    free(a);
    return ALLOC_FAILED;
  }
  d->info = d->pivots = d->inertia[0] = d->inertia[1] = 0;
  for (int64_t k = 0; k < n; k++) d->row[k] = k;
  for (int64_t k = 0; k < n && !d->info; k++) {
    Number *pivot = &a[k * n + k];

    if (c->value[MATCHING]) exchange(d, a, k);
    else if (k == n - 1 && fails("pivots")) *pivot = least / 10;
    else if (k == n - 1 && fails("growth")) *pivot *= 1.5;
    if (m->kind == SPD && !(creal(*pivot) > 0)) d->info = (int)k + 1;
    if (cabs(*pivot) < least) {
      *pivot = creal(*pivot) < 0 ? -least : least;
      d->pivots += !c->value[MATCHING]; /* cuDSS does not count them then, and leaves NaN */
      if (c->value[MATCHING]) *pivot = NAN;
    }
    d->inertia[creal(*pivot) < 0]++;
    eliminate(d, a, k);
  }
  const int result = d->hybrid ? SUCCESS : put(h, d->factor, a, (size_t)(n * n) * sizeof *a);
  if (d->hybrid) memcpy(d->factor, a, (size_t)(n * n) * sizeof *a);
  free(a);
  return result;
}

/* P A = L U, with rows of P A as in d->row; A^T = U^T L^T P */
static void solve_column(const Data *d, const Number *lu, int transposed, const Number *b, Number *x)
{
  const int64_t n = d->n;
  Number       *y = malloc((size_t)n * sizeof *y);

  for (int64_t i = 0; i < n; i++) {
    y[i] = transposed ? b[i] : b[d->row[i]];
    for (int64_t j = 0; j < i; j++) y[i] -= (transposed ? lu[j * n + i] : lu[i * n + j]) * y[j];
    if (transposed) y[i] /= lu[i * n + i];
  }
  for (int64_t i = n - 1; i >= 0; i--) {
    for (int64_t j = i + 1; j < n; j++) y[i] -= (transposed ? lu[j * n + i] : lu[i * n + j]) * y[j];
    if (!transposed) y[i] /= lu[i * n + i];
  }
  for (int64_t i = 0; i < n; i++) x[transposed ? d->row[i] : i] = y[i];
  free(y);
}

static int solve(Handle *h, const Config *c, const Data *d, const Matrix *x, const Matrix *b)
{
  const size_t bytes = (size_t)(d->n * d->n) * sizeof(Number);
  Number      *lu = d->hybrid ? d->factor : get(h, d->factor, bytes), *out = malloc((size_t)d->n * sizeof *out);
  int          result = x->rows == d->n && b->rows == d->n && x->columns == b->columns ? SUCCESS : INVALID;

  for (int64_t j = 0; j < b->columns && !result; j++) {
    const int64_t parts = b->type == COMPLEX ? 2 : 1;
    Number       *in    = get_numbers(h, (double *)b->values + j * b->ld * parts, d->n, b->type);

    solve_column(d, lu, c->value[SOLVE_MODE], in, out);
    result = put_numbers(h, (double *)x->values + j * x->ld * parts, out, d->n, x->type);
    free(in);
  }
  if (!d->hybrid) free(lu);
  free(out);
  return result;
}

#ifdef FAKE_CUDSS_WITHOUT_EXECUTE
  #define cudssExecute cudssExecuteOfAnotherName
#endif
PUBLIC int cudssExecute(Handle *h, int phase, const Config *c, Data *d, const Matrix *m, const Matrix *x,
                        const Matrix *b)
{
  if (!x || !b ||
      fails(phase == ANALYSIS          ? "analysis"
            : phase == FACTORIZATION   ? "factorization"
            : phase == REFACTORIZATION ? "refactorization"
                                       : "solve"))
    return FAILED;
  if (phase == ANALYSIS) return analyse(c, d, m);
  if (phase == FACTORIZATION || phase == REFACTORIZATION) return d->row ? factor(h, c, d, m) : INVALID;
  return phase == SOLVE && d->factor ? solve(h, c, d, x, b) : INVALID;
}
