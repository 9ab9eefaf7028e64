# libspmvpack: the formats of formats.def and their kernels, without PETSc.
#
# Sources are compiled once (spmvpack_objects) and used three times: in the shared library, which exports only its public
# functions, in the plugin libpetscpack, and in the static library spmvpack_internal, through which unit tests reach
# private functions.
set(kernels ${PROJECT_SOURCE_DIR}/src/kernels)

file(STRINGS ${kernels}/formats.def format_lines REGEX "^SPMV_FORMAT")
set(SPMV_FORMATS "")
foreach(line IN LISTS format_lines)
  string(REGEX REPLACE "^SPMV_FORMAT\\(([a-z0-9]+),.*" "\\1" name "${line}")
  list(APPEND SPMV_FORMATS ${name})
endforeach()
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${kernels}/formats.def)
message(STATUS "Formats: ${SPMV_FORMATS}")

set(SPMV_FOLDERS core device plan engine nccl direct factor cg gmres cycle predict spgemm graph aggregate coo extremes ${SPMV_FORMATS} fold/stream)
if(PETSCPACK_PAPERS)
  list(APPEND SPMV_FOLDERS papers)
endif()

file(GLOB kernel_sources CONFIGURE_DEPENDS ${kernels}/*.c)
foreach(folder IN LISTS SPMV_FOLDERS)
  file(GLOB sources CONFIGURE_DEPENDS ${kernels}/${folder}/*.c)
  list(FILTER sources EXCLUDE REGEX "_test\\.c$")
  list(APPEND kernel_sources ${sources})
  if(SPMV_CUDA_ENABLED)
    file(GLOB sources CONFIGURE_DEPENDS ${kernels}/${folder}/*.cu)
    list(FILTER sources EXCLUDE REGEX "_test\\.cu$")
    list(APPEND kernel_sources ${sources})
    if(PETSCPACK_CUDA STREQUAL "EMULATED")
      set_source_files_properties(${sources} PROPERTIES LANGUAGE CXX COMPILE_OPTIONS "-xc++;-Wno-unknown-pragmas")
    endif()
  endif()
endforeach()

add_library(spmvpack_objects OBJECT ${kernel_sources})
target_include_directories(spmvpack_objects PUBLIC ${PROJECT_SOURCE_DIR}/include PRIVATE ${kernels})
if(PETSCPACK_PAPERS)
  set_property(SOURCE ${kernels}/registry.c PROPERTY COMPILE_DEFINITIONS SPMV_PAPERS)
endif()
# The host is the reference for the bits of the device
set_property(SOURCE ${kernels}/factor/factor_host.c PROPERTY COMPILE_OPTIONS -ffp-contract=off)
find_package(Threads REQUIRED)
target_link_libraries(spmvpack_objects PUBLIC petscpack_options Threads::Threads ${CMAKE_DL_LIBS})
set_target_properties(spmvpack_objects PROPERTIES C_VISIBILITY_PRESET hidden CXX_VISIBILITY_PRESET hidden
                                                  CUDA_VISIBILITY_PRESET hidden)
if(SPMV_CUDA_ENABLED)
  target_compile_definitions(spmvpack_objects PUBLIC SPMV_HAVE_CUDA)
  target_link_libraries(spmvpack_objects PUBLIC ${SPMV_CUDART})
endif()

# Where packages of PyPI (nvidia-nccl-cu13, nvidia-cudss-cu13, nvidia-cudss-cu12) have their libraries, seen from a library in the package petscpack
# beside them: dlopen() looks into the RUNPATH of the library that calls it
set(PETSCPACK_FOLDERS_OF_PYPI "$ORIGIN/../nvidia/nccl/lib" "$ORIGIN/../nvidia/cu13/lib" "$ORIGIN/../nvidia/cu12/lib")

add_library(spmvpack SHARED)
add_library(petscpack::spmvpack ALIAS spmvpack)
set_target_properties(spmvpack PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR} LINKER_LANGUAGE C)
target_include_directories(spmvpack PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
                                           $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_link_libraries(spmvpack PRIVATE spmvpack_objects m)

add_library(spmvpack_internal STATIC EXCLUDE_FROM_ALL)
set_target_properties(spmvpack_internal PROPERTIES LINKER_LANGUAGE C)
target_include_directories(spmvpack_internal PUBLIC ${PROJECT_SOURCE_DIR}/include ${kernels})
target_link_libraries(spmvpack_internal PUBLIC spmvpack_objects m)
