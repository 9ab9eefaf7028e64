/*
  petscpack-advise - reads a matrix from a file, and tells what it looks like and what each type of petscpack would cost

  See docs/choosing.md. Its own arguments are taken out first; the rest is for PETSc.
*/
#include "../matrix_market.h"
#include "advise.h"
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BAD_USE = 2 };

static const char usage[] =
    "petscpack-advise MATRIX [--measure] [--json FILE] [--html FILE] [options of PETSc]\n"
    "\n"
    "  MATRIX        a file of MatView() in PETSc's binary format, or a Matrix Market file\n"
    "  --measure     also time conversions and products\n"
    "  --json FILE   write the advice as JSON, for other programs; - is the standard output, without the text\n"
    "  --html FILE   write a page with pictures; needs Python with matplotlib, and without it the exit status is 3\n"
    "\n"
    "The text goes to the standard output. Options of PETSc begin with one dash. With mpiexec, the matrix is "
    "distributed\n"
    "as MatLoad() does it.\n";

typedef struct {
  const char *matrix, *json, *html;
  PetscBool   measure, help;
} Arguments;

/* Takes our arguments out of argv and leaves the rest for PETSc. Returns 0, or BAD_USE after printing a message. */
static int TakeArguments(int *argc, char **argv, Arguments *a)
{
  int kept = 1, words = *argc;

  for (int i = 1; i < words; i++) {
    const char  *word = argv[i];
    const char **file = !strcmp(word, "--json") ? &a->json : !strcmp(word, "--html") ? &a->html : NULL;

    if (file && i + 1 == words) return fprintf(stderr, "%s needs the name of a file\n\n%s", word, usage), BAD_USE;
    if (file) *file = argv[++i];
    else if (!strcmp(word, "--measure")) a->measure = PETSC_TRUE;
    else if (!strcmp(word, "--help")) a->help = PETSC_TRUE;
    else if (!strncmp(word, "--", 2)) return fprintf(stderr, "there is no option %s\n\n%s", word, usage), BAD_USE;
    else if (word[0] == '-' || kept > 1) argv[kept++] = argv[i];
    else if (a->matrix) return fprintf(stderr, "%s is a second matrix\n\n%s", word, usage), BAD_USE;
    else a->matrix = word;
  }
  *argc      = kept;
  argv[kept] = NULL;
  if (a->matrix || a->help) return 0;
  return fprintf(stderr, "no matrix is given; it comes before the options of PETSc\n\n%s", usage), BAD_USE;
}

/* The kind of packed file that begins with these bytes, and how to unpack it; NULL: not known */
static const char *Packed(const char begin[], size_t length)
{
  static const struct {
    const char *magic, *what;
  } known[] = {
      {"\x1f\x8b", "is compressed by gzip: unpack it first, by gunzip, or an archive by tar -xf"},
      {"\xfd"
       "7zXZ",
       "is compressed by xz: unpack it first, by unxz, or an archive by tar -xf"},
      {"BZh", "is compressed by bzip2: unpack it first, by bunzip2, or an archive by tar -xf"},
      {"\x28\xb5\x2f\xfd", "is compressed by zstd: unpack it first, by unzstd, or an archive by tar -xf"},
      {"PK\x03\x04", "is a zip archive: unpack it first, by unzip"},
  };

  for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
    if (length >= strlen(known[i].magic) && !memcmp(begin, known[i].magic, strlen(known[i].magic)))
      return known[i].what;
  return NULL;
}

/* Whether the file is a Matrix Market file, by its first byte. The first process reads it and tells all others. */
static PetscErrorCode LookAtFile(const char path[], PetscBool *text)
{
  char        begin[8] = {0};
  PetscMPIInt rank;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  if (rank == 0) {
    FILE       *file = fopen(path, "rb");
    struct stat status;
    size_t      length;

    PetscCheck(file, PETSC_COMM_SELF, PETSC_ERR_FILE_OPEN, "%s: cannot be opened: %s", path, strerror(errno));
    PetscCheck(fstat(fileno(file), &status) || !S_ISDIR(status.st_mode), PETSC_COMM_SELF, PETSC_ERR_FILE_UNEXPECTED,
               "%s: is a folder: name a file in it", path);
    length = fread(begin, 1, sizeof begin, file);
    fclose(file);
    PetscCheck(!Packed(begin, length), PETSC_COMM_SELF, PETSC_ERR_FILE_UNEXPECTED, "%s: %s", path,
               Packed(begin, length));
    PetscCheck(length && (begin[0] == '%' || begin[0] == 0), PETSC_COMM_SELF, PETSC_ERR_FILE_UNEXPECTED,
               "%s: neither a Matrix Market file, which begins with %%%%MatrixMarket, nor one of PETSc's binary format",
               path);
  }
  PetscCallMPI(MPI_Bcast(begin, 1, MPI_CHAR, 0, PETSC_COMM_WORLD));
  *text = begin[0] == '%' ? PETSC_TRUE : PETSC_FALSE;
  PetscFunctionReturn(0);
}

