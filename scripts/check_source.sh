#!/usr/bin/env bash
# The rules of the source tree that a compiler does not check. Each line that it prints is a fault; exit status 1 then.
#
#   scripts/check_source.sh
#
# Needs clang-format 14 and a C and C++ compiler; the header petscpack.h is checked when a PETSc is there.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
cd "$root"

faults=0
fault() {
  say "$*"
  faults=$((faults + 1))
}

tracked() { git ls-files --cached --others --exclude-standard -- "$@"; }

check_layers() {
  local file
  while read -r file; do
    fault "$file: the kernel layer must not include PETSc"
  done < <(grep -lE '^ *# *include.*petsc' $(tracked 'src/kernels/*' include/spmv_kernels.h include/spmv_values.h include/spmv_cg.h include/spmv_predict.h) || true)
}

check_formats() {
  local name type folder
  while IFS=' ' read -r name type; do
    folder=src/kernels/$name
    [[ -f $folder/README.md ]] || fault "$folder/README.md is missing"
    compgen -G "$folder/*_test.c" >/dev/null || fault "$folder: no *_test.c"
    grep -qs "MATAIJ$type = \"aij$name\" - " "$folder"/*.c || fault "$folder: no manual page /*MC MATAIJ$type"
    grep -qs "define MATAIJ$type " include/petscpack.h || fault "include/petscpack.h: no MATAIJ$type"
  done < <(sed -n 's/^SPMV_FORMAT(\([a-z0-9]*\), *\([A-Z0-9]*\),.*/\1 \2/p' src/kernels/formats.def)
}

check_sizes() {
  local file lines
  while read -r file; do
    lines=$(wc -l <"$file")
    if ((lines > 600)) && ! grep -q "^$file " .size-exceptions; then
      fault "$file: $lines lines (at most 600, or a line with the reason in .size-exceptions)"
    fi
  done < <(tracked '*.c' '*.h' '*.inc' '*.cu' '*.cuh' '*.cpp' '*.hpp' '*.def' '*.py' '*.sh' '*.cmake' '*CMakeLists.txt' '*.md' makefile.petsc)
  while read -r file _; do
    (($(wc -l <"$file") > 600)) || fault ".size-exceptions: $file needs no exception"
  done < <(grep -v '^#' .size-exceptions)
}

check_headers() {
  local header flags
  for header in include/*.h; do
    flags=(-Iinclude)
    if [[ $header == *petscpack* ]]; then
      petsc_config --exists 2>/dev/null || continue
      # shellcheck disable=SC2207
      flags+=($(petsc_config --cflags | sed 's/-I/-isystem /g') $(mpi_includes))
    fi
    # -Werror reaches the header itself, not PETSc's
    printf '#include <%s>\n' "${header#include/}" >"$scratch/alone.c"
    cp "$scratch/alone.c" "$scratch/alone.cc"
    cc -std=c11 -Wall -Wextra -Werror -fsyntax-only "${flags[@]}" "$scratch/alone.c" || fault "$header: does not compile alone as C"
    c++ -Wall -Wextra -Werror -fsyntax-only "${flags[@]}" "$scratch/alone.cc" || fault "$header: does not compile alone as C++"
  done
}

# The include options of PETSc's MPI compiler; Open MPI and MPICH both answer to -show
mpi_includes() {
  "$(petsc_config --variable=ccompiler)" -show 2>/dev/null | tr ' ' '\n' | sed -n 's/^-I/-isystem /p'
}

check_format() {
  local file formatter=clang-format-14
  command -v $formatter >/dev/null || formatter=clang-format
  $formatter --version | grep -q 'version 14\.' || { fault "clang-format 14 is needed: scripts/install-deps.sh check"; return; }
  while read -r file; do
    $formatter --style=file --assume-filename="$file" <"$file" | cmp -s - "$file" || fault "$file: not formatted by clang-format 14"
  done < <(tracked '*.c' '*.h' '*.inc' '*.cu' '*.cuh')
}

check_manual_pages() {
  local name
  while read -r name; do
    grep -rqs --exclude-dir=kernels "^ *$name - " src || fault "include/petscpack.h: $name has no manual page"
  done < <(sed -n 's/^PETSC_EXTERN PetscErrorCode *\([A-Za-z0-9]*\)(.*/\1/p' include/petscpack.h)
}

check_markers() {
  local line
  while read -r line; do
    fault "$line"
  done < <(grep -nEI 'TO''DO|FIX''ME|X''XX\b|not (yet )?imple''mented' $(tracked) || true)
}

# Every link of a document to a file of the repository leads somewhere
check_links() {
  local file link
  while IFS=: read -r file link; do
    link=${link#*](}
    link=${link%)}
    link=${link%%#*}
    [[ -z $link || $link == *://* || -e $(dirname "$file")/$link ]] || fault "$file: the link to $link leads nowhere"
  done < <(grep -oE '\]\([^) ]+\)' $(tracked '*.md') /dev/null || true)
}

check_scripts() {
  local file
  while read -r file; do
    bash -n "$file" || fault "$file: does not parse"
  done < <(tracked '*.sh' .ci/run)
  while read -r file; do
    python3 -c 'import ast, sys; ast.parse(open(sys.argv[1]).read(), sys.argv[1])' "$file" || fault "$file: does not parse"
  done < <(tracked '*.py')
}

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
for check in layers formats sizes headers format manual_pages markers links scripts; do
  before=$faults
  "check_$check"
  say "check $check: $((faults - before)) faults"
done
((faults == 0))
