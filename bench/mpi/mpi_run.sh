#!/usr/bin/env bash
# Tests and measures petscpack on two GPUs of this machine. Called by gpu_run.sh in the unpacked bundle, with the programs in
# PATH and their libraries in LD_LIBRARY_PATH.
#
#   mpi_run.sh folder seconds plugin.so commit
#
# Tests come first: KSPCGDEVICE through NCCL against KSPCG, multigrid hierarchies, parallel products, random sequences.
# folder/mpi.json and mpi.md have CG with Jacobi and with GAMG by solve_bench: petscpack on one GPU and on two through
# NCCL, aijcusparse on one and on two with GPU-aware MPI. folder/timeline-*.json are for timeline.py. If the time is over,
# the remaining parts are left out, with a message. Exit status: 0 all passed, 1 some failed, 77 no two GPUs to test with.
#
# MPI_PARTS      which of: tests timelines solves (all)
# MPI_MATRICES   for CG with Jacobi ("tet3_rcm:69 p1_rcm:114"); names of multigrid in MPI_GAMG ("tet3_rcm:69")
# MPI_TYPE       the type of petscpack (aijrbp)               MPI_RIVAL   1: aijcusparse too (1)
# MPI_FORMAT     for conf_mat (rbp)                           MPI_N       of mult_timeline (159)
# MPI_ARGS       further arguments for solve_bench            MPI_FUZZ    sequences (300)
set -uo pipefail

