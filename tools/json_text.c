/* json_text.c - see json_text.h */
#include "json_text.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void append(JsonText *j, const char *text, size_t length)
{
  if (j->failed) return;
  if (j->length + length + 1 > j->space) {
    const size_t space = 2 * (j->length + length + 1);
    char        *more  = (char *)realloc(j->text, space);

    if (!more) {
      j->failed = 1;
      return;
    }
    j->text  = more;
    j->space = space;
  }
  memcpy(j->text + j->length, text, length);
  j->length += length;
  j->text[j->length] = 0;
}

static void append_quoted(JsonText *j, const char *text)
{
  char escaped[8];

  append(j, "\"", 1);
  for (const char *c = text; *c; c++) {
    if (*c == '"' || *c == '\\') snprintf(escaped, sizeof escaped, "\\%c", *c);
    else if ((unsigned char)*c < 0x20) snprintf(escaped, sizeof escaped, "\\u%04x", (unsigned)*c);
    else snprintf(escaped, sizeof escaped, "%c", *c);
    append(j, escaped, strlen(escaped));
  }
  append(j, "\"", 1);
}

static void new_line(JsonText *j)
{
  append(j, "\n", 1);
  for (int i = 0; i < j->depth; i++) append(j, " ", 1);
}

/* What stands between the last value and the next one */
static void begin_value(JsonText *j, const char *key)
{
  const int first = !j->length || j->text[j->length - 1] == '{' || j->text[j->length - 1] == '[';

  if (!first) append(j, ",", 1);
  if (j->depth && j->depth <= j->lines) new_line(j);
  else if (!first) append(j, " ", 1);
  if (!key) return;
  append_quoted(j, key);
  append(j, ": ", 2);
}

void json_raw(JsonText *j, const char *key, const char *json)
{
  begin_value(j, key);
  append(j, json, strlen(json));
}

void json_begin(JsonText *j, const char *key, char bracket)
{
  json_raw(j, key, bracket == '{' ? "{" : "[");
  if (j->depth == JSON_DEPTH) j->failed = 1;
  else j->closing[j->depth++] = bracket == '{' ? '}' : ']';
}

void json_end(JsonText *j)
{
  const int broken =
      j->depth <= j->lines && j->length && j->text[j->length - 1] != '{' && j->text[j->length - 1] != '[';

  if (j->failed) return;
  j->depth--;
  if (broken) new_line(j);
  append(j, &j->closing[j->depth], 1);
}

void json_end_all(JsonText *j)
{
  while (j->depth && !j->failed) json_end(j);
}

void json_string(JsonText *j, const char *key, const char *value)
{
  begin_value(j, key);
  append_quoted(j, value);
}

void json_number(JsonText *j, const char *key, double value)
{
  char      text[32] = "null";
  const int digits   = floor(value) == value ? 15 : j->digits ? j->digits : 10;

  if (isfinite(value)) snprintf(text, sizeof text, "%.*g", digits, value);
  json_raw(j, key, text);
}

void json_numbers(JsonText *j, const char *key, int count, const double *values)
{
  json_begin(j, key, '[');
  for (int i = 0; i < count; i++) json_number(j, NULL, values[i]);
  json_end(j);
}

void json_bool(JsonText *j, const char *key, int value) { json_raw(j, key, value ? "true" : "false"); }

int json_save(JsonText *j, const char *path)
{
  const size_t length = j->length;
  const int    depth  = j->depth;
  char        *part   = (char *)malloc(strlen(path) + 6);
  FILE        *file   = NULL;
  int          failed = 1;

  json_end_all(j);
  if (part && !j->failed) {
    sprintf(part, "%s.part", path);
    file = fopen(part, "w");
  }
  if (file) {
    failed = fprintf(file, "%s\n", j->text) < 0;
    failed |= fclose(file) || rename(part, path);
  }
  free(part);
  j->depth  = depth;
  j->length = length;
  return failed;
}

void json_free(JsonText *j)
{
  free(j->text);
  memset(j, 0, sizeof *j);
}
