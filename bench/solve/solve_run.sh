#!/usr/bin/env bash
# Runs solve_bench, and unchanged programs of PETSc, within a time limit. Called by gpu_run.sh; called alone it needs the
# programs in PATH and their libraries in LD_LIBRARY_PATH.
#
#   solve_run.sh folder seconds plugin.so commit [data folder]
#
# All results are in folder/solve.json, mg.json or elements-solve.json. Each matrix and type has a separate process, so that a crash does not
# affect other cells. If the time is short, cells are left out, with a message.
#
# SOLVE_SET        matrices: small (0.1 million rows), medium (0.1 and 1 million; the default), large (4 million), or
#                  mg: CG with GAMG alone, by KSPCG and by KSPCGDEVICE, 0.7 to 4 million rows, or
#                  elements: from element matrices to the solution, 5,000 rows and 1 million
# SOLVE_MATRICES   matrices instead          SOLVE_TYPES   only these types
# SOLVE_ARGS       further arguments for solve_bench
# SOLVE_PROGRAMS   0: leave PETSc's programs out
# SOLVE_LAUNCHER   for example "mpiexec -n 2"; none by default
# SOLVE_GPU_AWARE  1: PETSc may give MPI addresses of the GPU (0)
set -uo pipefail

out=$1 end=$((SECONDS + $2)) aware=(-use_gpu_aware_mpi "${SOLVE_GPU_AWARE:-0}") plugin=(-dll_append "$3" "${aware[@]}") commit=$4 data=${5:-}
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
all_types='aijcusparse aijrbp aijcodsell aijcrsv aijfold sellcuda' name=solve programs=${SOLVE_PROGRAMS:-1}
read -r -a launcher <<<"${SOLVE_LAUNCHER:-}"
case ${SOLVE_SET:-medium} in
  small) matrices=(stencil7:47 tet3_rcm:32) ;;
  medium) matrices=(stencil7:47 tet3_rcm:32 stencil7:100 tet3_rcm:69) ;;
  large) matrices=(stencil7:159 tet3_rcm:110) ;;
  mg) matrices=(tri_rcm:853 tet3_rcm:69 p1_rcm:114 p1_rcm:159 tet3_rcm:110) all_types='aijcusparse aijrbp aijauto' name=mg programs=0 ;;
  elements) matrices=(tet3_rcm:12 tet3_rcm:69) all_types='aijrbp aijauto aijcusparse' name=elements-solve programs=0 ;;
  *) echo "SOLVE_SET is small, medium, large, mg or elements, not $SOLVE_SET" >&2; exit 2 ;;
esac
read -r -a types <<<"${SOLVE_TYPES:-$all_types}"
[[ -z ${SOLVE_MATRICES:-} ]] || read -r -a matrices <<<"$SOLVE_MATRICES"
parts=$out/$name-parts
failed=0
mkdir -p "$parts"
rm -f "$parts"/*

left() { echo $((end - SECONDS)); }

# Options that limit the time for matrices of about 1 million rows, and of 4 million. sellcuda has no Galerkin products and
# no assembly by COO.
arguments_for() {
  local size=${1#*:} cells=(-loop_solvers 'cg_jacobi,cg_gamg' -loop_seconds 3)
  [[ $size =~ ^[0-9]+$ ]] || size=0
  if [[ $name == elements-solve ]]; then
    cells=(-assembly elements -peak -solvers)
    case $2 in
      aij | aijcusparse) cells+=(cg_gamg) ;;
      *) cells+=(aggdevice_gamg) ;;
    esac
    echo "${cells[*]}"
    return
  fi
  if [[ $name == mg ]]; then # PETSc's own types are the rivals of KSPCG alone
    case $2 in
      aij | aijcusparse) cells=(-steps 0 -repeat 7 -solvers cg_gamg) ;;
      *) cells=(-steps 0 -repeat 7 -solvers 'cg_gamg,cgdevice_gamg,aggdevice_gamg') ;;
    esac
    echo "${cells[*]}"
    return
  fi
  if ((size >= 105 && size < 130)) || ((size >= 140)); then cells=(-steps 3 -loop_solvers cg_jacobi -loops 'setvalues,coo_device' -repeat 3)
  elif ((size >= 60)); then cells=(-loop_solvers 'cg_jacobi,cg_gamg' -loop_seconds 2 -repeat 3); fi
  [[ $2 != sellcuda ]] || cells+=(-solvers 'products,cg_jacobi,gmres_jacobi' -loops setvalues)
  echo "${cells[*]}"
}

# Runs one matrix with one type, for at most 1.5 times its share of the remaining time
run_one() {
  local matrix=$1 type=$2 runs=$3 share status=0 part arguments
  share=$(($(left) * 3 / 2 / runs))
  ((share >= 10)) || share=10
  ((share <= $(left))) || share=$(left)
  if ((share < 8)); then
    echo "$matrix $type: left out, the time is spent"
    failed=1
    return
  fi
  part=$parts/${matrix//:/-}.$type
  read -r -a arguments <<<"$(arguments_for "$matrix" "$type")"
  echo "+ $matrix $type, at most $share s"
  # shellcheck disable=SC2086
  timeout --foreground --kill-after=5 "$share" "${launcher[@]}" solve_bench -matrix "$matrix" -types "$type" "${arguments[@]}" \
    ${SOLVE_ARGS:-} -budget "$((share * 7 / 10))" -commit "$commit" -json "$part.json" "${aware[@]}" \
    -launcher "${launcher[*]##*/}" -options_left no >"$part.log" 2>&1 || status=$?
  grep -E 'ERROR|WRONG' "$part.log" | cut -c 1-300
  ((status == 0)) || tail -n 2 "$part.log" | cut -c 1-200
  echo "= status $status, $(left) s left"
  ((status == 0)) || failed=1
}

