#!/usr/bin/env bash
# Runs the tests and benchmarks of a bundle (scripts/gpu_bundle.sh) on a machine with a GPU. Call it in the unpacked bundle.
#
#   ./gpu_run.sh output-folder [step ...]
#
#   conformance   compares every format with the host on all data
#   mat           the Mat types in PETSc: operations compared with plain AIJ, device memory, solvers
#   fuzz          random sequences of operations on every type and on twins of plain aij, with matrices on the GPU
#   sanitizer     compute-sanitizer memcheck and racecheck on the quick conformance, and a few iterations of the engine of
#                 KSPCGDEVICE
#   petsc         PETSc's own programs, unmodified: compares iterations with aijcusparse and with aijrbp
#   bench         spmv_bench against cuSPARSE, then petsc_bench and coo_bench against PETSc's types through MatMult
#                 and MatSetValuesCOO
#   sweep         spmv_bench of crsv with every number of threads per row and every variant, of fold over (q, r), and of fold
#                 with a matrix ten times larger than its limit of device memory
#   fold_paper    the measurements of the paper on the Fold method, in single and double precision
#   spgemm        spgemm_bench: products of matrices, compared with cuSPARSE
#   coo           elements_bench: patterns and values from lists of element matrices, compared with the host
#   cg            KSPCGDEVICE compared with KSPCG, also with multigrid; cg_bench: iterations of its engine in every mode, and
#                 the product alone
#   solve         solve_bench: all phases of a solve with PETSc's types and with ours; PETSc's own programs with -log_view
#   mg            solve_bench: CG with GAMG by KSPCG and by KSPCGDEVICE, 0.7 to 4 million rows
#   elements      solve_bench: from element matrices to the solution, and ten steps, with aijcusparse and with ours, 1 million rows
#   stokes        ex42 of PETSc: a field split, whose velocities have gamg or gamgdevice (stokes_run.sh)
#   launches      solve_launches.py: the kernels of one such solve, by Nsight Compute; skipped if it is not installed
#   mpi           tests and measurements on two GPUs (mpi_run.sh); skipped with one GPU
#   distro        on the PETSc of a distribution, without CUDA: every format on the GPU, PETSc's vectors on the host
#   mg_distro     the step mg on that PETSc, compared with aij on one core: 0.4 million rows
#   dolfinx       the binary wheel: programs of DOLFINx, unchanged, with aij on one core and with petscpack, compared
#
# Without a step it runs all steps in this order. After a failed step it goes on with the next; a step whose part is not in
# the bundle is skipped. Each step writes a log, benchmarks also write JSON; summary.txt has the outcome. Exit status: 0 all
# passed, 1 some failed, 2 wrong usage, 77 no GPU.
#
# LIMIT_conformance, LIMIT_mat, LIMIT_fuzz, LIMIT_sanitizer, LIMIT_petsc, LIMIT_bench, LIMIT_sweep, LIMIT_fold_paper,
# LIMIT_spgemm, LIMIT_coo, LIMIT_cg, LIMIT_gamg, LIMIT_solve, LIMIT_mg, LIMIT_elements, LIMIT_stokes, LIMIT_launches, LIMIT_mpi, LIMIT_distro, LIMIT_mg_distro,
# LIMIT_dolfinx
#                     time limit of each step in seconds (600, 600, 300, 300, 240, 420, 240, 120, 120, 180, 180, 120, 480, 360, 420, 60, 300, 300, 500, 300, 570)
# CONF_SAMPLE         runs every N-th combination of the conformance table; 1: all, which takes minutes per format (5)
# CONF_SAMPLE_FULL    the same for the table with larger matrices and every option setting (211), 0: none
# CONF_FORMATS        only these formats (all)
# CONF_SHARES         number of processes for them (the number of cores; 1 if NVIDIA's MPS, by which processes share a GPU,
#                     is missing)
# BENCH_ARGS          arguments for spmv_bench (--set default)
# FOLD_PAPER_ARGS     arguments for fold_paper (--shapes --matrix powerlaw:1000000)
# SPGEMM_ARGS         arguments for spgemm_bench (none: its default set); COO_ARGS for elements_bench, CG_ARGS for cg_bench
# MG_MATRICES, MG_TYPES, MG_ARGS: as SOLVE_*, for mg and mg_distro; ELEMENTS_* for elements; LAUNCHES_ARGS for solve_launches.py
# SOLVE_SET, SOLVE_MATRICES, SOLVE_TYPES, SOLVE_ARGS, SOLVE_PROGRAMS: see solve_run.sh; STOKES_*: see stokes_run.sh; MPI_*: see mpi_run.sh
# PETSC_BENCH         matrices for petsc_bench ("tet3_rcm:65 hex3:80"); empty: none
# FUZZ_ARGS           arguments for fuzz.sh (--count 1000 --ranks 1); FUZZ_SKIP: operations to leave out
# DOLFINX_ARGS        arguments for dolfinx_run.py (--cells 50 --newton-cells 41), PYTHON a Python 3.12 for it (python3)
# CUDA_HOME           where the CUDA libraries are (/usr/local/cuda)
set -uo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cuda=${CUDA_HOME:-/usr/local/cuda}
all_steps=(conformance mat fuzz sanitizer petsc bench sweep fold_paper spgemm coo cg gamg solve mg elements stokes launches mpi distro mg_distro dolfinx)
declare -A limit=([conformance]=${LIMIT_conformance:-600} [mat]=${LIMIT_mat:-600} [fuzz]=${LIMIT_fuzz:-300} [sanitizer]=${LIMIT_sanitizer:-300}
  [petsc]=${LIMIT_petsc:-240} [bench]=${LIMIT_bench:-420} [sweep]=${LIMIT_sweep:-240} [fold_paper]=${LIMIT_fold_paper:-120}
  [spgemm]=${LIMIT_spgemm:-120} [coo]=${LIMIT_coo:-180} [cg]=${LIMIT_cg:-180} [gamg]=${LIMIT_gamg:-120} [solve]=${LIMIT_solve:-480} [mpi]=${LIMIT_mpi:-300} [distro]=${LIMIT_distro:-500}
  [mg]=${LIMIT_mg:-360} [elements]=${LIMIT_elements:-420} [stokes]=${LIMIT_stokes:-60} [launches]=${LIMIT_launches:-300} [mg_distro]=${LIMIT_mg_distro:-300} [dolfinx]=${LIMIT_dolfinx:-570})
