# petscpack_test(name RANKS n LABELS a b [TIMEOUT s] [SKIP code] [PASS regex] [FAIL regex] [ENVIRONMENT a=b ...]
#                COMMAND target arguments...)
#
# Runs a program with mpiexec when n > 1. Every run has -malloc_dump: memory that is not freed at PetscFinalize() fails it,
# unless FAIL says otherwise.
include_guard()

function(petscpack_test name)
  # PARSE_ARGV keeps the semicolons of regular expressions
  cmake_parse_arguments(PARSE_ARGV 1 TEST "" "RANKS;TIMEOUT;SKIP;PASS;FAIL" "LABELS;ENVIRONMENT;COMMAND")
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
  if(NOT TEST_FAIL)
    set(TEST_FAIL "\\[ *[0-9]+\\] *([0-9]+ bytes|Total space)")
  endif()
  set(environment ${PETSCPACK_MPI_ENV} OMP_NUM_THREADS=1 ${TEST_ENVIRONMENT})
  add_test(NAME ${name} COMMAND ${launch} $<TARGET_FILE:${program}> ${TEST_COMMAND} -malloc_dump -options_left no
                                -use_gpu_aware_mpi 0)
  set_tests_properties(${name} PROPERTIES LABELS "${TEST_LABELS}" TIMEOUT ${TEST_TIMEOUT} PROCESSORS ${TEST_RANKS}
                                          ENVIRONMENT "${environment}"
                                          FAIL_REGULAR_EXPRESSION "${TEST_FAIL}")
  if(TEST_PASS)
    set_tests_properties(${name} PROPERTIES PASS_REGULAR_EXPRESSION "${TEST_PASS}")
  endif()
  if(TEST_SKIP)
    set_tests_properties(${name} PROPERTIES SKIP_RETURN_CODE ${TEST_SKIP})
  endif()
endfunction()
