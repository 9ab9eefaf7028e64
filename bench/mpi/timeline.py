#!/usr/bin/env python3
"""Shows whether messages with ghost values overlap with the product of the diagonal block, from records of mult_timeline.

    bench/mpi/timeline.py timeline.json [more.json ...]                              numbers, on standard output
    bench/mpi/timeline.py timeline.json [more.json ...] --image docs/img/overlap.svg  one product of each file (matplotlib)

A message of NCCL is a kernel; a message of MPI counts from the MPI_Startall() that begins it to the end of the MPI_Waitall()
that waits for it. The longest kernel of a product is assumed to be that of the diagonal block, and later kernels those of the
block of ghost values, except kernels of PETSc that pack and unpack messages.
"""
import os.path
import statistics
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # in a bundle all scripts are in one folder
from figures import draw, load, markdown, parser_of, subplots  # noqa: E402

PACKING = ("Pack", "Scatter", "Fetch", "Unpack", "gather_entries")
COLORS = {"MatMult": "0.85", "MPI_Startall": "C3", "MPI_Waitall": "C1", "message": "C8", "packing": "C4",
          "diagonal block": "C0", "block of ghost values": "C9", "copy": "C2",
          "KSPSolve": "0.85", "sum": "C6", "vectors": "0.6"}


def title_of(content):
    by_nccl = any("nccl" in i["name"] for process in content["processes"] for i in process["intervals"])
    way = "NCCL" if by_nccl else "GPU-aware MPI" if content["gpu_aware_mpi"] else "messages through the host"
    what = f", an iteration of {content['iterations']}" if content.get("iterations") else ""
    return f"{content['type']}, {content['n']}³ unknowns, {content['ranks']} processes, {way}{what}"


def products_of(process):
    """The intervals of each product; those on the device may end after the call has returned."""
    calls = sorted((i for i in process["intervals"] if i["row"] == "product"), key=lambda i: i["begin"])
    ends = [call["begin"] for call in calls[1:]] + [float("inf")]
    return [[i for i in process["intervals"] if call["begin"] <= i["begin"] < end] for call, end in zip(calls, ends)]


def name_kernels(intervals):
    """(name, interval) of each kernel of one product or solve."""
    kernels = [i for i in intervals if i["row"] == "kernel"]
    computing = [i for i in kernels if not any(word in i["name"] for word in PACKING + ("nccl",))]
    longest = max(computing, key=lambda i: i["end"] - i["begin"], default=None)
    return [(kind_of(kernel, longest), kernel) for kernel in kernels]


def kind_of(kernel, longest):
    """The product with the diagonal block is the longest kernel, or as long (in other iterations); the product with the block of
    ghost values is a shorter kernel of the same code, perhaps with other template arguments."""
    if "nccl" in kernel["name"]:
        return "sum" if "AllReduce" in kernel["name"] else "message"
    if any(word in kernel["name"] for word in PACKING):
        return "packing"
    if kernel["name"] == longest["name"] and 2 * (kernel["end"] - kernel["begin"]) > longest["end"] - longest["begin"]:
        return "diagonal block"
    alike = len(os.path.commonprefix([kernel["name"], longest["name"]]))
    return "block of ghost values" if 4 * alike > 3 * len(longest["name"]) else "vectors"


def messages_of(intervals):
    """Messages of NCCL are kernels. Those of MPI count from the first MPI_Startall to the end of the last MPI_Waitall."""
    by_nccl = [i for name, i in name_kernels(intervals) if name == "message"]
    starts = [i["begin"] for i in intervals if i["name"] == "MPI_Startall"]
    waits = [i["end"] for i in intervals if i["name"] == "MPI_Waitall"]
    return by_nccl or [{"begin": begin, "end": end} for begin, end in zip(starts, waits)]


def common(a, b):
    return max(0.0, min(a["end"], b["end"]) - max(a["begin"], b["begin"]))


def numbers_of(process, iterations):
    """Medians over the products, or means over the iterations of a solve: whole, message, diagonal block, overlap of both."""
    rows = []
    for intervals in products_of(process):
        messages = messages_of(intervals)
        blocks = [i for name, i in name_kernels(intervals) if name == "diagonal block"]
        call = next(i for i in intervals if i["row"] == "product")
        lengths = (max(i["end"] for i in intervals) - call["begin"], sum(m["end"] - m["begin"] for m in messages),
                   sum(b["end"] - b["begin"] for b in blocks), sum(common(b, m) for b in blocks for m in messages))
        rows.append([length / max(iterations, 1) for length in lengths])
    return [statistics.median(column) for column in zip(*rows)]


def print_numbers(contents):
    rows = [[title_of(content), f"{process['rank']} on {process['device'] or 'the host'}",
             *(f"{number:.1f}" for number in numbers_of(process, content.get("iterations", 0)))]
            for content in contents for process in content["processes"]]
    print(*markdown(["run", "process", "product, µs", "message, µs", "diagonal block, µs", "both at once, µs"], rows, left=2), sep="\n")
    for content in contents:
        for process in content["processes"]:
            if process["trouble"]:
                print(f"\n{title_of(content)}, process {process['rank']}: no kernels and copies: {process['trouble']}")


def bars_of(process):
    """(lane, name, interval) of the last product, lanes 0 host, 1 message, 2 kernels, 3 copies."""
    intervals = products_of(process)[-1]
    bars = [(0, i["name"], i) for row in ("product", "mpi") for i in intervals if i["row"] == row]  # calls of MPI are drawn on top
    bars += [(1, "message", message) for message in messages_of(intervals)]
    for name, i in name_kernels(intervals):
        if name != "message":
            bars.append((1 if name == "sum" else 2, name, i))
    return bars + [(3, "copy", i) for i in intervals if i["row"] == "copy"]


def figure_of(contents):
    lanes = ("host", "message", "kernels", "copies")
    figure, axes = subplots(len(contents), 1, (10, 0.6 + 2.2 * len(contents)), sharex=True, squeeze=False)
    from matplotlib.patches import Patch
    used = {}
    for axis, content in zip(axes[:, 0], contents):
        zero = min(i["begin"] for process in content["processes"] for i in products_of(process)[-1])
        labels = []
        for k, process in enumerate(content["processes"]):
            labels += [f"process {process['rank']}: {lane}" for lane in lanes]
            for lane, name, i in bars_of(process):
                axis.barh(k * len(lanes) + lane, i["end"] - i["begin"], 0.8, i["begin"] - zero, color=COLORS[name])
                used[name] = COLORS[name]
        axis.set_yticks(range(len(labels)), labels, fontsize="small")
        axis.invert_yaxis()
        axis.set_title(title_of(content), fontsize="medium")
        axis.grid(axis="x", alpha=0.3)
    axes[-1, 0].set_xlabel("µs")
    figure.legend(handles=[Patch(color=color, label=name) for name, color in used.items()], loc="outside right upper",
                  fontsize="small")
    return figure


def main():
    arguments = parser_of(__doc__, image="FILE").parse_args()
    contents = [load(path, "mult_timeline") for path in arguments.results]
    print_numbers(contents)
    if arguments.image:
        draw(arguments.image, lambda: figure_of(contents), salt="mult_timeline")


if __name__ == "__main__":
    main()