plugin=(-dll_append "$here/lib/libpetscpack.so" -use_gpu_aware_mpi 0)
# shellcheck source=scripts/gpu_part.sh
source "$here/gpu_part.sh"

say() { printf '%s\n' "$*"; }

# Prints the value of a key in the bundle's manifest
manifest() { sed -n "s/^$1 //p" "$here/MANIFEST"; }

usage() {
  say "usage: gpu_run.sh output-folder [step ...]; steps: ${all_steps[*]}" >&2
  exit 2
}

# Runs a command with a time limit and reports it. After a failure the step goes on, and fails at its end. Runs in the
# foreground, so that the step's own limit reaches the command too.
failed=0
single=60
try() {
  local begin=$SECONDS status=0
  say "+ $*"
  timeout --foreground --kill-after=5 "$single" "$@" || status=$?
  say "= status $status after $((SECONDS - begin)) s"
  ((status == 0)) || failed=1
  return "$status"
}

# The same in the background, for programs that mostly wait: collect() waits for all of them and prints their output
asides=()
try_aside() {
  (
    failed=0
    try "$@"
    exit "$failed"
  ) >"$scratch/aside.${#asides[@]}" 2>&1 &
  asides+=($!)
}
collect() {
  local k
  for k in "${!asides[@]}"; do
    wait "${asides[k]}" || failed=1
    cat "$scratch/aside.$k"
  done
  asides=()
}

