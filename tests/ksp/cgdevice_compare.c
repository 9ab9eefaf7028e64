/*
  cgdevice_compare.c - KSPCGDEVICE against KSPCG: matrices, norms, preconditioners, types of matrices, in one mode

    cgdevice_compare -mode graph
*/
static const char help[] = "Compares KSPCGDEVICE with KSPCG.\n";

#include "cgdevice_test.h"

#include <spmv_kernels.h>

static const char *const pcs[] = {PCNONE, PCJACOBI, PCPBJACOBI};

/* format: that of the matrix for KSPCGDEVICE, or NULL for a plain one */
static PetscErrorCode Compare(int i, Mat plain, KSPNormType norm, const char pc[], KSPCGDeviceMode mode,
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
  PetscCall(CGDevTestCompare(name, plain, A, NULL, &setup, mode == KSP_CGDEVICE_HOST ? "mode host" : NULL));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  KSPCGDeviceMode mode  = KSP_CGDEVICE_GRAPH;
  int             count = 0, every, status;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscPackInitializePackage());
  PetscCall(PetscOptionsGetEnum(NULL, NULL, "-mode", KSPCGDeviceModes, (PetscEnum *)&mode, NULL));
  every = mode == KSP_CGDEVICE_AUTO || mode == KSP_CGDEVICE_PERSISTENT ? 12 : 3;
  for (int i = 0; i < CGDEV_MATRICES; i++) {
    Mat plain;

    PetscCall(CGDevTestMatrix(i, MATAIJ, &plain));
    for (int norm = KSP_NORM_NONE; norm <= KSP_NORM_NATURAL; norm++)
      for (size_t p = 0; p < sizeof pcs / sizeof *pcs; p++)
        /* The plain matrix and every third format, or every twelfth where the product is that of a CSR anyway: more
           takes the emulated GPU too long */
        for (int format = -1; format < spmv_format_count(); format++)
          if (format < 0 || (count++ % every) == 0)
            PetscCall(Compare(i, plain, (KSPNormType)norm, pcs[p], mode, format < 0 ? NULL : spmv_format_get(format)));
    PetscCall(MatDestroy(&plain));
  }
  status = CGDevTestEnd();
  PetscCall(PetscFinalize());
  return status;
}
