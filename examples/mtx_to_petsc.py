#!/usr/bin/env python3
"""Converts a Matrix Market file (plain, .xz or .gz) to PETSc's binary format, which MatLoad() reads.

    mtx_to_petsc.py matrix.mtx.xz matrix.petsc [--rhs] [--int64] [--single]

--rhs appends the vector b = A * (1, ..., 1) for VecLoad(), so that the solution of A x = b is known.
--int64 and --single are for a PETSc with 64-bit indices or in single precision. Only the standard library is used.
Symmetric and skew-symmetric files are expanded; an entry of a pattern file gets the value 1; duplicates are added.
"""
import argparse
import array
import gzip
import lzma
import math
import os
import sys

MAT_FILE_CLASSID = 1211216
VEC_FILE_CLASSID = 1211214
OPENERS = {".xz": lzma.open, ".gz": gzip.open}
MIRROR_SIGN = {"general": 0.0, "symmetric": 1.0, "skew-symmetric": -1.0}


def read_matrix_market(path):
    """Returns (rows, cols, entries); entries[i] is a dict column -> value of row i."""
    opener = OPENERS.get(os.path.splitext(path)[1], open)
    with opener(path, "rt") as lines:
        banner = lines.readline().lower().split()
        if len(banner) != 5 or banner[:3] != ["%%matrixmarket", "matrix", "coordinate"]:
            raise ValueError(f"{path}: not a Matrix Market coordinate file")
        if banner[3] not in ("real", "integer", "pattern") or banner[4] not in MIRROR_SIGN:
            raise ValueError(f"{path}: cannot read {banner[3]} {banner[4]}")
        pattern, mirror_sign = banner[3] == "pattern", MIRROR_SIGN[banner[4]]
        size = next(line for line in lines if line.strip() and not line.startswith("%"))
        rows, cols, stored = (int(word) for word in size.split())
        entries = [{} for _ in range(rows)]
        seen = 0
        for line in lines:
            words = line.split()
            if not words:
                continue
            i, j = int(words[0]) - 1, int(words[1]) - 1
            value = 1.0 if pattern else float(words[2])
            if not (0 <= i < rows and 0 <= j < cols):
                raise ValueError(f"{path}: entry ({i + 1}, {j + 1}) lies outside {rows} x {cols}")
            entries[i][j] = entries[i].get(j, 0.0) + value
            if mirror_sign and i != j:
                entries[j][i] = entries[j].get(i, 0.0) + mirror_sign * value
            seen += 1
        if seen != stored:
            raise ValueError(f"{path}: {stored} entries announced, {seen} found")
    return rows, cols, entries


def write_petsc(path, rows, cols, entries, rhs, int_code, real_code):
    """Writes PETSc's binary matrix: header, row lengths, columns, values, all big-endian; then the vector, if wanted."""

    def write(out, code, numbers):
        block = array.array(code, numbers)
        if sys.byteorder == "little":
            block.byteswap()
        block.tofile(out)

    ordered = [sorted(row.items()) for row in entries]
    with open(path, "wb") as out:
        write(out, int_code, [MAT_FILE_CLASSID, rows, cols, sum(map(len, ordered))])
        write(out, int_code, map(len, ordered))
        write(out, int_code, (j for row in ordered for j, _ in row))
        write(out, real_code, (value for row in ordered for _, value in row))
        if rhs:
            write(out, int_code, [VEC_FILE_CLASSID, rows])
            write(out, real_code, (math.fsum(value for _, value in row) for row in ordered))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("source")
    parser.add_argument("target")
    parser.add_argument("--rhs", action="store_true", help="append b = A * (1, ..., 1)")
    parser.add_argument("--int64", action="store_true", help="64-bit indices")
    parser.add_argument("--single", action="store_true", help="single precision")
    options = parser.parse_args()
    try:
        rows, cols, entries = read_matrix_market(options.source)
    except (OSError, ValueError) as error:
        sys.exit(f"mtx_to_petsc.py: {error}")
    int_code, real_code = "q" if options.int64 else "i", "f" if options.single else "d"
    write_petsc(options.target, rows, cols, entries, options.rhs, int_code, real_code)
    print(f"{options.target}: {rows} x {cols}, {sum(map(len, entries))} nonzeros")


if __name__ == "__main__":
    main()
