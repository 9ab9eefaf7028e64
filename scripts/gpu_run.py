#!/usr/bin/env python3
"""Runs the tests and benchmarks of a bundle (scripts/gpu_bundle.sh) on a machine with a GPU. Call it in the unpacked bundle.

    ./gpu_run.py output-folder [step ...]

Without a step it runs all steps. After a failed step it goes on with the next; a step whose part is not in the bundle is skipped.
Each step writes a log, benchmarks also write JSON and tables; summary.txt has the outcome. What the time does not suffice for is
left out, and the log says so. Exit status: 0 all passed, 1 some failed, 2 wrong usage, 77 no GPU.
"""
import argparse
import math
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext, redirect_stdout
from pathlib import Path

import gpu_programs
from gpu_steps import BY_HAND, ON_REQUEST, PETSC_PROGRAMS, SETTINGS, STEPS, WORDS

BY_NAME = {step.name: step for step in STEPS}
SKIPPED = 77
LINE = re.compile(r"((?:@\w+ )*)(& )?(\d+ )?(!\w+)?(.*)")
# PATH and libraries of a part with Open MPI, which needs its new location, permission to run as root and with more ranks than
# cores, shared memory as the only transport, because there is one machine, and no binding to cores, which a container may forbid
OPEN_MPI = {"OPAL_PREFIX": "$part", "OPAL_LIBDIR": "$part/lib", "OPAL_SYSCONFDIR": "$part/etc", "OMPI_ALLOW_RUN_AS_ROOT": "1",
            "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_plm": "isolated",
            "OMPI_MCA_btl": "self,vader", "OMPI_MCA_btl_vader_single_copy_mechanism": "none",
            "OMPI_MCA_hwloc_base_binding_policy": "none", "PMIX_MCA_pcompress_base_silence_warning": "1"}


def say(*text):
    print(*text, flush=True)


def setting(name):
    return os.environ.get(name, SETTINGS[name][0])


def part_of(here, step):
    return here if step.part == "cuda" else here / step.part


def limit_of(step):
    return int(os.environ.get(f"LIMIT_{step.name}", step.limit))


