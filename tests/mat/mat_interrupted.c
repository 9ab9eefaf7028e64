/*
  mat_interrupted.c - after an operation fails for lack of memory, its matrices must still be usable

    mat_interrupted -format rbp [-side 3]

  Each action runs repeatedly on a new matrix: the first allocation and all later ones fail, then the second and all
  later ones, until none fails. The action may end with the error PETSC_ERR_MEM, or may do without that memory, and then
  its result must be right at once. With memory available again, the same matrix must give right products, take new
  values, and leak no memory, on the host and on the GPU.

  The failing allocations are those of the plugin on the host, recognized by the calling file: PETSc's own operations do
  not survive a failure. In an emulated build, all allocations on the GPU fail too, for matrices that lie there.
*/
static const char help[] = "Lets allocations fail in operations on matrices of packed types.\n";

#include "mat_interrupted.h"
#if defined(WITH_EMULATOR)
  #include <cuda_runtime_api.h>
  #include <spmv_emulator.h>
#endif

static const char *const fault_names[] = {"memory of the host", "memory of the host, matrix on the GPU",
                                          "memory of the GPU"};
static InterruptedFault  fault;
static PetscInt          allowed = -1, refused; /* host allocations of the plugin; a negative number: no limit */

static PetscErrorCode (*petsc_malloc)(size_t, PetscBool, int, const char[], const char[], void **);

/* Whether a file belongs to the matrix types of the plugin. PETSc has a folder mat/impls/aij, too, but all its files are
   one folder deeper, and its PCs are in src/ksp/pc. */
static PetscBool IsOurs(const char file[])
{
  const char aij[] = "src/mat/impls/aij/", *const in_aij = strstr(file, aij);

  return strstr(file, "src/mat/impls/lists/") || strstr(file, "src/mat/impls/products/") ||
                 strstr(file, "src/pc/impls/gamg/") || (in_aij && !strchr(in_aij + strlen(aij), '/'))
             ? PETSC_TRUE
             : PETSC_FALSE;
}

/* PETSc's allocation function, which fails for calls of the plugin */
static PetscErrorCode Malloc(size_t bytes, PetscBool clear, int line, const char function[], const char file[],
                             void **block)
{
  if (allowed >= 0 && IsOurs(file)) {
    if (allowed == 0) {
      refused++;
      *block = NULL;
      return PETSC_ERR_MEM;
    }
    allowed--;
  }
  return petsc_malloc(bytes, clear, line, function, file, block);
}

/* Lets n allocations succeed and all later ones fail; negative: none fails. Returns the number of failures since the
   last call. */
static PetscInt Allow(PetscInt n)
{
  PetscInt failed = refused;

  refused = 0;
#if defined(WITH_EMULATOR)
  if (fault == FAULT_GPU) return (PetscInt)spmv_emulator_allow(n);
#endif
  allowed = n;
  return failed;
}

