/* What the two halves of the emulator share */
#ifndef SPMV_EMULATOR_RUNTIME_H
#define SPMV_EMULATOR_RUNTIME_H

#include "emulator.h"

namespace spmv_emulator
{
void set_last_error(cudaError_t);
}
#endif
