#include "fuzz.h"
const FuzzOperation fuzz_renewals[] = {{NULL, NULL, 0}};
