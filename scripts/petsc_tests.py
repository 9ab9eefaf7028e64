#!/usr/bin/env python3
"""Runs PETSc's own tests plainly and with options that use petscpack, and compares what they print.

    petsc_tests.py --work DIR --plugin build/lib/libpetscpack.so [--sets run rbp] [--folders mat ksp snes ts] [--test PATTERN]
                   [--petsc-dir DIR] [--jobs N] [--limit SECONDS] [--only compile|report]

PETSc's generator writes a script for each test, and PETSc's harness runs it; both come with an installed PETSc, or with Debian's package
libpetsc3.18-dev-examples. This program is put in the place of mpiexec (a time limit, no launcher for one process) and of
petscdiff (names of types and the lines of our views are taken out first; then PETSc's petscdiff, which ignores floating-point numbers).
Tests that fail plainly are left out. Those that fail with options are repeated in two ways without petscpack: without I-nodes,
which our types do not use, and with PETSc's own subclass seqaijperm. What stays needs a line in petsc_tests.txt, or the exit
status is 1. Numbers of outputs that are equal as text are compared too. A repeated call goes on where the last one ended.
"""
import argparse
import concurrent.futures
import fnmatch
import json
import os
import re
import runpy
import shutil
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests/differential"))
import compare  # noqa: E402

GPU = " -mat_aijfmt_device gpu -mat_aijfmt_decline false"
CONTROLS = {"no I-nodes": "-mat_no_inode", "seqaijperm": "-mat_seqaij_type seqaijperm"}
COLUMNS = ["equal", *(f"as with {name}" for name in CONTROLS), "explained", "time limit", "not explained"]
NUMBERS_TOLERANCE, NUMBERS_ZERO = 1e-3, 1e-8
# Names of types; and lines that only our types and solvers print, or only PETSc's: on I-nodes, on its products, in -info of the plugin
TYPES = re.compile(r"\b(seq|mpi)?aij(auto|rbp|fold|crsv|codsell)\b")
LINES = (
    r"^ *(packed by petscpack: |\[\d+\] <sys> Petsc(DLLibrary|FileRetrieve|GetFileStat|TestOwnership)|(not )?using I-node|mode [a-z]+, chunk |last solve (on the device|by KSP)|between the processes: |matrix: (a|its own) (CSR|plan)|"
    r"solves on the device |graphs made |cycles on the device |mixed precision: |double precision instead: |multigrid on the device: |"
    r"coarsest level: rows |applications on the device |using (non)?scalable MatPtAP|by PETSc: |precision of the cycle: |aggdevice: levels |last by agg: |petscpack: )"
)
LAUNCHER = """#!/bin/bash
launcher="$PETSCPACK_MPIEXEC"
if [[ $1 == -n && $2 == 1 ]]; then launcher="env OMPI_MCA_ess_singleton_isolated=1 OMPI_MCA_orte_tmpdir_base=$PWD"; shift 2; fi
exec timeout -k 5 {limit} $launcher "$@"
"""
ENVIRONMENT = {
    "OMP_NUM_THREADS": "1", "LC_ALL": "C", "PETSCPACK_MPIEXEC": "mpiexec",
    "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OMPI_MCA_mpi_yield_when_idle": "1", "OMPI_MCA_hwloc_base_binding_policy": "none",
}  # fmt: skip


def options_of_run():
    """The options that python3 -m petscpack run --no-gamg sets: the aggregates of aggdevice are not those of PETSc's outputs."""
    return runpy.run_path(str(ROOT / "python/petscpack/_defaults.py"))["options"](["summary", "gamg"])


def option_sets():
    run, rbp = options_of_run(), "-mat_seqaij_type seqaijrbp"
    return {"run": run, "rbp": rbp, "run gpu": run + GPU, "rbp gpu": rbp + GPU}


def normalised(text):
    text = compare.drop_view_block(TYPES.sub(r"\1aij", text))
    return compare.drop_lines(text, LINES) + "\n"


