#!/usr/bin/env python3
"""Compares the output and the times of a program with aij and with packed types; scripts/applications.sh runs it.

    applications_compare.py --name N --event KSPSolve --lines PATTERN --repeat R aij aijrbp ...

Reads <type>.<run>.out, .csv (-log_view) and .seconds in the current folder, and the file --solution in <type>.1. The chosen lines must be the same: words
exactly, iterations within one, other numbers to the accuracy that programs print. A named type must have packed a matrix,
and aij must not. Prints medians over the runs: in brackets how many times as fast as aij; MatMult includes the conversion.
"""
import argparse
import csv
import re
import statistics
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests/differential"))
import compare  # noqa: E402

ITERATIONS = re.compile(r"(\biterations(?: of the method)?:? +|\bin +)(\d+)((?: +iterations)?)")
TIME_OF_DAY = r"\d+:\d+:\d+"
RELATIVE, ABSOLUTE = 2e-5, 1e-12
# Entries of a solution near zero carry the solver's error, 1e-8 of the largest residual
ABSOLUTE_IN_SOLUTION = 1e-7


def chosen_lines(text, pattern):
    return "\n".join(line for line in text.splitlines() if re.search(pattern, line))


def iterations(text):
    return [int(match.group(2)) for match in ITERATIONS.finditer(text)]


def difference(expected, actual):
    """None, or a line that tells where two results differ by more than rounding."""
    left, right = iterations(expected), iterations(actual)
    if len(left) != len(right) or any(abs(a - b) > 1 for a, b in zip(left, right)):
        return f"iterations {left} and {right}"
    without = [ITERATIONS.sub(r"\1N\3", text) for text in (expected, actual)]
    return compare.first_difference(*without, RELATIVE, ABSOLUTE)


def event(path, name):
    """(times called, seconds) of an event on the first process, over all stages of a profile."""
    with open(path, newline="") as lines:
        rows = [row for row in csv.DictReader(lines) if row["Event Name"] == name and row["Rank"] == "0"]
    return sum(int(float(row["Count"])) for row in rows), sum(float(row["Time"]) for row in rows)


class Runs:
    """All runs of one program with one type."""

    def __init__(self, type_name, options):
        profiles = [f"{type_name}.{run}.csv" for run in range(1, options.repeat + 1)]
        self.type_name = type_name
        self.results = [
            chosen_lines(Path(f"{type_name}.{run}.out").read_text(), options.lines) for run in range(1, options.repeat + 1)
        ]
        self.solution = (Path(f"{type_name}.1") / options.solution).read_text() if options.solution else ""
        self.solution = compare.drop_lines(self.solution, TIME_OF_DAY)
        self.program = self.median(float(Path(p).with_suffix(".seconds").read_text()) for p in profiles)
        self.solver = self.median(event(p, options.event)[1] for p in profiles)
        self.products = event(profiles[0], "MatMult")[0]
        self.product = self.median(event(p, "MatMult")[1] for p in profiles)
        self.packed = event(profiles[0], "MatPackConvert")[0]
        self.conversion = self.median(event(p, "MatPackConvert")[1] for p in profiles)

    @staticmethod
    def median(numbers):
        return statistics.median(numbers)

    def faults(self, reference):
        if not reference.results[0].strip():
            yield "the program printed no result"
        for result in self.results:
            found = difference(reference.results[0], result)
            if found:
                yield f"{self.type_name}: {found}"
        if self.solution:
            found = compare.first_difference(reference.solution, self.solution, RELATIVE, ABSOLUTE_IN_SOLUTION)
            if found:
                yield f"{self.type_name}: in the solution {found}"
        if self.type_name == "aij" and self.packed:
            yield "aij packed a matrix"
        if self.type_name not in ("aij", "aijauto") and not self.packed:
            yield f"{self.type_name} packed no matrix"


def print_table(name, solver, all_runs):
    reference = all_runs[0]
    line = "{:<10} {:>7} {:>11} {:>9} {:>18} {:>18} {:>18}".format
    print(f"\n{name}: iterations {', '.join(map(str, iterations(reference.results[0]))) or 'not printed'}")
    print(line("type", "packed", "conversion", "products", "MatMult", solver, "program"))
    for runs in all_runs:
        cells = [
            f"{seconds:.3f} s ({old / seconds:.2f})" if seconds else "-"
            for seconds, old in (
                (runs.product, reference.product),
                (runs.solver, reference.solver),
                (runs.program, reference.program),
            )
        ]
        print(line(runs.type_name, runs.packed, f"{runs.conversion:.3f} s", runs.products, *cells))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--name", required=True)
    parser.add_argument("--event", required=True)
    parser.add_argument("--lines", required=True)
    parser.add_argument("--repeat", type=int, required=True)
    parser.add_argument("--solution")
    parser.add_argument("types", nargs="+")
    options = parser.parse_args()
    all_runs = [Runs(type_name, options) for type_name in options.types]
    print_table(options.name, options.event, all_runs)
    faults = [fault for runs in all_runs for fault in runs.faults(all_runs[0])]
    for fault in faults:
        print(f"{options.name}: {fault}", file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
