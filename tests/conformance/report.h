/* report.h - counts checks and prints the first failures with all that is needed to repeat them. */
#ifndef CONF_REPORT_H
#define CONF_REPORT_H

#include "cases.h"

/* Which combination is being checked */
typedef struct {
  const char *format, *matrix, *source;
  char        variant[CASE_VARIANT_TEXT];
  SpmvIndex   index_type;
  SpmvScalar  scalar_type;
  SpmvSpace   space;
  GenData     data;
} ReportCombination;

typedef struct {
  ReportCombination combination;
  int64_t           passed, failed, skipped; /* of the format */
  int64_t           all_passed, all_failed;
} Report;

/* From now on, a signal that ends the program (a segmentation fault, abort()) first prints which combination was being
   checked */
void report_watch_signals(void);

/* A combination begins, that of report->combination */
void report_begin(const Report *report);

/* Counts one check and returns ok. When it failed, what says which operation, and format what was seen. */
int report_check(Report *report, int ok, const char *what, const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 4, 5)))
#endif
    ;

/* Counts a combination that was left out, and says why when it is the first of its matrix, format and variant */
void report_skip(Report *report, const char *why);

/* Prints the line of a format and starts the counts of the next */
void report_format_end(Report *report, const char *format);

#endif
