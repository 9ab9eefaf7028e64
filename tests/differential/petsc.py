"""A PETSc installation for the differential runner: compiler, sources of its tests, mpiexec."""
import os
import re
import shlex
import shutil
import subprocess
import threading
from pathlib import Path

import blocks

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
        self.cache = Path(build).resolve() / f"petsc-{self.version}"
        self.defines = self._defines()
        self._locks, self._guard = {}, threading.Lock()

    @staticmethod
    def _pkg_config(*arguments):
        return subprocess.run(["pkg-config", *arguments, "PETSc"], check=True, capture_output=True, text=True).stdout.strip()

    def _variable(self, name):
        return self._pkg_config(f"--variable={name}")

    def _installed_sources(self):
        """Installed PETScs include the sources of their tests; Debian has them in libpetsc<version>-dev-examples."""
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

    def _defines(self):
        """Names that petscconf.h defines."""
        folders = [flag[2:] for flag in shlex.split(self._pkg_config("--cflags")) if flag.startswith("-I")]
        headers = [Path(folder) / "petscconf.h" for folder in folders]
        text = next(header.read_text() for header in headers if header.exists())
        return set(re.findall(r"^#define (\w+)", text, re.M))

    def newer_or_equal(self, minimum):
        numbers = lambda text: [int(part) for part in text.split(".")[:2]]
        return numbers(self.version) >= numbers(minimum)

    def programs(self):
        """All test programs in C, such as mat/tests/ex2."""
        sources = (path.relative_to(self.source).with_suffix("") for path in self.source.rglob("*.c"))
        return sorted(str(path) for path in sources if {"tests", "tutorials"} & set(path.parts))

    def text(self, program):
        return (self.source / f"{program}.c").read_text(errors="replace")

    def _has(self, word):
        if word in ("double", "single"):
            return f"PETSC_USE_REAL_{word.upper()}" in self.defines
        if word == "complex":
            return "PETSC_USE_COMPLEX" in self.defines
        defined = re.match(r"defined\((\w+)\)", word)
        return (defined[1] if defined else f"PETSC_HAVE_{word.upper()}") in self.defines

    def lacks(self, program, needs):
        """Why a program cannot run here, "" if it can; needs are words as in PETSc's test blocks."""
        if not (self.source / f"{program}.c").exists():
            return "not among the installed sources"
        for word in filter(None, needs):
            if word.startswith("asks:"):
                return f"asks for {word[5:]}"
            if word == "datafilespath":
                return "needs PETSc's separate data files"
            if self._has(word.lstrip("!")) == word.startswith("!"):
                return f"PETSc is built {'with' if word.startswith('!') else 'without'} {word.lstrip('!')}"
        return ""

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
            sources = [str(source)] + [str(source.parent / name) for name in blocks.dependencies(self.text(program))]
            flags = shlex.split(self._pkg_config("--cflags"))
            libraries = shlex.split(self._pkg_config("--libs"))
            rpath = f"-Wl,-rpath,{self._variable('libdir')}"
            command = [self.compiler, "-O1", "-w", *flags, *sources, "-o", str(executable), *libraries, rpath, "-llapack", "-lblas", "-lm"]
            subprocess.run(command, check=True, capture_output=True, text=True)
            return executable

    def run(self, executable, ranks, arguments, folder):
        """Runs in a folder of its own; returns (exit status, stdout and stderr together)."""
        environment = dict(
            os.environ,
            OMPI_ALLOW_RUN_AS_ROOT="1",
            OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
            OMPI_MCA_rmaps_base_oversubscribe="1",
            OMPI_MCA_mpi_yield_when_idle="1",
            OMPI_MCA_btl_base_warn_component_unused="0",
            OMPI_MCA_ess_singleton_isolated="1",  # a single process starts no daemon
            MPIR_CVAR_DEVICE_COLLECTIVES="none",  # MPICH's for shared memory spin without end on more ranks than cores
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
