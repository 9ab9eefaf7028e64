#!/usr/bin/env python3
"""Counts the kernels of one warm solve and adds their times, by Nsight Compute.

    solve_launches.py launches.json [--matrices tri_rcm:853,tet3_rcm:69] [--cells aijrbp/cgdevice_gamg,...] [--limit seconds]

Runs solve_bench -profile_solve under ncu, once for each matrix and cell (type/solver). solve_bench must be in PATH, ncu in PATH
or in the folders of CUDA. Kernels within a CUDA graph are counted singly. The profiler runs kernels one by one, so the sum of
their times excludes the gaps. Exit status 1: a run failed. 77: ncu was not found.
"""
import argparse
import csv
import json
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

MATRICES = "tri_rcm:853,tet3_rcm:69,p1_rcm:114"
CELLS = "aijcusparse/cg_gamg,aijrbp/cg_gamg,aijrbp/cgdevice_gamg"
TIME = "gpu__time_duration.sum"
SECONDS = {"ns": 1e-9, "nsecond": 1e-9, "us": 1e-6, "usecond": 1e-6, "ms": 1e-3, "msecond": 1e-3, "s": 1.0, "second": 1.0}


def find_ncu():
    found = shutil.which("ncu")
    folders = [Path("/usr/local/cuda/bin"), *sorted(Path("/opt/nvidia/nsight-compute").glob("*"), reverse=True)]
    return found or next((str(f / "ncu") for f in folders if (f / "ncu").exists()), None)


def kernels_of(text):
    """Name and seconds of each kernel, from ncu's CSV, which follows other lines."""
    lines = text.splitlines()
    begin = next((i for i, line in enumerate(lines) if line.startswith('"ID"')), len(lines))
    return [(row["Kernel Name"], float(row["Metric Value"].replace(",", "")) * SECONDS[row["Metric Unit"]])
            for row in csv.DictReader(lines[begin:]) if row.get("Metric Name") == TIME]


def one_run(ncu, matrix, cell, limit, folder):
    matrix_type, solver = cell.split("/")
    """The results of the run, and the header of solve_bench, which describes the machine."""
    run, results, log = {"matrix": matrix, "type": matrix_type, "solver": solver}, folder / "solve.json", folder / "ncu.csv"
    results.unlink(missing_ok=True)
    command = [ncu, "--profile-from-start", "off", "--metrics", TIME, "--csv", "--print-units", "base", "--clock-control", "none",
               "--cache-control", "none", "--log-file", str(log), "solve_bench", "-matrix", matrix, "-types", matrix_type, "-solvers",
               solver, "-steps", "0", "-repeat", "1", "-changes", "0", "-profile_solve", "-json", str(results), "-use_gpu_aware_mpi", "0",
               "-options_left", "no"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=limit, check=False)
        said = json.loads(results.read_text())
        phases = said["cells"][0]["phases"]
        solve = next(p for p in phases if p["name"] == "profiled_solve")
        kernels = kernels_of(log.read_text())
    except subprocess.TimeoutExpired:
        return run | {"error": f"cut after {limit} s"}, {}
    except (OSError, ValueError, KeyError, IndexError, StopIteration) as error:
        return run | {"error": f"{type(error).__name__}: {error}; {done.stdout[-300:]} {done.stderr[-300:]}"}, {}
    if done.returncode or not kernels or not solve.get("iterations"):
        return run | {"error": f"exit status {done.returncode}, {len(kernels)} kernels: {done.stdout[-300:]} {done.stderr[-300:]}"}, {}
    names = Counter(name.replace("(anonymous namespace)::", "").removeprefix("void ").split("(")[0].split("<")[0] for name, _ in kernels)
    of_solve = {"iterations": solve["iterations"], "kernels": len(kernels), "seconds": sum(s for _, s in kernels), "names": names}
    return run | of_solve, said["header"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("output", type=Path)
    parser.add_argument("--matrices", default=MATRICES)
    parser.add_argument("--cells", default=CELLS)
    parser.add_argument("--limit", type=float, default=120)
    parser.add_argument("--commit", default="")
    asked = parser.parse_args()
    ncu, runs, failed, header = find_ncu(), [], 0, {}
    if not ncu:
        print("Nsight Compute (ncu) is not on this machine")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        for matrix in asked.matrices.split(","):
            for cell in asked.cells.split(","):
                run, machine = one_run(ncu, matrix, cell, asked.limit, Path(folder))
                failed += "error" in run
                print(f"{matrix} {cell}: " + (run.get("error") or f"{run['kernels']} kernels, {run['iterations']} iterations, "
                      f"{run['kernels'] / run['iterations']:.1f} and {1e6 * run['seconds'] / run['iterations']:.0f} us each"), flush=True)
                runs.append(run)
                known = {key: machine[key] for key in ("date", "machine", "gpu", "driver", "cuda", "petsc") if key in machine}
                header = known | header | {"program": "solve_launches", "commit": asked.commit}
                asked.output.write_text(json.dumps({"schema": 1, "header": header, "runs": runs}, indent=1) + "\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
