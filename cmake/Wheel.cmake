# The binary wheel (scripts/build_wheel.sh): the kernels once, a loader that PETSc loads as the plugin, and four variants for
# each pair of a minor version of PETSc and an MPI in PETSCPACK_WHEEL_VARIANTS. PETSCPACK_WHEEL_HEADERS has a folder for each
# pair, with the headers of that PETSc, configured for real scalars and 32-bit indices, in include/ and those of the MPI in
# mpi/. Two macros are all that a configuration with other scalars or indices changes: build_wheel.sh --check-kinds.
# No library is linked with PETSc or MPI.
if(NOT SKBUILD)
  message(FATAL_ERROR "PETSCPACK_WHEEL_VARIANTS is for scripts/build_wheel.sh")
endif()
set(wheel ${PROJECT_SOURCE_DIR}/packaging/wheel)
# Errors name the source file without the path that it had on the build machine
set(short_names -ffile-prefix-map=${PROJECT_SOURCE_DIR}/=)

# A wheel cannot hold symbolic links, so the library has no version in its file name. It exports only spmv_*, and no symbol
# of the CUDA runtime that is linked into it.
set_property(TARGET spmvpack PROPERTY VERSION)
set_property(TARGET spmvpack PROPERTY SOVERSION)
set_property(TARGET spmvpack PROPERTY INSTALL_RPATH "${PETSCPACK_FOLDERS_OF_PYPI}")
target_sources(spmvpack PRIVATE ${wheel}/not_the_plugin.c)
target_link_options(spmvpack PRIVATE LINKER:--exclude-libs,ALL LINKER:-Bsymbolic-functions LINKER:-z,nodelete LINKER:-z,defs)

add_library(petscpack_loader MODULE ${wheel}/loader.c)
set_target_properties(petscpack_loader PROPERTIES OUTPUT_NAME petscpack C_VISIBILITY_PRESET hidden)
target_include_directories(petscpack_loader PRIVATE ${PROJECT_SOURCE_DIR}/include)
target_compile_options(petscpack_loader PRIVATE ${short_names})
target_link_libraries(petscpack_loader PRIVATE petscpack_options ${CMAKE_DL_LIBS})
target_link_options(petscpack_loader PRIVATE LINKER:-z,nodelete LINKER:-z,defs)

# Without guard.c, which ends a process with another PETSc: the loader has already refused that PETSc with an error
file(GLOB_RECURSE plugin_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/*.c)
list(FILTER plugin_sources EXCLUDE REGEX "/src/kernels/|/guard\\.c$")
set(advisor ${PROJECT_SOURCE_DIR}/tools/advise)
set(advisor_sources advise.c costs.c facts.c json.c measure.c symmetry.c ../json_text.c)
list(TRANSFORM advisor_sources PREPEND ${advisor}/)

set(variant_kinds "" "-complex" "-64" "-64-complex")
set(variant_definitions_complex PETSC_USE_COMPLEX=1)
set(variant_definitions_64 PETSC_USE_64BIT_INDICES=1)

function(petscpack_variant pair kind)
  set(name ${pair}${kind})
  set(headers ${PETSCPACK_WHEEL_HEADERS}/${pair})
  add_library(variant-${name} MODULE ${plugin_sources} ${advisor_sources} ${wheel}/variant.c)
  set_target_properties(variant-${name} PROPERTIES
    PREFIX "" OUTPUT_NAME ${name} C_VISIBILITY_PRESET hidden INSTALL_RPATH "$ORIGIN/.."
    LIBRARY_OUTPUT_DIRECTORY ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/variants)
  target_include_directories(variant-${name} PRIVATE ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src/kernels
                                                     ${PROJECT_SOURCE_DIR}/src)
  target_include_directories(variant-${name} SYSTEM PRIVATE ${headers}/include ${headers}/mpi)
  target_compile_options(variant-${name} PRIVATE ${short_names} -Os) # a fifth smaller; loops over entries are in the kernels
  target_compile_definitions(variant-${name} PRIVATE PETSCPACK_VARIANT_NAME="${name}")
  string(REPLACE "-" ";" macros "${kind}")
  foreach(macro IN LISTS macros)
    target_compile_definitions(variant-${name} PRIVATE ${variant_definitions_${macro}})
  endforeach()
  target_link_libraries(variant-${name} PRIVATE petscpack_options spmvpack m)
  target_link_options(variant-${name} PRIVATE LINKER:-z,nodelete LINKER:-s)
  install(TARGETS variant-${name} LIBRARY DESTINATION petscpack/variants COMPONENT python)
endfunction()

set(variant_targets "")
foreach(pair IN LISTS PETSCPACK_WHEEL_VARIANTS)
  if(NOT EXISTS ${PETSCPACK_WHEEL_HEADERS}/${pair}/include/petscconf.h OR NOT EXISTS ${PETSCPACK_WHEEL_HEADERS}/${pair}/mpi/mpi.h)
    message(FATAL_ERROR "No configured headers of PETSc in ${PETSCPACK_WHEEL_HEADERS}/${pair}: scripts/build_wheel.sh makes them")
  endif()
  foreach(kind IN LISTS variant_kinds)
    petscpack_variant(${pair} "${kind}")
    list(APPEND variant_targets variant-${pair}${kind})
  endforeach()
endforeach()
add_custom_target(petscpack_wheel DEPENDS spmvpack petscpack_loader ${variant_targets})
install(TARGETS spmvpack petscpack_loader LIBRARY DESTINATION petscpack COMPONENT python)
install(FILES ${advisor}/petscpack-advise-html DESTINATION petscpack COMPONENT python)

list(TRANSFORM PETSCPACK_WHEEL_VARIANTS REPLACE "-.*" "" OUTPUT_VARIABLE minors)
list(REMOVE_DUPLICATES minors)
list(JOIN minors ", " PETSC_VERSION)
list(JOIN PETSCPACK_WHEEL_VARIANTS " " WHEEL_VARIANTS)
set(PETSC_LIBRARY_NAME "")
include(BuildInfo)
