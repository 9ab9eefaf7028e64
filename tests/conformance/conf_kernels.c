/*
  conf_kernels - holds every format of the registry against the contract of spmv_kernels.h: formats x option settings x
  matrices x {f64, f32} x {i32, i64} x {exact, random data} x {host, device from each source of CSR}.

    conf_kernels [--format F] [--matrix M] [--space host|device] [--tier quick|full] [--tight] [--papers]
                 [--sample N [--offset K]] [--list]

  --sample N checks every N-th combination only, for slow machines; a prime N misses no value of any of the factors.
  --papers checks the settings that reproduce papers, which are left out else.
  --offset K begins with combination K: N processes with K = 0 .. N-1 check all, each its share.
  --matrix 'edge_*' checks the matrices of all tiers whose names begin with edge_.
  The last line is "N passed, M failed"; the exit code is 0 when M is 0 and N is not, 2 for a wrong argument, 77 when
  only the device was asked for and there is none or no format uses it, else 1.
*/
#include "conf.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SEEDS_QUICK = 1, SEEDS_FULL = 3, EXIT_SKIPPED = 77 };

static const int64_t MEMORY_QUICK = 64 << 20, MEMORY_FULL = (int64_t)1 << 30;

/* `only` may end in a *, which stands for any ending; NULL: all */
static int selected(const char *only, const char *name)
{
  const size_t star = only ? strcspn(only, "*") : 0;

  return !only || (only[star] ? !strncmp(only, name, star) : !strcmp(only, name));
}

static void run_sources(ConfRun *run)
{
  const int sources = run->space == SPMV_DEVICE ? SOURCE_COUNT : 1;

  for (int source = 0; source < sources; source++) {
    if (!case_in_sample(run->settings->sample, run->settings->offset)) continue;
    run->source                     = (CsrSource)source;
    run->report->combination.source = csr_source_name(run->source);
    conf_run(run);
  }
}

static void run_spaces(ConfRun *run)
{
  ReportCombination *at = &run->report->combination;

  if (run->format->host && selected(run->settings->space, "host") && case_variant_matters(&run->options, SPMV_HOST)) {
    run->space = at->space = SPMV_HOST;
    run_sources(run);
  }
  if (run->format->device && spmv_device_count(NULL) > 0 && selected(run->settings->space, "device")) {
    SpmvExec exec;
    spmv_exec_init(&exec, SPMV_DEVICE);
    run->space = at->space = SPMV_DEVICE;
    if (!conf_ready(run, spmv_stream_create(&exec, &run->stream), "creating a stream")) return;
    run_sources(run);
    spmv_stream_destroy(run->stream);
    run->stream = NULL;
  }
}

static void run_variants(const ConfSettings *settings, const SpmvFormat *format, const Problem *problem, Report *report)
{
  const int variants = case_variant_count(format, settings->tier);

  for (SpmvIndex index = SPMV_I32; index <= SPMV_I64; index++)
    for (int v = 0; v < variants; v++) {
      ConfRun run;
      memset(&run, 0, sizeof run);
      run.settings   = settings;
      run.format     = format;
      run.problem    = problem;
      run.report     = report;
      run.index_type = report->combination.index_type = index;
      case_variant(format, settings->tier, v, &run.options, report->combination.variant);
      if (spmv_options_of_paper(&run.options) == settings->papers) run_spaces(&run);
    }
}

static void run_problem(const ConfSettings *settings, const SpmvFormat *format, const CaseMatrix *matrix,
                        SpmvScalar scalar, GenData data, uint64_t seed, Report *report)
{
  Problem    problem;
  SpmvStatus status;

  report->combination.matrix      = matrix->name;
  report->combination.scalar_type = scalar;
  report->combination.data        = data;
  status                          = problem_init(&problem, matrix, scalar, data, seed);
  if (status) report_check(report, 0, "making the matrix", "%s", spmv_status_text(status));
  else run_variants(settings, format, &problem, report);
  problem_free(&problem);
}

static void run_format(const ConfSettings *settings, const SpmvFormat *format, Report *report)
{
  const int seeds = settings->tier == CASE_FULL ? SEEDS_FULL : SEEDS_QUICK;

  report->combination.format = format->name;
  for (int m = 0; m < case_matrix_count(); m++) {
    const CaseMatrix *matrix = case_matrix(m);
    if (!selected(settings->matrix, matrix->name)) continue;
    if (!settings->matrix && matrix->tier > settings->tier) continue;
    for (SpmvScalar scalar = SPMV_F64; scalar <= SPMV_F32; scalar++)
      for (GenData data = GEN_EXACT; data <= GEN_RANDOM; data++)
        for (int seed = 0; seed < seeds; seed++)
          run_problem(settings, format, matrix, scalar, data, (uint64_t)seed * 1000, report);
  }
  report_format_end(report, format->name);
}

