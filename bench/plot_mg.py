#!/usr/bin/env python3
"""Makes tables and bars of CG with multigrid from the JSON of the step mg of gpu_run.py (solve_bench).

    bench/plot_mg.py mg.json [more.json ...] --images docs/img          microseconds per iteration and a lower bound, as SVG
    bench/plot_mg.py mg.json [launches.json]                            tables as Markdown, on standard output

The files may include those of solve_launches.py. The time of an iteration is the median time of the later solves divided by
their iterations.

The lower bound is the time to move the bytes that an iteration needs, at the bandwidth of a copy. On each level except the
coarsest: 8 bytes per nonzero for each product, of which there are two per step of the smoother (one before and one after the
coarse correction; this includes the residual, and the first step from zero needs none), 8 bytes per nonzero for the
interpolation and for its transpose, and 12.5 words per row for each step of the smoother. CG adds one product and 13 words per
row on the finest level. The bandwidth is --bandwidth, by default that in bench/results/h200-cg.json if the GPU is the same.
"""
import sys

from figures import HERE, RESULTS, draw, fail, known_names, load, markdown, milliseconds, number, parser_of, phase_of, program_of, seconds_of, subplots, words_of

sys.path.insert(0, str(HERE / "solve"))
from solve_table import Results, peak_bytes, seconds_per_iteration  # noqa: E402

WORD = 8                    # bytes; also of a value of a packed matrix with its share of an index
WORDS_STEP, WORDS_CG = 12.5, 13
REFERENCES = ("aijcusparse", "aij")
BARS = {"tab:gray": (REFERENCES, "cg_gamg"), "tab:purple": (("aijrbp",), "cg_gamg"), "tab:red": (("aijrbp",), "cgdevice_gamg")}


def floor_bytes(levels):
    """The least bytes that an iteration moves; levels from the finest on."""
    total = WORD * (levels[0]["nonzeros"] + WORDS_CG * levels[0]["rows"])
    for level in levels[:-1]:
        total += WORD * (2 * level["steps"] * level["nonzeros"] + 2 * level["interpolation"])
        total += WORD * WORDS_STEP * level["steps"] * level["rows"]
    return total


def bandwidth_of(gpu):
    known = load(RESULTS / "h200-cg.json")["header"]
    return known["copy_bytes_per_s"] if known["gpu"] == gpu else None


class Multigrid:
    """The cells with multigrid in files of solve_bench, and the launches in files of solve_launches.py."""

    def __init__(self, paths, bandwidth):
        self.launches, solves = {}, []
        for path in paths:
            content = load(path)
            if program_of(content) == "solve_launches":
                self.launches.update(((r["matrix"], r["type"], r["solver"]), r) for r in content["runs"] if "error" not in r)
            else:
                solves.append(path)
        self.results = Results(solves)
        self.header = self.results.header or fail("no file of solve_bench")
        self.bandwidth = bandwidth or bandwidth_of(self.header["gpu"])
        self.names = known_names()
        wanted = [key for key in self.results.cells if key[1].endswith("gamg")]
        self.matrices = list(dict.fromkeys(key[0] for key in wanted))
        if not wanted:
            fail("no cell with multigrid")

    def cells(self, matrix):
        """The cells of a matrix by type and solver, the reference first."""
        found = {(t, s): c for (m, s, t), c in self.results.cells.items() if m == matrix and s.endswith("gamg")}
        return dict(sorted(found.items(), key=lambda item: item[0][0] not in REFERENCES))

    def reference(self, matrix):
        times = (seconds_per_iteration(self.results.cells.get((matrix, "cg_gamg", t))) for t in REFERENCES)
        return next((t for t in times if t), None)

    def floor(self, matrix):
        """The lower bound of an iteration in seconds, preferably by the levels of our own type."""
        cells = sorted((c for c in self.cells(matrix).values() if c.get("levels")), key=lambda c: c["type"] != "aijrbp")
        return floor_bytes(cells[0]["levels"]) / self.bandwidth if cells and self.bandwidth else None

    def title(self, matrix):
        return f"{words_of(self.names, matrix, matrix)}, {self.results.matrices[matrix]['rows'] / 1e6:.2f} M rows"


def microseconds(seconds):
    return number(seconds and 1e6 * seconds, form="{:,.0f}")


