"""Cases from lists and from PETSc's test blocks, expectations, and the report, on small texts."""
import tempfile
import unittest
from pathlib import Path

import blocks
from cases import Case, block_cases, collect, listed_cases, read_expected
from report import write_report
from run import Verdict

BLOCK = """
/*TEST
   build:
      depends: other.c other.h
      requires: hdf5

   testset:
      requires: cuda !complex
      args: -n 3   # a comment
      test:
        suffix: a
        nsize: {{1 2}separate output}
        args: -mat_type aijcusparse -vec_type cuda -log_view -pc_type {{jacobi none}shared output} \\
              -k 4
      test:
        suffix: b
        requires: mumps
        args: -mat_type {{aij mpiaijkokkos}} -f ${wPETSC_DIR}/share/petsc/datafiles/matrices/m
   test:
      args: -mat_type baij
   test:
      args: -pc_type bjkokkos -mat_type aijkokkos
TEST*/
"""


class FakePetsc:
    version = "3.18.5"

    def newer_or_equal(self, minimum):
        return [3, 18] >= [int(part) for part in minimum.split(".")]

    def lacks(self, program, needs):
        return "not among the installed sources" if program == "mat/gone" else next((w for w in needs if w.startswith("asks:")), "")

    def programs(self):
        return ["mat/tests/ex1"]

    def text(self, program):
        return BLOCK


def written(text):
    path = Path(tempfile.mkdtemp()) / "list.txt"
    path.write_text(text)
    return path


class Blocks(unittest.TestCase):
    def test_inheritance_loops_and_renaming(self):
        cases = blocks.cases_of(BLOCK)
        self.assertEqual(cases[0], (["1", "2"], "-n 3 -mat_type @aij -pc_type {{jacobi none}} -k 4", ["hdf5", "!complex"]))
        self.assertEqual(cases[1], (["1"], "-n 3 -mat_type {{aij @mpiaij}} -f @data/matrices/m", ["hdf5", "!complex", "mumps"]))
        self.assertEqual(cases[2][2], ["hdf5", "asks:bjkokkos"])
        self.assertEqual(len(cases), 3)

    def test_options_of_a_gpu(self):
        self.assertEqual(blocks.rename("-vec_type kokkos -dm_vec_type standard -xgpu {{0 1}}"), "-dm_vec_type standard")
        self.assertEqual(blocks.rename("-pc_factor_mat_solver_type cusparse -u_mat_type seqdensecuda"), "-u_mat_type seqdense")
        self.assertEqual(blocks.rename("-pc_factor_mat_solver_type mumps"), "-pc_factor_mat_solver_type mumps")

    def test_dependencies(self):
        self.assertEqual(blocks.dependencies(BLOCK), ["other.c"])
        self.assertEqual(blocks.dependencies("int main;"), [])


class Lists(unittest.TestCase):
    def test_lines_and_versions(self):
        path = written("# text\nmat/ex1 ; 1,2 ; -t {{@aij @seqaij}} ; quick\nmat/ex2 ; 1 ; -t @aij ; since=3.19\nmat/gone ; 1 ; ;\n")
        cases = list(listed_cases(path, FakePetsc(), False))
        self.assertEqual([c.name() for c in cases][:2], ["mat/ex1 -n 1 -t @aij", "mat/ex1 -n 1 -t @seqaij"])
        self.assertEqual(len(cases), 5)
        self.assertEqual(cases[-1].impossible, "not among the installed sources")
        self.assertEqual(len(list(listed_cases(path, FakePetsc(), True))), 4)

    def test_combinations_without_our_types_are_left_out(self):
        names = [case.name() for case in block_cases(FakePetsc())]
        self.assertIn("mat/tests/ex1 -n 1 -n 3 -mat_type @mpiaij -f @data/matrices/m", names)
        self.assertNotIn("mat/tests/ex1 -n 1 -n 3 -mat_type aij -f @data/matrices/m", names)

    def test_each_case_once_with_what_is_expected(self):
        expected = read_expected(written("no-product ; types=aijrbp ; ex1 ; none\ndifferent ; since=3.26 ; ex1 ; new\n"), FakePetsc())
        cases = collect([Case("ex1", 1, "", "a"), Case("ex1", 1, "", "b"), Case("ex2", 1, "", "a")], expected, None)
        self.assertEqual([(c.program, c.index) for c in cases], [("ex1", 0), ("ex2", 1)])
        self.assertEqual(cases[0].expectation("no-product", "aijrbp").reason, "none")
        self.assertIsNone(cases[0].expectation("no-product", "aijfold"))
        self.assertIsNone(cases[0].expectation("different", "aijrbp"))
        self.assertIsNone(cases[1].expectation("no-product", "aijrbp"))

    def test_tolerances(self):
        expected = read_expected(written("tolerance ; rtol=1e-3 ; ex1 ; rounding\n"), FakePetsc())
        cases = collect([Case("ex1", 1, "", "a"), Case("ex2", 1, "", "a")], expected, None)
        self.assertEqual([(c.rtol, c.atol) for c in cases], [(1e-3, 1e-10), (1e-6, 1e-10)])

    def test_unknown_expectations_are_refused(self):
        with self.assertRaises(SystemExit):
            read_expected(written("sometimes ; ; ex1 ; none\n"), FakePetsc())


class Report(unittest.TestCase):
    def test_parts_of_other_petscs_stay(self):
        path = Path(tempfile.mkdtemp()) / "report.md"
        types = ["aijrbp", "aijfold"]
        case = Case("mat/tests/ex1", 1, "", "a")
        results = [(case, [Verdict("aijrbp", "equal"), Verdict("aijfold", "different", "a reason")])]
        write_report(path, FakePetsc(), types, results)
        newer = FakePetsc()
        newer.version = "3.26.1"
        write_report(path, newer, types, [(case, [Verdict(t, "not-possible", "no source") for t in types])])
        write_report(path, FakePetsc(), types, results)
        text = path.read_text()
        self.assertEqual(text.count("## PETSc 3.18.5"), 1)
        self.assertLess(text.index("## PETSc 3.18.5"), text.index("## PETSc 3.26.1"))
        self.assertIn("| mat/tests/ex1 | 1 | = | 1 differ |", text)
        self.assertIn("- a reason: mat/tests/ex1; only aijfold", text)
        self.assertIn("- no source: mat/tests/ex1", text)


if __name__ == "__main__":
    unittest.main()
