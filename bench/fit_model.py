#!/usr/bin/env python3
"""Fits the constants of the model of products (src/kernels/predict) to committed measurements.

    bench/fit_model.py            prints the regret of each matrix when its family is left out of the fit, and what types that
                                  a user names would leave to the parent type
    bench/fit_model.py --write    also writes constants.inc and measured.inc in src/kernels/predict, and the tables
                                  between the marks of docs/choosing.md

A product's time is a sum of terms with constants that are not negative, one set for each format and space. The fit
minimizes the sum of squared relative errors. Regret is the time of the format that the model chooses, over that of the
fastest, minus 1. It needs nothing but Python.
"""

import argparse
import json
import pathlib
import re
from statistics import mean

HERE = pathlib.Path(__file__).resolve().parent
PREDICT = HERE.parent / "src/kernels/predict"
CHOOSING = HERE.parent / "docs/choosing.md"
FORMATS = ["csr", "rbp", "fold", "crsv", "codsell", "cluster"]
PREDICT_H = (HERE.parent / "include/spmv_predict.h").read_text()
MARGIN, DECLINE_HOST, DECLINE_GPU = (float(re.search(rf"SPMV_{name} +([0-9.]+)", PREDICT_H)[1])
                                     for name in ("PREDICT_MARGIN", "DECLINE_HOST", "DECLINE_GPU"))
DECLINE = {"SPMV_HOST": DECLINE_HOST, "SPMV_DEVICE": DECLINE_GPU}
TOLERANCE = 0.03  # a product counts as slower or faster than the parent's beyond this
FACTS = ["repeated", "loose", "uneven", "far"]  # of a pattern, in the order of SpmvPatternFacts

# A file may have several parts, which are outputs of spmv_bench themselves; of those behind the first, variants alone count.
# In "corrected" values are symmetric but for 3 ulps, so that mirrors are read as corrections, as an analysis expects.
GPU_FILES = {"h200-spmv": [None], "h200-spmv-longrows": [None], "h200-shapes": [None], "h200-cluster": ["corrected", "equal"]}
GPU_KERNELS = {"cusparse_csr_alg1": "csr", "rbp:format=packed": "rbp", "rbp": "rbp", "fold": "fold", "crsv": "crsv", "codsell": "codsell",
               "cluster:symmetry=exact": "cluster"}
# Kernels that the constants of a format are fitted to as well, though nobody who leaves its options alone gets them where
# the values are symmetric
VARIANTS = {"cluster:symmetry=none": "cluster", "cluster:symmetry=declared": "cluster"}
# Arrays that a product does not read, where a file has sizes of arrays alone: see cluster_product_bytes()
UNREAD = {"cluster": ["mirrors", "places", "row_begin", "row_entries", "long_begin"]}
GPU_LAUNCH = 2.5e-6  # of an H200: no file has it, so the constants of launches are in units of this

# The files of families have what the probe measured, the best of its runs on a shared machine, for the Xeon that of the run
# in which it agreed with what plain CSR reads. Of the older ones, the EPYC's bandwidth
# is what its fastest product reads, the Xeon's what plain CSR reads; the rate is the probe's on the EPYC for both.
EPYC = {"bandwidth": 26.6e9, "cache_bandwidth": 87e9, "cache_bytes": 2**25, "rate": 1.86e9}
XEON = {"bandwidth": 11.5e9, "cache_bandwidth": 60e9, "cache_bytes": 2**25, "rate": 1.86e9}
HOST_FILES = {
    "host-epyc-families": None,
    "host-epyc-cluster": None,
    "host-xeon-families": None,
    "host-epyc-avx512": EPYC,
    "host-epyc-avx2": EPYC,
    "host-xeon-avx512": XEON,
    "host-xeon-avx2": XEON,
}
# In the fit of these formats alone, as fast in comparison with the prediction for rbp as they were with rbp in the same run.
# With all formats of this machine in the fit, aijauto is worse on others: the mean regret of host-auto.json goes from 10.9%
# to 15.4%.
ONLY_FOR = {"host-epyc-cluster": ["cluster"]}
# No part of the fit: petsc_bench measured MatMult() there, facts and bytes are those of host_bench
UNSEEN_FILE = "host-auto"
HOST_KERNELS = {"aij": "csr", "rbp": "rbp", "fold": "fold", "crsv": "crsv", "codsell": "codsell", "cluster": "cluster"}
# The older files lack the facts of the patterns: they are those of a matrix of the same family, for each nonzero
SAME_FAMILY = {"27:80:3": "hex3:60", "27:130": "stencil27:100", "9:2000": "stencil9:1500", "7:190": "stencil7:150",
               "5:2500": "stencil5:2500", "tets3": "tet3_rcm:50", "tet_p1": "p1_rcm:114"}
