#!/usr/bin/env bash
# Checks rules of the source tree that a compiler does not. Prints one line per fault; the exit status is then 1.
#
#   scripts/check_source.sh
#
# Needs clang-format 14 and a C and C++ compiler; checks petscpack.h only if there is a PETSc.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
cd "$root"

faults=0
fault() {
  say "$*"
  faults=$((faults + 1))
}

tracked() { git ls-files --cached --others --exclude-standard -- "$@"; }

# forbid RULE PATTERN FILES: a fault for each line whose code, without comments, matches the pattern (of Python's re)
forbid() {
  local found line
  found=$(python3 - "$@" <<'END'
import re, sys

TOKEN = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|/\*.*?\*/|//[^\n]*', re.S)
rule, pattern = sys.argv[1], re.compile(sys.argv[2])
for name in sys.argv[3:]:
    with open(name, encoding="utf-8") as file:
        code = TOKEN.sub(lambda m: m[0] if m[0][0] in "\"'" else re.sub(r"[^\n]", " ", m[0]), file.read())
    for number, line in enumerate(code.split("\n"), 1):
        if pattern.search(line):
            print(f"{name}:{number}: {rule}: {line.strip()}")
END
  ) || fault "scripts/check_source.sh: cannot check that $1"
  while IFS= read -r line; do
    [[ -z $line ]] || fault "$line"
  done <<<"$found"
}

# Lists the code files under a folder, without tests; further arguments are options of grep that select from the list
code_under() {
  local folder=$1
  shift
  tracked "$folder/*.c" "$folder/*.h" "$folder/*.inc" "$folder/*.cu" "$folder/*.cuh" "$folder/*.def" | grep -v '_test\.' |
    grep "${@:-.}"
}

# ---- what docs/architecture.md says under "What is not there, on purpose" ----

# The functions that make plans and set their values, and the files outside of the kernel library that may call them
plan_makers='
src/mat/impls/aij/plan.c    analyze build update_values
src/mat/impls/aij/sync.c    analyze
src/mat/impls/aij/choose.c  analyze'
# The files that may test PETSc's version
version_tests='
src/sys/compat.h
src/sys/private.c'

# shellcheck disable=SC2046 # no file of the repository has a space in its name
check_absent() {
  local formats file function
  formats=$(sed -n 's/^SPMV_FORMAT(\([a-z0-9]*\), *\([A-Z0-9]*\),.*/\1|\2/p' src/kernels/formats.def | paste -sd'|')

  forbid "the kernel library knows no PETSc" '# *include.*petsc|\b(Petsc|PETSC_|MPI_)\w' $(code_under src/kernels) include/spmv_*.h
  forbid "the kernel library neither prints nor ends the program" \
    '\b(v?f?printf|f?puts|f?putchar|perror|abort|_?exit|assert) *\(|\b(stdout|stderr|cout|cerr)\b' $(code_under src/kernels)
  forbid "no name of a format under src/mat" "(?i)(\b|aij)($formats)(_\w+)?\b" $(code_under src/mat) src/plugin/mat_operations.c
  forbid "a product adds to y without atomics" '\batomic[A-Z]' $(code_under src/kernels -E '_(mult|lane|stream)[._]')
  forbid "nothing adds to y by atomics" '\batomic[A-Z]\w*\( *&?\*?y\b' $(code_under src/kernels)
  for function in analyze build update_values; do
    forbid "not among the callers of spmv_$function() that scripts/check_source.sh lists" "\bspmv_$function\(" \
      $(code_under src/mat -vxF "$(callers_of $function)") $(code_under src/ksp -vxF "$(callers_of $function)") \
      $(code_under src/pc -vxF "$(callers_of $function)")
  done
  forbid "no field of PETSc's AIJ, no header of it" '# *include.*(impls/aij/(seq|mpi)/|\b(mpi)?aij(\.h|cusparse))|\bMat_(Seq|MPI)AIJ\b' $(code_under src)
  forbid "not among the files that scripts/check_source.sh lets test PETSc's version" '\bPETSC_VERSION_[GL][ET]\b' \
    $(code_under src -vxF "$version_tests")
  forbid "places.c alone asks where PETSc's values are" '\boffloadmask\b|\bAIJFmtOffload' \
    $(code_under src -vE '/(aij/places\.c|sys/compat\.h)$')
  forbid "mat_operations.c has the one table of operations" '\bA->ops->\w+ *=[^=]' $(code_under src/mat -vE 'aij/(create|shared)\.c') $(code_under src/pc/impls/gamg)
  for file in $(awk '{print $1}' <<<"$plan_makers $version_tests"); do
    [[ -f $file ]] || fault "scripts/check_source.sh: $file is not there: take it out of its list"
  done
}

callers_of() { awk -v f="$1" '{ for (i = 2; i <= NF; i++) if ($i == f) print $1 }' <<<"$plan_makers"; }