class Run:
    """One step: its values, the time that is left, and whether a command has failed."""

    def __init__(self, step, out, here, dry=False):
        self.step, self.out, self.here, self.dry = step, Path(out), here, dry
        self.limit, self.begin, self.failed, self.shares = limit_of(step), time.monotonic(), False, 1
        self.each = int(self.limit + step.each if step.each < 0 else step.each if step.each >= 1 else self.limit * step.each)
        self.end = self.begin + self.limit + (step.each if step.each < 0 else -2)
        self.part = part_of(here, step)
        said = dict(line.partition(" ")[::2] for line in self.text(here / "MANIFEST").splitlines())
        self.commit, self.formats = said.get("commit", "unknown"), said.get("formats", "rbp fold crsv codsell").split()
        self.temporary = tempfile.TemporaryDirectory()  # until this run is forgotten
        self.scratch = Path(self.temporary.name)
        self.asides, self.pool, self.programs = [], ThreadPoolExecutor(256), set()

    def left(self):
        return math.ceil(self.end - time.monotonic())

    def text(self, path):
        return Path(path).read_text(errors="replace") if Path(path).exists() else ""

    def made(self, path):
        return self.dry or path.exists() and path.stat().st_size > 0

    def emptied(self, folder):
        if not self.dry:
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
        return folder

    # ---- from lines to commands ----

    def value(self, name):
        percent = re.fullmatch(r"(limit|each)(\d+)", name)
        if percent:
            return str(getattr(self, percent[1]) * int(percent[2]) // 100)
        if name in WORDS:
            return self.fill(WORDS[name])
        if name in SETTINGS:
            return setting(name)
        return str(getattr(gpu_programs, name)(self) if name in ("fold_sweep", "sanitizer") else getattr(self, name))

    def fill(self, text):
        return re.sub(r"\$(\w+)", lambda found: self.value(found[1]), text)

    def repeat(self, line):
        """The line for each format, each number of processes and each word in braces."""
        found = re.search(r"\$(format|ranks)\b|\{([^}]*)\}", line)
        if not found:
            return [line]
        if found[2]:
            return [one for word in found[2].split(",") for one in self.repeat(line.replace(found[0], word, 1))]
        words = self.formats if found[1] == "format" else ("1", "2")
        return [one for word in words for one in self.repeat(re.sub(rf"\{found[0]}\b", word, line))]

    def words(self, line):
        """A setting or an entry of WORDS that stands alone is as many words as it has; anything else is one."""
        found = []
        for word in shlex.split(line):
            several = re.fullmatch(r"\$(\w+)", word) and (word[1:] in WORDS or word[1:] in SETTINGS)
            found += shlex.split(self.fill(word)) if several else [self.fill(word)]
        return found

    def run_lines(self):
        for line in (line.strip() for line in self.step.commands.strip().splitlines()):
            parts, beside, seconds, function, rest = LINE.fullmatch(line).groups()
            wanted = setting(f"{self.step.name.upper()}_PARTS").split() if parts else ()
            if line.startswith("#") or not all(part in wanted for part in re.findall(r"\w+", parts)):
                continue
            if not beside:
                self.collect()
            for words in map(self.words, self.repeat(rest)):
                if function:
                    getattr(gpu_programs, function[1:])(self, *words)
                elif beside:
                    self.aside(words)
                else:
                    self.attempt(words, int(seconds) if seconds else None)
        self.collect()

    # ---- running commands ----

    def attempt(self, argv, seconds=None, output=None, least=5, log=sys.stdout):
        """Runs a command within its limit and the time that is left, or at any time if least is 0, and reports it. After a failure
        the step goes on, and fails at its end. In the foreground, so that the step's own limit reaches the command too."""
        argv, begin = [str(word) for word in argv], time.monotonic()
        seconds = min(seconds or self.each, self.left()) if least else seconds
        if self.dry:
            say(shlex.join(argv))
            program = argv[argv.index("-n") + 2] if "-n" in argv and "mpiexec" in argv[0] else argv[0]
            self.programs |= {program, *re.findall(rf"{self.part}/bin/(\w+)", " ".join(argv))}
            return 0
        print("+" if seconds >= least else "left out, the time is spent:", *argv, file=log, flush=True)
        if seconds < least:
            self.failed = True
            return 1
        with open(output, "wb") if output else nullcontext(log) as file:
            command = ["timeout", "--foreground", "--kill-after=5", str(seconds), *argv]
            status = subprocess.call(command, stdout=file, stderr=subprocess.STDOUT)
        print(f"= status {status} after {time.monotonic() - begin:.0f} s", file=log, flush=True)
        self.failed |= status != 0
        return status

    def logged(self, argv, seconds, log, least=5):
        """The same with the output in a file, of which only the faults are shown"""
        status = self.attempt(argv, seconds, log, least)
        lines = self.text(log).splitlines()
        for line in [line for line in lines if re.search("ERROR|WRONG", line)] + (lines[-2:] if status else []):
            say(line[:300])
        return status

    def aside(self, argv):
        """Runs a command beside others, for programs that mostly wait"""
        log = self.scratch / f"aside.{len(self.asides)}"
        if self.dry:
            self.attempt(argv)
        else:
            self.asides.append((log, self.pool.submit(self.attempt, argv, log=open(log, "w", encoding="utf-8"))))

    def collect(self, show=True):
        """Waits for all of them; returns their output"""
        found = [self.text(log) for log, aside in self.asides if aside.result() is not None]
        self.asides = []
        if show and found:
            say("".join(found).rstrip())
        return found


# ---- the machine ----


def folder_of(library, cuda):
    """The folder of a library that the loader would not find by itself, or None"""
    found = subprocess.run(["find", cuda, "/usr/local", "/usr/lib", "/opt", "-name", library, "-not", "-path", "*/stubs/*", "-print", "-quit"],
                           capture_output=True, text=True, check=False).stdout
    return os.path.dirname(found.strip())


def library_path(part, cuda):
    """LD_LIBRARY_PATH for the programs of a part. The machine's own copies of the compiler's libraries come first, because its
    other programs may need newer ones."""
    folders = [*([f"{part}/lib/openblas"] if (part / "lib/openblas").is_dir() else []), f"{part}/lib", f"{part}/lib/mpich", f"{cuda}/lib64", f"{cuda}/lib", *filter(None, [os.environ.get("LD_LIBRARY_PATH")])]
    command = f"find {part}/bin {part}/lib -type f -not -path '*/mpich/*' -not -path '*/lib/ucx/*' -not -path '*/lib/openblas/*' -exec ldd {{}} + 2>/dev/null"
    said = subprocess.run(["bash", "-c", command], env={**os.environ, "LD_LIBRARY_PATH": ":".join(folders)}, capture_output=True, text=True, check=False)
    for name in sorted(set(re.findall(r"^\s*(\S+) => not found", said.stdout, re.M))):
        folder = f"{part}/lib/compiler" if (part / "lib/compiler" / name).exists() else folder_of(name, cuda)
        folders += [folder] if folder else []
        if not folder:
            print(f"library {name} is not on this machine", file=sys.stderr)
    return ":".join(folders)


def use_part(run):
    """Sets the environment of a step"""
    part, cuda = run.part, setting("CUDA_HOME")
    if run.step.part == "dolfinx":  # its libraries find each other, and MPICH in the folder of its wheel; FFCx compiles forms into the cache
        path = [str(next((part / "site").glob("mpich-*.data/data/lib"))), f"{part}/site/dolfinx_solver/lib"]
        path += [*filter(None, [os.environ.get("LD_LIBRARY_PATH")]), f"{cuda}/lib64", f"{cuda}/lib"]  # cuDSS needs cuBLAS
        os.environ.update(PYTHONPATH=f"{part}/site", LD_LIBRARY_PATH=":".join(path), XDG_CACHE_HOME=f"{run.scratch}/cache", OPENBLAS_NUM_THREADS="1",
                          PATH=":".join([*map(str, (part / "site").glob("mpich-*.data/data/bin")), os.environ["PATH"]]))
        return
    os.environ.update(LD_LIBRARY_PATH=library_path(part, cuda), PATH=f"{part}/bin:{os.environ['PATH']}:{cuda}/bin",
                      OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")  # BLAS threads of several ranks would compete for cores
    if (part / "lib/openmpi3").is_dir():
        os.environ.update({name: run.fill(value) for name, value in OPEN_MPI.items()})


def probe(out, here):
    """Describes the machine; the status tells whether it has a GPU"""
    step = BY_NAME["bench" if (here / "bin").is_dir() else "distro" if (here / "distro/bin").is_dir() else "dolfinx"]
    use_part(Run(step, out, here))
    if step.part != "dolfinx":
        return subprocess.call(["spmv_bench", "--probe"])
    said = subprocess.run([setting("PYTHON"), "-m", "petscpack"], capture_output=True, text=True, check=False).stdout
    say(said)
    return 0 if re.search("^# GPU", said, re.M) else SKIPPED


def run_only(step, out, here):
    """The process of one step; its limit ends all processes that it started"""
    run = Run(step, out, here)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    try:
        use_part(run)
        run.run_lines()
    finally:
        gpu_programs.stop_sharing(run)
    return int(run.failed)


def call_self(here, out, log, *words, limit=0):
    with open(log, "wb") as file:
        return subprocess.call(["timeout", "--kill-after=10", str(limit), sys.executable, __file__, "--folder", here, *words, out],
                               stdout=file, stderr=subprocess.STDOUT)


def run_step(step, out, here):
    """Status and outcome"""
    begin, limit, log = time.monotonic(), limit_of(step), out / f"{step.name}.log"
    if not any((part_of(here, step) / folder).is_dir() for folder in ("bin", "site")):
        return 0, "skipped, the bundle was packed without its part"
    status = call_self(here, out, log, "--only", step.name, limit=limit)
    if status == SKIPPED:
        return 0, f"skipped, {(log.read_text(errors='replace').splitlines() or [''])[-1]}"
    if status in (124, 137):
        return status, f"FAILED, stopped at its limit of {limit} s"
    return status, f"{'FAILED' if status else 'passed'} in {time.monotonic() - begin:.0f} s"


def run_all(steps, out, here):
    status, worst = call_self(here, out, out / "machine.txt", "--probe"), 0
    say((out / "machine.txt").read_text(errors="replace").rstrip())
    if status:
        return status
    with open(out / "summary.txt", "w", encoding="utf-8") as summary:
        for step in steps:
            status, outcome = run_step(step, out, here)
            worst |= status != 0
            for file in (sys.stdout, summary):
                print(f"{step.name}: {outcome}", file=file, flush=True)
    return worst


# ---- what is made from the tables ----


def usage():
    lines = [*((s.name, s.help, s.limit) for s in STEPS), ("", "", ""), ("settings", "environment variables", ""), ("LIMIT_<step>", "time limit", "above"),
             *((name, text, default) for name, (default, text) in SETTINGS.items())]
    return "\n".join(f"  {name:18}{text}{f' ({default})' if default else ''}".rstrip() for name, text, default in lines)


def programs_of(part, out):
    """The programs that a part of the bundle needs, from the commands of its steps: ours in one line, PETSc's in the next"""
    found = {*BY_HAND.get(part, ()), "spmv_bench"}  # the latter describes the machine
    with redirect_stdout(None):
        for step in (step for step in STEPS if step.part == part):
            run = Run(step, out, out, dry=True)
            run.run_lines()
            found |= run.programs
    ours = sorted(name for name in found if re.fullmatch(r"\w+", name) and name not in ("mpiexec", "python3"))
    return "\n".join(" ".join(name for name in ours if (name in PETSC_PROGRAMS) == of_petsc) for of_petsc in (False, True))


def main():
    parser = argparse.ArgumentParser(description=__doc__, epilog="steps, with their limits in seconds:\n" + usage(),
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", metavar="output-folder", type=lambda path: Path(path).resolve())
    parser.add_argument("steps", nargs="*", metavar="step")
    parser.add_argument("--folder", type=lambda path: Path(path).resolve(), default=Path(__file__).resolve().parent, help="the bundle (the folder of this file)")
    parser.add_argument("--dry-run", action="store_true", help="print the commands of the steps")
    parser.add_argument("--programs", metavar="PART", help=argparse.SUPPRESS)  # for gpu_bundle.sh
    parser.add_argument("--only", metavar="STEP", help=argparse.SUPPRESS)
    parser.add_argument("--probe", action="store_true", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if not {*asked.steps, asked.only or STEPS[0].name} <= set(BY_NAME):
        parser.error(f"the steps are {' '.join(BY_NAME)}")
    steps = [BY_NAME[name] for name in asked.steps] or [s for s in STEPS if s.name not in ON_REQUEST]
    if asked.programs:
        return print(programs_of(asked.programs, asked.out))
    if asked.dry_run:
        for step in steps:
            say(f"# {step.name}")
            Run(step, asked.out, asked.folder, dry=True).run_lines()
        return 0
    asked.out.mkdir(parents=True, exist_ok=True)
    if asked.probe:
        return probe(asked.out, asked.folder)
    return run_only(BY_NAME[asked.only], asked.out, asked.folder) if asked.only else run_all(steps, asked.out, asked.folder)


if __name__ == "__main__":
    sys.exit(main())
