#!/usr/bin/env python3
"""Table 2 and the quantities of Figure 4 of the paper on Row Block Packing, for the matrices given.

    rbp_paper_tables.py [--library build/lib/libspmvpack.so] MATRIX|FOLDER ...

A matrix is a file of PETSc's binary format (.petsc) or Matrix Market (.mtx, .mtx.xz, .mtx.gz). The paper's own matrices
are often not at hand: every matrix here counts as a stand-in, and a file NAME or NAME_like is set beside the paper's NAME.
All bytes of the stand-ins are what libspmvpack predicts, which is what its plans take. The paper prints its Figure 4 as
a graph: what stands here as published is its formulas with the numbers of its Table 2.

Source: Kawamura, Yoneda, Iwamura, Watanabe, Inoguchi, a compression scheme of sparse matrices for high-precision
numerical simulations on site by GPUs. Only the standard library is used.
"""
import argparse
import array
import ctypes
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "examples"))
from mtx_to_petsc import MAT_FILE_CLASSID, read_matrix_market  # noqa: E402

# The paper's Table 2: N, Nz, Nnon, K, Kv, Kc
PUBLISHED = {
    "cant": (62451, 4007383, 39097, 40, 40, 16),
    "rma10": (46835, 2374001, 447, 145, 145, 40),
    "consph": (83334, 6010480, 30461, 78, 78, 38),
    "parabolic_fem": (525825, 3674625, 999115, 7, 6, 6),
    "pwtk": (217918, 11524432, 199, 90, 90, 18),
    "thermal2": (1228045, 8580313, 2846134, 11, 9, 8),
    "af_shell9": (504855, 17588845, 919, 30, 30, 10),
    "F1": (343791, 26837113, 46738, 378, 378, 150),
    "nd24k": (72000, 28715634, 441476, 483, 472, 114),
    "dielFilterV2real": (1157456, 48538952, 10631364, 99, 79, 48),
    "UT-Heart1": (82047, 3423519, 0, 63, 63, 40),
    "UT-Heart2": (130595, 6954413, 969595, 124, 111, 50),
}
FORMATS = ("csr", "ell", "ellr", "packed")
SUFFIXES = (".petsc", ".mtx", ".mtx.xz", ".mtx.gz")

MESSAGE_MAX, OPTIONS_MAX, ARRAYS_MAX, ABI = 256, 16, 16, 2
HOST, I32, F64 = 0, 0, 0


class Exec(ctypes.Structure):
    """SpmvExec of spmv_kernels.h; 6 pointers are its two allocators."""

    _fields_ = [("space", ctypes.c_int), ("stream", ctypes.c_void_p), ("allocators", ctypes.c_void_p * 6),
                ("message", ctypes.c_char * MESSAGE_MAX)]


class Pattern(ctypes.Structure):
    """SpmvPattern"""

    _fields_ = [("rows", ctypes.c_int64), ("cols", ctypes.c_int64), ("nnz", ctypes.c_int64),
                ("index_type", ctypes.c_int), ("space", ctypes.c_int), ("row_ptr", ctypes.c_void_p),
                ("col", ctypes.c_void_p), ("host_row_ptr", ctypes.c_void_p), ("host_col", ctypes.c_void_p)]


class Options(ctypes.Structure):
    """SpmvOptions"""

    _fields_ = [("format", ctypes.c_void_p), ("value", ctypes.c_double * OPTIONS_MAX)]


class ArrayInfo(ctypes.Structure):
    """SpmvArrayInfo"""

    _fields_ = [("name", ctypes.c_char_p), ("kind", ctypes.c_int), ("bytes", ctypes.c_int64)]


class Memory(ctypes.Structure):
    """SpmvMemory"""

    _fields_ = [("count", ctypes.c_int), ("array", ArrayInfo * ARRAYS_MAX), ("total_bytes", ctypes.c_int64),
                ("padding_bytes", ctypes.c_int64), ("csr_bytes", ctypes.c_int64), ("work_bytes", ctypes.c_int64),
                ("host_bytes", ctypes.c_int64)]


