/* Tests of format fold: its arrays by hand. */
#include "unit.h"
#include "fold.h"
UNIT_TEST(fold_placeholder) { UNIT_CHECK(FOLD_LANES == 32); }
