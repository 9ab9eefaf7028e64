/* cudss.c - whether and how the process uses NVIDIA's library cuDSS. */
#include "factor.h"
#include <unistd.h>

enum {
  WHICH_MAX = PETSC_MAX_PATH_LEN,
  /* Below, a factorization on one core of the host is done before the library has analysed the pattern */
  LEAST_ROWS = 10000
};

static char     which[WHICH_MAX] = "auto";
static PetscInt least_rows       = LEAST_ROWS;
static pid_t    process          = 0; /* a child of it that was made by fork() cannot use the GPU */

/*@C
  PetscPackSetCuDSS - Sets how factorizations on the GPU find NVIDIA's library cuDSS

  Logically Collective

  Input Parameter:
. cudss - "auto": libcudss.so.1 of the process, of the package nvidia-cudss-cu13 beside petscpack, or in the search path of
          the loader; "off": factorizations are PETSc's; otherwise the path of the library

  Options Database Keys:
+ -petscpack_cudss <auto,off,path>    - the same, read by `PetscPackInitializePackage()`; auto by default
- -petscpack_cudss_least_rows <10000> - matrices with fewer rows are factored by PETSc

  Level: intermediate

  Notes:
  cuDSS is not part of petscpack: `pip install nvidia-cudss-cu13` brings it. It is opened at the first factorization
  that would use it. Without it, without a GPU, and for matrices that it cannot factor, PETSc's own package factors, and
  `-ksp_view` and `-petscpack_summary` say why.

.seealso: `PetscPackGetCuDSS()`, `MatCuDSSGetInfo()`, `PetscPackReplaceType()`, `PetscPackInitializePackage()`
@*/
PetscErrorCode PetscPackSetCuDSS(const char cudss[])
{
  PetscFunctionBegin;
  PetscCheck(cudss && cudss[0] && strlen(cudss) < sizeof which, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONG,
             "cuDSS must be auto, off or the path of its library, of at most %d characters", WHICH_MAX - 1);
  PetscCall(PetscStrncpy(which, cudss, sizeof which));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  PetscPackGetCuDSS - Gets how factorizations on the GPU find NVIDIA's library cuDSS

  Not Collective

  Output Parameter:
. cudss - set by `PetscPackSetCuDSS()` or the option; valid until it is set again

  Level: intermediate

.seealso: `PetscPackSetCuDSS()`
@*/
PetscErrorCode PetscPackGetCuDSS(const char *cudss[])
{
  PetscFunctionBegin;
  *cudss = which;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PetscPackCuDSSFromOptions(void)
{
  char said[WHICH_MAX];

  PetscFunctionBegin;
  PetscCall(PetscStrncpy(said, which, sizeof said));
  PetscOptionsBegin(PETSC_COMM_WORLD, NULL, "Factorizations of petscpack", NULL);
  PetscCall(PetscOptionsString("-petscpack_cudss", "NVIDIA's library cuDSS for LU and Cholesky: auto, off or a path",
                               "PetscPackSetCuDSS", said, said, sizeof said, NULL));
  PetscCall(PetscOptionsRangeInt("-petscpack_cudss_least_rows", "Matrices with fewer rows are factored by PETSc",
                                 "PetscPackSetCuDSS", least_rows, &least_rows, NULL, 0, PETSC_MAX_INT));
  PetscOptionsEnd();
  PetscCall(PetscPackSetCuDSS(said));
  process = getpid();
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PetscPackCuDSSOpen(SpmvExec *exec, PetscInt rows, char why[SPMV_MESSAGE_MAX])
{
  int version;

  PetscFunctionBegin;
  why[0] = 0;
  if (!strcmp(which, "off")) PetscCall(PetscStrncpy(why, "-petscpack_cudss is off", SPMV_MESSAGE_MAX));
  else if (getpid() != process)
    PetscCall(PetscStrncpy(why, "the process was made by fork() after PetscInitialize()", SPMV_MESSAGE_MAX));
  else if (rows < least_rows)
    PetscCall(PetscSNPrintf(why, SPMV_MESSAGE_MAX,
                            "%" PetscInt_FMT " rows are fewer than -petscpack_cudss_least_rows %" PetscInt_FMT, rows,
                            least_rows));
  else if (spmv_direct_load(strcmp(which, "auto") ? which : NULL, &version, exec))
    PetscCall(PetscSNPrintf(why, SPMV_MESSAGE_MAX, "%s%s", exec->message,
                            strncmp(exec->message, "no cuDSS", 8)
                                ? ""
                                : ": pip install nvidia-cudss-cu13, or -cu12 beside the libraries of CUDA 12"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PetscPackCuDSSFinalize(void)
{
  PetscFunctionBegin;
  spmv_direct_release();
  least_rows = LEAST_ROWS;
  PetscCall(PetscStrncpy(which, "auto", sizeof which));
  PetscFunctionReturn(PETSC_SUCCESS);
}
