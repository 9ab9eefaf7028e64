/* codsell_build.c - analysis and build on the host: calls the steps of codsell_host.h, writes codes, refreshes
   values. */
#include "codsell_host.h"
#include <string.h>

#define SPMV_BODY "codsell/codsell_codes.inc"
#define SPMV_INDEX_ONLY
#include "core/instantiate.h"

/* Finds the rows of a window in the CSR: first[i] is the position of the first nonzero of its row i */
static void find_rows(const CodsellPlan *plan, int64_t window, int64_t *first, const CodsellLong **next_long)
{
  const CodsellShape *s     = &plan->shape;
  const int           c     = 1 << s->log_c;
  const int64_t       begin = window * s->window, end = begin + s->window < s->rows ? begin + s->window : s->rows;
  int64_t             sum = plan->windows[window];
  CodsellView         v;

  for (int64_t slot = begin; slot < end; slot += c) {
    codsell_view(plan, slot / c, &v);
    for (int l = 0; l < c; l++) first[slot - begin + v.row[l]] = codsell_view_length(&v, l);
  }
  for (int64_t row = begin; row < end; row++) {
    int64_t n = first[row - begin];

    if (s->long_rows > 0 && (*next_long)->row == row) {
      n = (*next_long)[1].first - (*next_long)[0].first;
      ++*next_long;
    }
    first[row - begin] = sum;
    sum += n;
  }
}

#define SPMV_BODY "codsell/codsell_update.inc"
#define SPMV_SCALAR_ONLY
#include "core/instantiate.h"

void codsell_host_slices(const SpmvPattern *p, CodsellAnalysis *a)
{
  CodsellShape *s    = &a->shape;
  const int     c    = 1 << s->log_c;
  int64_t       used = 0;

  for (int64_t i = 0; i < s->slices; i++) {
    CodsellSummary summary;
    int            width, ragged, kind, permuted = 0;

    codsell_host_summarize(p, a, i, s->word, 1, &width, &ragged, &summary);
    kind = codsell_choose(&summary, width, s->word, c, ragged);
    for (int l = 0; a->order && l < c; l++) permuted |= a->order[i * c + l] != (i * c + l) % s->window;
    a->slices[i] = (CodsellSlice){.column0  = (uint64_t)s->columns,
                                  .width    = (uint64_t)width,
                                  .kind     = (uint64_t)kind,
                                  .ragged   = (uint64_t)ragged,
                                  .permuted = (uint64_t)permuted,
                                  .scaled   = (uint64_t)codsell_is_scaled(&summary, kind),
                                  .code0    = (uint64_t)s->code_bytes};
    s->columns += width;
    s->code_bytes += codsell_offsets(kind, width, s->word, c, ragged).end;
    if (width == 0) continue;
    s->kinds[kind]++;
    if (codsell_ids_used(&summary, kind) > used) used = codsell_ids_used(&summary, kind);
  }
  s->words   = used;
  s->padding = (s->columns << s->log_c) - (p->nnz - s->long_nnz);
}

void codsell_host_clear_analysis(void *data, SpmvExec *exec)
{
  CodsellAnalysis *a       = data;
  void *const      block[] = {a->length, a->order, a->windows, a->long_rows, a->slices, a->table, a->dictionary};

  for (size_t i = 0; i < sizeof block / sizeof block[0]; i++) spmv_exec_free(exec, SPMV_HOST, block[i]);
}

SpmvStatus codsell_host_analyze(const SpmvPattern *p, SpmvAnalysis *analysis, SpmvExec *exec)
{
  CodsellAnalysis *a = analysis->data;
  int64_t          sigma;
  int              word;

  a->shape.parts = 1;
  codsell_read_options(&analysis->options, &a->shape.log_c, &sigma, &word);
  SPMV_TRY(codsell_host_rows(p, sigma, exec, a));
  SPMV_TRY(codsell_host_dictionary(p, word, exec, a));
  SPMV_TRY(spmv_alloc(exec, SPMV_HOST, a->shape.slices * (int64_t)sizeof(CodsellSlice), "slices", (void **)&a->slices));
  codsell_host_slices(p, a);
  codsell_memory(&a->shape, p->index_type, analysis->scalar_type, &analysis->memory);
  return SPMV_SUCCESS;
}

static void copy_array(void *to, const void *from, int64_t bytes)
{
  if (bytes > 0) memcpy(to, from, (size_t)bytes);
}

