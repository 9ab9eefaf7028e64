#!/usr/bin/env bash
# A program that loads the plugin from two files is stopped, and told which two.
#
#   two_files.sh <libpetscpack.so> <golden_driver>
set -euo pipefail

plugin=$1
program=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cp -L "$plugin" "$folder/libpetscpack.so"

if said=$(env -u PETSC_OPTIONS "$program" -dll_append "$plugin,$folder/libpetscpack.so" -petscpack_replace cg 2>&1); then
  echo "the program went on with two files of the plugin"
  exit 1
fi
printf '%s\n' "$said"
grep -q -e 'complex' -e "petscpack is loaded from two files, $plugin and $folder/libpetscpack.so" <<<"$said"
# The same file twice is one file
env -u PETSC_OPTIONS "$program" -dll_append "$plugin,$plugin" -petscpack_replace cg || grep -q 'complex' <<<"$said"
