#!/usr/bin/env bash
# Installs missing packages, builds, and runs the tests that need no GPU. The last line is "N passed, M failed".
#
#   scripts/test.sh [--full] [argument for ctest ...]        for instance -L conformance, or -R name
#
# --full                     the long tests too (minutes more)
# PETSC_DIR and PETSC_ARCH   a PETSc other than the distribution's
# BUILD_DIR                  where to build (build)
# CMAKE_ARGS                 further arguments for CMake, such as "-DPETSCPACK_WERROR=ON"
# JOBS                       number of parallel compilers and tests (all cores)
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

build=${BUILD_DIR:-$root/build}
groups=(build examples)
left_out='^(device|full)$'
if [[ ${1:-} == --full ]]; then
  left_out='^device$'
  shift
fi
[[ -n ${PETSC_DIR:-} ]] || groups+=(python)
say "Installs missing packages, builds everything, and runs the tests that need no GPU: 10 minutes in all on two cores."
"$root/scripts/install-deps.sh" "${groups[@]}"
allow_open_mpi_anywhere

# shellcheck disable=SC2086
cmake -S "$root" -B "$build" ${CMAKE_ARGS:-}
cmake --build "$build" -j "$jobs"

selection=(-LE "$left_out" "$@")
say "$(ctest --test-dir "$build" -N "${selection[@]}" | sed -n 's/^Total Tests: //p') tests"
results=$build/test-results.xml
rm -f "$results"
status=0
ctest --test-dir "$build" -j "$jobs" --output-on-failure --no-tests=error --output-junit "$results" \
  "${selection[@]}" || status=$?
[[ -f $results ]] || die "ctest ended with status $status and left no results"
python3 "$root/scripts/count_tests.py" "$results"
exit "$status"
