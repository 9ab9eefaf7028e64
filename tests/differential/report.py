"""The report of a full run in Markdown: programs x types, and differences with their reasons; one part for each PETSc."""
import datetime
import re
import subprocess
from collections import Counter, defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HEADING = """# PETSc's own test programs with our types

Written by `tests/differential/run.py --report`; [testing.md](../../docs/testing.md#petscs-own-test-programs) says how. A run is a program with
its arguments on a number of processes, with `aij` and with each type; *equal* means the same words and the same numbers within
the tolerance, no leak, and products by our type, which the log shows. `=` in a column: all these runs are equal.
"""


def commit():
    """The last commit that changed the plugin, and whether its files differ from that."""
    git = lambda *words: subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True).stdout.strip()
    sources = ["--", "src", "include"]
    return git("log", "-1", "--format=%h", *sources) + (" with changes" if git("status", "--porcelain", *sources) else "")


def cell(counts):
    """The runs of one program with one type, without those that were impossible or had no products."""
    if not counts["different"] and not counts["failed"]:
        return "="
    parts = [f"{counts['equal']} ="] if counts["equal"] else []
    parts += [f"{counts['different']} differ"] if counts["different"] else []
    return ", ".join(parts + ([f"{counts['failed']} **fail**"] if counts["failed"] else []))


def programs_of(types, results):
    """The programs of which all runs are equal, in one line, and a table with a row for each other program that ran."""
    counts, order = defaultdict(Counter), []
    for case, verdicts in results:
        order += [] if case.program in order else [case.program]
        for verdict in verdicts:
            counts[case.program, verdict.type_name][verdict.what] += 1
    equal, rows = [], []
    for program in order:
        ran, cells = sum(counts[program, types[0]][what] for what in ("equal", "different", "failed")), [cell(counts[program, t]) for t in types]
        if ran and set(cells) == {"="}:
            equal.append(f"{program} ({ran})")
        elif ran:
            rows.append(f"| {program} | {ran} | " + " | ".join(cells) + " |")
    head = ["| program | runs | " + " | ".join(types) + " |", "| --- | --- |" + " --- |" * len(types)]
    return [f"Equal with all types, and their runs: {', '.join(equal) or 'none'}.", "", *(head + rows + [""] if rows else [])]


def reasons(results, what):
    """A line for each reason, with the programs and types that it applies to."""
    about = defaultdict(lambda: (Counter(), set()))
    for case, verdicts in results:
        for verdict in verdicts:
            if verdict.what == what:
                programs, types = about[verdict.reason.splitlines()[0]]
                programs[case.program] += 1
                types.add(verdict.type_name)
    for reason, (programs, types) in sorted(about.items(), key=lambda item: -len(item[1][0])):
        # All types were in the same runs, or the reason names a type
        names = ", ".join(f"{p} ({n // len(types)})" if n > len(types) else p for p, n in programs.items())
        yield f"- {reason}: {names}", types


def section(results, types, what, title):
    lines = [line + ("" if len(found) == len(types) else f"; only {', '.join(sorted(found))}") for line, found in reasons(results, what)]
    return [f"**{title}**", "", *lines, ""] if lines else []


def part(petsc, types, results):
    everything = [(case, verdict) for case, verdicts in results for verdict in verdicts]
    count = lambda what: sum(verdict.what == what for _, verdict in everything)
    totals = f"{count('equal')} equal, {count('different')} different, {count('failed')} failed"
    programs = len({case.program for case, verdict in everything if verdict.what != "not-possible"})
    return [
        f"## PETSc {petsc.version}",
        "",
        f"{datetime.date.today()}, petscpack at {commit()}, on the host. {programs} programs; of their runs with the "
        f"{len(types)} types {totals}; besides, {count('no-product')} are equal and have no product, and {count('not-possible')} "
        "are not possible.",
        "",
        *programs_of(types, results),
        *section(results, types, "failed", "Failed"),
        *section(results, types, "different", "Different"),
        *section(results, types, "no-product", "Equal, but without a product of our types"),
        *section(results, types, "not-possible", "Not possible"),
    ]


def write_report(path, petsc, types, results):
    """Replaces the part about this PETSc and keeps the others, in the order of versions."""
    old = path.read_text() if path.exists() else ""
    parts = {text.split()[0]: f"## PETSc {text}".rstrip() for text in re.split(r"^## PETSc ", old, flags=re.M)[1:]}
    parts[petsc.version] = "\n".join(part(petsc, types, results)).rstrip()
    order = sorted(parts, key=lambda version: [int(number) for number in version.split(".")])
    path.write_text("\n\n".join([HEADING.rstrip(), *(parts[version] for version in order)]) + "\n")
