#!/usr/bin/env python3
"""Runs PETSc's own test programs, unmodified, with a reference matrix type and with others, and compares their output.

    tests/differential/run.py --plugin build/lib/libpetscpack.so --build build/differential [--quick | --blocks]

Every line of cases.txt gives a program, numbers of ranks and arguments; with --blocks, PETSc's test blocks give more. A
case passes when the program ends in the same way with both types, prints the same words and numbers (relative tolerance
1e-6), -malloc_dump is empty, and -log_trace shows that the type under test did products. What is otherwise for a good reason
stands in expected.txt, and must be otherwise indeed. The PETSc under test is the one that pkg-config finds.
"""
import argparse
import re
import shlex
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from cases import block_cases, collect, listed_cases, read_expected
from compare import conversions, drop_lines, drop_view_block, essence, first_difference, leaks, map_type_names
from petsc import Petsc
from report import write_report

HERE = Path(__file__).resolve().parent
FORMATS = HERE.parents[1] / "src/kernels/formats.def"
COMMON = "-malloc_dump -options_left no -nox -check_pointer_intensity 0 -use_gpu_aware_mpi 0 -log_trace log"


@dataclass
class Verdict:
    type_name: str
    what: str  # equal, no-product, different, not-possible, or failed
    reason: str = ""


class Runner:
    def __init__(self, petsc, options):
        self.petsc, self.options = petsc, options
        self.plugin = ["-dll_append", str(Path(options.plugin).resolve())] if options.plugin else []

    def run_one(self, case, type_name):
        """(exit status, output, number of conversions) of a case with one type. The output has the reference type's names."""
        text = case.arguments.replace("@data", str(self.petsc.data))
        text = re.sub(r"@(seq|mpi)?aij", lambda m: f"{m.group(1) or ''}{type_name}", text)
        arguments = shlex.split(f"{text} {COMMON}")
        if type_name != self.options.reference:
            arguments += self.plugin + shlex.split(self.options.extra)
        folder = self.petsc.cache / "run" / f"{type_name}-{case.index}"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        status, output = self.petsc.run(self.petsc.compile(case.program), case.ranks, arguments, folder)
        output = map_type_names(output, type_name, self.options.reference)
        logs = list(folder.glob("log.*"))
        packed = sum(conversions(log.read_text(errors="replace")) for log in logs)
        for log in logs:  # one has a line for each event, which are many megabytes for all cases
            log.unlink()
        return status, drop_view_block(output), packed

    def _types(self, case):
        """All types; in the quick list one type per case, in turn."""
        types = self.options.types
        return [types[case.index % len(types)]] if self.options.quick else types

    def judge(self, case):
        """A verdict for each type."""
        types, impossible, problem = self._types(case), case.impossible, ""
        expectation = case.expectation("not-possible", self.options.reference)
        if impossible or expectation:
            return [Verdict(t, "not-possible", impossible or expectation.reason) for t in types]
        try:
            status, expected, _ = self.run_one(case, self.options.reference)
            if status:
                problem = f"the reference ends with {status}: {essence(expected)}"
        except subprocess.CalledProcessError as error:
            problem = f"does not compile: {error.stderr.strip()[-800:]}"
        if problem:
            return [Verdict(t, "failed", problem) for t in types]
        return [self._verdict(case, t, expected) for t in types]

    def _verdict(self, case, type_name, expected):
        status, actual, packed = self.run_one(case, type_name)
        problem = self._difference(case, status, actual, expected)
        expectation = case.expectation("different", type_name)
        if expectation and not problem:
            return Verdict(type_name, "failed", f"is equal, but expected.txt says that it differs: {expectation.reason}")
        lines = expectation and expectation.settings.get("lines")
        if lines:
            without = [drop_lines(text, lines) for text in (actual, expected)]
            problem = self._difference(case, status, *without)
        if problem and (lines or not expectation):
            return Verdict(type_name, "failed", problem)
        return self._product_verdict(case, type_name, packed, expectation)

    def _product_verdict(self, case, type_name, packed, different):
        """A case counts only if the type did products, which the trace shows for our types, but not for PETSc's."""
        without = case.expectation("no-product", type_name)
        if packed and without:
            return Verdict(type_name, "failed", f"has products, but expected.txt says that it has none: {without.reason}")
        if not packed and not without and self.plugin:
            return Verdict(type_name, "failed", "the type did no product: no MatPackConvert in -log_trace")
        if different:
            return Verdict(type_name, "different", different.reason)
        return Verdict(type_name, "no-product", without.reason) if without else Verdict(type_name, "equal")

    def _difference(self, case, status, actual, expected):
        if status:
            return f"ends with {status}: {essence(actual)}"
        if leaks(actual) and not leaks(expected):
            return f"leaks: {actual.strip()[-800:]}"
        return first_difference(expected, actual, case.rtol, case.atol)


