#!/usr/bin/env bash
# Runs real, unmodified applications with aij and with packed types, chosen by PETSC_OPTIONS only: compares the results, which
# must agree, and prints the times side by side.
#
#   scripts/applications.sh [--check] [--plugin FILE] [--types "aijrbp aijauto"] [--repeat N] [application ...]
#
# Applications: slepc     SLEPc's eps/tutorials/ex2.c and ex4.c: eigenvalues
#               dealii    deal.II's tutorial programs step-17 and step-18: elasticity; they hard-code MATMPIAIJ
#               dolfinx   DOLFINx's demo of elasticity, with GAMG
#               petsc4py  petsc4py's demo ksp/ex2.py
# --check       one run of small problems, as the tests do; otherwise matrices larger than the caches if the program lets
#               the size be chosen, and medians of N runs (3)
# --plugin      the plugin (build/lib/libpetscpack.so); an application that is built on another PETSc is skipped
#
# An application whose package is missing is skipped, with the command that installs it; exit status 77 if none is left.
# BUILD_DIR is as in scripts/test.sh; compiled programs and outputs lie in $BUILD_DIR/applications.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

check=false
repeat=3
types="aijrbp aijauto"
plugin=${BUILD_DIR:-$root/build}/lib/libpetscpack.so
applications=()
while (($#)); do
  case $1 in
    --check) check=true repeat=1 ;;
    --plugin) plugin=$2; shift ;;
    --types) types=$2; shift ;;
    --repeat) repeat=$2; shift ;;
    slepc | dealii | dolfinx | petsc4py) applications+=("$1") ;;
    *) die "unknown argument '$1': see the head of this script" ;;
  esac
  shift
