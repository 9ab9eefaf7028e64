#!/usr/bin/env bash
# Configures PETSc with --download-petscpack, builds it, and runs its check of petscpack: ten minutes of processor time.
#
#   scripts/check_petsc_download.sh <PETSc's source tree> [argument for configure ...]
#
# Works on a copy of the tree. An MPI must be on the PATH or be named by --with-mpi-dir=...; otherwise the check fails early.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
unset PETSC_DIR PETSC_ARCH

[[ $# -ge 1 && -x $1/configure ]] || die "usage: check_petsc_download.sh <PETSc's source tree> [argument for configure ...]"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tree=$work/petsc
cp -a "$1" "$tree"
shift
rm -rf "$tree"/arch-*
tarball=$("$root/scripts/dist.sh" "$work")
cp "$root/packaging/petsc/petscpack.py" "$tree/config/BuildSystem/config/packages/"

cd "$tree"
arch=(PETSC_ARCH=arch-petscpack)
./configure "${arch[@]}" --with-fc=0 --with-cuda=0 --with-debugging=0 "$@" "--with-make-np=$jobs" "--download-petscpack=$tarball"
make PETSC_DIR="$tree" "${arch[@]}" all
make PETSC_DIR="$tree" "${arch[@]}" check | tee "$work/check.log"
grep -q '^aijrbp: .* iterations' "$work/check.log" || die "the check of petscpack did not run"

say "An example program of PETSc's takes a type from the plugin"
make PETSC_DIR="$tree" "${arch[@]}" -C src/ksp/ksp/tutorials ex2
src/ksp/ksp/tutorials/ex2 -dll_append "$tree/arch-petscpack/lib/libpetscpack.so" -mat_type aijrbp -mat_aijfmt_decline false \
  -ksp_view_mat ::ascii_info | tee "$work/ex2.log"
grep -q 'type: seqaijrbp' "$work/ex2.log"
say "--download-petscpack: built, checked, used"
