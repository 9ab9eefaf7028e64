#!/usr/bin/env bash
# Installs what is missing, builds, and runs the tests that need no GPU. The last line says "N passed, M failed".
#
#   scripts/test.sh [--full] [argument for ctest ...]        for instance -L conformance, or -R name
#
# --full                     the long tests too (minutes more)
# PETSC_DIR and PETSC_ARCH   another PETSc than the distribution's
# BUILD_DIR                  where to build (build)
# CMAKE_ARGS                 further arguments for CMake, as "-DPETSCPACK_WERROR=ON"
# JOBS                       how many compilers and tests at a time (all cores)
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
say "What is missing is installed, everything is built, and the tests that need no GPU run: all of it 10 minutes with two cores."
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