# Processes that share a GPU take turns, which is slower than one process, unless an MPS server runs their kernels together
start_sharing() {
  export CUDA_MPS_PIPE_DIRECTORY=$scratch/mps CUDA_MPS_LOG_DIRECTORY=$scratch/mps
  mkdir -p "$scratch/mps"
  shares=1
  nvidia-cuda-mps-control -d 2>&1 || return 0
  shares=$(((${CONF_SHARES:-$(env -u OMP_NUM_THREADS nproc)} - 1) / 2 * 2 + 1)) # nproc would return the value of that variable
}

# shellcheck disable=SC2317 # called by the trap
stop_sharing() { [[ ! -d $scratch/mps ]] || echo quit | nvidia-cuda-mps-control >/dev/null 2>&1 || true; }

# Divides a format's combinations among as many processes as there are cores, because most of the time is spent on the host.
# The number of shares is odd, because every fourth combination takes much longer than the others.
share_conformance() {
  local format=$1 tier=$2 sample=$3 begin=$SECONDS k pids=() logs=$scratch/share
  say "+ conf_kernels --space device --tier $tier --format $format --sample $sample in $shares processes"
  for ((k = 0; k < shares; k++)); do
    timeout --foreground --kill-after=5 "$single" conf_kernels --space device --tier "$tier" --format "$format" \
      --sample $((sample * shares)) --offset $((sample * k)) >"$logs.$k" 2>&1 &
    pids+=($!)
  done
  for ((k = 0; k < shares; k++)); do
    if ! wait "${pids[k]}"; then
      failed=1
      say "share $k failed or was cut:"
      tail -n 25 "$logs.$k"
    fi
  done
  grep -h '^skipped:' "$logs".* | sort -u
  sed -n 's/^\([0-9]*\) passed, \([0-9]*\) failed$/\1 \2/p' "$logs".* |
    awk -v format="$format" -v of="$shares" -v took=$((SECONDS - begin)) \
      '{ p += $1; f += $2 } END { printf "= %s: %d passed, %d failed, %d of %d shares to their end, after %d s\n", format, p, f, NR, of, took }'
  rm -f "$logs".*
}

step_conformance() {
  local format formats shares
  single=$((limit[conformance] / 2))
  read -r -a formats < <(manifest formats)
  try unit_kernels
  start_sharing
  for format in ${CONF_FORMATS:-${formats[*]}}; do share_conformance "$format" quick "${CONF_SAMPLE:-5}"; done
  ((${CONF_SAMPLE_FULL:-211})) || return 0
  # larger matrices and all option settings take longest, so they come last: the limit cuts only these
  for format in ${CONF_FORMATS:-${formats[*]}}; do share_conformance "$format" full "${CONF_SAMPLE_FULL:-211}"; done
}

# First with small matrices forced to the GPU; then again with those that a format declines left to PETSc's type. With CUDA in
# PETSc our types build on aijcusparse, which has no inodes. Inodes are turned off for plain aij, because its orderings and
# factors would differ.
no_inodes=-mat_no_inode

