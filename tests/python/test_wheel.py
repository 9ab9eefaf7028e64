#!/usr/bin/env python3
"""Tests the binary wheel, installed with a petsc4py that it serves. Each case runs in its own process, because PETSc
starts once only.

    test_wheel.py [unittest options]        needs petscpack (a wheel) and petsc4py

MPIEXEC       that of petsc4py's MPI (mpiexec)
OTHER_PETSCS  libraries of other PETScs, as "library=kind" separated by blanks. A kind such as -64-complex has a variant, which
              the tests remove; cuda has none
Nothing here compiles, and check_wheel.sh hides the compilers.
"""
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

PACKAGE = Path(__import__("petscpack").__file__).parent
PLUGIN = PACKAGE / "libpetscpack.so"

# A program that hard-codes its types. Prints the type of the matrix, the iterations and the norm of the solution.
PROGRAM = """
import sys
from petsc4py import PETSc
side = 30
matrix = PETSc.Mat().create()
matrix.setSizes([side * side, side * side])
matrix.setType("aij")
matrix.setUp()
for row in range(*matrix.getOwnershipRange()):
    i, j = divmod(row, side)
    for inside, column, value in ((True, row, 4.0), (i > 0, row - side, -1.0), (i < side - 1, row + side, -1.0),
                                  (j > 0, row - 1, -1.0), (j < side - 1, row + 1, -1.0)):
        if inside:
            matrix.setValue(row, column, value)
matrix.assemble()
x, b = matrix.createVecs()
b.set(1.0)
ksp = PETSc.KSP().create()
ksp.setOperators(matrix)
ksp.setType("cg")
ksp.getPC().setType("jacobi")
ksp.setTolerances(rtol=1e-10)
ksp.solve(b, x)
norm = x.norm()
if PETSc.COMM_WORLD.getRank() == 0:
    print("solved", matrix.getType(), ksp.getIterationNumber(), "%.6f" % norm, sys.argv[1:])
"""
SOLVED = re.compile(r"solved (\w+) (\d+) ([\d.]+) (.*)")

# A PETSc without petsc4py: it loads the plugin by PETSC_OPTIONS, or starts without it and then calls it as load() does
BARE = """
import ctypes, sys
library, plugin = sys.argv[1:3]
petsc = ctypes.CDLL(library)
print("start", petsc.PetscInitializeNoArguments())
if plugin != "none":
    print("register", ctypes.CDLL(plugin).PetscDLLibraryRegister_petscpack())
    matrix = ctypes.c_void_p()
    petsc.MatCreate.argtypes = [ctypes.c_void_p, ctypes.c_void_p]
    self = ctypes.cast(petsc.ompi_mpi_comm_self, ctypes.c_void_p) if hasattr(petsc, "ompi_mpi_comm_self") else 0x44000001
    print("aij", petsc.MatCreate(self, ctypes.byref(matrix)), petsc.MatSetType(matrix, b"aij"))
    print("aijrbp", petsc.MatSetType(matrix, b"aijrbp") != 0)
print("variants", open("/proc/self/maps").read().count("/variants/"))
print("global", hasattr(ctypes.CDLL(None), "PetscInitialize"))
"""


def run(*command, package=None, folder=None, text="", **environment):
    """Runs a command in an empty folder, optionally with petscpack from another folder than the installed one."""
    variables = {name: value for name, value in os.environ.items() if not name.startswith("PETSC")}
    variables.update(environment)
    if package:
        variables["PYTHONPATH"] = str(package)
    with tempfile.TemporaryDirectory() as empty:
        return subprocess.run([str(word) for word in command], cwd=folder or empty, env={**variables, "HOME": empty}, input=text,
                              capture_output=True, text=True, timeout=180, check=False)


def python(program, *arguments, **environment):
    return run(sys.executable, "-c", program, *arguments, **environment)


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        (self.folder / "program.py").write_text(PROGRAM)

    def solved(self, result):
        """The output of PROGRAM: type, iterations, norm, arguments."""
        found = SOLVED.search(result.stdout)
        self.assertTrue(result.returncode == 0 and found, result.stdout + result.stderr)
        return found.groups()

    def run_program(self, *arguments, options=(), processes=0, **environment):
        start = [os.environ.get("MPIEXEC", "mpiexec"), "-n", processes] if processes else []
        return run(*start, sys.executable, "-m", "petscpack", "run", *options, "program.py", *arguments, folder=self.folder, **environment)

    def copy_of_package(self):
        shutil.copytree(PACKAGE, self.folder / "copy" / "petscpack")
        return self.folder / "copy" / "petscpack"

    def assert_says(self, result, *texts):
        for text in texts:
            self.assertIn(text, result.stdout + result.stderr)


