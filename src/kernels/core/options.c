/* Option values of a format: defaults, changes by key with range checks, parsing and printing of values. */
#include <spmv_kernels.h>
#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void spmv_options_init(SpmvOptions *options, const SpmvFormat *format)
{
  memset(options, 0, sizeof *options);
  options->format = format;
  for (int i = 0; format->options && format->options[i].key; i++) options->value[i] = format->options[i].default_value;
}

static int find(const SpmvOptions *options, const char *key)
{
  const SpmvOptionDesc *desc = options->format->options;

  for (int i = 0; desc && desc[i].key; i++)
    if (!strcmp(desc[i].key, key)) return i;
  return -1;
}

static SpmvStatus unknown_key(const SpmvOptions *options, const char *key, char *message)
{
  const SpmvOptionDesc *desc = options->format->options;
  size_t                used;

  used = (size_t)snprintf(message, SPMV_MESSAGE_MAX, "format %s has no option %s; it has", options->format->name, key);
  for (int i = 0; desc && desc[i].key && used < SPMV_MESSAGE_MAX; i++)
    used += (size_t)snprintf(message + used, SPMV_MESSAGE_MAX - used, " %s", desc[i].key);
  if (!desc || !desc[0].key) snprintf(message + used, SPMV_MESSAGE_MAX - used, " none");
  return SPMV_ERR_OPTION;
}

static int choice_count(const SpmvOptionDesc *desc)
{
  int n = 0;

  while (desc->choices[n]) n++;
  return n;
}

/* Writes a number as a user types it: 6442450945, not 6.44245e+09, and 0.3, not 0.29999999999999999 */
static void number_text(double value, char *text, size_t size)
{
  const double exact = 9007199254740992.0; /* 2^53: all integers up to here are exact doubles */

  if (value == floor(value) && fabs(value) <= exact) {
    snprintf(text, size, "%lld", (long long)value);
    return;
  }
  for (int digits = DBL_DIG; digits <= DBL_DECIMAL_DIG; digits++) { /* the first text that reads back to the number */
    snprintf(text, size, "%.*g", digits, value);
    if (strtod(text, NULL) == value) break;
  }
}

void spmv_option_text(const SpmvOptionDesc *desc, double value, char *text, size_t size)
{
  if (desc->kind == SPMV_OPTION_ENUM) snprintf(text, size, "%s", desc->choices[(int)value]);
  else if (desc->kind == SPMV_OPTION_BOOL) snprintf(text, size, "%s", value != 0 ? "true" : "false");
  else number_text(value, text, size);
}

void spmv_option_range(const SpmvOptionDesc *desc, char *text, size_t size)
{
  char min[32], max[32];

  if (desc->kind == SPMV_OPTION_ENUM) {
    size_t used = (size_t)snprintf(text, size, "one of");
    for (int i = 0; desc->choices[i] && used < size; i++)
      used += (size_t)snprintf(text + used, size - used, " %s", desc->choices[i]);
  } else if (desc->kind == SPMV_OPTION_BOOL) snprintf(text, size, "true or false");
  else {
    number_text(desc->min, min, sizeof min);
    number_text(desc->max, max, sizeof max);
    snprintf(text, size, "%s to %s", min, max);
  }
}

static SpmvStatus bad_choice(const SpmvOptionDesc *desc, const char *text, char *message)
{
  const int used = snprintf(message, SPMV_MESSAGE_MAX, "option %s: %s is not ", desc->key, text);

  if (used < SPMV_MESSAGE_MAX) spmv_option_range(desc, message + used, (size_t)(SPMV_MESSAGE_MAX - used));
  return SPMV_ERR_OPTION;
}

static SpmvStatus bad_number(const SpmvOptionDesc *desc, double value, double min, double max, char *message)
{
  char text[3][32];

  number_text(value, text[0], sizeof text[0]);
  number_text(min, text[1], sizeof text[1]);
  number_text(max, text[2], sizeof text[2]);
  if (value >= min && value <= max)
    snprintf(message, SPMV_MESSAGE_MAX, "option %s: %s is not an integer", desc->key, text[0]);
  else
    snprintf(message, SPMV_MESSAGE_MAX, "option %s: %s is outside its range %s to %s", desc->key, text[0], text[1],
             text[2]);
  return SPMV_ERR_OPTION;
}

