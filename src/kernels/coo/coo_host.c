/* Lists of coordinates on the host: plain loops of one thread, the reference for the device. */
#include "coo.h"
#include <string.h>

/* An entry and its sort key */
typedef struct {
  int64_t key, position;
} Keyed;

/* Types of positions, named after the index type of the same size so that SPMV_INDEX_TAG selects one */
typedef uint32_t Position_i32;
typedef uint64_t Position_i64;

static int64_t position(const void *positions, int wide, int64_t k)
{
  return wide ? (int64_t)((const uint64_t *)positions)[k] : ((const uint32_t *)positions)[k];
}

static void set_position(void *positions, int wide, int64_t k, int64_t to)
{
  if (wide) ((uint64_t *)positions)[k] = (uint64_t)to;
  else ((uint32_t *)positions)[k] = (uint32_t)to;
}

/* ---- a stable sort by key ---- */

enum { RUN = 16 /* entries sorted by insertion before merging begins */ };

static void insert_each(Keyed *e, int64_t n)
{
  for (int64_t k = 1; k < n; k++) {
    const Keyed moved = e[k];
    int64_t     at    = k;
    for (; at > 0 && e[at - 1].key > moved.key; at--) e[at] = e[at - 1];
    e[at] = moved;
  }
}

/* Merges the sorted entries begin .. middle-1 and middle .. end-1 of `from` to `to` */
static void merge(const Keyed *from, Keyed *to, int64_t begin, int64_t middle, int64_t end)
{
  int64_t a = begin, b = middle;

  for (int64_t k = begin; k < end; k++)
    to[k] = b == end || (a < middle && from[a].key <= from[b].key) ? from[a++] : from[b++];
}

/* Sorts e [n] with scratch room [n]; returns the array that holds the result, e or room */
static Keyed *sort(Keyed *e, Keyed *room, int64_t n)
{
  Keyed *from = e, *to = room;

  for (int64_t begin = 0; begin < n; begin += RUN) insert_each(e + begin, n - begin < RUN ? n - begin : RUN);
  for (int64_t run = RUN; run < n; run *= 2) {
    for (int64_t begin = 0; begin < n; begin += 2 * run) {
      const int64_t middle = n - begin < run ? n : begin + run, end = n - middle < run ? n : middle + run;
      merge(from, to, begin, middle, end);
    }
    Keyed *const swapped = from;
    from                 = to;
    to                   = swapped;
  }
  return from;
}

/* ---- patterns, values ---- */

#define SPMV_BODY "coo/coo_host_list.inc"
#define SPMV_INDEX_ONLY
#include "core/instantiate.h"
#define SPMV_BODY "coo/coo_host_values.inc"
#include "core/instantiate.h"

static SpmvStatus create(const SpmvCooList *list, SpmvCoo *coo, SpmvExec *exec)
{
  return coo->index_type == SPMV_I64 ? create_i64(list, coo, exec) : create_i32(list, coo, exec);
}

static SpmvStatus values(const SpmvCoo *coo, SpmvScalar scalar, const void *v[2], int add, void *csr_values,
                         SpmvExec *exec)
{
  (void)exec;
  SPMV_SELECT(values, coo->wide ? SPMV_I64 : SPMV_I32, scalar)(coo, v, add, csr_values);
  return SPMV_SUCCESS;
}

static SpmvStatus others(const SpmvCooList *list, SpmvCooOthers *others, SpmvExec *exec)
{
  return others->index_type == SPMV_I64 ? others_i64(list, others, exec) : others_i32(list, others, exec);
}

static SpmvStatus gather(const SpmvCooOthers *others, SpmvScalar scalar, const void *v, void *out, SpmvExec *exec)
{
  (void)exec;
  SPMV_SELECT(gather, others->wide ? SPMV_I64 : SPMV_I32, scalar)(others, v, out);
  return SPMV_SUCCESS;
}

static SpmvStatus coordinates(const SpmvPattern *p, SpmvCooNumbers rows, SpmvCooNumbers cols, void *i, void *j,
                              SpmvExec *exec)
{
  (void)exec;
  if (p->index_type == SPMV_I64) coordinates_i64(p, rows, cols, i, j);
  else coordinates_i32(p, rows, cols, i, j);
  return SPMV_SUCCESS;
}

const SpmvCooSlots spmv_coo_host_slots = {create, values, others, gather, coordinates};
