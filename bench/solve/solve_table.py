#!/usr/bin/env python3
"""Makes tables of the results of solve_bench.

    bench/solve/solve_table.py solve.json [more.json ...]                      tables as Markdown, on standard output
    bench/solve/solve_table.py solve.json --details solve.md                  the same as a file of its own
    bench/solve/solve_table.py part.json ... --merge solve.json                one file of many
    bench/solve/solve_table.py solve.json --check                              complete and right, or exit status 1

If several files have a matrix with a type and a solver, the last one counts; files of solve_log.py are accepted, too. Times are
medians of repetitions. Numbers in brackets are the speedup over the reference: --reference (aijcusparse), or the first type if
there is no such type.
"""
import json
import statistics
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # in a bundle all scripts are in one folder
from figures import load, markdown, milliseconds, parser_of, phase_of, program_of, seconds_of  # noqa: E402

PHASES = (
    ("list", "rows and columns of the list"), ("pattern", "MatSetPreallocationCOO"), ("first_values", "first MatSetValuesCOO"),
    ("solver", "vectors and solver"), ("assembly", "assembly by MatSetValues"), ("first_product", "first product"), ("product", "product"),
    ("first_diagonal", "first MatGetDiagonal"), ("diagonal", "MatGetDiagonal"),
    ("scale", "MatScale"), ("product_after_scale", "product after it"), ("scale_again", "MatScale again"),
    ("product_after_scale_again", "product after it"),
    ("setup", "PCSetUp, cold"), ("first_solve", "first solve"), ("solve", "solve"), ("setup_again", "PCSetUp of another solver"),
    ("setup_from_host", "PCSetUp of another matrix"),
    ("new_values", "new values by MatSetValues"), ("product_after_new_values", "product after them"),
    ("setup_new_values", "PCSetUp with new values"), ("solve_new_values", "solve with new values"),
    ("new_values_again", "new values again"), ("product_after_new_values_again", "product after them"),
    ("setup_new_values_again", "PCSetUp again"), ("solve_new_values_again", "solve again"),
    ("new_values_before_transposed", None), ("first_transposed", "first transposed product"), ("transposed", "transposed product"),
)
OF_PRODUCTS = {"assembly", "first_product", "product", "first_diagonal", "diagonal", "scale", "product_after_scale", "scale_again",
               "product_after_scale_again", "new_values", "product_after_new_values", "new_values_again",
               "product_after_new_values_again", "new_values_before_transposed", "first_transposed", "transposed"}
OF_SOLVERS = {"assembly", "setup", "first_solve", "solve", "new_values", "setup_new_values", "solve_new_values",
              "new_values_again", "setup_new_values_again", "solve_new_values_again"}
OF_ELEMENTS = {"list", "pattern", "element_values", "first_values", "solver", "setup", "first_solve", "solve"}
LOOPS = {"setvalues": "MatSetValues", "coo_host": "COO on the host", "coo_device": "COO on the device"}


class Results:
    """Cells by (matrix, solver, type); matrices and types in the order of the files; the header of the last file."""

    def __init__(self, paths):
        self.header, self.matrices, self.cells, self.runs, self.types, self.solvers = {}, {}, {}, [], [], []
        for path in paths:
            self.take(load(path, "solve_bench", "solve_log"))

    def take(self, content):
        self.runs += content.get("runs", [])
        if program_of(content) == "solve_log":
            return
        self.header = content["header"]
        self.matrices.update((m["name"], m) for m in content["matrices"])
        for cell in content["cells"]:
            self.cells[cell["matrix"], cell["solver"], cell["type"]] = cell
            for value, known in ((cell["type"], self.types), (cell["solver"], self.solvers)):
                if value not in known:
                    known.append(value)

    def as_json(self):
        everything = {"schema": 1, "header": self.header | {"program": "solve_bench"}, "matrices": list(self.matrices.values()),
                      "cells": list(self.cells.values()), "runs": self.runs}
        return json.dumps(everything, indent=1) + "\n"


def iterations_of(cell):
    return (phase_of(cell, "solve") or {}).get("iterations")


def seconds_per_iteration(cell):
    seconds, iterations = seconds_of(cell, "solve"), iterations_of(cell)
    return seconds / iterations if seconds is not None and iterations else None


def loop_of(cell, by):
    return next((loop for loop in (cell or {}).get("loops", []) if loop["by"] == by), None)


def complete_total(cell, by):
    """Seconds of assembly and all steps, or None if a step is missing."""
    loop = loop_of(cell, by)
    if not loop or "error" in loop or len(loop["solve"]) < cell["steps"]:
        return None
    return loop["total"]


