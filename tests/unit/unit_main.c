/* unit_main.c - unit_kernels [FILE or TEST ...] runs all unit tests, or those of the given files or names, and prints
   "N passed, M failed", which counts tests. */
#include "unit.h"
#include <stdio.h>
#include <string.h>

enum { TESTS_MAX = 512 };

static struct {
  const char *file, *name;
  void (*test)(void);
} tests[TESTS_MAX];
static int test_count, failed_checks;

static const char *base_name(const char *path)
{
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

void unit_add(const char *file, const char *name, void (*test)(void))
{
  if (test_count < TESTS_MAX) {
    tests[test_count].file = base_name(file);
    tests[test_count].name = name;
    tests[test_count].test = test;
  }
  test_count++;
}

static int failed(const char *file, int line)
{
  failed_checks++;
  printf("%s:%d: ", file, line);
  return 0;
}

int unit_check(int ok, const char *file, int line, const char *text)
{
  if (ok) return 1;
  failed(file, line);
  printf("%s does not hold\n", text);
  return 0;
}

int unit_equal(int64_t expected, int64_t got, const char *file, int line, const char *text)
{
  if (expected == got) return 1;
  failed(file, line);
  printf("%s is %lld, expected %lld\n", text, (long long)got, (long long)expected);
  return 0;
}

int unit_text(const char *expected, const char *got, const char *file, int line)
{
  if (got && !strcmp(expected, got)) return 1;
  failed(file, line);
  printf("got      \"%s\"\n  expected \"%s\"\n", got ? got : "(NULL)", expected);
  return 0;
}

int unit_contains(const char *part, const char *got, const char *file, int line)
{
  if (got && strstr(got, part)) return 1;
  failed(file, line);
  printf("\"%s\" does not contain \"%s\"\n", got ? got : "(NULL)", part);
  return 0;
}

static int selected(const char *file, const char *name, int argc, char **argv)
{
  for (int i = 1; i < argc; i++)
    if (!strcmp(argv[i], file) || !strcmp(argv[i], name)) return 1;
  return argc == 1;
}

int main(int argc, char **argv)
{
  int passed = 0, failures = 0;

  if (test_count > TESTS_MAX) {
    printf("more than %d tests: raise TESTS_MAX\n", TESTS_MAX);
    return 1;
  }
  setvbuf(stdout, NULL, _IOLBF, 0); /* so that messages before a crash are printed */
  for (int i = 0; i < test_count; i++) {
    if (!selected(tests[i].file, tests[i].name, argc, argv)) continue;
    failed_checks = 0;
    tests[i].test();
    if (failed_checks) printf("FAILED %s (%s)\n", tests[i].name, tests[i].file);
    if (failed_checks) failures++;
    else passed++;
  }
  printf("%d passed, %d failed\n", passed, failures);
  return failures == 0 && passed > 0 ? 0 : 1;
}
