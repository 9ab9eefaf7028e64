/* kernels.h - launched kernels of the emulator: what the queue of kernels (kernels.cpp) and the machine that runs their
   threads (fibers.cpp) share. */
#ifndef SPMV_EMULATOR_KERNELS_H
#define SPMV_EMULATOR_KERNELS_H

#include "runtime.h"

namespace spmv_emulator
{
enum { MAX_THREADS = 1024 };

struct Block;  /* the threads of a block */
struct Worker; /* a thread of the host with a block */

/* A block that has run up to its waits for the previous kernels */
struct EarlyBlock {
  unsigned number;
  Worker  *worker;
  void     finish(Kernel &); /* runs it to its end */
};

struct Kernel {
  Kind                    kind;
  unsigned                blocks;
  int                     threads;
  size_t                  shared;
  cudaStream_t            stream;
  std::function<void()>   body;
  bool                    waited = false; /* whether a thread of an early block has waited */
  std::vector<EarlyBlock> early;
  cudaStream_t            as   = nullptr; /* the stream to which the work belongs: of the graph that has the kernel */
  std::function<void()>   then = [] {};   /* what happens at its end */
};

/* Runs all blocks of a kernel: those that have begun early first */
void run_kernel(Kernel &);

/* Runs a block of a kernel up to its waits, and later to its end */
Block *new_block();
void   begin_early(Block &, Kernel &, unsigned number);
void   finish_early(Block &, Kernel &, unsigned number);
} // namespace spmv_emulator
#endif
