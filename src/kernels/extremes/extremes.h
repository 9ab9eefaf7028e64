/* extremes.h - what the files of this folder use of one another. */
#pragma once

#include "core/format.h"
#include <spmv_extremes.h>

SPMV_C_BEGIN

/* small.c: dense matrices [n][ld] on the host, by columns; they are overwritten. The second fails if the iteration for
   the eigenvalues of a Hessenberg matrix, n at most SPMV_EXTREMES_STEPS, does not converge. */
void spmv_small_singular(int n, int ld, double *a, double *least, double *largest);
int  spmv_small_real_parts(int n, int ld, const double *h, double *least, double *largest);

/* The slots that the device fills */
typedef struct {
  /* b = PETSc's noise, x = 0 unless it is NULL, and m = the inverse of the diagonal unless it is NULL */
  SpmvStatus (*begin)(const SpmvExtremesOptions *, void *b, void *x, void *m, SpmvExec *);
  /* x = M x with the values m */
  SpmvStatus (*precondition)(const SpmvExtremesOptions *, const void *m, void *x, SpmvExec *);
} SpmvExtremesSlots;
extern const SpmvExtremesSlots spmv_extremes_device_slots;

SPMV_C_END
