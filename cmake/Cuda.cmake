# Decides whether GPU code is built, and how. Sets SPMV_CUDA_ENABLED.
set(SPMV_CUDA_ENABLED OFF)

if(PETSCPACK_CUDA STREQUAL "AUTO")
  # A toolkit in its usual place counts even when nvcc is not on the PATH
  if(NOT CMAKE_CUDA_COMPILER AND NOT DEFINED ENV{CUDACXX})
    find_program(PETSCPACK_NVCC nvcc HINTS ENV CUDA_HOME ENV CUDA_PATH PATHS /usr/local/cuda PATH_SUFFIXES bin)
    mark_as_advanced(PETSCPACK_NVCC)
    if(PETSCPACK_NVCC)
      set(CMAKE_CUDA_COMPILER ${PETSCPACK_NVCC})
    endif()
  endif()
  if(CMAKE_CUDA_COMPILER OR DEFINED ENV{CUDACXX})
    set(SPMV_CUDA_ENABLED ON)
  endif()
elseif(PETSCPACK_CUDA)
  set(SPMV_CUDA_ENABLED ON)
endif()

if(SPMV_CUDA_ENABLED)
  # "90" is code for sm_90 and PTX for whatever is newer; a list of numbers builds for several
  if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
    set(CMAKE_CUDA_ARCHITECTURES 90 CACHE STRING "GPU architectures to build for, as 75;80;90")
  endif()
  # The CUDA runtime that PETSc uses is the shared one, and a process must hold only one
  set(CMAKE_CUDA_RUNTIME_LIBRARY Shared)
  enable_language(CUDA)
  find_package(CUDAToolkit 12.4 REQUIRED)
  set(CMAKE_CUDA_STANDARD 17)
  set(CMAKE_CUDA_STANDARD_REQUIRED ON)
  target_compile_options(petscpack_options INTERFACE $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-Wall,-Wextra>)
  if(PETSCPACK_WERROR)
    target_compile_options(petscpack_options INTERFACE
      $<$<COMPILE_LANGUAGE:CUDA>:-Werror=all-warnings;-Xcompiler=-Werror>)
  endif()
  message(STATUS "GPU code: CUDA ${CUDAToolkit_VERSION}, architectures ${CMAKE_CUDA_ARCHITECTURES}")
else()
  message(STATUS "GPU code: none (PETSCPACK_CUDA=${PETSCPACK_CUDA}; no nvcc, or switched off)")
endif()
