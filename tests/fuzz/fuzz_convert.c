#include "fuzz.h"
const FuzzOperation fuzz_convert[] = {{NULL, NULL, 0}};
