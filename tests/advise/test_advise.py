#!/usr/bin/env python3
"""Tests petscpack-advise: compares its facts about small matrices with numbers that Python computes.

    test_advise.py --program build/bin/petscpack-advise --types aijrbp aijcrsv ... [--mpiexec mpiexec] [--numbers=--int64]
"""
import argparse
import bz2
import collections
import gzip
import importlib.util
import io
import json
import lzma
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
# The rule of aijauto: number of products within which a conversion must pay, and the factor by which they must be faster
PRODUCTS, MARGIN = 500, 1.05
arguments = argparse.Namespace()


def elasticity(side, unknowns):
    """Entries of a matrix on a grid with that many unknowns per node, whose neighbours in the plane couple."""
    entries = {}
    for y in range(side):
        for x in range(side):
            for u, v in ((x, y), (x + 1, y), (x - 1, y), (x, y + 1), (x, y - 1)):
                if not (0 <= u < side and 0 <= v < side):
                    continue
                for i in range(unknowns):
                    for j in range(unknowns):
                        row, col = (y * side + x) * unknowns + i, (v * side + u) * unknowns + j
                        entries[row, col] = 4.0 + (i == j) if (u, v) == (x, y) else -1.0
    return side * side * unknowns, entries


def write_mtx(path, rows, cols, entries, field="real", symmetry="general"):
    with open(path, "w") as out:
        out.write(f"%%MatrixMarket matrix coordinate {field} {symmetry}\n% a comment\n\n{rows} {cols} {len(entries)}\n")
        for (i, j), value in entries.items():
            out.write(f"{i + 1} {j + 1}" + (f" {value!r}\n" if field == "real" else "\n"))


def write_binary(source, target):
    """Uses the converter of the examples, which has its own reader of Matrix Market files."""
    spec = importlib.util.spec_from_file_location("mtx_to_petsc", ROOT / "examples/mtx_to_petsc.py")
    converter = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(converter)
    rows, cols, entries = converter.read_matrix_market(str(source))
    codes = ("q" if "--int64" in arguments.numbers else "i", "f" if "--single" in arguments.numbers else "d")
    converter.write_petsc(target, rows, cols, entries, False, *codes)


def run(*words, ranks=1, **environment):
    launch = [arguments.mpiexec, "-n", str(ranks)] if ranks > 1 else []
    command = launch + [arguments.program] + [str(w) for w in words]
    return subprocess.run(command, capture_output=True, text=True, timeout=100, env={**os.environ, **environment})


def facts(advice):
    return {key: advice[key] for key in advice if key not in ("name", "places", "processes")}


