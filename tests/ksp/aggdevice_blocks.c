/*
  aggdevice_blocks.c - prolongators of aggdevice for matrices whose processes share edges. The finest one must be
  P0 - alpha D^-1 A P0 for some alpha, as PETSc's functions compute it from the unsmoothed P0. All levels must have the
  aggregates that the host makes, bit for bit, and P0 but for rounding; once more, and through MPI in place of NCCL, the
  same bits. The cycle, which restricts by the prolongators, makes no transpose of one; it repeats its solution bit by bit.

    aggdevice_blocks [-type aijrbp] -mat_aijfmt_device gpu, on 2 processes or more
*/
static const char help[] = "Checks the smoothing of prolongators on several processes.\n";

#include "cgdevice_test.h"

#include <string.h>

enum { LEVELS = 10 };

/* The prolongators of a set-up, the finest first, as matrices of type aij, and the norm of a solution */
typedef struct {
  PetscInt            count;
  PetscReal           norm;
  Mat                 P[LEVELS];
  PCGAMGAggDeviceInfo info;
} Hierarchy;

/* nccl: whether NCCL must serve the solver if -expect_nccl says so; otherwise MPI must */
static PetscErrorCode Make(Mat A, PetscInt smooths, PetscBool nccl, Hierarchy *h)
{
  KSPDeviceInfo info;
  MatAIJFmtInfo made;
  PetscInt      levels;
  KSP           ksp;
  Mat           found;
  PC            pc;
  Vec           x, b;

  PetscFunctionBeginUser;
  PetscCall(KSPCreate(PetscObjectComm((PetscObject)A), &ksp));
  PetscCall(KSPSetType(ksp, KSPCGDEVICE));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, PCGAMG));
  PetscCall(PCGAMGSetType(pc, PCGAMGAGGDEVICE));
  PetscCall(PCGAMGSetCoarseEqLim(pc, 4));
  PetscCall(PCGAMGSetNSmooths(pc, smooths));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(CGDevTestRightHandSide(b));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(VecNorm(x, NORM_1, &h->norm));
  PetscCall(KSPDeviceGetInfo(ksp, &info));
  if (nccl) PetscCall(CGDevTestNccl("hierarchy", info.nccl));
  else PetscCall(CGDevTestCheck(!info.nccl, "hierarchy", "NCCL serves where it is off"));
  PetscCall(PCGAMGAggDeviceGetInfo(pc, &h->info));
  PetscCall(PCMGGetLevels(pc, &levels));
  h->count = levels - 1;
  PetscCheck(h->count <= LEVELS, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "more levels than expected");
  for (PetscInt i = 0; i < h->count; i++) {
    PetscCall(PCMGGetInterpolation(pc, h->count - i, &found));
    PetscCall(MatAIJFmtGetInfo(found, &made));
    PetscCall(CGDevTestCheck(made.transposes == 0, "hierarchy", "a transposed prolongator"));
    PetscCall(MatConvert(found, MATAIJ, MAT_INITIAL_MATRIX, &h->P[i]));
  }
  PetscCall(TestDestroyVecs(&x, &b));
  PetscCall(KSPDestroy(&ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Free(Hierarchy *h)
{
  PetscFunctionBeginUser;
  for (PetscInt i = 0; i < h->count; i++) PetscCall(MatDestroy(&h->P[i]));
  h->count = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- all levels ---- */

/* Compares this process's rows: *alike stays 1 if they have the same columns, and values that differ by at most
   tolerance times one of them; a negative tolerance: any values */
static PetscErrorCode CompareRows(Mat P, Mat Q, PetscReal tolerance, int *alike)
{
  PetscInt           first, last, n, m;
  const PetscInt    *col, *other_col;
  const PetscScalar *value, *other_value;

  PetscFunctionBeginUser;
  PetscCall(MatGetOwnershipRange(P, &first, &last));
  for (PetscInt i = first; i < last; i++) {
    PetscCall(MatGetRow(P, i, &n, &col, &value));
    PetscCall(MatGetRow(Q, i, &m, &other_col, &other_value));
    for (PetscInt k = 0; k < n && n == m; k++)
      if (col[k] != other_col[k] ||
          (tolerance >= 0 && PetscAbsScalar(value[k] - other_value[k]) > tolerance * PetscAbsScalar(value[k])))
        *alike = 0;
    if (n != m) *alike = 0;
    PetscCall(MatRestoreRow(P, i, &n, &col, &value));
    PetscCall(MatRestoreRow(Q, i, &m, &other_col, &other_value));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckAlike(const char name[], const Hierarchy *h, const Hierarchy *other, PetscReal tolerance)
{
  PetscInt sizes[2][3];
  int      alike = h->count == other->count;

  PetscFunctionBeginUser;
  PetscCall(CGDevTestCheck((PetscBool)alike, name, "another number of levels"));
  for (PetscInt i = 0; i < h->count && alike; i++) {
    const Mat P[] = {h->P[i], other->P[i]};

    for (int k = 0; k < 2; k++) {
      PetscCall(MatGetSize(P[k], NULL, &sizes[k][2]));
      PetscCall(MatGetLocalSize(P[k], &sizes[k][0], &sizes[k][1]));
    }
    alike = !memcmp(sizes[0], sizes[1], sizeof sizes[0]);
    if (alike) PetscCall(CompareRows(P[0], P[1], tolerance, &alike));
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &alike, 1, MPI_INT, MPI_MIN, PETSC_COMM_WORLD));
    PetscCall(CGDevTestCheck((PetscBool)alike, name, "a prolongator differs"));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The same matrix for another communicator of the same processes */
static PetscErrorCode Copy(MPI_Comm comm, Mat A, Mat *copy)
{
  PetscInt           rows, bs, first, last, n;
  const PetscInt    *col;
  const PetscScalar *value;
  MatType            type;

  PetscFunctionBeginUser;
  PetscCall(MatGetType(A, &type));
  PetscCall(MatGetLocalSize(A, &rows, NULL));
  PetscCall(MatGetBlockSize(A, &bs));
  PetscCall(TestCreate(comm, type, rows, rows, PETSC_DETERMINE, PETSC_DETERMINE, bs, 90, copy));
  PetscCall(MatGetOwnershipRange(A, &first, &last));
  for (PetscInt i = first; i < last; i++) {
    PetscCall(MatGetRow(A, i, &n, &col, &value));
    PetscCall(MatSetValues(*copy, 1, &i, n, col, value, INSERT_VALUES));
    PetscCall(MatRestoreRow(A, i, &n, &col, &value));
  }
  PetscCall(TestAssemble(*copy));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* h: of A with that many steps of smoothing. With none the prolongators are P0, and with one their patterns tell the
   aggregates; estimates of the host differ by up to 5 %. */
static PetscErrorCode CompareWithHost(Mat A, PetscInt smooths, const Hierarchy *h)
{
  const PetscReal rounding = (PetscReal)(PetscDefined(USE_REAL_SINGLE) ? 1e-4 : 1e-12);
  Hierarchy       host;
  Mat             copy;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsSetValue(NULL, "-mat_aijfmt_device", "host"));
  PetscCall(Copy(PETSC_COMM_WORLD, A, &copy));
  PetscCall(Make(copy, smooths, PETSC_FALSE, &host));
  PetscCall(PetscOptionsSetValue(NULL, "-mat_aijfmt_device", "gpu"));
  PetscCall(CGDevTestCheck(host.info.levels_host == host.count && host.info.levels_device == 0, "hierarchy",
                           "the reference is not of the host"));
  PetscCall(CheckAlike(smooths ? "smoothed, with the host" : "P0, with the host", &host, h, smooths ? -1 : rounding));
  PetscCall(Free(&host));
  PetscCall(MatDestroy(&copy));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Once more, and with messages by MPI, on a communicator that NCCL does not know */
static PetscErrorCode CompareAgain(Mat A, PetscInt smooths, const Hierarchy *h)
{
  const char *nccl;
  char        before[PETSC_MAX_PATH_LEN];
  Hierarchy   again;
  MPI_Comm    comm;
  Mat         copy;

  PetscFunctionBeginUser;
  PetscCall(Make(A, smooths, PETSC_TRUE, &again));
  PetscCall(CheckAlike("once more", &again, h, 0));
  PetscCall(CGDevTestCheck(again.norm == h->norm, "once more", "another solution"));
  PetscCall(Free(&again));
  PetscCall(PetscPackGetNCCL(&nccl));
  PetscCall(PetscStrncpy(before, nccl, sizeof before));
  PetscCall(PetscPackSetNCCL("off"));
  PetscCallMPI(MPI_Comm_dup(PETSC_COMM_WORLD, &comm));
  PetscCall(Copy(comm, A, &copy));
  PetscCall(Make(copy, smooths, PETSC_FALSE, &again));
  PetscCall(CheckAlike("by MPI", &again, h, 0));
  PetscCall(Free(&again));
  PetscCall(MatDestroy(&copy));
  PetscCallMPI(MPI_Comm_free(&comm));
  PetscCall(PetscPackSetNCCL(before));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- the finest level ---- */

/* D^-1 A P0 by PETSc's functions */
static PetscErrorCode Step(Mat A, Mat P0, Mat *T)
{
  Mat plain;
  Vec d;

  PetscFunctionBeginUser;
  PetscCall(MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, &plain));
  PetscCall(MatMatMult(plain, P0, MAT_INITIAL_MATRIX, PETSC_DEFAULT, T));
  PetscCall(MatCreateVecs(plain, &d, NULL));
  PetscCall(MatGetDiagonal(plain, d));
  PetscCall(VecReciprocal(d));
  PetscCall(MatDiagonalScale(*T, d, NULL));
  PetscCall(VecDestroy(&d));
  PetscCall(MatDestroy(&plain));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* alpha is chosen so that the two differences from P0 have the same norm */
static PetscErrorCode Compare(Mat A, Mat P0, Mat P)
{
  const PetscReal tolerance = (PetscReal)(PetscDefined(USE_REAL_SINGLE) ? 1e-4 : 1e-11);
  PetscReal       moved, step, size, left;
  Mat             T;

  PetscFunctionBeginUser;
  PetscCall(Step(A, P0, &T));
  PetscCall(MatNorm(T, NORM_FROBENIUS, &step));
  PetscCall(MatNorm(P0, NORM_FROBENIUS, &size));
  PetscCall(MatAXPY(P, -1, P0, DIFFERENT_NONZERO_PATTERN));
  PetscCall(MatNorm(P, NORM_FROBENIUS, &moved));
  PetscCall(MatAXPY(P, moved / step, T, DIFFERENT_NONZERO_PATTERN));
  PetscCall(MatNorm(P, NORM_FROBENIUS, &left));
  PetscCall(
      CGDevTestCheck(left <= tolerance * size && moved > 0, "smoothing", "not the prolongator of PETSc's functions"));
  PetscCall(MatDestroy(&T));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Number of product patterns that the GPU made with blocks of A, over all processes */
static PetscErrorCode Patterns(Mat A, PetscInt *patterns)
{
  MatAIJFmtInfo info;

  PetscFunctionBeginUser;
  PetscCall(MatAIJFmtGetInfo(A, &info));
  *patterns = (PetscInt)info.patterns;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Smoothing(Mat A)
{
  Hierarchy   plain, once, twice;
  PetscMPIInt processes;
  int         local[2];
  PetscInt    before = 0, after = 0;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &processes));
  PetscCall(Make(A, 2, PETSC_TRUE, &twice));
  PetscCall(Make(A, 0, PETSC_TRUE, &plain));
  PetscCall(Patterns(A, &before));
  PetscCall(CGDevTestEvent("MatGetLocalMat", &local[0]));
  PetscCall(Make(A, 1, PETSC_TRUE, &once));
  PetscCall(CGDevTestEvent("MatGetLocalMat", &local[1])); /* both blocks side by side, on the host */
  PetscCall(Patterns(A, &after));
  PetscCall(CGDevTestCheck(local[0] == local[1], "smoothing", "PETSc made a local matrix"));
  PetscCall(CGDevTestCheck(once.info.prolongators_device == once.info.levels_device &&
                               once.info.prolongators_agg == 0 && once.info.levels_device == once.count &&
                               once.info.levels_agg == 0 && once.info.estimates_petsc == 0,
                           "smoothing", "not on the device"));
  PetscCall(CGDevTestCheck(plain.info.prolongators_device == 0 && twice.info.prolongators_device == 0, "smoothing",
                           "on the device, where agg must do it"));
  /* P^T A P */
  PetscCall(CGDevTestCheck(after - before >= processes, "smoothing", "the coarse matrix is not of the GPU"));
  PetscCall(CompareWithHost(A, 0, &plain));
  PetscCall(CompareWithHost(A, 1, &once));
  PetscCall(CompareAgain(A, 1, &once));
  PetscCall(Compare(A, plain.P[0], once.P[0])); /* changes the second */
  PetscCall(Free(&plain));
  PetscCall(Free(&once));
  PetscCall(Free(&twice));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  char type[64] = MATAIJRBP;
  Mat  A;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscPackInitializePackage());
  PetscCall(PetscLogDefaultBegin());
  PetscCall(PetscOptionsGetString(NULL, NULL, "-type", type, sizeof type, NULL));
  for (int i = 1; i < CGDEV_MATRICES - 1; i++) {
    PetscCall(CGDevTestMatrix(i, type, &A));
    PetscCall(Smoothing(A));
    PetscCall(MatDestroy(&A));
  }
  return CGDevTestEnd();
}