GROUPS = {"stencil5": "stencils of the plane", "stencil9": "stencils of the plane", "stencil7": "stencils of space",
          "stencil27": "stencils of space", "hex3": "elasticity, hexahedra", "tet3": "elasticity, tetrahedra",
          "p2tet3": "elasticity, quadratic tetrahedra", "p1": "diffusion", "p2": "diffusion, quadratic", "edge": "edge elements"}

OTHER, AMD, INTEL = "SPMV_PROCESSOR_OTHER", "SPMV_PROCESSOR_AMD", "SPMV_PROCESSOR_INTEL"
# Whose measurements the constants of each maker of processors come from. The older files of the Xeon, which have rbp and aij
# alone, beyond the caches, also keep AMD's constants from following single machines.
PROCESSORS = {
    "SPMV_HOST": {AMD: lambda c: c["source"] != "host-xeon-families", INTEL: lambda c: c["machine"]["processor"] == INTEL},
    "SPMV_DEVICE": {OTHER: lambda c: True},
}


# Of spmv_machine_reference()
def reference(processor):
    if processor == OTHER:
        return {"bandwidth": 4.235e12, "cache_bandwidth": 4.235e12, "cache_bytes": 0, "rate": 4.235e12 / 8, "launch": GPU_LAUNCH, "processor": OTHER}
    return read("host-epyc-families" if processor == AMD else "host-xeon-families")["machine"] | {"launch": 0, "processor": processor}

# The terms: each a name of a field of the constants, and its value for a workload w on a machine m
TERMS = {
    "launches": lambda w, m: m["launch"],
    "sums": lambda w, m: m["launch"] * (w["work_bytes"] > 0),
    "bytes": lambda w, m: read_all(w, m),
    "work": lambda w, m: w["work_bytes"] / m["bandwidth"],
    "rows": lambda w, m: w["rows"] / m["rate"],
    "uneven": lambda w, m: w["uneven"] / m["rate"],
    "nonzeros": lambda w, m: w["nnz"] / m["rate"],
    "repeated": lambda w, m: w["repeated"] / m["rate"],
    "loose": lambda w, m: w["loose"] / m["rate"],
    "far": lambda w, m: 64 * w["far"] / m["bandwidth"],
    "pairs": lambda w, m: w["pairs"] / m["rate"],
    "corrected": lambda w, m: w["corrected"] / m["rate"],
}
# Those of conversions and refreshes, and the fields of the constants: a conversion on the host has a start, such as a
# dictionary to be emptied, which small matrices pay as well
COSTS = {
    "launches": lambda c, m: m["launch"],
    "start": lambda c, m: 1 / m["rate"],
    "rows": lambda c, m: c["rows"] / m["rate"],
    "nonzeros": lambda c, m: c["nnz"] / m["rate"],
}
CONVERSIONS = {
    "SPMV_DEVICE": {"convert": {"launches": "convert_launches", "nonzeros": "convert"}, "refresh": {"launches": "refresh_launches", "nonzeros": "refresh"}},
    "SPMV_HOST": {"convert": {"start": "convert_start", "rows": "convert_rows", "nonzeros": "convert"}, "refresh": {"nonzeros": "refresh"}},
}
CONVERSION_FIELDS = ["convert_launches", "convert_start", "convert_rows", "convert", "refresh_launches", "refresh"]
USED = {"SPMV_DEVICE": ["launches", "sums", "bytes", "work", "rows", "pairs", "corrected"],
        "SPMV_HOST": ["bytes", "rows", "uneven", "nonzeros", "repeated", "loose", "far", "pairs", "corrected"]}


def read_all(w, m):
    total = w["bytes"] + 8 * (w["rows"] + w["cols"])
    return total / (m["cache_bandwidth"] if total <= m["cache_bytes"] else m["bandwidth"])


def read(name):
    return json.loads((HERE / "results" / f"{name}.json").read_text())


def group_of(matrix):
    family = re.split(r"[:_]", matrix)[0]
    return GROUPS.get(family, family)


