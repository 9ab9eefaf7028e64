#!/usr/bin/env bash
# Packs everything that a machine with a GPU needs to test and measure: libraries, tests, benchmarks, PETSc with CUDA, PETSc's
# own example programs, unmodified, and an MPI. That machine needs no compiler, no PETSc and no network, only the libraries of
# CUDA 13 (in $CUDA_HOME, /usr/local/cuda) and a glibc at least as new as on this machine.
#
#   scripts/gpu_bundle.sh [folder]       makes folder/ (bundle/) and folder.tar.xz; folder/gpu_run.py runs all steps
#
# This is the part cuda. It also has lib/ucx: a UCX with CUDA instead of MPICH's own, for messages between two GPUs (bench/mpi).
#
# The part distro, in folder/distro, is the plugin with GPU code for the distribution's PETSc, which has no CUDA, with that
# PETSc, its Open MPI and all libraries that the loader asks for. Those have Netlib's BLAS; lib/openblas has OpenBLAS beside them.
#
# The part dolfinx, in folder/dolfinx, is the binary wheel of petscpack with the wheels of DOLFINx from PyPI, unpacked, and the
# programs of examples/python and bench/dolfinx. It needs Python 3.12, with numpy and setuptools, and a C compiler on the machine
# with the GPU. cuDSS is not packed: unpack the wheel nvidia-cudss-cu13 into folder/dolfinx/site there.
#
# PARTS        parts to pack: cuda, distro, dolfinx, or several in quotes (cuda); each works without the others
# SCALARS      of DOLFINx: real or complex (real)
# WHEEL        the wheel for the part dolfinx; by default scripts/build_wheel.sh builds one with the variant for DOLFINx
# BUILD_DIR    where to build (build-gpu; the part distro in build-gpu-distro)
# CMAKE_ARGS   further arguments for CMake
# DATA         files to include in folder/data (matrices, node graphs)
# OPENBLAS     1: the part distro with lib/openblas, the BLAS of its steps, from the distribution's package; 0: without (1)
# UCX          1: with lib/ucx, from the PyPI wheel libucx-cu13; 0: without (1)
# UCX_VERSION  version of that wheel (1.20.1)
# MAX_MIB      fails if folder.tar.xz is larger (60)    JOBS         parallel compilers (all cores)
set -euo pipefail
# shellcheck source=scripts/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

bundle=$(realpath -m "${1:-$root/bundle}")
build=${BUILD_DIR:-$root/build-gpu}
max_mib=${MAX_MIB:-60}
parts=${PARTS:-cuda}
ucx_version=${UCX_VERSION:-1.20.1}
deps=${PETSCPACK_DEPS:-${XDG_CACHE_HOME:-$HOME/.cache}/petscpack}

# Sets the tests and benchmarks of a part, and its programs of PETSc, which are all in ksp/tutorials
programs_of() { { read -r -a tests && read -r -a programs; } < <("$root/scripts/gpu_run.py" --programs "$1" "$bundle"); }

has_part() { [[ " $parts " == *" $1 "* ]]; }

mpi_of_petsc() { (cd "$(dirname "$(command -v "$(petsc_config --variable=ccompiler)")")/.." && pwd); }

# Selects the PETSc with CUDA for pkg-config and common.sh
use_cuda_petsc() {
  PETSC_DIR=$("$root/scripts/build_petsc.sh" cuda)
  export PETSC_DIR PETSC_ARCH=
  PKG_CONFIG_PATH=$PETSC_DIR/lib/pkgconfig${PKG_CONFIG_PATH:+:$PKG_CONFIG_PATH}
  export PKG_CONFIG_PATH
  mpi=$(mpi_of_petsc)
}

# Selects the PETSc that pkg-config finds by itself
use_distro_petsc() {
  unset PETSC_DIR PETSC_ARCH PKG_CONFIG_PATH
  petsc_config --exists || die "no PETSc of the distribution: scripts/install-deps.sh"
  mpi=$(mpi_of_petsc)
  components=$("$mpi/bin/ompi_info" --parsable --path pkglibdir 2>/dev/null | sed -n 's/^path:pkglibdir://p')
  [[ -d $components ]] || die "the PETSc of the distribution is not one with Open MPI"
}

