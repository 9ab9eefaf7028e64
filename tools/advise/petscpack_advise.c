/*
  petscpack-advise - reads a matrix from a file and tells what it looks like and what each type of petscpack would cost

  See docs/advise.md. Its own arguments are taken out first; what is left goes to PETSc.
*/
#include "../matrix_market.h"
#include <petscpack.h>
#include <stdio.h>
#include <string.h>

enum { BAD_USE = 2 };

static const char usage[] =
    "petscpack-advise MATRIX [--measure] [--json FILE] [--html FILE] [options of PETSc]\n"
    "\n"
    "  MATRIX        a file of MatView() in PETSc's binary format, or a Matrix Market file\n"
    "  --measure     measure conversions and products too\n"
    "  --json FILE   write what is found for other programs\n"
    "  --html FILE   write a page with pictures; needs Python with matplotlib\n"
    "\n"
    "The text goes to the standard output. Of PETSc's options, -petscpack_host_bandwidth and those like it give "
    "numbers\n"
    "of the machine, see docs/choosing.md. With mpiexec, the matrix is distributed as MatLoad() does it.\n";

typedef struct {
  const char *matrix, *json, *html;
  PetscBool   measure, help;
} Arguments;

static PetscBool Is(const char *word, const char *name)
{
  return !strcmp(word + (word[0] == '-' && word[1] == '-'), name) ? PETSC_TRUE : PETSC_FALSE;
}

/* Takes our arguments out of argv, whose rest is for PETSc; 0, or what is wrong with them */
static const char *TakeArguments(int *argc, char **argv, Arguments *a)
{
  int kept = 1, words = *argc;

  for (int i = 1; i < words; i++) {
    const char **file = Is(argv[i], "-json") ? &a->json : Is(argv[i], "-html") ? &a->html : NULL;

    if (file && i + 1 == words) return "--json and --html need the name of a file";
    if (file) *file = argv[++i];
    else if (Is(argv[i], "-measure")) a->measure = PETSC_TRUE;
    else if (!strcmp(argv[i], "--help")) a->help = PETSC_TRUE;
    else if (argv[i][0] != '-' && !a->matrix && kept == 1) a->matrix = argv[i];
    else argv[kept++] = argv[i];
  }
  *argc      = kept;
  argv[kept] = NULL;
  return a->matrix || a->help ? NULL : "no matrix is given; it comes before the options of PETSc";
}

/* Whether the file is a Matrix Market file, by its first byte; all processes learn it from the first */
static PetscErrorCode LookAtFile(const char path[], PetscBool *text)
{
  PetscMPIInt rank;
  int         first = 0;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  if (rank == 0) {
    FILE *file = fopen(path, "rb");

    PetscCheck(file, PETSC_COMM_SELF, PETSC_ERR_FILE_OPEN, "%s: cannot be opened", path);
    first = fgetc(file);
    fclose(file);
    PetscCheck(first == '%' || first == 0, PETSC_COMM_SELF, PETSC_ERR_FILE_UNEXPECTED,
               "%s: neither a Matrix Market file, which begins with %%%%MatrixMarket, nor one of PETSc's binary format",
               path);
  }
  PetscCallMPI(MPI_Bcast(&first, 1, MPI_INT, 0, PETSC_COMM_WORLD));
  *text = first == '%' ? PETSC_TRUE : PETSC_FALSE;
  PetscFunctionReturn(0);
}

/* The entries of the file in the types of this PETSc. The first process has them all. */
static PetscErrorCode SetEntries(Mat A, const MtxEntries *e)
{
  PetscInt    *row, *col;
  PetscScalar *value;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc3(e->count, &row, e->count, &col, e->count, &value));
  for (int64_t k = 0; k < e->count; k++) {
    row[k]   = (PetscInt)e->row[k];
    col[k]   = (PetscInt)e->col[k];
    value[k] = (PetscScalar)e->value[k];
  }
  PetscCall(MatSetPreallocationCOO(A, (PetscCount)e->count, row, col));
  PetscCall(MatSetValuesCOO(A, value, INSERT_VALUES));
  PetscCall(PetscFree3(row, col, value));
  PetscFunctionReturn(0);
}

