#!/usr/bin/env bash
# Runs random sequences of operations on matrices of our types and on twins of plain aij (tests/fuzz), shrinks each failing
# sequence to the shortest one that still fails, and prints a command that repeats it. Every candidate runs in its own process,
# so that crashes and hangs are shrunk, too.
#
#   scripts/fuzz.sh [option ...] [-- further options for fuzz_mat]
#
#   --count N         total number of sequences, divided among types and numbers of processes (10000)
#   --seconds N       time limit for all sequences, without shrinking (1800)
#   --types LIST      the types under test (all formats, and aijauto); aij compares plain with plain
#   --parent TYPE     PETSc's parent type of ours (aij); on a GPU aijcusparse. A sequence that fails in the same way with the
#                     parent as the type under test, in one of three runs, counts as PETSc's failure
#   --ranks LIST      numbers of processes ("1 2 3")
#   --seed N          the first seed of every type and number of processes (1)
#   --program FILE    fuzz_mat (bin/fuzz_mat of the build folder)
#   --build FOLDER    build folder (build)
#   --mpiexec FILE    launcher for two and more processes (that of PETSc's MPI)
#   --shrink N        shrinks only the first N failures for each type and number of processes (5)
#   --limit N         seconds after which a step counts as hanging (30)
#   --where TEXT      where the products run, for the report (host)
#   --report FILE     writes a report in Markdown
#   --valgrind        runs everything under valgrind, a hundred times slower: invalid accesses and leaks are failures
#
# Exit status: 0 all passed, 1 some failed.
set -uo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

say() { printf '%s\n' "$*"; }
usage() {
  sed -n 's/^# \{0,1\}//; 2,27p' "${BASH_SOURCE[0]}" >&2
  exit 2
}

count=10000 seconds=1800 types='' ranks_list='1 2 3' first_seed=1 program='' build='' mpiexec='' limit=30 shrink=5 where=host
report='' parent=aij checker=() extra=()
while (($#)); do
  case $1 in
    --valgrind) checker=(valgrind -q --error-exitcode=9 --num-callers=25) ;;
    --)
      shift
      extra=("$@")
      break
      ;;
    --count | --seconds | --types | --parent | --ranks | --seed | --program | --build | --mpiexec | --shrink | --limit | --where | --report)
      (($# >= 2)) || usage
      case $1 in
        --types) types=$2 ;;
        --ranks) ranks_list=$2 ;;
        --seed) first_seed=$2 ;;
        *) printf -v "${1#--}" %s "$2" ;;
      esac
      shift
      ;;
    *) usage ;;
  esac
  shift
done

if [[ -z $program ]]; then
  # shellcheck source=scripts/common.sh
  source "$here/common.sh"
  program=${build:-$root/build}/bin/fuzz_mat
  mpiexec=${mpiexec:-$(dirname "$(command -v "$(petsc_config --variable=ccompiler)")")/mpiexec}
  allow_open_mpi_anywhere
fi
mpiexec=${mpiexec:-mpiexec}
program=$(realpath -m "$program")
[[ -x $program ]] || { say "$program is not there: cmake --build build --target fuzz_mat"; exit 2; }
export OMP_NUM_THREADS=1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 2 # saved matrices are written here

# fuzz <ranks> <seconds> <option ...>: one process of fuzz_mat, or several; its output goes to $scratch/out
fuzz() {
  local ranks=$1 most=$2 status=0 launch=()
  shift 2
  ((ranks == 1)) || launch=("$mpiexec" -n "$ranks")
  timeout --foreground --kill-after=5 "$most" "${launch[@]}" "${checker[@]}" "$program" "$@" "${extra[@]}" -malloc_dump \
    -options_left no -use_gpu_aware_mpi 0 >"$scratch/out" 2>&1 </dev/null || status=$?
  ((status <= 128)) || say "crashes: ended by signal $((status - 128))" >>"$scratch/out"
  return "$status"
}

# Messages of PETSc's -malloc_dump and of its heap checks
leak='^\[ *[0-9]+\] *([0-9]+ bytes|Total space)|PetscTrFree|is corrupted|^==[0-9]+== (Invalid|Conditional|.*uninitialised)'

