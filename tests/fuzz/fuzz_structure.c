#include "fuzz.h"
const FuzzOperation fuzz_structure[] = {{NULL, NULL, 0}};
