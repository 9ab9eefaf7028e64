/*
  host_bench - times the host products of the formats of libspmvpack against those of PETSc on one core, in one process.

    host_bench [--matrix family[:size]]... [--file matrix.petsc]... [--format name[:key=value]...]...
               [--repeat 15] [--json out.json] [--commit text] [--list]

  Peers are aij by default (with inodes), aij without inodes, and aijperm. Every product is compared with one in
  extended precision before it is timed. In each round every product has a turn, so that other load on the machine
  affects all of them alike; for a small matrix, a turn repeats the product until it takes milliseconds. Reported are
  the minimum and the median over the rounds. GB/s counts the bytes of the format, x once and y once.
*/
#include "host_matrix.h"
#include "check.h"
#include "core/simd.h"
#include "families.h"
#include <spmv_predict.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>

enum { MAX_SUBJECTS = 24, MAX_INPUTS = 32, MAX_ROUNDS = 1000 };

/* A product to measure: by a plan of a format, or by a matrix of PETSc */
typedef struct {
  const char  *name;
  SpmvExec     exec;
  SpmvAnalysis analysis;
  SpmvPlan    *plan;
  void        *work;
  Mat          peer;
  int64_t      bytes; /* of all arrays */
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

static PetscErrorCode PreparePeer(const char *name, const HostMatrix *matrix, Subject *s)
{
  PetscFunctionBeginUser;
  s->name = name;
  PetscCall(HostMatrixWrap(matrix, &s->peer));
  if (strcmp(name, "aij")) PetscCall(MatSetOption(s->peer, MAT_USE_INODES, PETSC_FALSE));
  PetscCall(MatAssemblyBegin(s->peer, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(s->peer, MAT_FINAL_ASSEMBLY));
  if (!strcmp(name, "aijperm")) PetscCall(MatConvert(s->peer, MATSEQAIJPERM, MAT_INPLACE_MATRIX, &s->peer));
  s->bytes = spmv_csr_bytes(&matrix->csr.pattern, matrix->csr.scalar_type);
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

/* Measures ms of all subjects, and sorts them */
static PetscErrorCode TimeAll(Subject *subject, int count, int rounds, Vec x, Vec y)
{
  int times[MAX_SUBJECTS];

  PetscFunctionBeginUser;
  for (int i = 0; i < count; i++) {
    const double start = now_ms();
    PetscCall(Multiply(&subject[i], x, y, 1));
    times[i] = 1 + (int)(5 / (now_ms() - start + 1e-3));
  }
  for (int round = 0; round < rounds; round++)
    for (int i = 0; i < count; i++) {
      const double start = now_ms();
      PetscCall(Multiply(&subject[i], x, y, times[i]));
      subject[i].ms[round] = (now_ms() - start) / times[i];
    }
  for (int i = 0; i < count; i++) qsort(subject[i].ms, (size_t)rounds, sizeof(double), compare_doubles);
  PetscFunctionReturn(0);
}

static void report(const HostMatrix *matrix, const Subject *subject, int count, int rounds, FILE *json, int first)
{
  const SpmvPattern *p         = &matrix->csr.pattern;
  const int64_t      csr_bytes = spmv_csr_bytes(p, matrix->csr.scalar_type);
  const int64_t      vectors   = (p->rows + p->cols) * spmv_scalar_bytes(matrix->csr.scalar_type);
  SpmvPatternFacts   facts;

  spmv_pattern_facts(p, &facts);
  printf("\n%s: %lld rows, %lld columns, %lld nonzeros, CSR %.1f MB\n", matrix->name, (long long)p->rows,
         (long long)p->cols, (long long)p->nnz, 1e-6 * (double)csr_bytes);
  printf("  %-28s %9s %9s %7s %7s %8s %9s %9s\n", "", "min ms", "median ms", "bytes", "GB/s", "x aij", "x no inode",
         "refresh");
  if (json)
    fprintf(json,
            "%s\n  {\"matrix\": \"%s\", \"rows\": %lld, \"cols\": %lld, \"nnz\": %lld, \"csr_bytes\": %lld, "
            "\"repeated\": %lld, \"loose\": %lld, \"uneven\": %lld, \"far\": %lld, \"kernels\": [",
            first ? "" : ",", matrix->name, (long long)p->rows, (long long)p->cols, (long long)p->nnz,
            (long long)csr_bytes, (long long)facts.repeated, (long long)facts.loose, (long long)facts.uneven,
            (long long)facts.far);
  for (int i = 0; i < count; i++) {
    const Subject *s   = &subject[i];
    const double   min = s->ms[0], median = s->ms[rounds / 2];
    const double   gb_s   = 1e-6 * (double)(s->bytes + vectors) / min;
    const double   of_aij = subject[0].ms[0] / min, of_plain = subject[1].ms[0] / min;

    printf("  %-28s %9.3f %9.3f %7.3f %7.2f %8.2f %9.2f %9.1f%s\n", s->name, min, median,
           (double)s->bytes / (double)csr_bytes, gb_s, of_aij, of_plain, s->update_ms / min,
           s->plan && !s->analysis.accepted ? "  (would decline)" : "");
    if (json)
      fprintf(json,
              "%s\n    {\"name\": \"%s\", \"own\": %s, \"accepted\": %s, \"bytes\": %lld, \"min_ms\": %.5g, "
              "\"median_ms\": %.5g, \"gb_per_s\": %.3f, \"speed_vs_aij\": %.3f, \"speed_vs_aij_no_inodes\": %.3f, "
              "\"work_bytes\": %lld, \"analyze_ms\": %.4g, \"build_ms\": %.4g, \"update_ms\": %.4g}",
              i ? "," : "", s->name, s->plan ? "true" : "false", !s->plan || s->analysis.accepted ? "true" : "false",
              (long long)s->bytes, min, median, gb_s, of_aij, of_plain,
              (long long)(s->plan ? s->plan->memory.work_bytes : 0), s->analyze_ms, s->build_ms, s->update_ms);
  }
  if (json) fprintf(json, "]}");
  fflush(stdout);
}

static PetscErrorCode Measure(const Request *request, HostMatrix *matrix, FILE *json, int first)
{
  static Subject     subject[MAX_SUBJECTS];
  static const char *peers[] = {"aij", "aij-no-inodes", "aijperm"};
  int                count   = 0;
  Vec                x, y;

  PetscFunctionBeginUser;
  memset(subject, 0, sizeof subject);
  for (size_t i = 0; i < sizeof peers / sizeof peers[0]; i++)
    PetscCall(PreparePeer(peers[i], matrix, &subject[count++]));
  for (int i = 0; i < request->format_count; i++)
    PetscCall(PrepareFormat(request->format[i], matrix, &subject[count++]));
  PetscCall(MatCreateVecs(subject[0].peer, &x, &y));
  PetscCall(VecSetRandom(x, NULL));
  PetscCall(CheckAll(matrix, subject, count, x, y));
  PetscCall(TimeAll(subject, count, request->rounds, x, y));
  report(matrix, subject, count, request->rounds, json, first);
  for (int i = 0; i < count; i++) PetscCall(FreeSubject(&subject[i]));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(HostMatrixDestroy(matrix));
  PetscFunctionReturn(0);
}

/* The name of the processor from /proc/cpuinfo, else the machine type */
static void processor_name(char *name, size_t size)
{
  FILE          *f = fopen("/proc/cpuinfo", "r");
  struct utsname system;
  char           line[256];
  int            found = 0;

  while (f && !found && fgets(line, sizeof line, f)) {
    char *colon = strstr(line, ": ");
    if (strncmp(line, "model name", 10) || !colon) continue;
    colon[strcspn(colon, "\n")] = 0;
    snprintf(name, size, "%s", colon + 2);
    found = 1;
  }
  if (f) fclose(f);
  if (!found) snprintf(name, size, "%s", uname(&system) == 0 ? system.machine : "unknown");
}

static FILE *open_json(const Request *request)
{
  static const char *const isa[] = {[SPMV_ISA_BASE] = "base", [SPMV_ISA_AVX2] = "avx2", [SPMV_ISA_AVX512] = "avx512"};
  const time_t             today = time(NULL);
  char                     date[32], cpu[256];
  FILE                    *json = fopen(request->json, "w");

  if (!json) return NULL;
  strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", gmtime(&today));
  processor_name(cpu, sizeof cpu);
  fprintf(json,
          "{\"program\": \"host_bench\", \"date\": \"%s\", \"cpu\": \"%s\", \"isa\": \"%s\", \"compiler\": \"%s\",\n"
          " \"petsc\": \"%d.%d.%d\", \"commit\": \"%s\", \"rounds\": %d, \"clock\": \"thread\",\n"
          " \"results\": [",
          date, cpu, isa[spmv_isa()], __VERSION__, PETSC_VERSION_MAJOR, PETSC_VERSION_MINOR, PETSC_VERSION_SUBMINOR,
          request->commit, request->rounds);
  return json;
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
    PetscCheck(r->generated_count < MAX_INPUTS && r->file_count < MAX_INPUTS && r->format_count < MAX_SUBJECTS - 3,
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
    for (int i = 0; i < spmv_format_count() && i < MAX_SUBJECTS - 3; i++)
      r->format[r->format_count++] = spmv_format_get(i)->name;
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  Request    request = {.rounds = 15, .commit = "unknown"};
  HostMatrix matrix;
  FILE      *json         = NULL;
  char      *no_options[] = {argv[0], NULL}, **own_argv = no_options; /* PETSc must not interpret the arguments */
  int        own_argc = 1, go_on;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&own_argc, &own_argv, NULL, NULL));
  PetscCall(ParseArguments(argc, argv, &request, &go_on));
  if (go_on && request.json) {
    json = open_json(&request);
    PetscCheck(json, PETSC_COMM_SELF, PETSC_ERR_FILE_OPEN, "cannot write %s", request.json);
  }
  for (int i = 0; go_on && i < request.generated_count + request.file_count; i++) {
    if (i < request.generated_count) PetscCall(HostMatrixGenerate(request.generated[i], &matrix));
    else PetscCall(HostMatrixLoad(request.file[i - request.generated_count], &matrix));
    PetscCall(Measure(&request, &matrix, json, i == 0));
  }
  if (json) {
    fprintf(json, "]}\n");
    fclose(json);
  }
  PetscCall(PetscFinalize());
  PetscFunctionReturn(0);
}
