/* cases.c - the tables of matrices.def and ops.def, and the option variants of a format; see cases.h. */
#include "cases.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

#define SPMV_MATRIX(name, tier, spec)                                                                                  \
  static GenSpec case_##name(void) { return spec; }
#include "matrices.def"
#undef SPMV_MATRIX

enum { tier_quick = CASE_QUICK, tier_full = CASE_FULL };

static const CaseMatrix matrices[] = {
#define SPMV_MATRIX(name, tier, spec) {#name, (CaseTier)tier_##tier, case_##name},
#include "matrices.def"
#undef SPMV_MATRIX
};

int case_matrix_count(void) { return (int)(sizeof matrices / sizeof matrices[0]); }

const CaseMatrix *case_matrix(int i) { return &matrices[i]; }

enum { fill_numbers = CASE_NUMBERS, fill_poison = CASE_POISON, fill_hole = CASE_HOLE };

static const CaseProduct products[] = {
#define SPMV_PRODUCT(name, alpha, beta, x, y) {#name, alpha, beta, (CaseFill)fill_##x, (CaseFill)fill_##y},
#include "ops.def"
#undef SPMV_PRODUCT
};

int case_product_count(void) { return (int)(sizeof products / sizeof products[0]); }

const CaseProduct *case_product(int i) { return &products[i]; }

enum { VALUES_MAX = 32, COMBINATIONS_QUICK = 24, COMBINATIONS_FULL = 200 };

static void add_value(double value, double *values, int *count)
{
  for (int i = 0; i < *count; i++)
    if (values[i] == value) return;
  if (*count < VALUES_MAX) values[(*count)++] = value;
}

/* Writes the values that a test sets an option to, the default first; returns their number */
static int option_values(const SpmvOptionDesc *desc, CaseTier tier, double *values)
{
  int count = 0;

  add_value(desc->default_value, values, &count);
  if (desc->kind == SPMV_OPTION_ENUM) {
    for (int c = 0; desc->choices[c]; c++) add_value(c, values, &count);
  } else if (desc->kind == SPMV_OPTION_BOOL) {
    add_value(0, values, &count);
    add_value(1, values, &count);
  } else {
    add_value(desc->min, values, &count);
    if (desc->default_value == desc->min) add_value(fmin(desc->min + 1, desc->max), values, &count);
    if (tier == CASE_FULL) add_value(desc->max, values, &count);
  }
  return count;
}

/* The number of combinations of all options, and the number of settings that change a single option */
static void count_settings(const SpmvFormat *format, CaseTier tier, int *combinations, int *single_changes)
{
  double values[VALUES_MAX];

  *combinations   = 1;
  *single_changes = 0;
  for (const SpmvOptionDesc *d = format->options; d && d->key; d++) {
    const int count = option_values(d, tier, values);
    if (*combinations <= COMBINATIONS_FULL) *combinations *= count;
    *single_changes += count - 1;
  }
}

static int combine_all(int combinations, CaseTier tier)
{
  return combinations <= (tier == CASE_QUICK ? COMBINATIONS_QUICK : COMBINATIONS_FULL);
}

int case_variant_count(const SpmvFormat *format, CaseTier tier)
{
  int combinations, single_changes;

  count_settings(format, tier, &combinations, &single_changes);
  return combine_all(combinations, tier) ? combinations : 1 + single_changes;
}

static void describe(const SpmvOptions *options, char text[CASE_VARIANT_TEXT])
{
  size_t used = 0;
  char   value[64];

  text[0] = 0;
  for (int i = 0; options->format->options && options->format->options[i].key; i++) {
    const SpmvOptionDesc *d = &options->format->options[i];
    if (options->value[i] == d->default_value || used >= CASE_VARIANT_TEXT) continue;
    spmv_option_text(d, options->value[i], value, sizeof value);
    used += (size_t)snprintf(text + used, CASE_VARIANT_TEXT - used, "%s%s=%s", used ? " " : "", d->key, value);
  }
  if (used == 0) snprintf(text, CASE_VARIANT_TEXT, "defaults");
}

void case_variant(const SpmvFormat *format, CaseTier tier, int i, SpmvOptions *options, char text[CASE_VARIANT_TEXT])
{
  double values[VALUES_MAX];
  int    combinations, single_changes;

  count_settings(format, tier, &combinations, &single_changes);
  spmv_options_init(options, format);
  for (int o = 0; format->options && format->options[o].key; o++) {
    const int count = option_values(&format->options[o], tier, values);
    if (combine_all(combinations, tier)) {
      options->value[o] = values[i % count];
      i /= count;
    } else {
      if (i > 0 && i < count) options->value[o] = values[i];
      i -= count - 1;
    }
  }
  describe(options, text);
}

static int does_nothing_on_host(const SpmvFormat *format, const char *key)
{
  for (const char *const *k = format->device_options; k && *k; k++)
    if (!strcmp(*k, key)) return 1;
  return 0;
}

int case_variant_matters(const SpmvOptions *options, SpmvSpace space)
{
  const SpmvOptionDesc *d = options->format->options;

  if (space == SPMV_DEVICE) return 1;
  for (int o = 0; d && d[o].key; o++)
    if (options->value[o] != d[o].default_value && does_nothing_on_host(options->format, d[o].key)) return 0;
  return 1;
}

int case_in_sample(int64_t sample, int64_t offset)
{
  static int64_t combinations = 0;
  return combinations++ % sample == offset % sample;
}
