#!/usr/bin/env python3
"""Compares `python3 -m petscpack run` with the plain call of the same program, text for text.

    test_run.py [unittest options]        needs petscpack and petsc4py

MPIEXEC   that of petsc4py's MPI (mpiexec)
"""
import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import unittest.mock
import zipfile
from pathlib import Path

import petscpack
from petscpack import _defaults

# All that a program can ask about itself. PETSC_OPTIONS and the variables of petscpack are what run sets.
REPORT = """
import os, signal, sys
for name in "__name__", "__file__", "__package__", "__spec__", "__cached__":
    print(name, repr(globals().get(name)).partition(" object at")[0])
print(sys.argv, getattr(sys, "orig_argv", None), sys.executable, sys.flags, sys.warnoptions, sys._xoptions)
print(sys.path, os.getcwd(), sorted(sys.modules), sys.stdin.encoding, sys.stdout.line_buffering)
print(sorted(pair for pair in os.environ.items() if not pair[0].startswith("PETSC")))
print([signal.getsignal(number) for number in sorted(signal.valid_signals())], signal.pthread_sigmask(signal.SIG_BLOCK, []))
print(os.getppid(), os.getpgrp() == os.getpid(), sorted(os.listdir("/proc/self/fd")), os.umask(0o22))
try:
    print("a child", os.wait())
except ChildProcessError:
    print("no child")
"""
SPAWN = """
import multiprocessing
def work(number):
    return number + 1
if __name__ == "__main__":
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        print(pool.map(work, [1, 2]))
"""
SHELL = """#!/bin/sh
echo "$0" "$#" "$@"
env | grep -v -e ^PETSC -e ^_=
cat
yes | head -n 1
exit 5
"""
# mpiexec gives its input to the first process; that of MPICH never ends the input of the second one
READS_MPI = """
import os
if os.environ.get("OMPI_COMM_WORLD_RANK", os.environ.get("PMI_RANK")) == "0":
    print(input(), input())
"""
FILES = {
    "report.py": REPORT, "sub/report.py": REPORT, "package/__init__.py": "", "package/__main__.py": REPORT, "package/part.py": REPORT,
    "folder/__main__.py": REPORT, "script": f"#!{sys.executable}\n{REPORT}", "no_suffix": REPORT, "empty/__init__.py": "", "with blank.py": REPORT,
    "marked.py": f"#!/no/such/python3\n{REPORT}", "not_executable": f"#!/usr/bin/env python3\n{REPORT}", "shell": SHELL, "spawn.py": SPAWN,
    "data.py": "import os\nos.chdir('/')\nprint(open(__file__).read())\n", "reads.py": "import sys\nprint(input(), repr(sys.stdin.read()))\n",
    "seven.py": "import sys\nsys.exit(7)\n", "sub/seven.py": "import sys\nsys.exit(7)\n", "text.py": "import sys\nsys.exit('a text')\n",
    "at_once.py": "import os\nprint('x', flush=True)\nos._exit(3)\n", "raises.py": "def deep():\n    raise ValueError('deep')\ndeep()\n",
    "raising_folder/__main__.py": "raise ValueError('a text')\n", "syntax.py": "a b\n", "interrupt.py": "raise KeyboardInterrupt\n",
    "terminated.py": "import os, signal\nos.kill(os.getpid(), signal.SIGTERM)\n", "killed.py": "import os\nos.kill(os.getpid(), 9)\n",
    "aborts.py": "import os\nos.abort()\n", "warns.py": "import warnings\nwarnings.warn('a warning')\n",
    "sleeps.py": "import os, signal, time\nsignal.signal(signal.SIGINT, signal.SIG_DFL)\nprint(os.getpid(), flush=True)\ntime.sleep(60)\n",
    "report_mpi.py": "import sys\nprint(__file__, __spec__ and __spec__.name, sys.argv, sys.path, sys.flags)\n", "reads_mpi.py": READS_MPI,
    "shell_mpi": "#!/bin/sh\nsleep 1\necho \"$0\" \"$@\"\n",  # MPICH's mpiexec ends by SIGPIPE in a tenth of the runs of a shorter one
}
EXECUTABLE = ("script", "shell", "marked.py", "compiled", "shell_mpi")

