/*
  totals.c - counts products and solves of the process, and prints one line of totals for -petscpack_summary. Of all reasons why work did not run on the GPU, it keeps that of the largest matrix, or of the
  last solve.
*/
#include "totals.h"

enum { PLACES = PETSCPACK_BY_PETSC + 1, SET_UPS = PETSCPACK_PATTERN + 1, APPLIES = PETSCPACK_SWEEP + 1 };

static struct {
  PetscInt64      products[PLACES], solves_gpu, solves_host, iterations_gpu;
  PetscInt64      applies[2 * APPLIES]; /* of each kind, first those by PETSc, then those on the GPU */
  PetscInt64      set_up[2 * SET_UPS];  /* of each kind, first those by PETSc, then those on the GPU */
  int64_t         largest[PLACES];      /* nonzeros of the matrix that gave why[place] */
  PetscPackShared shared[2];            /* with the most nonzeros, without and with a cycle */
  char            why[PLACES][SPMV_MESSAGE_MAX], why_solve[SPMV_MESSAGE_MAX];
  char            why_apply[APPLIES][SPMV_MESSAGE_MAX];
} totals;

void PetscPackCountProduct(PetscPackPlace place, int64_t nonzeros, const char why[])
{
  totals.products[place]++;
  if (!why[0] || nonzeros <= totals.largest[place]) return;
  totals.largest[place] = nonzeros;
  (void)PetscStrncpy(totals.why[place], why, sizeof totals.why[place]);
}

void PetscPackCountSetUp(PetscPackSetUp kind, PetscBool gpu) { totals.set_up[2 * kind + (gpu ? 1 : 0)]++; }

void PetscPackCountSolve(PetscInt iterations, const char why_host[])
{
  if (why_host[0]) {
    totals.solves_host++;
    (void)PetscStrncpy(totals.why_solve, why_host, sizeof totals.why_solve);
  } else {
    totals.solves_gpu++;
    totals.iterations_gpu += iterations;
  }
}

void PetscPackCountShared(const PetscPackShared *solver)
{
  PetscPackShared *largest = &totals.shared[solver->cycle ? 1 : 0];

  if (solver->nonzeros >= largest->nonzeros) *largest = *solver;
}

void PetscPackCountApply(PetscPackApply kind, const char why_petsc[])
{
  totals.applies[2 * kind + (why_petsc[0] ? 0 : 1)]++;
  if (why_petsc[0]) (void)PetscStrncpy(totals.why_apply[kind], why_petsc, sizeof totals.why_apply[kind]);
}

