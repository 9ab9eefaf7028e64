#!/usr/bin/env python3
"""Draws whole solves on a GPU from committed files: by PETSc's types and by ours (solves.svg), ten steps with multigrid (setup.svg),
and an iteration of CG with Jacobi (cg.svg).

    bench/plot_solves.py --images docs/img                   the figures; the numbers of solves.svg on standard output
    bench/plot_solves.py --images docs/img setup.json ...    with these files in place of h200-gamg-setup.json for setup.svg

solves: a bar is the median of the repetitions. Behind our bar stands how many times as fast it is as PETSc's.

setup: the first set-up and solve, and nine with new values. The files are those of solve_bench with `-steps 10 -loops coo_device`
and the solvers cg_gamg and aggdevice_gamg. The time to set values by COO on the device, below a millisecond, is left out.

cg: microseconds per iteration over the number of rows: each mode of spmv_cg, the product alone, KSPCG and KSPCGDEVICE, and two
lower bounds: 8 bytes per nonzero and 13 words per row at the bandwidth of a copy, and four consecutive kernels.
"""
import statistics

from figures import RESULTS, draw, fail, known_names, load, parser_of, phase_of, seconds_of, subplots, words_of

RIVAL, OURS = "aijcusparse", "aijrbp"
WORDS = {"tet3_rcm": "elasticity, tetrahedra", "hex3": "elasticity, hexahedra", "stencil7": "7-point stencil",
         "p1_rcm": "diffusion, tetrahedra", "tri_rcm": "diffusion, triangles"}
# setup
BARS = ((RIVAL, "cg_gamg", "cg, agg,\naijcusparse"), (OURS, "cg_gamg", "cg, agg,\naijrbp"),
        (OURS, "aggdevice_gamg", "cgdevice,\naggdevice,\naijrbp"))
LATER = 9  # steps: drawn as 9 times the median, because a slow type may not complete all steps
PHASES = (("first set-up", "tab:gray"), ("first solve", "tab:red"), (f"{LATER} set-ups with new values", "tab:blue"),
          (f"{LATER} solves with new values", "tab:orange"))
# cg
LAUNCH = 2.5e-6  # seconds between consecutive empty kernels on an H200
WORDS_OF_CG = 13       # per row and iteration
PANELS = {"scalar, 7-point stencils": "stencil7", "3 unknowns, tetrahedra": "tet3_rcm"}
MODES = {"chunk": ("plain launches", "tab:orange"), "graph": ("CUDA graph", "tab:blue"), "persistent": ("one kernel", "tab:green")}


def cells(runs, type_, solver):
    """Cells of a type and a solver by (matrix, rows)."""
    return {(c["matrix"], m["rows"]): c for run in runs for c in run["cells"] for m in run["matrices"]
            if m["name"] == c["matrix"] and c["type"] == type_ and c["solver"] == solver}


# ---- whole solves ----


def total(cell, phases):
    """Milliseconds: the sum of the medians of these phases; None if one was not measured."""
    seconds = [seconds_of(cell, name) for name in phases]
    return None if None in seconds else 1e3 * sum(seconds)


def panel(title, rivals, ours, phases=("solve",)):
    """Title, and (matrix, rows, time of the rival or None, our time), small matrices first."""
    rows = [(matrix, size, total(rivals[matrix, size], phases), total(cell, phases))
            for (matrix, size), cell in ours.items() if (matrix, size) in rivals]
    return title, sorted((row for row in rows if row[3]), key=lambda row: row[1])


def panels(of_cg, of_gmres, of_gamg):
    agg, aggdevice = cells(of_gamg, RIVAL, "cg_gamg"), cells(of_gamg, OURS, "aggdevice_gamg")
    return [
        panel("CG + Jacobi, solve", cells(of_cg["cg"], RIVAL, "cg_jacobi"), cells(of_cg["cgdevice"], OURS, "cg_jacobi")),
        panel("GMRES(30) + Jacobi, solve", cells(of_gmres, RIVAL, "gmres30"), cells(of_gmres, OURS, "gmresdevice30")),
        panel("CG + GAMG, solve", agg, aggdevice),
        panel("CG + GAMG, set-up and first solve", agg, aggdevice, ("setup", "first_solve")),
    ]


def label(matrix, rows):
    size = f"{rows / 1e6:.2f} M" if rows >= 1e5 else f"{rows / 1e3:.0f} k"
    return f"{words_of(known_names() | WORDS, matrix)}, {size}"


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