# The folders of the kernel library, and the code in one of them without its own folders
kernel_folders() { (cd src/kernels && printf '%s\n' */ */*/ | grep -v '\*'); }
code_in() { code_under "src/kernels/${1%/}" -E "^src/kernels/$1[^/]+$"; }

# No circular includes between folders: each of the kernel library may include only these and itself; src/sys and
# src/parallel lie below all others of the plugin
# shellcheck disable=SC2046
check_folders() {
  local folder below
  for folder in $(kernel_folders); do
    case $folder in
    core/) below='core/' ;;
    device/) below='core/|device/' ;;
    papers/) below="core/|device/|plan/|$folder|$(sed -n 's/^SPMV_FORMAT(\([a-z0-9]*\),.*/\1\//p' src/kernels/formats.def | paste -sd'|')" ;;
    nccl/ | cg/ | gmres/ | cycle/ | extremes/) below="core/|device/|plan/|engine/|$folder" ;;
    */*/) below="core/|device/|plan/|${folder%%/*}/" ;;
    *) below="core/|device/|plan/|$folder" ;;
    esac
    forbid "$folder includes ${below//|/ } alone" "# *include \"(\.\./)*(?!\.\./|$below)\w+/" $(code_in "$folder")
  done
}
# Headers of another folder are included by their path from src/kernels, those of the same folder by name. A header of a
# low folder declares no function that a higher folder defines; no_device.c stands for all of them.
# shellcheck disable=SC2046
check_headers_of_kernels() {
  local folder line
  forbid "include it by its path from src/kernels" '# *include "\.\./' $(code_under src/kernels)
  for folder in $(kernel_folders); do
    forbid "include it by its name alone" "# *include \"$folder\w+\.cuh?\"|# *include \"$folder\w+\.h\"" $(code_in "$folder")
  done
  while IFS= read -r line; do
    [[ -z $line ]] || fault "$line"
  done < <(code_under src/kernels -E '/(core|device|plan|engine)/.*\.(h|cuh)$' | python3 -c '
import os, re, subprocess, sys

layers = ["core", "device", "plan", "engine"]
def layer(name):
    folder = os.path.basename(os.path.dirname(name))
    return layers.index(folder) if folder in layers else len(layers)

declared = {}
for header in sys.stdin.read().split():
    for name in re.findall(r"^(?!static)[A-Za-z][\w *]*?\b(spmv_\w+)\([^;{]*\);", open(header).read(), re.M):
        declared.setdefault(name, []).append(header)
for source in subprocess.check_output(["git", "ls-files", "src/kernels/*.c", "src/kernels/*.cu"], text=True).split():
    if "_test." in source or source.endswith("/no_device.c") or not os.path.exists(source):
        continue
    for name in re.findall(r"^[A-Za-z][^;{}=]*?\b(spmv_\w+)\([^;{}]*\)\s*\{", open(source).read(), re.M):
        for header in declared.get(name, []):
            if layer(source) > layer(header):
                print(f"{header} declares {name}(), which {source} defines")
')
}

# The folders of the PETSc side from the bottom up, and what each may include besides itself, as a pattern
layers='
src/sys                 (?!)
src/parallel            sys/
src/mat/impls/aij       sys/
src/mat/impls/lists     sys/|parallel/|mat/impls/aij/
src/mat/impls/products  sys/|parallel/|mat/impls/(aij|lists)/
src/mat/impls/factor    sys/|mat/impls/aij/plan\.h
src/mat/impls/incomplete sys/|mat/impls/aij/plan\.h
src/pc/impls/point      sys/|parallel/|mat/impls/aij/plan\.h
src/pc/impls/factor     sys/|mat/impls/(factor|incomplete)/|pc/impls/point/
src/pc/impls/estimate   sys/|mat/impls/aij/plan\.h|pc/impls/point/
src/pc/impls/gamg       sys/|parallel/|mat/|pc/impls/estimate/
src/pc/impls/multigrid  sys/|parallel/|mat/impls/aij/plan\.h|pc/impls/point/|pc/impls/factor/
src/ksp/impls/device    sys/|parallel/|mat/impls/aij/plan\.h|pc/impls/(factor|point|multigrid)/
src/ksp/impls/cg        sys/|parallel/|mat/impls/aij/plan\.h|pc/impls/(point|multigrid)/|ksp/impls/device/
src/ksp/impls/gmres     sys/|parallel/|mat/impls/aij/plan\.h|pc/impls/(point|multigrid)/|ksp/impls/device/
src/plugin              sys/|parallel/|mat/|pc/|ksp/'

# shellcheck disable=SC2046
check_layers() {
  local folder below found
  while read -r folder below; do
    [[ -d $folder ]] || fault "scripts/check_source.sh: $folder is not there: take it out of its list"
    forbid "$folder includes only itself and ${below//\\/}" "# *include \"(?!($below)[\\w/.]*\")[\\w.]*/" $(code_under "$folder")
  done < <(grep . <<<"$layers")
  for folder in $(code_under src -vE '^src/kernels/' | xargs -n 1 dirname | sort -u); do
    found=$(awk -v f="$folder" '$1 == f' <<<"$layers")
    [[ -n $found ]] || fault "$folder: not among the layers that scripts/check_source.sh lists"
  done
}

# No circle of calls over more than three files of a folder
# shellcheck disable=SC2046
check_circles() {
  local line
  while IFS= read -r line; do
    fault "$line"
  done < <(scripts/check_circles.py $(code_under src -E '\.c$' | grep -v '^src/kernels/'))
}

