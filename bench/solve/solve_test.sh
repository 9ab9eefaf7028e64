#!/usr/bin/env bash
# Runs solve_bench with every type on tiny matrices and checks its JSON: no phase is missing, each solve has converged with a
# small residual, an unknown type fails without affecting other types, and the table can be made. Times are not checked.
#
#   solve_test.sh solve_bench folder types launcher ...
#
# types are separated by commas; the launcher is mpiexec with its arguments, or empty.
set -euo pipefail

program=$1 folder=$2 types=$3
shift 3
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
table=$here/solve_table.py
mkdir -p "$folder"
rm -f "$folder"/*.json "$folder"/*.md

parts=()
for matrix in stencil7:8 tet3_rcm:5; do
  parts+=("$folder/$matrix.json")
  "$@" "$program" -matrix "$matrix" -types "$types" -repeat 2 -steps 2 -loops setvalues,coo_host -check_symmetric -commit test \
    -json "$folder/$matrix.json" -malloc_dump -options_left no >"$folder/$matrix.log" 2>&1 || { cat "$folder/$matrix.log"; exit 1; }
  if grep -E '^\[ *[0-9]+\] *([0-9]+ bytes|Total space)' "$folder/$matrix.log"; then exit 1; fi
done

# Multigrid: the levels from the finest on, and the counters of KSPCGDEVICE
parts+=("$folder/mg.json")
"$@" "$program" -matrix tri_rcm:20 -types "$types" -solvers cg_gamg,cgdevice_gamg -repeat 2 -steps 0 -profile_solve -profile_setup -peak -commit test \
  -json "$folder/mg.json" -malloc_dump -options_left no >"$folder/mg.log" 2>&1 || { cat "$folder/mg.log"; exit 1; }
if grep -E '^\[ *[0-9]+\] *([0-9]+ bytes|Total space)' "$folder/mg.log"; then exit 1; fi
python3 "$here/../plot_mg.py" "$folder/mg.json" --bandwidth 1e10 >"$folder/mg.txt"
[[ $(grep -c -E '^\| .*cg(device)?_gamg \|.* [0-9]+ of [0-9]+ \|$' "$folder/mg.txt") == "$(tr ',' '\n' <<<"$types" | wc -l)" ]]
grep -q -E '^Levels, rows \(nonzeros\): 400 \([0-9,]+\), .*Floor: [0-9.]+ us' "$folder/mg.txt"

# The grids of mg, with its default smoother
if [[ $# == 0 ]]; then
  "$program" -matrix stencil5:9 -types aij -solvers cg_mg -repeat 1 -steps 0 -json "$folder/grid.json" -malloc_dump -options_left no >"$folder/grid.log" 2>&1
  grep -q -E '"rows": 81, .*"rows": 25, .*"rows": 9, ' <(tr -d '\n' <"$folder/grid.json")
fi

python3 "$table" "${parts[@]}" --merge "$folder/all.json"
python3 "$table" "$folder/all.json" --check
python3 "$table" "$folder/all.json" --details "$folder/all.md"
for row in 'solve, ms' 'PCSetUp with new values, ms' '2 steps by COO on the host, ms' 'first transposed product, ms' 'PCSetUp of another matrix, ms'; do
  grep -q -F "$row" "$folder/all.md" || { echo "the table has no row '$row'"; exit 1; }
done

# An unknown type affects only its own cells
"$@" "$program" -matrix stencil7:8 -types nosuchtype,aij -solvers products,cg_jacobi -repeat 1 -steps 1 -loops setvalues \
  -json "$folder/broken.json" -options_left no >"$folder/broken.log" 2>&1
if python3 "$table" "$folder/broken.json" --check >"$folder/broken.txt"; then
  echo "a broken type was not noticed"
  exit 1
fi
cat "$folder/broken.txt"
[[ $(grep -c '^stencil7:8 .* nosuchtype: .*nosuchtype' "$folder/broken.txt") == 2 && $(wc -l <"$folder/broken.txt") == 2 ]]
