/* cycle_cases.c - for the tests of cycles: a cycle with its plans and arrays; see cycle_test.h. */
#include "cycle/cycle_test.h"
#include "unit.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void *room(CycleEngine *e, int64_t bytes)
{
  void *to = NULL;

  UNIT_EQUAL(SPMV_SUCCESS, spmv_alloc(&e->plain, SPMV_DEVICE, bytes + 1, "a test", &to));
  return to;
}

static void copy(CycleEngine *e, void *to, SpmvSpace to_space, const void *from, SpmvSpace from_space, int64_t bytes)
{
  UNIT_EQUAL(SPMV_SUCCESS, spmv_copy(to, to_space, from, from_space, bytes, &e->plain));
  UNIT_EQUAL(SPMV_SUCCESS, spmv_stream_wait(&e->plain));
}

/* The type of the caller's vectors on the finest level, and of the function's vectors on the coarsest level */
static SpmvScalar outer_type(const CycleEngine *e) { return e->c->setup.outer ? SPMV_F64 : e->c->setup.scalar; }

/* Copies factor times n numbers to the device, converted to a type */
static void put(CycleEngine *e, void *to, SpmvScalar type, double factor, const double *from, int64_t n)
{
  double *scaled  = calloc((size_t)n + 1, sizeof *scaled);
  float  *rounded = calloc((size_t)n + 1, sizeof *rounded);

  for (int64_t i = 0; i < n; i++) rounded[i] = (float)(scaled[i] = factor * from[i]);
  copy(e, to, SPMV_DEVICE, type == SPMV_F32 ? (const void *)rounded : (const void *)scaled, SPMV_HOST,
       n * spmv_scalar_bytes(type));
  free(rounded);
  free(scaled);
}

void cycle_engine_put(CycleEngine *e, void *to, const double *from, int64_t n)
{
  put(e, to, outer_type(e), 1, from, n);
}

void cycle_engine_get(CycleEngine *e, const void *from, double *to, int64_t n)
{
  const int single  = outer_type(e) == SPMV_F32;
  float    *rounded = calloc((size_t)n + 1, sizeof *rounded);

  copy(e, single ? (void *)rounded : (void *)to, SPMV_HOST, from, SPMV_DEVICE, n * spmv_scalar_bytes(outer_type(e)));
  for (int64_t i = 0; i < n && single; i++) to[i] = rounded[i];
  free(rounded);
}

static void *put_new(CycleEngine *e, SpmvScalar type, double factor, const double *from, int64_t n)
{
  void *to = room(e, n * 8);

  put(e, to, type, factor, from, n);
  return to;
}

/* ---- one operator ---- */

/* The values in CSR order. Changed values keep the zeros, and so the pattern. */
static double *values_of(const CycleMatrix *m)
{
  double *values = calloc((size_t)m->nnz + 1, sizeof *values);
  int64_t k      = 0;

  for (int64_t i = 0; i < m->rows * m->cols; i++)
    if (m->dense[i] != 0) values[k++] = m->dense[i];
  return values;
}

static void put_pattern(CycleEngine *e, CycleMatrix *m)
{
  int32_t *row_ptr = calloc((size_t)m->rows + 1, sizeof *row_ptr);
  int32_t *col     = calloc((size_t)(m->rows * m->cols) + 1, sizeof *col);

  for (int64_t i = 0; i < m->rows; i++) {
    for (int64_t j = 0; j < m->cols; j++)
      if (m->dense[i * m->cols + j] != 0) col[m->nnz++] = (int32_t)j;
    row_ptr[i + 1] = (int32_t)m->nnz;
  }
  m->row_ptr = room(e, (m->rows + 1) * 4);
  m->col     = room(e, m->nnz * 4);
  copy(e, m->row_ptr, SPMV_DEVICE, row_ptr, SPMV_HOST, (m->rows + 1) * 4);
  copy(e, m->col, SPMV_DEVICE, col, SPMV_HOST, m->nnz * 4);
  free(row_ptr);
  free(col);
}

static void open_matrix(CycleEngine *e, CycleMatrix *m, SpmvScalar type, double factor, const double *dense,
                        int64_t rows, int64_t cols)
{
  const SpmvFormat *format = spmv_format_find(e->c->setup.format);
  SpmvAnalysis      analysis;
  SpmvOptions       options;

  m->dense  = dense;
  m->rows   = rows;
  m->cols   = cols;
  m->factor = factor;
  put_pattern(e, m);
  double *values = values_of(m);
  m->values      = put_new(e, type, factor, values, m->nnz);
  free(values);
  const SpmvCsr csr = {.pattern      = {.rows       = rows,
                                        .cols       = cols,
                                        .nnz        = m->nnz,
                                        .index_type = SPMV_I32,
                                        .space      = SPMV_DEVICE,
                                        .row_ptr    = m->row_ptr,
                                        .col        = m->col},
                       .scalar_type  = type,
                       .values_space = SPMV_DEVICE,
                       .values       = m->values};
  spmv_options_init(&options, format);
  UNIT_EQUAL(SPMV_SUCCESS, spmv_analyze(format, &csr.pattern, csr.scalar_type, &options, &e->plain, &analysis));
  UNIT_EQUAL(SPMV_SUCCESS, spmv_build(&csr, &analysis, &e->plain, &m->plan));
  spmv_analysis_clear(&analysis, &e->plain);
  m->work = m->plan->memory.work_bytes ? room(e, m->plan->memory.work_bytes) : NULL;
}