static PetscErrorCode ReadMatrixMarket(const char path[], Mat A)
{
  const PetscInt most = sizeof(PetscInt) == 8 ? (PetscInt)INT64_MAX : (PetscInt)INT32_MAX;
  MtxEntries     e    = {.rows = 0};
  char           message[MTX_MESSAGE];
  int64_t        size[2];
  PetscMPIInt    rank;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  if (rank == 0) {
    PetscCheck(!mtx_read(path, &e, message), PETSC_COMM_SELF, PETSC_ERR_FILE_UNEXPECTED, "%s", message);
    PetscCheck(e.rows <= most && e.cols <= most, PETSC_COMM_SELF, PETSC_ERR_SUP,
               "%s: %lld x %lld is too large for the PetscInt of this PETSc", path, (long long)e.rows,
               (long long)e.cols);
  }
  size[0] = e.rows;
  size[1] = e.cols;
  PetscCallMPI(MPI_Bcast(size, 2, MPI_INT64_T, 0, PETSC_COMM_WORLD));
  PetscCall(MatSetSizes(A, PETSC_DECIDE, PETSC_DECIDE, (PetscInt)size[0], (PetscInt)size[1]));
  PetscCall(MatSetType(A, MATAIJ));
  PetscCall(SetEntries(A, &e));
  mtx_free(&e);
  PetscFunctionReturn(0);
}

static PetscErrorCode ReadMatrix(const char path[], Mat *A)
{
  PetscErrorCode failure;
  PetscViewer    viewer;
  PetscBool      text = PETSC_FALSE;
  const char    *name = strrchr(path, '/');

  PetscFunctionBeginUser;
  PetscCall(LookAtFile(path, &text));
  PetscCall(MatCreate(PETSC_COMM_WORLD, A));
  PetscCall(PetscObjectSetName((PetscObject)*A, name ? name + 1 : path));
  if (text) PetscCall(ReadMatrixMarket(path, *A));
  else {
    PetscCall(MatSetType(*A, MATAIJ));
    PetscCall(PetscViewerBinaryOpen(PETSC_COMM_WORLD, path, FILE_MODE_READ, &viewer));
    failure = MatLoad(*A, viewer);
    if (failure) /* PETSc's own error does not name the file */
      fprintf(
          stderr,
          "petscpack-advise: %s: is no whole matrix in PETSc's binary format, with numbers as this PETSc has them\n",
          path);
    PetscCall(failure);
    PetscCall(PetscViewerDestroy(&viewer));
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode Advise(const Arguments *a)
{
  MatAIJFmtAdvice advice;
  Mat             A;

  PetscFunctionBeginUser;
  PetscCall(PetscPackInitializePackage());
  PetscCall(ReadMatrix(a->matrix, &A));
  PetscCall(MatAIJFmtAdvise(A, a->measure, &advice));
  PetscCall(MatAIJFmtAdviceView(advice, PETSC_VIEWER_STDOUT_WORLD));
  if (a->json) PetscCall(MatAIJFmtAdviceWrite(advice, MAT_AIJFMT_ADVICE_JSON, a->json));
  if (a->html) PetscCall(MatAIJFmtAdviceWrite(advice, MAT_AIJFMT_ADVICE_HTML, a->html));
  PetscCall(MatAIJFmtAdviceDestroy(&advice));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  Arguments   a     = {.matrix = NULL};
  const char *wrong = TakeArguments(&argc, argv, &a);

  if (wrong || a.help) {
    fprintf(wrong ? stderr : stdout, "%s%s%s", wrong ? wrong : "", wrong ? "\n\n" : "", usage);
    return wrong ? BAD_USE : 0;
  }
  PetscCall(PetscInitialize(&argc, &argv, NULL, usage));
  PetscCall(Advise(&a));
  PetscCall(PetscFinalize());
  return 0;
}
