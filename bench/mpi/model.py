#!/usr/bin/env python3
"""Calculates the time of an iteration on 2, 4, 8 and 64 GPUs from what was measured on one and on two.

    bench/mpi/model.py bench/results/h200-two-gpus.json                                   tables as Markdown, on standard output
    bench/mpi/model.py bench/results/h200-two-gpus.json --json model.json                 the numbers
    bench/mpi/model.py bench/results/h200-two-gpus.json --document docs/several-gpus.md   between the marks model:begin and model:end

The measurements are those of mpi_table.py, with the titles "1 GPU" and "2 GPUs": CG with Jacobi, and with GAMG at PETSc's
defaults, whose levels they have. Latencies, bandwidths and layouts of the GPUs are in model.json beside this program, each with
its source.

A problem is a cube of nodes, cut into boxes; the numbers are those of the box with most neighbours. With m rows for each GPU,
g ghost values and T1 the time on one GPU, an iteration of CG takes

    T1(m) + 2 sum(p) + c + b g + wait(p, g),   wait(p, g) = max(0, exchange(p, g) - product(m))

where c and b are fitted to the measurements on two GPUs. A cycle of GAMG has six exchanges on each level that is distributed:
each costs d + b g + wait() with the ghost values and the product of its level, where d is fitted to GAMG on two GPUs.
"""
import math
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from figures import fail, load, markdown, parser_of, phase_of, put_between_marks, save, seconds_of  # noqa: E402

MARKS = {"computing": "", "sums": " *s*", "exchange": " *e*"}
EXCHANGES_OF_A_LEVEL = 6  # 2 pre-smoothing steps less the one from zero, 2 post-smoothing, residual, restriction, interpolation


def line_through(xs, ys, weights=None):
    """Returns (y at 0, slope) of the weighted least-squares line."""
    weights = weights or [1.0] * len(xs)
    total = sum(weights)
    x0 = sum(w * x for w, x in zip(weights, xs)) / total
    y0 = sum(w * y for w, y in zip(weights, ys)) / total
    slope = (sum(w * (x - x0) * (y - y0) for w, x, y in zip(weights, xs, ys)) /
             sum(w * (x - x0) ** 2 for w, x in zip(weights, xs)))
    return y0 - slope * x0, slope


def between(points, x):
    """Interpolates linearly between measured points, and extrapolates beyond the first and the last."""
    points = sorted(points)
    i = min(max(sum(p[0] <= x for p in points), 1), len(points) - 1)
    (x0, y0), (x1, y1) = points[i - 1], points[i]
    return y0 + (y1 - y0) * (x - x0) / (x1 - x0)


