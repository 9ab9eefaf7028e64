#!/usr/bin/env python3
"""Fits the coefficients of the cost model of products (src/kernels/predict) to committed measurements.

    bench/fit_model.py                  prints the regret of each matrix, by a fit without its family
    bench/fit_model.py --write          also writes src/kernels/predict/constants.inc, and the tables between the marks of
                                        docs/choosing.md
    bench/fit_model.py --check PROGRAM  compares the committed coefficients with a new fit, and the predictions of PROGRAM
                                        (predict_driver) with those of this script; checks the regrets

The predicted time of a product is a sum of terms with nonnegative coefficients, one set for each format and space. The fit
minimizes the sum of squared relative errors. Regret is the time of the chosen format divided by that of the fastest one, minus 1.
Needs Python only.
"""

import argparse
import re
import subprocess
import sys
from statistics import mean, median

from figures import HERE, RESULTS, load, put_between_marks

CONSTANTS = HERE.parent / "src/kernels/predict/constants.inc"
CHOOSING = HERE.parent / "docs/choosing.md"
FORMATS = ["csr", "rbp", "fold", "crsv", "codsell"]
MARGIN = float(re.search(r"SPMV_PREDICT_MARGIN +([0-9.]+)", (HERE.parent / "include/spmv_predict.h").read_text())[1])
FACTS = ["repeated", "loose", "uneven", "far"]  # fields of SpmvPatternFacts, in this order
HOST, DEVICE = "SPMV_HOST", "SPMV_DEVICE"
CACHE_LINE = 64

GPU_FILES = ["h200-spmv", "h200-spmv-longrows", "h200-shapes"]
GPU_UPLOADS = "h200-auto"
GPU_KERNELS = {"cusparse_csr_alg1": "csr", "rbp:format=packed": "rbp", "rbp": "rbp", "fold": "fold", "crsv": "crsv", "codsell": "codsell"}

# The speed of each machine, which makes measurements comparable: bytes per second from memory and from the caches, and nonzeros
# per second of plain CSR in the cache. Files of families have it from a probe. For the older files, the bandwidth of the EPYC is
# that of its fastest product, and that of the Xeon is that of plain CSR. SCALED: the speed of the reference machine, scaled so that
# the median of measured over predicted times of the baseline is 1.
EPYC = {"bandwidth": 26.6e9, "cache_bandwidth": 87e9, "cache_bytes": 2**25, "rate": 1.86e9}
XEON = {"bandwidth": 11.5e9, "cache_bandwidth": 60e9, "cache_bytes": 2**25, "rate": 1.86e9}
SCALED = "scaled"
HOST_FILES = {"host-epyc-families": None, "host-xeon-families": None, "host-epyc-avx512": EPYC,
              "host-epyc-avx2": EPYC, "host-xeon-avx512": XEON, "host-xeon-avx2": XEON, "host-epyc-small": SCALED}
HOST_KERNELS = {"aij": "csr", "rbp": "rbp", "fold": "fold", "crsv": "crsv", "codsell": "codsell"}
UNSEEN_FILES = ["host-auto", "host-epyc-auto"]  # not used for the fit: times of MatMult() by petsc_bench
# The reference machines, for which predictions are made
REFERENCE = {HOST: {"bandwidth": 1.572e10, "cache_bandwidth": 9.332e10, "cache_bytes": 2**25, "rate": 1.862e9, "launch": 1e-6},
             DEVICE: {"bandwidth": 4.235e12, "cache_bandwidth": 4.235e12, "cache_bytes": 0, "rate": 4.235e12 / 8, "launch": 2.5e-6}}
# The older files lack facts of patterns: these are taken, per nonzero, from a matrix of the same family
SAME_FAMILY = {"27:80:3": "hex3:60", "27:130": "stencil27:100", "9:2000": "stencil9:1500", "7:190": "stencil7:150",
               "5:2500": "stencil5:2500", "tets3": "tet3_rcm:50", "tet_p1": "p1_rcm:114"}
