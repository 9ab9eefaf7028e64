#!/usr/bin/env python3
"""Makes tables that compare measurements on one GPU and on two.

    bench/mpi/mpi_table.py mpi.json --take "1 GPU=solve.json" --take "2 GPUs=other.json" ...   makes mpi.json
    bench/mpi/mpi_table.py mpi.json                     tables as Markdown, on standard output
    bench/mpi/mpi_table.py mpi.json --details mpi.md    the same into a file
    bench/mpi/mpi_table.py mpi.json --document docs/several-gpus.md     between the marks mpi:begin and mpi:end of a document

The files to take are those of solve_bench (or solve_table.py --merge); files with the same title belong
together. Numbers in brackets are the speedup over the first title with the same type.
"""
import json
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent / "solve")]  # in a bundle all scripts are in one folder
from figures import load, markdown, number, parser_of, put_between_marks, save, seconds_of  # noqa: E402
from solve_table import Results, iterations_of, seconds_per_iteration, with_ratio  # noqa: E402

SOLVERS = {"cg_jacobi": "CG + Jacobi", "cgdevice_jacobi": "cgdevice + Jacobi", "cg_gamg": "CG + GAMG",
           "cgdevice_gamg": "cgdevice + GAMG", "aggdevice_gamg": "cgdevice + GAMG of type aggdevice",
           "cgdevice_gamgdevice": "cgdevice + gamgdevice of type aggdevice, PETSc's defaults"}
PHASES = (("PCSetUp", "setup"), ("PCSetUp of another solver", "setup_again"), ("new values", "setup_new_values"),
          ("solve", "solve"))


def rows_of_phases():
    """(solver, label, function of a cell), in the order of the table."""
    yield "products", "product", lambda cell: seconds_of(cell, "product")
    yield "products", "transposed product", lambda cell: seconds_of(cell, "transposed")
    for solver, label in SOLVERS.items():
        yield solver, f"{label}, one iteration", seconds_per_iteration
        for text, phase in PHASES if "gamg" in solver else PHASES[-1:]:
            yield solver, f"{label}, {text}", lambda cell, phase=phase: seconds_of(cell, phase)


def gather(taken):
    """Results by title, in the order of the titles."""
    files = {}
    for text in taken:
        title, _, path = text.partition("=")
        files.setdefault(title, []).append(path)
    return {title: Results(paths) for title, paths in files.items()}


def read(path):
    setups = {}
    for setup in load(path, "mpi_table")["setups"]:
        setups[setup["title"]] = results = Results([])
        results.take(setup["results"])
    return setups


def write(path, setups):
    save(path, {"schema": 1, "header": {"program": "mpi_table"},
                "setups": [{"title": title, "results": json.loads(r.as_json())} for title, r in setups.items()]})


def row_of(label, seconds):
    """A row with speedups over the first setup; none if no setup has the value."""
    if all(s is None for s in seconds):
        return []
    return [[label] + [with_ratio(s, seconds[0] if i else None) for i, s in enumerate(seconds)]]


def iterations_row(solver, kind, cells):
    """A row of iterations: with GAMG they differ, because aggregates depend on the number of processes."""
    iterations = [iterations_of(cell) for cell in cells]
    if all(i is None for i in iterations):
        return []
    return [[f"{SOLVERS[solver]}, iterations, `{kind}`"] + [number(i, 0) for i in iterations]]


def notes_of(setups, matrix):
    """Failures and wrong results, which the table shows only as dashes."""
    found = []
    for title, results in setups.items():
        for (name, solver, kind), cell in results.cells.items():
            if name != matrix:
                continue
            found += [f"{title}, `{kind}`, {solver}: {cell[key]}" for key in ("error", "wrong") if key in cell]
            found += [f"{title}, `{kind}`, {solver}, {p['name']}: {p['error']}" for p in cell["phases"] if "error" in p]
    return found


def tables_of_matrices(setups):
    lines = []
    kinds = dict.fromkeys(t for r in setups.values() for t in r.types)
    for name, matrix in {k: m for r in setups.values() for k, m in r.matrices.items()}.items():
        rows = []
        for solver, label, value in rows_of_phases():
            for kind in kinds:
                cells = [r.cells.get((name, solver, kind)) for r in setups.values()]
                rows += row_of(f"{label}, `{kind}`", [value(cell) if cell else None for cell in cells])
        for solver in SOLVERS:
            for kind in kinds:
                rows += iterations_row(solver, kind, [r.cells.get((name, solver, kind)) for r in setups.values()])
        lines += ["", f"## `{name}`", "", f"{matrix['rows']:,} rows, {matrix['nonzeros']:,} nonzeros.", ""]
        lines += markdown([""] + list(setups), rows)
        notes = notes_of(setups, name)
        lines += [""] + [f"- {note}" for note in notes] if notes else []
    return lines


def tables(setups):
    lines = ["# Two GPUs of one host", "", "Made by `bench/mpi/mpi_table.py`. Milliseconds; in brackets: how many times as fast "
             "as the first column."]
    for title, results in setups.items():
        h = results.header
        if h.get("petsc"):
            devices = ", ".join(dict.fromkeys(h.get("devices", [])))
            aware = "GPU-aware MPI" if h.get("gpu_aware_mpi") and h["ranks"] > 1 else "no message of device memory"
            lines += ["", f"{title}: {h['gpu'] or h['machine']}, {h['ranks']} process(es) on {devices or 'the host'}, {aware}; "
                      f"PETSc {h['petsc']}, commit {h['commit']}, {h['date'][:10]}."]
    return "\n".join(lines + tables_of_matrices(setups)) + "\n"


def fill_document(path, text):
    """The title stays behind, and headings go one level down."""
    put_between_marks(path, "mpi", text.partition("\n\n")[2].replace("\n## ", "\n### "))


def main():
    parser = parser_of(__doc__, results=1, details="FILE", document="FILE")
    parser.add_argument("--take", action="append", metavar="TITLE=FILE")
    arguments = parser.parse_args()
    setups = gather(arguments.take) if arguments.take else read(arguments.results)
    if arguments.take:
        write(arguments.results, setups)
    text = tables(setups)
    if arguments.details:
        Path(arguments.details).write_text(text)
    if arguments.document:
        fill_document(arguments.document, text)
    if not (arguments.take or arguments.details or arguments.document):
        print(text, end="")


if __name__ == "__main__":
    main()
