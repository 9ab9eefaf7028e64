"""Tests how the runner judges outputs, conversions and expectations, without running a program."""
import re
import unittest
from types import SimpleNamespace

from cases import Case, Expectation
from run import Runner, alike


class FakeRunner(Runner):
    """Programs of the type under test print and pack what the test says; aij prints "norm 1.0"."""

    def __init__(self, output, packed, status=0):
        self.petsc = None
        self.options = SimpleNamespace(types=["aijrbp"], reference="aij", quick=False)
        self.plugin = ["-dll_append", "libpetscpack.so"]
        self.ours = status, output, packed

    def run_one(self, case, type_name):
        return (0, "norm 1.0\nexact type", 0) if type_name == "aij" else self.ours


def verdict(output, packed, status=0, impossible="", **expected):
    lines = {"lines": expected.pop("lines")} if "lines" in expected else {}
    case = Case("mat/tests/ex1", 1, "", "list", impossible=impossible)
    case.expected = [Expectation(what.replace("_", "-"), re.compile(""), [], lines, reason) for what, reason in expected.items()]
    return FakeRunner(output, packed, status).judge(case)[0]


SAME = "norm 1.0\nexact type"


class Verdicts(unittest.TestCase):
    def test_equal_needs_a_product(self):
        self.assertEqual(verdict(SAME, 1).what, "equal")
        self.assertEqual(verdict(SAME, 0).what, "failed")
        self.assertEqual(verdict(SAME, 0, no_product="sums only").what, "no-product")
        self.assertEqual(verdict(SAME, 1, no_product="sums only").what, "failed")

    def test_differences(self):
        self.assertEqual(verdict("norm 2.0\nexact type", 1).what, "failed")
        self.assertEqual(verdict(SAME, 1, status=1).what, "failed")
        self.assertEqual(verdict("norm 2.0\nexact type", 1, different="a reason").what, "different")
        self.assertEqual(verdict(SAME, 1, different="a reason").what, "failed")
        self.assertEqual(verdict("norm 2.0\nexact type", 0, different="a reason").what, "failed")

    def test_differences_in_certain_lines(self):
        self.assertEqual(verdict("norm 1.0", 1, different="a reason", lines="exact").what, "different")
        self.assertEqual(verdict("norm 2.0", 1, different="a reason", lines="exact").what, "failed")

    def test_leaks(self):
        self.assertEqual(verdict(SAME + "\n[0]Total space allocated 32 bytes", 1).what, "failed")

    def test_what_cannot_run(self):
        self.assertEqual(verdict(SAME, 1, impossible="no source").reason, "no source")
        self.assertEqual(verdict(SAME, 1, not_possible="broken").what, "not-possible")

    def test_types_alike(self):
        same = [SimpleNamespace(what="equal", reason="", type_name=t) for t in ("a", "b")]
        self.assertEqual(alike(same), [("equal", "", ["a", "b"])])


if __name__ == "__main__":
    unittest.main()
