#!/usr/bin/env python3
"""Draws the plot of docs/performance.md: speed against the best rival for each class of matrix, one panel for each machine and rival.

    bench/plot_classes.py --images docs/img                           from the committed files below
    bench/plot_classes.py --images docs/img more.json                 with more files, for example of solve_bench on many processes

A dot is a matrix: the time of the fastest rival in the same run over that of the fastest type of petscpack that does not
decline it. The kind of a file decides its panel: spmv_bench compares with cuSPARSE, petsc_bench and solve_bench with the
types of PETSc, on a GPU or on as many processes as the file says, host_bench with aij on one process. Results of several
GPUs are left out, because docs/several-gpus.md has them, and so are matrices of no class, such as the control longrows_even.
"""
from dataclasses import dataclass

from figures import RESULTS, draw, fail, known_names, load, parser_of, seconds_of, subplots, words_of
from fit_model import SAME_FAMILY

COMMITTED = ["h200-spmv.json", "h200-petsc.json", "h200-solve.json", "h200-mpi.json",
             "host-epyc-families.json", "host-epyc-avx512.json", "host-xeon-avx512.json", "host-xeon-16.json"]
# The class of a matrix is the first one whose words are all in the matrix's description in the catalogue
CLASSES = {
    "elasticity,\ntetrahedra": ("elasticity", "tetrahedra"),
    "elasticity,\nhexahedra": ("elasticity", "hexahedra"),
    "diffusion,\ntetrahedra": ("diffusion", "tetrahedra"),
    "edge elements": ("edge elements",),
    "stencils": ("stencil",),
    "circuit": ("circuit",),
    "few very\nlong rows": ("rows of a million",),
    "graph with hubs": ("graph",),
}
COLOURS = {"rbp": "tab:blue", "fold": "tab:orange", "crsv": "tab:green", "codsell": "tab:red", "auto": "tab:purple"}
MARKERS = "osD^"
HOST_CACHE = 2**25  # bytes of the last-level cache of one core; products of smaller matrices read from the cache


@dataclass(frozen=True)
class Dot:
    panel: str
    machine: str
    matrix: str
    type: str
    speed: float


def dot(panel, machine, matrix, rivals, ours):
    """A dot from the times of the rivals and of our types; an empty list if one side has none."""
    if not rivals or not ours:
        return []
    fastest = min(ours, key=ours.get)
    return [Dot(panel, machine, matrix, fastest, min(rivals.values()) / ours[fastest])]


def dots_of_spmv_bench(content):
    """Kernels against those of cuSPARSE. Of a format with several settings the default counts, as in the tables."""
    header, kinds = content["header"], {"rbp": "rbp", "fold": "fold", "crsv": "crsv", "codsell": "codsell"}
    found = []
    for matrix in content["matrices"]:
        records = [r for r in content["records"] if r["matrix"] == matrix["name"] and r.get("ok")]
        rivals = {r["kernel"]: r["us"] for r in records if not r["own"]}
        ours = {kinds[r["kernel"]]: r["us"] for r in records if r["kernel"] in kinds and r["accepted"]}
        found += dot("one GPU,\nagainst all of cuSPARSE", header["gpu"], matrix["name"], rivals, ours)
    return found


def split(times):
    """Splits times by type into those of our formats and those of rivals."""
    ours = {t.removeprefix("aij"): s for t, s in times.items() if t.removeprefix("aij") in COLOURS}
    return {t: s for t, s in times.items() if t.removeprefix("aij") not in ours}, ours


def panel_of(gpu, ranks):
    where = "one GPU" if gpu else f"host, {ranks} process{'es' if ranks > 1 else ''}"
    return f"{where},\nagainst the types of PETSc"


def dots_of_petsc_bench(content):
    found = []
    for run in content["runs"]:
        if run["ranks"] == 1:
            times = {r["type"]: r["us"] for r in run["records"] if r["ok"]}
            found += dot(panel_of(True, 1), content["header"]["gpu"], run["matrix"], *split(times))
    return found


