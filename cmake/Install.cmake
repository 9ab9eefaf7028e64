# Headers, libraries, petscpack.pc and petscpackConfig.cmake (targets petscpack::spmvpack and petscpack::petscpack).
include(CMakePackageConfigHelpers)
set(config_dir ${CMAKE_INSTALL_LIBDIR}/cmake/petscpack)
set(installed_targets spmvpack)
set(PETSCPACK_HAS_PLUGIN OFF)
if(TARGET petscpack)
  list(APPEND installed_targets petscpack)
  set(PETSCPACK_HAS_PLUGIN ON)
endif()

file(GLOB public_headers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/include/*.h)
if(NOT PETSCPACK_HAS_PLUGIN)
  list(FILTER public_headers EXCLUDE REGEX "/petscpack[^/]*\\.h$")
endif()
install(FILES ${public_headers} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(TARGETS ${installed_targets} EXPORT petscpackTargets DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(EXPORT petscpackTargets NAMESPACE petscpack:: DESTINATION ${config_dir})

configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/petscpackConfig.cmake.in
                              ${CMAKE_BINARY_DIR}/petscpackConfig.cmake INSTALL_DESTINATION ${config_dir})
write_basic_package_version_file(${CMAKE_BINARY_DIR}/petscpackConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/petscpackConfig.cmake ${CMAKE_BINARY_DIR}/petscpackConfigVersion.cmake
        DESTINATION ${config_dir})

# petscpack.pc gives the prefix relative to its own folder, so that an installed tree may be moved
file(RELATIVE_PATH PC_UP /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
string(REGEX REPLACE "/$" "" PC_UP "${PC_UP}")
set(PC_LIBDIR ${CMAKE_INSTALL_LIBDIR})
set(PC_INCLUDEDIR ${CMAKE_INSTALL_INCLUDEDIR})
set(PC_VERSION ${PROJECT_VERSION})
if(PETSCPACK_HAS_PLUGIN)
  string(REGEX MATCH "^[0-9]+\\.[0-9]+" petsc_minor "${PETSC_VERSION}")
  string(REGEX MATCH "[0-9]+$" minor "${petsc_minor}")
  math(EXPR next_minor "${minor} + 1")
  string(REGEX REPLACE "[0-9]+$" "${next_minor}" petsc_next "${petsc_minor}")
  set(PC_REQUIRES "PETSc >= ${petsc_minor} PETSc < ${petsc_next}")
  set(PC_LIBS "-lpetscpack")
else()
  set(PC_REQUIRES "")
  set(PC_LIBS "-lspmvpack")
endif()
configure_file(${PROJECT_SOURCE_DIR}/petscpack.pc.in ${CMAKE_BINARY_DIR}/petscpack.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/petscpack.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

# The release tarball, of the current commit
if(EXISTS ${PROJECT_SOURCE_DIR}/.git)
  add_custom_target(dist COMMAND ${PROJECT_SOURCE_DIR}/scripts/dist.sh ${CMAKE_BINARY_DIR} VERBATIM)
endif()
