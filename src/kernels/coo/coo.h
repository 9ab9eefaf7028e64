/* coo.h - what the host and the device do in their own way with a list of coordinates; coo.c has what is common. */
#pragma once

#include <spmv_coo.h>
#include "core/format.h"

SPMV_C_BEGIN

/* A position is the number of an entry in the list, the second part behind the first: uint32_t, or uint64_t where the
   list is too long for that (wide). Position map[k] belongs to place p for k = start[p] .. start[p+1]-1. */
struct SpmvCoo {
  SpmvSpace     space;
  SpmvAllocator host, device; /* hooks that made its memory, and will free it */
  SpmvIndex     index_type;
  int           wide;
  int64_t       rows, cols, nnz, entries, count[2]; /* entries: those with a place; count: of the parts of the list */
  void         *row_ptr, *col, *start;              /* [rows+1], [nnz], [nnz+1], in the block that follows */
  void         *pattern, *map;                      /* blocks; map has shape [entries] */
  void         *spare;                              /* as large as map, while the device sorts */
  int64_t       bytes;
};

struct SpmvCooOthers {
  SpmvSpace     space;
  SpmvAllocator host, device;
  SpmvIndex     index_type;
  int           wide;
  int64_t       count;
  void         *i, *j; /* [count], on the host, one block */
  void         *place; /* [count] positions, in space */
};

/* The list lies in the space of the exec. What a failed function has allocated, the caller frees. */
typedef struct {
  SpmvStatus (*create)(const SpmvCooList *, SpmvCoo *, SpmvExec *);
  SpmvStatus (*values)(const SpmvCoo *, SpmvScalar, const void *v[2], int add, void *csr_values, SpmvExec *);
  SpmvStatus (*others)(const SpmvCooList *, SpmvCooOthers *, SpmvExec *);
  SpmvStatus (*gather)(const SpmvCooOthers *, SpmvScalar, const void *v, void *out, SpmvExec *);
} SpmvCooSlots;

extern const SpmvCooSlots spmv_coo_host_slots, spmv_coo_device_slots;

/* Lists of so many entries and more have wide positions; tests set it low */
extern int64_t spmv_coo_wide_from;

static inline int64_t spmv_coo_position_bytes(int wide) { return wide ? 8 : 4; }

/* map, and the spare one, when the entries are counted; row_ptr, col and start, when nnz is known; i, j and place */
SpmvStatus spmv_coo_hold_map(SpmvCoo *, int64_t entries, int with_spare, SpmvExec *);
SpmvStatus spmv_coo_hold_pattern(SpmvCoo *, int64_t nnz, SpmvExec *);
SpmvStatus spmv_coo_hold_others(SpmvCooOthers *, int64_t count, SpmvExec *);
/* The error of an entry at a position, row i and column j, that lies beyond the whole matrix */
SpmvStatus spmv_coo_wrong(const SpmvCooList *, int64_t position, int64_t i, int64_t j, SpmvExec *);

/* What becomes of an entry. One of another block has a row of this process, and a column that is left out. */
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
