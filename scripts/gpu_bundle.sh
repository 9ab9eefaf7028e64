#!/usr/bin/env bash
# Packs all that a machine with a GPU needs to test and to measure: libraries, tests, benchmarks, PETSc with CUDA, PETSc's
# own example programs as they are, and an MPI. There it needs no compiler, no PETSc and no network, only the libraries of
# CUDA 13 (in $CUDA_HOME, /usr/local/cuda) and a glibc at least as new as here.
#
#   scripts/gpu_bundle.sh [folder]       makes folder/ (bundle/) and folder.tar.xz; folder/gpu_run.sh runs it all
#
# BUILD_DIR    where to build (build-gpu)            CMAKE_ARGS   further arguments for CMake
# DATA         files to take along, in folder/data (matrices, node graphs)
# MAX_MIB      largest folder.tar.xz (60)            JOBS         compilers at a time (all cores)
set -euo pipefail
# shellcheck source=scripts/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

bundle=${1:-$root/bundle}
build=${BUILD_DIR:-$root/build-gpu}
max_mib=${MAX_MIB:-60}
programs=(ksp/ksp/tutorials/bench_kspsolve ksp/ksp/tutorials/ex2 ksp/ksp/tutorials/ex56)
tests=(conf_kernels unit_kernels conf_mat mat_device_memory ksp_history ksp_refresh spmv_bench petsc_bench
  fold_paper)

# The PETSc with CUDA, and what pkg-config and common.sh make of it
use_petsc() {
  PETSC_DIR=$("$root/scripts/build_petsc.sh" cuda)
  export PETSC_DIR PETSC_ARCH=
  PKG_CONFIG_PATH=$PETSC_DIR/lib/pkgconfig${PKG_CONFIG_PATH:+:$PKG_CONFIG_PATH}
  export PKG_CONFIG_PATH
  mpi=$(cd "$(dirname "$(petsc_config --variable=ccompiler)")/.." && pwd)
}

build_project() {
  # shellcheck disable=SC2086
  cmake -S "$root" -B "$build" -DPETSCPACK_CUDA=ON ${CMAKE_ARGS:-}
  cmake --build "$build" -j "$jobs" --target petscpack "${tests[@]}"
}

build_petsc_programs() {
  local program sources
  sources=$(petsc_examples)
  [[ -n $sources ]] || die "this PETSc came without its example programs"
  for program in "${programs[@]}"; do
    # shellcheck disable=SC2046
    "$mpi/bin/mpicc" -O2 $(petsc_config --cflags) -I"${CUDA_HOME:-/usr/local/cuda}/include" "$sources/$program.c" \
      -o "$bundle/bin/$(basename "$program")" $(petsc_config --libs) -lm
  done
}

# glibc and CUDA are those of the machine; MPI is copied as a whole; the compiler's libraries are a last resort
from_the_machine='^(linux-vdso|ld-linux|libc\.|libm\.|libdl\.|librt\.|libpthread\.|libresolv\.|libutil\.|libcu|libnv)'
from_the_compiler='^(libstdc\+\+|libgcc_s)\.'

copy_needed_libraries() {
  local name path
  while read -r name path; do
    [[ $name =~ $from_the_machine || -e $bundle/lib/$name || -e $bundle/lib/mpich/$name ]] && continue
    [[ $path == not ]] && die "$name is needed and not found here"
    if [[ $name =~ $from_the_compiler ]]; then
      mkdir -p "$bundle/lib/compiler"
      cp -L "$path" "$bundle/lib/compiler/$name"
    else
      cp -L "$path" "$bundle/lib/$name"
    fi
  done < <(LD_LIBRARY_PATH=$bundle/lib:$bundle/lib/mpich ldd "$bundle"/bin/* "$bundle"/lib/*.so* 2>/dev/null |
    awk '$2 == "=>" { print $1, $3 }' | sort -u)
}

fill_bundle() {
  local test
  rm -rf "$bundle" "$bundle.tar.xz"
  mkdir -p "$bundle/bin" "$bundle/lib" "$bundle/data"
  for test in "${tests[@]}"; do
    [[ -x $build/bin/$test ]] || die "$build/bin/$test was not built"
    cp "$build/bin/$test" "$bundle/bin/"
  done
  cp -a "$build"/lib/libspmvpack.so* "$build"/lib/libpetscpack.so* "$bundle/lib/"
  cp -L "$PETSC_DIR"/lib/libpetsc.so "$bundle/lib/$(basename "$(readlink -f "$PETSC_DIR"/lib/libpetsc.so)" | cut -d. -f1-4)"
  build_petsc_programs
  find "$bundle/bin" "$bundle/lib" -type f -exec strip --strip-unneeded {} +
  cp -L "$mpi"/lib/libmpi.so.* "$bundle/lib/"
  cp -rL "$mpi/lib/mpich" "$bundle/lib/"
  cp -L "$mpi"/bin/{mpiexec,hydra_pmi_proxy} "$bundle/bin/"
  copy_needed_libraries
  cp "$root/scripts/gpu_run.sh" "$root/scripts/fold_sweep.py" "$bundle/"
  # shellcheck disable=SC2086
  [[ -z ${DATA:-} ]] || cp ${DATA} "$bundle/data/"
}

write_manifest() {
  {
    say "commit $(git -C "$root" describe --always --dirty 2>/dev/null || say unknown)"
    say "petsc $(petsc_config --modversion)"
    say "cuda $(sed -n 's/^CUDA_VERSION = //p' "$PETSC_DIR/lib/petsc/conf/petscvariables")"
    say "glibc $(ldd --version | head -n 1 | awk '{ print $NF }')"
  } >"$bundle/MANIFEST"
}

use_petsc
build_project
fill_bundle
write_manifest
XZ_OPT="-6 -T0" tar -C "$(dirname "$bundle")" -cJf "$bundle.tar.xz" "$(basename "$bundle")"
mib=$((($(stat -c %s "$bundle.tar.xz") + 1048575) / 1048576))
say "$bundle.tar.xz: $mib MiB"
((mib <= max_mib)) || die "larger than $max_mib MiB"
