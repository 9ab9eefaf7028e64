/*
  mat_reads.c - every way to read the values of a matrix after every change of them, compared with plain aij

    mat_reads [-format rbp] [-sample N [-offset K]] [-way name] [-change name] -scratch FILE

  Makes a matrix and its packed arrays, applies one change or a random sequence of two or three, and then reads the
  values in one way, with nothing in between. Ways that read another object made from the matrix (a product, a
  transpose, a MATMAIJ) run twice: the object is made after the change, or made before it and refilled after it. Runs on
  any number of processes. -sample N runs every N-th combination, beginning with number K.
*/
static const char help[] = "Reads the values of matrices of the packed types after changes of them.\n";

#include "mat_reads.h"

#include <cases.h>

enum { SEQUENCE_MAX = 3, RANDOM_SEQUENCES = 3, NAME_MAX_LENGTH = 256 };

typedef struct {
  const ReadsChange *change[SEQUENCE_MAX];
  int                count;
} Sequence;

typedef struct {
  Conf     c;
  GenSpec  spec;
  char     format[CONF_TYPE_MAX], file[CONF_TYPE_MAX], way[CONF_TYPE_MAX], change[CONF_TYPE_MAX];
  PetscInt sample, offset, passed, failed;
} Run;

/* Assembles the matrix by coordinates first: before an assembly, PETSc takes the columns of the off-diagonal block for
   global ones */
