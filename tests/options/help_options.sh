#!/usr/bin/env bash
# Compares the options of the process in docs/options with those that -help prints, in both directions.
#
#   help_options.sh <docs/options/petscpack.md> <program> [argument ...]        a program that loads the plugin
set -euo pipefail

page=$1
shift
names() { grep -oE -- '-petscpack_[a-z0-9_]+' | sort -u; }
documented=$(grep '^| `-' "$page" | cut -d'|' -f2 | names)
printed=$("$@" -help 2>&1 | grep -E '^ +-' | sed 's/^ *\([^ :]*\).*/\1/' | names)
if [[ $documented != "$printed" ]]; then
  diff <(printf '%s\n' "$documented") <(printf '%s\n' "$printed") || true
  echo "the page ($page, left) and -help (right) differ"
  exit 1
fi
printf '%s\n' "$documented"
