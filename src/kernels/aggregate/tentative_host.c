/* tentative_host.c - the tentative prolongator and its smoothing on the host. */
#include "aggregate.h"
#include "tentative_qr.h"
#include <math.h>
#include <string.h>

/* One thread per aggregate */
#define SPMV_TEAM          static
#define SPMV_LANE          0
#define SPMV_LANES         1
#define SPMV_TEAM_SUM(v)   (v)
#define SPMV_TEAM_LEAST(v) (v)
#define SPMV_BODY          "aggregate/tentative_qr.inc"
#define SPMV_SCALAR_ONLY
#include "core/instantiate.h"
#define SPMV_BODY "aggregate/tentative_rows.inc"
#define SPMV_INDEX_ONLY
#include "core/instantiate.h"
#define SPMV_BODY "aggregate/tentative_smooth.inc"
#include "core/instantiate.h"

/* Lists the members of the aggregates one after the other: those of aggregate a begin at first[a]. place [vertices]:
   the number of earlier vertices in an aggregate. first [count+2], member [members]. */
static SpmvStatus list_members(const SpmvTentative *t, int32_t *place, int32_t *first, int32_t *member, SpmvExec *exec)
{
  int32_t members = 0;

  memset(first, 0, (size_t)(t->found.count + 2) * sizeof *first);
  for (int64_t v = 0; v < t->vertices; v++) {
    place[v] = members;
    if (t->aggregate[v] < 0) continue;
    if (t->aggregate[v] >= t->found.count || members >= t->found.members) return spmv_tentative_mismatch(t, exec);
    first[t->aggregate[v] + 2]++;
    members++;
  }
  if (members != t->found.members) return spmv_tentative_mismatch(t, exec);
  for (int64_t a = 0; a < t->found.count; a++) first[a + 2] += first[a + 1];
  for (int64_t v = 0; v < t->vertices; v++)
    if (t->aggregate[v] >= 0) member[first[t->aggregate[v] + 1]++] = (int32_t)v;
  return SPMV_SUCCESS;
}

static void factor_all(const SpmvTentative *t, const int32_t *place, const int32_t *first, const int32_t *member,
                       void *values, void *coarse)
{
  const int64_t stride = t->found.count * t->columns;

  for (int64_t a = 0; a < t->found.count; a++) {
    const SpmvQr q = {.member         = member + first[a],
                      .place          = place,
                      .members        = first[a + 1] - first[a],
                      .block_size     = t->block_size,
                      .columns        = t->columns,
                      .near_null_rows = t->vertices * t->block_size};
    if (t->scalar_type == SPMV_F32) factor_f32(&q, t->near_null, values, (float *)coarse + a * t->columns, stride);
    else factor_f64(&q, t->near_null, values, (double *)coarse + a * t->columns, stride);
  }
}

SpmvStatus spmv_tentative_host(const SpmvTentative *t, void *row_ptr, void *col, void *values, void *coarse,
                               SpmvExec *exec)
{
  void *block;

  SPMV_TRY(spmv_alloc(exec, SPMV_HOST, 4 * (t->vertices + t->found.count + 2 + t->found.members),
                      "members of aggregates", &block));
  int32_t         *place = block, *first = place + t->vertices, *member = first + t->found.count + 2;
  const SpmvStatus status = list_members(t, place, first, member, exec);
  if (!status) {
    if (t->index_type == SPMV_I64) rows_i64(t, row_ptr, col);
    else rows_i32(t, row_ptr, col);
    factor_all(t, place, first, member, values, coarse);
  }
  spmv_exec_free(exec, SPMV_HOST, block);
  return status;
}

SpmvStatus spmv_smooth_host(double omega, const void *diagonal, const SpmvCsr *p0, const SpmvPattern *product,
                            void *values, int64_t *missing, SpmvExec *exec)
{
  (void)exec;
  *missing = SPMV_SELECT(smooth, product->index_type, p0->scalar_type)(omega, diagonal, p0, product, values);
  return SPMV_SUCCESS;
}