GROUPS = {"stencil5": "stencils of the plane", "stencil9": "stencils of the plane", "stencil7": "stencils of space",
          "stencil27": "stencils of space", "hex3": "elasticity, hexahedra", "tet3": "elasticity, tetrahedra",
          "p2tet3": "elasticity, quadratic tetrahedra", "p1": "diffusion", "p2": "diffusion, quadratic", "edge": "edge elements"}

# Each term: the field of Coefficients, its unit in seconds, and its cost for a workload w in seconds on a machine m
TERMS = {
    "start": (1e-6, lambda w, m: m["launch"]),
    "sums": (1e-6, lambda w, m: m["launch"] * (w["work_bytes"] > 0)),
    "bytes": (1, lambda w, m: read_all(w, m)),
    "work": (1e-12, lambda w, m: w["work_bytes"] / m["bandwidth"]),
    "rows": (1e-12, lambda w, m: w["rows"] / m["rate"]),
    "uneven": (1e-12, lambda w, m: w["uneven"] / m["rate"]),
    "nonzeros": (1e-12, lambda w, m: w["nnz"] / m["rate"]),
    "repeated": (1e-12, lambda w, m: w["repeated"] / m["rate"]),
    "loose": (1e-12, lambda w, m: w["loose"] / m["rate"]),
    "far": (1e-12, lambda w, m: CACHE_LINE * w["far"] / m["bandwidth"]),
}
CONVERSION = {
    "convert_start": (1e-6, lambda w, m: m["launch"]),
    "convert_rows": (1e-12, lambda w, m: w["rows"] / m["rate"]),
    "convert_nonzeros": (1e-12, lambda w, m: w["nnz"] / m["rate"]),
}
USED = {DEVICE: ["start", "sums", "bytes", "work", "rows", "convert_start", "convert_nonzeros"],
        HOST: ["start", "bytes", "rows", "uneven", "nonzeros", "repeated", "loose", "far", "convert_start", "convert_rows", "convert_nonzeros"]}
# Limits of the mean regret: with the family left out (on the GPU, for products of 20 us or more), and on unseen matrices
LIMITS = {DEVICE: 0.03, HOST: 0.12, "host-auto": 0.13, "host-epyc-auto": 0.13}


def read_all(w, m):
    total = w["bytes"] + 8 * (w["rows"] + w["cols"])
    return total / (m["cache_bandwidth"] if total <= m["cache_bytes"] else m["bandwidth"])


def read(name):
    return load(RESULTS / f"{name}.json")


def case(source, group, matrix, machine, sizes):
    return {"source": source, "group": group, "matrix": matrix, "machine": machine, "formats": {}} | {k: sizes[k] for k in ("rows", "cols", "nnz")}


def gpu_record(r, c, per_byte):
    """The times of a kernel; both a conversion and the baseline begin with a copy of the pattern."""
    facts = r.get("facts", {})
    from_device = r.get("conversion", {})
    conversion = from_device.get("device_with_host_pattern") or from_device.get("device", {"us": 0})  # the first: of older files
    return {"seconds": 1e-6 * r["us"], "accepted": r.get("accepted", True), "bytes": facts.get("predicted_bytes", c["csr_bytes"]),
            "work_bytes": facts.get("work_bytes", 0), "facts": dict.fromkeys(FACTS, 0), "convert": 1e-6 * conversion["us"] + per_byte * 4 * (c["rows"] + c["nnz"])}


