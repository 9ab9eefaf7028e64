/*
  cases.h - the table of matrices (matrices.def), the products to check (ops.def), and the option variants of a format,
  for the conformance test, the fault test and the benchmark.
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

/* The number of option settings of a format to test: every choice of an ENUM, both values of a BOOL, and for an INT or
   REAL the default and the minimum (the next number if that is the default; in the full tier also the maximum). All
   combinations if there are few enough; else each value alone, with the other options at their defaults. Variant 0 has
   the defaults. */
int case_variant_count(const SpmvFormat *format, CaseTier tier);
/* Sets options to variant i and writes "key=value ..." to text ("defaults" for variant 0) */
void case_variant(const SpmvFormat *format, CaseTier tier, int i, SpmvOptions *options, char text[CASE_VARIANT_TEXT]);

/* Whether the setting is tested in this space. On the host it is not if an option that does nothing there differs from its
   default: another variant has the same effect. */
int case_variant_matters(const SpmvOptions *, SpmvSpace);

/* Counts the combinations of a program from 0, and returns whether this one is in its sample: one in `sample`,
   beginning with number `offset`. Processes with equal samples and different offsets share the work. */
int case_in_sample(int64_t sample, int64_t offset);

#endif
