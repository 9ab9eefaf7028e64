/* Tests of status texts and failure messages. */
#include "unit.h"
#include <spmv_kernels.h>
#include <string.h>

UNIT_TEST(every_status_has_its_own_text)
{
  for (int a = 0; a < SPMV_STATUS_COUNT; a++) {
    const char *text = spmv_status_text((SpmvStatus)a);
    UNIT_CHECK(text && text[0] && strcmp(text, "unknown status"));
    for (int b = 0; b < a; b++) UNIT_CHECK(strcmp(text, spmv_status_text((SpmvStatus)b)));
  }
}

UNIT_TEST(a_status_outside_the_list_is_unknown)
{
  UNIT_TEXT("unknown status", spmv_status_text(SPMV_STATUS_COUNT));
  UNIT_TEXT("unknown status", spmv_status_text((SpmvStatus)-1));
}

UNIT_TEST(fail_returns_its_status_and_formats_the_message)
{
  SpmvExec exec;

  spmv_exec_init(&exec, SPMV_HOST);
  UNIT_EQUAL(SPMV_ERR_MATRIX, spmv_fail(&exec, SPMV_ERR_MATRIX, "row %d of %s", 7, "A"));
  UNIT_TEXT("row 7 of A", exec.message);
  UNIT_EQUAL(SPMV_ERR_DEVICE, spmv_fail(NULL, SPMV_ERR_DEVICE, "nobody listens"));
}

UNIT_TEST(a_long_message_is_cut_and_ended)
{
  char     text[2 * SPMV_MESSAGE_MAX];
  SpmvExec exec;

  memset(text, 'm', sizeof text - 1);
  text[sizeof text - 1] = 0;
  spmv_exec_init(&exec, SPMV_HOST);
  spmv_fail(&exec, SPMV_ERR_ARGUMENT, "%s", text);
  UNIT_EQUAL(SPMV_MESSAGE_MAX - 1, strlen(exec.message));
}