class Analysis(ctypes.Structure):
    """SpmvAnalysis"""

    _fields_ = [("format", ctypes.c_void_p), ("options", Options), ("scalar_type", ctypes.c_int),
                ("space", ctypes.c_int), ("accepted", ctypes.c_int), ("reason", ctypes.c_char * MESSAGE_MAX),
                ("memory", Memory), ("data", ctypes.c_void_p), ("destroy_data", ctypes.c_void_p)]


class Library:
    """The analyses of format rbp in libspmvpack."""

    def __init__(self, path):
        self.lib = ctypes.CDLL(path)
        self.lib.spmv_format_find.restype = ctypes.c_void_p
        self.rbp = ctypes.c_void_p(self.lib.spmv_format_find(b"rbp"))
        if not self.rbp or ctypes.cast(self.rbp, ctypes.POINTER(ctypes.c_uint32))[0] != ABI:
            raise OSError(f"{path}: no format rbp of interface version {ABI}")

    def check(self, status, message):
        if status:
            raise ValueError(message.decode())

    def arrays(self, pattern, layout):
        """Bytes of each array of a layout, with 'total' and 'CSR'."""
        run, options, analysis = Exec(), Options(), Analysis()
        text = ctypes.create_string_buffer(MESSAGE_MAX)
        self.lib.spmv_exec_init(ctypes.byref(run), HOST)
        self.lib.spmv_options_init(ctypes.byref(options), self.rbp)
        self.check(self.lib.spmv_options_set_text(ctypes.byref(options), b"layout", layout.encode(), text), text.value)
        self.check(self.lib.spmv_pattern_check(ctypes.byref(pattern), ctypes.byref(run)), run.message)
        status = self.lib.spmv_analyze(self.rbp, ctypes.byref(pattern), F64, ctypes.byref(options), ctypes.byref(run),
                                       ctypes.byref(analysis))
        self.check(status, run.message)
        memory = analysis.memory
        found = {memory.array[i].name.decode(): memory.array[i].bytes for i in range(memory.count)}
        found["total"], found["CSR"] = memory.total_bytes, memory.csr_bytes
        self.lib.spmv_analysis_clear(ctypes.byref(analysis), ctypes.byref(run))
        return found


def read_petsc(path):
    """Returns cols, row_ptr and col of a PETSc binary matrix with 32-bit indices."""

    def take(source, count):
        block = array.array("i")
        block.fromfile(source, count)
        if sys.byteorder == "little":
            block.byteswap()
        return block

    with open(path, "rb") as source:
        classid, rows, cols, nnz = take(source, 4)
        if classid != MAT_FILE_CLASSID:
            raise ValueError(f"{path}: not a PETSc binary matrix with 32-bit indices")
        lengths, col = take(source, rows), take(source, nnz)
    row_ptr = array.array("i", [0])
    for length in lengths:
        row_ptr.append(row_ptr[-1] + length)
    return cols, row_ptr, col


def read_matrix(path):
    """Like read_petsc(), of any file."""
    if path.endswith(".petsc"):
        return read_petsc(path)
    _, cols, entries = read_matrix_market(path)
    row_ptr, col = array.array("i", [0]), array.array("i")
    for row in entries:
        col.extend(sorted(row))
        row_ptr.append(len(col))
    return cols, row_ptr, col


