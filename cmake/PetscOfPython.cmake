# In a build by pip without PETSC_DIR, uses the PETSc of the package petsc, if this Python has it. pip hides installed
# packages from a build by the variable PYTHONPATH, which the option -E ignores.
if(NOT "$ENV{PETSC_DIR}" STREQUAL "")
  return()
endif()
find_package(Python3 REQUIRED COMPONENTS Interpreter)
execute_process(COMMAND ${Python3_EXECUTABLE} -E -c "import petsc; print(petsc.get_petsc_dir())"
                WORKING_DIRECTORY ${CMAKE_BINARY_DIR} OUTPUT_VARIABLE petsc_of_python ERROR_QUIET
                OUTPUT_STRIP_TRAILING_WHITESPACE)
if(petsc_of_python)
  set(PETSC_DIR "${petsc_of_python}" CACHE PATH "PETSc's folder")
endif()
