#!/usr/bin/env python3
"""Draws the results of spmv_bench, and writes them as a table.

    scripts/plot_bench.py results.json [more.json ...] --images docs/img       speed, bytes and roofline as SVG (matplotlib)
    scripts/plot_bench.py results.json --table                                 the Markdown table on standard output
    scripts/plot_bench.py results.json --readme README.md                      the same, put between the markers in a file

Of several files the later one wins where both have a matrix and a kernel. Every number comes from the files: nothing is
averaged over matrices. --kernel chooses the kernel of the table (rbp:format=packed).
"""
import argparse
import json
import sys
from pathlib import Path

BEGIN, END = "<!-- results:begin -->", "<!-- results:end -->"
BANDS = [(60e6, "below 60 MB as CSR"), (300e6, "60 to 300 MB as CSR"), (float("inf"), "above 300 MB as CSR")]


def fail(message):
    sys.exit(f"plot_bench.py: {message}")


class Results:
    """Records by (matrix, kernel), matrices in the order of the files, and the header of the last file."""

    def __init__(self, paths):
        self.header, self.matrices, self.records = {}, {}, {}
        for path in paths:
            try:
                content = json.loads(Path(path).read_text())
            except (OSError, ValueError) as error:
                fail(f"{path}: {error}")
            if content.get("schema") != 1:
                fail(f"{path}: not a result file of spmv_bench (schema {content.get('schema')})")
            self.header = content["header"]
            for matrix in content["matrices"]:
                self.matrices[matrix["name"]] = matrix
            for record in content["records"]:
                self.records[record["matrix"], record["kernel"]] = record

    def measured(self, matrix, own):
        """The records of a matrix that have a time, own formats or peers, in the order of the file."""
        return [r for (m, _), r in self.records.items() if m == matrix and r.get("ok") and r["own"] == own]

    def best_peer(self, matrix):
        return min(self.measured(matrix, own=False), key=lambda r: r["us"], default=None)

    def speed(self, record):
        """Time of the best peer over the time of the record; None without a peer."""
        peer = self.best_peer(record["matrix"])
        return peer["us"] / record["us"] if peer else None

    def own_kernels(self):
        return list(dict.fromkeys(r["kernel"] for r in self.records.values() if r.get("ok") and r["own"]))

    def of_copy(self, record):
        return record["own_bytes_per_s"] / self.header["copy_bytes_per_s"]


def band_of(matrix):
    return next(name for limit, name in BANDS if matrix["csr_bytes"] < limit)


def number(value, digits):
    return "–" if value is None else f"{value:.{digits}f}"


def conversion(record, source):
    return record.get("conversion", {}).get(source, {}).get("products")


def table_row(results, matrix, kernel):
    record = results.records.get((matrix["name"], kernel))
    peer = results.best_peer(matrix["name"])
    cells = [f"`{matrix['name']}`", f"{matrix['csr_bytes'] / 1e6:.0f}"]
    cells.append(f"{number(peer['us'], 1)} ({peer['kernel'].removeprefix('cusparse_')})" if peer else "–")
    if not record or not record.get("ok"):
        return cells + ["failed" if record else "–"] + ["–"] * 6
    own = number(record["us"], 1)
    speed = number(results.speed(record), 2)
    if not record["accepted"]:
        own += " (declined)"
        speed += f", as used {number(record.get('effective_speed'), 2)}"
    cold = min((p["cold_us"]["median"] for p in results.measured(matrix["name"], own=False)), default=None)
    cold = cold / record["cold_us"]["median"] if cold else None
    return cells + [own, speed, number(cold, 2), number(record["bytes_vs_csr"], 3), f"{100 * results.of_copy(record):.0f}%",
                    f"{number(conversion(record, 'device'), 1)} / {number(conversion(record, 'host'), 1)}",
                    number(record.get("refresh_products"), 2)]


def table(results, kernel):
    head = ["matrix", "CSR, MB", "best cuSPARSE, µs", f"{kernel}, µs", "speed", "speed, cache cold", "bytes vs CSR",
            "of copy bandwidth", "conversion, products (device / host CSR)", "refresh, products"]
    h = results.header
    lines = [f"{h['gpu']}, CUDA {h['cuda']}, cuSPARSE {h['cusparse']}, driver for CUDA {h['driver_cuda']}, {h['date'][:10]}, "
             f"commit {h['commit']}; double precision, 32-bit indices; copy bandwidth {h['copy_bytes_per_s'] / 1e12:.2f} TB/s.",
             "Speed is against the fastest of all cuSPARSE formats on the same matrix in the same run."]
    for _, band in BANDS:
        chosen = [m for m in results.matrices.values() if band_of(m) == band]
        if chosen:
            lines += ["", f"Matrices {band}:", "", "| " + " | ".join(head) + " |", "|" + " --- |" * len(head)]
            lines += ["| " + " | ".join(table_row(results, m, kernel)) + " |" for m in chosen]
    return "\n".join(lines)


