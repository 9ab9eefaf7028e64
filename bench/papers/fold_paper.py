#!/usr/bin/env python3
"""Writes Tables 4 and 5 of the paper on the Fold method beside the results of fold_paper, as Markdown.

    fold_paper --out results.json                                       needs a GPU; --counts: only the first table
    bench/papers/fold_paper.py results.json [more.json ...]                  on standard output

If several files have a matrix, the last one counts. All our numbers come from the files. The paper's numbers are beside the
matrix NAME, and beside shape:NAME, which has only the size and the row length distribution of NAME. The exit status is 1 if a
kernel was wrong or could not run, or a matrix could not be made.

Source: N. Tanabe, J. Kogou, Y. Ogawa, M. Takata and K. Joe, acceleration of sparse matrix-vector product by algorithm with
folding long rows and memory with gather functions.
"""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from figures import fail, load, markdown, number, parser_of  # noqa: E402

# Table 4, GFLOP/s in single precision: JDS on one GPU of an S1070 (read off a graph by the authors), Fold on a C1060
TABLE_4 = {
    "Na5": (3, 5.31), "msc10848": (3.5, 8.38), "exdata_1": (3.4, 8.01), "G3_circuit": (9, 15.08),
    "thermal2": (3.3, 13.54), "hood": (11.5, 13.18), "F1": (7.1, 11.25), "ldoor": (9.8, 13.30),
}
# Table 5, milliseconds in single precision: C1060 texture, shared, proposed; C2050 shared, proposed. Without exdata_1.
TABLE_5 = {
    "Na5": (0.082, 0.110, 0.037, 0.048, 0.040), "msc10848": (0.205, 0.392, 0.119, 0.128, 0.113),
    "G3_circuit": (1.281, 1.558, 0.750, 0.757, 0.583), "thermal2": (0.942, 1.451, 0.518, 0.495, 0.440),
    "hood": (1.176, 2.338, 0.812, 0.827, 0.740), "F1": (4.770, 7.404, 3.596, 2.890, 1.981),
    "ldoor": (4.987, 10.33, 3.568, 3.577, 3.188),
}
# Mean growth of all eight matrices, and of the five with most nonzeros; mean and best reduction of the loop
GROWTH, GROWTH_LARGE, REDUCTION, REDUCTION_BEST = 1.2, 1.08, 3.0, 5.3
CSR = ("cusparse_csr_alg1", "cusparse_csr_alg2")
SCALARS = ("single", "double")


def read(paths):
    """Header of the last file, matrices by name, records by (matrix, kernel, scalar), and faults."""
    header, matrices, records, faults = {}, {}, {}, []
    for path in paths:
        content = load(path, "fold_paper")
        header = content["header"]
        matrices.update((m["name"], m) for m in content["matrices"])
        records.update(((r["matrix"], r["kernel"], r["scalar"]), r) for r in content["records"])
        faults += [f"{m['matrix']}: {m['reason']}" for m in content["left_out"]]
    faults += [f"{' '.join(key)}: {record['error']}" for key, record in records.items() if "error" in record]
    return header, matrices, records, faults


def published(name):
    """The paper's name of a matrix."""
    return name.removeprefix("shape:")


def table(head, rows):
    return "\n".join(markdown(head, rows))


def numbers(values, form="{:g}"):
    return [number(v, missing="-", form=form) for v in values]


def mean(values):
    return sum(values) / len(values)


def counts(matrices):
    """The sizes of fold's table at q = 1.5; means over the paper's matrices if all are there."""
    rows = [[m["name"], f"{m['rows']:,}", f"{m['nnz']:,}", f"{m['mean']:.1f}", f"{m['longest']:,}", str(m["width"])]
            + numbers((m.get("rows_growth"), m.get("loop_reduction")), "{:.2f}") for m in matrices.values()]
    text = table(("matrix", "rows", "nonzeros", "mean", "longest", "w", "table rows / rows", "longest / w"), rows)
    ours = [m for m in matrices.values() if published(m["name"]) in TABLE_4]
    if sorted(published(m["name"]) for m in ours) != sorted(TABLE_4):
        return text
    growth, reduction = [m["rows_growth"] for m in ours], [m["loop_reduction"] for m in ours]
    large = [m["rows_growth"] for m in sorted(ours, key=lambda m: -m["nnz"])[:5]]
    return text + "\n\n" + table(("mean over the eight of the paper", "here", "published"), [
        ["table rows / rows", f"{mean(growth):.2f}", f"{GROWTH}"],
        ["the same of the five with most nonzeros", f"{mean(large):.2f}", f"{GROWTH_LARGE}"],
        ["longest / w", f"{mean(reduction):.2f}", f"{REDUCTION:.1f}"],
        ["the largest longest / w", f"{max(reduction):.2f}", f"{REDUCTION_BEST}"]])