def diff(words):
    """In the place of petscdiff, in the folder of a test: keeps both outputs, with a number that counts the comparisons."""
    number = len(list(Path().glob("got.*")))
    files = []
    for name, file in zip(("expected", "got"), words[-2:]):
        files.append(Path(f"{name}.{number}"))
        files[-1].write_text(normalised(Path(file).read_text(errors="replace")))
    Path(f"flags.{number}").write_text(json.dumps(words[:-2]))
    os.execv(os.environ["PETSCPACK_PETSCDIFF"], ["petscdiff", *words[:-2], *map(str, files)])


class Tests:
    """The scripts that PETSc's generator has made, and their programs."""

    def __init__(self, work, petsc_dir):
        self.petsc, self.root = petsc_dir, work / "tests"
        self.examples = petsc_dir / "share/petsc/examples"

    def generate(self):
        if not self.root.exists():
            subprocess.run([sys.executable, self.examples / "config/gmakegentest.py", f"--petsc-dir={self.petsc}", "--petsc-arch=",
                            f"--testdir={self.root}"], check=True, env=dict(os.environ, PETSC_DIR=str(self.petsc), PETSC_ARCH=""))  # fmt: skip

    def find(self, folders, pattern):
        """(script, program, files that it reads) of each test that this PETSc can run, relative to the root; and the number of others."""
        found, others = [], Counter()
        for folder in folders:
            for file in sorted((self.root / folder).rglob("run*.sh")):
                script, text = file.relative_to(self.root), file.read_text()
                if "gmakegentest" not in text[:200] or not fnmatch.fnmatch(str(script), f"*{pattern}*"):
                    continue
                if re.search(r'"(T[O]DO |SKIP (?!Command failed))', text):
                    others[folder] += 1
                    continue
                program = re.search(r"^exec='\.\./(.*)'", text, re.M).group(1)
                files = re.search(r"^runfiles='(.*)'", text, re.M).group(1).split()
                found.append((script, script.parent / program, [script.parent / f for f in files]))
        return found, others

    def compile(self, programs, jobs):
        missing = sorted({p for p in programs if not (self.root / p).exists()})
        with open(self.root.parent / "compile.log", "a") as log:
            for begin in range(0, len(missing), 50):
                subprocess.run(["make", "-k", f"-j{jobs}", "-f", self.examples / "gmakefile.test", f"PETSC_DIR={self.petsc}", "PETSC_ARCH=",
                                f"TESTDIR={self.root}", *(f"{kind}_FLAGS=-O0 -fPIC -w" for kind in ("CC", "CXX")),
                                "FC_FLAGS=-O0 -fPIC -w -ffree-line-length-0", *(self.root / p for p in missing[begin : begin + 50])],
                               stdout=log, stderr=log)  # fmt: skip
                print(f"compiled {min(begin + 50, len(missing))} of {len(missing)} programs", flush=True)


