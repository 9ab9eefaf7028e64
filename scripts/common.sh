# Sourced by the other scripts: paths, and the environment of runs.
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
jobs=${JOBS:-$(nproc)}

say() { printf '%s\n' "$*"; }
die() {
  printf '%s: %s\n' "$(basename "$0")" "$*" >&2
  exit 1
}

# The PETSc of PETSC_DIR and PETSC_ARCH takes precedence over the one that pkg-config finds
if [[ -n ${PETSC_DIR:-} ]]; then
  PKG_CONFIG_PATH=$PETSC_DIR/${PETSC_ARCH:-}/lib/pkgconfig:$PETSC_DIR/lib/pkgconfig${PKG_CONFIG_PATH:+:$PKG_CONFIG_PATH}
  export PKG_CONFIG_PATH
fi
petsc_config() { pkg-config "$@" PETSc; }

# Open MPI refuses root and more ranks than cores unless told; other MPIs do not know these variables
allow_open_mpi_anywhere() {
  local mpiexec
  mpiexec=$(dirname "$(command -v "$(petsc_config --variable=ccompiler)")")/mpiexec
  if "$mpiexec" --version 2>/dev/null | grep -q -e 'Open MPI' -e OpenRTE; then
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
  fi
}

# The folder src/ with PETSc's example programs; empty if they are not installed
petsc_examples() {
  local prefix version candidate
  prefix=$(petsc_config --variable=prefix)
  version=$(petsc_config --modversion | cut -d. -f1,2)
  for candidate in "$prefix/share/petsc/examples/src" "/usr/share/petsc/$version/share/petsc/examples/src" \
    ${PETSC_DIR:+"$PETSC_DIR/src"}; do
    if [[ -f $candidate/ksp/ksp/tutorials/ex10.c ]]; then
      say "$candidate"
      return
    fi
  done
}
