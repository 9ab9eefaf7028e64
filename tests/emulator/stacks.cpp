/* stacks.cpp - stacks of 256 kB that end at an inaccessible page. They are never freed: later blocks use them again. */
#include "stacks.h"
#include <cstdlib>
#include <sys/mman.h>
#include <unistd.h>

namespace spmv_emulator
{
enum : size_t { STACK_BYTES = 256 * 1024, SHIFTS = 64, SHIFT = 9 * 64 };

/* Stacks end at different places of their pages: what all threads of a block use would otherwise compete for the few
   lines of a cache that such places share */
static char *new_stack() /* its end */
{
  static size_t count = 0;
  const size_t  guard = (size_t)sysconf(_SC_PAGESIZE);
  void         *map =
      mmap(nullptr, guard + STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);

  if (map == MAP_FAILED || mprotect(map, guard, PROT_NONE)) abort();
  return (char *)map + guard + STACK_BYTES - count++ % SHIFTS * SHIFT;
}

#ifdef __x86_64__
enum { SAVED = 6 }; /* registers that a called function keeps */

asm(R"(
  .text
  .type spmv_emulator_switch, @function
  .globl spmv_emulator_switch
  .hidden spmv_emulator_switch
spmv_emulator_switch:
  push %rbp
  push %rbx
  push %r12
  push %r13
  push %r14
  push %r15
  mov %rsp, (%rdi)
  mov (%rsi), %rsp
  pop %r15
  pop %r14
  pop %r13
  pop %r12
  pop %rbx
  pop %rbp
  ret
  .size spmv_emulator_switch, . - spmv_emulator_switch
)");
void make_stack(Stack &s, void (*run)())
{
  /* As if run() had been called from an address 0: where a function begins, 8 bytes lie above a multiple of 16 */
  void **end = (void **)new_stack();

  end[-2] = (void *)run;
  s.top   = end - 2 - SAVED;
  s.made  = true;
}

#else
void make_stack(Stack &s, void (*run)())
{
  if (getcontext(&s.registers)) abort();
  s.registers.uc_stack.ss_size = STACK_BYTES - SHIFTS * SHIFT;
  s.registers.uc_stack.ss_sp   = new_stack() - s.registers.uc_stack.ss_size;
  s.registers.uc_link          = nullptr;
  makecontext(&s.registers, run, 0);
  s.made = true;
}

void switch_stack(Stack &from, Stack &to)
{
  if (swapcontext(&from.registers, &to.registers)) abort();
}
#endif
} // namespace spmv_emulator