step_mat() {
  local format formats program ranks common=(-mat_aijfmt_device gpu -use_gpu_aware_mpi 0 "$no_inodes")
  local insist=(-mat_aijfmt_decline 0 -conf_mat_aijfmt_decline 0) # one operation has a prefix
  single=$((limit[mat] * 2 / 3))
  read -r -a formats < <(manifest formats)
  for format in "${formats[@]}"; do try mat_device_memory -mat_type "aij$format" -use_gpu_aware_mpi 0; done # alone
  for format in "${formats[@]}"; do try mat_truth -format "$format" "${common[@]}" -mat_aijfmt_decline 0 -malloc_dump; done
  for ranks in 1 2; do
    try mpiexec -n "$ranks" mat_decide -expect_gpu -use_gpu_aware_mpi 0 -malloc_dump
    try mpiexec -n "$ranks" mat_coo "${common[@]}" -mat_aijfmt_decline 0 -expect "coordinates sorted on the GPU" -malloc_dump
    try mpiexec -n "$ranks" mat_transpose "${common[@]}" -mat_aijfmt_decline 0 -gpu -malloc_dump
  done
  # cuSPARSE does the products of declined matrices, and gives wrong results at times if processes share a GPU through MPS
  for format in "${formats[@]}"; do
    try_aside conf_mat -format "$format" -scratch "$scratch/conf_mat.$format.declines" "${common[@]}" -sample 3 -malloc_dump
  done
  collect
  start_sharing
  for format in "${formats[@]}"; do
    for ranks in 1 2; do
      try_aside mpiexec -n "$ranks" mat_values -format "$format" "${common[@]}" -malloc_dump
      try_aside mpiexec -n "$ranks" mat_reads -format "$format" -scratch "$scratch/mat_reads.$format.$ranks" \
        -mat_aijfmt_decline 0 "${common[@]}" -malloc_dump
    done
  done
  for format in "${formats[@]}"; do
    for ranks in 1 2; do
      try_aside mpiexec -n "$ranks" conf_mat -format "$format" -scratch "$scratch/conf_mat.$format.$ranks" \
        "${insist[@]}" "${common[@]}" -malloc_dump
    done
  done
  collect
  for ranks in 1 2; do # matrices of plain aij, under the name of PETSc's type or under ours for their blocks
    try_aside mpiexec -n "$ranks" conf_mat -petscpack_replace aij,cg,gmres,mg,gamg -scratch "$scratch/conf_mat.plain.$ranks" \
      "${insist[@]}" "${common[@]}" -sample 3 -malloc_dump
    try_aside mpiexec -n "$ranks" mat_reads -petscpack_replace aij,cg,gmres,mg,gamg -scratch "$scratch/mat_reads.plain.$ranks" \
      -mat_aijfmt_decline 0 "${common[@]}" -sample 3 -malloc_dump
    try_aside mpiexec -n "$ranks" conf_mat -mat_seqaij_type seqaijrbp -scratch "$scratch/conf_mat.named.$ranks" \
      "${insist[@]}" "${common[@]}" -sample 7 -malloc_dump
  done
  collect
  for program in ksp_history ksp_refresh; do try mpiexec -n 2 "$program" "${insist[@]}" "${common[@]}"; done
  try mpiexec -n 2 bench_kspsolve -n 100 -ksp_type cg -pc_type jacobi -mat_type aijfold \
    -mat_aijfold_device_memory 20000000 -ksp_converged_reason -ksp_error_if_not_converged "${plugin[@]}"
}

# Small matrices are on the GPU too; the matrix makes the vectors
# run_fuzz <seconds> <folder> <report> <PETSc's type beneath ours>
run_fuzz() {
  single=$1
  # shellcheck disable=SC2086
  try "$here/fuzz.sh" --program "$2/bin/fuzz_mat" --mpiexec "$2/bin/mpiexec" --where GPU --seconds $((single * 6 / 10)) \
    --parent "$4" --report "$out/$3" ${FUZZ_ARGS:---count 1000 --ranks 1} -- -mat_aijfmt_device gpu "$no_inodes" ${FUZZ_SKIP:+-fuzz_skip $FUZZ_SKIP}
}
step_fuzz() { run_fuzz $((limit[fuzz] - 5)) "$here" fuzz.md aijcusparse; }