static void renew_matrix(CycleEngine *e, CycleMatrix *m, const double *dense)
{
  m->dense       = dense;
  double *values = values_of(m);
  put(e, m->values, m->plan->scalar_type, m->factor, values, m->nnz);
  UNIT_EQUAL(SPMV_SUCCESS, spmv_update_values(m->plan, m->values, SPMV_DEVICE, &e->plain));
  UNIT_EQUAL(SPMV_SUCCESS, spmv_stream_wait(&e->plain));
  free(values);
}

static void close_matrix(CycleEngine *e, CycleMatrix *m)
{
  void *const blocks[] = {m->row_ptr, m->col, m->values, m->work};

  spmv_destroy(&m->plan);
  for (int i = 0; i < 4; i++) spmv_exec_free(&e->plain, SPMV_DEVICE, blocks[i]);
}

static SpmvOperator operator_of(const CycleMatrix *m, int transposed)
{
  return (SpmvOperator){.plan = m->plan, .work = m->work, .transposed = transposed};
}

/* ---- the hierarchy ---- */

static void prepare_transposes(CycleEngine *e)
{
  for (int l = 1; l < e->c->setup.levels && !e->c->setup.own_restriction; l++)
    UNIT_EQUAL(SPMV_SUCCESS, spmv_prepare_transpose(e->matrix[l][1].plan, &e->plain));
}

static double *diagonal_matrix(const CycleLevel *level, int up)
{
  double *dense = calloc((size_t)level->rows * (size_t)level->rows + 1, sizeof *dense);

  for (int i = 0; i < level->rows; i++) dense[i * level->rows + i] = level->m[up][i];
  return dense;
}

static SpmvCycleSmoother function_of(CycleEngine *e, int l, int up)
{
  const CycleLevel *level = &e->c->level[l];
  double           *dense = diagonal_matrix(level, up);

  open_matrix(e, &e->of_m[l][up], e->c->setup.scalar, 1, dense, level->rows, level->rows);
  free(dense);
  e->m_operator[l][up] = operator_of(&e->of_m[l][up], 0);
  return (SpmvCycleSmoother){.steps = e->c->setup.steps[up],
                             .step  = level->step[up],
                             .kind  = SPMV_PC_FUNCTION,
                             .apply = spmv_operator_product,
                             .ctx   = &e->m_operator[l][up],
                             .flops = level->rows};
}

static SpmvCycleSmoother smoother_of(CycleEngine *e, int l, int up)
{
  const CycleSetup *u     = &e->c->setup;
  const int         block = u->block[up];

  if (u->apply[up]) return function_of(e, l, up);
  e->m[l][up] =
      block ? put_new(e, u->scalar, 1 / e->scale, e->c->level[l].m[up], (int64_t)e->c->level[l].rows * block) : NULL;
  return (SpmvCycleSmoother){.steps      = u->steps[up],
                             .step       = e->c->level[l].step[up],
                             .kind       = block > 1 ? SPMV_PC_BLOCKS
                                           : block   ? SPMV_PC_DIAGONAL
                                                     : SPMV_PC_IDENTITY,
                             .block_size = block,
                             .values     = e->m[l][up]};
}

static void open_level(CycleEngine *e, int l)
{
  const CycleLevel *from = &e->c->level[l];
  CycleMatrix      *m    = e->matrix[l];
  SpmvCycleLevel   *to   = &e->level[l];
  const int         own  = e->c->setup.own_restriction;
  const SpmvScalar  type = e->c->setup.scalar;

  to->rows = from->rows;
  if (l == 0) return;
  open_matrix(e, &m[0], type, e->scale, from->a, from->rows, from->rows);
  open_matrix(e, &m[1], type, 1, from->p, from->rows, from->cols);
  if (own) open_matrix(e, &m[2], type, 1, from->r, from->cols, from->rows);
  to->matrix        = operator_of(&m[0], 0);
  to->interpolation = operator_of(&m[1], 0);
  to->restriction   = operator_of(own ? &m[2] : &m[1], !own);
  to->down          = smoother_of(e, l, 0);
  to->up            = smoother_of(e, l, 1);
  to->visits        = e->c->setup.visits;
}

/* A power of two that brings the entries of the finest matrix near 1 */
static double scale_of(const CycleCase *c)
{
  const int64_t n       = cycle_rows(c);
  double        largest = 0;

  for (int64_t i = 0; i < n * n; i++) largest = fmax(largest, fabs(c->level[c->setup.levels - 1].a[i]));
  return largest > 0 ? scalbn(1, -ilogb(largest)) : 1;
}

