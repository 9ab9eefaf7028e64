#!/usr/bin/env python3
"""Runs the cases of cases.txt and compares their output with the files in expected/.

    run_golden.py --driver build/bin/golden_driver --plugin build/lib/libpetscpack.so [--update]

Times, versions of PETSc and places in source files are masked, so that one file serves every PETSc, with and
without a GPU. --update writes the files instead of comparing.
"""
import argparse
import difflib
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
LEAK = re.compile(r"^\[\s*\d+\]\s*(Total space allocated|\d+ bytes)", re.M)
MASKS = [
    (re.compile(r"^\[\d+\]", re.M), ""),
    (re.compile(r"\d\.\d+e[-+]\d+ s\b"), "TIME s"),
    (re.compile(r"^PETSC ERROR: +(#\d|WARNING|Option left|See https|PETSc|Configure|-----|/|-\w+( |$)).*\n", re.M | re.I), ""),
    (re.compile(r"^PETSC ERROR: .* (on a|with \d+ MPI process).* by .*\n", re.M), ""),
    (re.compile(r"^(PETSC ERROR: Unknown type).*", re.M), r"\1"),
    (re.compile(r"(-mat_\w+): <now"), r"\1 <now"),
    (re.compile(r"^\[hwloc/.*\n", re.M), ""),  # a container without /sys makes Open MPI's hwloc complain
    (re.compile(r"^ +not on the GPU: \d+ nonzeros are too few.*\n", re.M), ""),  # said where there is one
    (re.compile(r"[ \t]+$", re.M), ""),
]
ENVIRONMENT = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
}


def normalise(text, status, keep):
    for pattern, replacement in MASKS:
        text = pattern.sub(replacement, text)
    lines = text.splitlines()
    if status == "error":  # the rest is what MPI says about the abort
        lines = [line for line in lines if "PETSC ERROR" in line]
    if keep:
        lines = [line for line in lines if re.search(keep, line)]
    return "\n".join(lines) + "\n"


def run(options, ranks, arguments):
    arguments = arguments.replace("@plugin", str(options.plugin)).replace("@libdir", str(options.plugin.parent))
    command = [options.mpiexec, "-n", str(ranks)] if ranks > 1 else []
    command += [str(options.driver), *shlex.split(arguments), "-malloc_dump", "-options_left", "no", "-use_gpu_aware_mpi", "0"]
    return subprocess.run(
        command, env=dict(os.environ, **ENVIRONMENT), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120
    )


def check(options, name, ranks, status, keep, arguments):
    """None, or what is wrong"""
    done = run(options, int(ranks), arguments)
    if (done.returncode == 0) != (status == "ok"):
        return f"ends with {done.returncode}:\n{done.stdout[-2000:]}"
    if status == "ok" and LEAK.search(done.stdout):
        return f"leaks:\n{done.stdout[-2000:]}"
    text, path = normalise(done.stdout, status, keep), HERE / "expected" / f"{name}.txt"
    if options.update:
        path.write_text(text)
        return None
    expected = path.read_text() if path.exists() else ""
    if text == expected:
        return None
    return "".join(difflib.unified_diff(expected.splitlines(True), text.splitlines(True), str(path), "printed"))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--driver", type=Path, required=True)
    parser.add_argument("--plugin", type=Path, required=True)
    parser.add_argument("--mpiexec", default="mpiexec")
    parser.add_argument("--only", help="regular expression for names of cases")
    parser.add_argument("--update", action="store_true")
    options = parser.parse_args()
    options.plugin = options.plugin.absolute()
    passed = failed = 0
    for line in (HERE / "cases.txt").read_text().splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        name, ranks, status, keep, arguments = (part.strip() for part in line.split(";", 4))
        if options.only and not re.search(options.only, name):
            continue
        problem = check(options, name, ranks, status, keep, arguments)
        passed, failed = passed + (problem is None), failed + (problem is not None)
        if problem:
            print(f"FAILED {name}\n{problem}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