class Serves(Case):
    def test_no_compiler_is_needed(self):
        for name in ("cc", "gcc", "c++", "nvcc", "mpicc", "cmake"):
            self.assertIsNone(shutil.which(name), "the tests run with compilers hidden: scripts/check_wheel.sh")

    def test_same_solution_before_and_after_petsc_starts(self):
        plain = self.solved(python(PROGRAM))
        self.assertEqual(plain[0], "seqaij")
        for program in "import petscpack\npetscpack.load()\n" + PROGRAM, "from petsc4py import PETSc\nimport petscpack\npetscpack.load()\n" + PROGRAM:
            for name in "seqaijrbp", "seqaijauto":
                served = self.solved(python(program.replace('setType("aij")', f'setType("{name[3:]}")')))
                self.assertEqual(served, (name, *plain[1:]))

    def test_dll_append_in_any_program(self):
        result = python(PROGRAM, PETSC_OPTIONS=f"-dll_append {PLUGIN} -mat_seqaij_type seqaijcrsv")
        self.assertEqual(self.solved(result)[0], "seqaijcrsv")

    def test_line_for_a_shell(self):
        shell = f'eval "$({sys.executable} -m petscpack)"; export PETSC_OPTIONS="$PETSC_OPTIONS -mat_seqaij_type seqaijrbp"; {sys.executable} program.py'
        result = run("sh", "-c", shell, folder=self.folder, PETSC_OPTIONS="-ksp_rtol 1e-9")
        self.assertEqual(self.solved(result)[0], "seqaijrbp")

    def test_path(self):
        self.assertEqual(run(sys.executable, "-m", "petscpack", "plugin").stdout, f"{PLUGIN}\n")
        self.assertIn("unknown arguments", run(sys.executable, "-m", "petscpack", "paht").stderr)


class Run(Case):
    def summary(self, result):
        lines = [line for line in result.stderr.splitlines() if line.startswith("petscpack: ")]
        self.assertEqual(len(lines), 1, result.stderr)
        return lines[0]

    def test_unchanged_program(self):
        plain, result = self.solved(python(PROGRAM)), self.run_program("a", "-b")
        self.assertEqual(self.solved(result), ("seqaij", *plain[1:3], "['a', '-b']"))
        self.assertRegex(self.summary(result), r"engines: \d solves .*products of our matrices: ")

    def test_two_processes(self):
        result = self.run_program(processes=2)
        self.assertEqual(self.solved(result)[1:3], self.solved(python(PROGRAM))[1:3])
        self.assertRegex(self.summary(result), r"[1-9]\d* on the (host|GPU)")

    def test_summary_counts(self):
        """On the host, CG is PETSc's and says why; each iteration has a product of ours, beside that of the first residual."""
        result = self.run_program(PETSC_OPTIONS="-mat_aijfmt_device host -ksp_cgdevice_mode host")
        line, iterations = self.summary(result), int(self.solved(result)[1])
        self.assertRegex(line, r"engines: 0 solves with 0 iterations on the GPU, 1 by PETSc \(.+\); ")
        counted = sum(int(number) for number in re.findall(r"(\d+) (?:on the host|by PETSc)", line.split("matrices:")[1]))
        self.assertIn(counted, (iterations, iterations + 1))

    def test_options_of_the_user_win(self):
        self.assertEqual(self.solved(self.run_program(PETSC_OPTIONS="-mat_seqaij_type seqaij"))[0], "seqaij")
        (self.folder / ".petscrc").write_text("-mat_seqaij_type seqaijcrsv\n-petscpack_summary 0\n")
        result = self.run_program()
        self.assertEqual(self.solved(result)[0], "seqaijcrsv")
        self.assertNotIn("petscpack:", result.stderr)

    def test_plugins_of_petscrc_stay(self):
        (self.folder / ".petscrc").write_text("-dll_append /nowhere/libother.so\n")
        self.assert_says(self.run_program(), "/nowhere/libother")

    def test_defaults_can_be_switched_off(self):
        self.assertEqual(self.solved(self.run_program(options=["--no-types"]))[0], "seqaij")
        self.assertNotIn("petscpack:", self.run_program(options=["--no-summary"]).stderr)
        result = self.run_program(options=["--no-cg"])
        self.assertIn("engines: 0 solves with 0 iterations on the GPU, 0 by PETSc;", self.summary(result))

    def test_modules_and_compiled_programs(self):
        result = run(sys.executable, "-m", "petscpack", "run", "-m", "program", "x", folder=self.folder)
        self.assertEqual(self.solved(result)[3], "['x']")
        result = run(sys.executable, "-m", "petscpack", "run", shutil.which("env"))
        self.assert_says(result, f"PETSC_OPTIONS=-dll_append {PLUGIN}", "PETSCPACK_DEFAULTS=-petscpack_replace aij,cg,gmres")

    def test_exit_status_and_programs_without_petsc(self):
        (self.folder / "program.py").write_text("import sys\nsys.exit(7)\n")
        result = self.run_program()
        self.assertEqual(result.returncode, 7)
        self.assertIn("nothing ran on the GPU", self.summary(result))

    def test_missing_program(self):
        result = run(sys.executable, "-m", "petscpack", "run", "no_such.py")
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("no_such.py", result.stderr)


