/*
  cgdevice_compare.c - compares KSPCGDEVICE with KSPCG in one mode: matrices, norms, preconditioners, matrix types

    cgdevice_compare -mode graph
    mpiexec -n 2 cgdevice_compare -mode graph -petscpack_nccl /path/libnccl.so.2 -expect_nccl 1
*/
static const char help[] = "Compares KSPCGDEVICE with KSPCG.\n";

#include "cgdevice_test.h"

#include <spmv_kernels.h>

enum { FORMATS_MAX = 16 };

static const char *const pcs[] = {PCNONE, PCJACOBI, PCPBJACOBI};

/* format: that of the matrix for KSPCGDEVICE, or NULL for a plain one */
static PetscErrorCode Compare(int i, Mat plain, KSPNormType norm, const char pc[], KSPDeviceMode mode,
                              const SpmvFormat *format)
{
  CGDevSetup setup    = CGDevTestSetup();
  char       type[32] = MATAIJ, name[128];
  Mat        A;

  PetscFunctionBeginUser;
  setup.pc   = pc;
  setup.norm = norm;
  setup.mode = mode;
  if (norm == KSP_NORM_NONE) setup.max_it = i == CGDEV_MATRICES - 1 ? 1 : 9;
  if (format) PetscCall(PetscSNPrintf(type, sizeof type, "aij%s", format->name));
  PetscCall(PetscSNPrintf(name, sizeof name, "matrix %d, %s, norm %d, %s", i, type, (int)norm, pc));
  PetscCall(CGDevTestMatrix(i, type, &A));
  PetscCall(CGDevTestCompare(name, plain, A, NULL, &setup, mode == KSP_DEVICE_HOST ? "mode host" : NULL));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Checks the number of combinations. The expected numbers are literals, so that a table that loses entries is noticed;
   new formats only increase the counts. */
static PetscErrorCode CheckCounts(int plain, const int packed[], int every)
{
  enum { PLAIN = 72 /* 6 matrices, 4 norms, 3 preconditioners */, FORMATS = 4 };
  const int fewest = PLAIN / every - 1;

  PetscFunctionBeginUser;
  PetscCall(CGDevTestCheck(plain == PLAIN, "plain matrices", "not all combinations"));
  PetscCall(CGDevTestCheck(spmv_format_count() >= FORMATS, "packed matrices", "not all formats"));
  for (int i = 0; i < spmv_format_count(); i++)
    PetscCall(CGDevTestCheck(packed[i] >= fewest, spmv_format_get(i)->name, "too few combinations"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  KSPDeviceMode mode  = KSP_DEVICE_GRAPH;
  int           count = 0, plain_count = 0, packed[FORMATS_MAX] = {0}, every;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscPackInitializePackage());
  PetscCall(PetscOptionsGetEnum(NULL, NULL, "-mode", KSPDeviceModes, (PetscEnum *)&mode, NULL));
  PetscCheck(spmv_format_count() <= FORMATS_MAX, PETSC_COMM_WORLD, PETSC_ERR_SUP, "more formats than counters");
  every = mode == KSP_DEVICE_AUTO || mode == KSP_DEVICE_PERSISTENT
              ? 13
              : 7; /* coprime to the numbers of formats and preconditioners */
  for (int i = 0; i < CGDEV_MATRICES; i++) {
    Mat plain;

    PetscCall(CGDevTestMatrix(i, MATAIJ, &plain));
    for (int norm = KSP_NORM_NONE; norm <= KSP_NORM_NATURAL; norm++)
      for (size_t p = 0; p < sizeof pcs / sizeof *pcs; p++)
        /* The plain matrix and every seventh format, or every thirteenth if the product uses a CSR anyway: more would
           take too long on the emulated GPU */
        for (int format = -1; format < spmv_format_count(); format++)
          if (format < 0 || (count++ % every) == 0) {
            PetscCall(Compare(i, plain, (KSPNormType)norm, pcs[p], mode, format < 0 ? NULL : spmv_format_get(format)));
            (*(format < 0 ? &plain_count : &packed[format]))++;
          }
    PetscCall(MatDestroy(&plain));
  }
  PetscCall(CheckCounts(plain_count, packed, every));
  return CGDevTestEnd();
}