step_sanitizer() {
  local tool sanitizer units
  single=$((limit[sanitizer] / 3))
  sanitizer=$(command -v compute-sanitizer || find "$cuda" /usr/local /opt -name compute-sanitizer -type f -print -quit 2>/dev/null)
  if [[ -z $sanitizer ]]; then
    say "compute-sanitizer is not on this machine"
    failed=1
    return
  fi
  for tool in memcheck racecheck; do # which takes ten times as long
    units=(cg_of_a_few_iterations cycle_on_the_device_makes_levels_one_matrix cycle_takes_a_null_space_out_of_its_result
      gmres_of_an_indefinite_and_of_a_singular_matrix gmres_of_several_thread_blocks cycle_between_double_vectors_of_many_rows)
    [[ $tool == racecheck ]] || units+=(cycle_graph_test.c)
    try "$sanitizer" --tool "$tool" --error-exitcode 9 --print-limit 20 "$here/bin/unit_kernels" "${units[@]}"
    try "$sanitizer" --tool "$tool" --error-exitcode 9 --print-limit 20 \
      "$here/bin/conf_kernels" --space device --tier quick --sample "$([[ $tool == memcheck ]] && say 1999 || say 14983)"
  done
}

# Runs one program with a type of PETSc and with ours; the lines about iterations must be equal
compare_types() {
  local theirs=$1 ranks=$2 type name
  shift 2
  name=$scratch/$(basename "$1").$ranks
  for type in "$theirs" aijrbp; do
    try mpiexec -n "$ranks" "$@" -mat_type "$type" "${plugin[@]}" >"$name.$type" 2>&1
    cat "$name.$type"
    grep -o -i -E 'iterations[ =:]*[0-9]+|due to [A-Z_]+' "$name.$type" >"$name.$type.iterations"
  done
  if [[ -s $name.$theirs.iterations ]] && diff "$name.$theirs.iterations" "$name.aijrbp.iterations"; then
    say "SAME iterations: $1 on $ranks rank(s): $(tr '\n' ' ' <"$name.aijrbp.iterations")"
  else
    say "DIFFERENT iterations: $1 on $ranks rank(s)"
    failed=1
  fi
}

step_petsc() {
  local ranks cg=(-ksp_type cg -ksp_converged_reason)
  local gamg=(-pc_type gamg -use_mat_nearnullspace -mg_levels_ksp_type chebyshev -mg_levels_pc_type jacobi)
  for ranks in 1 2; do
    compare_types aijcusparse "$ranks" ex2 -m 300 -n 300 "${cg[@]}" -pc_type jacobi -vec_type cuda # aijcusparse takes no other
    compare_types aijcusparse "$ranks" ex56 -ne 19 -alpha 1.e-3 "${cg[@]}" "${gamg[@]}"
    compare_types aijcusparse "$ranks" bench_kspsolve -n 100 "${cg[@]}" -pc_type jacobi
  done
}

# petsc_bench writes one JSON object per run; joins them to an array
run_petsc_bench() {
  local matrix ranks separator='[' json=$out/petsc_bench.json
  : >"$json"
  for matrix in ${PETSC_BENCH-tet3_rcm:65 hex3:80}; do
    try spmv_bench --matrix "$matrix" --write "$scratch/$matrix.petsc" || continue
    for ranks in 1 2; do
      try mpiexec -n "$ranks" petsc_bench -f "$scratch/$matrix.petsc" -json "$scratch/part.json" "${plugin[@]}"
      [[ -s $scratch/part.json ]] || continue
      { say "$separator" && sed "s|$scratch/||" "$scratch/part.json"; } >>"$json"
      separator=','
      rm -f "$scratch/part.json"
    done
    rm -f "$scratch/$matrix.petsc"
  done
  if [[ $separator == ',' ]]; then say ']' >>"$json"; else rm -f "$json"; fi
}

