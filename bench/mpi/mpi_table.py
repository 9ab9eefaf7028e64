#!/usr/bin/env python3
"""Makes tables that compare measurements on one GPU and on two.

    bench/mpi/mpi_table.py mpi.json --take "1 GPU=solve.json" --take "2 GPUs=other.json" ...   makes mpi.json
    bench/mpi/mpi_table.py mpi.json                     tables as Markdown, on standard output
    bench/mpi/mpi_table.py mpi.json --details mpi.md    the same into a file
    bench/mpi/mpi_table.py mpi.json --document docs/several-gpus.md     between the marks mpi:begin and mpi:end of a document

The files to take are those of solve_bench (or solve_table.py --merge) and solve_log.py; files with the same title belong
together. Numbers in brackets are the speedup over the first title with the same type.
"""
import argparse
import json
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "solve")]  # in a bundle all scripts are in one folder
import solve_table  # noqa: E402

EVENTS = ("KSPSolve", "MatMult", "VecScatterBegin", "VecScatterEnd", "SFPack", "SFUnpack", "PCApply")
SOLVERS = {"cg_jacobi": "CG + Jacobi", "cgdevice_jacobi": "cgdevice + Jacobi", "cg_gamg": "CG + GAMG",
           "cgdevice_gamg": "cgdevice + GAMG", "aggdevice_gamg": "cgdevice + GAMG of type aggdevice"}
PHASES = (("PCSetUp", "setup"), ("new values", "setup_new_values"), ("solve", "solve"))


def rows_of_phases():
    """(solver, label, function of a cell), in the order of the table."""
    yield "products", "product", lambda cell: solve_table.seconds_of(cell, "product")
    yield "products", "transposed product", lambda cell: solve_table.seconds_of(cell, "transposed")
    for solver, label in SOLVERS.items():
        yield solver, f"{label}, one iteration", solve_table.seconds_per_iteration
        for text, phase in PHASES if solver.endswith("gamg") else PHASES[-1:]:
            yield solver, f"{label}, {text}", lambda cell, phase=phase: solve_table.seconds_of(cell, phase)


def gather(taken):
    """Results by title, in the order of the titles."""
    files = {}
    for text in taken:
        title, _, path = text.partition("=")
        files.setdefault(title, []).append(path)
    return {title: solve_table.Results(paths) for title, paths in files.items()}


def read(path):
    try:
        content = json.loads(Path(path).read_text())
    except (OSError, ValueError) as error:
        sys.exit(f"mpi_table.py: {path}: {error}")
    if content.get("schema") != 1 or content.get("header", {}).get("program") != "mpi_table":
        sys.exit(f"mpi_table.py: {path}: not a file that this program made")
    setups = {}
    for setup in content["setups"]:
        setups[setup["title"]] = results = solve_table.Results([])
        results.take(path, setup["results"])
    return setups


def write(path, setups):
    content = {"schema": 1, "header": {"program": "mpi_table"},
               "setups": [{"title": title, "results": json.loads(r.as_json())} for title, r in setups.items()]}
    Path(path).write_text(json.dumps(content, indent=1) + "\n")


def row_of(label, seconds):
    """A row with speedups over the first setup; none if no setup has the value."""
    if all(s is None for s in seconds):
        return []
    return [[label] + [solve_table.with_ratio(s, seconds[0] if i else None) for i, s in enumerate(seconds)]]


def iterations_row(solver, kind, cells):
    """A row of iterations: with GAMG they differ, because aggregates depend on the number of processes."""
    iterations = [solve_table.iterations_of(cell) for cell in cells]
    if all(i is None for i in iterations):
        return []
    return [[f"{SOLVERS[solver]}, iterations, `{kind}`"] + ["–" if i is None else str(i) for i in iterations]]


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
        lines += solve_table.markdown([""] + list(setups), rows)
        notes = notes_of(setups, name)
        lines += [""] + [f"- {note}" for note in notes] if notes else []
    return lines


def tables_of_programs(setups):
    lines = []
    for program in dict.fromkeys(run["program"] for r in setups.values() for run in r.runs):
        rows = []
        runs = {t: {run["type"]: run["events"] for run in r.runs if run["program"] == program} for t, r in setups.items()}
        for kind in dict.fromkeys(k for by_type in runs.values() for k in by_type):
            for event in EVENTS:
                known = [by_type.get(kind, {}).get(event) for by_type in runs.values()]
                rows += row_of(f"{event}, `{kind}`", [e["seconds"] if e else None for e in known])
        lines += ["", f"## `{program}`", "", "Events of `-log_view`. Only `KSPSolve` waits for the GPU; the others are what the "
                  "host spends in them.", ""]
        lines += solve_table.markdown([""] + list(setups), rows)
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
    return "\n".join(lines + tables_of_matrices(setups) + tables_of_programs(setups)) + "\n"


def put_between_marks(path, name, body):
    begin, end = f"<!-- {name}:begin -->\n", f"<!-- {name}:end -->"
    before, found, rest = Path(path).read_text().partition(begin)
    _, closed, after = rest.partition(end)
    if not found or not closed:
        sys.exit(f"{Path(sys.argv[0]).name}: {path} has no marks {begin.strip()} and {end}")
    Path(path).write_text(before + begin + body + end + after)


def fill_document(path, text):
    """The title stays behind, and headings go one level down."""
    put_between_marks(path, "mpi", text.partition("\n\n")[2].replace("\n## ", "\n### "))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results")
    parser.add_argument("--take", action="append", metavar="TITLE=FILE")
    parser.add_argument("--details", metavar="FILE")
    parser.add_argument("--document", metavar="FILE")
    arguments = parser.parse_args()
    if arguments.take:
        setups = gather(arguments.take)
        write(arguments.results, setups)
    else:
        setups = read(arguments.results)
    text = tables(setups)
    if arguments.details:
        Path(arguments.details).write_text(text)
    if arguments.document:
        fill_document(arguments.document, text)
    if not (arguments.take or arguments.details or arguments.document):
        print(text, end="")


if __name__ == "__main__":
    main()
