#!/usr/bin/env bash
# Tests GPU-aware MPI on two GPUs of this machine and measures what it brings. Called by gpu_run.sh, with the programs in
# PATH and what they load in LD_LIBRARY_PATH; it lies in the unpacked bundle.
#
#   mpi_run.sh folder seconds plugin.so commit
#
# folder/mpi.json and mpi.md have products, CG+Jacobi and CG+GAMG by solve_bench and PETSc's bench_kspsolve: on one GPU, on
# two with messages through the host, and on two with GPU-aware MPI. folder/timeline-*.json are for timeline.py. What the
# time does not suffice for is left out and told. Exit status: 0 all passed, 1 some failed, 77 there is nothing to test with.
#
# MPI_MATRICES   for solve_bench ("tet3_rcm:69 stencil7:159")     MPI_TYPES   "aijcusparse aijrbp"
# MPI_FORMAT     for conf_mat (rbp)                               MPI_N       of bench_kspsolve and mult_timeline (159)
set -uo pipefail

out=$1 end=$((SECONDS + $2)) plugin=$3 commit=$4
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
read -r -a matrices <<<"${MPI_MATRICES:-tet3_rcm:69 stencil7:159}"
read -r -a types <<<"${MPI_TYPES:-aijcusparse aijrbp}"
n=${MPI_N:-159}
setups=(one two aware)
declare -A launcher=([one]="" [two]="mpiexec -n 2" [aware]="$here/mpiexec_gpu.sh -n 2")
declare -A title=([one]="1 GPU" [two]="2 GPUs, through the host" [aware]="2 GPUs, GPU-aware MPI")
parts=$out/mpi-parts
failed=0
mkdir -p "$parts"
rm -rf "${parts:?}"/*

say() { printf '%s\n' "$*"; }
left() { say $((end - SECONDS)); }
is_aware() { if [[ $1 == aware ]]; then say 1; else say 0; fi; }

# run <most seconds> <setup> program arguments: in the setup's way, never beyond the end
run() {
  local most=$1 setup=$2 status=0 start
  shift 2
  read -r -a start <<<"${launcher[$setup]}"
  ((most <= $(left))) || most=$(left)
  if ((most < 5)); then
    say "left out, the time is spent: $*"
    failed=1
    return 1
  fi
  say "+ ${title[$setup]}: $*"
  timeout --foreground --kill-after=5 "$most" "${start[@]}" "$@" -use_gpu_aware_mpi "$(is_aware "$setup")" || status=$?
  say "= status $status, $(left) s left"
  return "$status"
}

skip() {
  say "$*"
  exit 77
}

# Each process must have a GPU of its own, which PETSc chooses by rank modulo the number of GPUs
require_two_gpus() {
  local log=$parts/two.log
  [[ -e $here/lib/ucx/libucp.so.0 ]] || skip "the bundle was packed without UCX"
  if ! run 60 two solve_bench -matrix stencil7:12 -types aijcusparse -solvers products -repeat 1 >"$log" 2>&1; then
    cat "$log"
    exit 1
  fi
  grep '^process ' "$log"
  (($(sed -n 's/^process [0-9]*: GPU //p' "$log" | sort -u | wc -l) >= 2)) || skip "this machine has fewer than 2 GPUs"
}

# Where GPU-aware MPI does not work, the rest is measured without it
check_aware() {
  local cg=(-m 300 -n 300 -ksp_type cg -pc_type jacobi -vec_type cuda -mat_type aijrbp -dll_append "$plugin")
  if run 60 aware ex2 "${cg[@]}"; then
    run 90 aware conf_mat -format "${MPI_FORMAT:-rbp}" -sample 17 -scratch "$parts/conf_mat.bin" -mat_aijfmt_decline 0 \
      -mat_aijfmt_device gpu -mat_no_inode || failed=1
  else
    say "GPU-aware MPI does not work here"
    failed=1
    setups=(one two)
  fi
  rm -f "$parts"/conf_mat.bin*
}

record_timelines() {
  local setup type
  for setup in "${setups[@]:1}"; do
    for type in "${types[@]}"; do
      run 40 "$setup" mult_timeline -n "$n" -mat_type "$type" -dll_append "$plugin" \
        -json "$out/timeline-$setup-$type.json" || failed=1
    done
  done
  python3 "$here/timeline.py" "$out"/timeline-*.json || failed=1
}

# PETSc's own program, whose clock is not ours
log_kspsolve() {
  local setup type
  for setup in "${setups[@]}"; do
    mkdir -p "$parts/$setup"
    for type in "${types[@]}"; do
      run 40 "$setup" bench_kspsolve -n "$n" -ksp_type cg -pc_type jacobi -mat_type "$type" -dll_append "$plugin" \
        -log_view ":$parts/$setup/bench_kspsolve.$type.csv:ascii_csv" >"$parts/$setup/$type.log" 2>&1 || failed=1
      say "${title[$setup]}: bench_kspsolve -n $n, $type: $(tail -n 1 "$parts/$setup/$type.log")"
    done
    python3 "$here/solve_log.py" "$parts/$setup/log.json" "$parts/$setup"/*.csv || failed=1
  done
}

# Matrix by matrix, so that the setups of one can be compared when the time ends early
run_solves() {
  local matrix setup seconds runs=$((${#matrices[@]} * ${#setups[@]}))
  for matrix in "${matrices[@]}"; do
    for setup in "${setups[@]}"; do
      seconds=$((($(left) - 5) / runs))
      runs=$((runs - 1))
      say "+ ${title[$setup]}: solve_run.sh, $matrix, $seconds s"
      mkdir -p "$parts/$setup/$matrix"
      SOLVE_LAUNCHER=${launcher[$setup]} SOLVE_GPU_AWARE=$(is_aware "$setup") SOLVE_MATRICES=$matrix SOLVE_PROGRAMS=0 \
        SOLVE_TYPES="${types[*]}" SOLVE_ARGS="-solvers products,cg_jacobi,cg_gamg -steps 0 -changes 0 -repeat 5" \
        "$here/solve_run.sh" "$parts/$setup/$matrix" "$seconds" "$plugin" "$commit" || failed=1
    done
  done
}

make_table() {
  local setup file taken=()
  for setup in "${setups[@]}"; do
    for file in "$parts/$setup"/*/solve.json "$parts/$setup/log.json"; do
      [[ ! -s $file ]] || taken+=(--take "${title[$setup]}=$file")
    done
  done
  python3 "$here/mpi_table.py" "$out/mpi.json" "${taken[@]}" --details "$out/mpi.md" || failed=1
  [[ ! -s $out/mpi.md ]] || cat "$out/mpi.md"
}

require_two_gpus
check_aware
record_timelines
log_kspsolve
run_solves
make_table
exit "$failed"
