/*
  mat_values.c - operations on the values of a matrix with packed arrays on a GPU, compared with plain AIJ, and the
  place of the values afterwards

    mat_values -format rbp [-side 12] [-little_memory]

  Each operation runs with values that stay on the host because a MATMAIJ reads them there, and with values whose place
  petscpack chooses. Every sequence ends with a change that a stale plan would reveal. On several processes the matrices
  are parallel, and each operation also runs with a first process that has no rows. The exit status is 77 if there is no
  GPU. With -little_memory only the numbers are checked, not the place: a full GPU leaves values on the host.
*/
static const char help[] = "Compares changes of values and products of matrices on a GPU with plain AIJ.\n";

#include "mat_values.h"
#include <spmv_kernels.h>

enum { NO_DEVICE = 77 };

/* Number of blocks of a plain matrix that have nonzeros, over all processes */
static PetscErrorCode CountBlocks(Mat A, PetscLogDouble *count)
{
  Mat blocks[2] = {A, NULL};

  PetscFunctionBeginUser;
  *count = 0;
  if (values_test.size > 1) PetscCall(MatMPIAIJGetSeqAIJ(A, &blocks[0], &blocks[1], NULL));
  for (int b = 0; b < 2 && blocks[b]; b++) {
    MatInfo info;

    PetscCall(MatGetInfo(blocks[b], MAT_LOCAL, &info));
    *count += info.nz_used > 0;
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, count, 1, MPI_DOUBLE, MPI_SUM, values_test.comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Checks where the values of all blocks are after MatScale() if PETSc has CUDA */
static PetscErrorCode CheckPlace(Mat A, Mat twin, const MatAIJFmtInfo *before)
{
  const char    *place = values_test.place;
  MatAIJFmtInfo  after;
  PetscLogDouble blocks;

  PetscFunctionBeginUser;
  PetscCall(MatAIJFmtGetInfo(A, &after));
  PetscCall(CountBlocks(twin, &blocks));
  if (PetscDefined(HAVE_CUDA) && place[0] == 'a' && before->own_bytes > 0)
    PetscCall(ValuesRequirePlace(
        after.blocks_values_on_gpu >= blocks && after.device_csr_bytes >= after.csr_bytes ? PETSC_TRUE : PETSC_FALSE,
        "the values are not on the GPU"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* With values on the host, there must be no CSR on the device, and changes of values must upload nothing */
static PetscErrorCode CheckHost(Mat A, PetscBool scaled, const MatAIJFmtInfo *before)
{
  MatAIJFmtInfo after;

  PetscFunctionBeginUser;
  PetscCall(MatAIJFmtGetInfo(A, &after));
  PetscCall(ValuesRequirePlace(after.device_csr_bytes == 0 || after.own_bytes == 0 ? PETSC_TRUE : PETSC_FALSE,
                               "there is a CSR on the device"));
  if (scaled && after.own_bytes > 0)
    PetscCall(ValuesRequirePlace(after.refreshes == before->refreshes ? PETSC_TRUE : PETSC_FALSE,
                                 "the values were uploaded"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode RunOperation(const ValuesOperation *o)
{
  const PetscBool scaled = o->run == ValuesScale ? PETSC_TRUE : PETSC_FALSE;
  Mat             A, twin, other[2];
  PetscLogDouble  blocks;
  MatAIJFmtInfo   before;

  PetscFunctionBeginUser;
  values_test.operation = o->name;
  PetscCall(ValuesAssemble(values_test.type, o->full, 1, &A));
  PetscCall(ValuesAssemble(values_test.type, o->other_full, 1.5, &other[0]));
  PetscCall(ValuesAssemble(values_test.plain, o->full, 1, &twin));
  PetscCall(ValuesAssemble(values_test.plain, o->other_full, 1.5, &other[1]));
  PetscCall(ValuesSetPlace(A));
  PetscCall(ValuesSetPlace(other[0]));
  PetscCall(ValuesCompare(A, twin, PETSC_TRUE));
  PetscCall(MatAIJFmtGetInfo(A, &before));
  PetscCall(CountBlocks(twin, &blocks));
  PetscCall(ValuesRequirePlace(before.blocks_on_gpu == blocks ? PETSC_TRUE : PETSC_FALSE,
                               "the packed arrays of some block are not on the GPU"));
  PetscCall(ValuesRequirePlace(before.device_csr_bytes == 0 || before.own_bytes == 0 ? PETSC_TRUE : PETSC_FALSE,
                               "products and diagonals made a CSR on the device"));
  PetscCall(o->run(A, other[0]));
  PetscCall(o->run(twin, other[1]));
  if (scaled) PetscCall(CheckPlace(A, twin, &before));
  PetscCall(ValuesCompare(A, twin, o->exact));
  if (values_test.place[0] == 'h') PetscCall(CheckHost(A, scaled, &before));
  if (o->exact) PetscCall(ValuesChangeOnHost(A, twin));
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&twin));
  for (int m = 0; m < 2; m++) PetscCall(MatDestroy(&other[m]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Runs all tests with the current layout. A PETSc without CUDA keeps values on the host in any case, so each test runs
   with only one of the places. */
static PetscErrorCode RunLayout(void)
{
  static const char *const places[] = {"host", "auto"};
  const int                count    = (int)PETSC_STATIC_ARRAY_LENGTH(places);

  PetscFunctionBeginUser;
  for (int v = 0; v < count; v++) {
    values_test.place = places[v];
    for (int o = 0; values_operations[o].name; o++)
      if (PetscDefined(HAVE_CUDA) || o % count == v) PetscCall(RunOperation(&values_operations[o]));
    for (int p = 0; p < ValuesProductCount(); p++)
      if (PetscDefined(HAVE_CUDA) || p % count == v) PetscCall(ValuesRunProduct(p));
    PetscCall(ValuesRunEmpty());
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscPackInitializePackage());
  PetscCall(ValuesTestInit(12));
  if (spmv_device_count(NULL) == 0) {
    PetscCall(PetscPrintf(values_test.comm, "no GPU\n"));
    PetscCall(PetscFinalize());
    return NO_DEVICE;
  }
  PetscCall(RunLayout());
  values_test.first_empty = PETSC_TRUE;
  if (values_test.size > 1) PetscCall(RunLayout());
  PetscCall(
      PetscPrintf(values_test.comm, "%s: values of %s\n", values_test.good ? "passed" : "FAILED", values_test.type));
  PetscCall(PetscFinalize());
  return values_test.good ? 0 : 1;
}
