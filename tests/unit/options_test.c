/* Tests of options: defaults, setting by number and by text, ranges, printed texts, and messages. */
#include "sample_format.h"
#include "unit.h"
#include <math.h>

static SpmvFormat  format;
static SpmvOptions options;
static char        message[SPMV_MESSAGE_MAX];

static void start(void)
{
  format = sample_format();
  spmv_options_init(&options, &format);
}

static double value_of(const char *key)
{
  double value = NAN;

  UNIT_EQUAL(SPMV_SUCCESS, spmv_options_get(&options, key, &value, message));
  return value;
}

static void set_taken(const char *key, double value)
{
  UNIT_EQUAL(SPMV_SUCCESS, spmv_options_set(&options, key, value, message));
  UNIT_CHECK(value_of(key) == value);
}

static void text_taken(const char *key, const char *text, double value)
{
  UNIT_EQUAL(SPMV_SUCCESS, spmv_options_set_text(&options, key, text, message));
  UNIT_CHECK(value_of(key) == value);
}

static void set_refused(const char *key, double value, const char *expected)
{
  double before = value_of(key);

  UNIT_EQUAL(SPMV_ERR_OPTION, spmv_options_set(&options, key, value, message));
  UNIT_TEXT(expected, message);
  UNIT_CHECK(value_of(key) == before);
}

static void text_refused(const char *key, const char *text, const char *expected)
{
  double before = value_of(key);

  UNIT_EQUAL(SPMV_ERR_OPTION, spmv_options_set_text(&options, key, text, message));
  UNIT_TEXT(expected, message);
  UNIT_CHECK(value_of(key) == before);
}

UNIT_TEST(options_start_with_their_defaults)
{
  start();
  UNIT_CHECK(options.format == &format);
  UNIT_CHECK(value_of("width") == 32);
  UNIT_CHECK(value_of("ratio") == 1.5);
  UNIT_CHECK(value_of("shade") == 1);
  UNIT_CHECK(value_of("sorted") == 1);
}

UNIT_TEST(numbers_inside_the_range_are_taken)
{
  start();
  set_taken("width", 1);
  set_taken("width", 1024);
  set_taken("ratio", 0.25);
  set_taken("shade", 2);
  set_taken("sorted", 0);
}

UNIT_TEST(numbers_outside_the_range_are_refused_and_change_nothing)
{
  start();
  set_refused("width", 0, "option width: 0 is outside its range 1 to 1024");
  set_refused("width", 1025, "option width: 1025 is outside its range 1 to 1024");
  set_refused("width", 2.5, "option width: 2.5 is not an integer");
  set_refused("ratio", -0.5, "option ratio: -0.5 is outside its range 0 to 10");
  set_refused("ratio", NAN, "option ratio: nan is outside its range 0 to 10");
  set_refused("ratio", INFINITY, "option ratio: inf is outside its range 0 to 10");
  set_refused("shade", 3, "option shade: 3 is outside its range 0 to 2");
  set_refused("shade", -1, "option shade: -1 is outside its range 0 to 2");
  set_refused("sorted", 2, "option sorted: 2 is outside its range 0 to 1");
}

UNIT_TEST(text_is_read_as_a_user_types_it)
{
  static const struct {
    const char *text;
    int         flag;
  } flags[] = {{"true", 1}, {"false", 0}, {"yes", 1}, {"no", 0}, {"on", 1}, {"off", 0}, {"1", 1}, {"0", 0}};

  start();
  text_taken("width", "64", 64);
  text_taken("ratio", "2.5e-1", 0.25);
  text_taken("shade", "dark", 2);
  for (int i = 0; i < 8; i++) {
    text_taken("sorted", flags[i].text, flags[i].flag);
  }
}

UNIT_TEST(text_that_makes_no_sense_is_refused)
{
  start();
  text_refused("width", "wide", "option width: wide is not a number");
  text_refused("width", "12x", "option width: 12x is not a number");
  text_refused("width", "", "option width:  is not a number");
  text_refused("width", "1e999", "option width: 1e999 is not a number");
  text_refused("width", "7.5", "option width: 7.5 is not an integer");
  text_refused("shade", "purple", "option shade: purple is not one of light medium dark");
  text_refused("sorted", "maybe", "option sorted: maybe is neither true nor false");
}

