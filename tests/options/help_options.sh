#!/usr/bin/env bash
# Compares the options of the process in docs/options, and those of the solvers in docs/solving.md, with those that -help
# prints, in both directions.
#
#   help_options.sh <docs> <program> [argument ...]        a program that loads the plugin and has all solvers
set -euo pipefail

docs=$1
shift
names() { grep -oE -- '-(petscpack|ksp_cgdevice|ksp_gmresdevice|ksp_richardsondevice|pc_mgdevice|mat_cudss|mat_incomplete)_[a-z0-9_]+' | sort -u; }
documented=$(grep -h '^| `-' "$docs/options/petscpack.md" "$docs/solving.md" | cut -d'|' -f2 | names)
printed=$("$@" -help 2>&1 | grep -E '^ +-' | sed -E 's/^ *([^ :]*).*/\1/; s/^-mg_(levels_[0-9]*|coarse)_/-/' | names)
if [[ $documented != "$printed" ]]; then
  diff <(printf '%s\n' "$documented") <(printf '%s\n' "$printed") || true
  echo "the pages (options/petscpack.md and solving.md of $docs, left) and -help (right) differ"
  exit 1
fi
printf '%s\n' "$documented"
