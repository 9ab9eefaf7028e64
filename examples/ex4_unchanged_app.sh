#!/usr/bin/env bash
# An application that has never heard of petscpack: PETSc's own ksp/tutorials/ex2.c, compiled from PETSc's sources and
# run with -mat_type aij and with a packed type, on one process and on several.
#
#   examples/ex4_unchanged_app.sh build/lib/libpetscpack.so [aijrbp]
#
# Only PETSC_OPTIONS differs. Passes when both types take the same number of iterations.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../scripts/common.sh"
[[ $# -ge 1 ]] || die "usage: ex4_unchanged_app.sh <libpetscpack.so> [type]"

plugin=$(realpath "$1")
type=${2:-aijrbp}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
allow_open_mpi_anywhere

sources=$(petsc_examples)
[[ -n $sources ]] || die "the sources of PETSc's examples are missing: scripts/install-deps.sh examples"
compiler=$(petsc_config --variable=ccompiler)
# shellcheck disable=SC2046
"$compiler" -o "$work/ex2" "$sources/ksp/ksp/tutorials/ex2.c" $(petsc_config --cflags) $(petsc_config --libs) \
  "-Wl,-rpath,$(petsc_config --variable=libdir)" -lm

mpiexec=$(dirname "$(command -v "$compiler")")/mpiexec
for ranks in 1 2; do
  for now in aij "$type"; do
    PETSC_OPTIONS="-dll_append $plugin -mat_type $now" \
      "$mpiexec" -n "$ranks" "$work/ex2" -m 60 -n 60 -ksp_type cg -pc_type jacobi -use_gpu_aware_mpi 0 >"$work/$now.out"
    say "$ranks processes, -mat_type $now: $(cat "$work/$now.out")"
  done
  cmp <(grep -o 'iterations.*' "$work/aij.out") <(grep -o 'iterations.*' "$work/$type.out")
done
