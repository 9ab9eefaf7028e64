# petscpack_test(name RANKS n LABELS a b COMMAND target arguments... [WILL_FAIL])
#
# Runs a program with mpiexec when n > 1. Every run has -malloc_dump: memory that is not freed at PetscFinalize() fails it.
include_guard()

function(petscpack_test name)
  cmake_parse_arguments(TEST "" "RANKS;TIMEOUT" "LABELS;COMMAND" ${ARGN})
  list(POP_FRONT TEST_COMMAND program)
  if(TEST_RANKS GREATER 1 AND NOT PETSCPACK_MPIEXEC)
    return()
  endif()
  set(launch "")
  if(TEST_RANKS GREATER 1)
    set(launch ${PETSCPACK_MPIEXEC} -n ${TEST_RANKS})
  endif()
  if(NOT TEST_TIMEOUT)
    set(TEST_TIMEOUT 600)
  endif()
  add_test(NAME ${name} COMMAND ${launch} $<TARGET_FILE:${program}> ${TEST_COMMAND} -malloc_dump -options_left no
                                -use_gpu_aware_mpi 0)
  set_tests_properties(${name} PROPERTIES LABELS "${TEST_LABELS}" TIMEOUT ${TEST_TIMEOUT} PROCESSORS ${TEST_RANKS}
                                          ENVIRONMENT "${PETSCPACK_MPI_ENV};OMP_NUM_THREADS=1"
                                          FAIL_REGULAR_EXPRESSION "\\[ *[0-9]+\\] *([0-9]+ bytes|Total space)")
endfunction()