void cycle_engine_prepare(CycleEngine *e, const CycleCase *c)
{
  const CycleSetup *u = &c->setup;
  const int64_t     n = c->level[0].rows;

  memset(e, 0, sizeof *e);
  e->c = c;
  hooks_init(&e->hooks);
  spmv_exec_init(&e->plain, SPMV_DEVICE);
  if (u->own_stream) UNIT_EQUAL(SPMV_SUCCESS, spmv_stream_create(&e->plain, &e->plain.stream));
  hooks_exec(&e->hooks, SPMV_DEVICE, e->plain.stream, &e->exec);
  e->scale = u->outer ? scale_of(c) : 1;
  for (int l = 0; l < u->levels; l++) open_level(e, l);
  prepare_transposes(e);
  open_matrix(e, &e->inverse_matrix, outer_type(e), 1, c->inverse, n, n);
  e->coarse  = operator_of(&e->inverse_matrix, 0);
  e->inverse = put_new(e, u->scalar, 1 / e->scale, c->inverse, n * n);
  e->b       = put_new(e, outer_type(e), 1, c->b, cycle_rows(c));
  e->x       = put_new(e, outer_type(e), 1, c->b, cycle_rows(c));
  spmv_cycle_options_init(&e->options);
  e->options.levels      = u->levels;
  e->options.level       = e->level;
  e->options.scalar_type = u->scalar;
  e->options.cycles      = u->cycles;
  e->options.dense_rows  = u->dense_rows;
  e->options.inverse     = u->function ? NULL : e->inverse;
  e->options.coarse      = u->function ? spmv_operator_product : NULL;
  e->options.coarse_ctx  = &e->coarse;
  if (u->outer) e->options.matrix_scale = &e->scale;
}

void cycle_engine_make(CycleEngine *e)
{
  e->status = spmv_cycle_create(&e->options, &e->exec, &e->cycle);
  if (!e->status) e->status = spmv_cycle_renew(e->cycle, &e->exec);
}

void cycle_engine_open(CycleEngine *e, const CycleCase *c)
{
  cycle_engine_prepare(e, c);
  cycle_engine_make(e);
  if (e->status) unit_check(0, __FILE__, __LINE__, e->exec.message);
}

void cycle_engine_close(CycleEngine *e)
{
  UNIT_EQUAL(SPMV_SUCCESS, spmv_stream_wait(&e->plain));
  spmv_cycle_destroy(&e->cycle);
  UNIT_CHECK(e->cycle == NULL && hooks_clean(&e->hooks));
  hooks_drop(&e->hooks);
  for (int l = 0; l < e->c->setup.levels; l++) {
    for (int k = 0; k < 3; k++) close_matrix(e, &e->matrix[l][k]);
    for (int up = 0; up < 2; up++) {
      spmv_exec_free(&e->plain, SPMV_DEVICE, e->m[l][up]);
      close_matrix(e, &e->of_m[l][up]);
    }
  }
  close_matrix(e, &e->inverse_matrix);
  void *const blocks[] = {e->inverse, e->b, e->x};
  for (int i = 0; i < 3; i++) spmv_exec_free(&e->plain, SPMV_DEVICE, blocks[i]);
  spmv_stream_destroy(e->plain.stream);
}

SpmvStatus cycle_engine_renew(CycleEngine *e)
{
  const CycleCase  *c = e->c;
  const CycleSetup *u = &c->setup;
  const int64_t     n = c->level[0].rows;

  e->scale = u->outer ? scale_of(c) : 1;
  for (int l = 1; l < u->levels; l++) {
    const CycleLevel *from = &c->level[l];
    e->matrix[l][0].factor = e->scale;
    renew_matrix(e, &e->matrix[l][0], from->a);
    renew_matrix(e, &e->matrix[l][1], from->p);
    if (u->own_restriction) renew_matrix(e, &e->matrix[l][2], from->r);
    for (int up = 0; up < 2; up++)
      if (u->apply[up]) {
        double *dense = diagonal_matrix(from, up);
        renew_matrix(e, &e->of_m[l][up], dense);
        free(dense);
      } else if (u->block[up])
        put(e, e->m[l][up], u->scalar, 1 / e->scale, from->m[up], (int64_t)from->rows * u->block[up]);
  }
  prepare_transposes(e);
  renew_matrix(e, &e->inverse_matrix, c->inverse);
  put(e, e->inverse, u->scalar, 1 / e->scale, c->inverse, n * n);
  return spmv_cycle_renew(e->cycle, &e->exec);
}

void cycle_engine_spoil(CycleEngine *e)
{
  const int64_t n      = cycle_rows(e->c);
  double       *spoilt = calloc((size_t)n + 1, sizeof *spoilt);

  for (int64_t i = 0; i < n; i++) spoilt[i] = NAN;
  cycle_engine_put(e, e->x, spoilt, n);
  free(spoilt);
}

SpmvStatus cycle_engine_apply(CycleEngine *e, const double *b, double *x)
{
  const int64_t n = cycle_rows(e->c);

  cycle_engine_put(e, e->b, b, n);
  cycle_engine_spoil(e);
  const SpmvStatus status = spmv_cycle_apply(e->cycle, e->b, e->x, &e->exec);
  if (!status) cycle_engine_get(e, e->x, x, n);
  return status;
}
