/*
  vector.h - vectors in either space between guards full of NaN: a product that reads a guard gives NaN, and
  guarded_intact() finds writes to a guard. With AddressSanitizer any access to the guards of host vectors is an error.
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

/* Sets bytes of memory in either space to 0xFF, and waits */
SpmvStatus poison_bytes(void *to, SpmvSpace space, int64_t bytes, SpmvExec *exec);

/* Allocates `bytes` bytes of entries, which begin `shift` bytes after a 64-byte boundary, and fills entries and guards
   with 0xFF. tight: no guards (except the shift), so that a memory checker notices accesses beyond the allocation. */
SpmvStatus guarded_init(GuardedVector *v, SpmvSpace space, int64_t bytes, int64_t shift, int tight, SpmvExec *exec);
void       guarded_free(GuardedVector *v);

/* Copies all entries, and waits */
SpmvStatus guarded_put(GuardedVector *v, const void *host_entries, SpmvExec *exec);
SpmvStatus guarded_get(const GuardedVector *v, void *host_entries, SpmvExec *exec);

/* Whether the guards still have the bytes of guarded_init() */
int guarded_intact(const GuardedVector *v, SpmvExec *exec);

#endif
