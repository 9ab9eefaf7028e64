#!/usr/bin/env bash
# An ordinary DOLFINx program for 3D elasticity (ex6_dolfinx_cgdevice.py), once with PETSc's types and once with conjugate
# gradients on the GPU and a packed type, chosen by options alone; then DOLFINx's own demo, which asks for cg and GAMG.
#
#   examples/ex6_dolfinx_cgdevice.sh build/lib/libpetscpack.so [aijrbp [24]]
#
# The last argument is the number of boxes along an edge. Installs the distribution's DOLFINx if it is missing (about
# 400 MB), and needs a plugin built for the distribution's PETSc. Passes when iterations differ by one at most and norms of
# the solution by less than 1e-6. Without a GPU cgdevice solves by cg, and the line "last solve" says so. The demo has a
# preconditioner that cgdevice leaves to cg, with which it must give the same solution to 9 digits.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../scripts/common.sh"
[[ $# -ge 1 ]] || die "usage: ex6_dolfinx_cgdevice.sh <libpetscpack.so> [type [boxes]]"

plugin=$(realpath "$1")
type=${2:-aijrbp}
boxes=${3:-24}
"$root/scripts/install-deps.sh" build python dolfinx
allow_open_mpi_anywhere
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" # the demo writes its solution into a folder out_elasticity

# run <name> <program> [option ...]: the output goes to <name>.out, its lines on the solve to the terminal
run() {
  local name=$1
  shift
  say "== $*"
  OMP_NUM_THREADS=1 /usr/bin/python3 "$@" >"$name.out" 2>&1 || {
    cat "$name.out" >&2
    die "$1 failed"
  }
  grep -E '^(assembly|set-up|solve|iterations|norm|matrix|Solution vector norm):|last solve|converged due' "$name.out" || die "$1 said nothing"
}

# compare <name> <name> <largest relative difference of norms> <largest difference of iterations>
compare() {
  local name numbers=()
  for name in "$1" "$2"; do
    numbers+=("$(sed -n -E 's/^(norm|Solution vector norm): //p' "$name.out" | tail -n 1)")
    numbers+=("$(sed -n -E 's/^iterations: ([0-9]+),.*/\1/p; s/.*converged.* iterations ([0-9]+)$/\1/p' "$name.out" | tail -n 1)")
  done
  awk -v a="${numbers[0]}" -v m="${numbers[1]}" -v b="${numbers[2]}" -v n="${numbers[3]}" -v far="$3" -v more="$4" \
    'BEGIN { d = a - b; k = m - n; exit !(a > 0 && m > 0 && d * d <= far * far * a * a && k * k <= more * more) }' ||
    die "the solves differ: norm and iterations ${numbers[*]}"
}

program=$root/examples/ex6_dolfinx_cgdevice.py
own=(-n "$boxes" -steps 2 -pc_type jacobi -ksp_view)
run cg "$program" "${own[@]}" -ksp_type cg -mat_type aij
run cgdevice "$program" "${own[@]}" -ksp_type cgdevice -mat_type "$type" -dll_append "$plugin"
compare cg cgdevice 1e-6 1
grep -q 'last solve' cgdevice.out || die "the solver was not cgdevice"

demo=$(dpkg -L dolfinx-doc | grep '/demo_elasticity.py$')
export PETSC_OPTIONS="-ksp_converged_reason"
run demo_cg "$demo"
PETSC_OPTIONS+=" -dll_append $plugin -mat_type $type -petscpack_replace cg"
run demo_cgdevice "$demo"
compare demo_cg demo_cgdevice 1e-9 1
grep -q 'last solve by KSPCG: ' demo_cgdevice.out || die "the demo's solver was not cgdevice, or did not tell why KSPCG solved"
