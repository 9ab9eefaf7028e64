# Additions for a build by pip through scikit-build-core: the package petscpack gets the plugin, a module that describes the
# build, and the library of tools/advise. A wheel cannot hold symbolic links, so the plugin has no version in its file
# name there.
set_property(TARGET petscpack PROPERTY VERSION)
set_property(TARGET petscpack PROPERTY SOVERSION)
set_property(TARGET petscpack APPEND PROPERTY INSTALL_RPATH "${PETSCPACK_FOLDERS_OF_PYPI}")
install(TARGETS petscpack LIBRARY DESTINATION petscpack COMPONENT python)

# The name (SONAME) under which the loader finds PETSc, such as libpetsc_real.so.3.18
set(petsc_library ${PETSC_LINK_LIBRARIES})
list(FILTER petsc_library INCLUDE REGEX "/libpetsc[^/]*\\.so$")
if(NOT petsc_library)
  message(FATAL_ERROR "The PETSc in ${PETSC_INCLUDE_DIRS} is not a shared library: Python programs cannot use it")
endif()
list(GET petsc_library 0 petsc_library)
get_filename_component(petsc_library ${petsc_library} REALPATH)
get_filename_component(petsc_library ${petsc_library} NAME)
string(REGEX MATCH "^.*\\.so\\.[0-9]+\\.[0-9]+" PETSC_LIBRARY_NAME ${petsc_library})
if(NOT PETSC_LIBRARY_NAME)
  message(FATAL_ERROR "The file ${petsc_library} of PETSc has no version in its name, as libpetsc.so.3.18 has")
endif()
include(BuildInfo)
