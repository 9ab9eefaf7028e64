#!/usr/bin/env python3
"""Prints the table of scripts/demo.sh from the output of ex10 and its profile.

    demo_table.py <folder> <type> ...        reads <folder>/<type>-<solver>.out and .csv

ex10 solves the system twice, in stages of their own; the table shows the second time.
"""
import csv
import re
import sys
from pathlib import Path

SOLVERS = ("cg", "gmres")
STAGE = "KSPSolve 1"


def last_match(pattern, text, default=None):
    found = re.findall(pattern, text)
    return found[-1] if found else default


def product_seconds(path):
    with open(path, newline="") as lines:
        for row in csv.DictReader(lines):
            if row["Stage Name"] == STAGE and row["Event Name"] == "MatMult":
                return float(row["Time"]), int(float(row["Count"]))
    sys.exit(f"demo_table.py: {path} has no MatMult in stage '{STAGE}'")


def matrix_bytes(text):
    """Bytes of the packed arrays from the view of the matrix; bytes of CSR (4-byte indices) if the view has none."""
    packed = last_match(r"memory: (\d+) bytes", text)
    if packed:
        return int(packed)
    rows, nonzeros = (int(last_match(rf"{word}=(\d+)", text)) for word in ("rows", "nonzeros"))
    return 12 * nonzeros + 4 * (rows + 1)


def main():
    folder, types = Path(sys.argv[1]), sys.argv[2:]
    heading = ("type", "solver", "iterations", "residual", "matrix", "MatMult", "each")
    line = "{:<12} {:<13} {:>10} {:>12} {:>12} {:>10} {:>10}".format
    print(line(*heading))
    for solver in SOLVERS:
        for name in types:
            text = (folder / f"{name}-{solver}.out").read_text()
            seconds, count = product_seconds(folder / f"{name}-{solver}.csv")
            print(line(name, f"{solver}+jacobi", last_match(r"Number of iterations = *(\d+)", text),
                       last_match(r"Residual norm ([-+.e\d]+|< 1.e-12)", text), f"{matrix_bytes(text) / 1e6:.2f} MB",
                       f"{seconds:.2f} s", f"{seconds / count * 1e3:.3f} ms"))
    print("\nResiduals are of the preconditioned system, as ex10 prints them. Iterations differ by rounding: a packed type")
    print("adds the terms of a row in another order. MatMult includes the conversion at the first product.")


if __name__ == "__main__":
    main()
