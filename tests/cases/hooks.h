/*
  hooks.h - allocation hooks that count, track blocks and fail on demand. They fill every new block with 0xFF (NaN, and
  invalid indices), so that reads of uninitialized memory are noticed.
*/
#ifndef SPMV_TEST_HOOKS_H
#define SPMV_TEST_HOOKS_H

#include <spmv_kernels.h>

enum { HOOKS_BLOCKS_MAX = 256 };

/* The counters and blocks of one space */
typedef struct {
  SpmvSpace space;
  int64_t   calls;   /* of alloc, including failed ones */
  int64_t   fail_at; /* the number of the call that returns NULL, counted from 1; 0: none */
  int64_t   live_bytes, peak_bytes;
  int       live_blocks, foreign_frees; /* foreign: of a block that was not allocated here, or is freed already */
  struct {
    void  *block;
    size_t bytes;
  } block[HOOKS_BLOCKS_MAX];
} HooksCounter;

typedef struct {
  HooksCounter host, device;
} Hooks;

void hooks_init(Hooks *hooks);
/* Makes an exec of a space that allocates by the hooks */
void hooks_exec(Hooks *hooks, SpmvSpace space, void *stream, SpmvExec *exec);
/* The counter of a space */
HooksCounter *hooks_counter(Hooks *hooks, SpmvSpace space);
/* Whether every block was freed, exactly once, by the hooks that allocated it */
int hooks_clean(const Hooks *hooks);
/* Frees the remaining blocks, after a failed test */
void hooks_drop(Hooks *hooks);

#endif