class Layout:
    """A cube cut into boxes, one per GPU, and into blocks of boxes, one per host."""

    def __init__(self, grid, hosts=(1, 1, 1)):
        self.grid, self.gpus, self.hosts = grid, math.prod(grid), math.prod(hosts)
        inside = [g // h for g, h in zip(grid, hosts)]
        self.faces = [min(g - 1, 2) for g in grid]  # neighbours per dimension of the box with most neighbours
        self.crossing = [f - min(i - 1, f) if h > 1 else 0 for f, h, i in zip(self.faces, hosts, inside)]

    def ghosts(self, rows, unknowns, faces=None):
        side = (rows / unknowns) ** (1 / 3)
        return unknowns * sum(f * side * side * g / self.gpus for f, g in zip(faces or self.faces, self.grid))


class Model:
    """The model. All times are in microseconds."""

    def __init__(self, inputs):
        self.inputs = inputs
        exchange = inputs["exchange"]
        self.alpha, self.beta = line_through(exchange["bytes"], exchange["us"])
        self.fixed = self.by_ghost = self.fixed_in_cycle = 0.0

    def sum_of(self, layout):
        """The time of a sum: measured on two GPUs; for more GPUs, NCCL's model gives the difference."""
        nccl, local = self.inputs["nccl"], layout.gpus // layout.hosts
        step = nccl["nvlink_step_us"] * (nccl["nvlink_between_hosts_factor"] if layout.hosts > 1 else 1)
        estimate = 2 * ((local - 1) * step + math.log2(layout.hosts) * nccl["network_step_us"])
        return self.inputs["sum"]["us"] + estimate - 2 * nccl["nvlink_step_us"]

    def exchange(self, layout, rows, unknowns):
        nccl, crossing = self.inputs["nccl"], layout.ghosts(rows, unknowns, layout.crossing)
        time = self.alpha + self.beta * 8 * (layout.ghosts(rows, unknowns) - crossing)
        if crossing:
            network = self.alpha + nccl["network_send_us"] - nccl["nvlink_send_us"]
            time = max(time, network + 8 * crossing / (1e3 * self.inputs["network"]["gigabytes_per_second"]))
        return time * self.inputs["beside_product"]["factor"]

    def product(self, problem, rows):
        """The time of the product with the diagonal block, for `rows` rows per GPU."""
        return self.inputs["product_share"]["fraction"] * between(problem["cg"], rows)

    def wait(self, layout, problem, rows, product):
        return max(0.0, self.exchange(layout, rows, problem["unknowns"]) - product)

    def parts(self, layout, problem, rows, pc):
        """The time of an iteration on several GPUs: {"computing", "sums", "exchange"}."""
        ghosts = layout.ghosts(rows, problem["unknowns"])
        product = self.product(problem, rows / layout.gpus)
        exchange = self.fixed + self.by_ghost * ghosts + self.wait(layout, problem, rows, product)
        if pc == "gamg":
            exchange += self.exchanges_of_levels(layout, problem, rows, product)
        return {"computing": between(problem[pc], rows / layout.gpus), "sums": 2 * self.sum_of(layout), "exchange": exchange}

    def distributed(self, problem, rows):
        """The levels that are not gathered on one GPU, as parts of the rows and of the nonzeros."""
        return [level for level in problem["levels"] if level[0] * rows >= self.inputs["gathered_below"]["rows"]]

    def exchanges_of_levels(self, layout, problem, rows, product):
        one = (self.fixed_in_cycle + self.by_ghost * layout.ghosts(of_rows * rows, problem["unknowns"]) +
               self.wait(layout, problem, of_rows * rows, of_nonzeros * product)
               for of_rows, of_nonzeros in self.distributed(problem, rows))
        return EXCHANGES_OF_A_LEVEL * sum(one)

    def time(self, layout, problem, rows, pc):
        return sum(self.parts(layout, problem, rows, pc).values())

    def fit(self, measured):
        """Fits c and b to CG on two GPUs: least squares of relative errors. measured: (problem, rows, time)."""
        two = Layout((2, 1, 1))
        ghosts, left, weights = [], [], []
        for problem, rows, time in measured:
            ghosts.append(two.ghosts(rows, problem["unknowns"]))
            known = between(problem["cg"], rows / 2) + 2 * self.sum_of(two)
            left.append(time - known - self.wait(two, problem, rows, self.product(problem, rows / 2)))
            weights.append(time ** -2)
        self.fixed, self.by_ghost = line_through(ghosts, left, weights)

    def fit_cycle(self, measured):
        """Fits d to GAMG on two GPUs likewise, after fit()."""
        two, squares, products, self.fixed_in_cycle = Layout((2, 1, 1)), 0.0, 0.0, 0.0
        for problem, rows, time in measured:
            exchanges = EXCHANGES_OF_A_LEVEL * len(self.distributed(problem, rows))
            squares += (exchanges / time) ** 2
            products += exchanges * (time - self.time(two, problem, rows, "gamg")) / time ** 2
        self.fixed_in_cycle = products / squares


def cells_of(content, title, solver):
    """Reads {matrix: (rows, us per iteration of aijrbp, levels)} from results of mpi_table.py."""
    found = {}
    for results in (s["results"] for s in content["setups"] if s["title"] == title):
        rows = {m["name"]: m["rows"] for m in results["matrices"]}
        for cell in results["cells"]:
            if cell["type"] == "aijrbp" and cell["solver"] == solver and phase_of(cell, "solve"):
                us = 1e6 * seconds_of(cell, "solve") / phase_of(cell, "solve")["iterations"]
                found[cell["matrix"]] = rows[cell["matrix"]], us, cell.get("levels", [])
    return found


def take_measurements(problems, content):
    """Sets the times on one GPU and the sizes of levels in `problems`; returns (problem, pc, rows, time) on two GPUs, of CG and of
    GAMG."""
    of_two = {"cg": [], "gamg": []}
    for pc, solver in (("cg", "cgdevice_jacobi"), ("gamg", "cgdevice_gamgdevice")):
        one, two = cells_of(content, "1 GPU", solver), cells_of(content, "2 GPUs", solver)
        for problem in problems:
            mine = [name for name in one if name.startswith(problem["matrices"])]
            problem[pc] = [one[name][:2] for name in mine]
            of_two[pc] += [(problem, *two[name][:2]) for name in mine if name in two]
            if pc == "gamg" and mine:
                first, *coarser = max(one[name] for name in mine)[2]
                problem["levels"] = [[level["rows"] / first["rows"], level["nonzeros"] / first["nonzeros"]] for level in [first] + coarser]
    return of_two["cg"], of_two["gamg"]


def check(model, of_cg, of_gamg):
    """Compares measured and calculated times on two GPUs, each with a fit to the other matrices, and leaves a fit to all."""
    two, rows_of_table = Layout((2, 1, 1)), []
    for i, (problem, rows, time) in enumerate(of_cg):
        model.fit(of_cg[:i] + of_cg[i + 1:])
        rows_of_table.append((problem["title"], "Jacobi", rows, time, model.time(two, problem, rows, "cg")))
    model.fit(of_cg)
    for i, (problem, rows, time) in enumerate(of_gamg):
        model.fit_cycle(of_gamg[:i] + of_gamg[i + 1:])
        rows_of_table.append((problem["title"], "GAMG", rows, time, model.time(two, problem, rows, "gamg")))
    model.fit_cycle(of_gamg)
    return [dict(zip(("problem", "pc", "rows", "measured_us", "calculated_us"), row)) for row in rows_of_table]


def scale(model, problems, layouts, sizes, weak):
    found = []
    for problem in problems:
        for name, pc in (("Jacobi", "cg"), ("GAMG", "gamg")):
            for size in sizes:
                parts = {g.gpus: model.parts(g, problem, size * g.gpus if weak else size, pc) for g in layouts}
                us = {1: between(problem[pc], size), **{gpus: sum(p.values()) for gpus, p in parts.items()}}
                most = {gpus: max(p, key=p.get) for gpus, p in parts.items()}
                found.append({"problem": problem["title"], "pc": name, "rows": size, "us": us, "most": most})
    return found


def digits(us):
    return f"{us:,.0f}" if us >= 100 else f"{us:.1f}"


def scaling_table(title, found):
    gpus = list(found[0]["us"])
    rows = []
    for f in found:
        one = f["us"][1]
        cells = [digits(one)] + [f"{digits(f['us'][p])} ({one / f['us'][p]:.2f}){MARKS[f['most'][p]]}" for p in gpus[1:]]
        rows.append([f["problem"], f["pc"], f"{f['rows'] / 1e6:g} M"] + cells)
    return markdown(["problem", "preconditioner", title] + ["1 GPU"] + [f"{p} GPUs" for p in gpus[1:]], rows, left=2)


def text_of(result):
    checked = [[c["problem"], c["pc"], f"{c['rows']:,}", digits(c["measured_us"]), digits(c["calculated_us"]),
                f"{100 * (c['calculated_us'] / c['measured_us'] - 1):+.0f} %"] for c in result["check"]]
    fit = result["fit"]
    return "\n".join(
        ["Made by `bench/mpi/model.py`. Microseconds per iteration; 64 GPUs are 8 hosts.", "",
         f"Fitted to two GPUs: c = {fit['fixed_us']:.1f} us, d = {fit['fixed_in_cycle_us']:.1f} us, b = {1e3 * fit['us_by_ghost']:.2f} ns. A message within a host takes "
         f"{fit['alpha_us']:.1f} us and {1e6 * fit['beta_us_by_byte']:.1f} us more for each MB.", "",
         "**Check on two GPUs**, measured against calculated. Each time comes from a fit to the other matrices:",
         ""] +
        markdown(["problem", "preconditioner", "rows", "measured", "calculated", "error"], checked, left=2) +
        ["", "**Calculated, not measured: weak scaling**, in brackets the efficiency (1 = as fast as one GPU with its share of the rows). "
         "Computing takes most of an iteration, except *s*: sums, and *e*: exchanges of ghost values and what is fitted with them:", ""] +
        scaling_table("rows per GPU", result["weak"]) +
        ["", "**Calculated, not measured: strong scaling**, in brackets how many times as fast as one GPU:", ""] +
        scaling_table("rows", result["strong"])) + "\n"


def calculate(inputs, content):
    model, problems = Model(inputs), inputs["problems"]
    of_cg, of_gamg = take_measurements(problems, content)
    if len(of_cg) < 3 or len(of_gamg) < 2:
        fail("CG was measured on one GPU and on two for fewer than three matrices, or GAMG for fewer than two")
    layouts = [Layout(layout["grid"], layout["hosts"]) for layout in inputs["layouts"]]
    checked = check(model, of_cg, of_gamg)
    return {"schema": 1, "header": {"program": "model"}, "inputs": {k: v for k, v in inputs.items() if k != "problems"}, "check": checked,
            "fit": {"fixed_us": model.fixed, "fixed_in_cycle_us": model.fixed_in_cycle, "us_by_ghost": model.by_ghost, "alpha_us": model.alpha, "beta_us_by_byte": model.beta},
            "sums_us": {g.gpus: model.sum_of(g) for g in layouts},
            "weak": scale(model, problems, layouts, (1e6, 4e6), True), "strong": scale(model, problems, layouts, (1e6, 4e6, 32e6), False)}


def main():
    parser = parser_of(__doc__, results=1, json="FILE", document="FILE")
    parser.add_argument("--inputs", default=HERE / "model.json", metavar="FILE")
    arguments = parser.parse_args()
    result = calculate(load(arguments.inputs), load(arguments.results))
    if arguments.json:
        save(arguments.json, result)
    if arguments.document:
        put_between_marks(arguments.document, "model", text_of(result))
    if not (arguments.json or arguments.document):
        print(text_of(result), end="")


if __name__ == "__main__":
    main()
