/* project.h - removes the components of a vector along given vectors. For a singular system, solvers remove those along
   the null space from the preconditioned residual M r. */
#pragma once

#include "core/format.h"
#include <spmv_engine.h>

SPMV_C_BEGIN

/* Vectors v_j that are orthonormal over all processes */
typedef struct {
  int64_t              rows; /* of this process */
  int                  count;
  const void          *vectors; /* [count][rows] on the device */
  SpmvScalar           scalar_type;
  const SpmvProcesses *processes; /* NULL: one */
  double              *work;      /* [count * SPMV_PROJECT_WORK] on the device: the sums, then partial sums */
} SpmvProjection;
enum { SPMV_PROJECT_BLOCKS = 512, SPMV_PROJECT_WORK = SPMV_PROJECT_BLOCKS + 1 };

/* x -= sum over j of (v_j, x) v_j, with sums in double precision and in a fixed order. It only enqueues,
   unless communication waits for the host. */
SpmvStatus spmv_project(const SpmvProjection *, void *x, SpmvExec *);

SPMV_C_END
