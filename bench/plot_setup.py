#!/usr/bin/env python3
"""Draws the time of ten steps with multigrid as stacked bars: the first set-up and solve, and nine with new values.

    bench/plot_setup.py setup.json [more.json ...] --images docs/img          docs/img/setup.svg

The results are those of solve_bench with `-steps 10 -loops coo_device` and the solvers cg_gamg and aggdevice_gamg. The time to
set values by COO on the device, below a millisecond, is left out.
"""
import argparse
import statistics
import sys
from pathlib import Path

from plot_bench import draw, fail, known_names

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "solve"))
from solve_table import Results  # noqa: E402

BARS = (("aijcusparse", "cg_gamg", "cg, agg,\naijcusparse"), ("aijrbp", "cg_gamg", "cg, agg,\naijrbp"),
        ("aijrbp", "aggdevice_gamg", "cgdevice,\naggdevice,\naijrbp"))
LATER = 9  # steps: drawn as 9 times the median, because a slow type may not complete all steps
PHASES = (("first set-up", "tab:gray"), ("first solve", "tab:red"), (f"{LATER} set-ups with new values", "tab:blue"),
          (f"{LATER} solves with new values", "tab:orange"))


def phases_of(cell):
    """Milliseconds of each phase; None for a cell that failed."""
    loop = next((known for known in cell.get("loops", []) if known["by"] == "coo_device"), None) if cell else None
    if not loop or len(loop["solve"]) < 2:
        return None
    later = [LATER * statistics.median(loop[name][1:]) for name in ("setup", "solve")]
    return [1e3 * seconds for seconds in (loop["setup"][0], loop["solve"][0], *later)]


def title_of(results, names, matrix):
    words = names.get(matrix) or names.get(matrix.split(":")[0]) or matrix
    return f"{words},\n{results.matrices[matrix]['rows'] / 1e6:.2f} M rows"


def figure(results):
    import matplotlib.pyplot as plt

    names = known_names()
    matrices = [m for m in results.matrices if any(phases_of(results.cells.get((m, s, t))) for t, s, _ in BARS)]
    if not matrices:
        fail("no cell with ten steps by coo_device")
    drawn, all_axes = plt.subplots(1, len(matrices), figsize=(1 + 1.9 * len(matrices), 4), squeeze=False, layout="constrained")
    for axes, matrix in zip(all_axes[0], matrices):
        for place, (kind, solver, _) in enumerate(BARS):
            bottom = 0
            for value, (phase, colour) in zip(phases_of(results.cells.get((matrix, solver, kind))) or [], PHASES):
                bar = axes.bar(place, value, bottom=bottom, color=colour, label=phase if place == len(BARS) - 1 else None)
                bottom += value
            axes.bar_label(bar if bottom else axes.bar(place, 0), labels=[f"{bottom:,.0f}" if bottom else "fails"], fontsize=7)
        axes.set_xticks(range(len(BARS)), [label for _, _, label in BARS], fontsize=6)
        axes.set_title(title_of(results, names, matrix), fontsize=7)
        axes.grid(axis="y", alpha=0.3)
    all_axes[0][0].set_ylabel("milliseconds")
    drawn.legend(*all_axes[0][-1].get_legend_handles_labels(), loc="outside lower center", ncols=len(PHASES), fontsize=7)
    header = results.header
    drawn.suptitle(f"GAMG: ten steps, {header['gpu'] or header['machine']}, PETSc {header['petsc']}", fontsize=9)
    return drawn


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", nargs="+")
    parser.add_argument("--images", metavar="FOLDER", required=True)
    arguments = parser.parse_args()
    results = Results(arguments.results)
    draw(arguments.images, lambda: {"setup": figure(results)})


if __name__ == "__main__":
    main()
