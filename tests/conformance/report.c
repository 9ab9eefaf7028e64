/* Counting and printing of checks. */
#include "report.h"
#include <stdarg.h>
#include <stdio.h>

enum { FAILURES_PRINTED = 20 };

int report_check(Report *report, int ok, const char *what, const char *format, ...)
{
  const ReportPlace *p = &report->place;
  va_list            args;

  if (ok) {
    report->passed++;
    return 1;
  }
  report->failed++;
  if (report->all_failed + report->failed > FAILURES_PRINTED) return 0;
  printf("FAILED %s: format %s (%s), matrix %s, %s %s, %s data, %s, %s: ", what, p->format, p->variant, p->matrix,
         p->index_type == SPMV_I64 ? "i64" : "i32", p->scalar_type == SPMV_F32 ? "f32" : "f64",
         p->data == GEN_EXACT ? "exact" : "random", p->space == SPMV_HOST ? "host plan" : "device plan", p->source);
  va_start(args, format);
  vprintf(format, args);
  va_end(args);
  printf("\n");
  if (report->all_failed + report->failed == FAILURES_PRINTED) printf("(further failures are counted only)\n");
  fflush(stdout);
  return 0;
}

void report_skip(Report *report, const char *why)
{
  const ReportPlace *p = &report->place;

  report->skipped++;
  if (p->index_type == SPMV_I32 && p->scalar_type == SPMV_F64 && p->data == GEN_EXACT)
    printf("skipped: format %s (%s), matrix %s: %s\n", p->format, p->variant, p->matrix, why);
}

void report_format_end(Report *report, const char *format)
{
  printf("%s: %lld passed, %lld failed", format, (long long)report->passed, (long long)report->failed);
  if (report->skipped) printf(", %lld combinations skipped", (long long)report->skipped);
  printf("\n");
  report->all_passed += report->passed;
  report->all_failed += report->failed;
  report->passed = report->failed = report->skipped = 0;
}