/* Inserts the entries of the file, converted to the types of this PETSc. Only the first process has them. */
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
          "petscpack-advise: %s: is not a complete matrix in PETSc's binary format with this PETSc's number types\n",
          path);
    PetscCall(failure);
    PetscCall(PetscViewerDestroy(&viewer));
  }
  PetscFunctionReturn(0);
}

/* Writes the text and the JSON. A page is made from the JSON after PETSc has ended; then *page holds the JSON. */
static PetscErrorCode Write(const Advice *advice, const Arguments *a, FILE **page)
{
  const PetscBool only_json = a->json && !strcmp(a->json, "-") ? PETSC_TRUE : PETSC_FALSE;

  PetscFunctionBeginUser;
  if (!only_json) AdviceText(advice, stdout);
  if (a->json) {
    FILE *out = only_json ? fdopen(dup(STDOUT_FILENO), "w") : fopen(a->json, "w");
    int   failed;

    PetscCheck(out, PETSC_COMM_SELF, PETSC_ERR_FILE_OPEN, "%s: cannot be written: %s", a->json, strerror(errno));
    AdviceJSON(advice, out);
    failed = ferror(out); /* a text larger than the buffer is written before the end */
    failed |= fclose(out);
    PetscCheck(!failed, PETSC_COMM_SELF, PETSC_ERR_FILE_WRITE, "%s: cannot be written: %s", a->json, strerror(errno));
  }
  if (a->html) {
    *page = tmpfile();
    PetscCheck(*page, PETSC_COMM_SELF, PETSC_ERR_FILE_OPEN, "%s: no temporary file for its data: %s", a->html,
               strerror(errno));
    AdviceJSON(advice, *page);
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode Advise(const Arguments *a, FILE **page)
{
  Advice     *advice;
  PetscMPIInt rank;
  Mat         A;

  PetscFunctionBeginUser;
  PetscCall(PetscPackInitializePackage());
  PetscCall(ReadMatrix(a->matrix, &A));
  PetscCall(PetscNew(&advice));
  PetscCall(AdviceMake(A, a->measure, advice));
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  if (rank == 0) PetscCall(Write(advice, a, page));
  PetscCall(PetscFree(advice));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(0);
}

/* Replaces the process by the script that draws pages, from the folder of this program or from PATH; the script reads
   the JSON as its input. The exit status is that of the script. */
static int DrawPage(FILE *json, const char page[])
{
  static const char script[] = "petscpack-advise-html";
  char              path[PETSC_MAX_PATH_LEN];
  const ssize_t     length = readlink("/proc/self/exe", path, sizeof path - sizeof script);
  char             *slash  = NULL;

  if (length > 0) {
    path[length] = 0;
    slash        = strrchr(path, '/');
  }
  strcpy(slash ? slash + 1 : path, script);
  if (!fflush(NULL) && !lseek(fileno(json), 0, SEEK_SET) && dup2(fileno(json), STDIN_FILENO) == STDIN_FILENO) {
    if (slash) execl(path, script, "-", page, (char *)NULL);
    execlp(script, script, "-", page, (char *)NULL);
  }
  fprintf(stderr, "petscpack-advise: %s is not written: %s does not run: %s\n", page, script, strerror(errno));
  return 1;
}

int main(int argc, char **argv)
{
  Arguments a     = {.matrix = NULL};
  FILE     *page  = NULL;
  const int wrong = TakeArguments(&argc, argv, &a);

  if (wrong) return wrong;
  if (a.help) return fputs(usage, stdout) < 0;
  PetscCall(PetscInitialize(&argc, &argv, NULL, usage));
  PetscCall(Advise(&a, &page));
  PetscCall(PetscFinalize());
  return page ? DrawPage(page, a.html) : 0;
}
