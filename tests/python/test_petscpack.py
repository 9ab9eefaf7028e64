#!/usr/bin/env python3
"""Tests the installed Python package. Each case runs in its own process, because PETSc can start only once per process.

    test_petscpack.py [unittest options]        needs petscpack and petsc4py
"""
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import petscpack

# A tridiagonal matrix with a known product: each row sum is 0, except for the first and the last, which are 1
CHECK_TYPES = """
from petsc4py import PETSc
assert {"aijrbp", "aijauto"} <= set(petscpack.types()), petscpack.types()
for name in petscpack.types():
    matrix = PETSc.Mat().create()
    matrix.setSizes([100, 100])
    matrix.setType(name)
    matrix.setUp()
    for row in range(*matrix.getOwnershipRange()):
        for column, value in (row - 1, -1.0), (row, 2.0), (row + 1, -1.0):
            if 0 <= column < 100:
                matrix.setValue(row, column, value)
    matrix.assemble()
    assert matrix.getType() == "seq" + name, matrix.getType()
    x, y = matrix.createVecs()
    x.set(1.0)
    matrix.mult(x, y)
    expected = [1.0] + [0.0] * 98 + [1.0]
    assert y.getArray().tolist() == expected, name
print("types checked")
"""


def run(program, **environment):
    variables = {name: value for name, value in os.environ.items() if name != "PETSC_OPTIONS"}
    with tempfile.TemporaryDirectory() as folder:  # not the source tree, whose folders could be taken for packages
        return subprocess.run([sys.executable, "-c", "import petscpack\n" + program], cwd=folder,
                              env={**variables, **environment}, capture_output=True, text=True, timeout=120, check=False)


class Load(unittest.TestCase):
    def assert_prints(self, expected, result):
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        self.assertIn(expected, result.stdout)

    def test_before_petsc_starts(self):
        self.assert_prints("types checked", run("petscpack.load()" + CHECK_TYPES))

    def test_between_import_of_petsc4py_and_start(self):
        self.assert_prints("types checked", run("import petsc4py\npetscpack.load()\npetsc4py.init()" + CHECK_TYPES))

    def test_after_petsc_has_started(self):
        self.assert_prints("types checked", run("from petsc4py import PETSc\npetscpack.load()" + CHECK_TYPES))

    def test_twice(self):
        program = "petscpack.load()\npetscpack.load()\nfrom petsc4py import PETSc\npetscpack.load()\npetscpack.load()"
        self.assert_prints("types checked", run(program + CHECK_TYPES))

    def test_without_load_there_are_no_types(self):
        result = run(CHECK_TYPES)
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("MatSetType", result.stderr)

    def test_error_of_petsc_is_an_exception(self):
        program = "from petsc4py import PETSc\ntry:\n    petscpack.load()\nexcept petscpack.LoadError as error:\n    print(error)"
        result = run(program, PETSC_OPTIONS="-petscpack_device_keep -7")
        self.assert_prints("the plugin returned an error", result)
        self.assertIn("-petscpack_device_keep", result.stdout)

    def test_joins_other_plugins_in_the_options(self):
        program = "import os\npetscpack.load()\npetscpack.load()\nprint(os.environ['PETSC_OPTIONS'])"
        self.assert_prints("-log_view -dll_append /a/libother.so," + petscpack.plugin() + " -x 1\n",
                           run(program, PETSC_OPTIONS="-log_view -dll_append /a/libother.so -x 1"))

    def test_refuses_a_second_file_of_the_plugin(self):
        result = run("import petscpack; petscpack.load()", PETSC_OPTIONS="-dll_append /a/libpetscpack.so")
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("PETSC_OPTIONS already loads another petscpack, /a/libpetscpack.so", result.stderr)

    def test_path_of_the_plugin(self):
        shown = subprocess.run([sys.executable, "-m", "petscpack", "plugin"], cwd="/", capture_output=True, text=True, check=True)
        self.assertEqual(shown.stdout, petscpack.plugin() + "\n")
        self.assertTrue(Path(petscpack.plugin()).is_file())
        self.assertEqual(Path(petscpack.plugin()).name, "libpetscpack.so")

    def test_nccl_and_cudss_are_looked_for_beside_the_package(self):
        # The library with the kernels opens them: nccl_of_pypi in tests/nccl shows that this name is enough
        kernels = Path(petscpack.plugin()).with_name("libspmvpack.so" if petscpack._build_info.VARIANTS else "libpetscpack.so")
        for folder in (b"$ORIGIN/../nvidia/nccl/lib", b"$ORIGIN/../nvidia/cu13/lib", b"$ORIGIN/../nvidia/cu12/lib"):
            self.assertIn(folder, kernels.read_bytes())


