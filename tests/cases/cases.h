/*
  cases.h - the table of matrices (matrices.def), the products to check (ops.def), and the option variants of a format:
  what the conformance test, the fault test and the benchmark run through.
*/
#ifndef SPMV_CASES_H
#define SPMV_CASES_H

#include "gen.h"

typedef enum { CASE_QUICK, CASE_FULL } CaseTier;

typedef struct {
  const char *name;
  CaseTier    tier;
  GenSpec (*spec)(void);
} CaseMatrix;

int               case_matrix_count(void);
const CaseMatrix *case_matrix(int i);

/* Contents of a vector before a product */
typedef enum { CASE_NUMBERS, CASE_POISON, CASE_HOLE } CaseFill;

typedef struct {
  const char *name;
  double      alpha, beta;
  CaseFill    x, y;
} CaseProduct;

int                case_product_count(void);
const CaseProduct *case_product(int i);

enum { CASE_VARIANT_TEXT = 160 };

/* Numbers the option settings of a format that a test runs through: every choice of an ENUM, both values of a BOOL, and
   of an INT or REAL the default and the minimum (the next number if that is the default; in the full tier the maximum
   too). All combinations when they are few enough, else each value by itself with the other options at their defaults.
   Variant 0 is the defaults. */
int case_variant_count(const SpmvFormat *format, CaseTier tier);
/* Sets options to variant i and writes "key=value ..." to text ("defaults" for variant 0) */
void case_variant(const SpmvFormat *format, CaseTier tier, int i, SpmvOptions *options, char text[CASE_VARIANT_TEXT]);

/* Whether the combination that a program comes to now is in its sample: every sample-th one, counted from 0 since it
   began, beginning with number `offset`. With the same sample and all offsets below it, processes share the work. */
int case_in_sample(int64_t sample, int64_t offset);

#endif