def case(source, group, matrix, machine, rows, cols, nnz):
    return {"source": source, "group": group, "matrix": matrix, "machine": machine, "rows": rows, "cols": cols, "nnz": nnz,
            "formats": {}, "variants": []}


def add(c, kernels, kernel, measured):
    """Notes what a kernel took, if it is one of a format; variants are in the fit, but no choice"""
    if kernel in VARIANTS:
        c["variants"].append((VARIANTS[kernel], measured))
    else:
        c["formats"][kernels[kernel]] = measured


def pairs_of(kernel, arrays):
    """Lanes of symmetric pairs, and of those with corrections. On the host, whose file is older, there is a place, of 1
    byte, for each column, of 2 bytes, and for each such lane. On a GPU each lane has mirrors of 8 bytes and corrections:
    8 for each byte where a block is one value, 72 for 12 bytes where it is one of 3 x 3."""
    if not kernel.startswith("cluster"):
        return {"pairs": 0, "corrected": 0}
    mirrors, corrections = arrays["mirrors"], arrays["corrections"]
    if "columns" in arrays:
        pairs = arrays["places"] - arrays["columns"] // 2
        assert mirrors % (8 * pairs or 1) == 0, "places of 2 bytes"
    else:
        assert corrections == 0 or mirrors in (6 * corrections, 8 * corrections), "blocks of 1 or 3 unknowns"
        pairs = mirrors // 72 if mirrors == 6 * corrections else mirrors // 8
    return {"pairs": pairs, "corrected": pairs if corrections > 0 else 0}


def gpu_record(r, csr_bytes):
    facts = r.get("facts", {})
    unread = sum(facts["arrays"].get(a, 0) for a in UNREAD.get(r["kernel"].split(":")[0], []))
    conversion = r.get("conversion", {}).get("device_with_host_pattern")  # PETSc keeps a copy of the pattern on the host
    return {"seconds": 1e-6 * r["us"], "accepted": r.get("accepted", True), "bytes": facts.get("predicted_bytes", csr_bytes) - unread,
            "work_bytes": facts.get("work_bytes", 0), "facts": dict.fromkeys(FACTS, 0), **pairs_of(r["kernel"], facts.get("arrays", {})),
            "convert": 1e-6 * conversion["us"] if conversion else None,
            "refresh": 1e-6 * r["refresh_us"]["median"] if "refresh_us" in r else None}


def gpu_cases():
    cases = []
    for name, parts in GPU_FILES.items():
        found = {}
        for part in parts:
            data = read(name)[part] if part else read(name)
            bandwidth = data["header"]["copy_bytes_per_s"]
            machine = {"bandwidth": bandwidth, "cache_bandwidth": bandwidth, "cache_bytes": 0, "rate": bandwidth / 8, "launch": GPU_LAUNCH,
                       "processor": OTHER}
            for m in data["matrices"]:
                new = case(name, m["group"], m["name"], machine, m["rows"], m["cols"], m["nnz"]) | {"csr_bytes": m["csr_bytes"]}
                found.setdefault(m["name"], new)
            for r in data["records"]:
                c = found[r["matrix"]]
                if r["kernel"] in {**(GPU_KERNELS if part == parts[0] else {}), **VARIANTS} and r.get("ok"):
                    add(c, GPU_KERNELS, r["kernel"], gpu_record(r, c["csr_bytes"]))
        cases += [c for c in found.values() if c["formats"]]
    return cases


def maker_of(data):
    return AMD if "AMD" in data["cpu"] else INTEL


def host_cases():
    cases, facts = [], {}
    for name, machine in HOST_FILES.items():
        data = read(name)
        machine = (machine or data["machine"]) | {"launch": 0, "processor": maker_of(data)}
        for m in data["results"]:
            if "far" in m:
                facts[m["matrix"]] = {fact: m[fact] / m["nnz"] for fact in FACTS}
            known = SAME_FAMILY.get(m["matrix"], m["matrix"])
            c = case(name, group_of(known), m["matrix"], machine, m["rows"], m["cols"], m["nnz"])
            for k in m["kernels"]:
                if k["name"] in {**HOST_KERNELS, **VARIANTS}:
                    add(c, HOST_KERNELS, k["name"], {
                        "seconds": 1e-3 * k["min_ms"], "accepted": k["accepted"], "bytes": k.get("read_bytes", k["bytes"]),
                        "work_bytes": k.get("work_bytes", 0), "pairs": k.get("pairs", 0), "corrected": k.get("corrected", 0),
                        "facts": {fact: round(facts[known][fact] * m["nnz"]) for fact in FACTS},
                        "convert": 1e-3 * (k["analyze_ms"] + k["build_ms"]) or None, "refresh": 1e-3 * k["update_ms"] or None})
            cases.append(c)
    return cases