static PetscErrorCode Create(Conf *c, uint64_t seed, PetscCount *count, Mat *A)
{
  char         type[CONF_TYPE_MAX];
  PetscInt    *rows, *cols;
  PetscScalar *zeros;

  PetscFunctionBeginUser;
  PetscCall(ConfName(c, c->base, type));
  PetscCall(ConfCreateEmpty(c, A));
  PetscCall(MatSetType(*A, type));
  PetscCall(ConfCoordinates(c, count, &rows, &cols));
  PetscCall(MatSetPreallocationCOO(*A, *count, rows, cols));
  PetscCall(PetscFree2(rows, cols));
  PetscCall(PetscCalloc1(*count, &zeros));
  PetscCall(MatSetValuesCOO(*A, zeros, INSERT_VALUES));
  PetscCall(PetscFree(zeros));
  PetscCall(ConfSetValues(c, *A, seed));
  PetscCall(ConfMultiply(*A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* One combination, in the turn of plain aij or of a format */
static PetscErrorCode RunOnce(Run *run, const Sequence *sequence, const ReadsWay *way, PetscBool keep)
{
  Conf            *c    = &run->c;
  Mat              kept = NULL;
  Reads            r    = {.A = NULL};
  PetscObjectState before, after;

  PetscFunctionBeginUser;
  PetscCall(ConfSetUp(c, &run->spec, CONF_EVEN));
  PetscCall(PetscStrncpy(r.file, run->file, sizeof r.file));
  PetscCall(Create(c, 7, &r.count, &r.A));
  PetscCall(Create(c, 8, &r.count, &r.other));
  PetscCall(PetscMalloc1(r.count, &r.value));
  if (keep) PetscCall(way->run(c, &r, &kept));
  PetscCall(MatGetNonzeroState(r.A, &before));
  for (int s = 0; s < sequence->count; s++) PetscCall(sequence->change[s]->run(c, &r));
  PetscCall(MatGetNonzeroState(r.A, &after));
  PetscCall(ConfSeeReal(c, "another nonzero state", before != after));
  /* MatShift() of PETSc 3.26 changes the pattern on three processes: an object of the old pattern cannot be refilled */
  if (before != after) PetscCall(MatDestroy(&kept));
  PetscCall(way->run(c, &r, keep ? &kept : NULL));
  PetscCall(ConfSeeProducts(c, "product at the end", r.A));
  PetscCall(MatDestroy(&kept));
  PetscCall(PetscFree(r.value));
  PetscCall(MatDestroy(&r.A));
  PetscCall(MatDestroy(&r.other));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SequenceName(const Sequence *sequence, const ReadsWay *way, PetscBool keep, char name[])
{
  PetscFunctionBeginUser;
  name[0] = 0;
  for (int s = 0; s < sequence->count; s++) {
    PetscCall(PetscStrlcat(name, sequence->change[s]->name, NAME_MAX_LENGTH));
    PetscCall(PetscStrlcat(name, ", ", NAME_MAX_LENGTH));
  }
  PetscCall(PetscStrlcat(name, "then ", NAME_MAX_LENGTH));
  PetscCall(PetscStrlcat(name, way->name, NAME_MAX_LENGTH));
  if (keep) PetscCall(PetscStrlcat(name, " of before", NAME_MAX_LENGTH));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode RunPair(Run *run, const Sequence *sequence, const ReadsWay *way, PetscBool keep)
{
  ConfRecord record[2];
  PetscInt   different = 0;
  char       name[NAME_MAX_LENGTH];

  PetscFunctionBeginUser;
  if (!case_in_sample(run->sample, run->offset)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(SequenceName(sequence, way, keep, name));
  for (int k = 0; k < 2; k++) {
    PetscCall(ConfRecordCreate(&record[k]));
    PetscCall(ConfTurn(&run->c, k ? run->format : ""));
    run->c.record = &record[k];
    PetscCall(RunOnce(run, sequence, way, keep));
  }
  PetscCall(ConfCompare(&run->c, name, &record[0], &record[1], &different));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &different, 1, MPIU_INT, MPI_SUM, run->c.comm));
  if (different) PetscCall(PetscPrintf(run->c.comm, "FAILED %s\n", name));
  if (different) run->failed++;
  else run->passed++;
  for (int k = 0; k < 2; k++) PetscCall(ConfRecordDestroy(&record[k]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static int ChangeCount(void)
{
  int count = 0;

  while (reads_changes[count].name) count++;
  return count;
}

/* Two or three random changes, always the same ones for the same number */
static Sequence Draw(uint64_t number)
{
  Sequence sequence = {.count = 2 + (int)(gen_hash(number, 0) % (SEQUENCE_MAX - 1))};

  for (int s = 0; s < sequence.count; s++)
    sequence.change[s] = &reads_changes[gen_hash(number, 1 + (uint64_t)s) % (uint64_t)ChangeCount()];
  return sequence;
}

static PetscErrorCode RunWay(Run *run, const ReadsWay *way, uint64_t number)
{
  PetscBool chosen = PETSC_TRUE, named;

  PetscFunctionBeginUser;
  /* Parallel A^T B and P^T A P crash in PETSc 3.18 with any -mat_seqaij_type, its own seqaijperm, too */
  PetscCall(PetscOptionsHasName(NULL, NULL, "-mat_seqaij_type", &named));
  if (named && !run->c.sequential && (!strcmp(way->name, "transposed_matmat") || !strcmp(way->name, "triple")))
    PetscFunctionReturn(PETSC_SUCCESS);
  if ((way->where & CONF_SEQUENTIAL) && !run->c.sequential) PetscFunctionReturn(PETSC_SUCCESS);
  if ((way->where & READS_PARALLEL) && run->c.sequential) PetscFunctionReturn(PETSC_SUCCESS);
  for (int keep = 0; keep < (way->keeps ? 2 : 1); keep++) {
    for (int i = 0; reads_changes[i].name; i++) {
      const Sequence one = {.change = {&reads_changes[i]}, .count = 1};

      if (run->change[0]) PetscCall(PetscStrcmp(run->change, reads_changes[i].name, &chosen));
      if (chosen) PetscCall(RunPair(run, &one, way, keep ? PETSC_TRUE : PETSC_FALSE));
    }
    for (int k = 0; k < RANDOM_SEQUENCES && !run->change[0]; k++) {
      const Sequence some = Draw(number * RANDOM_SEQUENCES + (uint64_t)k);

      PetscCall(RunPair(run, &some, way, keep ? PETSC_TRUE : PETSC_FALSE));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ReadOptions(Run *run)
{
  const char *by_option;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetString(NULL, NULL, "-format", run->format, sizeof run->format, NULL));
  PetscCall(ConfByOption(&by_option));
  if (by_option) PetscCall(PetscStrncpy(run->format, by_option, sizeof run->format));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-scratch", run->file, sizeof run->file, NULL));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-way", run->way, sizeof run->way, NULL));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-change", run->change, sizeof run->change, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-sample", &run->sample, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-offset", &run->offset, NULL));
  PetscCheck(run->file[0] && run->sample > 0 && run->offset >= 0, run->c.comm, PETSC_ERR_ARG_OUTOFRANGE,
             "give -scratch FILE, a positive -sample and no negative -offset");
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  Run       run    = {.format = "rbp", .sample = 1};
  PetscBool chosen = PETSC_TRUE;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscPackInitializePackage());
  run.spec   = gen_stencil(9, 5, 4, 1);
  run.c.comm = PETSC_COMM_WORLD;
  run.c.base = MATAIJ;
  PetscCallMPI(MPI_Comm_rank(run.c.comm, &run.c.rank));
  PetscCallMPI(MPI_Comm_size(run.c.comm, &run.c.size));
  run.c.sequential = run.c.size == 1 ? PETSC_TRUE : PETSC_FALSE;
  PetscCall(ReadOptions(&run));
  for (int w = 0; reads_ways[w].name; w++) {
    if (run.way[0]) PetscCall(PetscStrcmp(run.way, reads_ways[w].name, &chosen));
    if (chosen) PetscCall(RunWay(&run, &reads_ways[w], (uint64_t)w));
  }
  PetscCall(PetscPrintf(run.c.comm, "%" PetscInt_FMT " passed, %" PetscInt_FMT " failed\n", run.passed, run.failed));
  PetscCall(PetscFinalize());
  return run.failed || !run.passed ? 1 : 0;
}
