#include "fuzz.h"
const FuzzOperation fuzz_queries[] = {{NULL, NULL, 0}};
