#!/usr/bin/env python3
"""Tests the binary wheel with the four kinds of petsc4py and slepc4py that Debian has: real and complex scalars, indices of 32
and 64 bits. A program with factorizations, a time loop and an eigenproblem gives the same with petscpack as without.

    test_kinds.py [unittest options]        needs petscpack (a wheel), and petsc4py and slepc4py of all kinds

EMULATED  folder of libraries that compute on an emulated GPU; then the factorizations run there, in all kinds
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

PACKAGE = Path(__import__("petscpack").__file__).parent
EMULATED = os.environ.get("EMULATED")
KINDS = {"": "real", "-complex": "complex", "-64": "real", "-64-complex": "complex"}  # of a variant's name: scalars

PROGRAM = """
import sys
import petsc4py
petsc4py.init(sys.argv)
from petsc4py import PETSc
from slepc4py import SLEPc
side = 12
matrix = PETSc.Mat().createAIJ([side * side, side * side], nnz=5)

def fill(diagonal):
    for row in range(side * side):
        i, j = divmod(row, side)
        matrix.setValue(row, row, diagonal)
        for inside, column in (i > 0, row - side), (i < side - 1, row + side), (j > 0, row - 1), (j < side - 1, row + 1):
            if inside:
                matrix.setValue(row, column, -1.0)
    matrix.assemble()

def solve(ksp, pc):
    solver = PETSc.KSP().create()
    solver.setOperators(matrix)
    solver.setType(ksp)
    solver.getPC().setType(pc)
    solver.setTolerances(rtol=1e-10)
    solver.setFromOptions()
    solver.solve(b, x)
    print(ksp, pc, solver.getConvergedReason(), solver.getIterationNumber(), "%.9f" % x.norm())
    return solver

fill(4 + 0.3j if issubclass(PETSc.ScalarType, complex) else 4.3)
x, b = matrix.createVecs()
b.set(1.0)
for pair in ("preonly", "lu"), ("preonly", "cholesky"), ("gmres", "ilu"), ("gmres", "jacobi"):
    solve(*pair)
stepper = solve("preonly", "lu")
for step in range(4):
    fill(5 + step)
    stepper.solve(x, x)
    print("step", step, "%.9f" % x.norm())
problem = SLEPc.EPS().create()
problem.setOperators(matrix)
problem.setProblemType(SLEPc.EPS.ProblemType.HEP)
problem.setTarget(6.03)
problem.setWhichEigenpairs(SLEPc.EPS.Which.TARGET_MAGNITUDE)
problem.getST().setType("sinvert")
problem.setDimensions(2)
problem.solve()
print("values", ["%.8f" % problem.getEigenvalue(number).real for number in range(2)])
print("kind", PETSc.ScalarType.__name__, PETSc.IntType().itemsize)
"""
FACTORS = re.compile(r"solves with factors: ([1-9]\d*) on the GPU, 0 by PETSc")


class Kinds(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        (self.folder / "program.py").write_text(PROGRAM)
        self.variables = {name: value for name, value in os.environ.items() if not name.startswith(("PETSC", "SLEPC"))}

    def start(self, kind, *words):
        width, scalars = "64" if "-64" in kind else "", KINDS[kind]
        petsc, slepc = (Path(f"/usr/lib/{name}dir") for name in ("petsc", "slepc"))
        variables = {"PETSC_DIR": next(petsc.glob(f"petsc{width}{'-' if width else '3'}*/*-{scalars}")),
                     "SLEPC_DIR": next(slepc.glob(f"slepc{width}{'-' if width else '3'}*/*-{scalars}"))}
        result = subprocess.run([sys.executable, *words, "program.py"], cwd=self.folder, env={**self.variables, **variables, "HOME": str(self.folder)},
                                capture_output=True, text=True, timeout=300, check=False)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        return result.stdout, result.stderr

    def emulate(self):
        """The package with the kernels that run on the emulated GPU."""
        shutil.copytree(PACKAGE, self.folder / "package" / "petscpack")
        shutil.copyfile(Path(EMULATED) / "libspmvpack.so", self.folder / "package" / "petscpack" / "libspmvpack.so")
        (self.folder / "library").mkdir()
        for path in Path(EMULATED).glob("*emulator*"):  # the folder has plugins of other PETScs, too
            (self.folder / "library" / path.name).symlink_to(path)
        self.variables.update(PYTHONPATH=str(self.folder / "package"), LD_LIBRARY_PATH=str(self.folder / "library"),
                              PETSC_OPTIONS=f"-petscpack_cudss {EMULATED}/libfake_cudss.so -petscpack_cudss_least_rows 0 "
                              "-mat_aijfmt_device gpu -options_left 0")

    def compare(self, *of_complex):
        """What petscpack says at the end, for each kind; of_complex: arguments of run where scalars are complex."""
        for kind, scalars in KINDS.items():
            with self.subTest(kind):
                plain, _ = self.start(kind)
                self.assertIn(f"kind {'complex128' if scalars == 'complex' else 'float64'} {8 if '-64' in kind else 4}", plain)
                result, summary = self.start(kind, "-m", "petscpack", "run", *(of_complex if scalars == "complex" else ()))
                self.assertEqual(result, plain)
                yield summary

    def test_same_results(self):
        for summary in self.compare():
            self.assertRegex(summary, r"petscpack: \d+ solves: ")

    @unittest.skipUnless(EMULATED, "EMULATED names no folder")
    def test_factors_on_the_device(self):
        self.emulate()
        for summary in self.compare("--no-incomplete"):  # ILU of complex numbers is PETSc's
            self.assertRegex(summary, FACTORS)


if __name__ == "__main__":
    unittest.main()