class Runs:
    """The results with one set of options."""

    def __init__(self, tests, work, name, options, limit):
        self.tests, self.limit = tests, limit
        self.folder = work / name.replace(" ", "_")
        self.folder.mkdir(parents=True, exist_ok=True)
        self.environment = dict(os.environ, **ENVIRONMENT, PETSC_OPTIONS=options, PETSCMPIEXEC=self._script("mpiexec", LAUNCHER.format(limit=limit)),
                                PETSCDIFF=self._script("diff", f'#!/bin/sh\nexec {sys.executable} {Path(__file__).resolve()} diff "$@"\n'),
                                PETSCPACK_PETSCDIFF=str(tests.petsc / "lib/petsc/bin/petscdiff"))  # fmt: skip

    def _script(self, name, text):
        path = self.folder / f"{name}.sh"
        path.write_text(text)
        path.chmod(0o755)
        return str(path)

    def place(self, script):
        return self.folder / script.parent / script.stem

    def run(self, test):
        """Runs a test unless it has run."""
        script, program, files = test
        place = self.place(script)
        if (place / "tap").exists():
            return
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir(parents=True)
        shutil.copy(self.tests.root / script, self.folder / script)
        for file in [program, *files]:
            link = self.folder / file
            link.parent.mkdir(parents=True, exist_ok=True)
            if (self.tests.root / file).exists() and not link.exists():
                try:
                    link.symlink_to(self.tests.root / file)
                except FileExistsError:  # another test of this program was faster
                    pass
        process = subprocess.Popen(["bash", self.folder / script], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
                                   env=self.environment, start_new_session=True, text=True, errors="replace")  # fmt: skip
        try:
            tap = process.communicate(timeout=20 * self.limit)[0]
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            tap = process.communicate()[0] + f"\nnot ok {script} # Error code: 124\n"
        (place / "tap").write_text(tap)

    def run_all(self, tests, jobs):
        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            for count, _ in enumerate(pool.map(self.run, tests), 1):
                if count % 100 == 0:
                    print(f"{self.folder.name}: {count} of {len(tests)}", flush=True)

    def faults(self, script):
        """{label of a step: (what went wrong, number of the comparison)}; None if the test has not run."""
        tap = self.place(script) / "tap"
        if not tap.exists():
            return None
        found, number = {}, -1
        text = tap.read_text(errors="replace")
        for block in re.split(r"^(?=(?:not)? ?ok )", text, flags=re.M):
            match = re.match(r"(not)? ?ok (\S+)", block)
            if not match:
                continue
            is_diff = match.group(2).startswith("diff-")
            number += is_diff
            if match.group(1):
                found[match.group(2)] = (block, number if is_diff else None)
        return found or ({} if re.search(r"^ ok ", text, re.M) else {"start": ("nothing ran", None)})


def same_fault(ours, control, script, label):
    """Whether a control fails in the same step in the same way: the same text as petscdiff sees it, or the same error code."""
    other = (control.faults(script) or {}).get(label)
    fault = ours.faults(script)[label]
    if not other:
        return False
    if fault[1] is None or other[1] is None:
        codes = [re.search(r"Error code: \d+", f[0]) for f in (fault, other)]
        return all(codes) and codes[0].group() == codes[1].group()
    flags = json.loads((ours.place(script) / f"flags.{fault[1]}").read_text())
    files = [r.place(script) / f"got.{f[1]}" for r, f in ((ours, fault), (control, other))]
    flags = [part for flag, part in zip([None, *flags], flags) if part != "-f" and flag != "-f"]  # the filter of the expected output
    return subprocess.run([ours.environment["PETSCPACK_PETSCDIFF"], *flags, *files], cwd=files[0].parent, capture_output=True).returncode == 0


def verdict(ours, controls, is_explained, script):
    """(column, [lines for the reader]) of a test."""
    faults, worst, lines = ours.faults(script), "equal", []
    for label, (text, _) in faults.items():
        column = next((f"as with {name}" for name, control in controls.items() if same_fault(ours, control, script, label)), None)
        if not column and is_explained:
            column = "explained"
        if not column:
            column = "time limit" if re.search(r"Error code: (124|137)|timeout", text) else "not explained"
            lines.append(f"{script} {label}: {column}\n    " + compare.essence(text)[:600].replace("\n", "\n    "))
        worst = max(worst, column, key=COLUMNS.index)
    return worst, lines


def numbers(plain, ours, script):
    """A line on the first output that is equal for petscdiff and has other numbers; None if there is none."""
    for got in sorted(ours.place(script).glob("got.*")):
        texts = [re.sub(r"0x[0-9a-f]+", "address", (r.place(script) / got.name).read_text()) for r in (plain, ours)]
        found = compare.first_difference(*texts, NUMBERS_TOLERANCE, NUMBERS_ZERO)
        if found:
            return f"{script} {got.name}: {found}"
    return None


