#!/usr/bin/env bash
# Tests the programs of this folder and their scripts with two processes on the host: the record of a product must have its
# messages, and tables of several setups can be made.
#
#   mpi_test.sh folder mult_timeline solve_bench libpetscpack.so mpiexec
set -euo pipefail

folder=$1 timeline=$2 solve=$3 plugin=$4 mpiexec=$5
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
mkdir -p "$folder"
rm -f "$folder"/*
host=(-use_gpu_aware_mpi 0 -options_left no)

for type in aij aijrbp; do
  "$mpiexec" -n 2 "$timeline" -n 8 -products 3 -mat_type "$type" -dll_append "$plugin" -json "$folder/timeline-$type.json" \
    "${host[@]}"
done
python3 - "$folder"/timeline-*.json <<'END'
import json, sys
for path in sys.argv[1:]:
    content = json.load(open(path))
    assert [p["rank"] for p in content["processes"]] == [0, 1], path
    for process in content["processes"]:
        names = [i["name"] for i in process["intervals"]]
        assert names.count("MatMult") == 3 and {"MPI_Startall", "MPI_Waitall"} <= set(names), (path, names)
        assert all(i["begin"] <= i["end"] for i in process["intervals"]), path
END
python3 "$here/timeline.py" "$folder"/timeline-*.json >"$folder/timeline.md"
grep -q 'aijrbp, 8³ unknowns, 2 processes' "$folder/timeline.md"
if python3 -c 'import matplotlib' 2>/dev/null; then
  python3 "$here/timeline.py" "$folder"/timeline-*.json --image "$folder/overlap.svg" >/dev/null
  test -s "$folder/overlap.svg"
fi

small=(-matrix stencil7:8 -types "aij,aijrbp" -solvers "products,cg_jacobi" -repeat 2 -steps 0 -changes 0)
"$solve" "${small[@]}" -json "$folder/one.json" "${host[@]}" >"$folder/one.log"
"$mpiexec" -n 2 "$solve" "${small[@]}" -json "$folder/two.json" -launcher "mpiexec -n 2" "${host[@]}" >"$folder/two.log"
grep -q '"ranks": 2,' "$folder/two.json" && grep -q '"launcher": "mpiexec -n 2",' "$folder/two.json"
python3 "$here/mpi_table.py" "$folder/mpi.json" --take "one=$folder/one.json" --take "two=$folder/two.json" --details "$folder/mpi.md"
python3 "$here/mpi_table.py" "$folder/mpi.json" | cmp - "$folder/mpi.md"
grep -qE '^\| product, .aijrbp. \| [0-9.]+ \| [0-9.]+ \([0-9.]+\) \|$' "$folder/mpi.md"
printf '# Title\n\n<!-- mpi:begin -->\nold\n<!-- mpi:end -->\n\nThe end.\n' >"$folder/document.md"
python3 "$here/mpi_table.py" "$folder/mpi.json" --document "$folder/document.md"
grep -q '^### .stencil7:8.$' "$folder/document.md" && grep -q '^The end.$' "$folder/document.md"
if grep -q '^old$' "$folder/document.md"; then exit 1; fi