UNIT_TEST(messages_have_numbers_as_they_are_typed)
{
  static const SpmvOptionDesc bytes[] = {{"bytes", SPMV_OPTION_INT, 0, 0, 1e15, NULL, "memory", NULL}, {0}};

  start();
  format.options = bytes;
  spmv_options_init(&options, &format);
  set_refused("bytes", 1000000000000001.0, "option bytes: 1000000000000001 is outside its range 0 to 1000000000000000");
  set_refused("bytes", 6442450945.5, "option bytes: 6442450945.5 is not an integer");
  text_refused("bytes", "-6442450945", "option bytes: -6442450945 is outside its range 0 to 1000000000000000");
}

UNIT_TEST(values_have_the_text_that_a_user_types)
{
  static const struct {
    double      value;
    const char *text;
  } numbers[] = {{0, "0"},
                 {20, "20"},
                 {1e6, "1000000"},
                 {6442450945.0, "6442450945"},
                 {0.1, "0.1"},
                 {0.3, "0.3"},
                 {1e-5, "1e-05"},
                 {-2.5, "-2.5"},
                 {1234.5678, "1234.5678"},
                 {1e300, "1e+300"},
                 {1e15, "1000000000000000"},
                 {0.1 + 0.2, "0.30000000000000004"}};
  char text[64];

  start();
  for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
    spmv_option_text(&format.options[1], numbers[i].value, text, sizeof text);
    UNIT_TEXT(numbers[i].text, text);
  }
  spmv_option_text(&format.options[0], 64, text, sizeof text);
  UNIT_TEXT("64", text);
  spmv_option_text(&format.options[2], 2, text, sizeof text);
  UNIT_TEXT("dark", text);
  spmv_option_text(&format.options[3], 0, text, sizeof text);
  UNIT_TEXT("false", text);
  spmv_option_text(&format.options[3], 1, text, 4);
  UNIT_TEXT("tru", text);
}

UNIT_TEST(ranges_say_what_is_possible)
{
  static const char *const expected[] = {"1 to 1024", "0 to 10", "one of light medium dark", "true or false"};
  char                     text[64];

  start();
  for (int i = 0; i < 4; i++) {
    spmv_option_range(&format.options[i], text, sizeof text);
    UNIT_TEXT(expected[i], text);
  }
  spmv_option_range(&format.options[2], text, 10);
  UNIT_TEXT("one of li", text);
}

UNIT_TEST(an_unknown_key_names_the_known_ones)
{
  static const char expected[] = "format sample has no option depth; it has width ratio shade sorted";
  double            value      = 7;

  start();
  UNIT_EQUAL(SPMV_ERR_OPTION, spmv_options_set(&options, "depth", 1, message));
  UNIT_TEXT(expected, message);
  UNIT_EQUAL(SPMV_ERR_OPTION, spmv_options_set_text(&options, "depth", "1", message));
  UNIT_TEXT(expected, message);
  UNIT_EQUAL(SPMV_ERR_OPTION, spmv_options_get(&options, "depth", &value, message));
  UNIT_TEXT(expected, message);
  UNIT_CHECK(value == 7);
}

UNIT_TEST(a_format_without_options_says_so)
{
  start();
  format.options = NULL;
  spmv_options_init(&options, &format);
  UNIT_EQUAL(SPMV_ERR_OPTION, spmv_options_set(&options, "width", 1, message));
  UNIT_TEXT("format sample has no option width; it has none", message);
}

UNIT_TEST(a_key_of_any_length_cannot_overrun_the_message)
{
  static char key[2 * SPMV_MESSAGE_MAX];

  start();
  for (unsigned i = 0; i + 1 < sizeof key; i++) key[i] = 'k';
  UNIT_EQUAL(SPMV_ERR_OPTION, spmv_options_set(&options, key, 1, message));
  UNIT_EQUAL(SPMV_ERR_OPTION, spmv_options_set_text(&options, "shade", key, message));
  UNIT_EQUAL(SPMV_ERR_OPTION, spmv_options_set_text(&options, "width", key, message));
  UNIT_CONTAINS("option width: kkk", message);
}

/* No library has papers of the sample format, so values of a paper are refused as in a library without papers */
UNIT_TEST(values_of_papers_need_a_library_with_papers)
{
  static const double from[SPMV_OPTIONS_MAX] = {0, 3};

  start();
  format.paper_from = from;
  UNIT_CHECK(!spmv_options_of_paper(&options));
  UNIT_EQUAL(SPMV_SUCCESS, spmv_options_set(&options, "ratio", 2.75, message));
  set_refused(
      "ratio", 3,
      "option ratio: 3 is for comparison with a paper, and this library was built without papers: build it with "
      "-DPETSCPACK_PAPERS=ON");
  options.value[1] = 3;
  UNIT_CHECK(spmv_options_of_paper(&options));
}