def unseen_cases():
    data, cases = read(UNSEEN_FILE), []
    for m in data["matrices"]:
        named, facts = m["named"], m["facts"]
        c = case(UNSEEN_FILE, group_of(named["matrix"]), named["matrix"], data["machine"] | {"launch": 0, "processor": maker_of(data)},
                 named["rows"], named["cols"], named["nnz"])
        for r in named["records"]:
            name = HOST_KERNELS.get(r["type"]) or r["type"].removeprefix("aij")
            own = {"accepted": True, "bytes": facts["csr_bytes"], "work_bytes": 0} if name == "csr" else facts["formats"].get(name)
            if name not in FORMATS or not own:
                continue
            c["formats"][name] = {"pairs": 0, "corrected": 0, "seconds": 1e-6 * r["least_us"], "facts": {fact: facts[fact] for fact in FACTS}} | own
        cases.append(c)
    return cases


def workload(c, f):
    return {k: c[k] for k in ("rows", "cols", "nnz")} | {k: f[k] for k in ("bytes", "work_bytes", "pairs", "corrected")} | f["facts"]


def least_squares(rows, sweeps=20000):
    """The x >= 0 that makes all rows . x as near to 1 as possible, by coordinate descent"""
    n = len(rows[0])
    a = [[sum(r[i] * r[j] for r in rows) for j in range(n)] for i in range(n)]
    b = [sum(r[i] for r in rows) for i in range(n)]
    x = [0.0] * n
    for _ in range(sweeps):
        change = 0
        for i in range(n):
            if a[i][i] > 0:
                new = max(0.0, x[i] + (b[i] - sum(a[i][j] * x[j] for j in range(n))) / a[i][i])
                change, x[i] = max(change, abs(new - x[i])), new
        if change < 1e-12:
            break
    return x


def fit(cases, space):
    """The constants of every format, for each maker of processors"""
    return {processor: fit_processor([c for c in cases if belongs(c)], space) for processor, belongs in PROCESSORS[space].items()}


def drift(c, constants):
    """What the constants of rbp predict over what it took, where a format is compared with it"""
    if c["source"] not in ONLY_FOR:
        return 1
    f = c["formats"]["rbp"]
    return sum(constants["rbp"][t] * TERMS[t](workload(c, f), c["machine"]) for t in TERMS) / f["seconds"]


def fit_processor(cases, space):
    constants = {}
    for name in FORMATS:
        with_it = [(c, f) for c in cases for n, f in [*c["formats"].items(), *c["variants"]]
                   if n == name and name in ONLY_FOR.get(c["source"], FORMATS)]
        if not with_it:
            continue
        rows = [[TERMS[t](workload(c, f), c["machine"]) / f["seconds"] / drift(c, constants) for t in USED[space]] for c, f in with_it]
        constants[name] = dict.fromkeys([*TERMS, *CONVERSION_FIELDS], 0.0) | dict(zip(USED[space], least_squares(rows)))
        for what, terms in CONVERSIONS[space].items():
            rows = [[COSTS[t](c, c["machine"]) / f[what] for t in terms] for c, f in with_it if f[what]]
            constants[name] |= dict(zip(terms.values(), least_squares(rows) if rows else [0.0] * len(terms)))
    return constants


def predicted(c, name, constants):
    own = constants[c["machine"]["processor"]]
    return sum(own[name][t] * TERMS[t](workload(c, c["formats"][name]), c["machine"]) for t in TERMS)


def choose(c, constants):
    """The format that the model chooses among those that do not decline, the fastest of them, the regret, and how much
    longer the choice takes than CSR by others"""
    possible = {n: f["seconds"] for n, f in c["formats"].items() if f["accepted"] and n in constants[c["machine"]["processor"]]}
    margin = {n: 1 if n == "csr" else MARGIN for n in possible}
    chosen, best = min(possible, key=lambda n: margin[n] * predicted(c, n, constants)), min(possible, key=possible.get)
    return chosen, best, possible[chosen] / possible[best] - 1, possible[chosen] / possible["csr"] - 1


