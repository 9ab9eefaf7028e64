/*
  mat_truth.c - walks through the table at the head of places.c: after each event, compares the places of the current
  values with the table, and a product with that of a matrix of type aij after the same events.

    mat_truth -format rbp -mat_aijfmt_decline 0 [-mat_aijfmt_device host|gpu]

  The device CSR exists if PETSc has CUDA. One process suffices: a block of a parallel matrix is a sequential matrix.
*/
static char help[] = "Tests where the current values of a matrix are.\n\n";

#include <petscmat.h>
#include <petscpack.h>
#include "petsc_test.h"

enum { ROWS = 60, REACH = 3 };

typedef struct {
  Mat       ours, plain;
  PetscBool cuda;    /* the parent is the CUDA parent */
  PetscBool on_gpu;  /* the plan is on the GPU */
  PetscBool borrows; /* and is the CSR of the CUDA parent itself */
  PetscBool follows; /* and changes with the host's values; a format that may borrow does not */
  PetscInt  failed;
} Walk;

/* The places in the table */
enum { HOST = 1, CSR = 2, PLAN = 4 };

static PetscErrorCode Expect(Walk *w, int places, const char what[])
{
  MatAIJFmtInfo info;
  int           found;

  PetscFunctionBeginUser;
  PetscCall(MatAIJFmtGetInfo(w->ours, &info));
  found = (info.blocks_values_on_host > 0 ? HOST : 0) + (info.blocks_values_on_gpu > 0 ? CSR : 0) +
          (info.blocks_values_packed > 0 ? PLAN : 0);
  if (found != places) {
    PetscCall(PetscPrintf(PETSC_COMM_SELF, "FAILED %s: current on%s%s%s, expected on%s%s%s\n", what,
                          found & HOST ? " host" : "", found & CSR ? " CSR on the device" : "",
                          found & PLAN ? " plan" : "", places & HOST ? " host" : "",
                          places & CSR ? " CSR on the device" : "", places & PLAN ? " plan" : ""));
    w->failed++;
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode Fill(Mat A, PetscScalar factor)
{
  PetscFunctionBeginUser;
  for (PetscInt i = 0; i < ROWS; i++)
    for (PetscInt j = PetscMax(0, i - REACH); j < PetscMin(ROWS, i + REACH + 1); j++)
      PetscCall(MatSetValue(A, i, j, factor * (1 + (i * 5 + j) % 7), INSERT_VALUES));
  PetscCall(TestAssemble(A));
  PetscFunctionReturn(0);
}

static PetscErrorCode Create(MatType type, Mat *A)
{
  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_SELF, A));
  PetscCall(MatSetSizes(*A, ROWS, ROWS, ROWS, ROWS));
  PetscCall(MatSetType(*A, type));
  PetscCall(MatSeqAIJSetPreallocation(*A, 2 * REACH + 3, NULL));
  PetscCall(MatSetOption(*A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  PetscCall(Fill(*A, 1));
  PetscFunctionReturn(0);
}

/* Transition 3. All entries are small integers, so both results are exact. */
static PetscErrorCode Multiply(Walk *w, const char what[])
{
  Vec       x[2], y[2];
  PetscReal difference, size;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(w->ours, &x[0], &y[0]));
  PetscCall(MatCreateVecs(w->plain, &x[1], &y[1]));
  for (int m = 0; m < 2; m++) {
    for (PetscInt i = 0; i < ROWS; i++) PetscCall(VecSetValue(x[m], i, i % 5 - 2, INSERT_VALUES));
    PetscCall(TestAssembleVec(x[m]));
    PetscCall(MatMult(m ? w->plain : w->ours, x[m], y[m]));
  }
  PetscCall(TestDistance(y[0], y[1], NORM_INFINITY, &difference, &size));
  if (difference != 0) {
    PetscCall(PetscPrintf(PETSC_COMM_SELF, "FAILED %s: the product differs by %g\n", what, (double)difference));
    w->failed++;
  }
  for (int m = 0; m < 2; m++) PetscCall(TestDestroyVecs(&x[m], &y[m]));
  PetscFunctionReturn(0);
}

static PetscErrorCode Scale(Walk *w, PetscScalar factor)
{
  PetscFunctionBeginUser;
  PetscCall(MatScale(w->ours, factor));
  PetscCall(MatScale(w->plain, factor));
  PetscFunctionReturn(0);
}

static PetscErrorCode SetDiagonal(Walk *w, InsertMode mode)
{
  Vec d;

  PetscFunctionBeginUser;
  for (int m = 0; m < 2; m++) {
    PetscCall(MatCreateVecs(m ? w->plain : w->ours, NULL, &d));
    for (PetscInt i = 0; i < ROWS; i++) PetscCall(VecSetValue(d, i, i % 6 - 1, INSERT_VALUES));
    PetscCall(TestAssembleVec(d));
    PetscCall(MatDiagonalSet(m ? w->plain : w->ours, d, mode));
    PetscCall(VecDestroy(&d));
  }
  PetscFunctionReturn(0);
}

/* The places after a product, with values that were current in the places `before`. If the host's are current, copies
   on the device count as stale, unless nothing has changed since the last product. */
static int AfterProduct(const Walk *w, int before)
{
  if (w->borrows) return before == CSR ? CSR | PLAN : HOST | CSR | PLAN;
  return before == CSR ? CSR | PLAN : HOST | PLAN;
}

/* Transitions 1, 3 and 5, for values set on the host by the program */
static PetscErrorCode WalkHost(Walk *w)
{
  const PetscScalar *values;

  PetscFunctionBeginUser;
  PetscCall(Expect(w, HOST, "assembled"));
  PetscCall(Multiply(w, "first product"));
  PetscCall(Expect(w, AfterProduct(w, HOST), "first product"));
  PetscCall(Fill(w->ours, 2));
  PetscCall(Fill(w->plain, 2));
  PetscCall(Expect(w, HOST, "entries set again"));
  PetscCall(Multiply(w, "refresh"));
  PetscCall(Expect(w, AfterProduct(w, HOST), "refresh"));
  PetscCall(MatSeqAIJGetArrayRead(w->ours, &values));
  PetscCall(MatSeqAIJRestoreArrayRead(w->ours, &values));
  PetscCall(Expect(w, AfterProduct(w, HOST), "array read on the host"));
  for (int m = 0; m < 2; m++) {
    const Mat A = m ? w->plain : w->ours;

    PetscCall(MatSetValue(A, 0, ROWS - 1, 3, INSERT_VALUES));
    PetscCall(TestAssemble(A));
  }
  PetscCall(Expect(w, HOST, "another pattern"));
  PetscCall(Multiply(w, "another pattern"));
  PetscCall(Expect(w, AfterProduct(w, HOST), "product of another pattern"));
  PetscFunctionReturn(0);
}

/* Transitions 5, 10, 2 and 6: first and second operations on values. With the CUDA parent the first one is on the device
   already. */
static PetscErrorCode WalkOperations(Walk *w)
{
  const PetscScalar *values;
  const int          alike = w->follows ? HOST | PLAN : HOST;
  const int          after = w->cuda && w->on_gpu ? CSR : alike;

  PetscFunctionBeginUser;
  PetscCall(Scale(w, 2));
  PetscCall(Expect(w, after, "MatScale()"));
  PetscCall(SetDiagonal(w, ADD_VALUES));
  PetscCall(Expect(w, after, "MatDiagonalSet() that adds"));
  PetscCall(SetDiagonal(w, INSERT_VALUES));
  PetscCall(Expect(w, after, "MatDiagonalSet() that inserts"));
  PetscCall(Multiply(w, "product after MatDiagonalSet()"));
  PetscCall(Expect(w, after == (HOST | PLAN) ? after : AfterProduct(w, after), "product after MatDiagonalSet()"));
  PetscCall(Scale(w, 2));
  if (w->cuda && w->on_gpu) {
    PetscCall(Expect(w, CSR, "MatScale() of values on the device"));
    PetscCall(MatSeqAIJGetArrayRead(w->ours, &values));
    PetscCall(MatSeqAIJRestoreArrayRead(w->ours, &values));
    /* the object state has grown since the last product, so the device counts as stale, although it has the same
       values */
    PetscCall(Expect(w, HOST, "array read on the host of values on the device"));
  }
  PetscCall(Multiply(w, "product after a read"));
  PetscCall(MatZeroEntries(w->ours));
  PetscCall(MatZeroEntries(w->plain));
  PetscCall(Expect(w, HOST, "MatZeroEntries()"));
  PetscCall(Fill(w->ours, 1));
  PetscCall(Fill(w->plain, 1));
  PetscCall(Multiply(w, "product after zeros"));
  PetscCall(Expect(w, AfterProduct(w, HOST), "product after zeros"));
  PetscFunctionReturn(0);
}

/* Transition 2 by coordinates, and 7: matrices over the CUDA parent */
static PetscErrorCode WalkDevice(Walk *w)
{
  PetscInt     i[ROWS], j[ROWS];
  PetscScalar *values, array[ROWS];
  PetscMemType memtype;
  Vec          ones;

  PetscFunctionBeginUser;
  for (PetscInt k = 0; k < ROWS; k++) {
    i[k]     = k;
    j[k]     = (k * 7 + 3) % ROWS;
    array[k] = 1;
  }
  PetscCall(MatSetPreallocationCOO(w->ours, ROWS, i, j));
  PetscCall(MatSetPreallocationCOO(w->plain, ROWS, i, j));
  PetscCall(MatCreateVecs(w->ours, &ones, NULL));
  PetscCall(VecSet(ones, 1));
  PetscCall(VecGetArrayAndMemType(ones, &values, &memtype));
  PetscCall(MatSetValuesCOO(w->ours, values, INSERT_VALUES));
  PetscCall(VecRestoreArrayAndMemType(ones, &values));
  PetscCall(MatSetValuesCOO(w->plain, array, INSERT_VALUES));
  PetscCall(VecDestroy(&ones));
  if (w->cuda) PetscCall(Expect(w, CSR, "MatSetValuesCOO() from the device"));
  PetscCall(Multiply(w, "product after COO"));
  PetscCall(Expect(w, AfterProduct(w, w->cuda ? CSR : HOST), "product after COO"));
  if (w->cuda) {
    PetscCall(MatBindToCPU(w->ours, PETSC_TRUE));
    PetscCall(Expect(w, HOST, "MatBindToCPU()"));
    PetscCall(Multiply(w, "product on the host"));
    PetscCall(Expect(w, HOST | PLAN, "product on the host"));
    PetscCall(MatBindToCPU(w->ours, PETSC_FALSE));
    PetscCall(Multiply(w, "product back on the device"));
  }
  PetscFunctionReturn(0);
}

/* A MATSEQMAIJ reads the host's values, so operations stay on the host afterwards */
static PetscErrorCode WalkKept(Walk *w)
{
  Mat maij;

  PetscFunctionBeginUser;
  PetscCall(MatCreateMAIJ(w->ours, 2, &maij));
  for (int k = 0; k < 3; k++) {
    PetscCall(Scale(w, 2));
    PetscCall(Expect(w, w->follows ? HOST | PLAN : HOST, "MatScale() of a matrix in MATSEQMAIJ"));
  }
  PetscCall(Multiply(w, "product of a matrix in MATSEQMAIJ"));
  PetscCall(MatDestroy(&maij));
  PetscFunctionReturn(0);
}

/* Finds out where plans of such a matrix go, and what its parent is */
static PetscErrorCode Probe(MatType type, Walk *w)
{
  MatAIJFmtInfo info;
  Mat           A;
  Vec           x, y;

  PetscFunctionBeginUser;
  PetscCall(Create(type, &A));
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(PetscObjectTypeCompare((PetscObject)x, VECSEQCUDA, &w->cuda));
  PetscCall(VecSet(x, 1));
  PetscCall(MatMult(A, x, y));
  PetscCall(MatAIJFmtGetInfo(A, &info));
  PetscCheck(info.blocks_converted > 0, PETSC_COMM_SELF, PETSC_ERR_PLIB, "the matrix was not packed");
  w->on_gpu = info.blocks_on_gpu > 0 ? PETSC_TRUE : PETSC_FALSE;
  PetscCall(TestDestroyVecs(&x, &y));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  Walk      walk       = {.failed = 0};
  char      format[32] = "rbp", type[64];
  PetscBool is_crsv;

  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscPackInitializePackage());
  PetscCall(PetscOptionsGetString(NULL, NULL, "-format", format, sizeof format, NULL));
  PetscCall(PetscSNPrintf(type, sizeof type, "seqaij%s", format));
  PetscCall(Probe(type, &walk));
  PetscCall(PetscStrcmp(format, "crsv", &is_crsv));
  walk.borrows = walk.cuda && walk.on_gpu ? is_crsv : PETSC_FALSE;
  walk.follows = walk.on_gpu && !is_crsv ? PETSC_TRUE : PETSC_FALSE;
  PetscCall(Create(type, &walk.ours));
  PetscCall(Create(MATSEQAIJ, &walk.plain));
  PetscCall(WalkHost(&walk));
  PetscCall(WalkOperations(&walk));
  PetscCall(WalkDevice(&walk));
  PetscCall(WalkKept(&walk));
  PetscCall(TestDestroyMats(&walk.ours, &walk.plain));
  if (!walk.failed)
    PetscCall(PetscPrintf(PETSC_COMM_SELF, "all transitions, plan on the %s%s\n", walk.on_gpu ? "GPU" : "host",
                          walk.cuda ? ", CUDA parent" : ""));
  PetscCall(PetscFinalize());
  return walk.failed ? 1 : 0;
}