# On the PETSc side no two files, and no static functions of two files, have the same name. Not in src/pc/impls/gamg,
# whose static names the hierarchy made on the device replaces.
# shellcheck disable=SC2046
check_names() {
  local name
  for name in $(code_under src -vE '^src/kernels/' | xargs -n 1 basename | sort | uniq -d); do
    fault "src: several files have the name $name"
  done
  for name in $(grep -oP '^(static [\w *]*?\b\K\w+(?=\()|\w+_DESTRUCTOR\(\K\w+)' $(code_under src -vE '^src/(kernels|pc/impls/gamg)/') |
    sort -u | cut -d: -f2 | sort | uniq -d); do
    fault "src: several files have a static function $name()"
  done
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

# The README of a folder of the kernel library names every file but tests and the headers that are named after the
# folder, some by their ends (`_mult.c`, `.inc`); docs/testing.md names every program of tests/mat and tests/ksp
check_lists_of_files() {
  local line
  while IFS= read -r line; do
    [[ -z $line ]] || fault "$line"
  done < <(tracked src/kernels tests/mat tests/ksp | python3 -c '
import fnmatch, os, re, sys

def words(name):
    with open(name, encoding="utf-8") as file:
        return set(re.findall(r"`([^`\s]+)`", file.read()))

testing = words("docs/testing.md")
for name in filter(os.path.isfile, sys.stdin.read().split()):
    folder, base = os.path.split(name)
    stem, ext = os.path.splitext(base)
    readme = folder + "/README.md"
    if folder.startswith("tests/"):
        if ext == ".c" and re.search(r"^int main\(", open(name).read(), re.M) and not any(fnmatch.fnmatch(stem, w) for w in testing):
            print(f"docs/testing.md does not name {name}")
    elif ext in (".c", ".h", ".cu", ".cuh", ".inc") and "_test." not in base and os.path.exists(readme):
        named = words(readme)
        own = os.path.basename(folder)
        if not (base in named or base in (own + ".h", own + "_device.cuh") or any(w[0] == "_" and base.endswith(w) for w in named)
                or (ext in named and any(w.startswith(stem + ".") for w in named))):
            print(f"{readme} does not name {base}")
')
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

# The include options of PETSc's MPI compiler wrapper; Open MPI and MPICH both support -show
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

# Every link of a document to a file of the repository, or to a heading of one, leads somewhere; so does every page that a
# source file, a script or a document names by its path from the root
check_links() {
  local line
  while IFS= read -r line; do
    [[ -z $line ]] || fault "$line"
  done < <(tracked | python3 -c '
import os, re, sys

def text_of(name):
    with open(name, encoding="utf-8", errors="ignore") as file:
        return file.read()

def headings(name, known={}):
    if name not in known:
        titles = re.findall(r"^#+ +(.*?) *$", re.sub(r"^```.*?^```", "", text_of(name), flags=re.M | re.S), re.M)
        titles = [re.sub(r"\]\([^)]*\)", "", title) for title in titles]
        known[name] = {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}
    return known[name]

for name in filter(os.path.isfile, sys.stdin.read().split()):
    pages = re.findall(r"(?<![\w/.-])docs/[\w./-]+\.md\b", "" if name.endswith((".json", ".xz", ".svg")) else text_of(name))
    for page in {page for page in pages if not os.path.exists(page)}:
        print(f"{name}: there is no page {page}")
    for link in re.findall(r"\]\(([^) ]+)\)", text_of(name)) if name.endswith(".md") else []:
        path, _, anchor = link.partition("#")
        target = os.path.normpath(os.path.join(os.path.dirname(name), path)) if path else name
        if "://" in link:
            continue
        if not os.path.exists(target):
            print(f"{name}: the link to {link} leads nowhere")
        elif anchor and target.endswith(".md") and anchor not in headings(target):
            print(f"{name}: {target} has no heading for the link to {link}")
')
}

# The steps of a run on a GPU, in README and in the table of scripts/gpu_steps.py
check_gpu_steps() {
  python3 -c 'import sys; sys.path.insert(0, "scripts"); import gpu_steps
sys.exit(gpu_steps.markdown() not in open("bench/README.md", encoding="utf-8").read())' ||
    fault "bench/README.md: its table of steps is not that of scripts/gpu_steps.py (print(gpu_steps.markdown()))"
}

# A mutant whose text has moved changes nothing
check_mutants() {
  local line
  while read -r line; do fault "scripts/mutants.py: $line"; done < <(python3 -c 'import sys; sys.path.insert(0, "scripts")
from mutants import KERNELS, MUTANTS
for m in MUTANTS:
    if open(KERNELS + m.file, encoding="utf-8").read().count(m.old) != 1:
        print(f"the text of {m.name} does not stand once in {m.file}")')
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
for check in absent folders headers_of_kernels layers circles names formats lists_of_files sizes headers format manual_pages markers links gpu_steps mutants scripts; do
  before=$faults
  "check_$check"
  say "check $check: $((faults - before)) faults"
done
((faults == 0))
