/* emulated.h - EMULATED is defined where the device is emulated: it can be told to fail, and it rounds like the host. */
#pragma once

#if defined(SPMV_HAVE_CUDA) && defined(__has_include)
  #if __has_include(<spmv_emulator.h>)
    #include <spmv_emulator.h>
    #define EMULATED
  #endif
#endif