done
((${#applications[@]})) || applications=(slepc dealii dolfinx petsc4py)
[[ -f $plugin ]] || die "no plugin $plugin: build the target petscpack, or give --plugin"
plugin=$(realpath "$plugin")
work=${BUILD_DIR:-$root/build}/applications
mkdir -p "$work"
work=$(realpath "$work")
allow_open_mpi_anywhere
export OMP_NUM_THREADS=1
unset PETSC_OPTIONS

# missing <application> <what>: prints how to install it, and returns false
missing() {
  say "$1: left out, $2 is missing: scripts/install-deps.sh $1"
  return 1
}

petsc_library() { ldd "$1" | sed -nE 's/^[[:space:]]*libpetsc(_[a-z0-9]+)?\.so.* => ([^ ]+) .*/\2/p' | head -n 1 | xargs -r realpath; }

# same_petsc <application> <library of it>: checks that it uses the plugin's PETSc, because a process can hold only one
same_petsc() {
  [[ $(petsc_library "$2") == "$(petsc_library "$plugin")" ]] && return
  say "$1: left out, it is built on $(petsc_library "$2"), and the plugin on $(petsc_library "$plugin")"
  return 1
}

compile() { # <source> <program> <pkg-config module ...>
  [[ $2 -nt $1 ]] && return
  say "Compiling $1, unchanged"
  # shellcheck disable=SC2046
  "$(petsc_config --variable=ccompiler)" -O2 -o "$2" "$1" $(pkg-config --cflags --libs "${@:3}") \
    "-Wl,-rpath,$(petsc_config --variable=libdir)" "-Wl,-rpath,$(pkg-config --variable=libdir "$3")" -lm
}

# run_typed <type> <run> <how> <command ...>: one run. Output, profile and seconds go to files in the current folder, files
# that the program writes to a folder in it
run_typed() {
  local type=$1 name=$1.$2 how=$3 begin=$EPOCHREALTIME
  shift 3
  local options="-dll_append $plugin -log_view :$PWD/$name.csv:ascii_csv -ksp_converged_reason"
  # A program that hard-codes MATAIJ or MATMPIAIJ does not read -mat_type
  if [[ $how == mat_type ]]; then
    options+=" -mat_type $type"
  elif [[ $type != aij ]]; then
    options+=" -mat_seqaij_type seq$type"
  fi
  mkdir "$name"
  (cd "$name" && PETSC_OPTIONS=$options exec "$@") >"$name.out" 2>&1 || { cat "$name.out" >&2; die "$1 failed with $type"; }
  awk -v a="$begin" -v b="$EPOCHREALTIME" 'BEGIN { print b - a }' >"$name.seconds"
}

# compare <name> <mat_type|seqaij_type> <solver's event> <pattern of the lines with the result> <command ...>
# $solution names the file with the solution, if the program writes one as text
compare() {
  local name=$1 how=$2 event=$3 lines=$4 run type
  shift 4
  rm -rf "${work:?}/$name"
  mkdir -p "$work/$name"
  cd "$work/$name"
  for ((run = 1; run <= repeat; run++)); do
    for type in aij $types; do
      run_typed "$type" "$run" "$how" "$@"
    done
  done
  # shellcheck disable=SC2086
  python3 "$root/scripts/applications_compare.py" --name "$name" --event "$event" --lines "$lines" --repeat "$repeat" \
    ${solution:+--solution "$solution"} aij $types
  compared=$((compared + 1))
}

run_slepc() {
  local folder examples
  pkg-config --exists SLEPc || missing slepc SLEPc || return 0
  folder=$(pkg-config --variable=prefix SLEPc)/share/slepc/examples/src/eps/tutorials
  [[ -d $folder ]] || folder=/usr/share/slepc/$(petsc_config --modversion | cut -d. -f1,2)/share/slepc/examples/src/eps/tutorials
  [[ -f $folder/ex4.c ]] || missing slepc "the source of SLEPc's examples" || return 0
  examples=$(petsc_examples)
  [[ -n $examples ]] || missing slepc "the source of PETSc's examples" || return 0
  same_petsc slepc "$(compgen -G "$(pkg-config --variable=libdir SLEPc)/libslepc*.so" | head -n 1)" || return 0
  compile "$folder/ex2.c" "$work/slepc_ex2" SLEPc PETSc
  compile "$folder/ex4.c" "$work/slepc_ex4" SLEPc PETSc
  compile "$examples/ksp/ksp/tutorials/ex56.c" "$work/petsc_ex56" PETSc
  # Eigenvalues in an interval by a polynomial filter, as in SLEPc's own test of ex2; the elastic body has the largest
  local grid=(-n 45 -m 46 -eps_interval '4.54,4.57' -eps_ncv 24 -st_type filter -st_filter_degree 200) edge=5
  $check || { grid=(-n 1000 -m 1000 -eps_nev 1 -eps_tol 1e-3); edge=30; }
  local matrix=$work/elasticity.$edge.petsc lines='^ +(-?[0-9.]+(, *)?)+$|eigenvalues|iterations'
  # ex56 is run only to write its matrix
  [[ -f $matrix ]] || "$work/petsc_ex56" -ne "$edge" -ksp_max_it 1 -pc_type none -ksp_view_mat "binary:$matrix" >/dev/null
  compare slepc_ex4_elasticity mat_type EPSSolve "$lines" "$work/slepc_ex4" -file "$matrix" -eps_hermitian -eps_nev 4 -terse
  compare slepc_ex2_laplacian mat_type EPSSolve "$lines" "$work/slepc_ex2" "${grid[@]}" -terse
}

# Each deal.II program has a CMakeLists.txt and no options; built as Release, as for a user's measurements
run_dealii() {
  local folder=/usr/share/doc/libdeal.ii-doc/examples library mpiexec step steps=(17) solution lines='Cycle|Number of|converged in'
  library=$(compgen -G '/usr/lib/*/libdeal.ii.so' | head -n 1) || true
  [[ -n $library ]] || missing dealii deal.II || return 0
  [[ -f $folder/step-18/step-18.cc ]] || missing dealii "the source of deal.II's tutorial" || return 0
  same_petsc dealii "$library" || return 0
  $check || steps=(17 18)
  for step in "${steps[@]}"; do
    say "Compiling $folder/step-$step, unchanged"
    { cmake -S "$folder/step-$step" -B "$work/step-$step" -DCMAKE_BUILD_TYPE=Release && cmake --build "$work/step-$step"; } \
      >"$work/step-$step.log" 2>&1 || { cat "$work/step-$step.log" >&2; die "step-$step did not compile"; }
    solution=''
    [[ $step != 17 ]] || solution='solution-7.vtk'
    compare "dealii_step$step" seqaij_type KSPSolve "$lines" "$work/step-$step/step-$step"
  done
  # A parallel program: both the diagonal and the off-diagonal blocks are packed
  mpiexec=$(dirname "$(command -v "$(petsc_config --variable=ccompiler)")")/mpiexec
  solution='solution-7.vtk'
  if $check && [[ -x $mpiexec ]]; then
    types=aijrbp compare dealii_step17_two_processes seqaij_type KSPSolve "$lines" "$mpiexec" -n 2 "$work/step-17/step-17"
  fi
}

# python_petsc <application> <module>: sets $library, the module of petsc4py, if Python of the distribution has both
python_petsc() {
  library=$(/usr/bin/python3 -c "import $2; from petsc4py import PETSc; print(PETSc.__file__)" 2>/dev/null) ||
    missing "$1" "the Python module $2" || return 1
  same_petsc "$1" "$library"
}

run_dolfinx() {
  local library demo=/usr/share/dolfinx/demo-python/demo_elasticity.py
  python_petsc dolfinx dolfinx || return 0
  [[ -f $demo ]] || missing dolfinx "DOLFINx's demo" || return 0
  compare dolfinx_demo_elasticity mat_type KSPSolve 'converged due|Solution vector norm' /usr/bin/python3 "$demo"
  $check || compare dolfinx_box mat_type KSPSolve '^(iterations|norm)' /usr/bin/python3 \
    "$root/examples/ex6_dolfinx_cgdevice.py" -n 36 -ksp_type cg -pc_type jacobi
}

run_petsc4py() {
  local library edge=60 demo=/usr/share/doc/python-petsc4py-doc/examples/demo/petsc-examples/ksp/ex2.py
  python_petsc petsc4py petsc4py || return 0
  [[ -f $demo ]] || missing petsc4py "petsc4py's demo" || return 0
  $check || edge=1000
  compare petsc4py_ex2 mat_type KSPSolve 'converged due|[Nn]orm of' /usr/bin/python3 "$demo" -m "$edge" -n "$edge" \
    -ksp_type cg -pc_type jacobi -ksp_rtol 1e-3
}

compared=0
for application in "${applications[@]}"; do
  "run_$application"
done
((compared)) || exit 77
