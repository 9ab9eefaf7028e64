/*
  values_bench.c - times changes of the values of a matrix, each with the product after it

    values_bench [-n 100] [-repeats 30] -dll_append libpetscpack.so -mat_type aijrbp

  The matrix is the 7-point stencil on n^3 points; values come by a list of coordinates. Prints JSON: for each change the
  median time of the change and that of the product after it, in microseconds.
*/
#include <cuda_runtime_api.h>
#include <petscmat.h>
#include <petsctime.h>
#include <stdlib.h>

#if PETSC_VERSION_LT(3, 19, 0)
  #define PETSC_SUCCESS 0
#endif

enum { REPEATS_MAX = 200, POINTS = 7 };

typedef struct {
  Mat          A;
  Vec          x, y, d;
  PetscCount   count;
  PetscInt    *i, *j;
  PetscScalar *list; /* all three: [count] */
} Problem;

static PetscErrorCode Scale(Problem *p) { return MatScale(p->A, 1.0001); }
static PetscErrorCode Shift(Problem *p) { return MatShift(p->A, 1e-4); }
static PetscErrorCode AddDiagonal(Problem *p) { return MatDiagonalSet(p->A, p->d, ADD_VALUES); }
static PetscErrorCode ScaleRows(Problem *p) { return MatDiagonalScale(p->A, p->d, NULL); }
static PetscErrorCode Coordinates(Problem *p) { return MatSetValuesCOO(p->A, p->list, INSERT_VALUES); }

static const struct {
  const char *name;
  PetscErrorCode (*run)(Problem *);
} changes[] = {{"MatScale", Scale},
               {"MatShift", Shift},
               {"MatDiagonalSet", AddDiagonal},
               {"MatDiagonalScale", ScaleRows},
               {"MatSetValuesCOO", Coordinates}};

static PetscErrorCode Create(PetscInt n, Problem *p)
{
  const PetscInt rows = n * n * n, step[POINTS] = {0, 1, -1, n, -n, n * n, -n * n};

  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_SELF, &p->A));
  PetscCall(MatSetSizes(p->A, rows, rows, rows, rows));
  PetscCall(MatSetFromOptions(p->A));
  PetscCall(PetscMalloc3(POINTS * rows, &p->i, POINTS * rows, &p->j, POINTS * rows, &p->list));
  p->count = 0;
  for (PetscInt r = 0; r < rows; r++) {
    for (int k = 0; k < POINTS; k++) {
      if (r + step[k] < 0 || r + step[k] >= rows) continue;
      p->i[p->count]      = r;
      p->j[p->count]      = r + step[k];
      p->list[p->count++] = k ? -1 : 7;
    }
  }
  PetscCall(MatSetPreallocationCOO(p->A, p->count, p->i, p->j));
  PetscCall(MatSetValuesCOO(p->A, p->list, INSERT_VALUES));
  PetscCall(MatCreateVecs(p->A, &p->x, &p->y));
  PetscCall(VecSet(p->x, 1));
  PetscCall(VecDuplicate(p->y, &p->d));
  PetscCall(VecSet(p->d, 1.0001));
  PetscCall(MatMult(p->A, p->x, p->y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static int Compare(const void *a, const void *b)
{
  return *(const double *)a < *(const double *)b ? -1 : *(const double *)a > *(const double *)b;
}

/* The time when the GPU has done its work */
static PetscErrorCode Now(PetscLogDouble *time)
{
  PetscFunctionBeginUser;
  PetscCheck(!cudaDeviceSynchronize(), PETSC_COMM_SELF, PETSC_ERR_GPU, "the GPU failed");
  PetscCall(PetscTime(time));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Measure(Problem *p, int c, PetscInt repeats)
{
  double         change[REPEATS_MAX], product[REPEATS_MAX];
  PetscLogDouble time[3] = {0}; /* gcc does not see that they are set whenever the calls succeed */

  PetscFunctionBeginUser;
  for (PetscInt k = -3; k < repeats; k++) { /* the first ones allocate */
    PetscCall(Now(&time[0]));
    PetscCall(changes[c].run(p));
    PetscCall(Now(&time[1]));
    PetscCall(MatMult(p->A, p->x, p->y));
    PetscCall(Now(&time[2]));
    if (k < 0) continue;
    change[k]  = time[1] - time[0];
    product[k] = time[2] - time[1];
  }
  qsort(change, (size_t)repeats, sizeof *change, Compare);
  qsort(product, (size_t)repeats, sizeof *product, Compare);
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "%s\"%s\": {\"change_us\": %.2f, \"product_us\": %.2f}", c ? ", " : "",
                        changes[c].name, 1e6 * change[repeats / 2], 1e6 * product[repeats / 2]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  Problem  p;
  PetscInt n = 100, repeats = 30;
  MatType  type;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-n", &n, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-repeats", &repeats, NULL));
  PetscCheck(n > 0 && repeats > 0 && repeats <= REPEATS_MAX, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "-n must be positive and -repeats at most %d", REPEATS_MAX);
  PetscCall(Create(n, &p));
  PetscCall(MatGetType(p.A, &type));
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "{\"type\": \"%s\", \"n\": %d, ", type, (int)n));
  for (int c = 0; c < (int)(sizeof changes / sizeof *changes); c++) PetscCall(Measure(&p, c, repeats));
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "}\n"));
  PetscCall(MatDestroy(&p.A));
  PetscCall(VecDestroy(&p.x));
  PetscCall(VecDestroy(&p.y));
  PetscCall(VecDestroy(&p.d));
  PetscCall(PetscFree3(p.i, p.j, p.list));
  PetscCall(PetscFinalize());
  return 0;
}
