/*
  rbp.h - Row Block Packing: runs of adjacent columns are kept by their ends (Kawamura, Yoneda, Iwamura, Watanabe and
  Inoguchi). What the files of this folder share: options, counts of a pattern, and the plan of the published formats.

  A run is a maximal set of nonzeros of one row in consecutive columns, with at least min_run of them. Nonzeros outside
  runs, the singles, lie in a CSR remainder. The product's own layout, `packed`, is described in rbp_sliced.h for the
  host and in rbp_device.h for devices.
*/
#ifndef SPMV_RBP_H
#define SPMV_RBP_H

#include <spmv_kernels.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Choices of option "format", in the order of its table */
typedef enum { RBP_PACKED = 0, RBP_CSR, RBP_ELL, RBP_ELLR } RbpFormat;

/* Positions in the table of options */
enum { RBP_OPTION_FORMAT = 0, RBP_OPTION_MIN_RUN };

enum {
  RBP_MAX_GROUP = 6, /* rows that share one stream of columns: the degrees of freedom of a node */
  RBP_MAX_UNIT  = 8  /* columns that share one start */
};

/* The quantities of the paper's Table 2 for one pattern and one min_run */
typedef struct {
  int64_t rows, nnz;
  int64_t runs;            /* Ncol / 2 */
  int64_t run_values;      /* Nval: nonzeros in runs */
  int64_t singles;         /* Nnon: nonzeros outside runs; run_values + singles == nnz */
  int64_t max_row;         /* K: nonzeros of the longest row */
  int64_t max_run_values;  /* Kv: nonzeros in runs, maximum over the rows */
  int64_t max_run_columns; /* Kc: 2 x runs, maximum over the rows */
  int64_t longest_run;     /* nonzeros */
} RbpCounts;

/* What sharing of columns can save. A group is a set of at most max_group consecutive rows with equal columns; it is
   cut as long as possible from the top. Columns are counted once a group. */
typedef struct {
  int64_t groups, columns;
  int64_t groups_of[RBP_MAX_GROUP + 1]; /* [g]: groups of g rows; [0] is 0 */
  int64_t units[RBP_MAX_UNIT + 1];      /* [u]: whole units when every run is cut into units of u columns; [0] is 0 */
  int64_t rest[RBP_MAX_UNIT + 1];       /* [u]: columns left over by that cut; u * units[u] + rest[u] == columns */
} RbpGroupCounts;

/* Both walk a pattern whose row_ptr and col lie on the host (pattern.host_row_ptr and host_col serve when the pattern
   itself is on the device). SPMV_ERR_ARGUMENT if there is no host copy or min_run < 2 or max_group is not 1 ..
   RBP_MAX_GROUP. */
SpmvStatus rbp_count_runs(const SpmvPattern *, int64_t min_run, RbpCounts *);
SpmvStatus rbp_count_groups(const SpmvPattern *, int max_group, RbpGroupCounts *);

/* Adds the arrays of a published format to a memory report. A size beyond int64_t saturates, so that the report stays
   an upper bound and the allocation fails. */
void rbp_published_memory(RbpFormat, const RbpCounts *, SpmvIndex, SpmvScalar, SpmvMemory *);

/* Sets accepted and reason by comparing analysis->memory with the CSR */
void rbp_decide(const RbpCounts *, const char *format_name, SpmvAnalysis *);

/* What every plan on the host begins with */
typedef struct {
  SpmvPlan  base; /* first */
  RbpFormat format;
  int64_t   min_run;
  RbpCounts counts;
} RbpPlan;

/*
  The plan of formats csr, ell and ellr. Arrays of the names and contents of the paper; I is base.index_type, S is
  base.scalar_type; an array that a format lacks is NULL.

  csr   val_ptr[i] .. val_ptr[i+1]-1 are the positions of row i in comp_values, col_ptr likewise in comp_columns, where
        each run has two entries: its first and its last column. Both ascend within a row.
  ell   value v of row i is comp_values[v * rows + i], the ends of run r are comp_columns[2r * rows + i] and
        comp_columns[(2r+1) * rows + i]. An unused value is 0; an unused run has the ends 0 and -1, so it is empty.
  ellr  ell with row_length[i], the number of runs of row i.
  all   row_ptr, columns and values are the CSR remainder of the singles.
*/
typedef struct {
  RbpPlan rbp;               /* first */
  void   *val_ptr, *col_ptr; /* [rows+1] I, csr */
  void   *row_length;        /* [rows] I, ellr */
  void   *comp_values;       /* csr [run_values] S; ell, ellr [max_run_values * rows] S */
  void   *comp_columns;      /* csr [2 * runs] I; ell, ellr [max_run_columns * rows] I */
  void   *row_ptr;           /* [rows+1] I */
  void   *columns;           /* [singles] I */
  void   *values;            /* [singles] S */
} RbpPublished;

/* y = beta y for a y of shape [n]; beta == 0 does not read y. What both layouts do with alpha == 0. */
void rbp_scale(int64_t n, SpmvScalar, const void *beta, void *y);
int  rbp_is_zero(const void *scalar, SpmvScalar);

/* Fills the common part of a plan on the host */
void rbp_plan_init(RbpPlan *, const SpmvCsr *, const SpmvAnalysis *, const RbpCounts *, const SpmvExec *);

/* Slots of the published formats on the host; rbp.c chooses between them and those of rbp_sliced.h */
SpmvStatus rbp_published_build(const SpmvCsr *, const SpmvAnalysis *, const RbpCounts *, SpmvExec *, SpmvPlan **);
void       rbp_published_update(RbpPublished *, const void *values);
void       rbp_published_mult(const RbpPublished *, const void *alpha, const void *x, const void *beta, void *y);
void rbp_published_multtranspose(const RbpPublished *, const void *alpha, const void *x, const void *beta, void *y);
void rbp_published_free(RbpPublished *);

#ifdef __cplusplus
}
#endif
#endif
