#!/usr/bin/env bash
# Whose fault a failure is and what the report of scripts/fuzz.sh says of it, with a program that fails as told.
#
#   fuzz_script_test.sh <fuzz.sh>
#
# Seed 5 fails with aij as well, in the third run; 6 in another step; 7 and 8 never do; 9 crashes, with aij in another step.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

cat >"$folder/fuzz_mat" <<'END'
#!/usr/bin/env bash
text="$*"
value() { sed -n "s/.*-fuzz_$1 \([^ ]*\).*/\1/p" <<<"$text"; }
fail() { # <type> <seed> <step> <number>
  printf '  %s of seed %s, process 0, item 3: expected product 1, got product %s\n' "$3" "$2" "$4" >&2
  printf 'FAILED mpiexec -n 1 fuzz_mat -fuzz_type %s -fuzz_seed %s -fuzz_steps 1:scale,2:lu\n' "$1" "$2"
}
crash() { printf 'crashes: %s in step %s of seed 9\n%s mpiexec -n 1 fuzz_mat -fuzz_type %s -fuzz_seed 9 -fuzz_steps 1:scale,2:lu\n' "$1" "$2" "$3" "$1"; }
case $text in
  *-fuzz_list*) exit 0 ;;
  *-fuzz_count*)
    for seed in 5 6 7 8; do fail aijnew "$seed" 2:lu first; done
    crash aijnew 2:lu FAILED
    ;;
  *"-fuzz_type aijnew"*) fail aijnew "$(value seed)" 2:lu later ;;
  *"-fuzz_seed 5 "*)
    echo asked >>"${0%/*}/asked"
    (($(wc -l <"${0%/*}/asked") == 3)) || exit 0
    fail aij 5 2:lu other
    ;;
  *"-fuzz_seed 6 "*) fail aij 6 1:scale other ;;
  *"-fuzz_seed 9 "*) crash aij 1:scale PLAIN ;;
  *) exit 0 ;;
esac
exit 1
END
chmod +x "$folder/fuzz_mat"

"$1" --program "$folder/fuzz_mat" --types aijnew --ranks 1 --count 9 --shrink 1 --report "$folder/report" >"$folder/out" && exit 1
for expected in PETSC:5 FAILED:6 FAILED:7 FAILED:8 PETSC:9; do
  grep -qE "^    ${expected%:*} .*-fuzz_seed ${expected#*:} " "$folder/report" || { cat "$folder/out"; echo "not found: $expected"; exit 1; }
done
if (($(grep -c 'got product first' "$folder/report") != 4)) || grep -qE 'got product (later|other)' "$folder/report"; then
  cat "$folder/report"
  echo "not the text of the first faults"
  exit 1
fi