step_bench() {
  local commit
  single=$((limit[bench] * 8 / 10))
  commit=$(manifest commit)
  # the last matrix may begin just before the budget ends
  # shellcheck disable=SC2086
  try spmv_bench ${BENCH_ARGS:---set default} --budget $((limit[bench] * 6 / 10)) --commit "$commit" --out "$out/bench.json"
  run_petsc_bench
  try coo_bench -matrix stencil27:60 -repeat 3 -types aijcusparse,aijrbp,aijfold,aijcrsv,aijcodsell -json "$out/coo_bench.json" \
    -use_gpu_aware_mpi 0
}

# Compares options with each other, so without peers, which the step bench has; each is converted once
step_sweep() {
  local commit crsv=crsv,crsv:nt=rule lanes variant matrix matrices=() limited=fold:device_memory=43700000
  single=$((limit[sweep] * 6 / 10))
  commit=$(manifest commit)
  for lanes in 1 2 4 8 16 32; do crsv+=",crsv:nt=$lanes"; done
  for variant in no_readonly outer_loop shared; do crsv+=",crsv:nt=rule:variant=$variant"; done
  for matrix in hex3:80 tet3_rcm:65 p1_rcm:130 stencil7:200 stencil5:2500 p2_rcm:50 powerlaw:1000000; do
    matrices+=(--matrix "$matrix")
  done
  try spmv_bench "${matrices[@]}" --convert-once --formats "$crsv" --commit "$commit" --out "$out/crsv.json"
  try spmv_bench --set default --no-peers --convert-once --budget $((limit[sweep] * 5 / 10)) --commit "$commit" \
    --formats "$("$here/fold_sweep.py" --formats | tr ',' '\n' | grep -v 1000000 | paste -sd,)" --out "$out/fold.json"
  try spmv_bench --matrix tet3_rcm:65 --no-peers --convert-once --commit "$commit" --out "$out/outofcore.json" \
    --formats "fold,$limited,$limited:gather=device,$limited:gather=host"
}

step_fold_paper() {
  local commit
  single=$((limit[fold_paper] - 5))
  commit=$(manifest commit)
  # shellcheck disable=SC2086
  try fold_paper ${FOLD_PAPER_ARGS:---shapes --matrix powerlaw:1000000} --commit "$commit" --out "$out/fold_paper.json"
}

step_spgemm() {
  single=$((limit[spgemm] - 5))
  try unit_kernels spgemm_test.c aggregate_test.c aggregate_fault_test.c tentative_test.c
  # shellcheck disable=SC2086
  try spgemm_bench ${SPGEMM_ARGS:-} --commit "$(manifest commit)" --out "$out/spgemm.json"
}

step_coo() {
  single=$((limit[coo] - 5))
  try unit_kernels coo_test.c coo_fault_test.c
  # shellcheck disable=SC2086
  try elements_bench ${COO_ARGS:-} --commit "$(manifest commit)" --out "$out/elements.json"
}

step_cg() {
  local mode program
  single=$((limit[cg] - 5))
  try unit_kernels cg_test.c cg_fault_test.c operator_test.c cycle_test.c cycle_cg_test.c cycle_graph_test.c cycle_fault_test.c \
    cycle_null_test.c cycle_outer_test.c gmres_test.c
  for mode in auto chunk graph persistent; do try cgdevice_compare -mode "$mode" -use_gpu_aware_mpi 0; done
  for program in cgdevice_cases cgdevice_repeat cgdevice_mixed gmresdevice_test mgdevice_table mgdevice_repeat mgdevice_single mgdevice_pc mgdevice_watch; do
    try "$program" -use_gpu_aware_mpi 0
  done
  for program in mgdevice_table mgdevice_repeat; do
    try "$program" -use_gpu_aware_mpi 0 -mat_aijfmt_decline 0 -mat_aijfmt_device gpu
  done
  # shellcheck disable=SC2086
  try cg_bench ${CG_ARGS:-} --budget $((limit[cg] * 6 / 10)) --commit "$(manifest commit)" --out "$out/cg.json"
}