static void list(const ConfSettings *settings)
{
  SpmvOptions options;
  char        text[CASE_VARIANT_TEXT];

  for (int i = 0; i < spmv_format_count(); i++)
    for (int v = 0; v < case_variant_count(spmv_format_get(i), settings->tier); v++) {
      case_variant(spmv_format_get(i), settings->tier, v, &options, text);
      if (spmv_options_of_paper(&options) != settings->papers) continue;
      printf("format %s (%s)%s\n", spmv_format_get(i)->name, text,
             case_variant_matters(&options, SPMV_HOST) ? "" : ", device only");
    }
  for (int m = 0; m < case_matrix_count(); m++) {
    const GenSpec spec = case_matrix(m)->spec();
    printf("matrix %s (%s): %lld x %lld\n", case_matrix(m)->name, case_matrix(m)->tier == CASE_QUICK ? "quick" : "full",
           (long long)spec.rows, (long long)spec.cols);
  }
  for (int p = 0; p < case_product_count(); p++)
    printf("product %s: alpha %g, beta %g\n", case_product(p)->name, case_product(p)->alpha, case_product(p)->beta);
}

static int usage(const char *argument)
{
  fprintf(
      stderr,
      "conf_kernels: %s is not understood\n"
      "usage: conf_kernels [--format F] [--matrix M] [--space host|device] [--tier quick|full] [--tight] [--papers] "
      "[--sample N [--offset K]] [--list]\n",
      argument);
  return 2;
}

static int known_matrix(const char *name)
{
  for (int m = 0; m < case_matrix_count(); m++)
    if (selected(name, case_matrix(m)->name)) return 1;
  return 0;
}

/* 0, or the exit code after a wrong argument */
static int parse(int argc, char **argv, ConfSettings *s, int *list_only)
{
  for (int i = 1; i < argc; i++) {
    const char *value = i + 1 < argc ? argv[i + 1] : "";
    if (!strcmp(argv[i], "--list")) {
      *list_only = 1;
      continue;
    }
    if (!strcmp(argv[i], "--tight") || !strcmp(argv[i], "--papers")) {
      *(argv[i][2] == 't' ? &s->tight : &s->papers) = 1;
      continue;
    }
    if (!strcmp(argv[i], "--format") && spmv_format_find(value)) s->format = value;
    else if (!strcmp(argv[i], "--matrix") && known_matrix(value)) s->matrix = value;
    else if (!strcmp(argv[i], "--space") && (!strcmp(value, "host") || !strcmp(value, "device"))) s->space = value;
    else if (!strcmp(argv[i], "--tier") && !strcmp(value, "quick")) s->tier = CASE_QUICK;
    else if (!strcmp(argv[i], "--tier") && !strcmp(value, "full")) s->tier = CASE_FULL;
    else if (!strcmp(argv[i], "--sample") && atoll(value) > 0) s->sample = atoll(value);
    else if (!strcmp(argv[i], "--offset") && value[0] >= '0' && value[0] <= '9') s->offset = atoll(value);
    else return usage(argv[i]);
    i++;
  }
  s->memory_limit = s->tier == CASE_FULL ? MEMORY_FULL : MEMORY_QUICK;
  return 0;
}

int main(int argc, char **argv)
{
  ConfSettings settings;
  Report       report;
  char         reason[SPMV_MESSAGE_MAX];
  int          list_only = 0, code;

  memset(&settings, 0, sizeof settings);
  memset(&report, 0, sizeof report);
  settings.sample = 1;
  code            = parse(argc, argv, &settings, &list_only);
  if (code) return code;
  if (list_only) {
    list(&settings);
    return 0;
  }
  report_watch_signals();
  if (spmv_device_count(reason) == 0) printf("host only: %s\n", reason);
  for (int i = 0; i < spmv_format_count(); i++)
    if (selected(settings.format, spmv_format_get(i)->name)) run_format(&settings, spmv_format_get(i), &report);
  printf("%lld passed, %lld failed\n", (long long)report.all_passed, (long long)report.all_failed);
  if (settings.space && !strcmp(settings.space, "device") && report.combination.space != SPMV_DEVICE)
    return EXIT_SKIPPED;
  return report.all_failed == 0 && report.all_passed > 0 ? 0 : 1;
}
