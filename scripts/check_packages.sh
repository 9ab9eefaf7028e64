#!/usr/bin/env bash
# Checks the recipes of packaging/ without building them, in ten seconds. Installs rattler-build from PyPI into a fresh
# environment.
#
#   scripts/check_packages.sh
#
# Other scripts build and test packages: check_debian.sh, check_python.sh, check_petsc_download.sh.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

python=${PYTHON:-/usr/bin/python3}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$python" -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet 'py-rattler-build>=0.73,<1'
"$work/venv/bin/python3" "$root/scripts/check_recipes.py"
