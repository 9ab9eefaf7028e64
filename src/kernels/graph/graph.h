/* graph.h - the steps of making a graph, which host and device implement; graph.c has their sequence. */
#pragma once

#include <spmv_graph.h>
#include "device/object.h"

SPMV_C_BEGIN

/* A CSR whose row_ptr is a block of the graph, and whose columns and values are another one */
typedef struct {
  SpmvObject *of;
  int64_t     rows, cols, nnz;
  SpmvIndex   index_type;
  SpmvScalar  scalar_type;
  void       *row_ptr, *col, *values; /* [rows+1], [nnz], [nnz] */
} SpmvGraphArrays;

struct SpmvGraph {
  SpmvObject      object;
  SpmvGraphArrays arrays;
};

/* A step that makes a graph sets its sizes and allocates its arrays by the two functions below */
typedef struct {
  SpmvStatus (*full_blocks)(const SpmvPattern *, int64_t block_size, SpmvExec *, int *full, int *seems_full);
  SpmvStatus (*collapse)(const SpmvCsr *, const SpmvGraphOptions *, SpmvGraphArrays *, SpmvExec *);
  SpmvStatus (*add_transpose)(const SpmvGraphArrays *from, SpmvGraphArrays *to, SpmvExec *);
  SpmvStatus (*scale)(SpmvGraphArrays *, SpmvExec *);
  SpmvStatus (*filter)(const SpmvGraphArrays *from, const SpmvGraphOptions *, SpmvGraphArrays *to, SpmvExec *);
} SpmvGraphSlots;

extern const SpmvGraphSlots spmv_graph_host_slots, spmv_graph_device_slots;

/* The rows and columns of a full block that contribute to a weight; count 0: all of them */
typedef struct {
  int32_t count, index[SPMV_GRAPH_INDEX_MAX];
} SpmvGraphListed;

static inline SpmvGraphListed spmv_graph_listed(const SpmvGraphOptions *o)
{
  SpmvGraphListed listed = {o->index_count, {0}};

  for (int i = 0; i < o->index_count; i++) listed.index[i] = o->index[i];
  return listed;
}

/* Allocate row_ptr, after the number of rows is set; then columns and values, when nnz is known */
SpmvStatus spmv_graph_hold_rows(SpmvGraphArrays *, SpmvExec *);
SpmvStatus spmv_graph_hold_edges(SpmvGraphArrays *, int64_t nnz, SpmvExec *);

SPMV_C_END