# Runs a program of PETSc with -log_view, whose times are the only ones here that are measured by PETSc
log_program() {
  local name=$1 type status
  shift
  for type in "${types[@]}"; do
    [[ $type != sellcuda ]] || continue
    status=0
    timeout --foreground --kill-after=5 30 "$@" -mat_type "$type" "${plugin[@]}" \
      -log_view ":$parts/$name.$type.csv:ascii_csv" >"$parts/$name.$type.log" 2>&1 || status=$?
    echo "$name $type: status $status"
    ((status == 0)) || failed=1
  done
}

log_programs() {
  local gamg=(-ksp_type cg -pc_type gamg -mg_levels_ksp_type chebyshev -mg_levels_pc_type jacobi) file
  log_program ex56 ex56 -ne 39 -alpha 1.e-3 -use_mat_nearnullspace "${gamg[@]}"
  log_program bench_kspsolve bench_kspsolve -n 100 -ksp_type cg -pc_type jacobi
  [[ -n $data && -n $(command -v ex10) ]] || return 0
  for file in "$data"/*.petsc; do
    [[ ! -e $file ]] || log_program "ex10_$(basename "$file" .petsc)" ex10 -f "$file" -rhs one -ksp_type cg -pc_type jacobi
  done
}

# PETSc's programs come first, because they are short and their time is known
if ((programs)); then log_programs; fi
pairs=()
for matrix in "${matrices[@]}"; do # in the order of the tables
  for type in "${types[@]}"; do
    # at 4 million rows there is no time for a third type, unless SOLVE_TYPES requests it
    [[ $name == mg && -z ${SOLVE_TYPES:-} && $type == aijauto && $matrix =~ :(159|110)$ ]] || pairs+=("$matrix $type")
  done
done
runs=${#pairs[@]}
for pair in "${pairs[@]}"; do
  # shellcheck disable=SC2086
  run_one $pair "$runs"
  runs=$((runs - 1))
done
logs=("$parts"/*.csv)
if [[ -e ${logs[0]} ]]; then python3 "$here/solve_log.py" "$parts/log_view.json" "${logs[@]}" || failed=1; fi
files=()
for pair in "${pairs[@]}"; do
  file=${pair//:/-}
  file=$parts/${file// /.}.json
  [[ ! -s $file ]] || files+=("$file")
done
[[ ! -s $parts/log_view.json ]] || files+=("$parts/log_view.json")
((${#files[@]})) || exit 1
python3 "$here/solve_table.py" "${files[@]}" --merge "$out/$name.json" --details "$out/$name.md" || failed=1
# no phase and no step may be missing
if [[ $name == elements-solve ]]; then python3 "$here/solve_table.py" "$out/$name.json" --check || failed=1; fi
exit "$failed"