def rate(records, matrix, kernels, scalar):
    """The best GFLOP/s of some kernels, or None."""
    found = [records.get((matrix, kernel, scalar), {}).get("gflops") for kernel in kernels]
    return max((v for v in found if v is not None), default=None)


def rates(matrices, records):
    kernels = (("fold_published",), ("fold_auto",), CSR, ("cusparse_sell32",), ("ell",), ("jds",))
    rows = []
    for name in matrices:
        cells = [" / ".join(numbers((rate(records, name, k, s) for s in SCALARS), "{:.0f}")) for k in kernels]
        fold, jds = (rate(records, name, (k,), "single") for k in ("fold_published", "jds"))
        rival, theirs = TABLE_4.get(published(name), (None, None))
        rows.append([name] + cells + numbers((fold / jds if fold and jds else None,), "{:.2f}")
                    + numbers((rival, theirs)) + numbers((theirs / rival if rival else None,), "{:.2f}"))
    return table(("matrix", "fold, q = 1.5", "fold, automatic", "cuSPARSE CSR", "cuSPARSE SELL", "ELL", "JDS",
                  "fold / JDS, single", "paper: JDS", "paper: Fold", "paper: Fold / JDS"), rows)


def times(matrices, records):
    rows = []
    for name in matrices:
        ours = [records.get((name, kernel, "single"), {}).get("us") for kernel in ("fold_published", "fold_gathered")]
        rows.append([name] + numbers((us and us / 1000 for us in ours), "{:.4f}")
                    + numbers(TABLE_5.get(published(name), (None,) * 5)))
    return table(("matrix", "x through the cache", "x written in table order first", "paper, C1060: texture", "shared",
                  "proposed", "C2050: shared", "proposed"), rows)


def report(header, matrices, records):
    parts = ["# The Fold method's tables", "What `fold_paper` measured and `bench/papers/fold_paper.py` wrote, beside the "
             "paper's numbers. `shape:NAME` is a generated matrix of the size of NAME and with its row lengths' "
             "distribution; its columns lie in a band.",
             "## The table at q = 1.5", counts(matrices)]
    if not records:
        return "\n\n".join(parts)
    parts[1] += (f"\n\n{header['gpu']}, CUDA {header['cuda']}, cuSPARSE {header['cusparse']}, commit {header['commit']}, "
                 f"{header['date']}. A copy reads and writes {header['copy_bytes_per_s'] / 1e12:.2f} TB/s.")
    return "\n\n".join(parts + [
        "## Table 4: GFLOP/s, single / double precision", rates(matrices, records),
        "2 x nonzeros over the time; `-`: it failed, or would store too much: more than 4 times the nonzeros as ELL, 16 times as SELL. CSR is "
        "the faster of two algorithms, SELL has slices of 32 and ELL is fold's table without folding. The products follow "
        "each other, so matrices that fit are read from the second-level cache. The paper: single precision, JDS on one "
        "GPU of a Tesla S1070 with x through the texture cache, Fold on a C1060 with x already in the order of the table "
        "and partial sums not added.",
        "## Table 5: milliseconds, single precision", times(matrices, records),
        "Ours add the partial sums, and write x in table order within the time where they do. The paper's do neither: "
        "partial sums are the host's, and its proposed hardware has x in table order before the product begins."])


def main():
    options = parser_of(__doc__).parse_args()
    header, matrices, records, faults = read(options.results)
    print(report(header, matrices, records))
    if faults:
        fail("matrices and kernels that failed:\n  " + "\n  ".join(faults))


if __name__ == "__main__":
    main()