def seconds_per_step(cell, by):
    """Mean seconds of the steps without the first, which has the first set-up of the preconditioner."""
    loop = loop_of(cell, by)
    if not loop or len(loop["solve"]) < 2:
        return None
    return statistics.mean(v + u + s for v, u, s in list(zip(loop["values"], loop["setup"], loop["solve"]))[1:])


def from_elements(cell):
    return cell.get("assembly") == "elements"


def part_of_step(cell, *parts):
    """Median seconds of parts of the steps from element matrices."""
    loop = loop_of(cell, "elements")
    return statistics.median(map(sum, zip(*(loop[part] for part in parts)))) if loop and loop["solve"] else None


def peak_bytes(cell):
    if cell and "peak_bytes" in cell:
        return cell["peak_bytes"]
    values = [p["device_bytes"] for p in cell["phases"] if p.get("device_bytes") is not None] if cell else []
    return max(values, default=None)


def with_ratio(seconds, reference):
    return milliseconds(seconds) + (f" ({reference / seconds:.2f})" if reference is not None and seconds else "")


class Table:
    """The table of one matrix, with a column for each of its cells: for types with one solver, or for types and solvers."""

    def __init__(self, cells, reference):
        solvers = len({cell["solver"] for cell in cells}) > 1
        types = [cell["type"] for cell in cells]
        self.cells = cells
        self.names = [f"{c['type']}, {c['solver']}" if solvers else c["type"] for c in cells]
        self.first = types.index(reference) if reference in types else 0
        self.rows = []

    def times(self, label, value):
        seconds = [value(cell) for cell in self.cells]
        if any(s is not None for s in seconds):
            self.rows.append([label] + [with_ratio(s, seconds[self.first] if i != self.first else None)
                                        for i, s in enumerate(seconds)])

    def texts(self, label, value, form):
        values = [value(cell) for cell in self.cells]
        if any(v is not None for v in values):
            self.rows.append([label] + ["–" if v is None else form(v) for v in values])

    def make(self):
        for name, label in PHASES:
            if label:
                self.times(f"{label}, ms", lambda cell, name=name: seconds_of(cell, name))
        if any(map(from_elements, self.cells)):
            self.elements()
        self.texts("iterations of a solve", iterations_of, str)
        self.times("one iteration, ms", seconds_per_iteration)
        for by, words in LOOPS.items() if not any(map(from_elements, self.cells)) else ():
            steps = max(cell["steps"] for cell in self.cells)
            self.times(f"{steps} steps by {words}, ms", lambda cell, by=by: complete_total(cell, by))
            self.times(f"a later step by {words}, ms", lambda cell, by=by: seconds_per_step(cell, by))
        self.texts("device memory at most, MB", peak_bytes, lambda v: f"{v / 1e6:,.0f}")
        return markdown([""] + [f"`{name}`" for name in self.names], self.rows) + self.notes()

    def elements(self):
        self.times("**from the list to the first solution, ms**", lambda cell: (loop_of(cell, "elements") or {}).get("assembly"))
        for label, parts in (("new values by MatSetValuesCOO", ["values"]), ("PCSetUp with new values", ["setup"]),
                             ("solve with new values", ["solve"]), ("**a step with new values**", ["values", "setup", "solve"])):
            self.times(f"{label}, ms", lambda cell, parts=parts: part_of_step(cell, *parts))
        self.times("element matrices, in no sum, ms", lambda cell: seconds_of(cell, "element_values"))
        self.texts("the list is on the", lambda cell: cell.get("list"), str)

    def notes(self):
        """Failures, wrong results and incomplete cells, which the table shows only as dashes."""
        found = []
        for name, cell in zip(self.names, self.cells):
            if "error" in cell:
                found.append(f"{name}: {cell['error']}")
            if "wrong" in cell:
                found.append(f"{name} is **wrong**: {cell['wrong']}")
            if "error" not in cell:
                found += [f"{name}, {p['name']}: {p['error']}" for p in cell["phases"] if "error" in p]
            for loop in cell["loops"]:
                if "error" in loop:
                    found.append(f"{name}, steps by {LOOPS[loop['by']]}: {loop['error']}")
                elif len(loop["solve"]) < cell["steps"]:
                    found.append(f"{name}, steps by {LOOPS[loop['by']]}: {len(loop['solve'])} were made in the time given")
        return [""] + [f"- {text}" for text in found] if found else []


