#!/usr/bin/env python3
"""Tests petscpack-advise: what it tells of small matrices is compared with what Python counts.

    test_advise.py --program build/bin/petscpack-advise --driver build/bin/golden_driver --plugin build/lib/libpetscpack.so
                   --types aijrbp aijcrsv ... [--mpiexec mpiexec] [--numbers=--int64]
"""
import argparse
import collections
import importlib.util
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Given numbers of the machine: predictions are then the same in every run
MACHINE = ["-petscpack_host_processor", "amd", "-petscpack_host_bandwidth", "1.5e10", "-petscpack_host_rate", "1.8e9",
           "-petscpack_gpu_bandwidth", "4e12", "-petscpack_gpu_launch", "2.5e-6"]
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
    """Through the converter of the examples, which has its own reader of Matrix Market files."""
    spec = importlib.util.spec_from_file_location("mtx_to_petsc", ROOT / "examples/mtx_to_petsc.py")
    converter = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(converter)
    rows, cols, entries = converter.read_matrix_market(str(source))
    codes = ("q" if "--int64" in arguments.numbers else "i", "f" if "--single" in arguments.numbers else "d")
    converter.write_petsc(target, rows, cols, entries, False, *codes)


def run(*words, ranks=1, program=None):
    launch = [arguments.mpiexec, "-n", str(ranks)] if ranks > 1 else []
    command = launch + [program or arguments.program] + [str(w) for w in words]
    return subprocess.run(command, capture_output=True, text=True, timeout=100)


def facts(advice):
    return {key: advice[key] for key in advice if key not in ("name", "places", "processes")}