# The set-up of GAMG: graphs, aggregates, prolongators
step_gamg() {
  local kind
  single=$((limit[gamg] / 2))
  try unit_kernels graph_test.c aggregate_test.c tentative_test.c aggregate_fault_test.c
  try mat_graph -format rbp -expect_gpu -mat_aijfmt_device gpu -use_gpu_aware_mpi 0
  for kind in aij aijcusparse aijrbp; do try aggdevice_test -type "$kind" -use_gpu_aware_mpi 0 -mat_aijfmt_device gpu; done
}

step_solve() {
  single=$((limit[solve] - 5))
  try "$here/solve_run.sh" "$out" $((single - 15)) "$here/lib/libpetscpack.so" "$(manifest commit)" "$here/data"
}

# Multigrid: time limit, default matrices and types, and the plugin
run_mg() {
  single=$(($1 - 5))
  try env SOLVE_SET=mg SOLVE_MATRICES="${MG_MATRICES:-$2}" SOLVE_TYPES="${MG_TYPES:-$3}" SOLVE_ARGS="${MG_ARGS:-}" \
    "$here/solve_run.sh" "$out" $((single - 15)) "$4/lib/libpetscpack.so" "$(manifest commit)"
}
step_mg() { run_mg "${limit[mg]}" '' '' "$here"; }
step_mg_distro() {
  out=$out/mg_distro # its mg.json lies there
  run_mg "${limit[mg_distro]}" 'tri_rcm:630 tet3_rcm:51 p1_rcm:74' 'aijrbp aijauto aij' "$here/distro"
}

step_elements() {
  single=$((limit[elements] - 5))
  try env SOLVE_SET=elements SOLVE_MATRICES="${ELEMENTS_MATRICES:-}" SOLVE_TYPES="${ELEMENTS_TYPES:-}" SOLVE_ARGS="${ELEMENTS_ARGS:-}" \
    "$here/solve_run.sh" "$out" $((single - 15)) "$here/lib/libpetscpack.so" "$(manifest commit)"
}

step_stokes() {
  single=$((limit[stokes] - 2))
  try "$here/stokes_run.sh" "$out" $((single - 3)) "$here/lib/libpetscpack.so"
}

step_launches() {
  local status=0
  # shellcheck disable=SC2086
  "$here/solve_launches.py" "$out/launches.json" --commit "$(manifest commit)" ${LAUNCHES_ARGS:-} || status=$?
  ((status != 77)) || exit 77
  ((status == 0)) || failed=1
}

step_mpi() { "$here/mpi_run.sh" "$out" $((limit[mpi] - 20)) "$here/lib/libpetscpack.so" "$(manifest commit)" || failed=$?; }

# The plan of a matrix on the GPU with PETSc's vectors on the host: an unmodified program of PETSc, then every format
step_distro() {
  local format formats ranks device=(-mat_aijfmt_device gpu -mat_aijfmt_decline 0)
  read -r -a formats < <(manifest formats)
  single=$((limit[distro] * 2 / 3))
  plugin=(-dll_append "$here/distro/lib/libpetscpack.so" -mat_aijfmt_device gpu -ksp_view_mat ::ascii_info)
  for ranks in 1 2; do
    compare_types aij "$ranks" ex2 -m 300 -n 300 -ksp_type cg -ksp_converged_reason -pc_type jacobi
    # otherwise the host has computed all of this
    if ! grep -q -E '^ +on the GPU|[1-9][0-9]* on the GPU, 0 declined' "$scratch/ex2.$ranks.aijrbp"; then
      say "ex2 on $ranks rank(s): the matrix was not on the GPU"
      failed=1
    fi
    try mpiexec -n "$ranks" mat_options -malloc_dump
    try mpiexec -n "$ranks" ksp_history "${device[@]}" -malloc_dump
  done
  start_sharing
  for format in "${formats[@]}"; do
    for ranks in 1 2; do
      try_aside mpiexec -n "$ranks" conf_mat -format "$format" -scratch "$scratch/conf_mat.$format.$ranks" \
        "${device[@]}" -malloc_dump
    done
  done
  collect
  try mpiexec -n 1 conf_mat -format rbp -scratch "$scratch/conf_mat.bin" -mat_aijfmt_device auto -mat_aijfmt_decline 0
  run_fuzz 100 "$here/distro" fuzz-distro.md aij
}

