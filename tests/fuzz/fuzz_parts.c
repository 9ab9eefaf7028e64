#include "fuzz.h"
const FuzzOperation fuzz_parts[] = {{NULL, NULL, 0}};