class Refuses(Case):
    def others(self):
        pairs = [pair.partition("=")[::2] for pair in os.environ.get("OTHER_PETSCS", "").split()]
        self.assertTrue(pairs, "OTHER_PETSCS names no library")
        return pairs

    FOUND = {"cuda": ("PETSc 3.26", " cuda"), "-complex": ("PETSc 3.18", "complex double, 32-bit"), "-64": ("PETSc 3.18", "real double, 64-bit")}

    def plugin_without(self, kind):
        """The loader of a package that has no variant of this kind."""
        copy = self.folder / kind / "petscpack"
        shutil.copytree(PACKAGE, copy)
        for path in (copy / "variants").glob(f"*{kind}.so"):
            path.unlink()
        return copy / PLUGIN.name

    def assert_explained(self, result, kind):
        self.assert_says(result, "does not fit", *self.FOUND[kind], "The wheel holds: PETSc and MPI 3.", "--no-binary petscpack")

    def test_other_petscs_while_they_start(self):
        for library, kind in self.others():
            with self.subTest(library):
                result = python(BARE, library, "none", PETSC_OPTIONS=f"-dll_append {self.plugin_without(kind)}")
                self.assert_explained(result, kind)
                self.assert_says(result, "start 76", "variants 0", "global False")

    def test_other_petscs_after_they_started(self):
        for library, kind in self.others():
            with self.subTest(library):
                result = python(BARE, library, self.plugin_without(kind))
                self.assert_explained(result, kind)
                self.assert_says(result, "start 0", "register 76", "aij 0 0", "aijrbp True", "variants 0", "global False")

    def test_variant_of_another_kind_or_layout(self):
        """A variant opened without the loader, in a PETSc with other scalars or indices, or whose matrices have fields for devices."""
        program = ("import ctypes, sys\npetsc = ctypes.CDLL(sys.argv[1], ctypes.RTLD_GLOBAL)\nprint('start', petsc.PetscInitializeNoArguments())\n"
                   "print('register', ctypes.CDLL(sys.argv[2]).PetscDLLibraryRegister_petscpack())")
        for library, kind in self.others():
            with self.subTest(library):
                result = python(program, library, PACKAGE / "variants" / ("3.26-mpich.so" if kind == "cuda" else "3.18-openmpi.so"))
                self.assert_says(result, "start 0", "register 76", "differs from the headers that libpetscpack" if kind == "cuda" else
                                 "was built for a PETSc with scalars of 8 bytes and indices of 4")

    def test_what_reproduces_papers(self):
        result = python(PROGRAM, PETSC_OPTIONS=f"-dll_append {PLUGIN} -mat_seqaij_type seqaijrbp -mat_aijrbp_layout ell")
        self.assertNotEqual(result.returncode, 0)
        self.assert_says(result, "layout: ell is for comparison with a paper", "-DPETSCPACK_PAPERS=ON")

    def own_variant(self):
        """The file name of the variant that serves this petsc4py."""
        program = "from petsc4py import PETSc\nimport petscpack\npetscpack.load()\nprint(petscpack._plugin.variant())"
        return Path(python(program).stdout.strip()).name

    def test_no_variant_for_this_mpi(self):
        own, copy = self.own_variant(), self.copy_of_package()
        (copy / "variants" / own).unlink()
        result = python(Damaged.START, package=copy.parent)
        self.assert_says(result, "LoadError", "does not fit", f"MPI: {own.rpartition('-')[2][:-3]}")

    def test_variant_of_another_mpi(self):
        own, copy = self.own_variant(), self.copy_of_package()
        other = next(path for path in (copy / "variants").iterdir() if own.rpartition("-")[2][:-3] not in path.stem)
        shutil.copyfile(other, copy / "variants" / own)
        self.assert_says(python(Damaged.START, package=copy.parent), "LoadError", "damaged")

    def test_petsc4py_of_another_minor(self):
        program = "import petscpack\npetscpack._build_info.VARIANTS = ('3.17-openmpi',)\npetscpack.load()"
        self.assert_says(python(program), "holds 3.17-openmpi", "has petsc4py 3.")

    def test_kernels_given_as_the_plugin(self):
        result = python("from petsc4py import PETSc", PETSC_OPTIONS=f"-dll_append {PACKAGE / 'libspmvpack.so'}")
        self.assertNotEqual(result.returncode, 0)
        self.assert_says(result, "libspmvpack.so is no plugin of PETSc", f"{PLUGIN}")

    def test_no_petsc(self):
        program = f"import ctypes\nprint('code', ctypes.CDLL('{PLUGIN}').PetscDLLibraryRegister_petscpack())"
        self.assert_says(python(program), "code 76", "no PETSc has started")


