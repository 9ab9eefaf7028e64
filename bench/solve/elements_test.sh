#!/usr/bin/env bash
# Runs solve_bench from element matrices, and checks that all solutions are those of aij on the host, that no phase and no step
# is missing, and the table.
#
#   elements_test.sh solve_bench folder types launcher ...
set -euo pipefail

program=$1 folder=$2 types=$3
shift 3
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
result=$folder/elements.json log=$folder/elements.log
mkdir -p "$folder"
rm -f "$result"

# the list is long enough for the GPU
"$@" "$program" -matrix tet3_rcm:7 -assembly elements -types "$types" -solvers cg_gamg,cg_jacobi -repeat 2 -steps 3 -peak -check_symmetric \
  -commit test -json "$result" -malloc_dump -options_left no >"$log" 2>&1 || { cat "$log"; exit 1; }
if grep -E '^\[ *[0-9]+\] *([0-9]+ bytes|Total space)' "$log"; then exit 1; fi
[[ $(grep -c '"entries": 186624,' "$result") == $((2 * $(tr ',' '\n' <<<"$types" | wc -l))) ]] # 6 * 6^3 tetrahedra
python3 "$here/solve_table.py" "$result" --check
python3 "$here/solve_table.py" "$result" --details "$folder/elements.md"
for row in 'MatSetPreallocationCOO, ms' '**from the list to the first solution, ms**' '**a step with new values**, ms' 'aijrbp, cg_gamg'; do
  grep -q -F "$row" "$folder/elements.md" || { echo "the table has no '$row'"; exit 1; }
done
sed 's/"iterations": \[[^]]*\]/&, "error": "broken"/' "$result" >"$folder/broken.json"
if python3 "$here/solve_table.py" "$folder/broken.json" --check; then exit 1; fi

# Only the tetrahedra have elements
if "$@" "$program" -matrix stencil7:8 -assembly elements -options_left no >"$log" 2>&1; then exit 1; fi
grep -q 'has elements for -matrix tet3_natural' "$log"
