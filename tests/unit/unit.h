/*
  unit.h - a tiny test harness. A test file is C code with

    UNIT_TEST(name_of_what_holds)
    {
      UNIT_CHECK(condition);
      UNIT_EQUAL(expected integer, integer);
      UNIT_ARRAY(type, array, expected integers ...);
      UNIT_TEXT("expected", text);
      UNIT_CONTAINS("part", text);
    }

  Every file tests/unit/<x>_test.c and src/kernels/<folder>/<x>_test.c becomes part of the program unit_kernels, and one
  CTest test. A check that fails is printed and counted; the test goes on.
*/
#ifndef SPMV_UNIT_H
#define SPMV_UNIT_H

#include <stddef.h>
#include <stdint.h>

void unit_add(const char *file, const char *name, void (*test)(void));
int  unit_check(int ok, const char *file, int line, const char *text);
int  unit_equal(int64_t expected, int64_t got, const char *file, int line, const char *text);
int  unit_text(const char *expected, const char *got, const char *file, int line);
int  unit_contains(const char *part, const char *got, const char *file, int line);

#define UNIT_TEST(name)                                                                                                \
  static void                              name(void);                                                                 \
  __attribute__((constructor)) static void unit_add_##name(void) { unit_add(__FILE__, #name, name); }                  \
  static void                              name(void)

#define UNIT_CHECK(condition)     unit_check(!!(condition), __FILE__, __LINE__, #condition)
#define UNIT_EQUAL(expected, got) unit_equal((int64_t)(expected), (int64_t)(got), __FILE__, __LINE__, #got)
/* Checks that an array begins with these integers: UNIT_ARRAY(double, array, 1, 2, 3) */
#define UNIT_ARRAY(type, got, ...)                                                                                     \
  for (size_t i_ = 0; i_ < sizeof((const type[]){__VA_ARGS__}) / sizeof(type); i_++)                                   \
  UNIT_EQUAL(((const type[]){__VA_ARGS__})[i_], ((const type *)(got))[i_])
#define UNIT_TEXT(expected, got) unit_text(expected, got, __FILE__, __LINE__)
#define UNIT_CONTAINS(part, got) unit_contains(part, got, __FILE__, __LINE__)

#endif
