/*
  conf_mat.c - conformance of the Mat types: operations x matrices x layouts x formats, each compared with plain AIJ

    conf_mat [-format rbp] [-base aij|seqaij|mpiaij] [-operation name] [-matrix name] [-sample N [-offset K]]
             -scratch FILE

  With -petscpack_replace aij, or -mat_seqaij_type seqaijrbp, matrices under test are made as plain AIJ, in their format.

  Runs on any number of processes. -sample N checks every N-th combination only, beginning with number K: the runs with
  K = 0 .. N-1 together check all combinations. The last line counts passed and failed comparisons; the exit status is 1
  if any failed.
*/
static const char help[] = "Compares operations on matrices of the packed types with the same on plain AIJ.\n";

#include "conf.h"

#include <cases.h>

/* Larger matrices are covered by the kernel tests; these limits keep a run to seconds */
static const double nonzeros_max = 2.0e4, heavy_work_max = 1.0e6, dense_entries_max = 1.0e5;

typedef struct {
  char        base[CONF_TYPE_MAX], format[CONF_TYPE_MAX], operation[CONF_TYPE_MAX], matrix[CONF_TYPE_MAX];
  PetscInt    passed, failed, sample, offset;
  PetscMPIInt rank, size;
  PetscBool   sequential;
} ConfRun;

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
  if ((o->where & CONF_SQUARE) && spec->rows != spec->cols) return PETSC_FALSE;
  if ((o->where & CONF_NONEMPTY) && (!spec->rows || !spec->cols)) return PETSC_FALSE;
  if ((o->where & CONF_SEQUENTIAL) && !sequential) return PETSC_FALSE;
  if ((o->where & CONF_HEAVY) && (work > heavy_work_max || spec->rows > 1000)) return PETSC_FALSE;
  if ((o->where & CONF_DENSE) && (double)spec->rows * (double)spec->cols > dense_entries_max) return PETSC_FALSE;
  return PETSC_TRUE;
}

/* Runs one operation with plain AIJ and with a format */
static PetscErrorCode RunPair(ConfRun *run, const ConfOperation *o, const GenSpec *spec, const char *matrix,
                              const char *format, ConfLayout layout)
{
  ConfRecord     record[2];
  PetscErrorCode ierr      = PETSC_SUCCESS;
  PetscInt       different = 0;
  char           name[2 * CONF_TYPE_MAX];
  Conf           c = {
                .comm = PETSC_COMM_WORLD, .rank = run->rank, .size = run->size, .base = run->base, .sequential = run->sequential};

  PetscFunctionBeginUser;
  PetscCall(
      PetscSNPrintf(name, sizeof(name), "%s%s, %s, layout %d, %s", run->base, format, matrix, (int)layout, o->name));
  for (int k = 0; k < 2; k++) PetscCall(ConfRecordCreate(&record[k]));
  for (int k = 0; k < 2 && !ierr; k++) {
    PetscCall(ConfTurn(&c, k ? format : ""));
    c.record = &record[k];
    PetscCall(ConfSetUp(&c, spec, layout));
    ierr = o->run(&c);
  }
  if (!ierr) PetscCall(ConfCompare(&c, name, &record[0], &record[1], &different));
  if (ierr || c.uncounted) different++;
  if (c.uncounted)
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "  %s: products were not counted, or ran elsewhere\n", name));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &different, 1, MPIU_INT, MPI_SUM, PETSC_COMM_WORLD));
  if (different) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "FAILED %s\n", name));
  if (different) run->failed++;
  else run->passed++;
  for (int k = 0; k < 2; k++) PetscCall(ConfRecordDestroy(&record[k]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode RunOperation(ConfRun *run, const ConfOperation *o)
{
  GenSpec   spec;
  PetscBool chosen = PETSC_TRUE;
  double    nonzeros, work;

  PetscFunctionBeginUser;
  for (int i = 0; i < case_matrix_count(); i++) {
    const CaseMatrix *matrix = case_matrix(i);

    if (run->matrix[0]) PetscCall(PetscStrcmp(run->matrix, matrix->name, &chosen));
    if (matrix->tier != CASE_QUICK || !chosen) continue;
    if ((o->where & CONF_FEW) && strcmp(matrix->name, "many_dofs")) continue;
    spec = matrix->spec();
    PetscCall(MeasureMatrix(&spec, &nonzeros, &work));
    if (nonzeros > nonzeros_max || !MakesSense(o, &spec, run->sequential, work)) continue;
    for (int f = 0; ConfFormat(f); f++) {
      const char *format = ConfFormat(f);

      if (run->format[0]) PetscCall(PetscStrcmp(run->format, format, &chosen));
      for (int layout = 0; layout < (run->size > 1 ? CONF_LAYOUT_COUNT : 1) && chosen; layout++) {
        if (!case_in_sample(run->sample, run->offset)) continue;
        PetscCall(RunPair(run, o, &spec, matrix->name, format, (ConfLayout)layout));
      }
      chosen = PETSC_TRUE;
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode RunAll(ConfRun *run)
{
  const ConfOperation *tables[] = {conf_create,   conf_coo,     conf_convert, conf_values, conf_rows,  conf_structure,
                                   conf_products, conf_factors, conf_names,   conf_device, conf_states};
  PetscBool            chosen   = PETSC_TRUE;

  PetscFunctionBeginUser;
  for (size_t t = 0; t < sizeof(tables) / sizeof(tables[0]); t++) {
    for (const ConfOperation *o = tables[t]; o->name; o++) {
      if (run->operation[0]) PetscCall(PetscStrcmp(run->operation, o->name, &chosen));
      if (chosen) PetscCall(RunOperation(run, o));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  ConfRun     run = {.base = "aij", .sample = 1};
  const char *by_option;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscPackInitializePackage());
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &run.rank));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &run.size));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-base", run.base, sizeof(run.base), NULL));
  PetscCall(PetscStrcmp(run.base, MATMPIAIJ, &run.sequential));
  run.sequential = run.size == 1 && !run.sequential ? PETSC_TRUE : PETSC_FALSE;
  PetscCall(PetscOptionsGetString(NULL, NULL, "-format", run.format, sizeof(run.format), NULL));
  PetscCall(ConfByOption(&by_option));
  if (by_option) PetscCall(PetscStrncpy(run.format, by_option, sizeof(run.format)));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-operation", run.operation, sizeof(run.operation), NULL));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-matrix", run.matrix, sizeof(run.matrix), NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-sample", &run.sample, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-offset", &run.offset, NULL));
  PetscCheck(run.sample > 0 && run.offset >= 0, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE,
             "-sample %" PetscInt_FMT " -offset %" PetscInt_FMT ": give a positive sample and no negative offset",
             run.sample, run.offset);
  PetscCall(RunAll(&run));
  PetscCall(
      PetscPrintf(PETSC_COMM_WORLD, "%" PetscInt_FMT " passed, %" PetscInt_FMT " failed\n", run.passed, run.failed));
  PetscCall(PetscFinalize());
  return run.failed || !run.passed ? 1 : 0;
}
