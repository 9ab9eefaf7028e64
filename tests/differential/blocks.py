"""Cases from the test blocks of PETSc's programs: tests that PETSc runs with aijcusparse, aijkokkos and other kinds of aij.

A block is the comment /*TEST ... TEST*/ of a source: entries test and testset, each with lines "key: value"; the tests of
a testset inherit from it. The name of the kind becomes @aij, @seqaij or @mpiaij, and what concerns a GPU is left out.
"""
import re

KIND = re.compile(r"(?<![a-z])(seq|mpi)?aij(?:cusparse|hipsparse|kokkos|viennacl|mkl|perm|sell|crl)(?![a-z])")
BACKEND = r"cuda|cusparse|cusolver|hip|kok|viennacl|(?<!_)mkl(?!_pardiso)|sycl|device|gpu"
# Options for a GPU, with a GPU library as value or without a value; and options whose output cannot be compared
GPU_VALUE = re.compile(r"-\S*(vec_type|mat_solver_type|_vec_view|device_type)$")
GPU_OPTION = re.compile(r"-(\S*_on_host|mat_cusparse_\S*|\S*_backend_cpu|use_gpu_aware_mpi|use_kokkos|[xb]gpu)$")
NOT_TO_COMPARE = re.compile(r"-(log_view|info|options_left|malloc_dump|nox)$")


def entries(block):
    """The entries build and test of a block as dictionaries key: value, with the kind of entry; args and requires that are
    given twice are joined."""
    found, open_entries = [], []  # of open_entries the indentation, the entry, and whether it is a testset with tests
    for line in re.sub(r"\\\n", " ", block).splitlines():
        content = line.split("#")[0].rstrip()
        match = re.match(r"( *)(\w+):(.*)", content)
        if not match:
            continue
        indent, key, value = len(match[1]), match[2], match[3].strip()
        if key in ("test", "testset", "build"):
            while open_entries and open_entries[-1][0] >= indent:
                open_entries.pop()
            parent = open_entries[-1][1] if open_entries else {}
            found = [entry for entry in found if entry is not parent]
            open_entries.append((indent, dict(parent)))
            found += [open_entries[-1][1]]
            open_entries[-1][1]["kind"] = key
        elif open_entries:
            entry = open_entries[-1][1]
            entry[key] = f"{entry[key]} {value}" if key in ("args", "requires") and key in entry else value
    return found


def entries_of(source_text):
    return [entry for block in re.findall(r"/\*TEST(.*?)TEST\*/", source_text, re.S) for entry in entries(block)]


def options(arguments):
    """[[option, value, ...], ...] of a line of arguments; a loop {{a b}} is one word."""
    groups = []
    for word in re.findall(r"(?:\{\{.*?\}\}|\S)+", re.sub(r"\{\{(.*?)\}[^}]*\}", r"{{\1}}", arguments)):
        if re.match(r"-[A-Za-z]", word) or not groups:
            groups.append([])
        groups[-1].append(word)
    return groups


def rename(arguments):
    """The arguments with @aij in place of the kind, and without options that concern only a GPU."""
    kept = []
    for group in options(arguments):
        text = re.sub(r"dense(cuda|hip)", "dense", KIND.sub(lambda m: f"@{m[1] or ''}aij", " ".join(group)))
        on_gpu = GPU_VALUE.match(group[0]) and re.search(BACKEND, " ".join(group[1:]), re.I)
        if not (on_gpu or GPU_OPTION.match(group[0]) or NOT_TO_COMPARE.match(group[0])):
            kept.append(text)
    text = " ".join(kept).replace("${wPETSC_DIR}/share/petsc/datafiles", "@data")
    return text.replace("int${PETSC_INDEX_SIZE}-float${PETSC_SCALAR_SIZE}", "int32-float64")


def needs(entry):
    """Requirements of a test besides its kind of aij, in PETSc's words; asks:word if there is no translation."""
    required = entry.get("requires", "").replace("defined(PETSC_HAVE_HYPRE_DEVICE)", "hypre")
    words = [word for word in required.split() if not re.search(BACKEND, word, re.I)]
    left = re.findall(rf"\S*(?:{BACKEND})\S*", rename(entry["args"]), re.I)
    return words + [f"asks:{word}" for word in left]


def cases_of(source_text):
    """(numbers of ranks, arguments with loops, needs) of the tests with such kinds of aij, each once."""
    found, program_needs = [], []
    for entry in entries_of(source_text):
        if entry["kind"] == "build":
            program_needs = entry.get("requires", "").split()
        elif KIND.search(entry.get("args", "")):
            ranks = re.findall(r"\d+", entry.get("nsize", "1"))
            found.append((ranks, rename(entry["args"]), program_needs + needs(entry)))
    return [case for i, case in enumerate(found) if case not in found[:i]]


def dependencies(source_text):
    """Further C sources of a program."""
    names = " ".join(entry.get("depends", "") for entry in entries_of(source_text) if entry["kind"] == "build").split()
    return [name for name in names if name.endswith(".c")]
