"""What the differential runner needs of one PETSc installation: compiler, sources of its tests, mpiexec."""
import os
import shlex
import shutil
import subprocess
import threading
from pathlib import Path

RUN_TIMEOUT_SECONDS = 240


class Petsc:
    """A PETSc found through pkg-config; compiles its own test programs, unmodified, into a cache folder."""

    def __init__(self, build, source=None, mpiexec=None):
        self.prefix = Path(self._variable("prefix"))
        self.version = self._pkg_config("--modversion")
        self.source = Path(source) if source else self._installed_sources()
        self.data = next(
            (d for d in (self.source.parent / "datafiles", self.source.parents[1] / "share/petsc/datafiles") if d.is_dir()),
            self.prefix / "share/petsc/datafiles",
        )
        self.compiler = shutil.which(self._variable("ccompiler") or "mpicc")
        self.mpiexec = mpiexec or self._find_mpiexec()
        self.cache = Path(build) / f"petsc-{self.version}"
        self._locks, self._guard = {}, threading.Lock()

    @staticmethod
    def _pkg_config(*arguments):
        return subprocess.run(["pkg-config", *arguments, "PETSc"], check=True, capture_output=True, text=True).stdout.strip()

    def _variable(self, name):
        return self._pkg_config(f"--variable={name}")

    def _installed_sources(self):
        """Installed PETScs carry the sources of their tests; Debian has them in libpetsc<version>-dev-examples."""
        minor = ".".join(self.version.split(".")[:2])
        candidates = [
            self.prefix / "share/petsc/examples/src",
            Path(f"/usr/share/petsc/{minor}/share/petsc/examples/src"),
        ]
        for folder in candidates:
            if (folder / "mat/tests").is_dir():
                return folder
        raise SystemExit(
            f"no sources of PETSc's tests in {' or '.join(map(str, candidates))}: "
            f"give --petsc-src, or install libpetsc{minor}-dev-examples"
        )

    def _find_mpiexec(self):
        beside = Path(self.compiler).resolve().parent / "mpiexec" if self.compiler else None
        named = self._variable("mpiexec")
        if named:
            return named
        return str(beside) if beside and beside.exists() else shutil.which("mpiexec")

    def newer_or_equal(self, minimum):
        numbers = lambda text: [int(part) for part in text.split(".")[:2]]
        return numbers(self.version) >= numbers(minimum)

    def compile(self, program):
        """Returns the executable of a source such as mat/tests/ex2; raises CalledProcessError with the compiler's text."""
        with self._guard:
            lock = self._locks.setdefault(program, threading.Lock())
        with lock:
            source = self.source / f"{program}.c"
            executable = self.cache / "bin" / program.replace("/", "-")
            if executable.exists() and executable.stat().st_mtime > source.stat().st_mtime:
                return executable
            executable.parent.mkdir(parents=True, exist_ok=True)
            flags = shlex.split(self._pkg_config("--cflags"))
            libraries = shlex.split(self._pkg_config("--libs"))
            rpath = f"-Wl,-rpath,{self._variable('libdir')}"
            command = [self.compiler, "-O1", "-w", *flags, str(source), "-o", str(executable), *libraries, rpath, "-lm"]
            subprocess.run(command, check=True, capture_output=True, text=True)
            return executable

    def run(self, executable, ranks, arguments, folder):
        """Runs in a folder of its own; returns (exit status, stdout and stderr together)."""
        folder.mkdir(parents=True, exist_ok=True)
        environment = dict(
            os.environ,
            OMPI_ALLOW_RUN_AS_ROOT="1",
            OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
            OMPI_MCA_rmaps_base_oversubscribe="1",
            OMPI_MCA_btl_base_warn_component_unused="0",
            OMP_NUM_THREADS="1",
        )
        command = [self.mpiexec, "-n", str(ranks), str(executable), *arguments]
        if ranks == 1:
            command = command[3:]
        try:
            done = subprocess.run(
                command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=RUN_TIMEOUT_SECONDS
            )
        except subprocess.TimeoutExpired as late:
            return 124, (late.stdout or b"").decode(errors="replace") + f"\nno end within {RUN_TIMEOUT_SECONDS} s\n"
        return done.returncode, done.stdout.decode(errors="replace")