# Whether the output has a failure that is not plain aij's
tells_of_failure() {
  local status=$1
  grep -q '^PLAIN' "$scratch/out" && return 1
  ((status != 0)) || grep -qE "$leak" "$scratch/out"
}

# fails <type> <ranks> <seed> <steps>
fails() {
  local status=0
  fuzz "$2" $((limit + 30)) -fuzz_type "$1" -fuzz_seed "$3" -fuzz_steps "${4:-none}" -fuzz_limit $((limit / 3 + 1)) || status=$?
  tells_of_failure "$status"
}

join() { local IFS=,; printf '%s' "$*"; }

# shrink <type> <ranks> <seed> <steps>: leaves out smaller and smaller parts while the rest still fails; sets $shortest
shrink() {
  local type=$1 ranks=$2 seed=$3 steps part at candidate
  IFS=, read -r -a steps <<<"$4"
  [[ $4 != none ]] || steps=()
  part=$(((${#steps[@]} + 1) / 2))
  while ((part && ${#steps[@]})); do
    at=0
    while ((at < ${#steps[@]})); do
      candidate=("${steps[@]:0:at}" "${steps[@]:at+part}")
      if fails "$type" "$ranks" "$seed" "$(join "${candidate[@]}")"; then
        steps=("${candidate[@]}")
      else at=$((at + part)); fi
    done
    part=$((part / 2))
  done
  shortest=$(join "${steps[@]}")
  shortest=${shortest:-none}
}

# text_of <file> <seed>: the lines of an output about one seed. For a leak, which names no seed: all lines without counts
text_of() {
  local text
  text=$(awk -v seed="$2" '/ of seed [0-9]/ { mine = $0 ~ " of seed " seed "([^0-9]|$)" } /^(FAILED|PLAIN)/ { mine = 0 } mine' "$1")
  [[ -n $text ]] || text=$(grep -vE '^(operation|products|sequences|FAILED|PLAIN|PETSc version|MPI_ABORT|with errorcode|NOTE|You may|exactly when|Primary|a non-zero|mpiexec|the job|-----|[0-9]+ passed|$)' "$1")
  head -n 8 <<<"$text"
}

# faults_of <file>: the steps in which a sequence failed, and whether memory was damaged, which may show in any later step
faults_of() {
  sed -nE "/^crashes|$leak/i memory
    s/(^|.* )(-?[0-9]+:[^ ]+ of seed).*/\2/p" "$1"
}

# first_line <type>: the first line of a text, without the name of the type
first_line() { sed "s/$1/TYPE/g; s/address 0x[0-9a-f]*//; s/id=[0-9]*//; q"; }

# is_petscs <type> <ranks> <seed> <steps>: whether PETSc's own type fails in the same way as the text in $scratch/first, in one
# of three runs, because faults that depend on the contents of freed memory do not show in every run. Plain aij may differ
# from itself by chance, so numbers are not compared.
is_petscs() {
  [[ $1 != "$parent" ]] || return 1
  for _ in 1 2 3; do
    fails "$parent" "${@:2}" || grep -q '^PLAIN' "$scratch/out" || continue
    if [[ $parent == aij ]]; then [[ -n $(faults_of "$scratch/out" | grep -xFf <(faults_of "$scratch/first")) ]]
    else [[ $(text_of "$scratch/out" "$3" | first_line "$parent") == "$(first_line "$1" <"$scratch/first")" ]]; fi && return 0
  done
  return 1
}

# report_failure <type> <ranks> <seed> <steps> <file>: tries PETSc's own type; if that passes, shrinks the sequence and tries
# again. Prints the text of the first failure, from the file: a repeated or shorter sequence may fail differently, or pass.
report_failure() {
  local type=$1 ranks=$2 seed=$3 shortest=$4 verdict=FAILED text command begin=$SECONDS
  text=$(text_of "$5" "$seed" | tee "$scratch/first")
  if is_petscs "$type" "$ranks" "$seed" "$4"; then verdict=PETSC
  elif ! fails "$type" "$ranks" "$seed" "$4"; then say "seed $seed fails among others, not alone"
  elif ((shrunk < shrink)); then
    shrunk=$((shrunk + 1))
    shrink "$type" "$ranks" "$seed" "$4"
    ! is_petscs "$type" "$ranks" "$seed" "$shortest" || verdict=PETSC
  fi
  if [[ $verdict == PETSC ]]; then petsc_own=$((petsc_own + 1)); else failed=$((failed + 1)); fi
  command="$verdict mpiexec -n $ranks fuzz_mat -fuzz_type $type -fuzz_seed $seed -fuzz_steps $shortest${extra[*]:+ ${extra[*]}}"
  say "$command"
  say "$text"
  printf '    %s\n' "$command" "${text//$'\n'/$'\n'    }" '' >>"$scratch/failures"
  allow_time $((SECONDS - begin))
}

# Time spent on shrinking does not count towards --seconds
allow_time() {
  deadline=$((deadline + $1))
  seconds=$((seconds + $1))
}

# A chunk of seeds failed without naming one, by a leak or at its end: bisects it
find_silent_failure() {
  local type=$1 ranks=$2 seed=$3 n=$4 half status steps
  cp "$scratch/chunk" "$scratch/silent"
  while ((n > 1)); do
    half=$((n / 2)) status=0
    fuzz "$ranks" 600 -fuzz_type "$type" -fuzz_seed "$seed" -fuzz_count "$half" -fuzz_limit "$limit" || status=$?
    if tells_of_failure "$status"; then
      n=$half
      cp "$scratch/out" "$scratch/silent"
    else seed=$((seed + half)) n=$((n - half)); fi
  done
  fuzz 1 60 -fuzz_type "$type" -fuzz_seed "$seed" -fuzz_count 1 -fuzz_list || true
  steps=$(sed -n 's/^SEQUENCE .*-fuzz_steps //p' "$scratch/out")
  report_failure "$type" "$ranks" "$seed" "$steps" "$scratch/silent"
}

# Runs seeds from..to of a type on a number of processes until time is up; writes the counts to $scratch/table
run_seeds() {
  local type=$1 ranks=$2 seed=$3 end=$4 deadline=$5 n status line done_here=0 shrunk=0 before=$((failed + petsc_own)) plain_before=$plain
  : >"$scratch/log"
  while ((seed < end && SECONDS < deadline)); do
    n=$((end - seed < 100 ? end - seed : 100)) status=0
    fuzz "$ranks" $((deadline - SECONDS + 2 * limit + 60)) -fuzz_type "$type" -fuzz_seed "$seed" -fuzz_count "$n" \
      -fuzz_seconds $((deadline - SECONDS)) -fuzz_every 5 -fuzz_limit "$limit" || status=$?
    cp "$scratch/out" "$scratch/chunk"
    cat "$scratch/chunk" >>"$scratch/log"
    line=$(sed -n 's/^\([0-9]*\) passed, \([0-9]*\) failed$/\1 \2/p' "$scratch/chunk" | tail -n 1)
    last=$(sed -n 's/^\(FAILED\|PLAIN\) .*-fuzz_seed \([0-9]*\) .*/\2/p' "$scratch/chunk" | tail -n 1)
    while read -r at steps; do
      report_failure "$type" "$ranks" "$at" "$steps" "$scratch/chunk"
    done < <(sed -n 's/^FAILED .*-fuzz_seed \([0-9]*\) -fuzz_steps \([^ ]*\).*/\1 \2/p' "$scratch/chunk" | sort -u -k1,1n)
    if grep -q '^PLAIN' "$scratch/chunk"; then plain=$((plain + 1)); fi
    if [[ -n $line ]]; then
      done_now=$((${line% *} + ${line#* }))
      if [[ -z $last ]] && { ((status)) || grep -qE "$leak" "$scratch/chunk"; }; then
        find_silent_failure "$type" "$ranks" "$seed" "$done_now"
      fi
    elif [[ -n $last ]]; then done_now=$((last + 1 - seed))
    else
      find_silent_failure "$type" "$ranks" "$seed" "$n"
      done_now=$n
    fi
    ((done_now)) || break
    seed=$((seed + done_now)) done_here=$((done_here + done_now))
  done
  total=$((total + done_here))
  awk -v type="$type" -v ranks="$ranks" -v n="$done_here" -v bad=$((failed + petsc_own - before)) -v plain=$((plain - plain_before)) '
    /^operation/ { steps += $4 } /^products/ { packed += $2; left += $4 } /^sequences/ { refused += $2; none += $11 }
    END { printf "| %s | %d | %d | %d | %d | %d | %d | %d | %d |\n", type, ranks, n, steps, bad, refused + plain, packed, left, none }' \
    "$scratch/log" | tee -a "$scratch/table"
  cat "$scratch/log" >>"$scratch/all"
}

per_operation() {
  awk '/^operation/ { ran[$2] += $4; refused[$2] += $NF; if (!($2 in at)) { at[$2] = ++n; name[n] = $2 } }
    END {
      for (k = 1; k <= n; k++) {
        printf "%s%s %d", (k > 1 ? ", " : ""), name[k], ran[name[k]]
        if (refused[name[k]]) printf " (%d)", refused[name[k]]
      }
      print "."
    }' "$scratch/all"
}

write_report() {
  local petsc
  petsc=$(sed -n 's/^PETSc version //p' "$scratch/all" | head -n 1)
  say "# Random sequences of operations"
  say ""
  say "$(date -u +%Y-%m-%d), PETSc $petsc, commit $(git -C "$here" describe --always --dirty 2>/dev/null || sed -n 's/^commit //p' \
    "$here/MANIFEST" 2>/dev/null), products on: $where. Made by \`scripts/fuzz.sh\`; [testing.md](../../docs/testing.md#random-sequences) says what a sequence is."
  say ""
  say "Seeds from $first_seed on. $total sequences in $SECONDS s: $failed failed, $petsc_own failed with $parent in the"
  say "same way, $plain ended because aij crashed or hung.${extra[*]:+ Options: \`${extra[*]}\`.}"
  say ""
  say "$heading"
  cat "$scratch/table"
  say ""
  if [[ -s $scratch/failures ]]; then
    say "Failures, with what they said at first; PETSC: $parent fails in the same way."
    say ""
    cat "$scratch/failures"
  fi
  say "How often each operation ran, and in brackets how often it was refused, with aij as well:"
  per_operation
}

read -r -a rank_list <<<"$ranks_list"
# a program that cannot start would fail with plain aij too, and count as PETSc's failure
for ranks in 1 "${rank_list[@]}"; do
  fuzz "$ranks" 120 -fuzz_list_types || { cat "$scratch/out"; say "$program does not run on $ranks process(es) by $mpiexec"; exit 2; }
done
[[ -n $types ]] || types=$("$program" -fuzz_list_types | grep '^aij' | paste -sd' ')
read -r -a type_list <<<"$types"
combinations=$((${#type_list[@]} * ${#rank_list[@]}))
share=$(((count + combinations - 1) / combinations))
failed=0 petsc_own=0 plain=0 total=0 left=$combinations
: >"$scratch/table" >"$scratch/failures" >"$scratch/all"
heading='| type | processes | sequences | steps | failed | ended by aij | products packed | left to the parent | without a packed product |
| --- | --- | --- | --- | --- | --- | --- | --- | --- |'
say "$((share * combinations)) sequences, at most $seconds s: types $types; processes $ranks_list; seeds from $first_seed on"
say "$heading"
for type in "${type_list[@]}"; do
  for ranks in "${rank_list[@]}"; do
    run_seeds "$type" "$ranks" "$first_seed" $((first_seed + share)) $((SECONDS + (seconds - SECONDS > left ? seconds - SECONDS : left) / left))
    left=$((left - 1))
  done
done
[[ -z $report ]] || write_report >"$scratch/report"
[[ -z $report ]] || (cd "$OLDPWD" && cp "$scratch/report" "$report")
((total >= share * combinations)) || say "time was up after $total of $((share * combinations)) sequences"
say "$((total - failed)) passed, $failed failed"
((failed == 0))
