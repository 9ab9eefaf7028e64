/* Counting and printing of checks. */
#include "report.h"
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { FAILURES_PRINTED = 20, SIGNALS = 5, COMBINATION_TEXT = 512 };

static const int        watched[SIGNALS] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
static struct sigaction before[SIGNALS];               /* what the signals did until they were watched */
static char             now_checked[COMBINATION_TEXT]; /* the combination, ready to be written by a signal handler */

static void combination_text(const ReportCombination *p, char *text, size_t size)
{
  snprintf(text, size, "format %s (%s), matrix %s, %s %s, %s data, %s, %s", p->format, p->variant, p->matrix,
           p->index_type == SPMV_I64 ? "i64" : "i32", p->scalar_type == SPMV_F32 ? "f32" : "f64",
           p->data == GEN_EXACT ? "exact" : "random", p->space == SPMV_HOST ? "host plan" : "device plan", p->source);
}

static void write_text(const char *text) { (void)!write(STDOUT_FILENO, text, strlen(text)); }

/* Prints the combination and restores the handler that was set before, which gets the signal next: the faulting
   instruction runs again, and abort() raises its signal again */
static void tell_what_is_checked(int number)
{
  write_text("FAILED by a signal: ");
  write_text(now_checked[0] ? now_checked : "before the first combination");
  write_text("\n");
  for (int i = 0; i < SIGNALS; i++)
    if (watched[i] == number) sigaction(number, &before[i], NULL);
}

void report_watch_signals(void)
{
  struct sigaction action;

  memset(&action, 0, sizeof action);
  action.sa_handler = tell_what_is_checked;
  for (int i = 0; i < SIGNALS; i++) sigaction(watched[i], &action, &before[i]);
}

void report_begin(const Report *report) { combination_text(&report->combination, now_checked, sizeof now_checked); }

int report_check(Report *report, int ok, const char *what, const char *format, ...)
{
  char    combination[COMBINATION_TEXT];
  va_list args;

  if (ok) {
    report->passed++;
    return 1;
  }
  report->failed++;
  if (report->all_failed + report->failed > FAILURES_PRINTED) return 0;
  combination_text(&report->combination, combination, sizeof combination);
  printf("FAILED %s: %s: ", what, combination);
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
  const ReportCombination *p = &report->combination;

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