# Builds a part in a folder, and copies its libraries and tests to the folder of the part in the bundle
build_project() {
  local build=$1 part=$2 test
  shift 2
  # shellcheck disable=SC2086
  cmake -S "$root" -B "$build" -DPETSCPACK_CUDA=ON ${CMAKE_ARGS:-}
  cmake --build "$build" -j "$jobs" --target petscpack "$@"
  mkdir -p "$part/bin" "$part/lib"
  for test in "$@"; do
    [[ -x $build/bin/$test ]] || die "$build/bin/$test was not built"
    cp "$build/bin/$test" "$part/bin/"
  done
  cp -a "$build"/lib/libspmvpack.so* "$build"/lib/libpetscpack.so* "$part/lib/"
}

build_petsc_programs() {
  local part=$1 program sources
  shift
  sources=$(petsc_examples)
  [[ -n $sources ]] || die "this PETSc came without its example programs"
  for program in "$@"; do
    # shellcheck disable=SC2046
    "$mpi/bin/mpicc" -O2 $(petsc_config --cflags) -I"${CUDA_HOME:-/usr/local/cuda}/include" "$sources/ksp/ksp/tutorials/$program.c" \
      -o "$part/bin/$program" $(petsc_config --libs) -lm
  done
}

strip_all() { find "$1/bin" "$1/lib" -type f -exec strip --strip-unneeded {} +; }

# glibc and CUDA come from the target machine; MPI is copied as a whole; the compiler's libraries and CUPTI are a fallback
from_the_machine='^(linux-vdso|ld-linux|lib(c|m|dl|rt|pthread|resolv|util)\.|libcu(da|blas|fft|pti|rand|solver|sparse)|libnv)'
from_the_compiler='^(libstdc\+\+|libgcc_s)\.'

# Lists libraries that the files of a part need but the part lacks. Skips MPICH's network plugins, which need more libraries.
copy_needed_libraries() {
  local part=$1 name path
  while read -r name path; do
    [[ $name =~ $from_the_machine || -e $part/lib/$name || -e $part/lib/mpich/$name ]] && continue
    [[ $path == not ]] && die "$name is needed and not found here"
    if [[ $name =~ $from_the_compiler ]]; then
      mkdir -p "$part/lib/compiler"
      cp -L "$path" "$part/lib/compiler/$name"
    else
      cp -L "$path" "$part/lib/$name"
    fi
  done < <(find "$part/bin" "$part/lib" -type f -not -path '*/mpich/*' -not -path '*/lib/ucx/*' \
    -not -path '*/lib/openblas/*' -exec env LD_LIBRARY_PATH="$part/lib:$part/lib/mpich" ldd {} + 2>/dev/null |
    awk '$2 == "=>" { print $1, $3 }' | sort -u)
}

# The wheel holds each library three times, because its symbolic links became files: takes one, under the name that other
# libraries ask for. Does not strip symbols, because these files were patched after linking, and strip would break them.
# Uses pip of MPICH's virtual environment.
fill_ucx() {
  local wheel=$deps/ucx-$ucx_version to=$bundle/lib/ucx name
  if [[ ! -d $wheel/libucx/lib ]]; then
    mkdir -p "$wheel"
    "$mpi/bin/pip" download --quiet --no-deps --only-binary=:all: -d "$wheel" "libucx-cu13==$ucx_version"
    python3 -m zipfile -e "$wheel"/libucx_cu13-*.whl "$wheel"
  fi
  mkdir -p "$to/ucx"
  for name in libucp libuct libucs libucm; do cp -L "$wheel/libucx/lib/$name.so.0" "$to/"; done
  for name in libuct_cuda libucm_cuda libuct_cma; do cp -L "$wheel/libucx/lib/ucx/$name.so.0" "$to/ucx/"; done
  cp -L "$wheel"/libucx_cu13.libs/libcudart-*.so.* "$to/"
  check_ucx "$to"
  say "ucx $ucx_version" >>"$bundle/MANIFEST"
}

