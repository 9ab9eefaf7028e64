/*
  rbp.h - Row Block Packing: runs of adjacent columns are stored by their ends (Kawamura, Yoneda, Iwamura, Watanabe and
  Inoguchi). Options, and counts of a pattern.

  A run is a maximal set of nonzeros of one row in consecutive columns, with at least min_run of them. Nonzeros outside
  runs are singles. rbp_host.h describes the layout on the host, rbp_device_packed.cuh on devices;
  papers/rbp_published.h has the layouts of the paper.
*/
#pragma once

#include "plan/plan.h"

SPMV_C_BEGIN

/* Choices of option "layout", in the order of its table */
typedef enum { RBP_PACKED = 0, RBP_CSR, RBP_ELL, RBP_ELLR } RbpLayout;

/* Positions in the table of options */
enum { RBP_OPTION_LAYOUT = 0, RBP_OPTION_MIN_RUN };

enum {
  RBP_MAX_GROUP = 6, /* rows that share one list of columns: the degrees of freedom of a node */
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

/* Counts for the choice of group and unit sizes. A group is a set of at most max_group consecutive rows with equal
   columns; groups are formed from the first row on, each as large as possible. Columns are counted once per group. */
typedef struct {
  int64_t groups, columns;
  int64_t groups_of[RBP_MAX_GROUP + 1]; /* [g]: groups of g rows; [0] is 0 */
  int64_t units[RBP_MAX_UNIT + 1];      /* [u]: number of whole units if every run is cut into units of u columns; [0]
                                           is 0 */
  int64_t rest[RBP_MAX_UNIT + 1];       /* [u]: columns left over by that cut; u * units[u] + rest[u] == columns */
} RbpGroupCounts;

/* Both need a pattern on the host. SPMV_ERR_ARGUMENT without one, if min_run < 2 or if max_group is not
   1 .. RBP_MAX_GROUP. */
SpmvStatus rbp_count_runs(const SpmvPattern *, int64_t min_run, RbpCounts *);
SpmvStatus rbp_count_groups(const SpmvPattern *, int max_group, RbpGroupCounts *);

/* Print "layout: packed, min_run: 2", and the numbers of runs and singles */
void rbp_view_format(const SpmvPlan *, SpmvPrint, void *ctx);
void rbp_view_counts(const RbpCounts *, SpmvPrint, void *ctx);

static inline RbpLayout rbp_layout_of(const SpmvOptions *o) { return (RbpLayout)(int)o->value[RBP_OPTION_LAYOUT]; }
static inline int64_t   rbp_min_run_of(const SpmvOptions *o) { return (int64_t)o->value[RBP_OPTION_MIN_RUN]; }

extern const SpmvSlots rbp_device_slots;

SPMV_C_END
