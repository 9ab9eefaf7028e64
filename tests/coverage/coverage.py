#!/usr/bin/env python3
"""Runs the settings of public programs (tests/data) and tells where each runs: on the GPU, in part, or on the host, and why.

    coverage.py --folder FOLDER [--plugin libpetscpack.so] [--mpiexec mpiexec] [--all] [--write] [--report FILE]

Each row of settings is solved plainly, with the options of `python3 -m petscpack run`, and with the options that the summary
says to try. Solutions, reasons and iterations are compared with the plain run. Verdicts are compared with verdicts.json;
--write replaces that file and docs/coverage.md; --report writes the verdicts to another file instead, for another PETSc or a real
GPU. Without --all: one process, and a selection that takes a minute. Rows of SLEPc are left out without slepc4py.
"""
import argparse
import collections
import json
import math
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(ROOT / "python" / "petscpack"))
import _defaults  # noqa: E402

WHERE = {"gpu": 2, "in part": 1, "host": 0}
LINE = re.compile(r"  (?P<prefix>r\d+_\S*) (?P<method>.+?): (?P<solves>\d+) solves, \S+ s, (?P<where>in part on the GPU|on the host): "
                  r"(?:(?P<call>\w+) ran on the host; )?(?P<why>.*?)(?:; try (?P<hint>-.*))?$")
# The GPU of a test takes matrices that are too small to gain there
SMALL = ["-mat_aijfmt_device", "gpu", "-mat_aijfmt_decline", "0", "-petscpack_cudss_least_rows", "0"]
# What families set beside a factorization, MOOSE most of all: a row with one is served only if it is with each of these, too. A
# factor in place overwrites its matrix, which only PETSc can do: it must be right.
IN_PLACE = "pc_factor_in_place"
BESIDE = ["-pc_factor_shift_type nonzero", "-pc_factor_mat_ordering_type nd", "-set_twice", "-" + IN_PLACE]
SLICING = "-eps_interval 0.1,1"  # all eigenvalues between: SLEPc counts them by the inertia of factors
BESIDE_MUMPS = ["-mat_mumps_icntl_14 40", "-mat_mumps_icntl_24 1"]
FAMILY = 1000  # row + k * FAMILY is the row with the k-th of them
# Ends in an error within a set-up: the rows after it must still be seen
BROKEN = {"row": 999, "problem": "scalar", "options": "-pc_type lu -pc_factor_mat_solver_type none_such"}
SLOW = {8, 80, 82, 90, 97, 108}  # rows with thousands of inner solves
faults = []


def fault(*words):
    faults.append(" ".join(str(word) for word in words))


def lacks(setting):
    """What a row needs that this program or this PETSc does not have, or None."""
    options = setting["options"]
    if setting["user_code"] or "python" in options:
        return "code of the program"
    if not options and setting["class"] != "default PC (ILU / bjacobi+ILU)":
        return "a solver that is built in code"
    if "blockms" in options:
        return "a preconditioner of its own program"
    if "hypre_type ams" in options:
        return "a problem with edges"
    if "mg_levels_ksp_type preonly" in options and "-pc_type gamg" in options:
        return "an iteration that PETSc accepts (preonly with a nonzero guess)"
    return None


def row_of(number, setting):
    """The smallest problem that has what the setting needs, and what programs set in code besides."""
    options = setting["options"]
    if "st_type" in options:
        problem = "eigen"
    elif "fieldsplit" in options:
        problem = "saddle" if "schur" in options else "fields"
    elif "-pc_type mg" in options:
        problem = "grids"
    else:
        problem = "elasticity" if setting["class"] == "GAMG" else "scalar"
    if problem == "grids":
        options += " -pc_mg_levels 3"
    if "st_type" in options and "st_ksp_type" not in options and "st_pc_type lu" not in options:
        options += " -st_ksp_type gmres"  # SLEPc's default applies the preconditioner once, as if it were exact
    if "composite" in options:
        options += " -pc_composite_pcs lu,asm"
    if "fieldsplit_0_pc_type fieldsplit" in options:
        options += " -fieldsplit_0_pc_fieldsplit_block_size 2"
    return {"row": number, "problem": problem, "options": options}