def measure(library, path):
    """Table 2's numbers of a matrix, and the bytes of each format in the order of the tables."""
    cols, row_ptr, col = read_matrix(path)
    rows, nnz = len(row_ptr) - 1, len(col)
    pattern = Pattern(rows, cols, nnz, I32, HOST, row_ptr.buffer_info()[0], col.buffer_info()[0], None, None)
    found = {layout: library.arrays(pattern, layout) for layout in FORMATS}
    longest = max((row_ptr[i + 1] - row_ptr[i] for i in range(rows)), default=0)
    ell = found["ell"]
    table = (rows, nnz, ell["values"] // 8, longest, ell["comp_values"] // (8 * rows) if rows else 0,
             ell["comp_columns"] // (4 * rows) if rows else 0)
    totals = [found[layout]["total"] for layout in FORMATS]
    return table, figure_4(table, found["csr"]["CSR"], totals)


def figure_4(table, csr, totals):
    """Bytes of CSR, ELL, ELL-R, then of RBP in the order of FORMATS. The rivals' formulas are the paper's."""
    rows, longest = table[0], table[3]
    ell = 12 * rows * longest
    return [csr, ell, ell + 4 * rows] + totals


def published_figure_4(table):
    """The paper's formulas with its Table 2, which does not tell Ncol: RBP-CSR stays open."""
    rows, nnz, outside, _, run_values, run_columns = table
    rbp_ell = 8 * rows * run_values + 4 * rows * run_columns + 12 * outside + 4 * (rows + 1)
    return figure_4(table, 12 * nnz + 4 * (rows + 1), [None, rbp_ell, rbp_ell + 4 * rows, None])


def base_name(path):
    name = os.path.basename(path)
    for suffix in sorted(SUFFIXES, key=len, reverse=True):
        if name.endswith(suffix):
            name = name[: -len(suffix)]
    return name[:-5] if name.endswith("_like") else name


def matrix_files(arguments):
    for argument in arguments:
        if not os.path.isdir(argument):
            yield argument
            continue
        for name in sorted(os.listdir(argument)):
            if name.endswith(SUFFIXES):
                yield os.path.join(argument, name)


def print_table_2(rows):
    print(f"{'matrix':18} {'':9} {'N':>10} {'Nz':>11} {'Nnon':>11} {'K':>5} {'Kv':>5} {'Kc':>5}")
    for name, label, table, _ in rows:
        n, nz, outside, k, kv, kc = table
        print(f"{name:18} {label:9} {n:10,} {nz:11,} {outside:11,} {k:5} {kv:5} {kc:5}")


def print_figure_4(rows):
    names = ("CSR", "ELL", "ELL-R", "RBP-CSR", "RBP-ELL", "RBP-ELL-R", "packed")
    rivals = {3: 0, 4: 1, 5: 2, 6: 0}
    print(f"{'matrix':18} {'':9}" + "".join(f"{name:>17}" for name in names))
    for matrix, label, _, sizes in rows:
        cells = []
        for i, size in enumerate(sizes):
            if size is None:
                cells.append(f"{'-':>17}")
            elif i in rivals and sizes[rivals[i]]:
                cells.append(f"{size / 1e6:9.1f} {100 * (size / sizes[rivals[i]] - 1):+6.1f}%")
            else:
                cells.append(f"{size / 1e6:9.1f}        ")
        print(f"{matrix:18} {label:9}" + "".join(cells))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--library", default=os.path.join(HERE, "..", "build", "lib", "libspmvpack.so"))
    parser.add_argument("matrix", nargs="+", help="a matrix file, or a folder of them")
    options = parser.parse_args()
    rows = []
    try:
        library = Library(options.library)
        for path in matrix_files(options.matrix):
            name = base_name(path)
            if name in PUBLISHED:
                rows.append((name, "published", PUBLISHED[name], published_figure_4(PUBLISHED[name])))
            rows.append((name, "stand-in", *measure(library, path)))
    except (OSError, ValueError) as error:
        sys.exit(f"rbp_paper_tables.py: {error}")
    print("Table 2: rows, nonzeros, nonzeros outside runs, longest row, its maxima in runs and in ends of runs\n")
    print_table_2(rows)
    print("\nFigure 4: 10^6 bytes; change of RBP-CSR and packed from CSR, RBP-ELL from ELL, RBP-ELL-R from ELL-R\n")
    print_figure_4(rows)


if __name__ == "__main__":
    main()
