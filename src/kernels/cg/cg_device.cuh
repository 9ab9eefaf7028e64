/* cg_device.cuh - the functions that enqueue the kernels of conjugate gradients, and the dispatch by type and block
   size. */
#pragma once

#include "cg.h"
#include "engine/sums.cuh"

/* Copies `begin` to the state, and computes p = z and the sums of iteration 0; cg_device_vector.cu */
SpmvStatus spmv_cg_enqueue_first(SpmvCg *, const SpmvCgState *begin, SpmvExec *);
/* The sums of a new residual, and the direction made of it */
SpmvStatus spmv_cg_enqueue_correction(SpmvCg *, int restart, SpmvExec *);
/* Begins a run: its test, and the number of completed iterations after which it ends; writes a record, unless records is
   NULL */
SpmvStatus spmv_cg_enqueue_run(SpmvCg *, const SpmvTest *, int64_t stop_at, SpmvRecord *records, SpmvExec *);
/* The two halves of an iteration whose preconditioner is a function: the product up to the new residual; M r up to the
   new direction. The half that has the test writes the record: the first if the norm is tested early, else the
   second. */
SpmvStatus spmv_cg_enqueue_advance(SpmvCg *, SpmvRecord *records, SpmvExec *);
SpmvStatus spmv_cg_enqueue_renewal(SpmvCg *, SpmvRecord *records, SpmvExec *);
/* One iteration, with its product. For the last one of a chunk, `records` are the two records in page-locked host
   memory, which the chunks of a call write in turn; else NULL. */
SpmvStatus spmv_cg_enqueue_iteration(SpmvCg *, SpmvRecord *records, SpmvExec *);

/* The two halves of an iteration with a single reduction: the direction and the step; z = M r if M is a function, the
   product, sums and decisions. first: of iteration 0, which takes no step; cg_device_single.cu */
SpmvStatus spmv_cg_enqueue_step(SpmvCg *, bool first, SpmvExec *);
SpmvStatus spmv_cg_enqueue_single_sums(SpmvCg *, bool first, SpmvRecord *records, SpmvExec *);

/* Chooses the grid of the persistent kernel, and fails if the device cannot run it; its launch;
   cg_device_persistent.cu */
SpmvStatus spmv_cg_persistent_prepare(SpmvCg *, SpmvExec *);
SpmvStatus spmv_cg_enqueue_persistent(SpmvCg *, SpmvExec *);

/* Calls call(S(), SpmvNumber<B>()) for the scalar type and the block size of a solver; FIRST is 0 for kernels that are
   never used with a function as preconditioner */
template <int FIRST = SPMV_POINT_STORED, typename Call>
static SpmvStatus spmv_cg_with_kernel(const SpmvCg *cg, Call call)
{
  return spmv_with_point<FIRST>(cg->options.scalar_type, spmv_cg_block_size(&cg->options), call);
}
