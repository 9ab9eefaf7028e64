/*
  option.c - -petscpack_advise: an advice for every matrix of a type of ours, when it is assembled for the first time.

  The option follows the prefix of the matrix, so that it is about those that the user sets options for. Other AIJ
  matrices are not reached: their assembly belongs to PETSc, which offers nothing to be called at its end.
*/
#include "advise.h"

static int       written; /* advices of this process, which number its files */
static PetscBool busy;    /* an advice is being made: the matrices that it makes get none */

void AIJFmtAdviseReset(void) { written = 0; }

/* page.html for the first matrix, page-2.html for the second */
static PetscErrorCode NumberedPath(const char path[], const char ending[], char numbered[PETSC_MAX_PATH_LEN])
{
  PetscFunctionBegin;
  if (written == 1) PetscCall(PetscStrncpy(numbered, path, PETSC_MAX_PATH_LEN));
  else
    PetscCall(PetscSNPrintf(numbered, PETSC_MAX_PATH_LEN, "%.*s-%d%s", (int)(strlen(path) - strlen(ending)), path,
                            written, ending));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode AppendText(MatAIJFmtAdvice advice, const char path[])
{
  PetscViewer viewer;

  PetscFunctionBegin;
  PetscCall(PetscViewerCreate(advice->comm, &viewer));
  PetscCall(PetscViewerSetType(viewer, PETSCVIEWERASCII));
  PetscCall(PetscViewerFileSetMode(viewer, written == 1 ? FILE_MODE_WRITE : FILE_MODE_APPEND));
  PetscCall(PetscViewerFileSetName(viewer, path));
  PetscCall(MatAIJFmtAdviceView(advice, viewer));
  PetscCall(PetscViewerDestroy(&viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Write(MatAIJFmtAdvice advice, const char path[])
{
  char      numbered[PETSC_MAX_PATH_LEN];
  PetscBool html, json;

  PetscFunctionBegin;
  written++;
  PetscCall(PetscStrendswith(path, ".html", &html));
  PetscCall(PetscStrendswith(path, ".json", &json));
  if (html || json) {
    PetscCall(NumberedPath(path, html ? ".html" : ".json", numbered));
    PetscCall(MatAIJFmtAdviceWrite(advice, html ? MAT_AIJFMT_ADVICE_HTML : MAT_AIJFMT_ADVICE_JSON, numbered));
  } else if (path[0]) PetscCall(AppendText(advice, path));
  else PetscCall(MatAIJFmtAdviceView(advice, PETSC_VIEWER_STDOUT_(advice->comm)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode AdviseAndWrite(Mat A, PetscBool measure, const char path[])
{
  MatAIJFmtAdvice advice;

  PetscFunctionBegin;
  PetscCall(MatAIJFmtAdvise(A, measure, &advice));
  PetscCall(Write(advice, path));
  PetscCall(MatAIJFmtAdviceDestroy(&advice));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Of matrices of one process in a run of several, those of the first process: the others would write the same files */
static PetscErrorCode IsReported(Mat A, PetscBool *reported)
{
  PetscMPIInt size, rank;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)A), &size));
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  *reported = size > 1 || rank == 0 ? PETSC_TRUE : PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* At the end of a final assembly. PETSc marks the matrix as assembled after that, but by now all of it is there. */
PetscErrorCode AIJFmtAdviseFromOptions(Mat A, Mat_AIJFmt *s)
{
  const char     *prefix    = ((PetscObject)A)->prefix;
  PetscOptions    options   = ((PetscObject)A)->options;
  const PetscBool assembled = A->assembled;
  char            path[PETSC_MAX_PATH_LEN];
  PetscBool       wanted, reported = PETSC_FALSE, measure = PETSC_FALSE;
  PetscErrorCode  error;

  PetscFunctionBegin;
  if (busy || s->advised || s->inner || A->structure_only) PetscFunctionReturn(PETSC_SUCCESS);
  s->advised = PETSC_TRUE;
  path[0]    = 0;
  PetscCall(PetscOptionsGetString(options, prefix, "-petscpack_advise", path, sizeof path, &wanted));
  if (wanted) PetscCall(IsReported(A, &reported));
  if (!reported) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscOptionsGetBool(options, prefix, "-petscpack_advise_measure", &measure, NULL));
  busy         = PETSC_TRUE;
  A->assembled = PETSC_TRUE;
  error        = AdviseAndWrite(A, measure, path);
  A->assembled = assembled; /* after an error too, as the program may go on */
  busy         = PETSC_FALSE;
  PetscCall(error);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* For -help; the options themselves are read for each matrix, with its prefix */
PetscErrorCode AIJFmtAdviseHelp(AIJFmtOptionItems PetscOptionsObject)
{
  char      path[PETSC_MAX_PATH_LEN] = "";
  PetscBool measure                  = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(PetscOptionsString("-petscpack_advise",
                               "Advise on each matrix of a packed type when it is assembled: on the screen, or in a "
                               "file, by its name a page (.html), JSON (.json) or text",
                               "MatAIJFmtAdvise", path, path, sizeof path, NULL));
  PetscCall(PetscOptionsBool("-petscpack_advise_measure", "Measure conversions and products too", "MatAIJFmtAdvise",
                             measure, &measure, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}
