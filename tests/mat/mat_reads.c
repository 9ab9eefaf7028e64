/*
  mat_reads.c - every way to read the values of a matrix after every change of them, compared with plain aij

    mat_reads [-reading name] [-change name] -scratch FILE [options of pair.c]

  Makes a matrix and its packed arrays, applies one change or a random sequence of two or three, and then reads the
  values in one way, with nothing in between. Readings that make another matrix (a product, a transpose, a MATMAIJ) run
  twice: it is made after the change, or made before it and refilled after it. Runs on any number of processes.
*/
static const char help[] = "Reads the values of matrices of the packed types after changes of them.\n";

#include "ops.h"

enum { SEQUENCE_MAX = 3, RANDOM_SEQUENCES = 3, NAME_MAX_LENGTH = 256 };

/* Changes, and a reading after them that makes its matrix before them if it shall keep it */
typedef struct {
  const ConfOperation *change[SEQUENCE_MAX], *reading;
  int                  count;
  PetscBool            keep;
} Sequence;

/* Assembles the matrix by coordinates first: before an assembly, PETSc takes the columns of the off-diagonal block for
   global ones */
static PetscErrorCode Create(Conf *c, uint64_t seed, Mat *A)
{
  PetscScalar *zeros;

  PetscFunctionBeginUser;
  PetscCall(ConfCreateEmpty(c, A));
  PetscCall(MatSetType(*A, c->type));
  PetscCall(OpPreallocateCoordinates(c, *A));
  PetscCall(PetscCalloc1(c->coordinates, &zeros));
  PetscCall(MatSetValuesCOO(*A, zeros, INSERT_VALUES));
  PetscCall(PetscFree(zeros));
  PetscCall(ConfSetValues(c, *A, seed));
  PetscCall(ConfMultiply(*A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Run(Conf *c, const ConfOperation *o)
{
  c->operation = o;
  c->drawn     = 0;
  c->way       = 0;
  return o->run(c);
}

/* One combination, in the turn of plain aij or of a format */
static PetscErrorCode RunOnce(Conf *c, const void *what)
{
  const Sequence  *s = what;
  PetscObjectState before, after;

  PetscFunctionBeginUser;
  PetscCall(Create(c, 7, &c->A));
  PetscCall(Create(c, 8, &c->other));
  if (s->keep) PetscCall(Run(c, s->reading));
  PetscCall(MatGetNonzeroState(c->A, &before));
  for (int k = 0; k < s->count; k++) PetscCall(Run(c, s->change[k]));
  PetscCall(MatGetNonzeroState(c->A, &after));
  PetscCall(ConfSeeReal(c, "another nonzero state", before != after));
  /* MatShift() of PETSc 3.26 changes the pattern on three processes: an object of the old pattern cannot be refilled */
  if (before != after) PetscCall(MatDestroy(&c->made));
  PetscCall(Run(c, s->reading));
  PetscCall(ConfSeeProducts(c, "product at the end", c->A));
  PetscCall(TestDestroyMats(&c->made, &c->A));
  PetscCall(MatDestroy(&c->other));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode RunSequence(ConfRuns *runs, Conf *c, const Sequence *s)
{
  char name[NAME_MAX_LENGTH] = "";

  PetscFunctionBeginUser;
  for (int k = 0; k < s->count; k++) {
    PetscCall(PetscStrlcat(name, s->change[k]->name, sizeof name));
    PetscCall(PetscStrlcat(name, ", ", sizeof name));
  }
  PetscCall(PetscStrlcat(name, "then ", sizeof name));
  PetscCall(PetscStrlcat(name, s->reading->name, sizeof name));
  if (s->keep) PetscCall(PetscStrlcat(name, " of before", sizeof name));
  PetscCall(ConfRunPair(runs, c, name, runs->format, RunOnce, s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Change number k, in the order of the table */
static const ConfOperation *Change(PetscInt k)
{
  const ConfOperation *o;

  for (PetscInt i = 0; (o = OpGet(i)); i++)
    if ((o->where & OP_CHANGES) && !k--) return o;
  return NULL;
}

static PetscErrorCode RunReading(ConfRuns *runs, Conf *c, const ConfOperation *reading, uint64_t number)
{
  Sequence s                   = {.reading = reading};
  char     only[CONF_TYPE_MAX] = "";
  PetscInt changes             = 0;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetString(NULL, NULL, "-change", only, sizeof only, NULL));
  while (Change(changes)) changes++;
  for (int keep = 0; keep < (reading->where & OP_MAKES ? 2 : 1); keep++) {
    s.keep = keep ? PETSC_TRUE : PETSC_FALSE;
    for (PetscInt k = 0; k < changes; k++) {
      s.count     = 1;
      s.change[0] = Change(k);
      if (!only[0] || !strcmp(only, s.change[0]->name)) PetscCall(RunSequence(runs, c, &s));
    }
    for (uint64_t k = 0; k < RANDOM_SEQUENCES && !only[0]; k++) { /* always the same ones for the same number */
      const uint64_t seed = number * RANDOM_SEQUENCES + k;

      s.count = 2 + (int)(gen_hash(seed, 0) % (SEQUENCE_MAX - 1));
      for (int i = 0; i < s.count; i++)
        s.change[i] = Change((PetscInt)(gen_hash(seed, 1 + (uint64_t)i) % (uint64_t)changes));
      PetscCall(RunSequence(runs, c, &s));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Parallel A^T B and P^T A P crash in PETSc 3.18 with any -mat_seqaij_type, its own seqaijperm, too */
static PetscErrorCode MakesSense(const Conf *c, const ConfOperation *o, PetscBool *sense)
{
  PetscBool named;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsHasName(NULL, NULL, "-mat_seqaij_type", &named));
  *sense =
      o->where & OP_READS && !(o->where & (c->sequential ? OP_PARALLEL : OP_SEQUENTIAL)) ? PETSC_TRUE : PETSC_FALSE;
  if (named && !c->sequential && (!strcmp(o->name, "transpose_other") || !strcmp(o->name, "triple")))
    *sense = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  const GenSpec        spec                = gen_stencil(9, 5, 4, 1);
  char                 only[CONF_TYPE_MAX] = "";
  const ConfOperation *o;
  ConfRuns             runs;
  Conf                 c;
  PetscBool            sense = PETSC_FALSE;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(ConfRunsBegin(&runs, &c));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-reading", only, sizeof only, NULL));
  if (!runs.format[0]) PetscCall(PetscStrncpy(runs.format, "rbp", sizeof runs.format));
  PetscCall(ConfSetUp(&c, &spec, CONF_EVEN));
  c.alone = PETSC_TRUE;
  for (PetscInt i = 0; (o = OpGet(i)); i++) {
    PetscCall(MakesSense(&c, o, &sense));
    if (sense && (!only[0] || !strcmp(only, o->name))) PetscCall(RunReading(&runs, &c, o, (uint64_t)i));
  }
  return ConfRunsEnd(&runs);
}
