#!/usr/bin/env bash
# Measures aijauto, by prediction and by trial, against every type that it chooses from: MatMult(), and the first 500 products
# with the conversion, by petsc_bench, for generated matrices and all files *.petsc of a folder.
#
#   auto_run.sh <out.json> <folder> <space> <commit> [seconds] [matrix ...]
#
# space is gpu (parent type aijcusparse) or host (aij). petsc_bench and spmv_bench must be in PATH; PLUGIN is the path of the
# plugin. No matrix is begun after `seconds` seconds (600).
set -euo pipefail
shopt -s nullglob

out=$1 folder=$2 space=$3 commit=$4 limit=${5:-600}
shift $(($# < 5 ? $# : 5))
generated=("$@")
(($#)) || generated=(circuit:1000000 edge_rcm:40 hex3:40 longrows:1000000 p1_random:60 p1_rcm:80 p2_rcm:30 p2tet3_rcm:20
  powerlaw:300000 stencil27:80 stencil5:1500 stencil7:120 stencil7:30 stencil9:1000 tet3_random:40 tet3_rcm:15 tet3_rcm:40)
parent=aij
[[ $space == host ]] || parent=aijcusparse
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# bench <file> <name of the part> <types> [option ...]
bench() {
  local file=$1 part=$2 types=$3
  shift 3
  petsc_bench -dll_append "$PLUGIN" -f "$file" -types "$types" -batches 9 -batch 20 -first 500 -mat_aijfmt_device "$space" \
    -use_gpu_aware_mpi 0 -json "$scratch/$part.json" "$@" >"$scratch/$part.log" 2>&1 || cat "$scratch/$part.log"
}

separator='['
: >"$out"
for matrix in "$folder"/*.petsc "${generated[@]}"; do
  ((SECONDS < limit)) || break
  file=$matrix name=$(basename "$matrix" .petsc)
  if [[ ! -f $matrix ]]; then
    file=$scratch/matrix
    spmv_bench --matrix "$matrix" --write "$file" >/dev/null || continue
  fi
  bench "$file" named "$parent,aijrbp,aijfold,aijcrsv,aijcodsell"
  bench "$file" predicted "$parent,aijauto" -mat_aijfmt_decline true
  bench "$file" trial "$parent,aijauto" -mat_aijfmt_decline true -mat_aijauto_trial 4
  {
    printf '%s\n{"matrix": "%s", "space": "%s", "commit": "%s"' "$separator" "$name" "$space" "$commit"
    for part in named predicted trial; do printf ', "%s": ' "$part" && cat "$scratch/$part.json"; done
    printf '}'
  } >>"$out"
  separator=','
done
printf ']\n' >>"$out"