def log_tables(results, reference):
    """Events of PETSc's own programs, with a column for each type."""
    lines = []
    for program in dict.fromkeys(r["program"] for r in results.runs):
        runs = {r["type"]: r for r in results.runs if r["program"] == program}
        first = runs.get(reference) or next(iter(runs.values()))
        rows = []
        for event in dict.fromkeys(e for r in runs.values() for e in r["events"]):
            base = first["events"].get(event, {}).get("seconds")
            cells = [r["events"].get(event) for r in runs.values()]
            rows.append([event] + ["–" if c is None else with_ratio(c["seconds"], None if r is first else base) + f", {c['count']}"
                                   for r, c in zip(runs.values(), cells)])
        lines += ["", f"### `{program}`", ""] + markdown([""] + [f"`{t}`" for t in runs], rows)
        errors = [f"- {t}: {r['error']}" for t, r in runs.items() if "error" in r]
        lines += [""] + errors if errors else []
    if lines:
        lines = ["", "## PETSc's own programs", "", "Milliseconds of events of `-log_view` and how often they came. PETSc's clock "
                 "does not wait for the device: `KSPSolve` tells the time of a solve, `MatMult` only that of its launch."] + lines
    return lines


def tables(results, reference):
    h = results.header
    lines = ["# What a solve costs", "",
             "Made by `bench/solve/solve_table.py` from the JSON of `solve_bench`; [how it is measured](../README.md#a-whole-solve). Milliseconds, "
             "medians; in brackets: how many times as fast as the first type of the table, or as "
             f"`{reference}` where it is there."]
    if h:
        facts = [h["gpu"] or h["machine"], h["cuda"] and f"CUDA {h['cuda']}", f"PETSc {h['petsc']}",
                 h["commit"] and f"commit {h['commit']}", h["date"][:10], f"{h['ranks']} process(es)", f"rtol {h['rtol']:g}"]
        lines += ["", ", ".join(f for f in facts if f) + "."]
    for name, matrix in results.matrices.items():
        lines += ["", f"## `{name}`", "", f"{matrix['rows']:,} rows, {matrix['nonzeros']:,} nonzeros, {matrix['block_size']} unknown(s) "
                  f"per node; near-null space: {matrix['near_null_space']}."]
        cells = [results.cells[key] for t in results.types for s in results.solvers if (key := (name, s, t)) in results.cells]
        whole = [cell for cell in cells if from_elements(cell)]
        if whole:
            lines += ["", f"### from {whole[0]['entries']:,} entries of element matrices", ""] + Table(whole, reference).make()
        for solver in results.solvers:
            group = [cell for cell in cells if cell["solver"] == solver and not from_elements(cell)]
            if group:
                lines += ["", f"### {solver}", ""] + Table(group, reference).make()
    return "\n".join(lines + log_tables(results, reference)) + "\n"


def faults(results):
    """Missing and wrong results, except for types that ended with an error."""
    found = []
    for key, cell in results.cells.items():
        name = " ".join(key)
        if "wrong" in cell:
            found.append(f"{name}: {cell['wrong']}")
        if "error" in cell:
            found.append(f"{name}: {cell['error']}")
            continue
        wanted = OF_ELEMENTS if from_elements(cell) else OF_PRODUCTS if cell["solver"] == "products" else OF_SOLVERS
        found += [f"{name}: no {phase}" for phase in sorted(wanted - {p["name"] for p in cell["phases"]})]
        found += [f"{name}, {p['name']}: {p['error']}" for p in cell["phases"] if "error" in p]
        found += [f"{name}, {p['name']}: {p['reason']} after {p['iterations']} iterations" for p in cell["phases"]
                  if p.get("reason", 1) <= 0]
        found += [f"{name}, {loop['by']}: {loop['error']}" for loop in cell["loops"] if "error" in loop]
        if from_elements(cell) and not any(len(loop["solve"]) == cell["steps"] for loop in cell["loops"]):
            found.append(f"{name}: not all {cell['steps']} steps")
    return found


def main():
    parser = parser_of(__doc__, details="FILE", merge="FILE", check="")
    parser.add_argument("--reference", default="aijcusparse")
    arguments = parser.parse_args()
    results = Results(arguments.results)
    if arguments.merge:
        Path(arguments.merge).write_text(results.as_json())
    if arguments.details:
        Path(arguments.details).write_text(tables(results, arguments.reference))
    if arguments.check:
        found = faults(results)
        print("\n".join(found) if found else f"{len(results.cells)} cells are complete and right")
        sys.exit(bool(found))
    if not (arguments.merge or arguments.details):
        print(tables(results, arguments.reference), end="")


if __name__ == "__main__":
    main()
