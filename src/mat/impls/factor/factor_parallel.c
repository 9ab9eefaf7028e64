/*
  factor_parallel.c - the factor of a matrix that is distributed over processes: the first process has all rows and the
  factorization, the others send their rows and right-hand sides and get their parts of solutions. The answer does not
  depend on the number of processes. Also the conversion of matrices that are not AIJ.
*/
#ifndef _GNU_SOURCE
  #define _GNU_SOURCE /* for sched_setaffinity(), RTLD_DEFAULT */
#endif
#include "factor.h"
#include <dlfcn.h>
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

PetscErrorCode MatCuDSSForgetWhole(Mat_CuDSS *s)
{
  PetscFunctionBegin;
  if (s->whole) PetscCall(MatDestroySubMatrices(s->wholes, &s->whole));
  PetscCall(MatDestroy(&s->aij));
  PetscCall(VecScatterDestroy(&s->gather));
  PetscCall(VecDestroy(&s->all_b));
  PetscCall(VecDestroy(&s->all_x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatCuDSSWhole(Mat A, MatReuse reuse, Mat_CuDSS *s, Mat *whole)
{
  PetscMPIInt rank;
  PetscBool   is;
  IS          rows;

  PetscFunctionBegin;
  *whole = A;
  PetscCall(PetscObjectTypeCompare((PetscObject)A, MATSEQSBAIJ, &is));
  if (is) {
    if (reuse == MAT_INITIAL_MATRIX) PetscCall(MatDestroy(&s->aij));
    PetscCall(MatConvert(A, MATSEQAIJ, reuse, &s->aij));
    *whole = s->aij;
  }
  if (!s->several) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallMPI(MPI_Comm_rank(PetscObjectComm((PetscObject)A), &rank));
  if (reuse == MAT_INITIAL_MATRIX) PetscCall(MatCuDSSForgetWhole(s));
  s->wholes = rank == 0 ? 1 : 0;
  PetscCall(ISCreateStride(PETSC_COMM_SELF, s->wholes * A->rmap->N, 0, 1, &rows));
  PetscCall(MatCreateSubMatrices(A, s->wholes, &rows, &rows, reuse, &s->whole));
  PetscCall(ISDestroy(&rows));
  *whole = s->wholes ? s->whole[0] : NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatCuDSSAgree(Mat F, Mat_CuDSS *s)
{
  PetscFunctionBegin;
  if (s->several) PetscCallMPI(MPI_Bcast(s->why, sizeof s->why, MPI_CHAR, 0, PetscObjectComm((PetscObject)F)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Threads that reorder may use the cores of all processes of this machine: those wait, and sleep meanwhile. OpenMP counts
   cores when it is loaded, perhaps those to which mpiexec has bound this process. */
static PetscErrorCode MakeWithCores(Mat whole, Mat_CuDSS *s, const cpu_set_t *mine, const cpu_set_t *all)
{
  int (*get)(void)     = NULL;
  void (*set)(int)     = NULL;
  void *const    found = getenv("OMP_NUM_THREADS") ? NULL : dlsym(RTLD_DEFAULT, "omp_get_max_threads");
  void *const    sets  = dlsym(RTLD_DEFAULT, "omp_set_num_threads");
  PetscErrorCode error;
  int            before = 0;

  PetscFunctionBegin;
  if (found && sets) {
    memcpy(&get, &found, sizeof get); /* ISO C does not convert pointers to objects to pointers to functions */
    memcpy(&set, &sets, sizeof set);
    before = get();
    set(CPU_COUNT(all));
  }
  (void)sched_setaffinity(0, sizeof *all, all);
  error = MatCuDSSMake(whole, s);
  (void)sched_setaffinity(0, sizeof *mine, mine);
  if (set) set(before);
  PetscCall(error);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatCuDSSMakeWhole(Mat F, Mat whole, Mat_CuDSS *s)
{
  const MPI_Comm comm = PetscObjectComm((PetscObject)F);
  cpu_set_t      mine, all;
  MPI_Comm       machine;
  MPI_Request    request;
  PetscMPIInt    done = 0;

  PetscFunctionBegin;
  if (!s->several) {
    PetscCall(MatCuDSSMake(whole, s));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  CPU_ZERO(&mine);
  (void)sched_getaffinity(0, sizeof mine, &mine);
  PetscCallMPI(MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine));
  PetscCallMPI(MPI_Allreduce(&mine, &all, sizeof all, MPI_BYTE, MPI_BOR, machine));
  PetscCallMPI(MPI_Comm_free(&machine));
  if (whole) PetscCall(CPU_COUNT(&all) > 0 ? MakeWithCores(whole, s, &mine, &all) : MatCuDSSMake(whole, s));
  PetscCallMPI(MPI_Ibarrier(comm, &request)); /* a process in MPI_Barrier() would spin on the core that it lends */
  while (!done) {
    PetscCallMPI(MPI_Test(&request, &done, MPI_STATUS_IGNORE));
    if (!done) (void)usleep(500);
  }
  PetscCall(MatCuDSSAgree(F, s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SolveHere(Mat_CuDSS *s, PetscBool transposed, Vec b, Vec x)
{
  SpmvStatus status;

  PetscFunctionBegin;
  PetscCall(MatCuDSSSolve(s, transposed, b, x, &status));
  PetscCall(AIJFmtRefuse(&s->exec, status, s->why));
  if (!status) s->solves++;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatCuDSSSolveAll(Mat F, Mat_CuDSS *s, PetscBool transposed, Vec b, Vec x)
{
  PetscFunctionBegin;
  if (!s->several) {
    PetscCall(SolveHere(s, transposed, b, x));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (!s->gather) {
    PetscCall(VecScatterCreateToZero(b, &s->gather, &s->all_b));
    PetscCall(VecDuplicate(s->all_b, &s->all_x));
  }
  PetscCall(VecScatterBegin(s->gather, b, s->all_b, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecScatterEnd(s->gather, b, s->all_b, INSERT_VALUES, SCATTER_FORWARD));
  if (s->wholes) PetscCall(SolveHere(s, transposed, s->all_b, s->all_x));
  PetscCall(MatCuDSSAgree(F, s));
  if (s->why[0]) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecScatterBegin(s->gather, s->all_x, x, INSERT_VALUES, SCATTER_REVERSE));
  PetscCall(VecScatterEnd(s->gather, s->all_x, x, INSERT_VALUES, SCATTER_REVERSE));
  PetscFunctionReturn(PETSC_SUCCESS);
}
