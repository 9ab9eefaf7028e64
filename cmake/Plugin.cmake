# libpetscpack: the PETSc types, as a library that PETSc loads by -dll_append or that a program links.
# PETSc derives the name of the entry point from the file name, so the name never changes (no debug postfix).
#
# The library contains the kernels, so that it can be copied as one file. It calls its own copy even in a process that has
# loaded another libspmvpack. It exports the kernels, so that a program that links petscpack shares their state with the
# plugin.
file(GLOB_RECURSE plugin_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/*.c)
list(FILTER plugin_sources EXCLUDE REGEX "/src/kernels/")

add_library(petscpack SHARED ${plugin_sources})
add_library(petscpack::petscpack ALIAS petscpack)
set_target_properties(petscpack PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}
                                           C_VISIBILITY_PRESET hidden DEBUG_POSTFIX "" LINKER_LANGUAGE C)
target_include_directories(petscpack PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
                                            $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>
                                     PRIVATE ${PROJECT_SOURCE_DIR}/src/kernels ${PROJECT_SOURCE_DIR}/src)
target_link_libraries(petscpack PUBLIC PkgConfig::PETSC PRIVATE spmvpack_objects m)
target_link_options(petscpack PRIVATE LINKER:-Bsymbolic-functions)
if(TARGET MPI::MPI_C)
  target_link_libraries(petscpack PUBLIC MPI::MPI_C)
endif()
if(petsc_cuda)
  # PETSc's public headers then include headers of the CUDA runtime, even for a plugin without GPU code
  find_package(CUDAToolkit REQUIRED)
  target_link_libraries(petscpack PUBLIC CUDA::cudart)
  target_include_directories(petscpack SYSTEM PUBLIC ${CUDAToolkit_INCLUDE_DIRS})
endif()
# A library that has registered types and may hold a CUDA module must stay mapped until the process ends. initfirst: see
# guard.c. With it, our GPU code registers itself before the constructors of libcudart have run; libcudart allows that,
# because it makes its state at the first call.
target_link_options(petscpack PRIVATE LINKER:-z,nodelete LINKER:-z,initfirst LINKER:-z,defs)
