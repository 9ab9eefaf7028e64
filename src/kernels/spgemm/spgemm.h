/*
  spgemm.h - products of sparse matrices: the struct of a product, and the steps that the host and the device do in
  their own way. spgemm.c has the sequence of steps, which is the same for both.

  Patterns are kept in blocks: a matrix whose rows come in groups with equal columns, and whose columns come in aligned
  full groups, is a smaller pattern of blocks. On the host, and where there are no blocks, a block is one entry.
*/
#pragma once

#include "core/format.h"

SPMV_C_BEGIN

/*
  A pattern of nnz blocks in rows x cols; each block has block_rows x block_cols entries. Values are those of the CSR of
  the entries: with n blocks in block row i, entry (r, s) of block k is number

    row_ptr[i] block_rows block_cols + r n block_cols + (k - row_ptr[i]) block_cols + s.
*/
typedef struct {
  int64_t  rows, cols, nnz; /* in blocks */
  int32_t  block_rows, block_cols;
  int32_t *row_ptr, *col; /* [rows+1], [nnz] */
  /* For a transposed pattern, else NULL: the number of each block in the original, and its row_ptr */
  int32_t       *order;
  const int32_t *origin_ptr;
} SpmvSpgemmPattern;

/* On the device, how the values of a result are computed: block rows of at most narrow_cols blocks by teams of
   narrow_lanes lanes each (0: there are none such); the others in `wide` pieces of block row wide_row[i], from its
   block wide_first[i] on */
typedef struct {
  int32_t  narrow_lanes, narrow_cols, wide_cols;
  int64_t  wide;
  int32_t *wide_row, *wide_first;
} SpmvSpgemmTeams;

enum { SPMV_SPGEMM_BLOCKS = 16 };

struct SpmvSpgemm {
  const struct SpmvSpgemmSteps *steps;
  SpmvSpgemmKind                kind;
  SpmvIndex                     index_type;
  SpmvScalar                    scalar_type;
  SpmvSpace                     space;
  SpmvAllocator                 host, device; /* hooks that made its memory, and will free it */
  SpmvSpgemmPattern             a, b;         /* copies of the operands */
  SpmvSpgemmPattern             transposed;   /* of A for A^T B, else of B */
  SpmvSpgemmPattern             inner;        /* A B of B^T A B, A B^T of B A B^T */
  SpmvSpgemmPattern             c;
  SpmvSpgemmTeams               inner_teams, c_teams;
  SpmvPattern                   result;        /* c in entries */
  void                         *inner_scratch; /* values of `inner` and of B^T where they are few, else NULL */
  void                         *block[SPMV_SPGEMM_BLOCKS]; /* all memory that the product holds */
  int                           blocks;
  int64_t                       bytes, scratch_bytes;
  double                        multiplications;
};

/* What is done on the host or on the device. Symbolic steps allocate what they fill by spmv_spgemm_hold(). */
typedef struct SpmvSpgemmSteps {
  /* Sets p->a and p->b; their blocks fit the product */
  SpmvStatus (*copy)(SpmvSpgemm *, const SpmvPattern *a, const SpmvPattern *b, SpmvExec *);
  SpmvStatus (*transpose)(SpmvSpgemm *, const SpmvSpgemmPattern *, SpmvSpgemmPattern *transposed, SpmvExec *);
  /* The pattern of left right; adds to p->multiplications */
  SpmvStatus (*multiply)(SpmvSpgemm *, const SpmvSpgemmPattern *left, const SpmvSpgemmPattern *right,
                         SpmvSpgemmPattern *result, SpmvSpgemmTeams *, SpmvExec *);
  /* Sets p->result */
  SpmvStatus (*result)(SpmvSpgemm *, SpmvExec *);
  /* Values of a transposed pattern from those of its original */
  SpmvStatus (*reorder)(const SpmvSpgemm *, const SpmvSpgemmPattern *transposed, const void *values, void *to,
                        SpmvExec *);
  /* Values of left right. A transposed left gets them in the order of its original, right in its own. */
  SpmvStatus (*values)(const SpmvSpgemm *, const SpmvSpgemmPattern *left, const void *left_values,
                       const SpmvSpgemmPattern *right, const void *right_values, const SpmvSpgemmPattern *result,
                       const SpmvSpgemmTeams *, void *result_values, SpmvExec *);
} SpmvSpgemmSteps;

extern const SpmvSpgemmSteps spmv_spgemm_host_steps, spmv_spgemm_device_steps;

/* Several arrays from one allocation that the product owns, each from a multiple of 256 bytes on */
SpmvStatus spmv_spgemm_hold(SpmvSpgemm *, SpmvExec *, int count, const int64_t bytes[], const char *name,
                            void **const array[]);
/* row_ptr and col of a pattern whose sizes are set */
SpmvStatus spmv_spgemm_hold_pattern(SpmvSpgemm *, SpmvSpgemmPattern *, const char *name, SpmvExec *);
/* SPMV_ERR_OVERFLOW unless that many entries fit 32 bits */
SpmvStatus spmv_spgemm_check_count(int64_t entries, const char *name, SpmvExec *);

/* Entries of a pattern */
static inline int64_t spmv_spgemm_entries(const SpmvSpgemmPattern *p) { return p->nnz * p->block_rows * p->block_cols; }

SPMV_C_END
