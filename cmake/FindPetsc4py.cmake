# Sets PETSCPACK_PYTHON_WITH_PETSC4PY to the Python of the system if it has the petsc4py of this PETSc; otherwise it is false.
find_program(PETSCPACK_SYSTEM_PYTHON NAMES python3 PATHS /usr/bin NO_DEFAULT_PATH)
set(PETSCPACK_PYTHON_WITH_PETSC4PY FALSE)
if(PETSCPACK_SYSTEM_PYTHON)
  execute_process(COMMAND ${PETSCPACK_SYSTEM_PYTHON} -c
                          "import petsc4py, os; print(os.path.realpath(petsc4py.get_config()['PETSC_DIR']))"
                  OUTPUT_VARIABLE petsc4py_dir ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
  get_filename_component(petsc_dir ${PETSC_CONF_H} DIRECTORY)
  get_filename_component(petsc_dir ${petsc_dir}/.. REALPATH)
  if(petsc4py_dir AND petsc4py_dir STREQUAL petsc_dir)
    set(PETSCPACK_PYTHON_WITH_PETSC4PY ${PETSCPACK_SYSTEM_PYTHON})
  else()
    message(STATUS "No petsc4py for this PETSc: tests and an example in Python are left out")
  endif()
endif()