# The matrix of a line with two unknowns per node
ADVISE = """
from petsc4py import PETSc
matrix = PETSc.Mat().createAIJ([200, 200], nnz=6)
for node in range(100):
    for other in range(max(0, node - 1), min(100, node + 2)):
        matrix.setValues([2 * node, 2 * node + 1], [2 * other, 2 * other + 1], [3.0, 1.0, 1.0, 3.0])
matrix.assemble()
advice = petscpack.advise(matrix%s)
"""


class Advise(unittest.TestCase):
    def advise(self, program, arguments=""):
        result = run(ADVISE % arguments + program)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        return result.stdout

    def test_facts_and_costs(self):
        shown = self.advise("print(advice['nonzeros'], advice['block'], advice['row_lengths']['histogram'])\n"
                            "host = advice['places'][0]\nprint([t['type'] for t in host['types']], host['options'])")
        facts, types = shown.splitlines()
        self.assertEqual(facts, "1192 {'size': 2, 'fill': 1} [{'from': 3, 'to': 4, 'rows': 4}, {'from': 5, 'to': 8, 'rows': 196}]")
        for name in ("aij", "aijrbp", "-mat_type aij"):
            self.assertIn(name, types)

    def test_measured(self):
        shown = self.advise("print(advice['measured'], advice['places'][0]['types'][0]['measured_product'] > 0)", ", measure=True")
        self.assertEqual(shown, "True True\n")

    def test_page(self):
        shown = self.advise("try:\n    petscpack.write_page(advice, 'page.html')\n"
                            "    print('drawn', open('page.html').read().count('data:image/png'))\n"
                            "except ImportError as error:\n    print('not drawn', error)")
        self.assertRegex(shown, "drawn 3\n|not drawn No module named 'matplotlib'")

    def test_error_of_petsc_is_an_exception(self):
        program = "dense = PETSc.Mat().createDense([3, 3])\ndense.setUp()\ndense.assemble()\ntry:\n    petscpack.advise(dense)\nexcept RuntimeError as error:\n    print(error)"
        self.assertIn("seqdense", self.advise(program))


@unittest.skipIf(petscpack._build_info.VARIANTS, "a wheel serves several PETScs: test_wheel.py")
class OtherPetsc(unittest.TestCase):
    """The package pretends to be built for a PETSc other than the installed one."""

    PRETEND = """
import petscpack._build_info as info
info.PETSC_VERSION, info.PETSC_LIBRARY = "3.17.4", "libpetsc.so.3.17"
"""
    REPORT = """
try:
    petscpack.load()
except petscpack.LoadError as error:
    print("refused:", error)
"""

    def assert_refused(self, program, *found):
        result = run(self.PRETEND + program + self.REPORT)
        self.assertEqual(result.returncode, 0, result.stderr)
        for text in ("refused: this petscpack was built for PETSc 3.17.4 (libpetsc.so.3.17)", "PETSC_DIR", *found):
            self.assertIn(text, result.stdout)

    def test_before_petsc_starts(self):
        self.assert_refused("", "has petsc4py ")

    def test_after_petsc_has_started(self):
        self.assert_refused("from petsc4py import PETSc\n", "has loaded /", "libpetsc")


if __name__ == "__main__":
    unittest.main()