/* Gives all processes the reason of the lowest rank that has one */
PetscErrorCode PetscPackShareReason(MPI_Comm comm, char reason[SPMV_MESSAGE_MAX])
{
  PetscMPIInt rank, size, first;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCallMPI(MPI_Comm_size(comm, &size));
  if (!reason[0]) rank = size;
  PetscCallMPI(MPI_Allreduce(&rank, &first, 1, MPI_INT, MPI_MIN, comm));
  if (first < size) PetscCallMPI(MPI_Bcast(reason, SPMV_MESSAGE_MAX, MPI_CHAR, first, comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Formats a reason for the line: " (reason)", or nothing */
static PetscErrorCode InBrackets(const char mine[], char shown[SPMV_MESSAGE_MAX])
{
  char reason[SPMV_MESSAGE_MAX];

  PetscFunctionBegin;
  PetscCall(PetscStrncpy(reason, mine, sizeof reason));
  PetscCall(PetscPackShareReason(PETSC_COMM_WORLD, reason));
  shown[0] = 0;
  if (reason[0]) PetscCall(PetscSNPrintf(shown, SPMV_MESSAGE_MAX, " (%s)", reason));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Appends work that most programs do not have to the line, unless it is zero */
static PetscErrorCode AppendPart(char line[], size_t size, const char what[], PetscInt64 on_gpu, const char where[],
                                 PetscInt64 elsewhere, const char why[])
{
  size_t length;

  PetscFunctionBegin;
  if (!on_gpu && !elsewhere) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscStrlen(line, &length));
  PetscCall(PetscSNPrintf(line + length, size - length, "; %s: %lld on the GPU, %lld %s%s", what, (long long)on_gpu,
                          (long long)elsewhere, where, why));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The parts of the line about set-up, multigrid and factors. A cycle on several processes counts once. */
static PetscErrorCode FormatSetUp(char line[], size_t size)
{
  static const char *const applies[] = {"cycles of mgdevice and gamgdevice", "solves with factors", "sweeps of SOR"};
  PetscInt64               set_up[2 * SET_UPS], most[2 * APPLIES];
  char                     why[SPMV_MESSAGE_MAX];

  PetscFunctionBegin;
  line[0] = 0;
  PetscCallMPI(MPI_Allreduce(totals.set_up, set_up, 2 * SET_UPS, MPIU_INT64, MPI_SUM, PETSC_COMM_WORLD));
  PetscCallMPI(MPI_Allreduce(totals.applies, most, 2 * APPLIES, MPIU_INT64, MPI_MAX, PETSC_COMM_WORLD));
  PetscCall(
      AppendPart(line, size, "graphs", set_up[2 * PETSCPACK_GRAPH + 1], "elsewhere", set_up[2 * PETSCPACK_GRAPH], ""));
  PetscCall(AppendPart(line, size, "patterns of products of matrices", set_up[2 * PETSCPACK_PATTERN + 1], "elsewhere",
                       set_up[2 * PETSCPACK_PATTERN], ""));
  for (int kind = 0; kind < APPLIES; kind++) {
    PetscCall(InBrackets(totals.why_apply[kind], why));
    PetscCall(AppendPart(line, size, applies[kind], most[2 * kind + 1], "by PETSc", most[2 * kind], why));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The part about several GPUs, if one would do. Measured and calculated for two H200, docs/several-gpus.md. */
static PetscErrorCode AppendShared(char line[], size_t size)
{
  const PetscInt64 paying[] = {8000000, 12000000}; /* nonzeros a GPU, without and with a cycle */
  const PetscInt64 first = 30, renewed = 3;        /* solves after which a set-up of GAMG has paid at the earliest */
  PetscInt64       all[2]  = {totals.shared[0].nonzeros, totals.shared[1].nonzeros};
  PetscInt64       set_ups = totals.shared[1].set_ups, solves = totals.shared[1].solves;
  int              cycle;
  PetscMPIInt      processes;
  size_t           length;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &processes));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, all, 2, MPIU_INT64, MPI_SUM, PETSC_COMM_WORLD));
  PetscCall(PetscStrlen(line, &length));
  cycle = all[1] >= all[0];
  if (all[cycle] > 0 && all[cycle] < paying[cycle] * processes)
    PetscCall(PetscSNPrintf(line + length, size - length,
                            "; one GPU may be faster: the largest system on %d processes has %lld nonzeros, and a GPU "
                            "pays from %lld on%s",
                            (int)processes, (long long)all[cycle], (long long)paying[cycle],
                            cycle ? " with multigrid" : ""));
  else if (cycle && set_ups > 0 && solves < first + renewed * (set_ups - 1))
    PetscCall(PetscSNPrintf(
        line + length, size - length,
        "; one GPU may be faster: %lld set-ups of GAMG on %d processes served %lld solves; the first one pays after "
        "%lld, one with new values after %lld, at the earliest",
        (long long)set_ups, (int)processes, (long long)solves, (long long)first, (long long)renewed));
  PetscFunctionReturn(PETSC_SUCCESS);
}

void PetscPackCountedWork(PetscInt64 *gpu, PetscInt64 *elsewhere)
{
  PetscInt64 applies[2] = {0, 0}; /* by PETSc, on the GPU */

  for (int i = 0; i < 2 * APPLIES; i++) applies[i % 2] += totals.applies[i];
  if (gpu) *gpu = totals.products[PETSCPACK_ON_GPU] + totals.solves_gpu + applies[1];
  if (elsewhere) *elsewhere = totals.products[PETSCPACK_ON_HOST] + totals.products[PETSCPACK_BY_PETSC] + applies[0];
}

/* A solve on several processes counts once; products count per sequential block, over all processes. If solves and
   products stayed on the host for the same reason, it is printed once. */
PetscErrorCode PetscPackTotalsPrint(const char head[])
{
  char no_gpu[SPMV_MESSAGE_MAX] = "", solve[SPMV_MESSAGE_MAX], host[SPMV_MESSAGE_MAX], parent[SPMV_MESSAGE_MAX],
       rest[3 * SPMV_MESSAGE_MAX];
  PetscInt64 sum[PLACES], solves[3] = {totals.solves_gpu, totals.solves_host, totals.iterations_gpu}, most[3];
  PetscBool  same;

  PetscFunctionBegin;
  if (spmv_device_count(no_gpu) > 0 || !totals.products[PETSCPACK_ON_HOST]) no_gpu[0] = 0;
  PetscCall(InBrackets(totals.why_solve, solve));
  PetscCall(InBrackets(totals.why[PETSCPACK_ON_HOST][0] ? totals.why[PETSCPACK_ON_HOST] : no_gpu, host));
  PetscCall(InBrackets(totals.why[PETSCPACK_BY_PETSC], parent));
  PetscCall(PetscStrcmp(solve, host, &same));
  if (same) host[0] = 0;
  PetscCall(FormatSetUp(rest, sizeof rest));
  PetscCall(AppendShared(rest, sizeof rest));
  PetscCallMPI(MPI_Allreduce(totals.products, sum, PLACES, MPIU_INT64, MPI_SUM, PETSC_COMM_WORLD));
  PetscCallMPI(MPI_Allreduce(solves, most, 3, MPIU_INT64, MPI_MAX, PETSC_COMM_WORLD));
  PetscCall(PetscFPrintf(PETSC_COMM_WORLD, PETSC_STDERR,
                         "petscpack: %s; engines: %lld solves with %lld iterations on the GPU, %lld by PETSc%s; "
                         "products of our matrices: %lld on the GPU, %lld on the host%s, %lld by PETSc%s%s\n",
                         head, (long long)most[0], (long long)most[2], (long long)most[1], solve,
                         (long long)sum[PETSCPACK_ON_GPU], (long long)sum[PETSCPACK_ON_HOST], host,
                         (long long)sum[PETSCPACK_BY_PETSC], parent, rest));
  PetscCall(PetscMemzero(&totals, sizeof totals));
  PetscFunctionReturn(PETSC_SUCCESS);
}
