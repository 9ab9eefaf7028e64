#!/usr/bin/env bash
# Copies only the plugin into an empty folder, and loads it from there into a program that links only PETSc; then the copy
# and the original into one program, which must be refused.
#
#   single_file.sh <libpetscpack.so> <golden_driver>
#
# A complex PETSc can load the plugin, too, and must be refused.
set -euo pipefail

plugin=$1
program=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cp -L "$plugin" "$folder/libpetscpack.so"

status=0
said=$(cd "$folder" && env -u LD_LIBRARY_PATH -u PETSC_OPTIONS "$program" -dll_append "$folder/libpetscpack.so" \
  -mat_type aijrbp -mat_view ::ascii_info -use_gpu_aware_mpi 0 2>&1) || status=$?
printf '%s\n' "$said"
if grep -q 'complex' <<<"$said"; then
  echo "refused, as it should be"
  exit
elif ((status)); then
  echo "the program ended with status $status"
  exit 1
else
  grep -q 'type: seqaijrbp' <<<"$said"
fi

if said=$(env -u PETSC_OPTIONS "$program" -dll_append "$plugin,$folder/libpetscpack.so" -petscpack_replace cg \
  -use_gpu_aware_mpi 0 2>&1); then
  echo "the program went on with two files of the plugin"
  exit 1
fi
printf '%s\n' "$said"
grep -q "petscpack is loaded from two files, $plugin and $folder/libpetscpack.so" <<<"$said"
# The same file twice is one file
env -u PETSC_OPTIONS "$program" -dll_append "$plugin,$plugin" -petscpack_replace cg -use_gpu_aware_mpi 0
