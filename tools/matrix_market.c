/* Implements matrix_market.h */
#include "matrix_market.h"
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { LINE = 1025 /* of a line including its end: the format allows 1024 characters */, WORD = 32 };

/* A file being read, and the position in it */
typedef struct {
  FILE       *file;
  const char *path;
  int64_t     line;
  char        text[LINE];
  char       *message;
} Reader;

static int fault(const Reader *r, const char *format, ...) __attribute__((format(printf, 2, 3)));

static int fault(const Reader *r, const char *format, ...)
{
  int     length = snprintf(r->message, MTX_MESSAGE, "%.512s:%" PRId64 ": ", r->path, r->line);
  va_list arguments;

  va_start(arguments, format);
  vsnprintf(r->message + length, (size_t)(MTX_MESSAGE - length), format, arguments);
  va_end(arguments);
  return 1;
}

/* Gets the next line that is neither empty nor a comment; *ended: there is none, and r->line is the last line of the
   file */
static int next_line(Reader *r, int *ended)
{
  for (;;) {
    *ended = !fgets(r->text, LINE, r->file);
    if (*ended) return 0;
    r->line++;
    if (!strchr(r->text, '\n') && !feof(r->file)) return fault(r, "a line of more than %d characters", LINE - 1);
    if (r->text[strspn(r->text, " \t\r\n")] && r->text[0] != '%') return 0;
  }
}

/* Reads an integer and moves on; returns 1 if there is none */
static int whole(char **at, int64_t *number)
{
  char *end;

  errno   = 0;
  *number = strtoll(*at, &end, 10);
  if (end == *at || errno || !strchr(" \t\r\n", *end)) return 1;
  *at = end;
  return 0;
}

static int is_end(const char *at) { return at[strspn(at, " \t\r\n")] == 0; }

/* sign: factor of the second entry in a symmetric file, 0 if there is none */
static int read_banner(Reader *r, int *pattern, int *sign)
{
  char object[WORD] = "", layout[WORD] = "", field[WORD] = "", symmetry[WORD] = "";

  r->line = 1;
  if (!fgets(r->text, LINE, r->file) || strncmp(r->text, "%%MatrixMarket", 14))
    return fault(r, "the first line must begin with %%%%MatrixMarket");
  sscanf(r->text + 14, "%31s %31s %31s %31s", object, layout, field, symmetry);
  if (strcasecmp(object, "matrix") || strcasecmp(layout, "coordinate"))
    return fault(r, "'%s %s' cannot be read, only 'matrix coordinate'", object, layout);
  *pattern = !strcasecmp(field, "pattern");
  if (!*pattern && strcasecmp(field, "real") && strcasecmp(field, "integer"))
    return fault(r, "the field '%s' cannot be read, only real, integer and pattern", field);
  *sign = !strcasecmp(symmetry, "symmetric") ? 1 : !strcasecmp(symmetry, "skew-symmetric") ? -1 : 0;
  if (*sign == 0 && strcasecmp(symmetry, "general"))
    return fault(r, "the symmetry '%s' cannot be read, only general, symmetric and skew-symmetric", symmetry);
  return 0;
}

static int read_sizes(Reader *r, int symmetric, MtxEntries *e, int64_t *stored)
{
  char *at = r->text;
  int   ended;

  if (next_line(r, &ended)) return 1;
  if (ended) return fault(r, "the file ends before the line of sizes");
  if (whole(&at, &e->rows) || whole(&at, &e->cols) || whole(&at, stored) || !is_end(at) || e->rows < 0 || e->cols < 0 ||
      *stored < 0)
    return fault(r, "rows, columns and entries are expected, three numbers that are not negative");
  if (symmetric && e->rows != e->cols)
    return fault(r, "a symmetric matrix is square, and this one is %" PRId64 " x %" PRId64, e->rows, e->cols);
  if (*stored > INT64_MAX / 32) return fault(r, "%" PRId64 " entries fit no memory", *stored);
  return 0;
}

static void add(MtxEntries *e, int64_t row, int64_t col, double value)
{
  e->row[e->count]     = row;
  e->col[e->count]     = col;
  e->value[e->count++] = value;
}

static int read_entry(Reader *r, int sign, MtxEntries *e)
{
  char   *at = r->text, *end;
  int64_t i, j;
  double  value = 1;

  if (whole(&at, &i) || whole(&at, &j)) return fault(r, "a row and a column are expected");
  if (i < 1 || i > e->rows || j < 1 || j > e->cols)
    return fault(r, "entry (%" PRId64 ", %" PRId64 ") lies outside of %" PRId64 " x %" PRId64, i, j, e->rows, e->cols);
  if (!e->pattern) {
    value = strtod(at, &end);
    if (end == at) return fault(r, "entry (%" PRId64 ", %" PRId64 ") has no value", i, j);
    at = end;
  }
  if (!is_end(at)) return fault(r, "there is more on the line than an entry");
  if (sign < 0 && i == j) return fault(r, "a skew-symmetric matrix has no entry on its diagonal");
  add(e, i - 1, j - 1, value);
  if (sign && i != j) add(e, j - 1, i - 1, sign * value);
  return 0;
}

/* Reports entries beyond the declared number, with the total number in the file */
static int fault_of_surplus(Reader *r, int64_t declared)
{
  const int64_t line  = r->line;
  int64_t       count = declared;
  int           ended = 0;

  for (; !ended; count++)
    if (next_line(r, &ended)) return 1;
  r->line = line;
  return fault(r, "%" PRId64 " entries are declared, and the file has %" PRId64, declared, count);
}

static int read_entries(Reader *r, int sign, int64_t declared, MtxEntries *e)
{
  int ended;

  for (int64_t k = 0; k < declared; k++) {
    if (next_line(r, &ended)) return 1;
    if (ended) return fault(r, "%" PRId64 " entries are declared, and the file ends after %" PRId64, declared, k);
    if (read_entry(r, sign, e)) return 1;
  }
  if (next_line(r, &ended)) return 1;
  return ended ? 0 : fault_of_surplus(r, declared);
}

static int read_all(Reader *r, MtxEntries *e)
{
  int64_t stored = 0, most; /* gcc does not see that it is set whenever read_sizes() succeeds */
  int     sign;

  if (read_banner(r, &e->pattern, &sign) || read_sizes(r, sign != 0, e, &stored)) return 1;
  most     = stored * (sign ? 2 : 1);
  e->row   = malloc((size_t)(most + 1) * sizeof *e->row);
  e->col   = malloc((size_t)(most + 1) * sizeof *e->col);
  e->value = malloc((size_t)(most + 1) * sizeof *e->value);
  if (!e->row || !e->col || !e->value) return fault(r, "no memory for %" PRId64 " entries", most);
  return read_entries(r, sign, stored, e);
}

int mtx_read(const char *path, MtxEntries *e, char message[MTX_MESSAGE])
{
  Reader r = {.file = fopen(path, "r"), .path = path, .message = message};
  int    failed;

  *e         = (MtxEntries){.rows = 0};
  message[0] = 0;
  if (!r.file) {
    snprintf(message, MTX_MESSAGE, "%.512s: cannot be opened: %s", path, strerror(errno));
    return 1;
  }
  failed = read_all(&r, e);
  fclose(r.file);
  if (failed) mtx_free(e);
  return failed;
}

void mtx_free(MtxEntries *e)
{
  free(e->row);
  free(e->col);
  free(e->value);
  *e = (MtxEntries){.rows = 0};
}
