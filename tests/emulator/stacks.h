/*
  stacks.h - the stacks of the threads of a block, and the switch from one to another.

  Tests with emulated kernels spend most of their time at barriers and warp-wide operations, each of which is a switch. So
  a switch saves only the registers that a called function must keep: all threads share the host's signal mask and
  floating-point modes, which Boost.Context and ucontext would save, too. It ends with an ordinary return, because the
  processor predicts no other jump out of a chain of calls.
*/
#ifndef SPMV_EMULATOR_STACKS_H
#define SPMV_EMULATOR_STACKS_H

#ifndef __x86_64__
  #include <ucontext.h>
#endif

namespace spmv_emulator
{
/* A place where a thread of a block, or the host, was left */
struct Stack {
#ifdef __x86_64__
  void *top = nullptr;
#else
  ucontext_t registers;
#endif
  bool made = false;
};

/* Makes a stack on which run() begins at the first switch to it. run() must never return. */
void make_stack(Stack &, void (*run)());

/* Leaves the running stack, and continues on another */
#ifdef __x86_64__
extern "C" __attribute__((visibility("hidden"))) void spmv_emulator_switch(void **from, void **to);
inline void switch_stack(Stack &from, Stack &to) { spmv_emulator_switch(&from.top, &to.top); }
#else
void switch_stack(Stack &from, Stack &to);
#endif
} // namespace spmv_emulator
#endif
