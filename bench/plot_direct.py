#!/usr/bin/env python3
"""Draws the time of a first and of a later solution by factorizations and by multigrid, over the rows of three problems, from the
JSON of the steps direct_gpu and direct_host of gpu_run.py (solve_bench).

    bench/plot_direct.py bench/results/h200-direct{,-gamg,-mumps-16}.json --image docs/img/direct-crossing.svg

First: PCSetUp() and a solve; later: PCSetUp() with new values and a solve. Assembly, and the loading of a library, are not in it.
"""
from figures import draw, fail, load, parser_of, seconds_of, subplots

PROBLEMS = {"stencil5": "scalar, plane", "stencil7": "scalar, space", "tet3_rcm": "elasticity, space"}
SOLVERS = {"lu_cudss": ("LU, cuDSS", "tab:red", "o-"), "cholesky_cudss": ("LDL$^T$, cuDSS", "tab:orange", "s-"),
           "aggdevice_gamg": ("CG with GAMG on the GPU", "tab:blue", "^-"), "lu_mumps": ("LU, MUMPS, 16 processes", "tab:gray", "x--")}
PHASES = {"first solution": ("setup", "first_solve"), "later solution, new values": ("setup_new_values", "solve_new_values")}


def points(files, problem, solver, phases):
    """(rows, milliseconds) of the matrices of a problem whose phases were all measured, by rows"""
    found = []
    for content in files:
        rows = {matrix["name"]: matrix["rows"] for matrix in content["matrices"]}
        for cell in content["cells"]:
            seconds = [seconds_of(cell, phase) for phase in phases]
            if cell["matrix"].startswith(problem + ":") and cell["solver"] == solver and None not in seconds:
                found.append((rows[cell["matrix"]], 1e3 * sum(seconds)))
    return sorted(found)


def figure(files):
    drawing, axes = subplots(len(PHASES), len(PROBLEMS), (10, 5.6), sharex=True, sharey="row")
    for row, (title, phases) in zip(axes, PHASES.items()):
        for axis, (problem, words) in zip(row, PROBLEMS.items()):
            for solver, (label, color, style) in SOLVERS.items():
                found = points(files, problem, solver, phases)
                if found:
                    axis.loglog(*zip(*found), style, color=color, label=label, markersize=4)
            axis.set_title(f"{words}: {title}", fontsize=9)
            axis.grid(alpha=0.3)
            axis.tick_params(axis="x", which="minor", labelbottom=False)
        row[0].set_ylabel("ms")
    for axis in axes[-1]:
        axis.set_xlabel("rows")
    axes[0][0].legend(fontsize=7)
    return drawing


def main():
    arguments = parser_of(__doc__, image="FILE").parse_args()
    files = [load(path, "solve_bench") for path in arguments.results]
    draw(arguments.image or fail("needs --image FILE"), lambda: figure(files), salt="direct")


if __name__ == "__main__":
    main()
