/* cg_device.cuh - the choice of a kernel of conjugate gradients by its types, and what the host calls to enqueue them. */
#pragma once

#include "cg.h"
#include "engine/sums.cuh"

/* x, r and M are set, and r, z and p of the first iteration; cg_device_vector.cu */
SpmvStatus spmv_cg_enqueue_first(SpmvCg *, const SpmvCgState *begin, SpmvExec *);
/* Another residual, and the direction made of it */
SpmvStatus spmv_cg_enqueue_correction(SpmvCg *, const SpmvCgTest *, int restart, SpmvExec *);
/* Iterations of this call end after so many */
SpmvStatus spmv_cg_enqueue_stop(SpmvCg *, int64_t stop_at, SpmvExec *);
/* Another test, before the first iteration */
SpmvStatus spmv_cg_enqueue_test(SpmvCg *, const SpmvCgTest *, SpmvExec *);
/* The two halves of an iteration whose preconditioner is a function: from the product to the residual; M r and what
   follows from it. The first one tells the host how far the solve is where it is tested early, else the second. */
SpmvStatus spmv_cg_enqueue_advance(SpmvCg *, SpmvRecord *records, SpmvExec *);
SpmvStatus spmv_cg_enqueue_renewal(SpmvCg *, SpmvRecord *records, SpmvExec *);
/* One iteration, with its product. The last one of a chunk gets two records in page-locked memory of the host: chunks
   of a call take turns in writing there how far they are. */
SpmvStatus spmv_cg_enqueue_iteration(SpmvCg *, SpmvRecord *records, SpmvExec *);

/* The grid of the persistent kernel, which must be possible, and its launch; cg_device_persistent.cu */
SpmvStatus spmv_cg_persistent_prepare(SpmvCg *, SpmvExec *);
SpmvStatus spmv_cg_enqueue_persistent(SpmvCg *, SpmvExec *);

/* call(S(), SpmvNumber<B>()) for the types of an engine and the rows of a block of its preconditioner; FIRST is 0 for
   kernels that need the values of M */
template <int FIRST = SPMV_POINT_STORED, typename Call>
static SpmvStatus spmv_cg_with_kernel(const SpmvCg *cg, Call call)
{
  return spmv_with_point<FIRST>(cg->options.scalar_type, spmv_cg_block_size(&cg->options), call);
}
