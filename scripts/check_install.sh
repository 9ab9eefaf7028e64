#!/usr/bin/env bash
# Installs a build into a fresh prefix, and builds and runs a small program with it, by pkg-config and by CMake.
#
#   scripts/check_install.sh <build folder>          a build by CMake
#   scripts/check_install.sh --make <build folder>   a build by makefile.petsc (PETSC_DIR must be set)
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

by_make=0
if [[ ${1:-} == --make ]]; then
  by_make=1
  shift
fi
[[ $# == 1 && -d $1 ]] || die "usage: check_install.sh [--make] <build folder>"
build=$(realpath "$1")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
prefix=$work/prefix
allow_open_mpi_anywhere

if ((by_make)); then
  make -s -C "$root" -f makefile.petsc install PREFIX="$prefix" BUILD="$build"
else
  cmake --install "$build" --prefix "$prefix" >/dev/null
fi
mv "$prefix" "$work/moved" # an installed tree may be moved
prefix=$work/moved

export PKG_CONFIG_PATH=$prefix/lib/pkgconfig:$prefix/lib/$(cc -print-multiarch)/pkgconfig:${PKG_CONFIG_PATH:-}
libdir=$(pkg-config --variable=libdir petscpack)
plugin=$(pkg-config --variable=plugin petscpack)
[[ -f $plugin ]] || die "petscpack.pc names $plugin, which is not there"

# The libraries export their interface and nothing else
linker="_edata|_end|__bss_start|_init|_fini"
foreign=$(nm -D --defined-only "$libdir/libspmvpack.so" |
  awk '$2 ~ /[TDBR]/ && $3 !~ /^spmv_/ {print $3}' | grep -vxE "$linker" || true)
[[ -z $foreign ]] || die "libspmvpack exports more than spmv_*: $foreign"
foreign=$(nm -D --defined-only "$plugin" |
  awk '$2 ~ /[TDBR]/ && $3 !~ /^(spmv_|Mat|KSPCGDevice|KSPChebyshevDevice|KSPDevice|PCGAMGAggDevice|PCMGDevice|PetscPack|PetscDLLibraryRegister_petscpack)/ {print $3}' | grep -vxE "$linker" || true)
[[ -z $foreign ]] || die "libpetscpack exports more than its interface: $foreign"

# The plugin contains the kernels: a copy of this one file must serve a program that was not linked with it
say "As one file"
# shellcheck disable=SC2046
"$(petsc_config --variable=ccompiler)" -o "$work/unaware" "$root/tests/golden/golden_driver.c" \
  $(petsc_config --cflags --libs) "-Wl,-rpath,$(petsc_config --variable=libdir)"
"$root/tests/plugin/single_file.sh" "$plugin" "$work/unaware"

say "petscpack-advise, which finds the libraries where the tree is now"
printf '%%%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 4\n2 2 4\n' >"$work/diagonal.mtx"
"$prefix/bin/petscpack-advise" "$work/diagonal.mtx" --json "$work/diagonal.json" | grep "2 rows, 2 columns, 2 nonzeros"
[[ -s $work/diagonal.json && -x $prefix/bin/petscpack-advise-html ]] || die "petscpack-advise is not complete"

say "By pkg-config"
# shellcheck disable=SC2046
"$(petsc_config --variable=ccompiler)" -o "$work/ex1" "$root/examples/ex1_poisson.c" \
  $(pkg-config --cflags --libs petscpack) "-Wl,-rpath,$libdir" "-Wl,-rpath,$(petsc_config --variable=libdir)" -lm
"$work/ex1" -n 30 -use_gpu_aware_mpi 0
# Two copies of the kernels in a process would have two pools of device memory
! ldd "$work/ex1" | grep libspmvpack || die "a program that links petscpack must take the kernels from it alone"
cc -o "$work/ex3" "$root/examples/ex3_kernels_only.c" "-I$prefix/include" "-L$libdir" -lspmvpack "-Wl,-rpath,$libdir"
"$work/ex3"

if ((!by_make)); then
  say "By find_package"
  mkdir "$work/consumer"
  cat >"$work/consumer/CMakeLists.txt" <<CMAKE
cmake_minimum_required(VERSION 3.22)
project(consumer LANGUAGES C)
find_package(petscpack 0.1 REQUIRED)
add_executable(ex1 $root/examples/ex1_poisson.c)
target_link_libraries(ex1 PRIVATE petscpack::petscpack)
add_executable(ex3 $root/examples/ex3_kernels_only.c)
target_link_libraries(ex3 PRIVATE petscpack::spmvpack)
CMAKE
  cmake -S "$work/consumer" -B "$work/consumer/build" -DCMAKE_PREFIX_PATH="$prefix" >/dev/null
  cmake --build "$work/consumer/build" >/dev/null
  "$work/consumer/build/ex1" -n 30 -use_gpu_aware_mpi 0
  "$work/consumer/build/ex3"
fi
