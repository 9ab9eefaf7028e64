#!/usr/bin/env python3
"""Draws the results of spmv_bench, and writes them as tables.

    bench/plot_bench.py results.json [more.json ...] --images docs/img       speed, bytes and roofline as SVG (matplotlib)
    bench/plot_bench.py results.json --crsv docs/img                         crsv's threads per row and variants as SVG
    bench/plot_bench.py results.json --table                                 one line per matrix, on standard output
    bench/plot_bench.py results.json --document docs/performance.md          the same, put between the markers in a file
    bench/plot_bench.py results.json --details                               a table per kernel, on standard output

If several files have a matrix and a kernel, the last one counts. Every number comes from the files; the mean of --crsv is marked
as a mean. --kernels chooses the kernels of tables and images. Descriptions of matrices are those of the catalogue
(tests/cases/families.def), for matrices from files those in bench/results/names.json.
"""
import math

from figures import draw, fail, known_names, load, markdown, number, parser_of, put_between_marks, subplots, words_of

KERNELS = "rbp,fold,crsv,codsell"
SMALL, LARGE = 60e6, 300e6  # bytes as CSR: tables list smaller matrices first


class Results:
    """Records by (matrix, kernel); matrices in the order of the files; the header of the last file."""

    def __init__(self, paths):
        self.header, self.matrices, self.records = {}, {}, {}
        self.names = known_names()
        for path in paths:
            content = load(path, None)
            self.header = content["header"]
            for matrix in content["matrices"]:
                self.matrices[matrix["name"]] = matrix
            for record in content["records"]:
                self.records[record["matrix"], record["kernel"]] = record

    def what(self, matrix):
        """The description of a matrix and its size as CSR; its name if it is unknown."""
        return f"{words_of(self.names, matrix['name'], matrix['name'])}, {matrix['csr_bytes'] / 1e6:.0f} MB"

    def measured(self, matrix, own):
        """The records of a matrix that have a time, of own formats or of peers, in the order of the file."""
        return [r for (m, _), r in self.records.items() if m == matrix and r.get("ok") and r["own"] == own]

    def best_peer(self, matrix):
        return min(self.measured(matrix, own=False), key=lambda r: r["us"], default=None)

    def speed(self, record):
        """Speedup over the best peer; None without a peer."""
        peer = self.best_peer(record["matrix"])
        return peer["us"] / record["us"] if peer else None

    def own_kernels(self, wanted=None):
        """The kernels of the library that have a time: all, or those in `wanted`."""
        found = dict.fromkeys(r["kernel"] for r in self.records.values() if r.get("ok") and r["own"])
        return [k for k in (wanted or found) if k in found]

    def speed_over_csr(self, record):
        """Speedup over the better CSR algorithm of cuSPARSE."""
        csr = [r["us"] for r in self.measured(record["matrix"], own=False) if r["kernel"].startswith("cusparse_csr")]
        return min(csr) / record["us"] if csr else None

    def of_copy(self, record):
        return record["own_bytes_per_s"] / self.header["copy_bytes_per_s"]


def conversion(record, source):
    return record.get("conversion", {}).get(source, {}).get("products")


def detail_row(results, matrix, kernel):
    record = results.records.get((matrix["name"], kernel))
    cells = [f"`{matrix['name']}`"]
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


def details(results, kernels):
    names = markdown(["matrix", "what it is, memory as CSR", "rows", "nonzeros"],
                     [[f"`{m['name']}`", results.what(m), f"{m['rows']:,}", f"{m['nnz']:,}"] for m in results.matrices.values()], left=4)
    head = ["matrix", "µs", "speed", "speed, cache cold", "bytes vs CSR", "of copy bandwidth",
            "conversion, products (device / host CSR)", "refresh, products"]
    lines = [measured_on(results), ""] + names
    for kernel in kernels:
        lines += ["", f"## {kernel}", ""]
        lines += markdown(head, [detail_row(results, m, kernel) for m in results.matrices.values()], len(head))
    return "\n".join(lines)


def measured_on(results):
    h = results.header
    return (f"{h['gpu']}, CUDA {h['cuda']}, cuSPARSE {h['cusparse']}, driver for CUDA {h['driver_cuda']}, {h['date'][:10]}, "
            f"commit {h['commit']}; double precision, 32-bit indices; copy bandwidth {h['copy_bytes_per_s'] / 1e12:.2f} TB/s.")


