/* The reader of Matrix Market files: what it reads, and its errors, which name the file and the line. */
#include "../../tools/matrix_market.h"
#include <stdio.h>
#include <string.h>

#define BANNER "%%MatrixMarket matrix coordinate "

static int passed, failed;

static void check(int good, const char *what)
{
  *(good ? &passed : &failed) += 1;
  if (!good) printf("failed: %s\n", what);
}

static const char path[] = "mtx_test_file.mtx";

/* Reads a file with this text */
static int read_text(const char *text, MtxEntries *e, char message[MTX_MESSAGE])
{
  FILE *out = fopen(path, "w");
  int   wrong;

  if (!out || fputs(text, out) < 0 || fclose(out)) {
    perror(path);
    return -1;
  }
  wrong = mtx_read(path, e, message);
  remove(path);
  return wrong;
}

static void expect_entries(const char *text, int64_t rows, int64_t cols, int count, const double entries[][3])
{
  MtxEntries e;
  char       message[MTX_MESSAGE];
  int        same = read_text(text, &e, message) == 0 && e.rows == rows && e.cols == cols && e.count == count;

  for (int k = 0; same && k < count; k++)
    same = (double)e.row[k] == entries[k][0] && (double)e.col[k] == entries[k][1] && e.value[k] == entries[k][2];
  check(same, text);
  mtx_free(&e);
}

static void expect_error(const char *text, const char *wanted)
{
  MtxEntries e;
  char       message[MTX_MESSAGE];
  const int  wrong = read_text(text, &e, message);

  check(wrong == 1 && !strncmp(message, path, strlen(path)) && !strcmp(message + strlen(path), wanted), wanted);
  if (wrong == 1 && strcmp(message + strlen(path), wanted)) printf("  the message is %s\n", message);
}

static void read_entries(void)
{
  expect_entries(BANNER "real general\n% comment\n\n2 3 2\n1 3 -2.5e1\n\n2 1 7\n", 2, 3, 2,
                 (const double[][3]){{0, 2, -25}, {1, 0, 7}});
  expect_entries(BANNER "Integer Symmetric\r\n3 3 2\r\n1 1 4\r\n3 1 5\r\n", 3, 3, 3,
                 (const double[][3]){{0, 0, 4}, {2, 0, 5}, {0, 2, 5}});
  expect_entries(BANNER "real skew-symmetric\n2 2 1\n2 1 3\n", 2, 2, 2, (const double[][3]){{1, 0, 3}, {0, 1, -3}});
  expect_entries(BANNER "pattern general\n2 2 1\n1 2", 2, 2, 1, (const double[][3]){{0, 1, 1}});
  expect_entries(BANNER "real general\n0 0 0\n", 0, 0, 0, NULL);
  expect_entries(BANNER "pattern general\n2 2 1\n1 2\n\n% the end\n", 2, 2, 1, (const double[][3]){{0, 1, 1}});
}

static void read_errors(void)
{
  expect_error("%MatrixMarket\n", ":1: the first line must begin with %%MatrixMarket");
  expect_error("", ":1: the first line must begin with %%MatrixMarket");
  expect_error("%%MatrixMarket matrix array real general\n",
               ":1: 'matrix array' cannot be read, only 'matrix coordinate'");
  expect_error(BANNER "complex general\n", ":1: the field 'complex' cannot be read, only real, integer and pattern");
  expect_error(BANNER "real hermitian\n",
               ":1: the symmetry 'hermitian' cannot be read, only general, symmetric and skew-symmetric");
  expect_error(BANNER "real general\n% only\n", ":2: the file ends before the line of sizes");
  expect_error(BANNER "real general\n4 4\n",
               ":2: rows, columns and entries are expected, three numbers that are not negative");
  expect_error(BANNER "real general\n4 -4 1\n",
               ":2: rows, columns and entries are expected, three numbers that are not negative");
  expect_error(BANNER "real symmetric\n3 4 0\n", ":2: a symmetric matrix is square, and this one is 3 x 4");
  expect_error(BANNER "real general\n4 4 2\n1 1 2\n5 1 3\n", ":4: entry (5, 1) lies outside of 4 x 4");
  expect_error(BANNER "real general\n4 4 2\n1 0 2\n", ":3: entry (1, 0) lies outside of 4 x 4");
  expect_error(BANNER "real general\n4 4 2\n1 1 2\n", ":3: 2 entries are declared, and the file ends after 1");
  expect_error(BANNER "real general\n4 4 2\n% none\n\n", ":4: 2 entries are declared, and the file ends after 0");
  expect_error(BANNER "real general\n4 4 2\n1 1 2\n\n2 2 3\n% more\n3 3 4\n\n4 4 5\n\n",
               ":7: 2 entries are declared, and the file has 4");
  expect_error(BANNER "pattern symmetric\n4 4 0\n1 1", ":3: 0 entries are declared, and the file has 1");
  expect_error(BANNER "real general\n4 4 1\n1 1\n", ":3: entry (1, 1) has no value");
  expect_error(BANNER "real general\n4 4 1\n1 1 1 1\n", ":3: there is more on the line than an entry");
  expect_error(BANNER "real general\n4 4 1\n1.5 1 1\n", ":3: a row and a column are expected");
  expect_error(BANNER "real skew-symmetric\n4 4 1\n2 2 1\n",
               ":3: a skew-symmetric matrix has no entry on its diagonal");
}

int main(void)
{
  MtxEntries e;
  char       message[MTX_MESSAGE];

  read_entries();
  read_errors();
  check(mtx_read("no such file", &e, message) == 1 && strstr(message, "no such file: cannot be opened"), "no file");
  printf("%d passed, %d failed\n", passed, failed);
  return failed > 0;
}