# What python3 is called with, and what run is called with; words before | are options of Python
PYTHON_CASES = (
    "report.py", "report.py a -b --no-cg -h --help", "report.py -- a", "report.py a -- b -- --", "report.py --", "report.py ''", "./report.py a",
    "sub/report.py", "'with blank.py'", "no_suffix a", "marked.py a", "./marked.py", "not_executable", "-m report a -- b", "-m report --", "-mreport -m x",
    "-m package.part", "-m package -- a", "folder a", "archive.zip a", "archive.pyz", "-c 'print(__name__, __import__(\"sys\").argv)' a -- b", "- a",
    "data.py", "reads.py", "spawn.py", "seven.py", "text.py", "at_once.py", "raises.py", "-m raises", "raising_folder", "syntax.py", "-m syntax",
    "interrupt.py", "terminated.py", "killed.py", "aborts.py", "warns.py", "missing.py a", "missing", "sub/missing.py", "-m missing", "-m missing.part",
    "-m empty", "empty", "-m", "-c", "-u | report.py", "-B -s -O | report.py", "-X dev -W error | report.py", "-W error | warns.py", "-I | report.py",
    "-E -bb | -m report", "-OO | -m raises", "-i | report.py",
)
# What a shell starts, and what run is called with
SHELL_CASES = ("./script a -- b", "./shell", "./shell -- a 'b c'", "./compiled -- a", "env", "sh -c 'kill -TERM $$'", "sh -c 'exit 9'", "true",
               "sh -c 'yes | head -n 1'", sys.executable + " report.py -- a", sys.executable + " -m raises")
# The same, on two processes
MPI_CASES = ("report_mpi.py -- a", "-m report_mpi a --", "reads_mpi.py", "./shell_mpi -- a", "seven.py", "raises.py", "missing.py", "-m missing")

# A program whose types are in its code, which starts PETSc with its own options
PETSC = """
import sys
import petsc4py
petsc4py.init([*sys.argv, "-options_left", "0"])  # a PETSc with checks prints unused options otherwise
from petsc4py import PETSc
matrix = PETSc.Mat().create(PETSc.COMM_SELF)
matrix.setSizes([4, 4])
matrix.setType("aij")
matrix.setPreallocationNNZ(1)
matrix.assemble()
matrix.shift(2.0)
x, y = matrix.createVecs()
x.set(3.0)
matrix.mult(x, y)
if PETSc.COMM_WORLD.getRank() == 0:
    print(y.getArray().tolist(), sys.argv[1:])
"""
SIX = "[6.0, 6.0, 6.0, 6.0]"
NOTHING = "petscpack: nothing ran on the GPU: PETSc has not loaded petscpack in this program\n"


