/*
  tuning.h - the numbers of the library that belong to one GPU, as a policy for each architecture. Whoever tunes for
  another one adds a block and compiles with SPMV_TUNED_FOR, its compute capability. The choice is not made at run time,
  because the grids fix the order of additions, which must be the same on every GPU that a program finds. Constants
  fitted to the times of whole products are in predict/constants.inc and fold/fold_cost.c.
*/
#pragma once

#ifndef SPMV_TUNED_FOR
  #define SPMV_TUNED_FOR 90
#endif

#if SPMV_TUNED_FOR == 90 /* H100 and H200 */
enum { SPMV_MULTIPROCESSORS = 132 };
  /* Bytes of device memory that a product streams per microsecond, on an H200 */
  #define SPMV_STREAMED_PER_US 4.6e6
  /* The persistent kernel of conjugate gradients beats a graph in this range, on an H200 (bench/results/h200-cg.json):
     it starts an iteration 3.9 us earlier and saves 47 ps per row, but loses 9.5 ps per nonzero. It is slower for every
     matrix larger than the second-level cache: 40 MB is that of an A100, the smallest GPU in use. */
  #define SPMV_PERSISTENT_BYTES          40e6
  #define SPMV_PERSISTENT_NONZEROS(rows) (3.9e-6 / 9.5e-12 + 47 / 9.5 * (double)(rows))
#else
  #error "device/tuning.h has no policy for this SPMV_TUNED_FOR"
#endif

/* The most thread blocks of some kernels. A larger GPU gets no more. */
enum {
  SPMV_SUM_GRID_MAX    = 8 * SPMV_MULTIPROCESSORS, /* that add up sums; see engine/sums.cuh */
  SPMV_GMRES_DOTS_GRID = 2 * SPMV_MULTIPROCESSORS, /* of scalar products; each has a partial sum for each vector */
  SPMV_DENSE_GRID      = 2 * SPMV_MULTIPROCESSORS, /* that make the dense matrix of the coarse levels of a cycle */
  SPMV_FOLD_COUNT_GRID = 4 * SPMV_MULTIPROCESSORS, /* that count rows and slices by length */
  SPMV_FACTOR_GRID     = 2 * SPMV_MULTIPROCESSORS, /* of a solve with a triangle: more would only wait, and slow those
                                                      down whose numbers come next (decision 0084) */
  SPMV_RBP_SCAN_GRID   = 6 * SPMV_MULTIPROCESSORS  /* the fewest of a scan of all columns */
};
