#!/usr/bin/env python3
"""Draws the README's plot: whole solves on a GPU by PETSc's types and by ours, as milliseconds, one panel for each solver.

    bench/plot_solves.py --images docs/img              from bench/results/h200-cgdevice-solve.json, h200-gmres.json and
                                                        h200-gamg-setup.json

A bar is the median of the repetitions in a file. Behind our bar stands how many times as fast it is as PETSc's. What a matrix
is, is said in the words of the catalogue (tests/cases/families.def).
"""
import argparse
import statistics
from pathlib import Path

from plot_bench import draw, fail, known_names, read_results

RESULTS = Path(__file__).resolve().parent / "results"
RIVAL, OURS = "aijcusparse", "aijrbp"
WORDS = {"tet3_rcm": "elasticity, tetrahedra", "hex3": "elasticity, hexahedra", "stencil7": "7-point stencil",
         "p1_rcm": "diffusion, tetrahedra", "tri_rcm": "diffusion, triangles"}


def runs_of(name, key=None):
    content = read_results(RESULTS / f"{name}.json")
    return content[key] if key else [content]


def cells(runs, type_, solver):
    """Cells of a type and a solver by (matrix, rows)."""
    return {(c["matrix"], m["rows"]): c for run in runs for c in run["cells"] for m in run["matrices"]
            if m["name"] == c["matrix"] and c["type"] == type_ and c["solver"] == solver}


def milliseconds(cell, phases):
    """The sum of the medians of these phases; None if one was not measured."""
    seconds = {p["name"]: p["seconds"] for p in cell.get("phases", []) if p["seconds"]}
    return 1e3 * sum(statistics.median(seconds[name]) for name in phases) if all(name in seconds for name in phases) else None


def panel(title, rivals, ours, phases=("solve",)):
    """Title, and (matrix, rows, time of the rival or None, our time), small matrices first."""
    rows = [(matrix, size, milliseconds(rivals[matrix, size], phases), milliseconds(cell, phases))
            for (matrix, size), cell in ours.items() if (matrix, size) in rivals]
    return title, sorted((row for row in rows if row[3]), key=lambda row: row[1])


def panels():
    cg, gmres, gamg = (("h200-cgdevice-solve", "cg"), ("h200-cgdevice-solve", "cgdevice")), "h200-gmres", "h200-gamg-setup"
    agg, aggdevice = cells(runs_of(gamg), RIVAL, "cg_gamg"), cells(runs_of(gamg), OURS, "aggdevice_gamg")
    return [
        panel("CG + Jacobi, solve", *(cells(runs_of(*file), type_, "cg_jacobi") for file, type_ in zip(cg, (RIVAL, OURS)))),
        panel("GMRES(30) + Jacobi, solve", cells(runs_of(gmres), RIVAL, "gmres30"), cells(runs_of(gmres), OURS, "gmresdevice30")),
        panel("CG + GAMG, solve", agg, aggdevice),
        panel("CG + GAMG, set-up and first solve", agg, aggdevice, ("setup", "first_solve")),
    ]


def label(matrix, rows):
    family = matrix.split(":")[0]
    size = f"{rows / 1e6:.2f} M" if rows >= 1e5 else f"{rows / 1e3:.0f} k"
    return f"{WORDS.get(family) or known_names().get(family) or fail(f'{matrix}: no family of the catalogue')}, {size}"


def draw_panel(axes, title, rows):
    for place, (_, _, rival, ours) in enumerate(rows):
        if rival:
            axes.barh(place - 0.2, rival, height=0.38, color="tab:gray")
        axes.barh(place + 0.2, ours, height=0.38, color="tab:red")
        axes.text(ours * 1.1, place + 0.2, f"{ours:.3g} ms" + (f": {rival / ours:.1f}x" if rival else "; PETSc's set-up fails"),
                  va="center", fontsize="x-small")
        if rival:
            axes.text(rival * 1.1, place - 0.2, f"{rival:.3g}" if rival < 1000 else f"{rival:,.0f}", va="center", fontsize="x-small")
    axes.set_xscale("log")
    axes.set_xlim(left=0.5, right=6 * max(r or o for _, _, r, o in rows))
    axes.set_yticks(range(len(rows)), [label(m, n) for m, n, _, _ in rows], fontsize="small")
    axes.invert_yaxis()
    axes.set_title(title, fontsize="medium")
    axes.grid(axis="x", alpha=0.3)


def figure():
    from matplotlib import patches, pyplot

    shown = panels()
    result, all_axes = pyplot.subplots(2, 2, figsize=(10, 6.4), layout="constrained")
    for axes, (title, rows) in zip(all_axes.flat, shown):
        draw_panel(axes, title, rows)
    for axes in all_axes[1]:
        axes.set_xlabel("milliseconds (shorter is faster)", fontsize="small")
    result.suptitle("NVIDIA H200, PETSc 3.26.1, double precision, rows beside each matrix", fontsize="medium")
    result.legend(handles=[patches.Patch(color="tab:gray", label="PETSc: aijcusparse, cg or gmres, GAMG of type agg"),
                           patches.Patch(color="tab:red", label="petscpack: aijrbp, cgdevice or gmresdevice, GAMG of type aggdevice")],
                  loc="outside lower center", ncols=2, fontsize="small")
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--images", metavar="FOLDER", required=True)
    arguments = parser.parse_args()
    for title, rows in panels():
        for matrix, size, rival, ours in rows:
            print(f"{title}; {matrix}, {size} rows; {rival or float('nan'):.2f} ms, ours {ours:.2f} ms")
    draw(arguments.images, lambda: {"solves": figure()})


if __name__ == "__main__":
    main()
