/*
  json_text.h - writes JSON into a text that grows. The advisor and all programs that measure use it. Does not need PETSc.

    JsonText json = {.lines = 1};
    json_begin(&json, NULL, '{');
    json_number(&json, "rows", 5);
    json_save(&json, "out.json");
    json_free(&json);
*/
#ifndef JSON_TEXT_H
#define JSON_TEXT_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { JSON_DEPTH = 16 };

/* All zero at first */
typedef struct {
  int    digits; /* of numbers that are not whole; 0 means 10 */
  int    lines;  /* objects and arrays less deep than this have a line for each member */
  int    failed; /* no memory, or too deep: the text is incomplete */
  int    depth;
  char   closing[JSON_DEPTH];
  char  *text; /* as far as written: what has begun and not ended is not closed; NULL at first */
  size_t length, space;
} JsonText;

/* JSON_NUMBERS(&json, {"rows", 5}, {"cols", 3}) writes several members; JSON_STRINGS as well */
typedef struct {
  const char *key;
  double      value;
} JsonNumber;
typedef struct {
  const char *key, *value;
} JsonString;
#define JSON_NUMBERS(json, ...)                                                                                        \
  for (const JsonNumber all_[] = {__VA_ARGS__, {NULL, 0}}, *n_ = all_; n_->key; n_++)                                  \
  json_number(json, n_->key, n_->value)
#define JSON_STRINGS(json, ...)                                                                                        \
  for (const JsonString all_[] = {__VA_ARGS__, {NULL, NULL}}, *s_ = all_; s_->key; s_++)                               \
  json_string(json, s_->key, s_->value)

#pragma GCC visibility push(hidden) /* libraries for JSON, which MPI may have loaded, have functions of these names */

/* In an object, each member has a key; in an array and outside, key is NULL */
void json_begin(JsonText *, const char *key, char bracket); /* '{' or '[' */
void json_end(JsonText *);
void json_string(JsonText *, const char *key, const char *value);
void json_number(JsonText *, const char *key, double value); /* null if it is not finite, which JSON cannot say */
void json_numbers(JsonText *, const char *key, int count, const double *values);
void json_bool(JsonText *, const char *key, int value);
void json_raw(JsonText *, const char *key, const char *json); /* a value that is JSON */

/* Ends all that has begun */
void json_end_all(JsonText *);
/* Writes the text with all ended to a file, and may go on; a crash meanwhile keeps the old file. Returns 0, or 1 after a
   failure */
int  json_save(JsonText *, const char *path);
void json_free(JsonText *);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
