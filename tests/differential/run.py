#!/usr/bin/env python3
"""Runs PETSc's own test programs, unmodified, with a reference matrix type and with others, and compares what they print.

    tests/differential/run.py --plugin build/lib/libpetscpack.so --build build/differential [--quick]

Every line of cases.txt gives a program, numbers of ranks and arguments. A case passes when the program ends in the same
way with both types, prints the same words and numbers (relative tolerance 1e-6), and -malloc_dump is empty. The PETSc
under test is the one that pkg-config finds.
"""
import argparse
import itertools
import re
import shlex
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from compare import drop_view_block, essence, first_difference, leaks, map_type_names
from petsc import Petsc

HERE = Path(__file__).resolve().parent
FORMATS = HERE.parents[1] / "src/kernels/formats.def"
RTOL, ATOL = 1e-6, 1e-10
COMMON = "-malloc_dump -options_left no -nox -check_pointer_intensity 0 -use_gpu_aware_mpi 0"


@dataclass
class Case:
    program: str
    ranks: int
    arguments: str
    line: int
    index: int
    rtol: float = RTOL
    atol: float = ATOL
    tags: set = field(default_factory=set)

    def name(self):
        return f"{self.program} -n {self.ranks} {self.arguments}"


def expand(arguments):
    """All combinations of {{a b c}} lists, written as in PETSc's own test blocks."""
    parts = re.split(r"\{\{(.*?)\}\}", arguments)
    choices = [part.split() if i % 2 else [part] for i, part in enumerate(parts)]
    return ["".join(choice) for choice in itertools.product(*choices)]


def read_cases(path, petsc, quick, pattern):
    """Cases of a file: program ; ranks ; arguments ; tags, where tags are explained in cases.txt."""
    cases = []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        program, ranks, arguments, tags = (part.strip() for part in line.split(";"))
        settings = dict(tag.split("=") for tag in tags.split() if "=" in tag)
        words = {tag for tag in tags.split() if "=" not in tag}
        too_new = "before" in settings and petsc.newer_or_equal(settings["before"])
        if quick and "quick" not in words or too_new or not petsc.newer_or_equal(settings.get("since", "3.18")):
            continue
        for count, text in itertools.product(ranks.split(","), expand(arguments)):
            case = Case(program, int(count), text, number, len(cases), float(settings.get("rtol", RTOL)), float(settings.get("atol", ATOL)), words)
            if not pattern or re.search(pattern, case.name()):
                cases.append(case)
    return cases


class Runner:
    def __init__(self, petsc, options):
        self.petsc, self.options = petsc, options
        self.plugin = ["-dll_append", str(Path(options.plugin).resolve())] if options.plugin else []

    def run_one(self, case, type_name):
        """(exit status, output) of a case with one type; the output has the names of the reference type."""
        text = case.arguments.replace("@matrices", str(self.petsc.data / "matrices"))
        text = re.sub(r"@(seq|mpi)?aij", lambda m: f"{m.group(1) or ''}{type_name}", text)
        arguments = shlex.split(f"{text} {COMMON}")
        if type_name != self.options.reference:
            arguments += self.plugin + shlex.split(self.options.extra)
        folder = self.petsc.cache / "run" / type_name / f"{case.line}-{case.index}"
        status, output = self.petsc.run(self.petsc.compile(case.program), case.ranks, arguments, folder)
        output = map_type_names(output, type_name, self.options.reference)
        return status, drop_view_block(output)

    def _types(self, case):
        """All types; in the quick list one of them, in turn, on more ranks than most machines of CI have cores."""
        types = self.options.types
        return [types[case.index % len(types)]] if self.options.quick and case.ranks > 2 else types

    def judge(self, case):
        """A list of (type, None or what is wrong)."""
        types = self._types(case)
        try:
            status, expected = self.run_one(case, self.options.reference)
        except subprocess.CalledProcessError as error:
            return [(t, f"does not compile: {error.stderr.strip()[-800:]}") for t in types]
        if status:
            return [(t, f"the reference ends with {status}: {essence(expected)}") for t in types]
        return [(t, self._compare(case, t, expected)) for t in types]

    def _compare(self, case, type_name, expected):
        status, actual = self.run_one(case, type_name)
        if status:
            return f"ends with {status}: {essence(actual)}"
        if leaks(actual) and not leaks(expected):
            return f"leaks: {actual.strip()[-800:]}"
        return first_difference(expected, actual, case.rtol, case.atol)


def types_of_formats():
    return ["aij" + name for name in re.findall(r"^SPMV_FORMAT\((\w+),", FORMATS.read_text(), re.M)]


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--plugin", help="libpetscpack.so, loaded with -dll_append; without it only PETSc's own types run")
    parser.add_argument("--types", help="root names, comma separated (default: all of formats.def)")
    parser.add_argument("--reference", default="aij", help="type to compare with (default aij)")
    parser.add_argument("--build", default="build/differential", help="folder of compiled programs and of runs")
    parser.add_argument("--cases", type=Path, default=HERE / "cases.txt", help="list of cases")
    parser.add_argument("--petsc-src", help="folder that holds mat/tests, ksp/ksp/tutorials, ... of this PETSc")
    parser.add_argument("--mpiexec", help="mpiexec of the MPI that PETSc uses")
    parser.add_argument("--extra", default="", help="options added to the runs of the types under test")
    parser.add_argument("--filter", help="run only cases whose name matches this regular expression")
    parser.add_argument("--quick", action="store_true", help="only the cases tagged quick, on 3 and more ranks with one type each")
    parser.add_argument("--jobs", type=int, default=2, help="programs run at a time (default 2)")
    parser.add_argument("--verbose", action="store_true", help="print the cases that pass, too")
    options = parser.parse_args()
    options.types = options.types.split(",") if options.types else types_of_formats()
    return options


def main():
    options = parse_options()
    petsc = Petsc(options.build, options.petsc_src, options.mpiexec)
    runner = Runner(petsc, options)
    cases = read_cases(options.cases, petsc, options.quick, options.filter)
    programs = {case.program for case in cases}
    print(f"PETSc {petsc.version}, {len(programs)} programs, {len(cases)} cases, types {' '.join(options.types)}")
    passed = failed = 0
    with ThreadPoolExecutor(options.jobs) as pool:
        for case, verdicts in zip(cases, pool.map(runner.judge, cases)):
            for type_name, problem in verdicts:
                passed, failed = passed + (problem is None), failed + (problem is not None)
                if problem is not None:
                    print(f"DIFFERENT {type_name}: {case.name()} (cases.txt:{case.line})\n    {problem}", flush=True)
                elif options.verbose:
                    print(f"equal {type_name}: {case.name()}", flush=True)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