def report(sets, plain, controls, tests, others):
    """Prints a line of the table for each set and folder, then what is not explained; returns whether everything is."""
    entries = [line for line in (ROOT / "scripts/petsc_tests.txt").read_text().splitlines() if line and line[0] != "#"]
    explained = [line.split(": ", 1)[0] for line in entries]
    good, lines, table = {script for script, _, _ in tests if plain.faults(script) == {}}, [], []
    for name, ours in sets.items():
        for folder in sorted({script.parts[0] for script, _, _ in tests}):
            here = [script for script, _, _ in tests if script.parts[0] == folder]
            count, other_numbers = Counter(), []
            for script in [s for s in here if s in good and ours.faults(s) is not None]:
                is_explained = any(fnmatch.fnmatch(str(script), pattern) for pattern in explained)
                column, more = verdict(ours, controls, is_explained, script)
                count[column] += 1
                lines += [f"{name}: {line}" for line in more]
                found = numbers(plain, ours, script) if column == "equal" and not is_explained else None
                other_numbers += [found] if found else []
            lines += [f"{name}: numbers: {line}" for line in other_numbers]
            table.append([folder, name, len(here) + others[folder], sum(s in good for s in here), sum(count.values()),
                          *(count[c] for c in COLUMNS), len(other_numbers)])  # fmt: skip
    heading = ["folder", "options", "tests", "pass plainly", "run", *COLUMNS, "equal, other numbers"]
    for row in [heading, ["---"] * len(heading), *table]:
        print("| " + " | ".join(map(str, row)) + " |")
    print("\n".join(lines))
    return not any(row[5 + COLUMNS.index("not explained")] for row in table)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--plugin", type=Path)
    parser.add_argument("--sets", nargs="+", choices=option_sets(), default=["run", "rbp"])
    parser.add_argument("--folders", nargs="+", default=["mat", "ksp", "snes", "ts"])
    parser.add_argument("--test", default="", help="only scripts with this pattern in their names")
    parser.add_argument("--petsc-dir", type=Path, default=Path(os.environ.get("PETSC_DIR", "/usr/lib/petsc")))
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--limit", type=int, default=30, help="seconds for one run of a program")
    parser.add_argument("--only", choices=["compile", "report"])
    a = parser.parse_args()
    work = a.work.resolve()
    tests = Tests(work, a.petsc_dir.resolve())
    tests.generate()
    found, others = tests.find(a.folders, a.test)
    if a.only != "report":
        tests.compile([program for _, program, _ in found], a.jobs)
    if a.only == "compile":
        return
    found = [test for test in found if (tests.root / test[1]).exists()]
    load = f"-dll_append {a.plugin.resolve()} " if a.plugin else ""
    plain = Runs(tests, work, "plain", "", a.limit)
    sets = {name: Runs(tests, work, name, load + option_sets()[name], a.limit) for name in a.sets}
    controls = {name: Runs(tests, work, name, options, a.limit) for name, options in CONTROLS.items()}
    if a.only != "report":
        plain.run_all(found, a.jobs)
        good = [test for test in found if plain.faults(test[0]) == {}]
        probe = Runs(tests, work, "probe", "", a.limit)  # or a broken installation would look like equal errors
        shutil.rmtree(probe.place(good[0][0]), ignore_errors=True)
        probe.run(good[0])
        if probe.faults(good[0][0]):
            sys.exit(f"{good[0][0]} passed plainly before and fails now: see {probe.place(good[0][0])}")
        for ours in sets.values():
            ours.run_all(good, a.jobs)
        again = [test for test in good if any(ours.faults(test[0]) for ours in sets.values())]
        for control in controls.values():
            control.run_all(again, a.jobs)
    sys.exit(0 if report(sets, plain, controls, found, others) else 1)


if __name__ == "__main__":
    if sys.argv[1:2] == ["diff"]:
        diff(sys.argv[2:])
    main()
