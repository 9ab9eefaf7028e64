#!/usr/bin/env bash
# Solves with a real matrix in an unchanged PETSc program, with PETSc's own matrix type and with a packed one, and compares.
#
#   scripts/demo.sh [type ...]        types to compare with aij (aijrbp)
#
# Installs what is missing, builds the plugin, compiles PETSc's example program ksp/tutorials/ex10.c from PETSc's own
# sources, and solves A x = b with xenon1 (a zeolite crystal, 48,600 unknowns) by CG and by GMRES.
# GPU code is compiled only if there is a GPU. The plugin of the demo is $BUILD_DIR/demo/lib/libpetscpack.so.
# PETSC_DIR, PETSC_ARCH, BUILD_DIR and JOBS are as in scripts/test.sh.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

types=("$@")
((${#types[@]})) || types=(aijrbp)
build=${BUILD_DIR:-$root/build}
work=$build/demo
log=$work/build.log

plugin=$work/lib/libpetscpack.so
matrix=$work/xenon1.petsc

cuda=OFF
! nvidia-smi -L >/dev/null 2>&1 || cuda=AUTO
say "A real system is solved by CG and by GMRES in one of PETSc's own programs, with aij and with ${types[*]}."
say "First, missing packages are installed and the plugin is built: 2 minutes on two cores, 1 if nothing has to be installed."
[[ $cuda == OFF ]] || say "There is a GPU: GPU code is compiled too, which takes some minutes more."
begin=$SECONDS

# build <whether with PETSc> <target>: in the background
build() {
  { cmake -S "$root" -B "$work" -DPETSCPACK_CUDA=$cuda -DBUILD_TESTING=OFF "-DPETSCPACK_PETSC=$1" &&
    cmake --build "$work" -j "$jobs" --target "$2"; } >>"$log" 2>&1 &
  building=$!
}
finish_build() {
  wait "$building" || { tail -n 30 "$log" >&2; die "the build failed"; }
}

"$root/scripts/install-deps.sh" compile
mkdir -p "$work"
say "Building the plugin (log: $log)"
: >"$log"
# The kernels need no PETSc, which takes a minute to install: they are compiled meanwhile. Examples and matrix are fetched
# while the rest is compiled
[[ -f $plugin ]] || build OFF spmvpack_objects
"$root/scripts/install-deps.sh" build
[[ -f $plugin ]] || finish_build
build ON petscpack
"$root/scripts/install-deps.sh" examples
[[ -f $matrix ]] || python3 "$root/examples/mtx_to_petsc.py" --rhs "$root/examples/data/xenon1.mtx.xz" "$matrix"
finish_build
allow_open_mpi_anywhere

source=$(petsc_examples)/ksp/ksp/tutorials/ex10.c
[[ -f $source ]] || die "PETSc's example programs are not installed beside the PETSc in $(petsc_config --variable=prefix)"
say "Compiling $source, unchanged"
libdir=$(petsc_config --variable=libdir)
# shellcheck disable=SC2046
"$(petsc_config --variable=ccompiler)" -O2 -o "$work/ex10" "$source" $(petsc_config --cflags) \
  $(petsc_config --libs) "-Wl,-rpath,$libdir" -lm

solve() { # type solver: leaves the program's output and its profile in $work
  local name=$work/$1-$2
  rm -f "$name.csv"
  PETSC_OPTIONS="-dll_append $plugin" "$work/ex10" -f "$matrix" -mat_type "$1" -ksp_type "$2" -pc_type jacobi \
    -ksp_rtol 1e-8 -ksp_converged_reason -ksp_view_mat ::ascii_info -log_view ":$name.csv:ascii_csv" >"$name.out" 2>&1 ||
    { cat "$name.out" >&2; die "ex10 with -mat_type $1 -ksp_type $2 failed"; }
  grep -q 'solve converged' "$name.out" || { cat "$name.out" >&2; die "$2 with $1 did not converge"; }
}

for solver in cg gmres; do
  for type in aij "${types[@]}"; do
    say "Solving by $solver with -mat_type $type"
    solve "$type" "$solver"
  done
done
say ""
python3 "$root/scripts/demo_table.py" "$work" aij "${types[@]}"
say ""
say "$((SECONDS - begin)) s in all. The same in your own program:  PETSC_OPTIONS=\"-dll_append $plugin\" ./program -mat_type ${types[0]}"