def gpu_cases():
    cases, per_byte = [], gpu_upload()
    for name in GPU_FILES:
        data, found = read(name), {}
        bandwidth = data["header"]["copy_bytes_per_s"]
        machine = REFERENCE[DEVICE] | {"bandwidth": bandwidth, "cache_bandwidth": bandwidth, "rate": bandwidth / 8}
        for m in data["matrices"]:
            found.setdefault(m["name"], case(name, m["group"], m["name"], machine, m) | {"csr_bytes": m["csr_bytes"]})
        for r in data["records"]:
            if r["kernel"] in GPU_KERNELS and r.get("ok"):
                c = found[r["matrix"]]
                c["formats"][GPU_KERNELS[r["kernel"]]] = gpu_record(r, c, per_byte)
        cases += [c for c in found.values() if c["formats"]]
    return cases


def gpu_upload():
    """Seconds per byte to upload a pattern, from the first products of PETSc's CSR on the GPU, minus the time of a product."""
    first = []
    for m in read(GPU_UPLOADS)["matrices"]:
        named = m["named"]
        csr = next(r for r in named["records"] if r["type"] == "aijcusparse")
        first.append((12 * named["nnz"] + 4 * named["rows"], 1e-6 * (csr["first_us"] - named["first"] * csr["us"])))
    return least_squares([[1 / seconds, size / seconds] for size, seconds in first])[1]


def group_of(matrix):
    family = re.split(r"[:_]", matrix)[0]
    return GROUPS.get(family, family)


def host_cases():
    cases, facts = [], {}
    for name, machine in HOST_FILES.items():
        data = read(name)
        scaled = machine == SCALED
        machine = (REFERENCE[HOST] if scaled else machine or data["machine"]) | {"launch": REFERENCE[HOST]["launch"]}
        begin = len(cases)
        for m in data["results"]:
            if "far" in m:
                facts[m["matrix"]] = {fact: m[fact] / m["nnz"] for fact in FACTS}
            known = SAME_FAMILY.get(m["matrix"], m["matrix"])
            c = case(name, group_of(known), m["matrix"], machine, m)
            for k in m["kernels"]:
                if k["name"] in HOST_KERNELS:
                    c["formats"][HOST_KERNELS[k["name"]]] = {
                        "seconds": 1e-3 * k["min_ms"], "accepted": k["accepted"], "bytes": k["bytes"], "work_bytes": k.get("work_bytes", 0),
                        "facts": {fact: round(facts[known][fact] * m["nnz"]) for fact in FACTS},
                        "convert": 1e-3 * (k["analyze_ms"] + k["build_ms"]) or None}
            cases.append(c)
        if scaled:
            baseline = fit(cases[:begin], HOST)
            factor = median(predicted(c, "csr", baseline) / c["formats"]["csr"]["seconds"] for c in cases[begin:])
            machine |= {speed: factor * machine[speed] for speed in ("bandwidth", "cache_bandwidth", "rate")}
    return cases


def unseen_cases(file):
    cases = []
    for m in read(file)["matrices"]:
        named, facts = m["named"], m["facts"]
        c = case(file, group_of(named["matrix"]), named["matrix"], REFERENCE[HOST], named)
        for r in named["records"]:
            name = HOST_KERNELS.get(r["type"]) or r["type"].removeprefix("aij")
            own = {"accepted": True, "bytes": facts["csr_bytes"], "work_bytes": 0} if name == "csr" else facts["formats"].get(name)
            if name in FORMATS and own:
                c["formats"][name] = {"seconds": 1e-6 * r["least_us"], "facts": {fact: facts[fact] for fact in FACTS}} | own
        cases.append(c)
    return cases


def workload(c, f):
    return {k: c[k] for k in ("rows", "cols", "nnz")} | {k: f[k] for k in ("bytes", "work_bytes")} | f["facts"]


