"""Tests of scripts/applications_compare.py: which results count as equal, and which do not."""
import os
import sys
import tempfile
import unittest
from pathlib import Path
from types import SimpleNamespace

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))
import applications_compare as applications  # noqa: E402

HEADER = "Stage Name,Event Name,Rank,Count,Time\n"


class Results(unittest.TestCase):
    def test_iterations_may_differ_by_one(self):
        self.assertIsNone(applications.difference("converged in 172 iterations.", "converged in 173 iterations."))
        self.assertIn("172", applications.difference("converged in 172 iterations.", "converged in 174 iterations."))
        self.assertIsNone(applications.difference("CONVERGED_RTOL iterations 9", "CONVERGED_RTOL iterations 10"))
        self.assertIsNone(applications.difference("iterations of the method: 65", "iterations of the method: 66"))
        self.assertIn("65", applications.difference("iterations of the method: 65", "iterations of the method: 67"))

    def test_a_solve_too_few_differs(self):
        self.assertIsNotNone(applications.difference("iterations 9\niterations 9", "iterations 9"))

    def test_eigenvalues_agree_to_the_printed_digits(self):
        self.assertIsNone(applications.difference("4.72062, 4.71245", "4.72062, 4.71246"))
        self.assertIsNotNone(applications.difference("4.72062, 4.71245", "4.72062, 4.71345"))

    def test_words_agree_exactly(self):
        self.assertIsNotNone(applications.difference("CONVERGED_RTOL iterations 9", "DIVERGED_ITS iterations 9"))


class Programs(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(folder.name)

    def runs(self, type_name, packed, output="norm: 1.5\n", solution="at 9:58:07\n0.25 0.5\n"):
        profile = "Main,MatMult,0,7,2.0\nMain,MatMult,1,7,2.5\nSecond,MatMult,0,3,1.0\nMain,KSPSolve,0,1,5.0\n"
        profile += f"Main,MatPackConvert,0,{packed},0.1\n"
        Path(f"{type_name}.1").mkdir()
        Path(f"{type_name}.1.out").write_text(output)
        Path(f"{type_name}.1.csv").write_text(HEADER + profile)
        Path(f"{type_name}.1.seconds").write_text("6.5\n")
        Path(f"{type_name}.1/solution").write_text(solution)
        options = SimpleNamespace(repeat=1, lines="norm", event="KSPSolve", solution="solution")
        return applications.Runs(type_name, options)

    def test_events_of_the_first_process_are_summed_over_stages(self):
        runs = self.runs("aij", 0)
        self.assertEqual((runs.products, runs.product, runs.solver, runs.program), (10, 3.0, 5.0, 6.5))

    def test_equal_results_have_no_fault(self):
        reference = self.runs("aij", 0)
        self.assertEqual(list(reference.faults(reference)), [])
        self.assertEqual(list(self.runs("aijrbp", 1, solution="at 10:00:00\n0.25 0.500001\n").faults(reference)), [])

    def test_a_type_that_was_not_used_is_a_fault(self):
        reference = self.runs("aij", 0)
        self.assertEqual(list(self.runs("aijrbp", 0).faults(reference)), ["aijrbp packed no matrix"])
        self.assertEqual(list(self.runs("aijauto", 0).faults(reference)), [])

    def test_aij_that_packs_is_a_fault(self):
        reference = self.runs("aij", 1)
        self.assertEqual(list(reference.faults(reference)), ["aij packed a matrix"])

    def test_other_solutions_are_a_fault(self):
        reference = self.runs("aij", 0)
        found = list(self.runs("aijrbp", 1, solution="at 9:58:07\n0.25 0.6\n").faults(reference))
        self.assertEqual(len(found), 1)
        self.assertIn("in the solution", found[0])

    def test_no_output_is_a_fault(self):
        reference = self.runs("aij", 0, output="something else\n")
        self.assertIn("the program printed no result", list(reference.faults(reference)))


if __name__ == "__main__":
    unittest.main()