class Case(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder, self.markers = Path(folder.name).resolve() / "work", Path(folder.name).resolve() / "markers"
        self.markers.mkdir()
        for name, text in FILES.items():
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        shutil.copyfile("/bin/echo", self.folder / "compiled")
        for name in EXECUTABLE:
            (self.folder / name).chmod(0o755)
        for name in "archive.zip", "archive.pyz":
            with zipfile.ZipFile(self.folder / name, "w") as archive:
                archive.writestr("__main__.py", REPORT)
        self.variables = {name: value for name, value in os.environ.items() if not name.startswith(("PETSC", "LC_", "LANG", "PYTHONUNBUFFERED"))}
        self.variables.update(HOME=str(self.folder), TMPDIR=str(self.markers), PYTHONDONTWRITEBYTECODE="1")

    def start(self, *command, typed=REPORT, **environment):
        """Exit status, output, errors without our lines, and our lines."""
        result = subprocess.run(command, cwd=self.folder, env={**self.variables, **environment}, input=typed, capture_output=True, text=True,
                                timeout=120, check=False)
        lines = result.stderr.splitlines(keepends=True)
        ours = [line for line in lines if line.startswith("petscpack:")]
        self.assertEqual(list(self.markers.glob("petscpack*")), [])
        return result.returncode, result.stdout, "".join(line for line in lines if line not in ours), "".join(ours)

    def run_it(self, *command, before=(), flags=(), **environment):
        return self.start(*before, sys.executable, *flags, "-m", "petscpack", "run", *command, **environment)

    def compare_python(self, case, **environment):
        flags, _, words = ([], "", case) if " | " not in case else case.partition(" | ")
        flags = flags.split() if flags else []
        plain = self.start(sys.executable, *flags, *shlex.split(words), **environment)
        result = self.run_it(*shlex.split(words), flags=flags, **environment)
        self.assertEqual((*plain[:3], NOTHING), result)
        return result


class SameProgram(Case):
    def test_python(self):
        for case in PYTHON_CASES:
            with self.subTest(case):
                self.compare_python(case)

    def test_environment_of_python(self):
        for variables in {"LC_ALL": "C.UTF-8"}, {"LC_CTYPE": "C"}, {"PYTHONSAFEPATH": "1"}, {"PYTHONPATH": "sub"}, {"PYTHONUNBUFFERED": "1"}, {"PYTHONUTF8": "0"}:
            with self.subTest(variables):
                self.compare_python("report.py", **variables)

    def test_files_with_names_of_modules_of_python(self):
        for name in "argparse", "select", "shutil", "signal":
            (self.folder / (name + ".py")).write_text("raise RuntimeError('not asked for')\n")
        self.compare_python("sub/seven.py")

    def test_started_by_a_shell(self):
        for case in SHELL_CASES:
            with self.subTest(case):
                plain = self.start(*shlex.split(case))
                self.assertEqual((*plain[:3], NOTHING), self.without_options(self.run_it(*shlex.split(case))))

    def without_options(self, result):
        """The program env prints what run has set."""
        code, text, *rest = result
        return code, "".join(line for line in text.splitlines(keepends=True) if not line.startswith("PETSC")), *rest

    def test_two_processes(self):
        mpiexec = [os.environ.get("MPIEXEC", "mpiexec"), "-n", "2"]
        for case in MPI_CASES:
            with self.subTest(case):
                words = shlex.split(case)
                # Open MPI's mpiexec crashes in a fiftieth of the runs of a program that ends without reading what is typed
                typed = REPORT if case == "reads_mpi.py" else ""
                plain = self.start(*mpiexec, *([] if case[0] == "." else [sys.executable]), *words, typed=typed)
                result = self.run_it(*words, before=mpiexec, typed=typed)
                self.assertEqual((plain[0], sorted(plain[1].splitlines()), NOTHING), (result[0], sorted(result[1].splitlines()), result[3]))
                if not plain[0]:  # else mpiexec prints numbers of its processes
                    self.assertEqual(sorted(plain[2].splitlines()), sorted(result[2].splitlines()))

    def test_signal_to_the_group(self):
        for number in signal.SIGINT, signal.SIGTERM, signal.SIGKILL:
            with self.subTest(number):
                program = subprocess.Popen([sys.executable, "-m", "petscpack", "run", "sleeps.py"], cwd=self.folder, env=self.variables,
                                           start_new_session=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
                self.assertEqual(program.stdout.readline(), f"{program.pid}\n")
                os.killpg(program.pid, number)
                _, errors = program.communicate(timeout=60)
                self.assertEqual(program.returncode, -number)
                self.assertIn(NOTHING, errors)

    def test_program_leaves_a_process(self):
        """The line does not wait for it, nor does a reader of the standard error stream."""
        begin = time.monotonic()
        self.assertEqual(self.run_it("sh", "-c", "sleep 60 >/dev/null 2>&1 & echo $!; kill -9 $$")[::3], (-9, NOTHING))
        self.assertLess(time.monotonic() - begin, 50)


class Cannot(Case):
    def test_a_program_is_required(self):
        for words in (), ("--no-cg",), ("--",):
            status, output, errors, _ = self.run_it(*words)
            self.assertEqual((status, output), (2, ""))
            self.assertIn("error: a program is required\n", errors)

    def test_unknown_options(self):
        for words, text in (("--no-such", "report.py"), "--no-such"), (("-u", "report.py"), "there is no option -u; options of Python come before -m petscpack"):
            self.assertIn(text, self.run_it(*words)[2])

    def test_program_does_not_start(self):
        (self.folder / "compiled").chmod(0o644)
        (self.folder / "shell").chmod(0o644)
        (self.folder / "script").write_text("#!/no/such/shell\n")
        for name, status, text in ("./compiled", 126, "Permission denied"), ("./shell", 126, "Permission denied"), ("./script", 127, "No such file or directory"):
            self.assertEqual(self.run_it(name), (status, "", "", f"petscpack: {name}: {text}\n"))

    def test_petsc4py_of_another_version(self):
        (self.folder / "sub/petsc4py.py").write_text("__version__ = '3.1'\n")
        status, output, _, line = self.run_it("seven.py", PYTHONPATH="sub")
        self.assertEqual((status, output), (1, ""))
        self.assertIn("has petsc4py 3.1", line)
        self.assertEqual(self.run_it("true", PYTHONPATH="sub"), (0, "", "", NOTHING))  # it may use another PETSc

    def test_without_petsc4py(self):
        (self.folder / "sub/petsc4py.py").write_text("raise ImportError\n")
        self.assertEqual(self.run_it("seven.py", PYTHONPATH="sub"), (7, "", "", NOTHING))


class Options(Case):
    def test_printed(self):
        def shown(*left_out):
            return self.start(sys.executable, "-m", "petscpack", "options", *left_out)
        print_them = "import os; print(os.environ['PETSCPACK_DEFAULTS'])"
        for left_out in (), ("--no-types",), ("--no-cg", "--no-gmres", "--no-summary"):
            self.assertEqual(shown(*left_out)[:3], self.run_it(*left_out, "-c", print_them)[:3])
        self.assertEqual(shown()[1].split()[-1], "-petscpack_summary")
        self.assertNotIn("-petscpack_summary", shown("--no-summary")[1])

    def test_rows_with_one_option_are_joined(self):
        rows = [_defaults.Default(name, "-a", name, "") for name in ("x", "y", "z")]
        with unittest.mock.patch("petscpack._defaults.DEFAULTS", (rows[0], _defaults.Default("flag", "-b", "", ""), *rows[1:])):
            self.assertEqual(_defaults.options(), "-a x,y,z -b")
            self.assertEqual(_defaults.options(["y", "flag"]), "-a x,z")

    def test_plugins_on_the_command_line(self):
        plugins = f"/a/libother.so,{petscpack.plugin()}"
        self.assertEqual(self.run_it("./compiled", "-dll_append", "/a/libother.so", "x")[1], f"-dll_append {plugins} x\n")
        self.assertIn(f"'-dll_append', '{plugins}'", self.run_it("report.py", "-dll_append", "/a/libother.so")[1])


class Petsc(Case):
    """The line at the end, of programs that start PETSc."""

    def setUp(self):
        super().setUp()
        (self.folder / "solve.py").write_text(PETSC)

    def assert_used(self, result):
        self.assertEqual(result[:3], (0, f"{SIX} ['-x', 'a']\n", ""))
        self.assertRegex(result[3], r"\Apetscpack: \d+ solves: .*; products of our matrices: .*\b[1-9]\d* (on the|by PETSc).*\n(  .*\n)*\Z")

    def test_used(self):
        self.assert_used(self.run_it("solve.py", "-x", "a"))
        self.assert_used(self.run_it("-m", "solve", "-x", "a"))
        self.assert_used(self.run_it("solve.py", "-x", "a", before=[os.environ.get("MPIEXEC", "mpiexec"), "-n", "2"], typed=""))

    def test_used_by_another_process(self):
        for command in ["solve.py"], ["-m", "petscpack", "run", "solve.py"]:
            self.assert_used(self.run_it("sh", "-c", '"$@"; exit', "sh", sys.executable, *command, "-x", "a"))

    def test_not_used(self):
        (self.folder / "solve.py").write_text("import os\ndel os.environ['PETSC_OPTIONS']\n" + PETSC)
        self.assertEqual(self.run_it("solve.py", "-x"), (0, f"{SIX} ['-x']\n", "", NOTHING))

    def test_no_line(self):
        self.assertEqual(self.run_it("--no-summary", "solve.py"), (0, f"{SIX} []\n", "", ""))
        self.assertEqual(self.run_it("solve.py", PETSC_OPTIONS="-petscpack_summary 0"), (0, f"{SIX} []\n", "", ""))
        self.assertEqual(self.run_it("--no-summary", "seven.py"), (7, "", "", ""))

    def test_options_of_the_user_win(self):
        (self.folder / "shows.py").write_text("from petsc4py import PETSc\noptions = PETSc.Options().getAll()\n"
                                              "print([options[name] for name in ('mat_seqaij_type', 'petscpack_replace')])\n")
        self.assertEqual(self.run_it("shows.py", PETSC_OPTIONS="-options_left 0 -mat_seqaij_type seqaij -petscpack_replace cg,mg")[:3], (0, "['seqaij', 'cg,mg']\n", ""))


if __name__ == "__main__":
    unittest.main()