def least_squares(rows, sweeps=20000):
    """The x >= 0 that minimizes the sum of (row . x - 1)^2 over all rows, by coordinate descent."""
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
    """The coefficients of every format, relative to the speed of a machine."""
    result = {}
    for name in FORMATS:
        with_it = [(workload(c, f), c["machine"], f) for c in cases for n, f in c["formats"].items() if n == name]
        products = [(w, m, f["seconds"]) for w, m, f in with_it]
        conversions = [(w, m, f["convert"]) for w, m, f in with_it if f["convert"]]
        result[name] = dict.fromkeys([*TERMS, *CONVERSION], 0.0)
        for terms, measured in ((TERMS, products), (CONVERSION, conversions)):
            used = [t for t in terms if t in USED[space]]
            rows = [[terms[t][1](w, m) / seconds for t in used] for w, m, seconds in measured]
            result[name] |= dict(zip(used, least_squares(rows) if rows else [0.0] * len(used)))
    return result


def predicted(c, name, coefficients, machine=None):
    w = workload(c, c["formats"][name])
    return sum(coefficients[name][t] * term(w, machine or c["machine"]) for t, (_, term) in TERMS.items())


def choose(c, predict):
    """The chosen format among those that do not decline, the fastest of them, the regret, and how much longer the choice takes than
    the baseline. predict(format) returns seconds."""
    possible = {n: f["seconds"] for n, f in c["formats"].items() if f["accepted"]}
    chosen = min(possible, key=lambda n: (1 if n == "csr" else MARGIN) * predict(n))
    best = min(possible, key=possible.get)
    return c, chosen, best, possible[chosen] / possible[best] - 1, possible[chosen] / possible["csr"] - 1


def choices(cases, coefficients):
    return [choose(c, lambda n: predicted(c, n, coefficients)) for c in cases]


def leave_one_out(cases, space):
    result = []
    for group in sorted({c["group"] for c in cases}):
        coefficients = fit([c for c in cases if c["group"] != group], space)
        result += choices([c for c in cases if c["group"] == group], coefficients)
    return result


def table(cases, coefficients, left_out):
    """Markdown: the regret of each family, with the family left out of the fit and with all families in the fit."""
    lines = ["| family | matrices | mean regret | largest | where: chosen, fastest | all in the fit: mean | largest |"
             " most against CSR |", "|---|---:|---:|---:|---|---:|---:|---:|"]
    inside = {id(r[0]): r for r in choices(cases, coefficients)}
    for group in sorted({c["group"] for c in cases}) + [None]:
        of_it = [r for r in left_out if group in (None, r[0]["group"])]
        worst = max(of_it, key=lambda r: r[3])
        where = f"{worst[0]['matrix']} ({worst[0]['source']}): {worst[1]}, {worst[2]}" if worst[3] > 0 else ""
        fitted = [inside[id(r[0])] for r in of_it]
        lines.append(f"| {group or '**all**'} | {len(of_it)} | {mean(r[3] for r in of_it):.1%} | {worst[3]:.1%} | {where} | "
                     f"{mean(r[3] for r in fitted):.1%} | {max(r[3] for r in fitted):.1%} | {max(r[4] for r in fitted):+.1%} |")
    return "\n".join(lines) + "\n"


def in_units(coefficients, space):
    """Coefficients in the units of constants.inc: seconds on the reference machine."""
    m, one = REFERENCE[space], dict.fromkeys(["rows", "cols", "nnz", "work_bytes", *FACTS], 1)
    return {t: coefficients[t] * (1 if t == "bytes" else term(one, m) / unit) for t, (unit, term) in (TERMS | CONVERSION).items()}


def constants_text(fits):
    """The text of constants.inc, with coefficients in the order of the fields in predict.c."""
    fields = [*TERMS, *CONVERSION]
    lines = ["/* Written by bench/fit_model.py from bench/results: do not edit. space, format, " + ", ".join(fields) + " */", "/* clang-format off */",
             "static const Coefficients coefficients[] = {"]
    for space, coefficients in fits.items():
        for name, c in coefficients.items():
            lines.append(f'  {{{space}, "{name}", ' + ", ".join(f"{in_units(c, space)[f]:.4g}" for f in fields) + "},")
    lines += ["};", "", "static const Memory memory_of[] = {"]
    for space, m in REFERENCE.items():
        lines.append(f'  [{space}] = {{{1e12 / m["bandwidth"]:.5g}, {1e12 / m["cache_bandwidth"]:.5g}, {m["cache_bytes"]}}},')
    return "\n".join([*lines, "};", "/* clang-format on */"]) + "\n"