def dots_of_solve_bench(content):
    header, found = content["header"], []
    if header["gpu"] and header["ranks"] > 1:
        return []
    for matrix in content["matrices"]:
        times = {c["type"]: seconds for c in content["cells"] if c["matrix"] == matrix["name"] and c["solver"] == "products"
                 if (seconds := seconds_of(c, "product"))}
        found += dot(panel_of(header["gpu"], header["ranks"]), header["gpu"] or header["machine"], matrix["name"], *split(times))
    return found


def dots_of_host_bench(content):
    found, cache = [], content.get("machine", {}).get("cache_bytes", HOST_CACHE)
    for result in content["results"]:
        if result["csr_bytes"] <= cache:
            continue
        rivals = {k["name"]: k["min_ms"] for k in result["kernels"] if not k["own"]}
        ours = {k["name"]: k["min_ms"] for k in result["kernels"] if k["name"] in COLOURS and k["accepted"]}
        found += dot(panel_of(None, 1), content["cpu"], result["matrix"], rivals, ours)
    return found


def dots_of(path):
    content = load(path)
    if content.get("program") == "host_bench":
        return dots_of_host_bench(content)
    if "setups" in content:
        return [d for setup in content["setups"] for d in dots_of_solve_bench(setup["results"])]
    if "cells" in content:
        return dots_of_solve_bench(content)
    if "runs" in content:
        return dots_of_petsc_bench(content)
    if "cusparse" in content.get("header", {}) and "records" in content:
        return dots_of_spmv_bench(content)
    return fail(f"{path}: not a file of spmv_bench, petsc_bench, solve_bench or host_bench")


def class_of(matrix, names):
    words = words_of(names, SAME_FAMILY.get(matrix, matrix))
    return next((c for c, wanted in CLASSES.items() if all(w in words for w in wanted)), None)


def figure_of(dots):
    names, rows = known_names(), list(CLASSES)
    panels = sorted({d.panel for d in dots}, key=lambda p: ("host" in p, "PETSc" in p, len(p), p))
    figure, all_axes = subplots(1, len(panels), (3.4 * len(panels) + 1, 4.6), sharey=True, squeeze=False)
    for axes, panel in zip(all_axes[0], panels):
        here = [d for d in dots if d.panel == panel]
        machines = sorted({d.machine for d in here})
        for row, name in enumerate(rows):
            group = sorted((d for d in here if class_of(d.matrix, names) == name), key=lambda d: d.speed)
            for i, d in enumerate(group):  # side by side, so that equal dots are visible
                axes.scatter(d.speed, row + 0.5 * (i - (len(group) - 1) / 2) / max(len(group), 3), s=30, alpha=0.9,
                             color=COLOURS[d.type], marker=MARKERS[machines.index(d.machine)])
        axes.axvline(1, color="black", linewidth=1)
        axes.set_xlim(left=0, right=max(2.2, 1.08 * max(d.speed for d in here)))
        axes.set_title(panel, fontsize="medium")
        axes.set_xlabel("speed (1: the best rival)\n" + "\n".join(
            f"{'●■◆▲'[i]} {m}" for i, m in enumerate(machines)), fontsize="small")
        axes.grid(alpha=0.3)
        axes.set_yticks(range(len(rows)), rows, fontsize="small")
        axes.set_ylim(len(rows) - 0.5, -0.5)
    from matplotlib.lines import Line2D
    shown = [t for t in COLOURS if any(d.type == t for d in dots)]
    figure.legend(handles=[Line2D([], [], marker="o", linestyle="", color=COLOURS[t], label=f"aij{t}") for t in shown],
                  loc="outside upper center", ncols=len(shown), fontsize="small", title="fastest type", title_fontsize="small")
    return figure


def main():
    arguments = parser_of(__doc__, "*", images="FOLDER").parse_args()
    names = known_names()
    dots = [d for path in [RESULTS / name for name in COMMITTED] + arguments.results for d in dots_of(path) if class_of(d.matrix, names)]
    for d in sorted(dots, key=lambda d: (d.panel, class_of(d.matrix, names), d.speed)):
        print(f"{d.panel.replace(chr(10), ' ')}; {class_of(d.matrix, names).replace(chr(10), ' ')}; {d.matrix}; aij{d.type} {d.speed:.2f}; {d.machine}")
    if arguments.images:
        draw(arguments.images, lambda: {"classes": figure_of(dots)})


if __name__ == "__main__":
    main()