static int is_of_paper(const SpmvFormat *format, int i, double value)
{
  return format->paper_from && format->paper_from[i] > 0 && value >= format->paper_from[i];
}

int spmv_options_of_paper(const SpmvOptions *options)
{
  const SpmvFormat *format = options->format;
  int               found  = 0;

  for (int i = 0; format->options && format->options[i].key; i++) found |= is_of_paper(format, i, options->value[i]);
  return found;
}

SpmvStatus spmv_options_set(SpmvOptions *options, const char *key, double value, char message[SPMV_MESSAGE_MAX])
{
  int                   i = find(options, key);
  const SpmvOptionDesc *desc;
  double                min, max;
  char                  text[64];

  if (i < 0) return unknown_key(options, key, message);
  desc = &options->format->options[i];
  min  = desc->kind == SPMV_OPTION_ENUM || desc->kind == SPMV_OPTION_BOOL ? 0 : desc->min;
  max  = desc->kind == SPMV_OPTION_ENUM ? choice_count(desc) - 1 : desc->kind == SPMV_OPTION_BOOL ? 1 : desc->max;
  if (!(value >= min && value <= max) || (desc->kind != SPMV_OPTION_REAL && value != floor(value)))
    return bad_number(desc, value, min, max, message);
  if (is_of_paper(options->format, i, value) && !spmv_format_paper(options->format)) {
    spmv_option_text(desc, value, text, sizeof text);
    snprintf(message, SPMV_MESSAGE_MAX,
             "option %s: %s is for comparison with a paper, and this library was built without papers: build it with "
             "-DPETSCPACK_PAPERS=ON",
             desc->key, text);
    return SPMV_ERR_OPTION;
  }
  options->value[i] = value;
  return SPMV_SUCCESS;
}

static int parse_bool(const char *text)
{
  static const char *const yes[] = {"true", "yes", "on", "1"}, *const no[] = {"false", "no", "off", "0"};

  for (int i = 0; i < 4; i++) {
    if (!strcmp(text, yes[i])) return 1;
    if (!strcmp(text, no[i])) return 0;
  }
  return -1;
}

SpmvStatus spmv_options_set_text(SpmvOptions *options, const char *key, const char *text,
                                 char message[SPMV_MESSAGE_MAX])
{
  int                   i = find(options, key);
  const SpmvOptionDesc *desc;
  char                 *end;
  double                value;

  if (i < 0) return unknown_key(options, key, message);
  desc = &options->format->options[i];
  if (desc->kind == SPMV_OPTION_ENUM) {
    for (int c = 0; desc->choices[c]; c++)
      if (!strcmp(desc->choices[c], text)) return spmv_options_set(options, key, c, message);
    return bad_choice(desc, text, message);
  }
  if (desc->kind == SPMV_OPTION_BOOL) {
    int flag = parse_bool(text);
    if (flag >= 0) return spmv_options_set(options, key, flag, message);
    snprintf(message, SPMV_MESSAGE_MAX, "option %s: %s is neither true nor false", key, text);
    return SPMV_ERR_OPTION;
  }
  errno = 0;
  value = strtod(text, &end);
  if (end == text || *end || errno == ERANGE) {
    snprintf(message, SPMV_MESSAGE_MAX, "option %s: %s is not a number", key, text);
    return SPMV_ERR_OPTION;
  }
  return spmv_options_set(options, key, value, message);
}

SpmvStatus spmv_options_get(const SpmvOptions *options, const char *key, double *value, char message[SPMV_MESSAGE_MAX])
{
  int i = find(options, key);

  if (i < 0) return unknown_key(options, key, message);
  *value = options->value[i];
  return SPMV_SUCCESS;
}