def put_between_markers(path, text):
    content = Path(path).read_text()
    if content.count(BEGIN) != 1 or content.count(END) != 1 or content.index(BEGIN) > content.index(END):
        fail(f"{path}: wants one line {BEGIN} and after it one line {END}")
    before, after = content.split(BEGIN)[0], content.split(END)[1]
    Path(path).write_text(f"{before}{BEGIN}\n{text}\n{END}{after}")


def grouped_bars(results, value, kernels, title, axis_label, mark):
    """Horizontal bars, one group a matrix and one bar a kernel."""
    from matplotlib import pyplot

    names = list(results.matrices)
    height = 0.8 / max(len(kernels), 1)
    figure, axes = pyplot.subplots(figsize=(9, 1.5 + len(names) * max(0.35, 0.13 * len(kernels))), layout="constrained")
    for k, kernel in enumerate(kernels):
        found = [(i, value(results.records[m, kernel])) for i, m in enumerate(names)
                 if results.records.get((m, kernel), {}).get("ok")]
        found = [(i, v) for i, v in found if v is not None]
        axes.barh([i + (k + 0.5) * height - 0.4 for i, _ in found], [v for _, v in found], height, label=kernel)
    axes.axvline(1, color="black", linewidth=1)
    axes.text(1, -0.7, mark, ha="center", va="bottom", fontsize="small")
    axes.set_yticks(range(len(names)), [f"{m} ({results.matrices[m]['csr_bytes'] / 1e6:.0f} MB)" for m in names])
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.set_xlabel(axis_label)
    axes.set_title(title, pad=18)
    axes.grid(axis="x", alpha=0.3)
    axes.legend(loc="upper left", bbox_to_anchor=(1, 1), fontsize="small")
    return figure


def roofline(results, kernels):
    """Floating-point rate over intensity; the roof is what the measured copy bandwidth allows."""
    from matplotlib import pyplot

    copy = results.header["copy_bytes_per_s"]
    figure, axes = pyplot.subplots(figsize=(8, 5.5), layout="constrained")
    groups = {kernel: [results.records[m, kernel] for m in results.matrices
                       if results.records.get((m, kernel), {}).get("ok")] for kernel in kernels}
    groups["best cuSPARSE format"] = [peer for m in results.matrices if (peer := results.best_peer(m))]
    intensities = [1e9 * r["gflops"] / r["own_bytes_per_s"] for group in groups.values() for r in group]
    if not intensities:
        fail("no kernel has a time: nothing to draw")
    for (name, group), marker in zip(groups.items(), "osD^vP*XphH<>d8" * len(groups)):
        axes.scatter([1e9 * r["gflops"] / r["own_bytes_per_s"] for r in group], [r["gflops"] for r in group],
                     label=name, marker=marker, s=36, alpha=0.8)
    ends = [0.9 * min(intensities), 1.1 * max(intensities)]
    axes.plot(ends, [copy * x / 1e9 for x in ends], color="black", label=f"copy bandwidth, {copy / 1e12:.2f} TB/s")
    axes.set_xlabel("intensity, flop per byte of the format, x once and y once")
    axes.set_ylabel("GFLOP/s")
    axes.set_ylim(bottom=0)
    axes.set_title(f"y = A x on {results.header['gpu']}, cache warm: above the line the cache helped")
    axes.grid(alpha=0.3)
    axes.legend(fontsize="small")
    return figure


def draw(results, folder):
    try:
        import matplotlib
    except ImportError:
        fail("needs matplotlib: pip install matplotlib")
    matplotlib.use("Agg")
    matplotlib.rcParams["svg.hashsalt"] = "spmv_bench"  # the same results give the same file
    kernels = results.own_kernels()
    gpu = results.header["gpu"]
    figures = {
        "speed": grouped_bars(results, results.speed, kernels, f"y = A x on {gpu}", "speed, cache warm (longer is faster)",
                              "best cuSPARSE format"),
        "bytes": grouped_bars(results, lambda r: r["bytes_vs_csr"], kernels, "Memory of the matrix",
                              "bytes of the format over bytes of CSR (shorter is smaller)", "CSR"),
        "roofline": roofline(results, kernels),
    }
    Path(folder).mkdir(parents=True, exist_ok=True)
    for name, figure in figures.items():
        path = Path(folder) / f"{name}.svg"
        figure.savefig(path, metadata={"Date": None})
        print(path)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", nargs="+")
    parser.add_argument("--images", metavar="FOLDER")
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--readme", metavar="FILE")
    parser.add_argument("--kernel", default="rbp:format=packed")
    arguments = parser.parse_args()
    results = Results(arguments.results)
    if not (arguments.images or arguments.table or arguments.readme):
        fail("say what to make: --images, --table or --readme")
    if arguments.table:
        print(table(results, arguments.kernel))
    if arguments.readme:
        put_between_markers(arguments.readme, table(results, arguments.kernel))
    if arguments.images:
        draw(results, arguments.images)


if __name__ == "__main__":
    main()