def row_of(name, cell, reference, floor, launches):
    solve, iteration = phase_of(cell, "solve"), seconds_per_iteration(cell)
    first, later = seconds_of(cell, "first_solve"), seconds_of(cell, "solve")
    residuals = [p["residual"] for p in cell["phases"] if p.get("residual") is not None]
    counters, memory = cell.get("cgdevice"), peak_bytes(cell)
    return [f"`{name[0]}`, {name[1]}", milliseconds(seconds_of(cell, "assembly")), milliseconds(seconds_of(cell, "setup")), milliseconds(first),
            milliseconds(min(solve["seconds"]) if later else None), milliseconds(later), str(solve["iterations"]) if later else "–",
            microseconds(iteration), f"{reference / iteration:.2f}" if reference and iteration else "–",
            f"{iteration / floor:.1f}" if floor and iteration else "–",
            milliseconds(seconds_of(cell, "setup_new_values_again")), milliseconds(seconds_of(cell, "solve_new_values_again")),
            f"{memory / 1e6:,.0f}" if memory is not None else "–", f"{max(residuals):.1e}" if residuals else "–",
            f"{launches['kernels'] / launches['iterations']:.0f}" if launches else "–",
            microseconds(launches["seconds"] / launches["iterations"]) if launches else "–",
            f"{counters['solves_device']:.0f} of {counters['solves_device'] + counters['solves_host']:.0f}" if counters else "–"]


HEAD = ["", "assembly", "set-up, cold", "first solve", "later, least", "later, median", "iterations", "us an iteration",
        "times as fast", "of the floor", "set-up again", "solve after it", "device MB", "residual, most", "kernels an iteration",
        "us of kernels", "solves on the device"]


def tables(mg):
    h = mg.header
    speed = f"floor at {mg.bandwidth / 1e9:,.0f} GB/s" if mg.bandwidth else "no floor: --bandwidth is not known"
    facts = [h["gpu"] or h["machine"], f"PETSc {h['petsc']}", f"{h['ranks']} process(es)", f"rtol {h['rtol']:g}", speed]
    lines = ["# CG with multigrid", "", ", ".join(facts) + ". Times without a unit are milliseconds."]
    for matrix in mg.matrices:
        cells, floor = mg.cells(matrix), mg.floor(matrix)
        lines += ["", f"## `{matrix}`: {mg.title(matrix)}", ""]
        levels = next((c["levels"] for c in cells.values() if c.get("levels")), [])
        lines += ["Levels, rows (nonzeros): " + ", ".join(f"{v['rows']:,} ({v['nonzeros']:,})" for v in levels)
                  + f". Floor: {microseconds(floor)} us an iteration.", ""]
        lines += markdown(HEAD, [row_of(name, cell, mg.reference(matrix), floor, mg.launches.get((matrix, *name)))
                                 for name, cell in cells.items()])
        said = [f"- {', '.join(name)}: {cell.get('error') or cell.get('wrong') or cell['cgdevice']['reason']}"
                for name, cell in cells.items()
                if cell.get("error") or cell.get("wrong") or cell.get("cgdevice", {}).get("reason")]
        lines += [""] + said if said else []
    return "\n".join(lines) + "\n"


def bars_of(mg, matrix):
    """Label, colour and seconds of an iteration; None for a cell that failed."""
    bars = []
    for colour, (types, solver) in BARS.items():
        name = next((t for t in types if (matrix, solver, t) in mg.results.cells), None)
        if name:
            label = f"{solver.removesuffix('_gamg')}, {name}"
            bars.append((label, colour, seconds_per_iteration(mg.results.cells[matrix, solver, name])))
    floor = mg.floor(matrix)
    return bars + ([("floor", "black", floor)] if floor else [])


def figure(mg):
    drawn, all_axes = subplots(1, len(mg.matrices), (1 + 2.6 * len(mg.matrices), 4), squeeze=False)
    for axes, matrix in zip(all_axes[0], mg.matrices):
        bars = bars_of(mg, matrix)
        for place, (label, colour, seconds) in enumerate(bars):
            drawn_bar = axes.bar(place, 1e6 * (seconds or 0), color=colour, alpha=0.4 if label == "floor" else 1)
            axes.bar_label(drawn_bar, labels=[microseconds(seconds)], fontsize=7)
        times = [s for _, _, s in bars if s]
        if times and max(times) > 30 * min(times):
            axes.set_yscale("log")
        axes.set_xticks(range(len(bars)), [label for label, _, _ in bars], rotation=30, ha="right", fontsize=7)
        axes.set_title(mg.title(matrix).replace(", ", ",\n"), fontsize=8)
        axes.grid(axis="y", alpha=0.3)
    all_axes[0][0].set_ylabel("microseconds for one iteration")
    drawn.suptitle(f"CG with GAMG, {mg.header['gpu'] or mg.header['machine']}, PETSc {mg.header['petsc']}", fontsize=9)
    return drawn


def main():
    parser = parser_of(__doc__, images="FOLDER")
    parser.add_argument("--bandwidth", type=float, metavar="BYTES/S")
    arguments = parser.parse_args()
    mg = Multigrid(arguments.results, arguments.bandwidth)
    if arguments.images:
        draw(arguments.images, lambda: {"mg": figure(mg)})
    else:
        print(tables(mg), end="")


if __name__ == "__main__":
    main()
