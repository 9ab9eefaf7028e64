#!/usr/bin/env bash
# Installs missing packages of Debian or Ubuntu; does nothing if all are installed.
#
#   scripts/install-deps.sh [group ...]
#
# Groups: compile   compiler and CMake: enough for the kernel library
#         build     compiler, CMake, MPI and PETSc (PETSc and MPI only if PETSC_DIR is not set): the default
#         examples  the sources of PETSc's example programs
#         python    petsc4py, slepc4py (the packages of SLEPc tell where it is), and tools for virtual environments and pip
#         check     clang, clang-format 14, and ccache, for CI
#         variants  PETSc with 64-bit indices, with complex scalars, and for debugging; petsc4py and slepc4py of each
#         debian    tools that build and check Debian packages
#         dolfinx   DOLFINx and its demo programs (about 400 MB)
#         slepc     SLEPc and its examples, and PETSc's examples (about 20 MB)
#         dealii    deal.II and its tutorial programs (about 2 GB)
#         petsc4py  petsc4py and its demos
#         applications   the four groups above, for scripts/applications.sh
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

# An entry is a package, or command=package if any program of that name will do; %v is PETSc's version, such as 3.18
declare -A packages=(
  [compile]="cc=gcc make=make cmake=cmake pkg-config=pkg-config python3=python3"
  [build]="cc=gcc c++=g++ make=make cmake=cmake pkg-config=pkg-config python3=python3"
  [python]="python3-petsc4py python3-petsc4py-real python3-slepc4py python3-slepc4py-real libslepc-real-dev python3-venv"
  [check]="clang=clang clang-format-14=clang-format-14 ccache=ccache"
  [variants]="libpetsc64-real-dev libpetsc-complex-dev libpetsc-real%v-dbg python3-petsc4py-complex python3-petsc4py-64-real
    python3-petsc4py-64-complex python3-slepc4py-complex python3-slepc4py-64-real python3-slepc4py-64-complex"
  [debian]="debhelper lintian"
  [dolfinx]="python3-dolfinx dolfinx-doc"
  [examples]="libpetsc%v-dev-examples"
  [slepc]="libslepc-real-dev libslepc%v-dev-examples libpetsc%v-dev-examples"
  [dealii]="libdeal.ii-dev libdeal.ii-doc"
  [petsc4py]="python3-petsc4py python3-petsc4py-real python-petsc4py-doc"
)
packages[applications]="${packages[slepc]} ${packages[dealii]} ${packages[dolfinx]} ${packages[petsc4py]}"
if [[ -z ${PETSC_DIR:-} ]]; then
  packages[build]+=" libpetsc-real-dev mpi-default-dev mpi-default-bin libc6-dev"
  packages[compile]+=" libc6-dev"
fi

have_apt() { command -v apt-get >/dev/null && command -v dpkg-query >/dev/null; }
is_installed() { dpkg-query -W -f='${Status}' "$1" 2>/dev/null | grep -q '^install ok installed'; }

missing_of() {
  local entry
  for entry in "$@"; do
    if [[ $entry == *=* ]]; then
      command -v "${entry%%=*}" >/dev/null || say "${entry#*=}"
    elif ! have_apt || ! is_installed "$entry"; then
      say "$entry"
    fi
  done
}

install() {
  local sudo=() missing=()
  mapfile -t missing < <(missing_of "$@")
  ((${#missing[@]})) || return 0
  have_apt || die "this system has no apt-get: install the counterparts of these Debian packages yourself: ${missing[*]}
(for a PETSc of your own set PETSC_DIR, and PETSC_ARCH unless it is installed)"
  if ((EUID != 0)); then
    command -v sudo >/dev/null || die "needs root (or sudo) to install: ${missing[*]}"
    sudo=(sudo)
  fi
  say "install-deps.sh: installing ${missing[*]}"
  if [[ -z ${apt_updated:-} ]]; then
    "${sudo[@]}" apt-get update -qq
    apt_updated=1
  fi
  "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
}

groups=("$@")
((${#groups[@]})) || groups=(build)
for group in "${groups[@]}"; do
  [[ -v packages[$group] ]] || die "unknown group '$group': use ${!packages[*]}"
  wanted=${packages[$group]}
  if [[ $wanted == *%v* ]]; then
    [[ $group == examples && -n $(petsc_examples) ]] && continue
    wanted=${wanted//%v/$(petsc_config --modversion | cut -d. -f1,2)}
  fi
  # shellcheck disable=SC2086
  install $wanted
done