def alike(verdicts):
    """(what, reason, types) for the verdicts of one case; the types with the same verdict together."""
    groups = {}
    for verdict in verdicts:
        groups.setdefault((verdict.what, verdict.reason), []).append(verdict.type_name)
    return [(*key, types) for key, types in groups.items()]


def types_of_formats():
    return ["aij" + name for name in re.findall(r"^SPMV_FORMAT\((\w+),", FORMATS.read_text(), re.M)]


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--plugin", help="libpetscpack.so, loaded with -dll_append; without it only PETSc's own types run")
    parser.add_argument("--types", help="root names, comma separated (default: all of formats.def)")
    parser.add_argument("--reference", default="aij", help="type to compare with (default aij)")
    parser.add_argument("--build", default="build/differential", help="folder of compiled programs and of runs")
    parser.add_argument("--cases", type=Path, default=HERE / "cases.txt", help="list of cases")
    parser.add_argument("--expected", type=Path, default=HERE / "expected.txt", help="what is not equal, and why")
    parser.add_argument("--petsc-src", help="folder that holds mat/tests, ksp/ksp/tutorials, ... of this PETSc")
    parser.add_argument("--mpiexec", help="mpiexec of the MPI that PETSc uses")
    # A pattern that a format declines is analyzed but not packed, and the parent type does its products
    parser.add_argument("--extra", default="-mat_aijfmt_decline 0", help="options of the types under test (default: %(default)s)")
    parser.add_argument("--filter", help="run only cases whose name matches this regular expression")
    parser.add_argument("--quick", action="store_true", help="only the cases tagged quick, each with one type in turn")
    parser.add_argument("--blocks", action="store_true", help="PETSc's test blocks of other kinds of aij, too")
    parser.add_argument("--jobs", type=int, default=2, help="programs run at a time (default 2)")
    parser.add_argument("--verbose", action="store_true", help="print the cases that pass, too")
    parser.add_argument("--report", type=Path, help="Markdown file whose part about this PETSc is written anew")
    options = parser.parse_args()
    options.types = options.types.split(",") if options.types else types_of_formats()
    if options.report and (options.quick or options.filter or not options.blocks):
        parser.error("--report needs --blocks and neither --quick nor --filter: a report is about all cases")
    return options


def main():
    options = parse_options()
    petsc = Petsc(options.build, options.petsc_src, options.mpiexec)
    runner = Runner(petsc, options)
    candidates = chain(listed_cases(options.cases, petsc, options.quick), block_cases(petsc) if options.blocks else [])
    expected = read_expected(options.expected, petsc)
    cases = collect(candidates, expected, options.filter)
    programs = {case.program for case in cases}
    print(f"PETSc {petsc.version}, {len(programs)} programs, {len(cases)} cases, types {' '.join(options.types)}")
    results = []
    with ThreadPoolExecutor(options.jobs) as pool:
        for case, verdicts in zip(cases, pool.map(runner.judge, cases)):
            results.append((case, verdicts))
            for what, reason, types in alike(verdicts):
                if what == "failed" or options.verbose:
                    print(f"{what} {' '.join(types)}: {case.name()} ({case.origin})", flush=True)
                    if reason:
                        print(f"    {reason}", flush=True)
    if options.report:
        write_report(options.report, petsc, options.types, results)
    everything = [verdict for _, verdicts in results for verdict in verdicts]
    count = lambda *kinds: sum(verdict.what in kinds for verdict in everything)
    print(f"{count('equal')} equal, {count('no-product')} equal without a product, {count('different')} differ as expected")
    print(f"{len(everything) - count('failed', 'not-possible')} passed, {count('failed')} failed, {count('not-possible')} not possible")
    unused = [] if options.filter or not options.blocks else [e for e in expected if not any(e in case.expected for case in cases)]
    for expectation in unused:
        print(f"expected.txt: no case matches '{expectation.pattern.pattern}'")
    return 1 if unused or count("failed") or not count("equal") else 0


if __name__ == "__main__":
    sys.exit(main())