class Damaged(Case):
    START = "from petsc4py import PETSc\nimport petscpack\npetscpack.load()"

    def assert_refused(self, copy, *texts):
        result = python(self.START, package=copy.parent)
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assert_says(result, "this installation of petscpack is damaged", "pip install --force-reinstall", *texts)

    def test_without_kernels(self):
        copy = self.copy_of_package()
        (copy / "libspmvpack.so").unlink()
        self.assert_refused(copy, "libspmvpack.so")

    def test_spoiled_variants(self):
        copy = self.copy_of_package()
        for path in (copy / "variants").iterdir():
            path.write_bytes(b"no library")
        self.assert_refused(copy, "variants/")

    def test_kernels_of_another_version(self):
        copy = self.copy_of_package()
        place = python("import ctypes, sys\nlibrary = ctypes.CDLL(sys.argv[1])\nfind = library.spmv_format_get\n"
                       "find.restype = ctypes.c_void_p\nbase = min(int(line.split('-')[0], 16) for line in open('/proc/self/maps') if 'libspmvpack' in line)\n"
                       "print(find(0) - base, ctypes.c_int.from_address(find(0)).value)", PACKAGE / "libspmvpack.so").stdout.split()
        address, abi = int(place[0]), int(place[1])
        image = bytearray((copy / "libspmvpack.so").read_bytes())
        offset = file_offset(image, address)
        self.assertEqual(struct.unpack_from("<i", image, offset)[0], abi)
        struct.pack_into("<i", image, offset, abi - 1)
        (copy / "libspmvpack.so").write_bytes(image)
        self.assert_refused(copy, "another version")


def file_offset(image, address):
    """The offset in the file of a shared library (ELF, 64 bits) of the byte mapped at this address."""
    headers, size, count = struct.unpack_from("<Q", image, 32)[0], *struct.unpack_from("<HH", image, 54)
    for number in range(count):
        kind, _, offset, virtual, _, in_file = struct.unpack_from("<IIQQQQ", image, headers + number * size)
        if kind == 1 and virtual <= address < virtual + in_file:
            return address - virtual + offset
    raise ValueError(f"no byte of the file is mapped at {address}")


class TwoPetscs(Case):
    """A second PETSc of the same MPI in the process."""

    SECOND = "import ctypes, sys\nother = ctypes.CDLL(sys.argv[1])\n"

    def setUp(self):
        super().setUp()
        names = [pair.partition("=")[0] for pair in os.environ.get("OTHER_PETSCS", "").split() if pair.endswith("=-complex")]
        if not names:
            self.skipTest("OTHER_PETSCS has no complex one")
        self.other = names[0]

    def assert_refused(self, result, *texts):
        self.assert_says(result, "this process has two PETScs", "libpetsc_complex", "global False", *texts)

    LOAD = """
import petscpack
try:
    petscpack.load()
except petscpack.LoadError as error:
    print(error)
print("global", hasattr(ctypes.CDLL(None), "PetscInitialize"))
"""

    def test_one_has_started(self):
        self.assert_refused(python(self.SECOND + "from petsc4py import PETSc\n" + self.LOAD, self.other))

    def test_both_have_started(self):
        result = python("from petsc4py import PETSc\n" + self.SECOND + "print('start', other.PetscInitializeNoArguments())\n" + self.LOAD, self.other)
        self.assert_refused(result, "start 0")

    def test_the_second_one_loads_it_by_an_option(self):
        program = ("from petsc4py import PETSc\nimport os\nos.environ['PETSC_OPTIONS'] = '-dll_append ' + sys.argv[2]\n"
                   "print('start', other.PetscInitializeNoArguments())\nprint('global', hasattr(ctypes.CDLL(None), 'PetscInitialize'))\n")
        self.assert_refused(python(self.SECOND + program, self.other, PLUGIN), "start 76")


if __name__ == "__main__":
    unittest.main()
