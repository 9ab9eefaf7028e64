# Asks PETSc's own pkg-config file how to compile against it, and finds the MPI that PETSc was built with.
# Gives the targets PkgConfig::PETSC and (unless PETSc has no MPI) MPI::MPI_C, and the variables
#   PETSCPACK_MPIEXEC       the mpiexec of that MPI; empty without MPI
#   PETSCPACK_MPI_ENV       "NAME=value" settings that tests want around mpiexec
set(PETSC_DIR "$ENV{PETSC_DIR}" CACHE PATH "PETSc's folder; empty: the one that pkg-config finds")
set(PETSC_ARCH "$ENV{PETSC_ARCH}" CACHE STRING "PETSc's architecture; empty for an installed PETSc")
if(DEFINED ENV{PETSC_DIR} AND NOT "$ENV{PETSC_DIR}/$ENV{PETSC_ARCH}" STREQUAL "${PETSC_DIR}/${PETSC_ARCH}")
  message(FATAL_ERROR "This build folder belongs to the PETSc in '${PETSC_DIR}/${PETSC_ARCH}', the environment says "
                      "'$ENV{PETSC_DIR}/$ENV{PETSC_ARCH}': use another build folder, or delete this one")
endif()

find_package(PkgConfig QUIET)
if(NOT PkgConfig_FOUND)
  message(FATAL_ERROR "No pkg-config, which says where PETSc is: install it (Debian and Ubuntu: scripts/install-deps.sh)")
endif()
if(PETSC_DIR)
  set(ENV{PKG_CONFIG_PATH}
      "${PETSC_DIR}/${PETSC_ARCH}/lib/pkgconfig:${PETSC_DIR}/lib/pkgconfig:$ENV{PKG_CONFIG_PATH}")
endif()
pkg_check_modules(PETSC IMPORTED_TARGET PETSc>=3.18)
if(NOT PETSC_FOUND)
  message(FATAL_ERROR "No PETSc 3.18 or newer. Install one (Debian and Ubuntu: scripts/install-deps.sh), or set "
                      "PETSC_DIR (and PETSC_ARCH), or build the kernel library alone: -DPETSCPACK_PETSC=OFF")
endif()
pkg_get_variable(PETSC_MPICC PETSc ccompiler)
pkg_get_variable(PETSC_MPIEXEC PETSc mpiexec)
find_file(PETSC_CONF_H petscconf.h PATHS ${PETSC_INCLUDE_DIRS} NO_DEFAULT_PATH REQUIRED)
mark_as_advanced(PETSC_CONF_H)
message(STATUS "PETSc: ${PETSC_VERSION} in ${PETSC_INCLUDE_DIRS}")

file(STRINGS ${PETSC_CONF_H} no_mpi REGEX "PETSC_HAVE_MPIUNI")
file(STRINGS ${PETSC_CONF_H} open_mpi REGEX "PETSC_HAVE_(OMPI_MAJOR_VERSION|OPENMPI) ")
file(STRINGS ${PETSC_CONF_H} petsc_cuda REGEX "PETSC_HAVE_CUDA ")
file(STRINGS ${PETSC_CONF_H} petsc_complex REGEX "PETSC_USE_COMPLEX ")
set(PETSCPACK_MPIEXEC "")
# MPICH's shared-memory collectives spin without yielding: with more processes than free cores, a test takes ten times as long
set(PETSCPACK_MPI_ENV MPIR_CVAR_DEVICE_COLLECTIVES=none)
if(NOT no_mpi)
  if(NOT MPI_C_COMPILER)
    find_program(MPI_C_COMPILER ${PETSC_MPICC} REQUIRED)
  endif()
  find_package(MPI REQUIRED COMPONENTS C)
  get_filename_component(mpi_bin ${MPI_C_COMPILER} DIRECTORY)
  find_program(PETSCPACK_MPIEXEC_FOUND NAMES ${PETSC_MPIEXEC} mpiexec HINTS ${mpi_bin} NO_CACHE)
  if(PETSCPACK_MPIEXEC_FOUND)
    set(PETSCPACK_MPIEXEC ${PETSCPACK_MPIEXEC_FOUND})
  endif()
endif()
if(open_mpi)
  # More ranks than cores, and a container's root user, are normal in tests
  set(PETSCPACK_MPI_ENV OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
                        OMPI_MCA_btl_vader_single_copy_mechanism=none)
endif()