class Advise(unittest.TestCase):
    """To start PETSc takes longer than all else, so that most tests look at one run for the matrix of a grid."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    grid_found = None

    def grid(self):
        """Text, JSON, and what the run left: streams and the page, None if there is none."""
        if not Advise.grid_found:
            page = self.folder / "page.html"
            text, advice = self.advise(self.matrix()[0], "--measure", "--html", page)
            Advise.grid_found = text, advice, page.read_text() if page.exists() else None
        return Advise.grid_found

    def matrix(self, name="grid.mtx", side=12, unknowns=3):
        n, entries = elasticity(side, unknowns)
        write_mtx(self.folder / name, n, n, entries)
        return self.folder / name, n, entries

    def advise(self, path, *words, ranks=1):
        """Both streams and the JSON; memory that is not freed at the end would be listed on the standard output."""
        found = run(path, "--json", self.folder / "advice.json", *words, *MACHINE, "-malloc_dump", ranks=ranks)
        self.assertEqual(found.returncode, 0, found.stdout + found.stderr)
        self.assertNotRegex(found.stdout + found.stderr, r"\[ *\d+\] *(\d+ bytes|Total space)")
        return found.stdout + found.stderr, json.loads((self.folder / "advice.json").read_text())

    def test_text_has_every_type(self):
        text, _, _ = self.grid()
        for type_name in ["aij"] + arguments.types:
            self.assertRegex(text, rf"(?m)^  {type_name} +(\d+|declines:) ")
        self.assertIn("Matrix grid.mtx: 432 rows, 432 columns", text)
        self.assertIn("unknowns per node: 3 (blocks of that size are 100% full)", text)
        self.assertIn("structure: symmetric; values: symmetric", text)
        self.assertRegex(text, r"This host, one core +-mat_type aij\w*\n")

    def test_facts_are_those_that_python_counts(self):
        _, n, entries = self.matrix()
        _, advice, _ = self.grid()
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

    def test_costs(self):
        _, advice, _ = self.grid()
        host = advice["places"][0]
        self.assertEqual(host["name"], "host")
        self.assertEqual([t["type"] for t in host["types"]], ["aij"] + arguments.types)
        self.assertIn("h200", [place["name"] for place in advice["places"]])
        parent = host["types"][0]
        for t in host["types"]:
            self.assertGreater(t["bytes"], 0)
            if t["product"] is not None:  # the model has constants for the format
                self.assertGreater(t["product"], 0)
            measured = t["declined"] < t["blocks"] or t is parent
            self.assertEqual(t["measured_product"] is not None, measured)
            if not measured:
                continue
            gain = parent["measured_product"] - t["measured_product"]
            if gain <= 1e-6 * parent["measured_product"] or t["product"] is None:
                self.assertIsNone(t["pays_after"])
            else:  # numbers of JSON have 15 digits
                pays = t["measured_conversion"] / gain
                self.assertTrue(max(1, pays * (1 - 1e-6)) <= t["pays_after"] <= max(1, pays * (1 + 1e-6) + 1), (pays, t))
        self.assertEqual(host["options"], "-mat_type " + host["best"])

    def test_binary_and_matrix_market_agree(self):
        """Predictions too: with given numbers of the machine they are the same in every run."""
        write_binary(self.matrix()[0], self.folder / "grid.bin")
        _, one, _ = self.grid()
        _, other = self.advise(self.folder / "grid.bin")
        self.assertEqual(other["name"], "grid.bin")
        self.assertEqual(facts(one) | {"measured": False}, facts(other))
        for here, there in zip(one["places"], other["places"]):
            for key in ("bytes", "product", "conversion", "declined", "reason"):
                self.assertEqual([t[key] for t in here["types"]], [t[key] for t in there["types"]])

    def test_two_processes(self):
        if not arguments.mpiexec:
            self.skipTest("this PETSc has no MPI")
        _, one, _ = self.grid()
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
            self.assertRegex(text, r"This host, one core +-mat_type aij\n")

    def test_bad_files(self):
        """Errors of the reader of Matrix Market files have a test of their own, mtx_test.c."""
        bad = {
            "%%MatrixMarket matrix coordinate real general\n4 4 2\n1 1 2\n5 1 3\n": ":4: entry (5, 1) lies outside of 4 x 4",
            "hello\n": ": neither a Matrix Market file",
            "\0\0": ": is no whole matrix in PETSc's binary format",
        }
        for text, message in bad.items():
            with self.subTest(message=message):
                (self.folder / "bad.mtx").write_text(text)
                found = run(self.folder / "bad.mtx")
                self.assertNotEqual(found.returncode, 0)
                self.assertIn("bad.mtx" + message, found.stdout + found.stderr)
        self.assertIn("cannot be opened", run(self.folder / "nothing.mtx").stderr)

    def test_page(self):
        text, _, page = self.grid()
        self.assertIn("Options for 500 products", text)
        if subprocess.run(["/usr/bin/env", "python3", "-c", "import matplotlib"], capture_output=True).returncode:
            self.assertIn("page.html is not written: this Python (", text)
            self.assertIsNone(page)
            self.skipTest("python3 has no matplotlib")
        self.assertEqual(page.count('src="data:image/png;base64,'), 3)
        for part in ["Matrix grid.mtx", "432 × 432", "-mat_type aij", "3 (blocks of that size are 100% full)", *arguments.types]:
            self.assertIn(part, page)
        self.assertNotIn("http", page)

    def test_option_of_any_program(self):
        """golden_driver knows nothing of petscpack; on two processes the plugin makes one advice on the whole matrix."""
        for ranks in (1, 2) if arguments.mpiexec else (1,):
            words = ["-dll_append", arguments.plugin, "-mat_type", arguments.types[0], *MACHINE, "-malloc_dump"]
            words += ["-petscpack_advise", self.folder / f"{ranks}.json", "-petscpack_advise_measure"]
            found = run(*words, ranks=ranks, program=arguments.driver)
            self.assertEqual(found.returncode, 0, found.stdout + found.stderr)
            self.assertNotRegex(found.stdout, r"\[ *\d+\] *(\d+ bytes|Total space)")
            advice = json.loads((self.folder / f"{ranks}.json").read_text())
            self.assertEqual((advice["processes"], advice["rows"], advice["measured"]), (ranks, 12, True))
        shown = run("-dll_append", arguments.plugin, "-mat_type", arguments.types[0], "-petscpack_advise", *MACHINE,
                    program=arguments.driver)
        self.assertEqual(shown.stdout.count("Matrix without a name: 12 rows"), 1, shown.stdout)

    def test_use(self):
        self.assertEqual(run().returncode, 2)
        self.assertEqual(run("a.mtx", "--json").returncode, 2)
        shown = run("--help")
        self.assertEqual((shown.returncode, shown.stderr), (0, ""))
        self.assertIn("--measure", shown.stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", required=True)
    parser.add_argument("--driver", required=True, help="a program that links PETSc alone")
    parser.add_argument("--plugin", required=True)
    parser.add_argument("--types", nargs="+", required=True)
    parser.add_argument("--mpiexec", default="")
    parser.add_argument("--numbers", default="")
    parser.parse_args(namespace=arguments)
    unittest.main(argv=sys.argv[:1], verbosity=2)


if __name__ == "__main__":
    main()
