/*
  spgemm.h - products of sparse matrices: the struct of a product, and the steps that host and device implement.
  spgemm.c has the sequence of steps, which is the same for both.

  Patterns are kept in blocks: if rows come in groups with equal columns, and columns in aligned full groups, the matrix
  is a smaller pattern of blocks. On the host, and for matrices without such groups, a block is one entry.
*/
#pragma once

#include "device/object.h"
#include "spmv_aggregate.h"

SPMV_C_BEGIN

/*
  A pattern of nnz blocks in rows x cols; each block has block_rows x block_cols entries. Values stay in the order of
  the CSR of single entries: with n blocks in block row i, entry (r, s) of block k has the index

    row_ptr[i] block_rows block_cols + r n block_cols + (k - row_ptr[i]) block_cols + s.
*/
typedef struct {
  int64_t  rows, cols, nnz; /* in blocks */
  int32_t  block_rows, block_cols;
  int32_t *row_ptr, *col; /* [rows+1], [nnz] */
  /* For a transposed pattern, else NULL: the index of each block in the original, and the row_ptr of the original */
  int32_t       *order;
  const int32_t *origin_ptr;
} SpmvSpgemmPattern;

/* How the device computes the values of a result: a team of lanes for each block row of at most narrow_cols blocks (0:
   there are none); longer block rows in pieces of at most wide_cols blocks. Piece i of `wide` pieces belongs to block
   row wide_row[i] and begins at its block wide_first[i].
   in_parts: each piece has several teams, for parts of the left row.
   mark_lanes > 0: teams have so many lanes, and `marks` has narrow_cols bits for each entry of the left matrix;
   spgemm_device_marked.cu. In narrow rows col of the left matrix then has begins of rows of the right one. */
typedef struct {
  int32_t  narrow_cols, wide_cols, in_parts, mark_lanes;
  int64_t  wide;
  int32_t *wide_row, *wide_first;
  void    *marks;
} SpmvSpgemmTeams;

struct SpmvSpgemm {
  SpmvObject                    object;
  const struct SpmvSpgemmSlots *slots;
  SpmvSpgemmKind                kind;
  SpmvIndex                     index_type;
  SpmvScalar                    scalar_type;
  SpmvBlocks                    known[2];   /* of the operands */
  SpmvSpgemmPattern             a, b;       /* copies of the operands */
  SpmvSpgemmPattern             transposed; /* of A for A^T B, else of B */
  SpmvSpgemmPattern             inner;      /* A B of B^T A B, A B^T of B A B^T */
  SpmvSpgemmPattern             c;
  SpmvSpgemmTeams               inner_teams, c_teams;
  SpmvPattern                   result;        /* c in entries */
  void                         *inner_scratch; /* values of `inner` and of B^T if they are few, else NULL */
  int64_t                       scratch_bytes;
  double                        multiplications;
};

/* The steps that host and device implement. Symbolic steps allocate the arrays they fill by spmv_spgemm_hold(). */
typedef struct SpmvSpgemmSlots {
  /* Sets p->a and p->b, with blocks whose inner sizes agree */
  SpmvStatus (*copy)(SpmvSpgemm *, const SpmvPattern *a, const SpmvPattern *b, SpmvExec *);
  SpmvStatus (*transpose)(SpmvSpgemm *, const SpmvSpgemmPattern *, SpmvSpgemmPattern *transposed, SpmvExec *);
  /* The pattern of the product left * right; adds to p->multiplications */
  SpmvStatus (*multiply)(SpmvSpgemm *, const SpmvSpgemmPattern *left, const SpmvSpgemmPattern *right,
                         SpmvSpgemmPattern *result, SpmvSpgemmTeams *, SpmvExec *);
  /* Sets p->result */
  SpmvStatus (*result)(SpmvSpgemm *, SpmvExec *);
  /* Values of a transposed pattern from those of its original */
  SpmvStatus (*reorder)(const SpmvSpgemm *, const SpmvSpgemmPattern *transposed, const void *values, void *to,
                        SpmvExec *);
  /* Values of left * right. left_values are in the order of the original if left is transposed; right_values are in the
     order of right itself. */
  SpmvStatus (*values)(const SpmvSpgemm *, const SpmvSpgemmPattern *left, const void *left_values,
                       const SpmvSpgemmPattern *right, const void *right_values, const SpmvSpgemmPattern *result,
                       const SpmvSpgemmTeams *, void *result_values, SpmvExec *);
} SpmvSpgemmSlots;

extern const SpmvSpgemmSlots spmv_spgemm_host_slots, spmv_spgemm_device_slots;

/* Allocates several arrays, never NULL, as one block of the product */
SpmvStatus spmv_spgemm_hold(SpmvSpgemm *, SpmvExec *, int count, const int64_t bytes[], const char *name,
                            void **const array[]);
/* Allocates row_ptr and col of a pattern whose sizes are set, as two blocks */
SpmvStatus spmv_spgemm_hold_pattern(SpmvSpgemm *, SpmvSpgemmPattern *, const char *name, SpmvExec *);
/* Fails with SPMV_ERR_OVERFLOW if `entries` does not fit 32 bits */
SpmvStatus spmv_spgemm_check_count(int64_t entries, const char *name, SpmvExec *);

/* The number of single entries of a pattern */
static inline int64_t spmv_spgemm_entries(const SpmvSpgemmPattern *p) { return p->nnz * p->block_rows * p->block_cols; }

SPMV_C_END