# DOLFINx's libraries find each other, and MPICH in the folder of its wheel. FFCx compiles forms into the cache.
use_dolfinx() {
  local site=$here/dolfinx/site
  python=${PYTHON:-python3}
  PYTHONPATH=$site
  LD_LIBRARY_PATH=$(ls -d "$site"/mpich-*.data/data/lib):$site/dolfinx_solver/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
  export PYTHONPATH LD_LIBRARY_PATH XDG_CACHE_HOME=$scratch/cache
}

step_dolfinx() {
  single=$((limit[dolfinx] - 10))
  # shellcheck disable=SC2086
  try "$python" "$here/dolfinx/dolfinx_run.py" "$here/dolfinx/programs" "$out/dolfinx.json" ${DOLFINX_ARGS:---cells 50 --newton-cells 41}
}

# The part of the bundle that a step runs with, and its environment
folder_of_step() { case $1 in distro | dolfinx) say "$here/$1" ;; mg_distro) say "$here/distro" ;; *) say "$here" ;; esac; }
use_step() { if [[ $1 == dolfinx ]]; then use_dolfinx; else use_part "$(folder_of_step "$1")"; fi; }

# Describes the machine; the status tells whether it has a GPU
probe() {
  if [[ -d $here/bin || -d $here/distro ]]; then
    use_step "$([[ -d $here/bin ]] && say bench || say distro)"
    spmv_bench --probe
    return
  fi
  scratch=$here use_dolfinx
  "$python" --version
  "$python" -m petscpack | tee /dev/stderr | grep -q '^# GPU' || return 77
}

# A step runs in its own process, so that its limit also ends all processes that it started
run_step() {
  local step=$1 begin=$SECONDS status=0
  if [[ ! -d $(folder_of_step "$step")/bin && ! -d $(folder_of_step "$step")/site ]]; then
    say "$step: skipped, the bundle was packed without its part"
    return 0
  fi
  timeout --kill-after=10 "${limit[$step]}" "$here/gpu_run.sh" --only "$out" "$step" >"$out/$step.log" 2>&1 || status=$?
  case $status in
    0) say "$step: passed in $((SECONDS - begin)) s" ;;
    77)
      say "$step: skipped, $(tail -n 1 "$out/$step.log")"
      return 0
      ;;
    124 | 137) say "$step: FAILED, stopped at its limit of ${limit[$step]} s" ;;
    *) say "$step: FAILED in $((SECONDS - begin)) s" ;;
  esac
  return "$status"
}

only=0
if [[ ${1:-} == --only ]]; then
  only=1
  shift
fi
(($# >= 1)) || usage
mkdir -p "$1" || exit 2
out=$(cd "$1" && pwd)
shift
if (($#)); then steps=("$@"); else steps=("${all_steps[@]}"); fi
for step in "${steps[@]}"; do [[ " ${all_steps[*]} " == *" $step "* ]] || usage; done

if ((only)); then
  scratch=$(mktemp -d)
  use_step "${steps[0]}"
  trap 'stop_sharing; rm -rf "$scratch"' EXIT
  "step_${steps[0]}"
  exit "$failed"
fi

(probe) >"$out/machine.txt" 2>&1
status=$?
cat "$out/machine.txt"
if ((status)); then exit "$status"; fi
worst=0
: >"$out/summary.txt"
for step in "${steps[@]}"; do
  run_step "$step" | tee -a "$out/summary.txt"
  ((PIPESTATUS[0] == 0)) || worst=1
done
exit "$worst"