class Advise(unittest.TestCase):
    """Starting PETSc takes longest, so most tests share one run for the matrix of a grid."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    grid_found = None

    def grid(self):
        """Text and JSON."""
        if not Advise.grid_found:
            Advise.grid_found = self.advise(self.matrix()[0], "--measure")
        return Advise.grid_found

    def matrix(self, name="grid.mtx", side=12, unknowns=3):
        n, entries = elasticity(side, unknowns)
        write_mtx(self.folder / name, n, n, entries)
        return self.folder / name, n, entries

    def advise(self, path, *words, ranks=1):
        """Returns both streams and the JSON. A memory leak would be listed on the standard output."""
        found = run(path, "--json", self.folder / "advice.json", *words, "-malloc_dump", ranks=ranks)
        self.assertEqual(found.returncode, 0, found.stdout + found.stderr)
        self.assertNotRegex(found.stdout + found.stderr, r"\[ *\d+\] *(\d+ bytes|Total space)")
        return found.stdout + found.stderr, json.loads((self.folder / "advice.json").read_text())

    def test_text_has_every_type(self):
        text, _ = self.grid()
        for type_name in ["aij"] + arguments.types:
            self.assertRegex(text, rf"(?m)^  {type_name} +(\d+|declined:) ")
        self.assertIn("Matrix grid.mtx: 432 rows, 432 columns", text)
        self.assertIn("unknowns per node: 3 (blocks of that size are 100% full)", text)
        self.assertIn("structure: symmetric; values: symmetric", text)
        self.assertRegex(text, r"Host, one core +-mat_type aij\w*\n")
        self.assertIn("Host, one core; predicted seconds are those of one core of an AMD EPYC:", text)
        self.assertIn("GPU; predicted seconds are those of an NVIDIA H200:", text)

    def test_facts_are_those_that_python_counts(self):
        _, n, entries = self.matrix()
        _, advice = self.grid()
        lengths = collections.Counter(i for i, _ in entries)
        self.assertEqual((advice["rows"], advice["cols"], advice["nonzeros"]), (n, n, len(entries)))
        of_rows = advice["row_lengths"]
        self.assertEqual((of_rows["min"], of_rows["max"]), (min(lengths.values()), max(lengths.values())))
        self.assertAlmostEqual(of_rows["mean"], len(entries) / n)
        for part in of_rows["histogram"]:
            self.assertEqual(part["rows"], sum(part["from"] <= length <= part["to"] for length in lengths.values()))
        self.assertEqual(sum(part["rows"] for part in of_rows["histogram"]), n)
        self.assertEqual(advice["bandwidth"]["lower"], max(i - j for i, j in entries))
        self.assertEqual(advice["bandwidth"]["upper"], max(j - i for i, j in entries))
        size = advice["pattern"]["rows"]
        cells = collections.Counter((i * size // n, j * size // n) for i, j in entries)
        self.assertEqual(advice["pattern"]["nonzeros"], [[cells[i, j] for j in range(size)] for i in range(size)])

    def test_unknowns_per_node(self):
        for unknowns in (1, 6):
            with self.subTest(unknowns=unknowns):
                _, advice = self.advise(self.matrix(unknowns=unknowns)[0])
                self.assertEqual(advice["block"], {"size": unknowns, "fill": 1})

    def check_pays_after(self, cost, product, conversion, parent):
        """Numbers of JSON have 15 digits."""
        if parent - product <= 1e-6 * parent:
            self.assertIsNone(cost["pays_after"])
        else:
            pays = conversion / (parent - product)
            self.assertTrue(max(1, pays * (1 - 1e-6)) <= cost["pays_after"] <= max(1, pays * (1 + 1e-6) + 1), (pays, cost))

    def check_place(self, place, measured):
        """Checks the costs of a place, and that the best type follows the rule of aijauto."""
        parent, candidates = place["types"][0], {}
        key, convert = ("measured_product", "measured_conversion") if measured else ("product", "conversion")
        for t in place["types"]:
            self.assertGreater(t["bytes"], 0)
            declined = t["blocks"] == t["declined"]
            for name in ("product", "conversion", "measured_product", "measured_conversion"):
                self.assertEqual(t[name] is None, declined or (name.startswith("measured") and not measured), t)
            self.assertEqual(t["reason"] is None, t["declined"] == 0)
            if declined:
                self.assertIsNone(t["pays_after"])
            elif t is parent:
                candidates[t["type"]] = PRODUCTS * t[key]
            else:
                self.check_pays_after(t, t[key], t[convert], parent[key])
                candidates[t["type"]] = t[convert] + PRODUCTS * MARGIN * t[key]
        self.assertEqual(place["best"], min(candidates, key=candidates.get))
        self.assertEqual(place["options"], "-mat_type " + place["best"])

    def test_costs(self):
        for text, advice in (self.grid(), self.advise(self.matrix()[0])):
            host, gpu = advice["places"]
            self.assertEqual((host["name"], gpu["name"]), ("host", "gpu"))
            self.assertEqual([t["type"] for t in host["types"]], ["aij"] + arguments.types)
            self.assertEqual([t["type"] for t in gpu["types"]], ["aijcusparse"] + arguments.types)
            self.check_place(host, advice["measured"])
            if gpu["note"]:  # there is no GPU
                self.check_place(gpu, False)
                self.assertIn("There is no GPU here", text)

    def test_types_that_decline(self):
        """Such types have a reason instead of times, even with --measure."""
        write_mtx(self.folder / "two.mtx", 2, 2, {(0, 0): 4.0, (1, 1): 4.0})
        text, advice = self.advise(self.folder / "two.mtx", "--measure")
        host = advice["places"][0]
        self.check_place(host, True)
        declined = [t["type"] for t in host["types"] if t["declined"]]
        self.assertIn("aijrbp", declined)
        for name in declined:
            self.assertRegex(text, rf"(?m)^  {name} +declined: .* more than .* of CSR$")
        kept = self.advise(self.folder / "two.mtx", "--measure", "-mat_aijfmt_decline", "false")[1]["places"][0]
        self.assertEqual(declined, [t["type"] for t in kept["types"] if t["declined"]])

    def test_binary_and_matrix_market_agree(self):
        """Predictions too: they are the same in every run."""
        write_binary(self.matrix()[0], self.folder / "grid.bin")
        _, one = self.grid()
        _, other = self.advise(self.folder / "grid.bin")
        self.assertEqual(other["name"], "grid.bin")
        self.assertEqual(facts(one) | {"measured": False}, facts(other))
        for here, there in zip(one["places"], other["places"]):
            for key in ("bytes", "product", "conversion", "declined", "reason"):
                self.assertEqual([t[key] for t in here["types"]], [t[key] for t in there["types"]])

    def test_two_processes(self):
        if not arguments.mpiexec:
            self.skipTest("this PETSc has no MPI")
        _, one = self.grid()
        text, two = self.advise(self.matrix()[0], "--measure", ranks=2)
        self.assertEqual(facts(one), facts(two))
        self.assertEqual((two["processes"], text.count("Matrix grid.mtx")), (2, 1))
        for here, there in zip(one["places"][0]["types"], two["places"][0]["types"]):
            self.assertEqual(here["product"] is None, there["product"] is None)
            if here["product"] is not None:
                self.assertGreater(here["product"], there["product"])
            self.assertLess(abs(here["bytes"] - there["bytes"]), 0.3 * here["bytes"])

    def test_symmetric_skew_and_pattern_files(self):
        entries = {(1, 0): 3.5, (3, 2): -100.0}
        write_mtx(self.folder / "skew.mtx", 4, 4, entries, symmetry="skew-symmetric")
        write_mtx(self.folder / "sym.mtx", 4, 4, entries | {(2, 2): 1.0}, symmetry="symmetric")
        write_mtx(self.folder / "pattern.mtx", 3, 5, {(0, 0): 1, (2, 4): 1}, field="pattern")
        found = {name: self.advise(self.folder / f"{name}.mtx")[1] for name in ("skew", "sym", "pattern")}
        self.assertEqual({name: advice["nonzeros"] for name, advice in found.items()}, {"skew": 4, "sym": 5, "pattern": 2})
        self.assertEqual(found["skew"]["symmetry"], {"structure": "symmetric", "values": "skew-symmetric"})
        self.assertEqual(found["sym"]["symmetry"], {"structure": "symmetric", "values": "symmetric"})
        self.assertEqual(found["pattern"]["symmetry"], {"structure": "not symmetric", "values": "not symmetric"})
        self.assertEqual(found["pattern"]["row_lengths"]["empty_rows"], 1)

    def test_entries_of_one_place_are_added(self):
        (self.folder / "twice.mtx").write_text("%%MatrixMarket matrix coordinate real general\n2 2 3\n1 2 1\n1 2 2\n2 1 3\n")
        _, advice = self.advise(self.folder / "twice.mtx")
        self.assertEqual((advice["nonzeros"], advice["symmetry"]["values"]), (2, "symmetric"))

    def test_empty_matrices(self):
        for rows in (0, 5):
            write_mtx(self.folder / "empty.mtx", rows, rows, {})
            text, advice = self.advise(self.folder / "empty.mtx", "--measure", ranks=2 if arguments.mpiexec else 1)
            self.assertEqual((advice["nonzeros"], advice["row_lengths"]["empty_rows"]), (0, rows))
            self.assertRegex(text, r"Host, one core +-mat_type aij\n")

    def test_bad_files(self):
        """Errors of the reader of Matrix Market files have a test of their own, mtx_test.c."""
        good = b"%%MatrixMarket matrix coordinate real general\n4 4 2\n1 1 2\n"
        archive = io.BytesIO()
        with zipfile.ZipFile(archive, "w") as packed:
            packed.writestr("a.mtx", good)
        bad = {
            ":4: entry (5, 1) lies outside of 4 x 4": good + b"5 1 3\n",
            ":3: 2 entries are declared, and the file ends after 1": good,
            ":5: 2 entries are declared, and the file has 3": good + b"2 2 1\n3 3 1\n",
            ": neither a Matrix Market file": b"hello\n",
            ": is not a complete matrix in PETSc's binary format": b"\0\0",
            ": is compressed by gzip: unpack it first, by gunzip": gzip.compress(good),
            ": is compressed by xz: unpack it first, by unxz": lzma.compress(good),
            ": is compressed by bzip2: unpack it first, by bunzip2": bz2.compress(good),
            ": is a zip archive: unpack it first, by unzip": archive.getvalue(),
        }
        for message, content in bad.items():
            with self.subTest(message=message):
                (self.folder / "bad.mtx").write_bytes(content)
                found = run(self.folder / "bad.mtx")
                self.assertNotEqual(found.returncode, 0)
                self.assertIn("bad.mtx" + message, found.stdout + found.stderr)
        self.assertIn("cannot be opened", run(self.folder / "nothing.mtx").stderr)
        self.assertIn(f"{self.folder}: is a folder: name a file in it", run(self.folder).stderr)

    def test_page(self):
        page = self.folder / "page.html"
        found = run(self.matrix()[0], "--measure", "--html", page, ranks=2 if arguments.mpiexec else 1)
        self.assertIn("Options for 500 products", found.stdout)
        if subprocess.run(["/usr/bin/env", "python3", "-c", "import matplotlib"], capture_output=True).returncode:
            self.skipTest("python3 has no matplotlib")
        self.assertEqual(found.returncode, 0, found.stderr)
        drawn = page.read_text()
        self.assertEqual(drawn.count('src="data:image/png;base64,'), 3)
        for part in ["Matrix grid.mtx", "432 × 432", "-mat_type aij", "3 (blocks of that size are 100% full)", *arguments.types]:
            self.assertIn(part, drawn)
        self.assertNotIn("http", drawn)

    def test_page_without_matplotlib(self):
        (self.folder / "matplotlib").mkdir()
        (self.folder / "matplotlib/__init__.py").write_text("raise ImportError('hidden by a test')\n")
        page = self.folder / "page.html"
        found = run(self.matrix()[0], "--html", page, PYTHONPATH=str(self.folder))
        self.assertEqual(found.returncode, 3)
        self.assertIn("Options for 500 products", found.stdout)
        self.assertRegex(found.stderr, rf"{page} is not written: this Python \(.*\) has no matplotlib: hidden by a test")
        self.assertFalse(page.exists())

    def test_folders_that_are_not_there(self):
        matrix = self.matrix()[0]
        for option, name in (("--json", "x.json"), ("--html", "x.html")):
            found = run(matrix, option, f"/nonexist/{name}")
            self.assertNotEqual(found.returncode, 0)
            self.assertRegex(found.stderr, rf"(?m)/nonexist/{name}(:| is not written)")
            self.assertEqual(set(re.findall(r"\S*nonexist\S*", found.stderr.replace(":", " "))), {f"/nonexist/{name}"})

    def test_json_to_the_standard_output(self):
        matrix = self.matrix()[0]
        _, advice = self.advise(matrix)
        shown = run(matrix, "--json", "-")
        self.assertEqual((shown.returncode, json.loads(shown.stdout)), (0, advice))
        self.assertFalse(pathlib.Path("-").exists())
        with open("/dev/full", "w") as device:
            full = subprocess.run([arguments.program, matrix, "--json", "-"], stdout=device, stderr=subprocess.PIPE, text=True)
        self.assertNotEqual(full.returncode, 0)
        self.assertIn("-: cannot be written: No space left on device", full.stderr)

    def test_use(self):
        self.assertEqual(run().returncode, 2)
        wrong = {"--json needs the name of a file": ["--json"], "b.mtx is a second matrix": ["b.mtx"],
                 "there is no option --mesure": ["--mesure"], "there is no option --html=x.html": ["-mat_type", "aij", "--html=x.html"]}
        for message, words in wrong.items():
            found = run("a.mtx", *words)
            self.assertEqual((found.returncode, found.stdout), (2, ""))
            self.assertTrue(found.stderr.startswith(message), found.stderr)
        shown = run("--help")
        self.assertEqual((shown.returncode, shown.stderr), (0, ""))
        self.assertIn("--measure", shown.stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", required=True)
    parser.add_argument("--types", nargs="+", required=True)
    parser.add_argument("--mpiexec", default="")
    parser.add_argument("--numbers", default="")
    parser.parse_args(namespace=arguments)
    unittest.main(argv=sys.argv[:1], verbosity=2)


if __name__ == "__main__":
    main()
