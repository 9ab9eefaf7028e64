#!/usr/bin/env bash
# Builds the Debian packages from packaging/debian, checks them with lintian, installs and tests them, and removes them again,
# in 90 seconds. Needs root, or sudo.
#
#   scripts/check_debian.sh [folder]        folder: keeps the packages there (default: not kept)
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
unset PETSC_DIR PETSC_ARCH

version=$(sed -n 's/^project.petscpack VERSION \([0-9.]*\).*/\1/p' "$root/CMakeLists.txt")
packaged=$(sed -n '1s/.*(\(.*\)-[0-9]*).*/\1/p' "$root/packaging/debian/changelog")
[[ $packaged == "$version" ]] || die "packaging/debian/changelog is of version $packaged, CMakeLists.txt of $version"
"$root/scripts/install-deps.sh" build examples debian
sudo=()
((EUID == 0)) || sudo=(sudo)

work=$(mktemp -d)
packages=(petscpack libpetscpack-dev libpetscpack0 libspmvpack0)
installed=0
leave() {
  ((!installed)) || "${sudo[@]}" dpkg --purge "${packages[@]}" >/dev/null
  rm -rf "$work"
}
trap leave EXIT
for package in "${packages[@]}"; do
  ! dpkg-query -W "$package" >/dev/null 2>&1 || die "the package $package is installed: this script would remove it"
done

tree=$work/petscpack-$version
mkdir "$tree"
(cd "$root" && git ls-files -z --cached --others --exclude-standard | tar -c --null -T -) | tar -x -C "$tree"
cp -r "$tree/packaging/debian" "$tree/debian"

say "Building"
(cd "$tree" && DEB_BUILD_OPTIONS="nocheck noautodbgsym parallel=$jobs" dpkg-buildpackage -b -us -uc) >"$work/build.log" 2>&1 ||
  { tail -n 40 "$work/build.log" >&2; die "dpkg-buildpackage failed"; }
say "lintian"
lintian --allow-root --fail-on error,warning "$work"/*.changes
say "Installing, and testing what is installed"
installed=1
"${sudo[@]}" dpkg -i "$work"/*.deb >/dev/null
(cd "$tree" && debian/tests/solve && debian/tests/advise)
[[ -z ${1:-} ]] || { mkdir -p "$1" && cp "$work"/*.deb "$1"; }
say "Packages of version $version: built, clean, tested"
