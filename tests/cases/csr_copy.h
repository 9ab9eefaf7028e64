/*
  csr_copy.h - a private copy of a problem's CSR arrays, in the space that a test needs. A test overwrites it after a
  build, to prove that a plan does not refer to arrays that it should have copied.
*/
#ifndef SPMV_TEST_CSR_COPY_H
#define SPMV_TEST_CSR_COPY_H

#include "problem.h"

/* Where the CSR of a build lies */
typedef enum {
  SOURCE_HOST,   /* pattern and values on the host */
  SOURCE_DEVICE, /* both on the device */
  SOURCE_MIXED,  /* pattern on the host, values on the device */
  SOURCE_COUNT
} CsrSource;

enum { CSR_COPY_BLOCKS = 3 };

typedef struct {
  SpmvCsr csr;
  struct {
    SpmvSpace   space;
    int64_t     bytes;
    void       *copy;
    const void *original; /* on the host, owned by the problem */
  } block[CSR_COPY_BLOCKS];
} CsrCopy;

const char *csr_source_name(CsrSource source);

/* To be freed by csr_copy_free(), also after a failure. Empty arrays are NULL. */
SpmvStatus csr_copy_init(CsrCopy *copy, const Problem *problem, SpmvIndex index_type, int value_set, CsrSource source,
                         SpmvExec *exec);
void       csr_copy_free(CsrCopy *copy);

/* Whether the arrays still equal those of the problem */
int csr_copy_unchanged(const CsrCopy *copy, SpmvExec *exec);
/* Overwrites all arrays with 0xFF */
SpmvStatus csr_copy_spoil(CsrCopy *copy, SpmvExec *exec);

#endif
