/*
  host_bench - times the host products of the formats of libspmvpack against those of PETSc on one core, in one process.

    host_bench [--matrix family[:size]]... [--file matrix.petsc]... [--format name[:key=value]...]...
               [--repeat 15] [--json out.json] [--commit text] [--list]

  Rivals are PETSc's types: aij with inodes (the default), aij without inodes, aijperm, baij with the largest block size
  for which all blocks are full, and, for a symmetric matrix, sbaij with the same block size. Every product is compared
  with one in extended precision before it is timed. The products take turns, one of each per round, so that other load
  on the machine affects all of them alike; a round of a small matrix repeats each product until it takes milliseconds.
  Reported are the minimum and the median over the rounds. GB/s counts the bytes of the format, and x and y once each.

  Under mpiexec all processes multiply a copy of the matrix at the same time, and the time of the slowest process
  counts. That is the speed that a program with one process per core gets when the cores share caches and memory.
*/
#include "../first_line.h"
#include "host_matrix.h"
#include "check.h"
#include "core/simd.h"
#include "families.h"
#include <json_text.h>
#include <spmv_graph.h>
#include <spmv_predict.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>

enum { MAX_SUBJECTS = 24, MAX_INPUTS = 32, MAX_ROUNDS = 1000 };

/* A product to time: with a plan of a format, or with a PETSc matrix (peer) */
typedef struct {
  const char  *name;
  SpmvExec     exec;
  SpmvAnalysis analysis;
  SpmvPlan    *plan;
  void        *work;
  Mat          peer;
  int          block_size; /* of the peer */
  int64_t      bytes;      /* of all arrays */
  double       analyze_ms, build_ms, update_ms;
  double       ms[MAX_ROUNDS];
} Subject;

typedef struct {
  const char *generated[MAX_INPUTS], *file[MAX_INPUTS], *format[MAX_INPUTS];
  int         generated_count, file_count, format_count, rounds;
  const char *json, *commit;
} Request;

/* The processor time of this thread: equal to wall time on an idle machine; on a shared machine it excludes the time of
   other programs */
