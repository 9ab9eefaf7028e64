/*
  conf_mat.c - conformance of the Mat types: operations x matrices x layouts x formats, each compared with plain AIJ

    conf_mat [-operation name] [-matrix name] -scratch FILE [options of pair.c]

  Runs on any number of processes. The last line counts passed and failed comparisons; the exit status is 1 if any
  failed.
*/
static const char help[] = "Compares operations on matrices of the packed types with the same on plain AIJ.\n";

#include "ops.h"

#include <cases.h>

/* Larger matrices are covered by the kernel tests; these limits keep a run to seconds */
static const double nonzeros_max = 2.0e4, heavy_work_max = 1.0e6, dense_entries_max = 1.0e5;

/* conf_states.c: changes through containers, on one matrix of the catalogue */
extern const ConfOperation conf_states[];
static const char          matrix_of_states[] = "many_dofs";

static PetscErrorCode MeasureMatrix(const GenSpec *spec, double *nonzeros, double *work)
{
  int64_t *col;

  PetscFunctionBeginUser;
  *nonzeros = *work = 0;
  PetscCall(PetscMalloc1(spec->cols, &col));
  for (int64_t i = 0; i < spec->rows; i++) {
    double length = (double)spec->row(spec, i, col);

    *nonzeros += length;
    *work += length * length;
  }
  PetscCall(PetscFree(col));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscBool MakesSense(const ConfOperation *o, const GenSpec *spec, PetscBool sequential, double work)
{
  if (o->where & (OP_RANDOM_ONLY | OP_COORDINATES)) return PETSC_FALSE;
  if ((o->where & OP_SQUARE) && spec->rows != spec->cols) return PETSC_FALSE;
  if ((o->where & OP_NONEMPTY) && (!spec->rows || !spec->cols)) return PETSC_FALSE;
  if ((o->where & OP_SEQUENTIAL) && !sequential) return PETSC_FALSE;
  if ((o->where & OP_PARALLEL) && sequential) return PETSC_FALSE;
  if ((o->where & (OP_HEAVY | OP_SMALL)) && (work > heavy_work_max || spec->rows > 1000)) return PETSC_FALSE;
  if ((o->where & OP_DENSE) && (double)spec->rows * (double)spec->cols > dense_entries_max) return PETSC_FALSE;
  return PETSC_TRUE;
}

/* All ways of an operation, one after the other on the same matrix */
static PetscErrorCode RunWays(Conf *c, const void *operation)
{
  const ConfOperation *o = operation;

  PetscFunctionBeginUser;
  PetscCall(ConfCreate(c, &c->A));
  PetscCall(OpAllowNewNonzeros(c->A));
  for (PetscInt way = 0; way < PetscMax(o->ways, 1); way++) {
    c->seed  = (uint64_t)way;
    c->drawn = 0;
    c->way   = way;
    PetscCall(OpRun(c, o));
    PetscCall(ConfSeeMat(c, "afterwards", c->A));
  }
  PetscCall(MatDestroy(&c->A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode RunStates(Conf *c, const void *operation)
{
  c->operation = operation;
  return c->operation->run(c);
}

/* Operations are numbered: those of the table first */
enum { OPERATIONS_MAX = 512 };

typedef struct {
  ConfRuns  runs;
  Conf      c;
  char      operation[CONF_TYPE_MAX], matrix[CONF_TYPE_MAX];     /* the only ones; "" for all */
  PetscBool counting;                                            /* nothing runs yet */
  PetscInt  sample, total[OPERATIONS_MAX], seen[OPERATIONS_MAX]; /* runs of each operation: all, and so far */
} Program;

/* Whether the next run of operation number k is in the sample, which has some runs of each operation. A small sample may
   lack operations of one run, the changes through containers, which are long. */
static PetscBool InSample(Program *p, PetscInt k)
{
  const PetscInt stride = 16 * p->total[k] >= p->sample ? PetscMin(p->sample, p->total[k]) : p->sample;

  if (!p->counting) return p->seen[k]++ % stride == (p->runs.offset + k) % stride ? PETSC_TRUE : PETSC_FALSE;
  p->total[k]++;
  return PETSC_FALSE;
}

static PetscErrorCode RunOperation(Program *p, const ConfOperation *o, PetscInt k, const CaseMatrix *matrix,
                                   const GenSpec *spec)
{
  const PetscBool states = OpGet(k) ? PETSC_FALSE : PETSC_TRUE;
  char            name[2 * CONF_TYPE_MAX];

  PetscFunctionBeginUser;
  for (int f = 0; ConfFormat(f); f++) {
    if (p->runs.format[0] && strcmp(p->runs.format, ConfFormat(f))) continue;
    for (int layout = 0; layout < (p->c.size > 1 ? CONF_LAYOUT_COUNT : 1); layout++) {
      if (!InSample(p, k)) continue;
      PetscCall(PetscSNPrintf(name, sizeof name, "%s, layout %d, %s", matrix->name, layout, o->name));
      PetscCall(ConfSetUp(&p->c, spec, (ConfLayout)layout));
      PetscCall(ConfRunPair(&p->runs, &p->c, name, ConfFormat(f), states ? RunStates : RunWays, o));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode RunMatrix(Program *p, const CaseMatrix *matrix)
{
  const GenSpec        spec = matrix->spec();
  const ConfOperation *o, *states = strcmp(matrix->name, matrix_of_states) ? NULL : conf_states;
  double               nonzeros, work;

  PetscFunctionBeginUser;
  PetscCall(MeasureMatrix(&spec, &nonzeros, &work));
  if (nonzeros > nonzeros_max) PetscFunctionReturn(PETSC_SUCCESS);
  for (PetscInt k = 0; (o = OpGet(k)) || (states && (o = states++)->name); k++)
    if ((!p->operation[0] || !strcmp(p->operation, o->name)) && MakesSense(o, &spec, p->c.sequential, work))
      PetscCall(RunOperation(p, o, k, matrix, &spec));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  static Program p;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(ConfRunsBegin(&p.runs, &p.c));
  p.sample      = p.runs.sample;
  p.runs.sample = 1;
  PetscCall(PetscOptionsGetString(NULL, NULL, "-operation", p.operation, sizeof p.operation, NULL));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-matrix", p.matrix, sizeof p.matrix, NULL));
  for (int pass = 0; pass < 2; pass++) {
    p.counting = pass ? PETSC_FALSE : PETSC_TRUE;
    for (int i = 0; i < case_matrix_count(); i++)
      if (case_matrix(i)->tier == CASE_QUICK && (!p.matrix[0] || !strcmp(p.matrix, case_matrix(i)->name)))
        PetscCall(RunMatrix(&p, case_matrix(i)));
  }
  return ConfRunsEnd(&p.runs);
}
