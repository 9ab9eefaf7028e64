/*
  vector.h - vectors in either space whose surroundings are watched. Around the entries lie guards full of NaN: a
  product that reads there spoils its result, one that writes there is caught by guarded_intact(). Under
  AddressSanitizer the guards of host vectors cannot be touched at all.
*/
#ifndef SPMV_TEST_VECTOR_H
#define SPMV_TEST_VECTOR_H

#include <spmv_kernels.h>

typedef struct {
  SpmvSpace space;
  int64_t   bytes;         /* of the entries */
  int64_t   before, after; /* bytes of the guards */
  char     *block;         /* guard, entries, guard */
  void     *data;          /* the entries */
} GuardedVector;

/* Sets bytes of memory in either space to 0xFF, and waits until that is done */
SpmvStatus poison_bytes(void *to, SpmvSpace space, int64_t bytes, SpmvExec *exec);

/* bytes of entries, the first one shift bytes away from a 64-byte boundary; all of them and the guards are set to 0xFF.
   tight: no guard behind the entries and none but the shift before them, so that a memory checker sees the end of the
   allocation. */
SpmvStatus guarded_init(GuardedVector *v, SpmvSpace space, int64_t bytes, int64_t shift, int tight, SpmvExec *exec);
void       guarded_free(GuardedVector *v);

/* Copies all entries, and waits until that is done */
SpmvStatus guarded_put(GuardedVector *v, const void *host_entries, SpmvExec *exec);
SpmvStatus guarded_get(const GuardedVector *v, void *host_entries, SpmvExec *exec);

/* 1 when the guards hold what guarded_init() put there */
int guarded_intact(const GuardedVector *v, SpmvExec *exec);

#endif
