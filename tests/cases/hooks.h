/*
  hooks.h - allocation hooks that count, remember and fail on demand. They fill every new block with 0xFF (NaN, and
  impossible indices), so that memory read before it is written shows up.
*/
#ifndef SPMV_TEST_HOOKS_H
#define SPMV_TEST_HOOKS_H

#include <spmv_kernels.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { HOOKS_BLOCKS_MAX = 256 };

/* One counter for the blocks of one space */
typedef struct {
  SpmvSpace space;
  int64_t   calls;   /* of alloc, failed ones too */
  int64_t   fail_at; /* the number of the call that returns NULL, from 1; 0: none */
  int64_t   live_bytes, peak_bytes;
  int       live_blocks, foreign_frees; /* foreign: a block that is not ours, or not any more */
  struct {
    void  *block;
    size_t bytes;
  } block[HOOKS_BLOCKS_MAX];
} HooksCounter;

typedef struct {
  HooksCounter host, device;
} Hooks;

void hooks_init(Hooks *hooks);
/* An exec of that space whose allocations go through the hooks */
void hooks_exec(Hooks *hooks, SpmvSpace space, void *stream, SpmvExec *exec);
/* The counter of a space */
HooksCounter *hooks_counter(Hooks *hooks, SpmvSpace space);
/* 1 when every block was freed, once, by the hooks that made it */
int hooks_clean(const Hooks *hooks);
/* Frees what is still there (after a failed test) */
void hooks_drop(Hooks *hooks);

#ifdef __cplusplus
}
#endif
#endif
