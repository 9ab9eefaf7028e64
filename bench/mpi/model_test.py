#!/usr/bin/env python3
"""Tests of model.py, with made-up inputs whose results were computed by hand."""
import copy
import json
import sys
import tempfile
import unittest
from pathlib import Path

import model

HERE = Path(__file__).resolve().parent
INPUTS = {
    "sum": {"us": 5.0}, "exchange": {"bytes": [0, 1000], "us": [8.0, 9.0]}, "beside_product": {"factor": 1.0},
    "product_share": {"fraction": 0.5}, "network": {"gigabytes_per_second": 10}, "gathered_below": {"rows": 200},
    "nccl": {"nvlink_step_us": 0.5, "network_step_us": 4.0, "nvlink_between_hosts_factor": 2.0, "nvlink_send_us": 3.0, "network_send_us": 13.0},
}
PROBLEM = {"title": "cube", "unknowns": 3, "cg": [(1000, 10.0), (3000, 30.0)], "gamg": [(1000, 100.0), (3000, 300.0)],
           "levels": [[1, 1], [0.1, 0.5], [0.01, 0.1]]}
TWO, EIGHT, HOSTS = model.Layout((2, 1, 1)), model.Layout((2, 2, 2)), model.Layout((4, 4, 4), (2, 2, 2))


def made():
    found = model.Model(INPUTS)
    found.fixed, found.by_ghost, found.fixed_in_cycle = 4.0, 0.01, 3.0
    return found


class Parts(unittest.TestCase):
    def test_line(self):
        self.assertEqual(model.line_through([0, 1, 2], [1, 3, 5]), (1.0, 2.0))

    def test_between_and_beyond_measurements(self):
        points = [(1, 10.0), (2, 20.0), (4, 60.0)]
        self.assertEqual([model.between(points, x) for x in (0, 1.5, 3, 5)], [0.0, 15.0, 40.0, 80.0])

    def test_ghosts_are_the_faces_of_a_box(self):
        self.assertAlmostEqual(TWO.ghosts(3 * 10 ** 3, 3), 300)  # one face of 10 x 10 nodes
        self.assertAlmostEqual(EIGHT.ghosts(3 * 10 ** 3, 3), 225)  # three faces of 5 x 5 nodes
        self.assertAlmostEqual(HOSTS.ghosts(3 * 40 ** 3, 3), 1800)  # six faces of 10 x 10 nodes
        self.assertAlmostEqual(HOSTS.ghosts(3 * 40 ** 3, 3, HOSTS.crossing), 900)  # three of them towards other hosts

    def test_sums(self):
        self.assertEqual([made().sum_of(layout) for layout in (TWO, EIGHT, HOSTS)], [5.0, 11.0, 42.0])

    def test_messages(self):
        self.assertAlmostEqual(made().exchange(TWO, 3000, 3), 10.4)  # 8 us and 2400 bytes
        # by the network 8 + 10 us and 7200 bytes at 10 GB/s; within the host, at the same time, 8 us and 7200 bytes at 1 GB/s
        self.assertAlmostEqual(made().exchange(HOSTS, 3 * 40 ** 3, 3), 18.72)


class Iterations(unittest.TestCase):
    def test_cg(self):
        # 15 for half of the rows on one GPU, two sums 10, c 4, ghosts 3, and 2.9 of a message of 10.4 not hidden by a product of 7.5
        self.assertAlmostEqual(made().time(TWO, PROBLEM, 3000, "cg"), 34.9)

    def test_gamg(self):
        # 150 for half of the rows, two sums 10; an exchange of 9.9 in CG; six of 8.9 on the finest level; six of 3 + 0.646 + 4.767 on
        # the level of 300 rows; none on that of 30, which is below gathered_below
        self.assertAlmostEqual(made().time(TWO, PROBLEM, 3000, "gamg"), 273.78, places=2)

    def test_what_takes_most(self):
        layouts = [TWO, HOSTS]
        found = model.scale(made(), [PROBLEM], layouts, (3000,), False)
        self.assertEqual([(f["pc"], f["most"]) for f in found],
                         [("Jacobi", {2: "computing", 64: "sums"}), ("GAMG", {2: "computing", 64: "exchange"})])

    def test_fits_find_what_the_measurements_were_made_of(self):
        measured = {pc: [(PROBLEM, rows, made().time(TWO, PROBLEM, rows, pc)) for rows in (1000, 3000, 9000)] for pc in ("cg", "gamg")}
        fitted = model.Model(INPUTS)
        fitted.fit(measured["cg"])
        fitted.fit_cycle(measured["gamg"])
        self.assertAlmostEqual(fitted.fixed, 4.0)
        self.assertAlmostEqual(fitted.by_ghost, 0.01)
        self.assertAlmostEqual(fitted.fixed_in_cycle, 3.0)


class Program(unittest.TestCase):
    """Tests with the committed inputs and measurements."""

    def result(self):
        return model.calculate(copy.deepcopy(model.load(HERE / "model.json")), model.load(HERE.parent / "results/h200-two-gpus.json"))

    def test_two_gpus_are_near_the_measurement(self):
        checked = self.result()["check"]
        self.assertEqual(sum(c["pc"] == "GAMG" for c in checked), 4)
        self.assertEqual(len(checked), 11)
        for c in checked:
            self.assertLess(abs(c["calculated_us"] / c["measured_us"] - 1), 0.1, c)

    def test_committed_numbers_are_those_of_the_program(self):
        def rounded(text):
            return json.loads(text, parse_float=lambda number: round(float(number), 3))

        committed = (HERE.parent / "results/h200-several-gpus-model.json").read_text()
        self.assertEqual(rounded(json.dumps(self.result())), rounded(committed))
        self.assertIn(model.text_of(self.result()), (HERE.parent.parent / "docs/several-gpus.md").read_text())

    def test_document(self):
        with tempfile.TemporaryDirectory() as folder:
            document = Path(folder) / "document.md"
            document.write_text("before\n<!-- model:begin -->\nold\n<!-- model:end -->\nafter\n")
            model.put_between_marks(document, "model", model.text_of(self.result()))
            text = document.read_text()
        self.assertTrue(text.startswith("before\n") and text.endswith("\nafter\n") and "old" not in text)
        self.assertIn("**Calculated, not measured: weak scaling**", text)


if __name__ == "__main__":
    sys.exit(unittest.main())