# Checks that all libraries needed are in the bundle or on the target machine
check_ucx() {
  local to=$1 file needs name path
  while read -r file; do
    needs=$(LD_LIBRARY_PATH=$to ldd "$file") || die "$file is not a library that can be loaded"
    while read -r name path; do
      [[ $path == "$to"/* || $name =~ $from_the_machine ]] || die "lib/ucx needs $name, which is not in it"
    done < <(awk '$2 == "=>" { print $1, $3 }' <<<"$needs")
  done < <(find "$to" -type f)
}

# mult_timeline records with CUPTI, a part of the toolkit that machines without compilers may lack
copy_cupti() {
  local library
  library=$(find -L "${CUDA_HOME:-/usr/local/cuda}" -name 'libcupti.so.1?' -print -quit 2>/dev/null)
  [[ -n $library ]] || return 0
  mkdir -p "$bundle/lib/compiler"
  cp -L "$library" "$bundle/lib/compiler/"
}

fill_cuda() {
  local library
  use_cuda_petsc
  programs_of cuda
  build_project "$build" "$bundle" "${tests[@]}"
  cmake --build "$build" -j "$jobs" --target stage_allreduce
  cp "$build/lib/libstage_allreduce.so" "$bundle/lib/"
  library=$(readlink -f "$PETSC_DIR"/lib/libpetsc.so)
  cp -L "$library" "$bundle/lib/$(basename "$library" | cut -d. -f1-4)"
  build_petsc_programs "$bundle" "${programs[@]}"
  strip_all "$bundle"
  cp -L "$mpi"/lib/libmpi.so.* "$bundle/lib/"
  cp -rL "$mpi/lib/mpich" "$bundle/lib/"
  cp -L "$mpi"/bin/{mpiexec,hydra_pmi_proxy} "$bundle/bin/"
  copy_cupti
  copy_needed_libraries "$bundle"
  if ((${UCX:-1})); then fill_ucx; fi
  say "petsc $(petsc_config --modversion)" >>"$bundle/MANIFEST"
  say "cuda $(sed -n 's/^CUDA_VERSION = //p' "$PETSC_DIR/lib/petsc/conf/petscvariables")" >>"$bundle/MANIFEST"
}

# Open MPI finds its components and messages from OPAL_PREFIX. Leaves out components for networks and OpenSHMEM.
fill_distro() {
  local part=$bundle/distro component
  local left_out='_(ofi|ucx|psm2?|openib|monitoring)\.so$|/mca_(atomic|memheap|scoll|spml|sshmem)_'
  use_distro_petsc
  programs_of distro
  build_project "$build-distro" "$part" "${tests[@]}"
  build_petsc_programs "$part" "${programs[@]}"
  strip_all "$part"
  cp -L "$mpi"/bin/{mpiexec,orted} "$part/bin/"
  mkdir -p "$part/lib/openmpi3" "$part/share/openmpi"
  for component in "$components"/mca_*.so; do
    [[ $component =~ $left_out ]] || cp -L "$component" "$part/lib/openmpi3/"
  done
  cp -L "$mpi"/share/openmpi/help-*.txt "$part/share/openmpi/"
  copy_needed_libraries "$part"
  if ((${OPENBLAS:-1})); then fill_openblas "$part"; fi
  say "distro petsc $(petsc_config --modversion)" >>"$bundle/MANIFEST"
}

# MUMPS is ten times as fast with it as with Netlib's BLAS. Takes the package's files without installing it, because that would change
# the BLAS of this machine.
fill_openblas() {
  local part=$1 cache=$deps/openblas
  if [[ ! -f $cache/.complete ]]; then
    mkdir -p "$cache"
    (cd "$cache" && apt-get download -qq libopenblas0-pthread)
    dpkg -x "$cache"/libopenblas0-pthread_*.deb "$cache/files"
    touch "$cache/.complete"
  fi
  mkdir -p "$part/lib/openblas"
  cp -L "$cache"/files/usr/lib/*/openblas-pthread/lib{blas.so.3,lapack.so.3,openblas.so.0} "$part/lib/openblas/"
  say "openblas $(dpkg-deb -f "$cache"/libopenblas0-pthread_*.deb Version)" >>"$bundle/MANIFEST"
}

# DOLFINx's PETSc is 3.25 with MPICH. tests/coverage runs with it, too. Leaves out files that the programs do not open: compilers and headers of
# MPI. Does not strip symbols, because the libraries were patched after linking, and strip would break them.
fill_dolfinx() {
  local part=$bundle/dolfinx scalars=${SCALARS:-real} cache=$deps/dolfinx wheel=${WHEEL:-} file
  [[ $scalars == real ]] || cache+=-$scalars
  [[ -n $wheel ]] || wheel=$("$root/scripts/build_wheel.sh" --variants 3.25-mpich --out "$root/dist-wheel")
  if [[ ! -f $cache/.complete ]]; then
    python3 -m pip download --quiet --python-version 3.12 --only-binary=:all: --no-deps -d "$cache" "dolfinx-solver-$scalars==0.11.0.post0" \
      fenics-basix==0.11.0 fenics-ffcx==0.11.0 fenics-ufl==2026.1.0 mpi4py==4.1.2 mpich==5.0.2 cffi==2.1.1 pycparser==3.12
    touch "$cache/.complete"
  fi
  mkdir -p "$part/site" "$part/programs"
  for file in "$cache"/*.whl "$wheel"; do python3 -m zipfile -e "$file" "$part/site"; done
  rm -rf "$part"/site/mpich-*.data/data/{include,share} "$part"/site/mpich-*.data/data/lib/libmpi_abi*
  find "$part"/site/mpich-*.data/data/bin -type f -not -name mpiexec -not -name hydra_pmi_proxy -delete
  chmod +x "$part"/site/mpich-*.data/data/bin/*
  cp "$root"/examples/python/dolfinx_*.py "$part/programs/"
  cp "$root"/bench/dolfinx/dolfinx_{run,direct}.py "$part/"
  (cd "$root" && cp --parents tests/coverage/*.{py,json} tests/data/option_sets.json python/petscpack/_defaults.py "$part/")
  say "dolfinx $scalars $(basename "$wheel")" >>"$bundle/MANIFEST"
}

# A library that two parts share is stored once in the archive
link_duplicates() {
  local file
  cd "$bundle"
  for file in lib/*.so* lib/compiler/*.so*; do
    if cmp -s "$file" "distro/$file"; then ln -f "$file" "distro/$file"; fi
  done
}

rm -rf "$bundle" "$bundle.tar.xz"
mkdir -p "$bundle/data"
cp "$root"/scripts/{gpu_{run,steps,programs}.py,fuzz.sh} "$root"/bench/{figures,papers/fold_sweep}.py "$bundle/"
cp "$root"/bench/solve/{solve_{table,log,launches},direct_matrices}.py "$root"/bench/mpi/{mpiexec_gpu.sh,mpi_table.py,timeline.py} "$bundle/"
# shellcheck disable=SC2086
[[ -z ${DATA:-} ]] || cp ${DATA} "$bundle/data/"
{
  say "commit $(git -C "$root" describe --always --dirty 2>/dev/null || say unknown)"
  say "glibc $(ldd --version | head -n 1 | awk '{ print $NF }')"
  say "formats $(sed -n 's/^SPMV_FORMAT(\([a-z0-9]*\),.*/\1/p' "$root/src/kernels/formats.def" | paste -sd' ')"
} >"$bundle/MANIFEST"
for part in $parts; do
  [[ " cuda distro dolfinx " == *" $part "* ]] || die "PARTS has $part, which is neither cuda nor distro nor dolfinx"
  ("fill_$part")
done
if has_part cuda && has_part distro; then (link_duplicates); fi
# At a lower compression level, the wheels would exceed the size limit for transfer to such a machine
if has_part dolfinx; then level="-9 -T1"; else level="-6 -T0"; fi
XZ_OPT=$level tar -C "$(dirname "$bundle")" -cJf "$bundle.tar.xz" "$(basename "$bundle")"
mib=$((($(stat -c %s "$bundle.tar.xz") + 1048575) / 1048576))
say "$bundle.tar.xz: $mib MiB"
((mib <= max_mib)) || die "larger than $max_mib MiB"
