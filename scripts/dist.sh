#!/usr/bin/env bash
# Makes the release tarball petscpack-<version>.tar.gz from the current commit, and prints its path.
#
#   scripts/dist.sh [--check] [folder]        folder: where the tarball goes (build)
#
# --check   also unpacks it elsewhere, builds everything without GPU code, and runs the quick tests of the plugin
# Uncommitted changes are an error, because the tarball would not contain them.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

check=0
if [[ ${1:-} == --check ]]; then
  check=1
  shift
fi
folder=${1:-$root/build}
version=$(sed -n 's/^project.petscpack VERSION \([0-9.]*\).*/\1/p' "$root/CMakeLists.txt")
name=petscpack-$version
[[ -z $(git -C "$root" status --porcelain) ]] || die "there are changes that are not committed: git status"

mkdir -p "$folder"
git -C "$root" archive --format=tar.gz --prefix="$name/" -o "$(realpath "$folder")/$name.tar.gz" HEAD
say "$(realpath "$folder")/$name.tar.gz"
((check)) || exit 0

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tar -xzf "$folder/$name.tar.gz" -C "$work"
allow_open_mpi_anywhere
cmake -S "$work/$name" -B "$work/build" -DPETSCPACK_CUDA=OFF
cmake --build "$work/build" -j "$jobs"
ctest --test-dir "$work/build" --output-on-failure --no-tests=error -L '^(plugin|example|options)$'
"$work/$name/scripts/check_install.sh" "$work/build"
