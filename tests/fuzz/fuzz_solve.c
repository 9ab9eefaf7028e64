#include "fuzz.h"
const FuzzOperation fuzz_solve[] = {{NULL, NULL, 0}};
