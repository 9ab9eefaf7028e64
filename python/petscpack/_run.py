"""Runs a program unchanged: sets the environment with which PETSc loads the plugin, and becomes the program by an exec."""
from __future__ import annotations

import argparse
import contextlib
import ctypes
import itertools
import os
import select
import shutil
import signal
import sys
from pathlib import Path
from typing import NoReturn

from . import _defaults, _plugin

_PIDFD_OPEN = 434  # the system call, on every processor; os.pidfd_open() is missing in some builds of Python
_UNUSED = b"petscpack: nothing ran on the GPU: PETSc has not loaded petscpack in this program\n"


def _parser(command: str, usage: str, description: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog=f"python3 -m petscpack {command}", usage=f"%(prog)s [--no-NAME ...]{usage}", description=description,
                                     epilog="Options from PETSC_OPTIONS, .petscrc and the program's command line override those that run sets.")
    for default in _defaults.DEFAULTS:
        parser.add_argument(f"--no-{default.name}", dest="left_out", action="append_const", const=default.name, default=[],
                            help=f"do not set {default.option} {default.value}".rstrip() + f": {default.without}")
    return parser


def print_options(arguments: list[str]) -> None:
    """The command line of python3 -m petscpack options."""
    print(_defaults.options(_parser("options", "", "Prints the options that run sets.").parse_args(arguments).left_out))


def _split(arguments: list[str]) -> tuple[list[str], list[str]]:
    """Names of --no-NAME, and the program with its arguments, which stay as they are, with each -- that follows the program."""
    parser = _parser("run", " {PROGRAM | -m MODULE | -c CODE} [ARGUMENTS ...]",
                     "Runs a Python program, or any program that uses PETSc, unchanged on the GPU.")
    own = list(itertools.takewhile(lambda word: word == "-h" or word.startswith("--") and word != "--", arguments))
    left_out: list[str] = parser.parse_args(own).left_out
    words = arguments[len(own):]
    words = words[words[:1] == ["--"]:]
    if not words:
        parser.error("a program is required")
    if words[0].startswith("-") and words[0] != "-" and words[0][:2] not in ("-m", "-c"):
        parser.error(f"there is no option {words[0]}; options of Python come before -m petscpack")
    return left_out, words


def _join_dll_append(arguments: list[str]) -> None:
    """Adds the plugin to -dll_append on the program's command line, which would override that of PETSC_OPTIONS."""
    for place, word in enumerate(arguments[:-1]):
        if word == "-dll_append":
            arguments[place + 1] += "," + _plugin.plugin()


def _python() -> list[str]:
    """The command line of this Python without -m petscpack and what follows. sys.orig_argv is new in Python 3.10."""
    words = [os.fsdecode(word) for word in Path("/proc/self/cmdline").read_bytes().split(b"\0")[:-1]]
    words = words[:len(words) - len(sys.argv) + 1]  # ends in -m petscpack, -um petscpack, -mpetscpack or -umpetscpack
    last = words.pop()
    if not last.startswith("-"):
        last = words.pop()
    flags = last.partition("m")[0]
    return words if flags == "-" else [*words, flags]


def _started_without_python(program: str) -> str | None:
    """The file to execute if a shell would start the program: one in PATH, a compiled one, or one that begins with #!.

    A file *.py is for this Python, whatever its first line names, and so is a file of Python that is not executable.
    """
    if "/" not in program and not os.path.exists(program):
        return shutil.which(program)
    if not os.path.isfile(program) or os.path.splitext(program)[1] in (".py", ".pyc", ".pyw", ".pyz"):
        return None
    executable = os.access(program, os.X_OK)
    line = b"\x7fELF" if executable else b""  # a compiled program may be executable and not readable
    with contextlib.suppress(OSError), open(program, "rb") as file:
        line = file.readline(256)
    script = line.startswith(b"#!") and (executable or b"python" not in line)
    return program if script or line.startswith(b"\x7fELF") else None


def _is_first_process() -> bool:
    ranks = (os.environ.get(name) for name in ("OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "SLURM_PROCID"))
    return next((rank for rank in ranks if rank is not None), "0") == "0"


def _say_at_the_end(process: int, marker: str) -> None:
    """Waits for the end of the process, and prints the line unless the plugin has removed the marker."""
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    os.dup2(null, 1)
    for name in os.listdir("/proc/self/fd"):  # whoever reads from an inherited pipe or socket waits until all have closed it
        if int(name) > 2 and int(name) != process:
            with contextlib.suppress(OSError):
                os.close(int(name))
    ended = select.poll()
    ended.register(process, select.POLLIN)
    ended.poll()
    os.remove(marker)
    os.write(2, _UNUSED)


def _watch() -> str | None:
    """Starts a process that prints a line if this process, which becomes the program, ends without having loaded the plugin.

    It is nobody's child, so that the program does not wait for it, and in its own session, so that a signal to the program's
    group does not reach it. The plugin removes the file PETSCPACK_MARKER. Returns this file, or None if there cannot be one.
    """
    process = ctypes.CDLL(None).syscall(_PIDFD_OPEN, os.getpid(), 0)
    if process < 0:  # Linux before 5.3
        return None
    marker = os.path.join(os.environ.get("TMPDIR", "/tmp"), f"petscpack-{os.urandom(8).hex()}")
    try:
        os.close(os.open(marker, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    except OSError:
        return None
    child = os.fork()
    if child:
        os.waitpid(child, 0)
        os.environ["PETSCPACK_MARKER"] = marker
        return marker
    with contextlib.suppress(BaseException):
        os.setsid()
        if os.fork() == 0:
            _say_at_the_end(process, marker)
    os._exit(0)


def _undo_start_of_python() -> None:
    """Undoes what Python changes when it starts and a program inherits: two signals, and LC_CTYPE in the locale C."""
    for number in signal.SIGPIPE, signal.SIGXFSZ:
        signal.signal(number, signal.SIG_DFL)
    os.environ.pop("LC_CTYPE", None)
    for word in Path("/proc/self/environ").read_bytes().split(b"\0"):
        if word.startswith(b"LC_CTYPE="):
            os.environ["LC_CTYPE"] = os.fsdecode(word[len("LC_CTYPE="):])


def run(arguments: list[str]) -> NoReturn:
    """The command line of python3 -m petscpack run."""
    left_out, words = _split(arguments)
    file = None if words[0].startswith("-") else _started_without_python(words[0])
    os.environ["PETSCPACK_DEFAULTS"] = _defaults.options(left_out)
    try:
        if file is None:
            _plugin.check_petsc4py()
        _plugin.append_option()
    except _plugin.LoadError as error:
        sys.exit(f"petscpack: {error}")
    _join_dll_append(words)
    if file is None:
        file, words = sys.executable, [*_python(), *words]
    _undo_start_of_python()
    watched = "summary" not in left_out and _is_first_process() and "PETSCPACK_MARKER" not in os.environ  # set by an outer run
    marker = _watch() if watched else None
    try:
        os.execv(file, words)
    except OSError as error:
        if marker:
            os.remove(marker)  # then nothing more is said
        print(f"petscpack: {words[0]}: {error.strerror}", file=sys.stderr)
        sys.exit(127 if isinstance(error, FileNotFoundError) else 126)
