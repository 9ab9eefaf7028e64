#!/usr/bin/env bash
# Runs PETSc's example ex42, unchanged: Stokes' equations in a cube, by FGMRES with a field split and GAMG for the block of
# the velocities. Called by gpu_run.sh; called alone it needs ex42 in PATH and its libraries in LD_LIBRARY_PATH.
#
#   stokes_run.sh folder seconds plugin.so
#
# folder/stokes.json has the events of -log_view and the iterations of each run. KSPSolve is the whole solve, including the
# first products; KSPSolve_FS_0 is the preconditioner of the velocities, PCSetUpOnBlocks the set-ups of the blocks. A run
# with multigrid of petscpack fails unless the view shows that all cycles ran on the device.
#
# STOKES_FORMS  the forms to run (see options_of() below), in this order (all but aij_gamg)
# STOKES_ARGS   arguments for ex42 (-mx 40: 0.28 million unknowns)
# STOKES_VEC    the type of vectors (cuda)
set -uo pipefail

out=$1 end=$((SECONDS + $2)) plugin=(-dll_append "$3") failed=0
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
parts=$out/stokes-parts
u=-stokes_fieldsplit_u
mkdir -p "$parts"
rm -f "$parts"/*

stokes=(-stokes_ksp_type fgmres -stokes_ksp_rtol 1e-8 -stokes_ksp_converged_reason -stokes_ksp_view -options_left
  -stokes_pc_type fieldsplit -stokes_pc_fieldsplit_type schur -stokes_pc_fieldsplit_schur_fact_type upper
  -stokes_fieldsplit_p_ksp_type preonly -stokes_fieldsplit_p_pc_type jacobi
  "${u}_ksp_type" preonly "${u}_mg_levels_ksp_type" chebyshev "${u}_mg_levels_pc_type" jacobi
  -dm_vec_type "${STOKES_VEC:-cuda}" -use_gpu_aware_mpi 0)

# The options of a form: the type of the matrices, the preconditioner of the velocities
options_of() {
  case $1 in
    aij_gamg) echo "-dm_mat_type aij ${u}_pc_type gamg" ;;
    aijcusparse_gamg) echo "-dm_mat_type aijcusparse ${u}_pc_type gamg" ;;
    aijrbp_gamg) echo "${plugin[*]} -dm_mat_type aijrbp ${u}_pc_type gamg" ;;
    aijrbp_gamgdevice) echo "${plugin[*]} -dm_mat_type aijrbp ${u}_pc_type gamgdevice" ;;
    aijrbp_single) echo "${plugin[*]} -dm_mat_type aijrbp ${u}_pc_type gamgdevice ${u}_pc_mgdevice_precision single" ;;
    aijrbp_replace) echo "${plugin[*]} -dm_mat_type aijrbp -petscpack_replace mg,gamg,gmres,cg ${u}_pc_type gamg" ;;
    *) return 1 ;;
  esac
}

# Checks that a run converged, and used the GPU as its form says
check() {
  local form=$1 log=$2
  grep -q 'stokes_ solve converged due to' "$log" || { echo "$form: no convergence"; return 1; }
  ! grep -q 'Option left' "$log" || { echo "$form: an option was not used"; return 1; }
  [[ $form == *_gamgdevice || $form == *_single || $form == *_replace ]] || return 0
  grep -q -E 'applications on the device [1-9][0-9]*, by PETSc 0;' "$log" || { echo "$form: not all cycles on the device"; return 1; }
  [[ $form != *_single ]] || grep -q 'precision of the cycle: single$' "$log" || { echo "$form: not in single precision"; return 1; }
}

logs=()
for form in ${STOKES_FORMS:-aijcusparse_gamg aijrbp_gamg aijrbp_gamgdevice aijrbp_single aijrbp_replace}; do
  left=$((end - SECONDS)) status=0 log=$parts/ex42.$form.log
  options=$(options_of "$form") || { echo "STOKES_FORMS has $form, which is not known" >&2; exit 2; }
  if ((left < 3)); then
    echo "$form: left out, the time is spent"
    failed=1
    continue
  fi
  # shellcheck disable=SC2086
  timeout --foreground --kill-after=5 "$left" ex42 ${STOKES_ARGS:--mx 40} "${stokes[@]}" $options \
    -log_view ":$parts/ex42.$form.csv:ascii_csv" >"$log" 2>&1 || status=$?
  ((status == 0)) && check "$form" "$log" || failed=1
  echo "$form: status $status, $(grep -o -E 'due to [A-Z_]+ iterations [0-9]+' "$log" || tail -n 1 "$log" | cut -c 1-200)"
  [[ ! -s $parts/ex42.$form.csv ]] || logs+=("$parts/ex42.$form.csv")
done
((${#logs[@]})) || exit 1
python3 "$here/solve_log.py" "$out/stokes.json" "${logs[@]}" || failed=1
exit "$failed"
