#!/usr/bin/env bash
# Installs a binary wheel with pip for five PETScs that it serves, and tests it with all compilers hidden.
#
#   scripts/check_wheel.sh [wheel]
#
# Without an argument it builds a wheel for two pairs: Debian's PETSc (3.18, Open MPI) in its four kinds, and 3.26.1 without
# CUDA with MPICH.
# PETSc 3.26.1 and its petsc4py are built once and kept in $PETSCPACK_DEPS (~/.cache/petscpack): see build_petsc.sh.
#
# PETSC_FEATURES  features of PETSc 3.26.1 for build_petsc.sh (quick)
# OTHER_NEW       also tests a library of a PETSc 3.26 that the wheel does not serve, such as "library=cuda"
# EMULATED        also runs factorizations of the four kinds on an emulated GPU: the libraries of the preset emulated
set -euo pipefail
# shellcheck source=scripts/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

deps=${PETSCPACK_DEPS:-${XDG_CACHE_HOME:-$HOME/.cache}/petscpack}
python=/usr/bin/python3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
begin=$SECONDS
said() {
  say "$1 took $((SECONDS - begin)) s"
  begin=$SECONDS
}

wheel=${1:-}
[[ -n $wheel ]] || wheel=$("$root/scripts/build_wheel.sh" --variants "3.18-openmpi 3.26-mpich" --out "$work/dist")
said "the wheel"
# shellcheck disable=SC2086
petsc=$("$root/scripts/build_petsc.sh" ${PETSC_FEATURES-quick})
version=$(PKG_CONFIG_PATH=$petsc/lib/pkgconfig pkg-config --modversion PETSc)
mpi=$(dirname "$(PKG_CONFIG_PATH=$petsc/lib/pkgconfig pkg-config --variable=ccompiler PETSc)")

petsc4py=$deps/petsc4py-$version
if ! compgen -G "$petsc4py/*.whl" >/dev/null; then
  # Otherwise its link would find the MPI of the system first. Not optimized, because that takes minutes for this one file.
  CFLAGS=-O0 LDFLAGS=-L$(dirname "$mpi")/lib PETSC_DIR=$petsc PETSC_ARCH='' "$python" -m pip wheel --quiet --no-cache-dir --no-deps -w "$petsc4py" "petsc4py==$version"
fi
said "PETSc $version and its petsc4py"

# Makes an environment for each PETSc, and a PATH folder without compilers
"$python" -m venv --system-site-packages "$work/old"
"$python" -m venv "$work/new"
"$work/new/bin/pip" install --quiet numpy "$petsc4py"/*.whl
for environment in old new; do "$work/$environment/bin/pip" install --quiet --no-deps "$wheel"; done
mkdir "$work/bin"
for program in /usr/bin/*; do
  [[ $(basename "$program") =~ (^|-)(gcc|g\+\+|cc|c\+\+|c89|c99|cpp|clang|clang\+\+|ld|as|make|gmake|cmake|ninja|nvcc|mpi[cf].*|ortecc|opal_wrapper)(-.*|\.openmpi|\.bfd|\.gold)?$ ]] ||
    ln -s "$program" "$work/bin/"
done
export PATH=$work/bin OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
export OMPI_MCA_btl_vader_single_copy_mechanism=none MPIR_CVAR_DEVICE_COLLECTIVES=none OMP_NUM_THREADS=1

failed=0
say "Debian's PETSc"
OTHER_PETSCS="libpetsc_complex.so.3.18=-complex libpetsc64_real.so.3.18=-64 ${OTHER_NEW:-}" \
  "$work/old/bin/python3" "$root/tests/python/test_wheel.py" || failed=1
"$work/old/bin/python3" "$root/tests/python/test_petscpack.py" || failed=1
"$work/old/bin/python3" "$root/tests/python/test_run.py" || failed=1
"$work/old/bin/python3" "$root/tests/python/test_kinds.py" || failed=1
said "the tests"
say "PETSc $version, $mpi"
MPIEXEC=$mpi/mpiexec "$work/new/bin/python3" "$root/tests/python/test_wheel.py" Serves Run Damaged Refuses.test_no_variant_for_this_mpi Refuses.test_variant_of_another_mpi || failed=1
"$work/new/bin/python3" "$root/tests/python/test_petscpack.py" || failed=1
MPIEXEC=$mpi/mpiexec "$work/new/bin/python3" "$root/tests/python/test_run.py" || failed=1
said "the tests"
exit "$failed"