SpmvStatus codsell_host_build(const SpmvCsr *csr, const SpmvAnalysis *analysis, SpmvPlan *base, SpmvExec *exec)
{
  const CodsellAnalysis *a    = analysis->data;
  const CodsellShape    *s    = &a->shape;
  CodsellPlan           *plan = (CodsellPlan *)base;

  plan->shape = *s;
  SPMV_TRY(codsell_alloc(plan, csr->pattern.index_type, exec));
  copy_array(plan->slices, a->slices, s->slices * (int64_t)sizeof(CodsellSlice));
  copy_array(plan->dictionary, a->dictionary, s->words * s->stride * (int64_t)sizeof(int32_t));
  copy_array(plan->windows, a->windows, s->windows * (int64_t)sizeof(int64_t));
  if (s->sorted) copy_array(plan->order, a->order, (s->slices << s->log_c) * (int64_t)sizeof(uint16_t));
  if (s->long_rows > 0) copy_array(plan->long_rows, a->long_rows, (s->long_rows + 1) * (int64_t)sizeof(CodsellLong));
  if (csr->pattern.index_type == SPMV_I64) write_codes_i64(&csr->pattern, a, plan);
  else write_codes_i32(&csr->pattern, a, plan);
  return codsell_host_update(base, csr->values, SPMV_HOST, exec);
}

SpmvStatus codsell_host_update(SpmvPlan *base, const void *values, SpmvSpace values_space, SpmvExec *exec)
{
  const CodsellPlan *plan = (const CodsellPlan *)base;

  (void)values_space;
  (void)exec;
  if (base->nnz == 0) return SPMV_SUCCESS;
  if (base->scalar_type == SPMV_F32) walk_values_f32(plan, values, NULL);
  else walk_values_f64(plan, values, NULL);
  return SPMV_SUCCESS;
}

SpmvStatus codsell_host_extract(const SpmvPlan *base, void *values, SpmvExec *exec)
{
  const CodsellPlan *plan = (const CodsellPlan *)base;

  (void)exec;
  if (base->scalar_type == SPMV_F32) walk_values_f32(plan, NULL, values);
  else walk_values_f64(plan, NULL, values);
  return SPMV_SUCCESS;
}

#define FOUR(n)    n, n + 1, n + 2, n + 3
#define SIXTEEN(n) FOUR(n), FOUR(n + 4), FOUR(n + 8), FOUR(n + 12)
static const int32_t in_order[CODSELL_MAX_C] = {SIXTEEN(0), SIXTEEN(16), SIXTEEN(32), SIXTEEN(48)};
#undef SIXTEEN
#undef FOUR

void codsell_view(const CodsellPlan *plan, int64_t slice, CodsellView *v)
{
  const CodsellShape  *s       = &plan->shape;
  const CodsellSlice  *at      = &plan->slices[slice];
  const int            c       = 1 << s->log_c;
  const CodsellOffsets offsets = codsell_offsets((int)at->kind, (int)at->width, s->word, c, (int)at->ragged);
  const int64_t        slot0   = slice * c;
  const uint8_t       *codes   = plan->codes + at->code0;

  v->kind       = (int)at->kind;
  v->width      = (int)at->width;
  v->word       = s->word;
  v->stride     = s->stride;
  v->c          = c;
  v->ragged     = (int)at->ragged;
  v->base       = codsell_has_starts(v->kind) ? *(const int32_t *)codes : 0;
  v->scale      = at->scaled ? s->word : 1;
  v->starts     = codes + offsets.starts;
  v->ids        = codes + offsets.ids;
  v->lengths    = codes + offsets.lengths;
  v->dictionary = plan->dictionary;
  v->row        = at->permuted ? v->permuted : in_order;
  if (at->permuted)
    for (int l = 0; l < c; l++) v->permuted[l] = plan->order[slot0 + l] - (int32_t)(slot0 % s->window);
}

int codsell_view_length(const CodsellView *v, int lane)
{
  return v->ragged ? codsell_length(v->lengths, v->width, lane) : v->width;
}

int codsell_view_has_empty_rows(const CodsellView *v)
{
  if (!v->ragged) return v->width == 0;
  if (v->width <= 255) return memchr(v->lengths, 0, (size_t)v->c) != NULL;
  for (int l = 0; l < v->c; l++)
    if (codsell_view_length(v, l) == 0) return 1;
  return 0;
}

void codsell_view_columns(const CodsellView *v, int k, int32_t *column)
{
  const int       w = k / v->word, j = k % v->word, c = v->c, plain = v->kind >= CODSELL_COLUMNS16;
  const int       id_bytes = codsell_id_bytes(v->kind), start_bytes = codsell_start_bytes(v->kind);
  const uint16_t *ids16 = (const uint16_t *)v->ids;

  for (int l = 0; l < c; l++) {
    const int entry = w * c + l, start = (plain ? k : w) * c + l;

    column[l] = v->base;
    if (!plain) {
      const int id = id_bytes == 0 ? ids16[w] : id_bytes == 1 ? v->ids[entry] : ids16[entry];
      column[l] += v->dictionary[id * v->stride + j];
    }
    if (start_bytes == 0) column[l] += v->row[l];
    else if (start_bytes == 2) column[l] += ((const uint16_t *)v->starts)[start] * v->scale;
    else column[l] += ((const int32_t *)v->starts)[start];
  }
}
