#!/usr/bin/env python3
"""Draws microseconds per iteration of CG with Jacobi over the number of rows: each mode of spmv_cg, the product alone,
KSPCG and KSPCGDEVICE, and two lower bounds.

    bench/plot_cg.py --images docs/img              from bench/results/h200-cg.json and h200-cgdevice-solve.json

The bound by bytes is 8 bytes per nonzero and 13 words per row at the bandwidth of a copy, which the first file has; the bound
by launches is four consecutive kernels.
"""
import argparse
import json
from pathlib import Path

from plot_bench import draw, fail

RESULTS = Path(__file__).resolve().parent / "results"
LAUNCH = 2.5e-6  # seconds between consecutive empty kernels on an H200
WORDS = 13       # words per row and iteration
PANELS = {"scalar, 7-point stencils": "stencil7", "3 unknowns, tetrahedra": "tet3_rcm"}
MODES = {"chunk": ("plain launches", "tab:orange"), "graph": ("CUDA graph", "tab:blue"), "persistent": ("one kernel", "tab:green")}


def load(name):
    try:
        return json.loads((RESULTS / name).read_text())
    except (OSError, ValueError) as error:
        fail(f"{name}: {error}")


def is_of(family, matrix):
    return matrix.split(":")[0] == family


def engine_lines(engine, family):
    """Points (rows, seconds) by name and colour of a line."""
    rows = {m["name"]: m["rows"] for m in engine["matrices"]}
    lines = {}
    for r in engine["records"]:
        double = r.get("product", "double") == "double" and r["format"] in ("rbp", "csr")
        if not is_of(family, r["matrix"]) or not double or r["fault"]:
            continue
        lines.setdefault(MODES[r["mode"]], []).append((rows[r["matrix"]], r["iteration_s"]))
        if r["mode"] == "graph":
            lines.setdefault(("product alone", "tab:gray"), []).append((rows[r["matrix"]], r["product_s"]))
    return lines


def floors(engine, family):
    copy = engine["header"]["copy_bytes_per_s"]
    sizes = sorted((m["rows"], m["nnz"]) for m in engine["matrices"] if is_of(family, m["name"]))
    return [(rows, max(8 * (nonzeros + WORDS * rows) / copy, 4 * LAUNCH)) for rows, nonzeros in sizes]


def solver_points(runs, family, type_):
    points = []
    for run in runs:
        rows = {m["name"]: m["rows"] for m in run["matrices"]}
        for cell in run["cells"]:
            if is_of(family, cell["matrix"]) and cell["type"] == type_:
                solve = next(p for p in cell["phases"] if p["name"] == "solve")
                points.append((rows[cell["matrix"]], min(solve["seconds"]) / solve["iterations"]))
    return points


def plot(axes, points, *style, **more):
    points = sorted(points)
    if points:
        axes.loglog([p[0] for p in points], [1e6 * p[1] for p in points], *style, **more)


def figure():
    import matplotlib.pyplot as plt

    engine, solves = load("h200-cg.json"), load("h200-cgdevice-solve.json")
    drawn, all_axes = plt.subplots(1, len(PANELS), figsize=(9, 4), sharey=True, layout="constrained")
    for axes, (title, family) in zip(all_axes, PANELS.items()):
        plot(axes, solver_points(solves["cg"], family, "aijcusparse"), "^", color="black", label="KSPCG, aijcusparse")
        plot(axes, solver_points(solves["cg"], family, "aijrbp"), "s", color="tab:purple", label="KSPCG, aijrbp")
        plot(axes, solver_points(solves["cgdevice"], family, "aijrbp"), "o", color="tab:red", label="KSPCGDEVICE, aijrbp")
        for (name, colour), points in engine_lines(engine, family).items():
            plot(axes, points, "-", color=colour, label=name)
        plot(axes, floors(engine, family), ":", color="black", label="floor of bytes, launches")
        axes.set_title(title, fontsize=10)
        axes.set_xlabel("rows")
        axes.grid(alpha=0.3)
    all_axes[0].set_ylabel("microseconds for one iteration")
    drawn.legend(*all_axes[0].get_legend_handles_labels(), loc="outside right center", fontsize=7)
    drawn.suptitle(f"CG with Jacobi, {engine['header']['gpu']}", fontsize=10)
    return drawn


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--images", metavar="FOLDER", required=True)
    draw(parser.parse_args().images, lambda: {"cg": figure()})


if __name__ == "__main__":
    main()
