"""What the scripts that make tables and figures share: reading results, words for matrices, Markdown, and saving figures."""
import argparse
import json
import re
import statistics
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
RESULTS = HERE / "results"
FAMILY = re.compile(r'SPMV_FAMILY\((\w+),\s*"[^"]*",\s*"([^"]*)"')


def fail(message):
    sys.exit(f"{Path(sys.argv[0]).name}: {message}")


def load(path, *programs, schema=1):
    """Reads a file of results; with programs it must be by one of them, and have the schema. Older files have a longer name of rbp."""
    try:
        content = json.loads(Path(path).read_text().replace("rbp:format=packed", "rbp"))
    except (OSError, ValueError) as error:
        fail(f"{path}: {error}")
    if programs and (content.get("schema"), program_of(content)) not in [(schema, program) for program in programs]:
        fail(f"{path}: not a result file of {' or '.join(filter(None, programs)) or 'spmv_bench'} (schema {content.get('schema')})")
    return content


def program_of(content):
    """The program that wrote a file; None for spmv_bench, which does not say it"""
    return content.get("program") or content.get("header", {}).get("program")


def save(path, content):
    Path(path).write_text(json.dumps(content, indent=1) + "\n")


def known_names():
    """Descriptions of families and files by name."""
    try:
        names = dict(FAMILY.findall((HERE.parent / "tests" / "cases" / "families.def").read_text()))
    except OSError as error:
        fail(str(error))
    return names | load(RESULTS / "names.json")


def words_of(names, matrix, otherwise=None):
    return names.get(matrix) or names.get(matrix.split(":")[0]) or otherwise or fail(f"{matrix}: no family of the catalogue")


def phase_of(cell, name):
    """A phase of a cell of solve_bench"""
    return next((p for p in (cell or {}).get("phases", []) if p["name"] == name), None)


def seconds_of(cell, name):
    phase = phase_of(cell, name)
    return statistics.median(phase["seconds"]) if phase and phase["seconds"] and "error" not in phase else None


def markdown(head, rows, left=1):
    """The lines of a table whose first columns are text, and the others numbers"""
    marks = [" --- |" if i < left else " ---: |" for i in range(len(head))]
    return ["| " + " | ".join(head) + " |", "|" + "".join(marks)] + ["| " + " | ".join(row) + " |" for row in rows]


def number(value, digits=None, missing="–", form=None):
    return missing if value is None else (form or f"{{:.{digits}f}}").format(value)


def milliseconds(seconds):
    value = None if seconds is None else 1e3 * seconds
    return "–" if value is None else f"{value:,.0f}" if value >= 1000 else f"{value:.3g}"


def put_between_marks(path, name, text):
    begin, end = f"<!-- {name}:begin -->\n", f"<!-- {name}:end -->"
    content = Path(path).read_text()
    before, found, rest = content.partition(begin)
    _, closed, after = rest.partition(end)
    if not found or not closed or content.count(begin) + content.count(end) > 2:
        fail(f"{path}: needs one line {begin.strip()} and after it one line {end}")
    Path(path).write_text(before + begin + text.rstrip("\n") + "\n" + end + after)


def parser_of(description, results="+", **options):
    """A parser for results and options; an option whose value is empty is a flag, others name what they take"""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    if results:
        parser.add_argument("results", nargs=None if results == 1 else results, metavar="JSON")
    for name, what in options.items():
        parser.add_argument(f"--{name}", **({"metavar": what} if what else {"action": "store_true"}))
    return parser


def pyplot():
    try:
        import matplotlib
    except ImportError:
        fail("needs matplotlib: pip install matplotlib")
    matplotlib.use("Agg")
    from matplotlib import pyplot as plt
    return plt


def subplots(rows, columns, size, **more):
    return pyplot().subplots(rows, columns, figsize=size, layout="constrained", **more)


def draw(path, make, salt="spmv_bench"):
    """Saves a figure, or each figure of a dictionary to a folder, as SVG; the salt makes the file reproducible."""
    pyplot().rcParams["svg.hashsalt"] = salt
    made = make()
    figures = {Path(path) / f"{name}.svg": figure for name, figure in made.items()} if isinstance(made, dict) else {Path(path): made}
    for file, figure in figures.items():
        file.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(file, metadata={"Date": None})
        print(file)