def leave_one_out(cases, space):
    result = []
    for group in sorted({c["group"] for c in cases}):
        constants = fit([c for c in cases if c["group"] != group], space)
        result += [(c, *choose(c, constants)) for c in cases if c["group"] == group]
    return result


def table(cases, space):
    """Markdown: for each family the regret when it is left out of the fit"""
    constants, result = fit(cases, space), [r for r in leave_one_out(cases, space) if r[0]["source"] not in ONLY_FOR]
    cases = in_tables(cases)
    lines = ["| family | matrices | mean regret | largest | where, and what was chosen in place of what | all in the fit: mean | largest |"
             " most against CSR |", "|---|---:|---:|---:|---|---:|---:|---:|"]
    for group in sorted({c["group"] for c in cases}) + [None]:
        of_it = [r for r in result if group in (None, r[0]["group"])]
        worst = max(of_it, key=lambda r: r[3])
        where = f"{worst[0]['matrix']} ({worst[0]['source']}): {worst[1]} for {worst[2]}" if worst[3] > 0 else ""
        inside = [choose(r[0], constants)[2:] for r in of_it]
        lines.append(f"| {group or '**all**'} | {len(of_it)} | {mean(r[3] for r in of_it):.1%} | {worst[3]:.1%} | {where} | "
                     f"{mean(i[0] for i in inside):.1%} | {max(i[0] for i in inside):.1%} | {max(i[1] for i in inside):+.1%} |")
    return "\n".join(lines) + "\n"


def in_tables(cases):
    """Those whose formats are all in the fit"""
    return [c for c in cases if c["source"] not in ONLY_FOR]


def verdicts_of(cases, processor, constants):
    """For every format that accepts a matrix: predicted and measured time over CSR's. The machine is the reference machine,
    as for types that a user names"""
    machine, result = reference(processor), []
    for c in cases:
        if c["machine"]["processor"] != processor or "csr" not in c["formats"]:
            continue
        here = c | {"machine": machine}
        for name, f in c["formats"].items():
            if name != "csr" and name in constants[processor] and f["accepted"]:
                result.append((predicted(here, name, constants) / predicted(here, "csr", constants),
                               f["seconds"] / c["formats"]["csr"]["seconds"]))
    return result


def verdicts(cases, space, processor, everything_fitted):
    """The family of the matrix is left out of the fit unless everything_fitted"""
    result = []
    for group in sorted({c["group"] for c in cases}):
        constants = fit([c for c in cases if everything_fitted or c["group"] != group], space)
        result += verdicts_of([c for c in in_tables(cases) if c["group"] == group], processor, constants)
    return result


def verdict_line(where, margin, mark, all_of_it):
    declined, kept = [t for p, t in all_of_it if p > margin], [t for p, t in all_of_it if p <= margin]
    slower, faster = (lambda ts: sum(t > 1 + TOLERANCE for t in ts)), (lambda ts: sum(t < 1 - TOLERANCE for t in ts))
    name = "bytes alone" if margin == float("inf") else mark
    return (f"| {where} | {name} | {slower(declined)} | {slower(kept)} | {faster(declined)} | {faster(kept)} | "
            f"{sum(max(0, t - 1) for t in kept) / len(all_of_it):.1%} | {max(t for t in kept) - 1:.0%} | "
            f"{sum(max(0, 1 - t) for t in kept) / len(all_of_it):.1%} |")


def verdict_table(cases_of):
    """Markdown: what several margins would decline"""
    lines = ["| where | margin | slower, declined | slower, kept | faster, declined | faster, kept | mean loss | largest | mean gain |",
             "|---|---:|---:|---:|---:|---:|---:|---:|---:|"]
    for space, processor, where in (("SPMV_HOST", AMD, "EPYC"), ("SPMV_HOST", INTEL, "Xeon"), ("SPMV_DEVICE", OTHER, "H200")):
        for everything_fitted in (False, True):
            all_of_it = verdicts(cases_of[space], space, processor, everything_fitted)
            for margin in (float("inf"), 1.0, 1.1, 1.2, 1.3) if not everything_fitted else (DECLINE[space],):
                mark = "**" if margin == DECLINE[space] else ""
                mark = f"{mark}{margin:.1f}{mark}{', all in the fit' if everything_fitted else ''}"
                lines.append(verdict_line(where, margin, mark, all_of_it))
    unseen = verdicts_of(unseen_cases(), AMD, fit(cases_of["SPMV_HOST"], "SPMV_HOST"))
    for margin in (float("inf"), DECLINE_HOST):
        lines.append(verdict_line("another EPYC", margin, f"**{margin:.1f}**, no part in the fit", unseen))
    return "\n".join(lines) + "\n"


