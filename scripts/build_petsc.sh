#!/usr/bin/env bash
# Builds PETSc from its PyPI source package into a fixed prefix, once, and prints the prefix.
#
#   scripts/build_petsc.sh [feature ...]
#
# Features: cuda (needs nvcc), debug, int64, single, complex, quick (compiles in half the time, for tests without timings).
# Default: real double, 32-bit indices, optimized, no CUDA.
# The prefix is $PETSCPACK_DEPS/petsc-<version>[-feature...]; PETSCPACK_DEPS defaults to ~/.cache/petscpack.
# A complete prefix is not built again. MPI comes from the mpich wheel, in a virtual environment beside the prefix.
# Other settings: PETSC_VERSION (3.26.1), PETSC_CUDA_ARCH (90), MAKE_JOBS (all cores).
set -euo pipefail

version=${PETSC_VERSION:-3.26.1}
mpich_version=${MPICH_VERSION:-5.0.2}
cuda_arch=${PETSC_CUDA_ARCH:-90}
deps=${PETSCPACK_DEPS:-${XDG_CACHE_HOME:-$HOME/.cache}/petscpack}
jobs=${MAKE_JOBS:-$(nproc)}

suffix=""
config=(--with-fc=0 "--with-blaslapack-lib=-llapack -lblas" --with-shared-libraries=1)
debug=0
optimise=-O3
for feature in "$@"; do
  suffix+="-$feature"
  case $feature in
    cuda) config+=(--with-cuda=1 "--with-cuda-arch=$cuda_arch") ;;
    debug) debug=1 ;;
    int64) config+=(--with-64-bit-indices=1) ;;
    single) config+=(--with-precision=single) ;;
    complex) config+=(--with-scalar-type=complex) ;;
    quick) optimise=-O1 && config+=(--with-cxx=0) ;;
    *) echo "build_petsc.sh: unknown feature '$feature': use cuda, debug, int64, single, complex or quick" >&2; exit 2 ;;
  esac
done
[[ $suffix == *cuda* ]] || config+=(--with-cuda=0)
if [[ $debug == 1 ]]; then config+=(--with-debugging=1); else config+=(--with-debugging=0 "COPTFLAGS=$optimise" "CXXOPTFLAGS=$optimise" "CUDAOPTFLAGS=$optimise"); fi

prefix=$deps/petsc-$version$suffix
if [[ -f $prefix/.complete ]]; then echo "$prefix"; exit 0; fi

mkdir -p "$deps"
exec 3>&1 1>&2 # the log goes to stderr; only the prefix is printed on stdout

venv=$deps/mpich-$mpich_version
if [[ ! -x $venv/bin/mpicc ]]; then
  python3 -m venv "$venv"
  "$venv/bin/pip" install --quiet "mpich==$mpich_version"
fi

source=$deps/src/petsc-$version
if [[ ! -f $source/configure ]]; then
  mkdir -p "$deps/src"
  "$venv/bin/pip" download --quiet --no-deps --no-binary petsc -d "$deps/src" "petsc==$version"
  tar -xzf "$deps/src/petsc-$version.tar.gz" -C "$deps/src"
fi

arch=arch$suffix
cd "$source"
PETSC_DIR=$source PETSC_ARCH=$arch ./configure --prefix="$prefix" --with-mpi-dir="$venv" "${config[@]}" \
  "PETSC_ARCH=$arch" --with-make-np="$jobs"
make PETSC_DIR="$source" PETSC_ARCH="$arch" MAKE_NP="$jobs" all
make PETSC_DIR="$source" PETSC_ARCH="$arch" install
rm -rf "${source:?}/$arch"
touch "$prefix/.complete"
echo "$prefix" >&3
