"""The cases of the differential runner: lines of cases.txt, test blocks of PETSc's sources, expected.txt."""
import itertools
import re
from dataclasses import dataclass, field

import blocks

RTOL, ATOL = 1e-6, 1e-10
EXPECTATIONS = ("different", "no-product", "not-possible", "tolerance")


@dataclass
class Case:
    program: str
    ranks: int
    arguments: str
    origin: str
    rtol: float = RTOL
    atol: float = ATOL
    impossible: str = ""  # why it cannot run
    expected: list = field(default_factory=list)  # lines of expected.txt that match it
    index: int = 0

    def name(self):
        return f"{self.program} -n {self.ranks} {self.arguments}"

    def expectation(self, what, type_name):
        """The line of expected.txt that expects this of the type, or None."""
        return next((e for e in self.expected if e.what == what and type_name in (e.types or [type_name])), None)


@dataclass
class Expectation:
    what: str
    pattern: re.Pattern
    types: list
    settings: dict
    reason: str


def expand(arguments):
    """All combinations of {{a b c}} lists, written as in PETSc's own test blocks."""
    parts = re.split(r"\{\{(.*?)\}\}", arguments)
    choices = [part.split() if i % 2 else [part] for i, part in enumerate(parts)]
    return ["".join(choice) for choice in itertools.product(*choices)]


def lines_of(path):
    """(number, fields) of the lines that are not comments; fields end at semicolons."""
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if line.strip() and not line.lstrip().startswith("#"):
            yield number, [part.strip() for part in line.split(" ;")]


def settings_of(tags):
    """Tags such as "quick since=3.19" as a dictionary."""
    return dict(tag.split("=", 1) if "=" in tag else (tag, True) for tag in tags.split())


def for_this_petsc(settings, petsc):
    too_new = "before" in settings and petsc.newer_or_equal(settings["before"])
    return not too_new and petsc.newer_or_equal(settings.get("since", "3.18"))


def read_expected(path, petsc):
    expected = []
    for number, (what, tags, pattern, reason) in lines_of(path):
        settings = settings_of(tags)
        if what not in EXPECTATIONS:
            raise SystemExit(f"{path.name}:{number}: '{what}' is none of {', '.join(EXPECTATIONS)}")
        if for_this_petsc(settings, petsc):
            types = settings["types"].split(",") if "types" in settings else []
            expected.append(Expectation(what, re.compile(pattern), types, settings, reason))
    return expected


def listed_cases(path, petsc, quick):
    """Cases of a file: program ; ranks ; arguments ; tags, explained in cases.txt."""
    for number, (program, ranks, arguments, tags) in lines_of(path):
        settings = settings_of(tags)
        if (quick and "quick" not in settings) or not for_this_petsc(settings, petsc):
            continue
        impossible = petsc.lacks(program, settings.get("needs", "").split(","))
        tolerances = float(settings.get("rtol", RTOL)), float(settings.get("atol", ATOL))
        for count, text in itertools.product(ranks.split(","), expand(arguments.replace("@matrices", "@data/matrices"))):
            yield Case(program, int(count), text, f"{path.name}:{number}", *tolerances, impossible)


def block_cases(petsc):
    """Cases of the test blocks of all sources."""
    for program in petsc.programs():
        for ranks, arguments, needs in blocks.cases_of(petsc.text(program)):
            impossible = petsc.lacks(program, needs)
            for count, text in itertools.product(ranks, expand(arguments)):
                if "@" in re.sub("@data", "", text):  # else a combination without our types
                    yield Case(program, int(count), text, "test block", impossible=impossible)


def collect(candidates, expected, pattern):
    """Each case once, with its expectations."""
    cases = {}
    for case in candidates:
        if pattern and not re.search(pattern, case.name()):
            continue
        case.expected = [e for e in expected if e.pattern.search(case.name())]
        for tolerance in (e.settings for e in case.expected if e.what == "tolerance"):
            case.rtol, case.atol = float(tolerance.get("rtol", case.rtol)), float(tolerance.get("atol", case.atol))
        cases.setdefault(case.name(), case)
    for index, case in enumerate(cases.values()):
        case.index = index
    return list(cases.values())