def print_regrets(cases_of):
    results = [r for space, cases in cases_of.items() for r in leave_one_out(cases, space)]
    constants = fit(cases_of["SPMV_HOST"], "SPMV_HOST")
    unseen = [(c, *choose(c, constants)) for c in unseen_cases()]
    for c, chosen, best, regret, loss in results + unseen:
        print(f"{c['source']:20} {c['matrix']:22} {chosen:8} best {best:8} {regret:6.1%} {loss:+7.1%} against CSR")
    for source, formats in ONLY_FOR.items():
        of_it = [r for r in results if r[0]["source"] == source]
        print(f"{source}, in the fit of {', '.join(formats)} alone: mean regret {mean(r[3] for r in of_it):.1%}, largest "
              f"{max(r[3] for r in of_it):.1%}; chosen {sum(r[1] in formats for r in of_it)} times, "
              f"best {sum(r[2] in formats for r in of_it)} times")
    print(f"no part in the fit: mean regret {mean(r[3] for r in unseen):.1%}, largest {max(r[3] for r in unseen):.1%}")


def write_constants(sets):
    """Rows of the table of predict.c, in the order of its fields"""
    fields = [*TERMS, *CONVERSION_FIELDS]
    lines = ["/* clang-format off */", "/* Written by bench/fit_model.py from bench/results: do not edit. Space, processor, format, and", "   " + ", ".join(fields) + " */"]
    for space, processor, constants in ((s, p, c) for s, of_all in sets.items() for p, c in of_all.items()):
        for name, c in constants.items():
            lines.append(f'{{{space}, {processor}, "{name}", ' + ", ".join(f"{c[f]:.4g}" for f in fields) + "},")
    (PREDICT / "constants.inc").write_text("\n".join(lines) + "\n")


def write_measured(cases_of):
    """Rows of the table of predict_test.c: a format of a matrix in each, those of a matrix one after the other"""
    lines = ["/* clang-format off */", "/* Written by bench/fit_model.py from bench/results: do not edit. space, matrix, machine, rows, cols, nnz; format, accepted,",
             "   bytes, work_bytes, pairs, corrected, facts, seconds */"]
    for space, cases in cases_of.items():
        for c in in_tables(cases):
            m = c["machine"]
            machine = ", ".join(f"{m[k]:.6g}" for k in ("bandwidth", "cache_bandwidth", "cache_bytes", "rate", "launch")) + f', {m["processor"]}'
            for name, f in c["formats"].items():
                lines.append(f'{{{space}, "{c["source"]} {c["matrix"]}", {{{machine}}}, {c["rows"]}, {c["cols"]}, {c["nnz"]}, "{name}", '
                             f'{int(f["accepted"])}, {f["bytes"]}, {f["work_bytes"]}, {f["pairs"]}, {f["corrected"]}, {{{", ".join(str(f["facts"][k]) for k in FACTS)}}}, {f["seconds"]:.6g}}},')
    (PREDICT / "measured.inc").write_text("\n".join(lines) + "\n")


def write_tables(tables):
    text = CHOOSING.read_text()
    for mark, lines in tables.items():
        begin, end = f"<!-- {mark}:begin -->\n", f"<!-- {mark}:end -->"
        text = text[: text.index(begin) + len(begin)] + lines + text[text.index(end) :]
    CHOOSING.write_text(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--write", action="store_true", help="write the constants, the table of the unit test and the document")
    arguments = parser.parse_args()
    cases_of = {"SPMV_HOST": host_cases(), "SPMV_DEVICE": gpu_cases()}
    tables = {"declined": verdict_table(cases_of), "gpu": table(cases_of["SPMV_DEVICE"], "SPMV_DEVICE"), "host": table(cases_of["SPMV_HOST"], "SPMV_HOST")}
    print_regrets(cases_of)
    print("\n".join(tables.values()))
    if arguments.write:
        write_constants({space: fit(cases, space) for space, cases in cases_of.items()})
        write_measured(cases_of)
        write_tables(tables)


if __name__ == "__main__":
    main()
