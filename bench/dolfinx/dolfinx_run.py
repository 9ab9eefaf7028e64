#!/usr/bin/env python3
"""Runs the DOLFINx programs of examples/python with plain aij on one core and with the wheel of petscpack, and compares them.

    dolfinx_run.py programs-folder output.json [--cells N] [--newton-cells N] [--convection-cells N] [--limit seconds] [--no-gpu]

The programs do not use petscpack themselves. Each run is a separate process, for at most --limit seconds. The JSON has the output
of each program, and the line in which petscpack counts the work on the GPU. "solve" has the time of the first KSPSolve() after the
set-up, the minimum of the later ones, and the speedup over one core. "first_use" has the time of the CUDA context and that of all
modules of the kernel library, in a process that does nothing else. Exit status 1: a program failed, results differ, or nothing ran
on the GPU (no solve if the preconditioner is jacobi, no product with other preconditioners). --no-gpu: the last is not a fault.
"""
import argparse
import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

JACOBI = "-ksp_type cg -pc_type jacobi"
GAMG = "-ksp_type cg -pc_type gamg -mg_levels_pc_type jacobi"
CGDEVICE = "-mat_type aijrbp -ksp_type cgdevice -mg_levels_pc_type jacobi"
GAMG_CGDEVICE = f"{CGDEVICE} -pc_type gamg"
GMRES = "-pc_type jacobi"  # PETSc's default solver; without options its preconditioner is ILU
SUMMARY = re.compile(r"petscpack: .*; engines: (\d+) solves with (\d+) iterations on the GPU, (\d+) by PETSc(.*); products of our "
                     r"matrices: (\d+) on the GPU, (\d+) on the host(.*), (\d+) by PETSc([^;]*)")
# The rival is listed first, but runs last, so that a time limit cuts off the rival
PROBLEMS = {
    "elasticity": ("dolfinx_elasticity.py", {"aij, one core": (None, JACOBI), "petscpack run": ("run", JACOBI),
                                             "aijrbp, cgdevice": ("load", "-mat_type aijrbp -ksp_type cgdevice -pc_type jacobi")}),
    "elasticity, GAMG": ("dolfinx_elasticity_gamg.py", {"aij, one core": (None, GAMG), "petscpack run": ("run", GAMG),
                                                        "aijrbp, cgdevice": ("load", GAMG_CGDEVICE),
                                                        "aijrbp, cgdevice, aggdevice": ("load", f"{GAMG_CGDEVICE} -pc_gamg_type aggdevice"),
                                                        "aijrbp, cgdevice, gamgdevice": ("load", f"{CGDEVICE} -pc_type gamgdevice"),
                                                        "aijrbp, cgdevice, gamgdevice in single precision":
                                                        ("load", f"{CGDEVICE} -pc_type gamgdevice -pc_mgdevice_precision single")}),
    "elasticity, GAMG without modes": ("dolfinx_elasticity.py", {"aij, one core": (None, GAMG), "petscpack run": ("run", GAMG),
                                                                 "aijrbp, cgdevice": ("load", GAMG_CGDEVICE)}),
    "hyperelasticity": ("dolfinx_hyperelasticity.py", {"aij, one core": (None, ""), "petscpack run": ("run", "")}),
    "convection": ("dolfinx_convection.py", {"aij, one core": (None, GMRES), "petscpack run": ("run", GMRES),
                                             "aijcrsv, gmresdevice": ("load", f"-mat_type aijcrsv -ksp_type gmresdevice {GMRES}"),
                                             "aijrbp, gmresdevice": ("load", f"-mat_type aijrbp -ksp_type gmresdevice {GMRES}")}),
    "convection without options": ("dolfinx_convection.py", {"aij, one core": (None, ""), "petscpack run": ("run", ""),
                                                             "petscpack run, blocks of rows": ("run", "-mat_incomplete_blocks 528")}),
}

# Seconds of the CUDA context, and of all modules of the kernel library: programs load lazily the modules that they use
FIRST_USE = """
import ctypes, json, sys, time
driver, context, block = ctypes.CDLL("libcuda.so.1"), ctypes.c_void_p(), ctypes.c_void_p()
where = ctypes.create_string_buffer(1 << 16)  # an SpmvExec is smaller
times = [time.perf_counter()]
failed = driver.cuInit(0) or driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0)
times.append(time.perf_counter())
kernels = ctypes.CDLL(sys.argv[1])
kernels.spmv_exec_init(where, 1)  # SPMV_DEVICE
failed = failed or kernels.spmv_alloc(where, 1, ctypes.c_int64(256), b"first use", ctypes.byref(block))
times.append(time.perf_counter())
print(json.dumps(None if failed else {"context_s": times[1] - times[0], "modules_s": times[2] - times[1]}))
"""


def first_use():
    plugin = subprocess.run([sys.executable, "-m", "petscpack", "plugin"], capture_output=True, text=True, check=True).stdout.strip()
    done = subprocess.run([sys.executable, "-c", FIRST_USE, str(Path(plugin).with_name("libspmvpack.so"))], capture_output=True, text=True,
                          check=False, env=dict(os.environ, CUDA_MODULE_LOADING="EAGER"))
    return json.loads(done.stdout) if done.returncode == 0 else None


def arguments_of(name, program, asked):
    if "hyper" in program:
        return [asked.newton_cells]
    return [asked.convection_cells if "convection" in program else asked.cells, "4" if "GAMG" in name else "2"]


