/* What the generator files share. */
#ifndef SPMV_GEN_PRIVATE_H
#define SPMV_GEN_PRIVATE_H

#include "gen.h"

/* A spec with sizes and row function, all else zero */
GenSpec gen_spec(int64_t rows, int64_t cols, GenRow row);

#endif