def with_families(row):
    """The row itself, and those with what families set beside a factorization."""
    factored = re.search(r"(?<!\S)-(st_)?pc_type (lu|cholesky)", row["options"])
    st = factored and factored[1] or ""
    beside = [more.replace("-", "-" + st, 1) for more in BESIDE + (BESIDE_MUMPS if "mumps" in row["options"] else [])] if factored else []
    if st and factored[2] == "cholesky":
        beside.append(SLICING)
    return [row] + [{**row, "row": row["row"] + k * FAMILY, "options": f"{row['options']} {more}"} for k, more in enumerate(beside, 1)]


class Run:
    """A process that solves rows: its results, solutions, and the lines of the summary by row."""

    def __init__(self, arguments, name, rows, ranks, options=()):
        self.folder = pathlib.Path(arguments.folder) / f"{name}_n{ranks}"
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / "rows.json").write_text(json.dumps(rows))
        (self.folder / "results.json").unlink(missing_ok=True)
        launch = [arguments.mpiexec, "-n", str(ranks)] if ranks > 1 else []
        done = subprocess.run([*launch, arguments.python, HERE / "solve_rows.py", self.folder / "rows.json", self.folder / "results.json", *options],
                              capture_output=True, text=True, timeout=1800)
        if done.returncode or not (self.folder / "results.json").exists():
            sys.exit(f"{name} on {ranks} processes ended with status {done.returncode}: {done.stderr[-2000:]}")
        self.results = {int(row): found for row, found in json.loads((self.folder / "results.json").read_text()).items()}
        self.lines = collections.defaultdict(list)
        for line in done.stderr.splitlines():
            found = LINE.match(line)
            if found:
                self.lines[int(re.match(r"r(\d+)_", found["prefix"])[1])].append(found.groupdict())
        head = re.search(r"petscpack: (\d+) solves", done.stderr)
        if options and not head:
            sys.exit(f"{name}: no summary: {done.stderr[-2000:]}")
        ended = sum("error" not in found for found in self.results.values())
        if head and (int(head[1]) < ended if rows[0]["problem"] == "eigen" else int(head[1]) != ended):
            fault(name, "on", ranks, "processes: the summary counts", head[1], "solves, and", ended, "rows were solved")

    def where(self, row):
        """Where the solver itself ran, and why: the line of the prefix r<row>_ is the outer solver's, that of r<row>_st_ SLEPc's."""
        outer = [line for line in self.lines[row] if line["prefix"] in (f"r{row}_", f"r{row}_st_")]
        return ("in part" if "part" in outer[0]["where"] else "host", outer[0]) if outer else ("gpu", None)

    def hints(self, row):
        return {line["hint"] for line in self.lines[row] if line["hint"]}