def environment(how, options):
    variables = dict(os.environ, OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", PETSC_OPTIONS=options)
    if how == "load":
        plugin = subprocess.run([sys.executable, "-m", "petscpack", "plugin"], capture_output=True, text=True, check=True)
        variables["PETSC_OPTIONS"] += f" -petscpack_summary -dll_append {plugin.stdout.strip()}"
    return variables


def counts(stderr):
    found = SUMMARY.search(stderr)
    if not found:
        return None
    solves, iterations, by_petsc, why, gpu, host, why_host, parent, why_parent = found.groups()
    return {"solves_gpu": int(solves), "iterations_gpu": int(iterations), "solves_petsc": int(by_petsc), "why_solve": why,
            "products_gpu": int(gpu), "products_host": int(host), "why_host": why_host, "products_petsc": int(parent),
            "why_petsc": why_parent}


def one_run(program, arguments, how, options, limit):
    command = [sys.executable, *(["-m", "petscpack", "run"] if how == "run" else []), str(program), *arguments]
    report = {"command": " ".join(command[1:]), "options": options, "result": None, "petscpack": None, "error": None}
    begin = time.perf_counter()
    try:
        done = subprocess.run(command, env=environment(how, options), capture_output=True, text=True, timeout=limit, check=False)
    except subprocess.TimeoutExpired:
        report["error"] = f"cut after {limit} s"
        return report
    report["wall_s"] = time.perf_counter() - begin
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    report["petscpack"] = counts(done.stderr)
    if done.returncode or not lines:
        report["error"] = f"exit status {done.returncode}: {done.stderr[-3000:]}"
    else:
        report["result"] = json.loads(lines[-1])
    return report


def faults_of(name, runs, with_gpu):
    """The faults of the runs of a problem."""
    faults = [f"{name}, {kind}: {run['error']}" for kind, run in runs.items() if run["error"]]
    reference = next((run["result"]["norm"] for run in runs.values() if run["result"]), None)
    for kind, run in runs.items():
        if not run["result"]:
            continue
        if not run["result"]["converged"]:
            faults.append(f"{name}, {kind}: did not converge")
        if abs(run["result"]["norm"] - reference) > 1e-6 * abs(reference):
            faults.append(f"{name}, {kind}: norm {run['result']['norm']}, not {reference}")
        if kind == "aij, one core":
            continue
        if not run["petscpack"]:
            faults.append(f"{name}, {kind}: petscpack has said nothing")
        elif with_gpu and not (run["petscpack"]["solves_gpu"] or run["result"]["pc"] != "jacobi" and run["petscpack"]["products_gpu"]):
            faults.append(f"{name}, {kind}: nothing ran on the GPU")
    return faults


def add_times(runs):
    """Seconds of the set-up and of KSPSolve() after it: the first, and the minimum of the later ones, or of a single solve."""
    rival = runs["aij, one core"]["result"]
    for run in (r for r in runs.values() if r["result"]):
        first, *later = run["result"]["solve_s"]
        best = min(later, default=first)
        run["solve"] = {"setup_s": run["result"].get("setup_s"), "first_s": first, "later_s": best, "first_beyond_later_s": first - best}
        if rival:
            run["solve"]["times_one_core"] = min(rival["solve_s"][1:], default=rival["solve_s"][0]) / best


def show(name, runs):
    for kind, run in runs.items():
        if not run["result"]:
            continue
        times = run["solve"]
        setup = f"set-up {times['setup_s']:.4f} s, " if times["setup_s"] is not None else ""
        ratio = f", {times['times_one_core']:.1f} times as fast as one core" if "times_one_core" in times else ""
        print(f"{name}, {run['result']['rows']} rows, {kind}: {run['result']['iterations']} iterations, {setup}KSPSolve "
              f"{times['later_s']:.4f} s{ratio}, first {times['first_beyond_later_s']:.4f} s more; {run['petscpack'] or ''}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", type=Path)
    parser.add_argument("output", type=Path)
    parser.add_argument("--cells", default="50")
    parser.add_argument("--newton-cells", default="41")
    parser.add_argument("--convection-cells", default="73")
    parser.add_argument("--limit", type=float, default=140)
    parser.add_argument("--no-gpu", action="store_true")
    parser.add_argument("--only", default="", help="problems whose name has this text")
    asked = parser.parse_args()
    gpus = subprocess.run([sys.executable, "-m", "petscpack"], capture_output=True, text=True, check=False)
    print(gpus.stdout + gpus.stderr, flush=True)
    report, faults = {"gpus": gpus.stdout, "first_use": None if asked.no_gpu else first_use(), "problems": {}}, []
    print(f"CUDA context and all modules of the kernels, in a process of their own: {report['first_use']}", flush=True)
    for name, (program, kinds) in ((n, p) for n, p in PROBLEMS.items() if asked.only in n):
        arguments = arguments_of(name, program, asked)
        runs = {kind: one_run(asked.programs / program, arguments, *kinds[kind], asked.limit) for kind in reversed(kinds)}
        add_times(runs)
        show(name, runs)
        faults += faults_of(name, runs, not asked.no_gpu)
        report["problems"][name] = runs
        asked.output.write_text(json.dumps({**report, "faults": faults}, indent=1))
    print("\n".join(faults) or "all results agree", flush=True)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
