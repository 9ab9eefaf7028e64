#include "fuzz.h"
const FuzzOperation fuzz_products[] = {{NULL, NULL, 0}};