def predictions_of(program, cases_of):
    """The predictions of the C code for every format of every case: {(id of the case, format): seconds}."""
    keys, lines = [], []
    for space, cases in cases_of.items():
        for c in cases:
            for name, f in c["formats"].items():
                keys.append((id(c), name))
                numbers = [*workload(c, f).values()]
                lines.append(" ".join([str(int(space == DEVICE)), name, *map(str, numbers)]))
    out = subprocess.run([program], input="\n".join(lines) + "\n", capture_output=True, text=True, check=True).stdout.split()
    return dict(zip(keys, map(float, out), strict=True))


def check(program, cases_of, fits, left_out, unseen):
    """Checks the committed file, the C code and the limits; returns messages about faults."""
    wrong = [] if CONSTANTS.read_text() == constants_text(fits) else ["constants.inc is not what --write writes: fit anew"]
    seconds = predictions_of(program, cases_of | unseen)
    for space, cases in cases_of.items():
        for c in cases:
            for name in c["formats"]:
                expected = predicted(c, name, fits[space], REFERENCE[space])
                if abs(seconds[id(c), name] / expected - 1) > 2e-3:  # coefficients are rounded to four digits
                    wrong.append(f"{c['matrix']} {name}: the program predicts {seconds[id(c), name]:.4g} s, the fit {expected:.4g} s")
    chosen = {file: [choose(c, lambda n: seconds[id(c), n]) for c in cases] for file, cases in unseen.items()}
    for where, results in [*left_out.items(), *chosen.items()]:
        regret = mean(r[3] for r in results if where != DEVICE or r[0]["formats"]["csr"]["seconds"] >= 20e-6)
        print(f"{where}: mean regret {regret:.1%}, limit {LIMITS[where]:.0%}, {len(results)} matrices")
        if regret > LIMITS[where]:
            wrong.append(f"{where}: mean regret {regret:.1%} above {LIMITS[where]:.0%}")
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--write", action="store_true", help="write the coefficients and the tables of the document")
    parser.add_argument("--check", metavar="PROGRAM", help="predict_driver: compare its predictions, and check regrets")
    arguments = parser.parse_args()
    cases_of, unseen = {HOST: host_cases(), DEVICE: gpu_cases()}, {file: unseen_cases(file) for file in UNSEEN_FILES}
    fits = {space: fit(cases, space) for space, cases in cases_of.items()}
    left_out = {space: leave_one_out(cases, space) for space, cases in cases_of.items()}
    if arguments.check:
        wrong = check(arguments.check, cases_of, fits, left_out, unseen)
        print("\n".join(wrong))
        sys.exit(1 if wrong else 0)
    of_unseen = {file: choices(cases, fits[HOST]) for file, cases in unseen.items()}
    for c, chosen, best, regret, loss in sum([left_out[HOST], left_out[DEVICE], *of_unseen.values()], []):
        print(f"{c['source']:20} {c['matrix']:22} {chosen:8} best {best:8} {regret:6.1%} {loss:+7.1%} against CSR")
    tables = {"gpu": table(cases_of[DEVICE], fits[DEVICE], left_out[DEVICE]), "host": table(cases_of[HOST], fits[HOST], left_out[HOST])}
    print("\n".join(tables.values()))
    for file, results in of_unseen.items():
        regrets = [r[3] for r in results]
        print(f"{file}, no part in the fit: mean regret {mean(regrets):.1%}, median {median(regrets):.1%}, largest {max(regrets):.1%}")
    if arguments.write:
        CONSTANTS.write_text(constants_text(fits))
        for mark, lines in tables.items():
            put_between_marks(CHOOSING, mark, lines)


if __name__ == "__main__":
    main()