/* Memory in use, PETSc's and the GPU's */
static PetscErrorCode InUse(PetscLogDouble bytes[2])
{
  PetscFunctionBeginUser;
  PetscCall(PetscMallocGetCurrentUsage(&bytes[0]));
  bytes[1] = 0;
#if defined(WITH_EMULATOR)
  size_t available, total;

  PetscCheck(!cudaMemGetInfo(&available, &total), PETSC_COMM_SELF, PETSC_ERR_GPU, "cudaMemGetInfo() fails");
  bytes[1] = (PetscLogDouble)(total - available);
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SetDevice(Mat A)
{
  PetscFunctionBeginUser;
  PetscCall(ValuesSetPlace(A));
  if (fault == FAULT_HOST) PetscCall(MatAIJFmtSetOption(A, "device", "host"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CaseCreate(const InterruptedAction *action, InterruptedCase c[2])
{
  PetscFunctionBeginUser;
  for (int m = 0; m < 2; m++) {
    MatType type = m ? values_test.plain : values_test.type;

    c[m] = (InterruptedCase){.result = NULL};
    PetscCall(ValuesAssemble(type, PETSC_TRUE, 1, &c[m].A));
    PetscCall(ValuesAssemble(type, PETSC_TRUE, 1.5, &c[m].other));
    PetscCall(ValuesAssembleP(type, &c[m].P));
    if (m == 0) {
      PetscCall(SetDevice(c[m].A));
      PetscCall(SetDevice(c[m].other));
      PetscCall(SetDevice(c[m].P));
    }
    PetscCall(ValuesVector(values_test.side * values_test.side * values_test.side, 1, c[m].A, &c[m].x));
    PetscCall(VecDuplicate(c[m].x, &c[m].y));
    if (action->prepare) PetscCall(action->prepare(&c[m]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CaseDestroy(InterruptedCase c[2])
{
  PetscFunctionBeginUser;
  for (int m = 0; m < 2; m++) {
    PetscCall(TestDestroyMats(&c[m].A, &c[m].other));
    PetscCall(TestDestroyMats(&c[m].P, &c[m].result));
    PetscCall(TestDestroyVecs(&c[m].x, &c[m].y));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* After an action without error: the result must be that of the twin */
static PetscErrorCode CheckResult(InterruptedCase c[2])
{
  PetscReal difference;

  PetscFunctionBeginUser;
  PetscCall(ValuesDifference(c[0].y, c[1].y, &difference));
  PetscCall(ValuesRequire(difference <= 200 * PETSC_MACHINE_EPSILON, "result"));
  if (c[0].result) PetscCall(ValuesCompare(c[0].result, c[1].result, PETSC_FALSE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* After an error: values may or may not have been changed, so the twin gets those that the matrix has. Other actions
   are repeated. */
static PetscErrorCode Recover(const InterruptedAction *action, InterruptedCase c[2])
{
  PetscFunctionBeginUser;
  if (action->changes) {
    PetscCall(MatDestroy(&c[1].A));
    PetscCall(MatConvert(c[0].A, values_test.plain, MAT_INITIAL_MATRIX, &c[1].A));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  for (int m = 0; m < 2; m++) { /* PETSc leaves the vectors of an interrupted product locked */
    PetscCall(TestDestroyVecs(&c[m].x, &c[m].y));
    PetscCall(ValuesVector(values_test.side * values_test.side * values_test.side, 1, c[m].A, &c[m].x));
    PetscCall(VecDuplicate(c[m].x, &c[m].y));
    PetscCall(action->run(&c[m]));
  }
  PetscCall(CheckResult(c));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* failed: an allocation has failed */
static PetscErrorCode Attempt(const InterruptedAction *action, PetscInt n, PetscBool *failed)
{
  InterruptedCase c[2];
  PetscErrorCode  error;
  PetscInt        count;
  MatAIJFmtInfo   before, info;

  PetscFunctionBeginUser;
  PetscCall(CaseCreate(action, c));
  PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
  (void)Allow(n);
  error = action->run(&c[0]);
  count = Allow(-1);
  PetscCall(PetscPopErrorHandler());
  *failed = count > 0 ? PETSC_TRUE : PETSC_FALSE;
  PetscCall(ValuesRequire(!error || (*failed && error == PETSC_ERR_MEM), "error code"));
  if (!error) {
    PetscCall(action->run(&c[1]));
    PetscCall(CheckResult(c));
  } else PetscCall(Recover(action, c));
  PetscCall(MatAIJFmtGetInfo(c[0].A, &before)); /* the interrupted product may be the parent type's */
  PetscCall(ValuesCompare(c[0].A, c[1].A, PETSC_TRUE));
  PetscCall(ValuesChangeOnHost(c[0].A, c[1].A));
  PetscCall(MatAIJFmtGetInfo(c[0].A, &info));
  PetscCall(ValuesRequire(info.blocks_converted == 1 && info.fallbacks == before.fallbacks,
                          "the matrix is left to the parent type"));
  PetscCall(CaseDestroy(c));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The first attempt has all memory, so that later attempts find the data that PETSc and the library keep for the
   process */
static PetscErrorCode RunAction(const InterruptedAction *action, PetscInt *failures)
{
  PetscBool      failed = PETSC_TRUE;
  PetscLogDouble before[2], after[2];
  char           what[128];

  PetscFunctionBeginUser;
  values_test.operation = action->name;
  PetscCall(Attempt(action, -1, &failed));
  failed = PETSC_TRUE;
  for (PetscInt n = 0; failed; n++) {
    PetscCall(PetscSNPrintf(what, sizeof what, "%s, which lacks %s after %d allocations", action->name,
                            fault_names[fault], (int)n));
    values_test.operation = what;
    PetscCall(InUse(before));
    PetscCall(Attempt(action, n, &failed));
    PetscCall(InUse(after));
    PetscCall(ValuesRequire(before[0] == after[0], "memory of the host is lost"));
    PetscCall(ValuesRequire(before[1] == after[1], "memory of the GPU is lost"));
    *failures += failed ? 1 : 0;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscInt failures[FAULT_COUNT] = {0};
  int      count                 = FAULT_HOST + 1;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscPackInitializePackage());
  PetscCall(ValuesTestInit(3));
  values_test.place = "auto";
  petsc_malloc      = PetscTrMalloc;
  PetscTrMalloc     = Malloc;
#if defined(WITH_EMULATOR)
  count = FAULT_COUNT;
#endif
  for (int f = 0; f < count; f++) {
    fault = (InterruptedFault)f;
    for (int a = 0; interrupted_actions[a].name; a++)
      if (f >= (int)interrupted_actions[a].first) PetscCall(RunAction(&interrupted_actions[a], &failures[f]));
    PetscCall(ValuesRequire(failures[f] > 0, "nothing has failed"));
    PetscCall(PetscPrintf(values_test.comm, "%s: %d interruptions\n", fault_names[f], (int)failures[f]));
  }
  PetscTrMalloc = petsc_malloc;
  PetscCall(PetscPrintf(values_test.comm, "%s: interruptions of %s\n", values_test.good ? "passed" : "FAILED",
                        values_test.type));
  PetscCall(PetscFinalize());
  return values_test.good ? 0 : 1;
}
