#!/usr/bin/env bash
# DOLFINx's own demo of 3D elasticity, run unchanged with a packed matrix type: GAMG, Chebyshev smoothers and CG.
#
#   examples/ex5_dolfinx_elasticity.sh build/lib/libpetscpack.so [aijrbp]
#
# Installs the distribution's DOLFINx if it is missing (about 400 MB), and needs a plugin built for the distribution's
# PETSc. Passes when the norm of the solution is the one that aij gives, to 9 digits. The lines on memory and products
# are those of the matrices that the demo views: the system, and GAMG's coarser levels.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../scripts/common.sh"
[[ $# -ge 1 ]] || die "usage: ex5_dolfinx_elasticity.sh <libpetscpack.so> [type]"

plugin=$(realpath "$1")
type=${2:-aijrbp}
"$root/scripts/install-deps.sh" build python dolfinx
allow_open_mpi_anywhere
demo=$(dpkg -L dolfinx-doc | grep '/demo_elasticity.py$')
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" # the demo writes its solution into a folder out_elasticity

norms=()
for now in aij "$type"; do
  say "== $demo with -mat_type $now"
  PETSC_OPTIONS="-dll_append $plugin -mat_type $now -ksp_converged_reason" \
    /usr/bin/python3 "$demo" >"$now.out" 2>&1 || { cat "$now.out" >&2; die "the demo failed with $now"; }
  grep -E 'converged|products:|memory:' "$now.out"
  norms+=("$(sed -n 's/^Solution vector norm: //p' "$now.out")")
  say "norm of the solution: ${norms[-1]}"
done
awk -v a="${norms[0]}" -v b="${norms[1]}" 'BEGIN { d = a - b; exit !(a > 0 && d * d <= 1e-18 * a * a) }' ||
  die "the solutions differ"
