/* graph.h - the steps of making a graph, which host and device implement; graph.c has their sequence. */
#pragma once

#include <spmv_graph.h>
#include "core/format.h"

SPMV_C_BEGIN

/* A CSR that owns its memory: block[0] holds row_ptr, block[1] columns and values */
typedef struct {
  int64_t    rows, cols, nnz;
  SpmvIndex  index_type;
  SpmvScalar scalar_type;
  void      *row_ptr, *col, *values; /* [rows+1], [nnz], [nnz] */
  void      *block[2];
} SpmvGraphArrays;

struct SpmvGraph {
  SpmvSpace       space;
  SpmvAllocator   host, device; /* the hooks that allocated its memory, needed to free it */
  SpmvGraphArrays arrays;
};

/* A step that makes a graph sets its sizes and allocates its arrays by the two functions below. The caller frees them
   if the step fails. */
typedef struct {
  SpmvStatus (*full_blocks)(const SpmvPattern *, int64_t block_size, SpmvExec *, int *full, int *seems_full);
  SpmvStatus (*collapse)(const SpmvCsr *, const SpmvGraphOptions *, SpmvGraphArrays *, SpmvExec *);
  SpmvStatus (*add_transpose)(const SpmvGraphArrays *from, SpmvGraphArrays *to, SpmvExec *);
  SpmvStatus (*scale)(SpmvGraphArrays *, SpmvExec *);
  SpmvStatus (*filter)(const SpmvGraphArrays *from, const SpmvGraphOptions *, SpmvGraphArrays *to, SpmvExec *);
} SpmvGraphSteps;

extern const SpmvGraphSteps spmv_graph_host_steps, spmv_graph_device_steps;

/* Allocate row_ptr, after the number of rows is set; then columns and values, when nnz is known */
SpmvStatus spmv_graph_hold_rows(SpmvGraphArrays *, SpmvExec *);
SpmvStatus spmv_graph_hold_edges(SpmvGraphArrays *, int64_t nnz, SpmvExec *);

SPMV_C_END