out=$1 end=$((SECONDS + $2)) plugin=$3 commit=$4
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
read -r -a matrices <<<"${MPI_MATRICES-tet3_rcm:69 p1_rcm:114}"
read -r -a hierarchies <<<"${MPI_GAMG-tet3_rcm:69}"
type=${MPI_TYPE:-aijrbp} n=${MPI_N:-159}
declare -A launcher=([one]="" [two]="mpiexec -n 2" [aware]="$here/mpiexec_gpu.sh -n 2")
declare -A title=([one]="1 GPU" [two]="2 GPUs" [aware]="2 GPUs, GPU-aware MPI")
parts=$out/mpi-parts
failed=0
taken=()
mkdir -p "$parts"
rm -rf "${parts:?}"/*

say() { printf '%s\n' "$*"; }
left() { say $((end - SECONDS)); }
has_part() { [[ " ${MPI_PARTS:-tests timelines solves} " == *" $1 "* ]]; }

# run <most seconds> <setup> program arguments: runs a program in a setup, at most until the end
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
  timeout --foreground --kill-after=5 "$most" "${start[@]}" "$@" -use_gpu_aware_mpi "$([[ $setup == aware ]] && say 1 || say 0)" || status=$?
  say "= status $status, $(left) s left"
  ((status == 0)) || failed=1
  return "$status"
}

skip() {
  say "$*"
  exit 77
}

# Each process needs a separate GPU; PETSc chooses it by rank modulo the number of GPUs
require_two_gpus() {
  local log=$parts/two.log
  if ! run 60 two solve_bench -matrix stencil7:12 -types aijcusparse -solvers products -repeat 1 >"$log" 2>&1; then
    cat "$log"
    exit 1
  fi
  grep '^process ' "$log"
  (($(sed -n 's/^process [0-9]*: GPU //p' "$log" | sort -u | wc -l) >= 2)) || skip "this machine has fewer than 2 GPUs"
}

# The status of mpiexec reports the death only, so the message of the surviving process is checked
let_one_die() {
  local said
  say "+ 2 GPUs: cgdevice_peer"
  said=$(timeout --kill-after=5 90 mpiexec -disable-auto-cleanup -n 2 cgdevice_peer -use_gpu_aware_mpi 0 2>&1)
  grep -E '^error [1-9][0-9]* after [0-9.]+ s' <<<"$said" || failed=1
}

test_all() {
  local device=(-mat_aijfmt_decline 0 -mat_aijfmt_device gpu)
  run 120 two cgdevice_compare -mode graph -expect_nccl 1 | tail -n 5
  run 60 two cgdevice_compare -mode chunk -expect_nccl 1 "${device[@]}" | tail -n 5
  run 60 two cgdevice_compare -mode graph -petscpack_nccl off -expect_nccl 0 | tail -n 5
  run 60 two mgdevice_table -sample 13 -expect_nccl 1 | tail -n 5
  run 60 two mgdevice_pc -expect_nccl 1 | tail -n 5
  run 60 two gmresdevice_test -sample 9 | tail -n 5
  let_one_die
  run 120 two conf_mat -format "${MPI_FORMAT:-rbp}" -sample 17 -scratch "$parts/conf_mat.bin" "${device[@]}" -mat_no_inode | tail -n 3
  rm -f "$parts"/conf_mat.bin*
  if ((${MPI_FUZZ:-300})); then
    say "+ fuzz.sh, ${MPI_FUZZ:-300} sequences on two processes"
    "$here/fuzz.sh" --program "$here/bin/fuzz_mat" --mpiexec "$here/bin/mpiexec" --where GPU --seconds 100 --parent aijcusparse \
      --report "$out/fuzz-two.md" --count "${MPI_FUZZ:-300}" --ranks 2 -- -mat_aijfmt_device gpu -mat_no_inode \
      -petscpack_replace cg,gmres,gamg | tail -n 5 || failed=1
  fi
}

record_timelines() {
  local iterations=(-iterations 8 -pc_type jacobi)
  run 40 two mult_timeline -n "$n" -mat_type "$type" "${iterations[@]}" -ksp_type cgdevice -dll_append "$plugin" -json "$out/timeline-nccl.json"
  if ((${MPI_RIVAL:-1})); then
    run 40 aware mult_timeline -n "$n" -mat_type aijcusparse "${iterations[@]}" -ksp_type cg -json "$out/timeline-aijcusparse.json"
  fi
  python3 "$here/timeline.py" "$out"/timeline-*.json || failed=1
}

# solve <setup> <type> <solvers> <matrix>
solve() {
  local setup=$1 of=$2 solvers=$3 matrix=$4 file
  file=$parts/$setup.$of.${matrix//:/-}.${solvers%%,*}
  # shellcheck disable=SC2086
  run $(($(left) / 2)) "$setup" solve_bench -matrix "$matrix" -types "$of" -solvers "$solvers" -steps 0 -changes 2 -repeat 5 ${MPI_ARGS:-} \
    -json "$file.json" -commit "$commit" -launcher "${launcher[$setup]##*/}" -options_left no >"$file.log" 2>&1
  grep -E 'ERROR|WRONG' "$file.log" | cut -c 1-300
  tail -n 1 "$file.log" | cut -c 1-200
  [[ ! -s $file.json ]] || taken+=(--take "${title[$setup]}=$file.json")
}

# Matrix by matrix, so that all setups of a matrix can be compared even if the time ends early
run_solves() {
  local matrix
  for matrix in "${matrices[@]}"; do
    for setup in one two; do solve "$setup" "$type" cgdevice_jacobi "$matrix"; done
    if ((${MPI_RIVAL:-1})); then for setup in one aware; do solve "$setup" aijcusparse cg_jacobi "$matrix"; done; fi
  done
  for matrix in "${hierarchies[@]}"; do
    for setup in one two; do solve "$setup" "$type" cgdevice_gamg,aggdevice_gamg "$matrix"; done
    if ((${MPI_RIVAL:-1})); then for setup in one aware; do solve "$setup" aijcusparse cg_gamg "$matrix"; done; fi
  done
  python3 "$here/mpi_table.py" "$out/mpi.json" "${taken[@]}" --details "$out/mpi.md" || failed=1
  [[ ! -s $out/mpi.md ]] || cat "$out/mpi.md"
}

require_two_gpus
if has_part tests; then test_all; fi
if has_part timelines; then record_timelines; fi
if has_part solves; then run_solves; fi
exit "$failed"
