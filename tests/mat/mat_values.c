/*
  mat_values.c - operations on the values of a matrix with packed arrays on a GPU, compared with plain AIJ, and the
  place of the values afterwards

    mat_values -format rbp [-side 12] [-little_memory]

  Each sequence of operations runs with values that stay on the host because a MATMAIJ reads them there, and with values whose place
  petscpack chooses. Every sequence ends with a change that a stale plan would reveal. On several processes the matrices
  are parallel, and each operation also runs with a first process that has no rows. The exit status is 77 if there is no
  GPU. With -little_memory only the numbers are checked, not the place: a full GPU leaves values on the host.
*/
static const char help[] = "Compares changes of values and products of matrices on a GPU with plain AIJ.\n";

#include "mat_values.h"

#include "ops.h"

enum { NO_DEVICE = 77 };

/* Operations of the table (ops.h), one after the other */
typedef struct {
  const char *name, *operations;
  PetscErrorCode (*first)(Mat); /* runs before them; may be NULL */
  PetscBool full, other_full;   /* whether the diagonals of both matrices have all entries */
  PetscBool exact;              /* rounds in the same way everywhere */
} Sequence;

static PetscErrorCode SetNotFinite(Mat A)
{
  const volatile PetscReal big = PETSC_MAX_REAL; /* volatile, so that no compiler evaluates an infinity and warns */

  PetscFunctionBeginUser;
  PetscCall(MatSetValue(A, 1, 1, big * big, INSERT_VALUES));
  PetscCall(MatSetValue(A, 2, 2, big * big - big * big, INSERT_VALUES));
  PetscCall(TestAssemble(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Each process adds to entries in rows of the next process, some of them in off-diagonal blocks there */
static PetscErrorCode AddToOthers(Mat A)
{
  const PetscInt layer = values_test.side * values_test.side, rows = layer * values_test.side;
  PetscInt       end;

  PetscFunctionBeginUser;
  PetscCall(MatScale(A, 3));
  PetscCall(MatGetOwnershipRange(A, NULL, &end));
  for (PetscInt k = 0; k < layer; k++) {
    const PetscInt    i        = (end + k) % rows;
    const PetscInt    col[]    = {i, i < layer ? i + layer : i - layer};
    const PetscScalar value[2] = {1 + (PetscReal)k / 7, -2};

    PetscCall(MatSetValues(A, 1, &i, 2, col, value, ADD_VALUES));
  }
  PetscCall(TestAssemble(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* other has fewer nonzeros than A if its diagonal is not full */
static const Sequence sequences[] = {
    {"scale", "scale,scale", NULL, PETSC_TRUE, PETSC_TRUE, PETSC_TRUE},
    {"diagonal_scale", "scale_left,diagonal_scale,scale_right", NULL, PETSC_TRUE, PETSC_TRUE, PETSC_TRUE},
    {"diagonal_scale_host_vectors", "scale_by_host_vectors", NULL, PETSC_TRUE, PETSC_TRUE, PETSC_TRUE},
    {"shift", "shift,scale,shift", NULL, PETSC_TRUE, PETSC_TRUE, PETSC_TRUE},
    {"shift_missing_diagonal", "shift,scale,shift", NULL, PETSC_FALSE, PETSC_TRUE, PETSC_TRUE},
    {"scale_missing_diagonal", "scale,scale", NULL, PETSC_FALSE, PETSC_TRUE, PETSC_TRUE},
    {"not_finite", "scale,shift", SetNotFinite, PETSC_TRUE, PETSC_TRUE, PETSC_FALSE},
    {"add_same", "axpy_same", NULL, PETSC_TRUE, PETSC_TRUE, PETSC_FALSE},
    {"add_subset", "axpy_subset,aypx_subset", NULL, PETSC_TRUE, PETSC_FALSE, PETSC_FALSE},
    {"add_different", "axpy", NULL, PETSC_FALSE, PETSC_TRUE, PETSC_FALSE},
    {"add_different_same", "axpy", NULL, PETSC_TRUE, PETSC_TRUE, PETSC_FALSE},
    {"copy", "copy_same", NULL, PETSC_TRUE, PETSC_TRUE, PETSC_TRUE},
    {"zero", "scale,zero_entries,shift,axpy_same", NULL, PETSC_TRUE, PETSC_TRUE, PETSC_FALSE},
    {"add_to_others", "scale", AddToOthers, PETSC_TRUE, PETSC_TRUE, PETSC_FALSE},
    {"mixed", "scale,array_read,scale,axpy_same,add_values,shift", NULL, PETSC_TRUE, PETSC_TRUE, PETSC_FALSE},
};

/* In the turn of A, and in that of its twin; what the operations themselves record must agree */
static PetscErrorCode Apply(const Sequence *s, Mat both[2], Mat other[2])
{
  ConfRecord record[2];
  Conf       c = {.comm    = values_test.comm,
                  .size    = values_test.size,
                  .alone   = PETSC_TRUE,
                  .inexact = PETSC_TRUE,
                  .format  = "",
                  .factor  = 7.0 / 3};
  char     **name;
  int        count;
  PetscInt   different;

  PetscFunctionBeginUser;
  PetscCall(PetscStrToArray(s->operations, ',', &count, &name));
  for (int m = 0; m < 2; m++) {
    PetscCall(ConfRecordCreate(&record[m]));
    c.record = &record[m];
    c.A      = both[m];
    c.other  = other[m];
    if (s->first) PetscCall(s->first(c.A));
    for (int i = 0; i < count; i++) {
      c.drawn = 0;
      c.way   = 0;
      PetscCall(OpRun(&c, OpFind(name[i])));
    }
  }
  PetscCall(ConfCompare(&c, s->name, &record[1], &record[0], &different));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &different, 1, MPIU_INT, MPI_SUM, c.comm));
  PetscCall(ValuesRequire(different ? PETSC_FALSE : PETSC_TRUE, "records of operations"));
  for (int m = 0; m < 2; m++) PetscCall(ConfRecordDestroy(&record[m]));
  PetscCall(PetscStrToArrayDestroy(count, name));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Number of blocks of a plain matrix that have nonzeros, over all processes */
static PetscErrorCode CountBlocks(Mat A, PetscLogDouble *count)
{
  Mat blocks[3];

  PetscFunctionBeginUser;
  *count = 0;
  PetscCall(OpBlocks(A, blocks));
  for (int b = 0; blocks[b]; b++) {
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
    PetscCall(ValuesRequirePlace(after.blocks_values_on_gpu >= blocks && after.device_csr_bytes >= after.csr_bytes,
                                 "the values are not on the GPU"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* With values on the host, there must be no CSR on the device, and changes of values must upload nothing */
static PetscErrorCode CheckHost(Mat A, PetscBool scaled, const MatAIJFmtInfo *before)
{
  MatAIJFmtInfo after;

  PetscFunctionBeginUser;
  PetscCall(MatAIJFmtGetInfo(A, &after));
  PetscCall(ValuesRequirePlace(after.device_csr_bytes == 0 || after.own_bytes == 0, "there is a CSR on the device"));
  if (scaled && after.own_bytes > 0)
    PetscCall(ValuesRequirePlace(after.refreshes == before->refreshes, "the values were uploaded"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode RunSequence(const Sequence *s)
{
  const PetscBool scaled = strcmp(s->operations, "scale,scale") ? PETSC_FALSE : PETSC_TRUE;
  Mat             both[2], other[2], A, twin;
  PetscLogDouble  blocks;
  MatAIJFmtInfo   before;

  PetscFunctionBeginUser;
  values_test.operation = s->name;
  for (int m = 0; m < 2; m++) {
    PetscCall(ValuesAssemble(m ? values_test.plain : values_test.type, s->full, 1, &both[m]));
    PetscCall(ValuesAssemble(m ? values_test.plain : values_test.type, s->other_full, 1.5, &other[m]));
  }
  A    = both[0];
  twin = both[1];
  PetscCall(ValuesSetPlace(A));
  PetscCall(ValuesSetPlace(other[0]));
  PetscCall(ValuesCompare(A, twin, PETSC_TRUE));
  PetscCall(MatAIJFmtGetInfo(A, &before));
  PetscCall(CountBlocks(twin, &blocks));
  PetscCall(ValuesRequirePlace(before.blocks_on_gpu == blocks, "the packed arrays of some block are not on the GPU"));
  PetscCall(ValuesRequirePlace(before.device_csr_bytes == 0 || before.own_bytes == 0,
                               "products and diagonals made a CSR on the device"));
  PetscCall(Apply(s, both, other));
  if (scaled) PetscCall(CheckPlace(A, twin, &before));
  PetscCall(ValuesCompare(A, twin, s->exact));
  if (values_test.place[0] == 'h') PetscCall(CheckHost(A, scaled, &before));
  if (s->exact) PetscCall(ValuesChangeOnHost(A, twin));
  for (int m = 0; m < 2; m++) PetscCall(TestDestroyMats(&both[m], &other[m]));
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
    for (int q = 0; q < (int)PETSC_STATIC_ARRAY_LENGTH(sequences); q++)
      if (PetscDefined(HAVE_CUDA) || q % count == v) PetscCall(RunSequence(&sequences[q]));
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
