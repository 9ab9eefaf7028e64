#!/usr/bin/env python3
"""Runs plain_solve with many solvers, plainly and with options that make its objects petscpack's, and compares the results.

    plain_solve.py --program bin/plain_solve --plugin lib/libpetscpack.so [--gpu] [--ranks N --mpiexec FILE] -- OPTION ...

The plain run is a process of its own. Totals of the process (-petscpack_summary) must show products of our matrices or solves
by our solvers; with --gpu none on the host, except that PETSc may have done some.
"""
import argparse
import re
import subprocess
import sys

SOLVERS = [
    "-ksp_type cg -pc_type none",
    "-ksp_type cg -pc_type jacobi",
    "-ksp_type cg -pc_type gamg -pc_gamg_type agg -pc_gamg_coarse_eq_limit 40",
    "-ksp_type cg -pc_type bjacobi -sub_pc_type icc",
    "-ksp_type gmres -pc_type jacobi",
    "-pc_type bjacobi",
    "-ksp_type gmres -pc_type asm",
    "-ksp_type fgmres -pc_type gamg -pc_gamg_type agg -pc_gamg_coarse_eq_limit 40",
    "-ksp_type bcgs -pc_type jacobi",
    "-ksp_type minres -pc_type none",
    "-ksp_type bicg -pc_type jacobi",
    "-ksp_type lsqr -pc_type none",
    "-ksp_type chebyshev -pc_type jacobi -ksp_max_it 200",
    "-ksp_type richardson -pc_type jacobi -ksp_richardson_scale 0.8 -ksp_max_it 200",
    "-ksp_type richardson -pc_type sor -ksp_max_it 500",
    "-ksp_type preonly -pc_type redundant",
]
WITHOUT_PRODUCTS = ("sor", "redundant")
LINE = re.compile(r"solve \d: reason (-?\d+), iterations (\d+), norm (\S+)")
TOTALS = re.compile(r"engines: (\d+) solves .*products of our matrices: (\d+) on the GPU, (\d+) on the host(?: \(.*?\))?, (\d+) by PETSc")


def solve(options, arguments):
    command = [options.mpiexec, "-n", str(options.ranks)] if options.ranks > 1 else []
    command += [options.program, "-ksp_rtol", "1e-10", "-options_left", "no", "-use_gpu_aware_mpi", "0", "-malloc_dump", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=300)


def differs(plain, ours):
    """None, or how the results of two runs differ; iterations may, by one"""
    one, other = LINE.findall(plain.stdout), LINE.findall(ours.stdout)
    if plain.returncode or ours.returncode or len(one) != 2 or len(other) != 2:
        return f"status {plain.returncode} and {ours.returncode}\n{plain.stderr[-2000:]}\n{ours.stderr[-2000:]}"
    for a, b in zip(one, other):
        if a[0] != b[0] or abs(int(a[1]) - int(b[1])) > 1 or abs(float(a[2]) - float(b[2])) > 1e-7 * abs(float(a[2])):
            return f"{a} and {b}"
    return "memory is not freed" if re.search(r"^\[ *\d+\] *(\d+ bytes|Total space)", ours.stdout, re.M) else None


def idle(options, ours):
    """None, or what the totals say about where the work ran"""
    totals = TOTALS.search(ours.stderr)
    if not totals:
        return "no totals"
    solves, gpu, host, _ = map(int, totals.groups())
    if options.gpu:
        return "nothing ran on the GPU" if solves + gpu == 0 else f"{host} products on the host" if host else None
    return "nothing is ours" if solves + gpu + host == 0 else None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    parser.add_argument("--plugin", required=True)
    parser.add_argument("--mpiexec", default="mpiexec")
    parser.add_argument("--ranks", type=int, default=1)
    parser.add_argument("--gpu", action="store_true")
    parser.add_argument("options", nargs="*")
    options = parser.parse_args()
    failed = 0
    with_ours = ["-dll_append", options.plugin, "-petscpack_summary", *options.options]
    for solver in SOLVERS:
        ours = solve(options, solver.split() + with_ours)
        wrong = differs(solve(options, solver.split()), ours)
        if not wrong and not any(pc in solver for pc in WITHOUT_PRODUCTS):
            wrong = idle(options, ours)
        if wrong:
            failed += 1
            print(f"FAILED {solver}: {wrong}")
    print(f"{len(SOLVERS) - failed} passed, {failed} failed")
    return 1 if failed else 0


sys.exit(main())
