/* coo.h - lists of coordinates: the functions that coo.c calls where there is CUDA, and those of maps on the host. */
#pragma once

#include <spmv_coo.h>
#include "device/object.h"

SPMV_C_BEGIN

/* The position of an entry is its index in the list, where the second part follows the first. Positions are uint32_t,
   or uint64_t if the list is too long for uint32_t (wide). The entries of nonzero ("place") p have the positions
   map[start[p]] .. map[start[p+1]-1]. */
struct SpmvCoo {
  SpmvObject object;
  SpmvIndex  index_type;
  int        wide;
  int64_t    rows, cols, nnz, entries, count[2]; /* entries: of map; count: of both parts of the list */
  void      *row_ptr, *col, *start;              /* [rows+1], [nnz], [nnz+1], one block */
  void      *map;                                /* [entries] */
  void      *spare;                              /* of the size of map, only while the device sorts */
};

struct SpmvCooOthers {
  SpmvObject object;
  SpmvIndex  index_type;
  int        wide;
  int64_t    count;
  void      *i, *j; /* [count], where the object is */
  void      *place; /* [count] positions */
};

/* The device's functions. The list is on the device. */
typedef struct {
  SpmvStatus (*create)(const SpmvCooList *, SpmvCoo *, SpmvExec *);
  SpmvStatus (*values)(const SpmvCoo *, SpmvScalar, const void *v[2], int add, void *csr_values, SpmvExec *);
  SpmvStatus (*others)(const SpmvCooList *, SpmvCooOthers *, SpmvExec *);
  SpmvStatus (*gather)(const SpmvCooOthers *, SpmvScalar, const void *v, void *out, SpmvExec *);
  SpmvStatus (*coordinates)(const SpmvPattern *, SpmvCooNumbers rows, SpmvCooNumbers cols, void *i, void *j,
                            SpmvExec *);
} SpmvCooSlots;

extern const SpmvCooSlots spmv_coo_device_slots;

/* Values from maps that were copied to the host; coo_host.c */
void spmv_coo_host_values(const SpmvCoo *, SpmvScalar, const void *v[2], int add, void *csr_values);
void spmv_coo_host_gather(const SpmvCooOthers *, SpmvScalar, const void *v, void *out);

/* Lists with at least this many entries have wide positions; tests lower it */
extern int64_t spmv_coo_wide_from;

static inline int64_t spmv_coo_position_bytes(int wide) { return wide ? 8 : 4; }

/* Allocate map (and spare) once the entries are counted; row_ptr, col and start once nnz is known; i, j and place */
SpmvStatus spmv_coo_hold_map(SpmvCoo *, int64_t entries, int with_spare, SpmvExec *);
SpmvStatus spmv_coo_hold_pattern(SpmvCoo *, int64_t nnz, SpmvExec *);
SpmvStatus spmv_coo_hold_others(SpmvCooOthers *, int64_t count, SpmvExec *);
/* The error for the entry at this position, whose row i or column j is outside the whole matrix */
SpmvStatus spmv_coo_wrong(const SpmvCooList *, int64_t position, int64_t i, int64_t j, SpmvExec *);

/* How an entry is treated: ignored for a negative index, outside the matrix (an error), in a row of another process, in
   a row of this process but a column that the pattern leaves out, or in the pattern */
typedef enum { SPMV_COO_IGNORED, SPMV_COO_WRONG, SPMV_COO_OF_OTHERS, SPMV_COO_OTHER_BLOCK, SPMV_COO_HERE } SpmvCooKind;

SPMV_BOTH SpmvCooKind spmv_coo_kind(const SpmvCooList *l, int64_t i, int64_t j)
{
  if (i < 0 || j < 0) return SPMV_COO_IGNORED;
  if (i >= l->all_rows || j >= l->all_cols) return SPMV_COO_WRONG;
  if (i < l->first_row || i - l->first_row >= l->rows) return SPMV_COO_OF_OTHERS;
  const int is_own = j >= l->first_col && j - l->first_col < l->own_cols;
  return is_own == !l->outside ? SPMV_COO_HERE : SPMV_COO_OTHER_BLOCK;
}

SPMV_C_END