def compare(row, plain, run, same_method):
    """Faults if a row does not give what it gives plainly."""
    expected, found = plain.results[row["row"]], run.results[row["row"]]
    if "error" in expected or "error" in found:
        if expected.get("error") != found.get("error"):
            fault("row", row, "plainly", expected.get("text"), "here", found.get("text"))
        return
    if (expected["reason"] > 0) != (found["reason"] > 0):
        fault("row", row, "reason", found["reason"], "plainly", expected["reason"])
    if found["residual"] > max(10 * expected["residual"], 1e-6):
        fault("row", row, "residual", found["residual"], "plainly", expected["residual"])
    if not same_method:
        return
    most = 2 if "gamg" in row["options"] else 1  # run has aggregates of its own
    if abs(found["iterations"] - expected["iterations"]) > max(most, expected["iterations"] // 20):
        fault("row", row, "iterations", found["iterations"], "plainly", expected["iterations"])
    difference = math.dist(expected["x"], found["x"]) / math.hypot(*expected["x"])
    if not difference <= 1e-4:
        fault("row", row, "solutions differ by", difference)


def plugin_options(arguments, replace):
    return ["-dll_append", arguments.plugin, "-petscpack_replace", replace, "-petscpack_summary", "-petscpack_summary_lines", "1000",
            "-petscpack_replace_packages", re.search(r"-petscpack_replace_packages (\S+)", _defaults.options())[1], "-petscpack_cudss",
            arguments.cudss, *SMALL]


def try_hints(arguments, rows, run, ranks, plain):
    """Applies the options of reasons until none is left. Returns, for each row, where it ran in the end and with what."""
    places = {row["row"]: run.where(row["row"])[0] for row in rows}
    hints = {row["row"]: run.hints(row["row"]) for row in rows}
    given = collections.defaultdict(list)
    base = re.search(r"-petscpack_replace (\S+)", _defaults.options())[1]
    for attempt in (1, 2, 3):
        again = collections.defaultdict(list)
        for row in rows:
            number = row["row"]
            if hints[number] & set(given[number]):
                fault("row", row, "the options", hints[number] & set(given[number]), "do not remove their reason")
            elif hints[number]:
                given[number].extend(sorted(hints[number]))
                own = [hint.replace(f"-r{number}_", "-") for hint in given[number] if "petscpack_replace" not in hint]
                names = [hint.split()[1] for hint in given[number] if "petscpack_replace" in hint]
                again[",".join([base, *names])].append({**row, "options": " ".join([row["options"], *own])})
            hints[number] = set()
        for names, part in again.items():
            found = Run(arguments, f"tried{attempt}_{names.replace(',', '_')}", part, ranks, plugin_options(arguments, names))
            for row in part:
                compare(row, plain, found, False)
                places[row["row"]], hints[row["row"]] = found.where(row["row"])[0], found.hints(row["row"])
    return places, given


def check_no_name_helps(arguments, rows, run, ranks):
    """Rows whose reasons name no option: no name of -petscpack_replace may bring more to the GPU."""
    rows = [row for row in rows if run.where(row["row"])[0] != "gpu" and not run.hints(row["row"])]
    everything = Run(arguments, "every_name", rows, ranks, plugin_options(arguments, "aij,cg,gmres,mg,gamg,hypre,lu,cholesky,ilu,icc"))
    for row in rows:
        before, after = run.where(row["row"])[0], everything.where(row["row"])[0]
        if WHERE[after] > WHERE[before]:
            fault("row", row, "a name of -petscpack_replace helps, and no reason says so:", before, after)


def verdicts_on(arguments, rows, ranks, kind):
    """kind: a name for the folders of these runs."""
    several = [one for row in rows for one in with_families(row)]
    plain = Run(arguments, f"plain_{kind}", several, ranks)
    run = Run(arguments, f"run_{kind}", several, ranks,
              ["-dll_append", arguments.plugin, *_defaults.options().split(), "-petscpack_summary_lines", "1000", "-petscpack_cudss", arguments.cudss, *SMALL])
    for row in several:
        compare(row, plain, run, True)
    failing = {row["row"] for row in rows if "error" in plain.results[row["row"]]}
    solved = [row for row in rows if row["row"] not in failing]
    check_no_name_helps(arguments, solved, run, ranks)
    places, given = try_hints(arguments, solved, run, ranks, plain)
    verdicts = {}
    for row in rows:
        number = row["row"]
        if number in failing:
            verdicts[number] = {"run": "fails plainly", "tried": "fails plainly", "why": f"error {plain.results[number]['error']} of PETSc", "options": ""}
            continue
        asked = [one for one in with_families(row) if not one["options"].endswith(IN_PLACE)]
        where, line = min((run.where(one["row"]) for one in asked), key=lambda found: WHERE[found[0]])
        verdicts[number] = {"run": where, "tried": places[number], "why": line["why"] if line else "",
                            "options": " ".join(hint.replace(f"-r{number}_", "-") for hint in given[number])}
    return verdicts


def write(settings, verdicts):
    """verdicts.json, and the page for readers."""
    lines = [f'"{ranks}": {{\n' + ",\n".join(f'"{number}": {json.dumps(rows[number])}' for number in sorted(rows, key=int)) + "}"
             for ranks, rows in verdicts.items() if ranks != "petsc"]
    (HERE / "verdicts.json").write_text("{" + ",\n".join(lines) + "}\n")
    one = verdicts["1"]
    total = sum(setting["programs"] for setting in settings)
    classes, families, reasons = collections.defaultdict(collections.Counter), collections.defaultdict(collections.Counter), collections.Counter()
    for number, setting in enumerate(settings):
        verdict = one.get(str(number))
        for kind in ("run", "tried"):
            where = verdict[kind] if verdict else "not run"
            classes[setting["class"]][kind, where] += setting["programs"]
            for family, programs in setting["families"].items():
                families[family][kind, where] += programs
        why = "not run: needs " + lacks(setting) if not verdict else verdict["why"] if verdict["tried"] != "gpu" and not verdict["options"] else None
        if why:
            reasons[re.sub(r"^level \d+: ", "", why)] += setting["programs"]
    served = {kind: sum(counts[kind, "gpu"] for counts in classes.values()) for kind in ("run", "tried")}
    text = ["# What of public programs runs on the GPU", "",
            "Made by `tests/coverage/coverage.py --all --write`; a test compares its verdicts with every build. The settings are those of "
            f"{total} public programs ([tests/data](../tests/data/README.md)), each solved for a small problem that has what it needs, on the "
            "emulated GPU with PETSc " + verdicts["petsc"] + ". *On the GPU* means: after the first residual and its norm, no call of the solve "
            "worked on a vector or a matrix on the host. A row that this program cannot solve counts as not served.", "",
            f"**{100 * served['run'] / total:.1f}%** of the programs run on the GPU by `python3 -m petscpack run`, "
            f"**{100 * served['tried'] / total:.1f}%** with the options that the summary says to try.", ""]
    for title, table in (("class", classes), ("family", families)):
        text += [f"| {title} | programs | on the GPU by `run` | in part | with the options to try |", "|---|---:|---:|---:|---:|"]
        for name, counts in sorted(table.items(), key=lambda item: -sum(v for (kind, _), v in item[1].items() if kind == "run")):
            text.append(f"| {name} | {sum(v for (kind, _), v in counts.items() if kind == 'run')} | {counts['run', 'gpu']} | "
                        f"{counts['run', 'in part']} | {counts['tried', 'gpu']} |")
        text.append("")
    text += ["## Reasons that no option removes", "", "| why | programs | share |", "|---|---:|---:|"]
    text += [f"| {why} | {programs} | {100 * programs / total:.1f}% |" for why, programs in reasons.most_common()]
    text += ["", "## Options that help", "", "| setting | options to try | then |", "|---|---|---|"]
    text += [f"| `{settings[int(number)]['options'] or '(none)'}` | `{verdict['options']}` | {verdict['tried']} |"
             for number, verdict in sorted(one.items(), key=lambda item: int(item[0])) if verdict["options"]]
    (ROOT / "docs" / "coverage.md").write_text("\n".join(text) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--plugin", help="by default that of an installed petscpack")
    parser.add_argument("--folder", required=True)
    parser.add_argument("--cudss", default="auto", help="as for -petscpack_cudss")
    parser.add_argument("--mpiexec", default="mpiexec")
    parser.add_argument("--python", default="/usr/bin/python3", help="the Python that has petsc4py")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--write", action="store_true", help="needs --all")
    parser.add_argument("--report", type=pathlib.Path, help="write the verdicts here, and compare none with verdicts.json")
    arguments = parser.parse_args()
    if arguments.write and not arguments.all:
        parser.error("--write needs --all")

    def said(*words):
        return subprocess.run([arguments.python, *words], capture_output=True, text=True, check=False).stdout.strip()

    arguments.plugin = arguments.plugin or said("-m", "petscpack", "plugin")
    settings = json.loads((ROOT / "tests" / "data" / "option_sets.json").read_text())
    rows = [row_of(number, setting) for number, setting in enumerate(settings) if not lacks(setting)]
    if not arguments.all:
        rows = [row for row in rows if row["row"] not in SLOW]
    eigen = [row for row in rows if row["problem"] == "eigen"] if said("-c", "import slepc4py; print('there')") else []
    systems = [BROKEN] + [row for row in rows if row["problem"] != "eigen"]
    found = {}
    for ranks in (1, 2) if arguments.all else (1,):
        verdicts = verdicts_on(arguments, systems, ranks, "systems")
        if verdicts.pop(BROKEN["row"])["run"] != "fails plainly":
            fault("row", BROKEN, "does not end in an error")
        verdicts |= verdicts_on(arguments, eigen, ranks, "eigen") if eigen else {}
        found[str(ranks)] = {str(number): verdict for number, verdict in verdicts.items()}
    if arguments.write and not faults:
        version = said("-c", "from petsc4py import PETSc; print('.'.join(map(str, PETSc.Sys.getVersion()[:2])))")
        write(settings, {**found, "petsc": version})
    committed = found if arguments.report else json.loads((HERE / "verdicts.json").read_text())
    if arguments.report:
        arguments.report.write_text(json.dumps(found, indent=1) + "\n")
    for ranks, verdicts in found.items():
        for number, verdict in verdicts.items():
            if verdict != committed[ranks].get(number):
                fault("row", number, f"({settings[int(number)]['options']}) on", ranks, "processes:", verdict, "and not", committed[ranks].get(number))
    print("\n".join(faults))
    print(f"{sum(map(len, found.values()))} verdicts, {len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
