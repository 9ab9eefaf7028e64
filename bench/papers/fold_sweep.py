#!/usr/bin/env python3
"""Checks a sweep of format fold over (q, r), measured on a GPU: is the automatic width close to the best?

    spmv_bench --set default --formats $(bench/papers/fold_sweep.py --formats) --out sweep.json
    bench/papers/fold_sweep.py sweep.json [more.json ...]                    one line per matrix

Printed for each matrix: the fastest (q, r) and its time; the automatic choice and its time relative to the fastest; the
authors' table (uniform, q = 1.5); the tables without folding (sliced and uniform); and the fastest kernel of cuSPARSE. The exit
status is 1 if an automatic choice takes more than 3% longer than the fastest (q, r).
"""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # in a bundle all scripts are in one folder
from figures import fail, load, number, parser_of  # noqa: E402

Q = (0.25, 0.5, 0.75, 1, 1.25, 1.5, 2, 3, 4, 6)
R = (0, 1, 2)
AUTOMATIC, UNFOLDED = "fold", "fold:q=1000000"
PUBLISHED, ELL = "fold:layout=uniform:q=1.5", "fold:layout=uniform:q=1000000"
NEAR = 1.03


def name_of(q, r):
    """The name of a setting in spmv_bench; options that are 0 are omitted."""
    return "fold" + (f":q={q:g}" if q else "") + (f":r={r:g}" if r else "")


def grid():
    return {name_of(q, r): (q, r) for q in (0,) + Q for r in R if q or r}


def read(paths):
    """Times in microseconds by matrix and kernel, of kernels with right results; and the best peer by matrix."""
    times, peers = {}, {}
    for path in paths:
        for record in (r for r in load(path, None)["records"] if r.get("ok")):
            matrix, kernel = record["matrix"], record["kernel"]
            times.setdefault(matrix, {})[kernel] = record["us"]
            if not record["own"] and record["us"] < peers.get(matrix, (float("inf"), ""))[0]:
                peers[matrix] = (record["us"], kernel)
    return times, peers


def fastest(by_kernel):
    """The fastest (q, r) of the sweep and its time; the unfolded sliced table is a part of the sweep."""
    swept = {setting: by_kernel[kernel] for kernel, setting in grid().items() if kernel in by_kernel}
    if UNFOLDED in by_kernel:
        swept[(1000000, 0)] = by_kernel[UNFOLDED]
    return min(swept.items(), key=lambda item: item[1]) if swept else (None, None)


def print_table(times, peers):
    """Prints a line per matrix; returns the matrices whose automatic choice is too slow."""
    slow = []
    print(f"{'matrix':24} {'best q':>8} {'r':>5} {'us':>9} {'auto us':>9} {'of best':>8} {'paper us':>9} "
          f"{'SELL us':>9} {'ELL us':>9} {'best peer us':>13}  peer")
    for matrix, by_kernel in times.items():
        setting, best = fastest(by_kernel)
        automatic = by_kernel.get(AUTOMATIC)
        if setting is None or automatic is None:
            continue
        if automatic > NEAR * best:
            slow.append(matrix)
        peer, peer_name = peers.get(matrix, (None, ""))
        print(f"{matrix:24} {setting[0]:8g} {setting[1]:5g} {best:9.1f} {automatic:9.1f} {automatic / best:8.3f} "
              f"{number(by_kernel.get(PUBLISHED), 1, '-'):>9} {number(by_kernel.get(UNFOLDED), 1, '-'):>9} {number(by_kernel.get(ELL), 1, '-'):>9} "
              f"{number(peer, 1, '-'):>13}  {peer_name}")
    return slow


def main():
    parser = parser_of(__doc__, "*", formats="")
    options = parser.parse_args()
    if options.formats:
        print(",".join([AUTOMATIC, UNFOLDED, PUBLISHED, ELL] + list(grid())))
        return
    if not options.results:
        parser.error("result files, or --formats")
    slow = print_table(*read(options.results))
    if slow:
        fail("more than 3% from the fastest (q, r): " + ", ".join(slow))


if __name__ == "__main__":
    main()
