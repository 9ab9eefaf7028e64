# Warnings, sanitizers and the one portable flag that host kernels need, as a target that both libraries and the tests use.
include(CheckCCompilerFlag)

add_library(petscpack_options INTERFACE)
target_compile_options(petscpack_options INTERFACE $<$<COMPILE_LANGUAGE:C>:-Wall;-Wextra>)
if(PETSCPACK_WERROR)
  target_compile_options(petscpack_options INTERFACE $<$<COMPILE_LANGUAGE:C>:-Werror>)
endif()

# `#pragma omp simd` without the OpenMP runtime
check_c_compiler_flag(-fopenmp-simd PETSCPACK_HAVE_OPENMP_SIMD)
if(PETSCPACK_HAVE_OPENMP_SIMD)
  target_compile_options(petscpack_options INTERFACE $<$<COMPILE_LANGUAGE:C>:-fopenmp-simd>)
endif()

# Programs of the build are linked with the sanitizers, and can load a plugin that was built with them. Programs without the
# sanitizers cannot: tests that load the plugin into PETSc's programs (golden, differential, example) fail in such a build.
if(SPMV_SANITIZE)
  set(sanitizers -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_compile_options(petscpack_options INTERFACE $<$<COMPILE_LANGUAGE:C>:${sanitizers};-O1>)
  target_link_options(petscpack_options INTERFACE ${sanitizers})
endif()
