/* Tests of the registry: lookup, and refusal of incomplete formats. */
#include "sample_format.h"
#include "unit.h"
#include <string.h>

static char message[SPMV_MESSAGE_MAX];

UNIT_TEST(every_format_is_complete_and_found_by_its_name)
{
  UNIT_CHECK(spmv_format_count() > 0);
  UNIT_EQUAL(SPMV_SUCCESS, spmv_registry_check(message));
  UNIT_TEXT("", message);
  for (int i = 0; i < spmv_format_count(); i++) {
    const SpmvFormat *f = spmv_format_get(i);
    UNIT_CHECK(f != NULL);
    UNIT_CHECK(spmv_format_find(f->name) == f);
    UNIT_EQUAL(SPMV_SUCCESS, spmv_format_check(f, message));
  }
}

UNIT_TEST(names_and_positions_outside_the_registry_give_null)
{
  UNIT_CHECK(spmv_format_get(-1) == NULL);
  UNIT_CHECK(spmv_format_get(spmv_format_count()) == NULL);
  UNIT_CHECK(spmv_format_find("no such format") == NULL);
  UNIT_CHECK(spmv_format_find("") == NULL);
}

UNIT_TEST(defaults_of_every_format_lie_in_their_ranges)
{
  for (int i = 0; i < spmv_format_count(); i++) {
    SpmvOptions options;
    spmv_options_init(&options, spmv_format_get(i));
    for (const SpmvOptionDesc *d = spmv_format_get(i)->options; d && d->key; d++)
      if (!UNIT_EQUAL(SPMV_SUCCESS, spmv_options_set(&options, d->key, d->default_value, message)))
        UNIT_TEXT("", message);
  }
}

static void refused(const SpmvFormat *broken, const char *part)
{
  UNIT_EQUAL(SPMV_ERR_FORMAT, spmv_format_check(broken, message));
  UNIT_CONTAINS(part, message);
}

UNIT_TEST(a_complete_sample_passes)
{
  SpmvFormat f = sample_format();

  UNIT_EQUAL(SPMV_SUCCESS, spmv_format_check(&f, message));
  UNIT_TEXT("", message);
}

UNIT_TEST(another_abi_is_refused)
{
  SpmvFormat f = sample_format();

  f.abi = SPMV_ABI + 1;
  refused(&f, "format sample: built for another SPMV_ABI");
}

UNIT_TEST(a_missing_name_or_summary_is_refused)
{
  SpmvFormat f = sample_format();

  f.name = NULL;
  refused(&f, "no name or summary");
  f         = sample_format();
  f.summary = NULL;
  refused(&f, "no name or summary");
}

/* A broken table of slots is refused for the host and for the device */
static void slots_refused(const SpmvSlots *broken, const char *part)
{
  SpmvFormat f = sample_format();

  f.host = broken;
  refused(&f, part);
  f.host   = NULL;
  f.device = broken;
  refused(&f, part);
}

static void slots_accepted(const SpmvSlots *complete)
{
  SpmvFormat f = sample_format();

  f.host = complete;
  UNIT_EQUAL(SPMV_SUCCESS, spmv_format_check(&f, message));
  UNIT_TEXT("", message);
}

UNIT_TEST(each_mandatory_slot_is_missed)
{
  for (int slot = 0; slot < 6; slot++) {
    SpmvSlots s = sample_slots();
    if (slot == 0) s.analyze = NULL;
    if (slot == 1) s.build = NULL;
    if (slot == 2) s.mult = NULL;
    if (slot == 3) s.view = NULL;
    if (slot == 5) s.update_values = NULL;
    if (slot == 4) s.plan_bytes = sizeof(SpmvPlan) - 1;
    slots_refused(&s, "a mandatory slot is NULL");
  }
}

UNIT_TEST(a_format_has_plans_somewhere)
{
  const SpmvSlots s = sample_slots();
  SpmvFormat      f = sample_format();

  f.host = NULL;
  refused(&f, "neither host nor device");
  f.device = &s;
  UNIT_EQUAL(SPMV_SUCCESS, spmv_format_check(&f, message));
}

static SpmvStatus list_nothing(const SpmvPlan *plan, const SpmvNonzeros *list, SpmvExec *exec)
{
  (void)plan;
  (void)list;
  (void)exec;
  return SPMV_SUCCESS;
}

UNIT_TEST(transposed_products_need_one_of_three_slots)
{
  SpmvSlots s = sample_slots();

  s.add_transposed = NULL;
  slots_refused(&s, "no slot for transposed products");
  s.list_nonzeros = list_nothing;
  slots_accepted(&s);
}

UNIT_TEST(values_that_go_into_a_plan_must_come_out_again)
{
  SpmvSlots s = sample_slots();

  s.extract_values = NULL;
  slots_refused(&s, "no slot that reads values back");
  s.list_nonzeros = list_nothing;
  slots_accepted(&s);
}

UNIT_TEST(an_option_without_help_or_choices_is_refused)
{
  SpmvOptionDesc table[2];
  SpmvFormat     f = sample_format();

  memset(table, 0, sizeof table);
  f.options = table;
  table[0]  = (SpmvOptionDesc){"width", SPMV_OPTION_INT, 1, 0, 2, NULL, NULL, NULL};
  refused(&f, "help or choices");
  table[0] = (SpmvOptionDesc){"shade", SPMV_OPTION_ENUM, 0, 0, 0, NULL, "help", NULL};
  refused(&f, "help or choices");
}

UNIT_TEST(too_many_options_are_refused)
{
  SpmvOptionDesc table[SPMV_OPTIONS_MAX + 2];
  SpmvFormat     f = sample_format();

  memset(table, 0, sizeof table);
  for (int i = 0; i <= SPMV_OPTIONS_MAX; i++)
    table[i] = (SpmvOptionDesc){"o", SPMV_OPTION_INT, 1, 0, 2, NULL, "help", NULL};
  f.options = table;
  refused(&f, "SPMV_OPTIONS_MAX");
  table[SPMV_OPTIONS_MAX].key = NULL;
  UNIT_EQUAL(SPMV_SUCCESS, spmv_format_check(&f, message));
}