def table_row(results, matrix, kernels):
    """Speedup and bytes of each kernel, the fastest in bold."""
    peer = results.best_peer(matrix["name"])
    records = [results.records.get((matrix["name"], kernel)) for kernel in kernels]
    fastest = min((r["us"] for r in records if r and r.get("ok")), default=None)
    cells = [results.what(matrix),
             f"{number(peer['us'], 1)} ({peer['kernel'].removeprefix('cusparse_')})" if peer else "–"]
    for r in records:
        if not r or not r.get("ok"):
            cells.append("–")
            continue
        speed = number(results.speed(r), 2)
        speed = f"**{speed}**" if r["us"] == fastest else speed
        cells.append(f"{speed} ({number(r['bytes_vs_csr'], 2)}{'' if r['accepted'] else ', declined'})")
    return cells


def table(results, kernels):
    head = ["matrix, memory as CSR", "best cuSPARSE, µs"] + [k.split(":")[0] for k in kernels]
    note = ("Speed against the fastest of all cuSPARSE formats on the same matrix in the same run and, in brackets, bytes "
            "over those of CSR.")
    rows = sorted(results.matrices.values(), key=lambda m: (m["csr_bytes"] >= SMALL) + (m["csr_bytes"] >= LARGE))
    return "\n".join([measured_on(results), note, ""] + markdown(head, [table_row(results, m, kernels) for m in rows], len(head)))


def grouped_bars(results, value, kernels, title, axis_label, mark):
    """Horizontal bars, one group per matrix and one bar per kernel."""
    names = list(results.matrices)
    height = 0.8 / max(len(kernels), 1)
    figure, axes = subplots(1, 1, (11, 1.5 + len(names) * max(0.35, 0.13 * len(kernels))))
    for k, kernel in enumerate(kernels):
        found = [(i, value(results.records[m, kernel])) for i, m in enumerate(names)
                 if results.records.get((m, kernel), {}).get("ok")]
        found = [(i, v) for i, v in found if v is not None]
        axes.barh([i + (k + 0.5) * height - 0.4 for i, _ in found], [v for _, v in found], height, label=kernel)
    axes.axvline(1, color="black", linewidth=1)
    axes.text(1, -0.7, mark, ha="center", va="bottom", fontsize="small")
    axes.set_yticks(range(len(names)), [results.what(results.matrices[m]) for m in names])
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.set_xlabel(axis_label)
    axes.set_title(title, pad=18)
    axes.grid(axis="x", alpha=0.3)
    axes.legend(loc="upper left", bbox_to_anchor=(1, 1), fontsize="small")
    return figure


def roofline(results, kernels):
    """Floating-point rate over intensity, with a roof by the measured copy bandwidth."""
    copy = results.header["copy_bytes_per_s"]
    figure, axes = subplots(1, 1, (8, 5.5))
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


def main_figures(results, kernels):
    gpu = results.header["gpu"]
    return {
        "speed": grouped_bars(results, results.speed, kernels, f"y = A x on {gpu}", "speed, cache warm (longer is faster)",
                              "best cuSPARSE format"),
        "bytes": grouped_bars(results, lambda r: r["bytes_vs_csr"], kernels, "Memory of the matrix",
                              "bytes of the format over bytes of CSR (shorter is smaller)", "CSR"),
        "roofline": roofline(results, kernels),
    }


def crsv_figure(results):
    """Speedup of each number of threads per row and each variant of format crsv over the better CSR algorithm of cuSPARSE."""
    kernels = [k for k in results.own_kernels() if k.split(":")[0] == "crsv"]
    figure = grouped_bars(results, results.speed_over_csr, kernels, f"Format crsv on {results.header['gpu']}",
                          "speed, cache warm (longer is faster)", "better CSR algorithm of cuSPARSE")
    for kernel in kernels:
        speeds = [results.speed_over_csr(r) for (_, k), r in results.records.items() if k == kernel and r.get("ok")]
        speeds = [v for v in speeds if v]
        if speeds:
            mean = math.exp(sum(map(math.log, speeds)) / len(speeds))
            print(f"{kernel}: geometric mean {mean:.3f}, least {min(speeds):.3f}, of {len(speeds)} matrices")
    return figure


def main():
    parser = parser_of(__doc__, images="FOLDER", crsv="FOLDER", table="", document="FILE", details="")
    parser.add_argument("--kernels", default=KERNELS)
    arguments = parser.parse_args()
    results = Results(arguments.results)
    kernels = results.own_kernels(arguments.kernels.split(","))
    if not (arguments.images or arguments.crsv or arguments.table or arguments.document or arguments.details):
        fail("say what to make: --images, --crsv, --table, --document or --details")
    if arguments.table:
        print(table(results, kernels))
    if arguments.document:
        put_between_marks(arguments.document, "results", table(results, kernels))
    if arguments.details:
        print(details(results, kernels))
    if arguments.images:
        draw(arguments.images, lambda: main_figures(results, kernels))
    if arguments.crsv:
        draw(arguments.crsv, lambda: {"crsv": crsv_figure(results)})


if __name__ == "__main__":
    main()
