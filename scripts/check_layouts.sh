#!/usr/bin/env bash
# Compares the private layouts in src/sys/private.c with PETSc's own sources of each minor version from 3.18 on, by
# compiling tests/layouts/layouts.c against them. The last line is "N passed, M failed".
#
#   scripts/check_layouts.sh [version ...]        default: the last release of each minor version
#
# The sources come from PyPI, once; what is needed of them stays in $PETSCPACK_DEPS/layouts (~/.cache/petscpack).
# PETSC_DIR and PETSC_ARCH: a PETSc that is built, whose configuration all versions are compiled with
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

versions=("${@:-}")
[[ -n ${versions[0]} ]] || versions=(3.18.5 3.19.6 3.20.5 3.21.6 3.22.5 3.23.7 3.24.6 3.25.6 3.26.1)
deps=${PETSCPACK_DEPS:-${XDG_CACHE_HOME:-$HOME/.cache}/petscpack}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# The folder with the headers of a version
sources_of() {
  local version=$1 kept=$deps/layouts/petsc-$1
  if [[ ! -f $kept/include/petscversion.h ]]; then
    python3 -m venv "$scratch/venv"
    "$scratch/venv/bin/pip" download --quiet --no-deps --no-binary petsc -d "$scratch" "petsc==$version" >&2 || return 1
    mkdir -p "$deps/layouts"
    tar -xzf "$scratch/petsc-$version.tar.gz" -C "$deps/layouts" --wildcards '*/include/*' '*/src/mat/impls/aij/seq/aij.h' \
      '*/src/ksp/ksp/impls/cheby/*.h' '*/src/ksp/ksp/impls/rich/*.h' '*/src/ksp/pc/impls/gamg/agg.c'
  fi
  printf '%s' "$kept"
}

# The configuration of the built PETSc, without its devices
configuration() {
  local folder
  for folder in $(petsc_config --cflags-only-I | tr ' ' '\n' | sed -n 's/^-I//p') "$(petsc_config --variable=prefix)/include"; do
    [[ -f $folder/petscconf.h ]] && break
  done
  mkdir -p "$scratch/conf"
  cp "$folder"/petscconf.h "$folder"/petscconfiginfo.h "$folder"/petscfix.h "$scratch/conf/"
  cp "$folder/petscpkg_version.h" "$scratch/conf/" 2>/dev/null || true
  : >"$scratch/conf/petscconf_poison.h"
  printf '#undef PETSC_HAVE_%s\n' CUDA CUPM DEVICE >>"$scratch/conf/petscconf.h"
  mpich=$(sed -n 's/^#define PETSC_PKG_MPICH_NUMVERSION //p' "$scratch/conf/petscconf.h")
  mpi=$(petsc_config --variable=ccompiler)
}

# compare VERSION SOURCES: what older versions expect in the configuration is given here
compare() {
  local older=()
  case $1 in
    3.18.* | 3.19.*) older=(-D'PETSC_DEPRECATED_FUNCTION(x)=' -D'PETSC_DEPRECATED_ENUM(x)=' -D'PETSC_DEPRECATED_TYPEDEF(x)=' -D'PETSC_DEPRECATED_MACRO(x)=') ;;
  esac
  sed -n '/^typedef struct {/,/^} PC_GAMG_AGG;/p' "$2/src/ksp/pc/impls/gamg/agg.c" >"$scratch/agg_struct.h"
  "$mpi" -fsyntax-only -std=gnu11 -w ${mpich:+-DPETSC_HAVE_MPICH_NUMVERSION=$mpich} -DPETSC_HAVE_BUILTIN_EXPECT "${older[@]}" \
    -I"$scratch/conf" -I"$scratch" -I"$2/include" -I"$root/src" -I"$root/include" "$root/tests/layouts/layouts.c"
}

passed=0
failed=0
configuration
for version in "${versions[@]}"; do
  sources=$(sources_of "$version") || die "cannot get the sources of PETSc $version"
  if compare "$version" "$sources"; then
    passed=$((passed + 1))
  else
    say "src/sys/private.c does not have the layouts of PETSc $version"
    failed=$((failed + 1))
  fi
done
say "$passed passed, $failed failed"
((failed == 0))
