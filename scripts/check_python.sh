#!/usr/bin/env bash
# Installs the Python package with pip into a fresh environment that sees the petsc4py of the system, and tests it there.
#
#   scripts/check_python.sh
#
# PETSC_DIR and PETSC_ARCH   a PETSc other than the distribution's, with its own petsc4py
# PYTHON                     the Python that has petsc4py (/usr/bin/python3, the distribution's)
# PIP_ARGS                   further arguments for pip, such as "--config-settings=cmake.define.PETSCPACK_CUDA=ON" (OFF)
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

python=${PYTHON:-/usr/bin/python3}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
allow_open_mpi_anywhere

"$python" -m venv --system-site-packages "$work/venv"
python=$work/venv/bin/python3
begin=$SECONDS
# shellcheck disable=SC2086
CMAKE_BUILD_PARALLEL_LEVEL=$jobs "$python" -m pip install --quiet "$root" \
  ${PIP_ARGS:---config-settings=cmake.define.PETSCPACK_CUDA=OFF}
say "pip install took $((SECONDS - begin)) s"
"$python" "$root/tests/python/test_petscpack.py"
"$python" "$root/tests/python/test_run.py"

say "examples/python/poisson.py"
(cd "$work" && "$python" "$root/examples/python/poisson.py" 40)

say "Annotations of the package"
"$python" -m pip install --quiet mypy
(cd "$work" && "$python" -m mypy --strict -p petscpack)