static double now_ms(void)
{
  struct timespec t;

  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

#define CallSpmv(exec, call)                                                                                           \
  do {                                                                                                                 \
    const SpmvStatus status_ = (call);                                                                                 \
    PetscCheck(!status_, PETSC_COMM_SELF, PETSC_ERR_LIB, "%s: %s", spmv_status_text(status_), (exec)->message);        \
  } while (0)

/* text is name or name:key=value:key=value */
static PetscErrorCode ParseFormat(const char *text, SpmvOptions *options)
{
  char              copy[256], message[SPMV_MESSAGE_MAX], *part;
  const SpmvFormat *format;

  PetscFunctionBeginUser;
  snprintf(copy, sizeof copy, "%s", text);
  part   = strtok(copy, ":");
  format = part ? spmv_format_find(part) : NULL;
  PetscCheck(format, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONG, "no format %s: see --list", text);
  spmv_options_init(options, format);
  while ((part = strtok(NULL, ":"))) {
    char *value = strchr(part, '=');
    PetscCheck(value, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONG, "%s is not key=value", part);
    *value = 0;
    PetscCheck(!spmv_options_set_text(options, part, value + 1, message), PETSC_COMM_SELF, PETSC_ERR_ARG_WRONG, "%s",
               message);
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode PrepareFormat(const char *text, const HostMatrix *matrix, Subject *s)
{
  SpmvOptions options;
  double      t[4];

  PetscFunctionBeginUser;
  PetscCall(ParseFormat(text, &options));
  s->name = text;
  spmv_exec_init(&s->exec, SPMV_HOST);
  t[0] = now_ms();
  CallSpmv(&s->exec, spmv_analyze(options.format, &matrix->csr.pattern, matrix->csr.scalar_type, &options, &s->exec,
                                  &s->analysis));
  t[1] = now_ms();
  CallSpmv(&s->exec, spmv_build(&matrix->csr, &s->analysis, &s->exec, &s->plan));
  t[2] = now_ms();
  CallSpmv(&s->exec, spmv_update_values(s->plan, matrix->csr.values, SPMV_HOST, &s->exec));
  t[3]          = now_ms();
  s->analyze_ms = t[1] - t[0];
  s->build_ms   = t[2] - t[1];
  s->update_ms  = t[3] - t[2];
  s->bytes      = s->plan->memory.total_bytes;
  CallSpmv(&s->exec, spmv_alloc(&s->exec, SPMV_HOST, s->plan->memory.work_bytes, "work", &s->work));
  PetscFunctionReturn(0);
}

/* The types of PETSc; the first one is the reference of the column "x aij". A `blocked` type takes part only if the
   block size is above 1, a `symmetric` one only if the matrix is symmetric. */
typedef struct {
  const char *name, *type; /* NULL: aij */
  PetscBool   inodes, blocked, symmetric;
} Rival;

static const Rival rivals[] = {
    {"aij", NULL, PETSC_TRUE, PETSC_FALSE, PETSC_FALSE},
    {"aij-no-inodes", NULL, PETSC_FALSE, PETSC_FALSE, PETSC_FALSE},
    {"aijperm", MATSEQAIJPERM, PETSC_FALSE, PETSC_FALSE, PETSC_FALSE},
    {"baij", MATSEQBAIJ, PETSC_FALSE, PETSC_TRUE, PETSC_FALSE},
    {"sbaij", MATSEQSBAIJ, PETSC_FALSE, PETSC_FALSE, PETSC_TRUE},
};
enum { RIVAL_COUNT = sizeof rivals / sizeof rivals[0] };

/* The largest block size up to 8 for which all blocks are full; 1 if there is none */
static PetscErrorCode BlockSize(const SpmvPattern *pattern, PetscInt *block_size)
{
  SpmvExec exec;
  int      full = 0, seems;

  PetscFunctionBeginUser;
  spmv_exec_init(&exec, SPMV_HOST);
  *block_size = 1;
  for (PetscInt bs = 8; bs > 1 && !full; bs--) {
    if (pattern->rows % bs || pattern->cols % bs) continue;
    CallSpmv(&exec, spmv_graph_full_blocks(pattern, bs, &exec, &full, &seems));
    if (full) *block_size = bs;
  }
  PetscFunctionReturn(0);
}

/* Makes a MATSEQBAIJ or MATSEQSBAIJ block row by block row, since MatConvert() counts the blocks of a large matrix for
   minutes. The values of a block row need no copy: its rows are adjacent in CSR and equally long, the layout that
   MatSetValuesBlocked() expects. */
static PetscErrorCode CopyToBlocks(const HostMatrix *matrix, const Rival *rival, PetscInt bs, Mat *A)
{
  const SpmvPattern *p       = &matrix->csr.pattern;
  const PetscInt    *row_ptr = p->row_ptr, *col = p->col;
  const PetscScalar *values = matrix->csr.values;
  const PetscInt     rows   = (PetscInt)(p->rows / bs);
  PetscInt          *blocks, most = 0, *block_col;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(rows, &blocks));
  for (PetscInt i = 0; i < rows; i++) {
    blocks[i] = (row_ptr[i * bs + 1] - row_ptr[i * bs]) / bs;
    most      = PetscMax(most, blocks[i]);
  }
  PetscCall(MatCreate(PETSC_COMM_SELF, A));
  PetscCall(MatSetSizes(*A, (PetscInt)p->rows, (PetscInt)p->cols, (PetscInt)p->rows, (PetscInt)p->cols));
  PetscCall(MatSetType(*A, rival->type));
  if (rival->symmetric) PetscCall(MatSeqSBAIJSetPreallocation(*A, bs, 0, blocks));
  else PetscCall(MatSeqBAIJSetPreallocation(*A, bs, 0, blocks));
  if (rival->symmetric) PetscCall(MatSetOption(*A, MAT_IGNORE_LOWER_TRIANGULAR, PETSC_TRUE));
  PetscCall(PetscMalloc1(most, &block_col));
  for (PetscInt i = 0; i < rows; i++) {
    const PetscInt first = row_ptr[i * bs];

    for (PetscInt k = 0; k < blocks[i]; k++) block_col[k] = col[first + k * bs] / bs;
    PetscCall(MatSetValuesBlocked(*A, 1, &i, blocks[i], block_col, values + first, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(PetscFree(block_col));
  PetscCall(PetscFree(blocks));
  PetscFunctionReturn(0);
}

/* The bytes of the blocks, their columns and their row pointers */
static PetscErrorCode BlockBytes(const SpmvPattern *p, Mat A, PetscInt bs, int64_t *bytes)
{
  MatInfo info;

  PetscFunctionBeginUser;
  PetscCall(MatGetInfo(A, MAT_LOCAL, &info));
  *bytes = (int64_t)info.nz_used * (int64_t)sizeof(PetscScalar) +
           (int64_t)sizeof(PetscInt) * ((int64_t)info.nz_used / (bs * bs) + p->rows / bs + 1);
  PetscFunctionReturn(0);
}

/* s->peer stays NULL if the rival does not support the matrix */
static PetscErrorCode PrepareRival(const Rival *rival, const HostMatrix *matrix, PetscInt block_size, Subject *s)
{
  PetscBool symmetric = PETSC_TRUE;
  Mat       plain;

  PetscFunctionBeginUser;
  if (rival->blocked && block_size == 1) PetscFunctionReturn(0);
  s->name       = rival->name;
  s->block_size = 1;
  PetscCall(HostMatrixWrap(matrix, &plain));
  if (!rival->inodes) PetscCall(MatSetOption(plain, MAT_USE_INODES, PETSC_FALSE));
  PetscCall(MatAssemblyBegin(plain, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(plain, MAT_FINAL_ASSEMBLY));
  if (rival->symmetric) PetscCall(MatIsSymmetric(plain, 0, &symmetric));
  if (rival->blocked || (rival->symmetric && symmetric)) {
    s->block_size = (int)block_size;
    PetscCall(CopyToBlocks(matrix, rival, block_size, &s->peer));
    PetscCall(BlockBytes(&matrix->csr.pattern, s->peer, block_size, &s->bytes));
  } else if (symmetric) {
    s->bytes = spmv_csr_bytes(&matrix->csr.pattern, matrix->csr.scalar_type);
    if (rival->type) PetscCall(MatConvert(plain, rival->type, MAT_INPLACE_MATRIX, &plain));
    PetscCall(PetscObjectReference((PetscObject)plain));
    s->peer = plain;
  }
  PetscCall(MatDestroy(&plain));
  PetscFunctionReturn(0);
}

static PetscErrorCode FreeSubject(Subject *s)
{
  PetscFunctionBeginUser;
  PetscCall(MatDestroy(&s->peer));
  spmv_exec_free(&s->exec, SPMV_HOST, s->work);
  spmv_destroy(&s->plan);
  spmv_analysis_clear(&s->analysis, &s->exec);
  PetscFunctionReturn(0);
}

/* Repeats y = A x `times` times */
static PetscErrorCode Multiply(Subject *s, Vec x, Vec y, int times)
{
  const PetscScalar one = 1, zero = 0, *from;
  PetscScalar      *to;

  PetscFunctionBeginUser;
  if (s->peer) {
    for (int i = 0; i < times; i++) PetscCall(MatMult(s->peer, x, y));
    PetscFunctionReturn(0);
  }
  PetscCall(VecGetArrayRead(x, &from));
  PetscCall(VecGetArrayWrite(y, &to));
  for (int i = 0; i < times; i++) CallSpmv(&s->exec, spmv_mult(s->plan, &one, from, &zero, to, s->work, &s->exec));
  PetscCall(VecRestoreArrayWrite(y, &to));
  PetscCall(VecRestoreArrayRead(x, &from));
  PetscFunctionReturn(0);
}

static PetscErrorCode CheckAll(const HostMatrix *matrix, Subject *subject, int count, Vec x, Vec y)
{
  CheckReference     reference;
  CheckFault         fault;
  const PetscScalar *array;

  PetscFunctionBeginUser;
  PetscCall(VecGetArrayRead(x, &array));
  PetscCheck(!check_reference(&matrix->csr.pattern, matrix->csr.scalar_type, matrix->csr.values, array, 0, &reference),
             PETSC_COMM_SELF, PETSC_ERR_MEM, "no memory for the reference product");
  PetscCall(VecRestoreArrayRead(x, &array));
  for (int i = 0; i < count; i++) {
    PetscCall(VecSet(y, -7));
    PetscCall(Multiply(&subject[i], x, y, 1));
    PetscCall(VecGetArrayRead(y, &array));
    PetscCheck(check_vector(&reference, matrix->csr.scalar_type, GEN_RANDOM, 1, 0, array, array, &fault),
               PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s on %s: row %lld is %Lg, not %Lg", subject[i].name, matrix->name,
               (long long)fault.row, fault.got, fault.expected);
    PetscCall(VecRestoreArrayRead(y, &array));
  }
  check_reference_free(&reference);
  PetscFunctionReturn(0);
}

static int compare_doubles(const void *a_, const void *b_)
{
  const double a = *(const double *)a_, b = *(const double *)b_;
  return a < b ? -1 : a > b;
}

/* Fills ms of all subjects with sorted times; the time of a round is that of the slowest process */
static PetscErrorCode TimeAll(Subject *subject, int count, int rounds, Vec x, Vec y)
{
  int times[MAX_SUBJECTS];

  PetscFunctionBeginUser;
  for (int i = 0; i < count; i++) {
    const double start = now_ms();
    PetscCall(Multiply(&subject[i], x, y, 1));
    times[i] = 1 + (int)(5 / (now_ms() - start + 1e-3));
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, times, count, MPI_INT, MPI_MAX, PETSC_COMM_WORLD));
  for (int round = 0; round < rounds; round++)
    for (int i = 0; i < count; i++) {
      double start;

      PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
      start = now_ms();
      PetscCall(Multiply(&subject[i], x, y, times[i]));
      subject[i].ms[round] = (now_ms() - start) / times[i];
      PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &subject[i].ms[round], 1, MPI_DOUBLE, MPI_MAX, PETSC_COMM_WORLD));
    }
  for (int i = 0; i < count; i++) qsort(subject[i].ms, (size_t)rounds, sizeof(double), compare_doubles);
  PetscFunctionReturn(0);
}

static void report(const HostMatrix *matrix, const Subject *subject, int count, int rounds, JsonText *json)
{
  const SpmvPattern *p         = &matrix->csr.pattern;
  const int64_t      csr_bytes = spmv_csr_bytes(p, matrix->csr.scalar_type);
  const int64_t      vectors   = (p->rows + p->cols) * spmv_scalar_bytes(matrix->csr.scalar_type);
  double             best      = subject[0].ms[0];
  SpmvPatternFacts   facts;

  for (int i = 1; i < count; i++)
    if (!subject[i].plan && subject[i].ms[0] < best) best = subject[i].ms[0];
  spmv_pattern_facts(p, &facts);
  printf("\n%s: %lld rows, %lld columns, %lld nonzeros, CSR %.1f MB\n", matrix->name, (long long)p->rows,
         (long long)p->cols, (long long)p->nnz, 1e-6 * (double)csr_bytes);
  printf("  %-28s %9s %9s %7s %7s %8s %9s %9s\n", "", "min ms", "median ms", "bytes", "GB/s", "x aij", "x rival",
         "refresh");
  json_begin(json, NULL, '{');
  json_string(json, "matrix", matrix->name);
  JSON_NUMBERS(json, {"rows", (double)p->rows}, {"cols", (double)p->cols}, {"nnz", (double)p->nnz},
               {"csr_bytes", (double)csr_bytes}, {"repeated", (double)facts.repeated}, {"loose", (double)facts.loose},
               {"uneven", (double)facts.uneven}, {"far", (double)facts.far});
  json_begin(json, "kernels", '[');
  for (int i = 0; i < count; i++) {
    const Subject *s   = &subject[i];
    const double   min = s->ms[0], median = s->ms[rounds / 2];
    const double   gb_s   = 1e-6 * (double)(s->bytes + vectors) / min;
    const double   of_aij = subject[0].ms[0] / min, of_plain = subject[1].ms[0] / min, of_best = best / min;

    printf("  %-28s %9.3f %9.3f %7.3f %7.2f %8.2f %9.2f %9.1f%s\n", s->name, min, median,
           (double)s->bytes / (double)csr_bytes, gb_s, of_aij, of_best, s->update_ms / min,
           s->plan && !s->analysis.accepted ? "  (would decline)" : "");
    json_begin(json, NULL, '{');
    json_string(json, "name", s->name);
    json_bool(json, "own", s->plan != NULL);
    json_bool(json, "accepted", !s->plan || s->analysis.accepted);
    JSON_NUMBERS(json, {"bytes", (double)s->bytes}, {"min_ms", min}, {"median_ms", median}, {"gb_per_s", gb_s},
                 {"speed_vs_aij", of_aij}, {"speed_vs_aij_no_inodes", of_plain}, {"speed_vs_best_rival", of_best},
                 {"block_size", s->block_size}, {"work_bytes", s->plan ? (double)s->plan->memory.work_bytes : 0},
                 {"analyze_ms", s->analyze_ms}, {"build_ms", s->build_ms}, {"update_ms", s->update_ms});
    json_end(json);
  }
  json_end(json);
  json_end(json);
  fflush(stdout);
}

static PetscErrorCode Measure(const Request *request, HostMatrix *matrix, JsonText *json)
{
  static Subject subject[MAX_SUBJECTS];
  int            count = 0;
  PetscInt       block_size;
  PetscMPIInt    rank;
  Vec            x, y;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  memset(subject, 0, sizeof subject);
  PetscCall(BlockSize(&matrix->csr.pattern, &block_size));
  for (int i = 0; i < RIVAL_COUNT; i++) {
    PetscCall(PrepareRival(&rivals[i], matrix, block_size, &subject[count]));
    if (subject[count].peer) count++;
  }
  for (int i = 0; i < request->format_count; i++)
    PetscCall(PrepareFormat(request->format[i], matrix, &subject[count++]));
  PetscCall(MatCreateVecs(subject[0].peer, &x, &y));
  PetscCall(VecSetRandom(x, NULL));
  PetscCall(CheckAll(matrix, subject, count, x, y));
  PetscCall(TimeAll(subject, count, request->rounds, x, y));
  if (rank == 0) report(matrix, subject, count, request->rounds, json);
  for (int i = 0; i < count; i++) PetscCall(FreeSubject(&subject[i]));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(HostMatrixDestroy(matrix));
  PetscFunctionReturn(0);
}

static void begin_json(const Request *request, int processes, JsonText *json)
{
  static const char *const isa[] = {[SPMV_ISA_BASE] = "base", [SPMV_ISA_AVX2] = "avx2", [SPMV_ISA_AVX512] = "avx512"};
  const time_t             today = time(NULL);
  struct utsname           system;
  char                     text[256];

  json_begin(json, NULL, '{');
  json_string(json, "program", "host_bench");
  strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", gmtime(&today));
  json_string(json, "date", text);
  first_line("/proc/cpuinfo", "model name", text, sizeof text);
  if (!text[0]) snprintf(text, sizeof text, "%s", uname(&system) == 0 ? system.machine : "unknown");
  JSON_STRINGS(json, {"cpu", text}, {"isa", isa[spmv_isa()]}, {"compiler", __VERSION__});
  snprintf(text, sizeof text, "%d.%d.%d", PETSC_VERSION_MAJOR, PETSC_VERSION_MINOR, PETSC_VERSION_SUBMINOR);
  JSON_STRINGS(json, {"petsc", text}, {"commit", request->commit});
  json_number(json, "rounds", request->rounds);
  json_string(json, "clock", "thread");
  json_number(json, "processes", processes);
  json_begin(json, "results", '[');
}

static void list_all(void)
{
  for (int i = 0; i < family_count(); i++)
    printf("--matrix %s:%lld: %s\n", family_get(i)->name, (long long)family_get(i)->default_size, family_get(i)->what);
  for (int i = 0; i < spmv_format_count(); i++) {
    const SpmvFormat *f = spmv_format_get(i);

    printf("--format %s: %s\n", f->name, f->summary);
    for (const SpmvOptionDesc *d = f->options; d && d->key; d++) printf("  %s: %s\n", d->key, d->help);
  }
}

/* *go_on: whether there is something to measure */
static PetscErrorCode ParseArguments(int argc, char **argv, Request *r, int *go_on)
{
  PetscFunctionBeginUser;
  *go_on = 1;
  for (int i = 1; i < argc; i += 2) { /* a key and its value */
    const char *key = argv[i], *value = i + 1 < argc ? argv[i + 1] : NULL;

    if (!strcmp(key, "--list")) {
      list_all();
      *go_on = 0;
      PetscFunctionReturn(0);
    }
    PetscCheck(value, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONG, "%s is unknown or lacks its value", key);
    PetscCheck(r->generated_count < MAX_INPUTS && r->file_count < MAX_INPUTS &&
                   r->format_count < MAX_SUBJECTS - RIVAL_COUNT,
               PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "too many matrices or formats");
    if (!strcmp(key, "--matrix")) r->generated[r->generated_count++] = value;
    else if (!strcmp(key, "--file")) r->file[r->file_count++] = value;
    else if (!strcmp(key, "--format")) r->format[r->format_count++] = value;
    else if (!strcmp(key, "--repeat")) r->rounds = atoi(value);
    else if (!strcmp(key, "--json")) r->json = value;
    else if (!strcmp(key, "--commit")) r->commit = value;
    else SETERRQ(PETSC_COMM_SELF, PETSC_ERR_ARG_WRONG, "unknown argument %s", key);
  }
  PetscCheck(r->rounds >= 1 && r->rounds <= MAX_ROUNDS, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "--repeat takes 1 to %d", MAX_ROUNDS);
  if (r->generated_count + r->file_count == 0) r->generated[r->generated_count++] = "hex3:20";
  if (r->format_count == 0)
    for (int i = 0; i < spmv_format_count() && i < MAX_SUBJECTS - RIVAL_COUNT; i++)
      r->format[r->format_count++] = spmv_format_get(i)->name;
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  Request     request = {.rounds = 15, .commit = "unknown"};
  HostMatrix  matrix;
  JsonText    json         = {.lines = 4};
  char       *no_options[] = {argv[0], NULL}, **own_argv = no_options; /* the arguments are not PETSc's */
  int         own_argc = 1, go_on;
  PetscMPIInt rank, size;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&own_argc, &own_argv, NULL, NULL));
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(ParseArguments(argc, argv, &request, &go_on));
  begin_json(&request, size, &json);
  for (int i = 0; go_on && i < request.generated_count + request.file_count; i++) {
    if (i < request.generated_count) PetscCall(HostMatrixGenerate(request.generated[i], &matrix));
    else PetscCall(HostMatrixLoad(request.file[i - request.generated_count], &matrix));
    PetscCall(Measure(&request, &matrix, &json));
    PetscCheck(rank || !request.json || !json_save(&json, request.json), PETSC_COMM_SELF, PETSC_ERR_FILE_WRITE,
               "cannot write %s", request.json);
  }
  json_free(&json);
  PetscCall(PetscFinalize());
  PetscFunctionReturn(0);
}