def solves_figure(shown):
    result, all_axes = subplots(2, 2, (10, 6.4))
    from matplotlib.patches import Patch
    for axes, (title, rows) in zip(all_axes.flat, shown):
        draw_panel(axes, title, rows)
    for axes in all_axes[1]:
        axes.set_xlabel("milliseconds (shorter is faster)", fontsize="small")
    result.suptitle("NVIDIA H200, PETSc 3.26.1, double precision, rows beside each matrix", fontsize="medium")
    result.legend(handles=[Patch(color="tab:gray", label="PETSc: aijcusparse, cg or gmres, GAMG of type agg"),
                           Patch(color="tab:red", label="petscpack: aijrbp, cgdevice or gmresdevice, GAMG of type aggdevice")],
                  loc="outside lower center", ncols=2, fontsize="small")
    return result


# ---- ten steps ----


def steps_of(cell):
    """Milliseconds of each phase of the ten steps; None for a cell that failed."""
    loop = next((known for known in cell.get("loops", []) if known["by"] == "coo_device"), None) if cell else None
    if not loop or len(loop["solve"]) < 2:
        return None
    later = [LATER * statistics.median(loop[name][1:]) for name in ("setup", "solve")]
    return [1e3 * seconds for seconds in (loop["setup"][0], loop["solve"][0], *later)]


def setup_figure(files):
    names, header = known_names(), files[-1]["header"]
    sizes = {m["name"]: m["rows"] for content in files for m in content["matrices"]}
    by_name = {(c["matrix"], c["solver"], c["type"]): c for content in files for c in content["cells"]}
    matrices = [m for m in sizes if any(steps_of(by_name.get((m, s, t))) for t, s, _ in BARS)]
    if not matrices:
        fail("no cell with ten steps by coo_device")
    drawn, all_axes = subplots(1, len(matrices), (1 + 1.9 * len(matrices), 4), squeeze=False)
    for axes, matrix in zip(all_axes[0], matrices):
        for place, (kind, solver, _) in enumerate(BARS):
            bottom = 0
            for value, (phase, colour) in zip(steps_of(by_name.get((matrix, solver, kind))) or [], PHASES):
                bar = axes.bar(place, value, bottom=bottom, color=colour, label=phase if place == len(BARS) - 1 else None)
                bottom += value
            axes.bar_label(bar if bottom else axes.bar(place, 0), labels=[f"{bottom:,.0f}" if bottom else "fails"], fontsize=7)
        axes.set_xticks(range(len(BARS)), [text for _, _, text in BARS], fontsize=6)
        axes.set_title(f"{words_of(names, matrix, matrix)},\n{sizes[matrix] / 1e6:.2f} M rows", fontsize=7)
        axes.grid(axis="y", alpha=0.3)
    all_axes[0][0].set_ylabel("milliseconds")
    drawn.legend(*all_axes[0][-1].get_legend_handles_labels(), loc="outside lower center", ncols=len(PHASES), fontsize=7)
    drawn.suptitle(f"GAMG: ten steps, {header['gpu'] or header['machine']}, PETSc {header['petsc']}", fontsize=9)
    return drawn


# ---- an iteration of CG ----


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
    return [(rows, max(8 * (nonzeros + WORDS_OF_CG * rows) / copy, 4 * LAUNCH)) for rows, nonzeros in sizes]


def solver_points(runs, family, type_):
    solves = {rows: phase_of(c, "solve") for (m, rows), c in cells(runs, type_, "cg_jacobi").items() if is_of(family, m)}
    return [(rows, min(solve["seconds"]) / solve["iterations"]) for rows, solve in solves.items()]


def plot(axes, points, *style, **more):
    points = sorted(points)
    if points:
        axes.loglog([p[0] for p in points], [1e6 * p[1] for p in points], *style, **more)


def cg_figure(solves):
    engine = load(RESULTS / "h200-cg.json")
    drawn, all_axes = subplots(1, len(PANELS), (9, 4), sharey=True)
    for axes, (title, family) in zip(all_axes, PANELS.items()):
        plot(axes, solver_points(solves["cg"], family, RIVAL), "^", color="black", label="KSPCG, aijcusparse")
        plot(axes, solver_points(solves["cg"], family, OURS), "s", color="tab:purple", label="KSPCG, aijrbp")
        plot(axes, solver_points(solves["cgdevice"], family, OURS), "o", color="tab:red", label="KSPCGDEVICE, aijrbp")
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
    asked = parser_of(__doc__, "*", images="FOLDER").parse_args()
    solves, gmres, gamg = (load(RESULTS / f"h200-{name}.json") for name in ("cgdevice-solve", "gmres", "gamg-setup"))
    shown = panels(solves, [gmres], [gamg])
    for title, rows in shown:
        for matrix, size, rival, ours in rows:
            print(f"{title}; {matrix}, {size} rows; {rival or float('nan'):.2f} ms, ours {ours:.2f} ms")
    if asked.images:
        steps = [load(path, "solve_bench") for path in asked.results] or [gamg]
        draw(asked.images, lambda: {"solves": solves_figure(shown), "setup": setup_figure(steps), "cg": cg_figure(solves)})


if __name__ == "__main__":
    main()
