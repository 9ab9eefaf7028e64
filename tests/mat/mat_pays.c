/*
  mat_pays.c - after how many products the view of aijcluster says that it has paid against aijrbp. With given numbers
  of a GPU it pays where pairs of values are equal, and not where there are none; on an EPYC it does not pay; on a
  processor that nobody has measured the view is silent. And what aijauto says of the format: pairs only where PETSc
  knows the matrix to be symmetric.
*/
#include "conf.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIDE = 14, UNKNOWNS = 3, NODES = SIDE * SIDE, LINE = 1024, NEVER = 0, SILENT = -1 };

static int failures;

static void expect(PetscBool holds, const char *what)
{
  if (holds) return;
  failures++;
  fprintf(stderr, "FAILED: %s\n", what);
}

/* Three unknowns in each node of the 9-point stencil on a square; values are symmetric */
static PetscErrorCode Create(const char *type, PetscBool known, Mat *A)
{
  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_SELF, A));
  PetscCall(MatSetSizes(*A, UNKNOWNS * NODES, UNKNOWNS * NODES, UNKNOWNS * NODES, UNKNOWNS * NODES));
  PetscCall(MatSetType(*A, type));
  PetscCall(MatSetFromOptions(*A));
  PetscCall(MatSeqAIJSetPreallocation(*A, 9 * UNKNOWNS, NULL));
  if (known) PetscCall(MatSetOption(*A, MAT_SPD, PETSC_TRUE));
  for (PetscInt node = 0; node < NODES; node++)
    for (PetscInt k = 0; k < 9; k++) {
      const PetscInt x = node % SIDE + k % 3 - 1, y = node / SIDE + k / 3 - 1;

      if (x < 0 || x >= SIDE || y < 0 || y >= SIDE) continue;
      for (PetscInt u = 0; u < UNKNOWNS; u++)
        for (PetscInt v = 0; v < UNKNOWNS; v++) {
          const PetscInt i = UNKNOWNS * node + u, j = UNKNOWNS * (y * SIDE + x) + v;
          PetscCall(MatSetValue(*A, i, j, i == j ? 100 : -1, INSERT_VALUES));
        }
    }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Multiply(Mat A)
{
  Vec x, y;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(VecSet(x, 1));
  PetscCall(MatMult(A, x, y));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Looks for a line of the view with this text. found is what follows the text there, or "" */
static PetscErrorCode Find(Mat A, const char *text, PetscBool *there, char found[LINE])
{
  PetscViewer viewer;
  FILE       *file = tmpfile();
  char        line[LINE], *at;

  PetscFunctionBeginUser;
  PetscCheck(file, PETSC_COMM_SELF, PETSC_ERR_FILE_OPEN, "no temporary file");
  PetscCall(PetscViewerASCIIOpenWithFILE(PETSC_COMM_SELF, file, &viewer));
  PetscCall(PetscViewerPushFormat(viewer, PETSC_VIEWER_ASCII_INFO));
  PetscCall(MatView(A, viewer));
  PetscCall(PetscViewerPopFormat(viewer));
  PetscCall(PetscViewerDestroy(&viewer));
  rewind(file);
  *there   = PETSC_FALSE;
  found[0] = 0;
  while (fgets(line, sizeof line, file)) {
    if (!(at = strstr(line, text))) continue;
    *there = PETSC_TRUE;
    PetscCall(PetscStrncpy(found, at + strlen(text), LINE));
  }
  fclose(file);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The number of products in the view; NEVER where it says that the type does not pay, SILENT where it says nothing */
static PetscErrorCode PaysAfter(Mat A, int *products)
{
  char      found[LINE];
  PetscBool there;

  PetscFunctionBeginUser;
  PetscCall(Find(A, "does not pay against aijrbp", &there, found));
  *products = there ? NEVER : SILENT;
  PetscCall(Find(A, "pays against aijrbp after at most ", &there, found));
  if (there) *products = atoi(found);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Seconds of a product of cluster as aijauto has predicted it, at best or after an analysis; 0: no prediction */
static PetscErrorCode Candidate(PetscBool known, double *seconds)
{
  char        found[LINE];
  const char *at;
  PetscBool   there;
  Mat         A;

  PetscFunctionBeginUser;
  PetscCall(Create(MATAIJAUTO, known, &A));
  PetscCall(MatAIJFmtSetOption(A, "expected", "100000000"));
  PetscCall(Multiply(A));
  PetscCall(Find(A, "candidate cluster: ", &there, found));
  at       = strstr(found, "a product in ");
  *seconds = at ? atof(at + strlen("a product in ")) : 0;
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What the view says before the first product, with pairs and without */
static PetscErrorCode Views(int *before, int *with, int *without)
{
  Mat A, B;

  PetscFunctionBeginUser;
  PetscCall(Create(MATAIJCLUSTER, PETSC_FALSE, &A));
  PetscCall(Create(MATAIJCLUSTER, PETSC_FALSE, &B));
  PetscCall(MatAIJFmtSetOption(B, "symmetry", "none"));
  PetscCall(MatAIJFmtSetDecline(A, PETSC_FALSE));
  PetscCall(MatAIJFmtSetDecline(B, PETSC_FALSE));
  PetscCall(PaysAfter(A, before));
  PetscCall(Multiply(A));
  PetscCall(Multiply(B));
  PetscCall(PaysAfter(A, with));
  PetscCall(PaysAfter(B, without));
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  int       before, with, without;
  double    known, unknown;
  char      device[16] = "host";
  PetscBool on_gpu;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
  PetscCall(PetscPackInitializePackage());
  PetscCall(PetscOptionsGetString(NULL, NULL, "-mat_aijfmt_device", device, sizeof device, NULL));
  PetscCall(PetscStrcmp(device, "gpu", &on_gpu));
  PetscCall(Candidate(PETSC_TRUE, &known));
  PetscCall(Candidate(PETSC_FALSE, &unknown));
  expect((PetscBool)(known > 0 && unknown > 0), "aijauto has no prediction for cluster");
  expect((PetscBool)(known < unknown), "aijauto expects pairs of a matrix that is not known to be symmetric");
  PetscCall(Views(&before, &with, &without));
  expect((PetscBool)(before == SILENT), "the view knows a plan that is not there");
  expect((PetscBool)(on_gpu ? with > 1 : with == NEVER), "the view does not say when pairs pay");
  expect((PetscBool)(without == NEVER), "the view does not say that values without pairs do not pay");

  if (!on_gpu) {
    PetscCall(PetscPackFinalizePackage());
    PetscCall(PetscOptionsSetValue(NULL, "-petscpack_host_processor", "intel"));
    PetscCall(PetscPackInitializePackage());
    PetscCall(Views(&before, &with, &without));
    expect((PetscBool)(with == SILENT && without == SILENT), "the view predicts for a processor that was not measured");
  }
  PetscCall(PetscFinalize());
  return failures ? 1 : 0;
}
