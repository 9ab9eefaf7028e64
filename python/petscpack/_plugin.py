"""Loads the plugin: by an option, where PETSc has yet to start, or into the PETSc of the process."""
from __future__ import annotations

import ctypes
import importlib
import os
import re
import sys
from pathlib import Path

from . import _build_info


class LoadError(RuntimeError):
    """The plugin does not fit the PETSc of the process."""


def plugin() -> str:
    """The path of libpetscpack.so, for the option -dll_append of any PETSc program."""
    return str(Path(__file__).resolve().parent / "libpetscpack.so")


def types() -> tuple[str, ...]:
    """The names of the matrix types, for Mat.setType() and -mat_type: one for each format, and aijauto, which chooses.

    Each has a sequential and a parallel form, as seqaijrbp and mpiaijrbp, between which PETSc chooses.
    """
    return tuple("aij" + name for name in (*_build_info.FORMATS, "auto"))


def load() -> None:
    """Makes the types known to PETSc. A second call changes nothing.

    Before PETSc has started, this adds the plugin to the environment variable PETSC_OPTIONS, which PETSc reads when it
    starts. An option -dll_append among the arguments of petsc4py.init() would replace it: call load() afterwards then.
    After PETSc has started, every process of PETSC_COMM_WORLD must call this.

    Raises LoadError if the plugin was built for another PETSc.
    """
    libraries = _petsc_libraries()
    fitting = [path for path in libraries if _loader_name(path) == _build_info.PETSC_LIBRARY]
    if libraries and not fitting:
        raise _other_petsc(f"has loaded {libraries[0]}")
    if fitting and _has_started(fitting[0]):
        _register()
    else:
        _check_petsc4py()
        _append_option()


def _petsc_libraries() -> list[str]:
    """The shared libraries of PETSc that this process has loaded."""
    found = []
    with open("/proc/self/maps", encoding="utf-8", errors="surrogateescape") as maps:
        for line in maps:
            _, slash, rest = line.rstrip("\n").partition("/")
            path = slash + rest
            if _loader_name(path) and path not in found:
                found.append(path)
    return found


def _loader_name(path: str) -> str | None:
    """libpetsc_real.so.3.18 of /usr/lib/libpetsc_real.so.3.18.5; None for a library that is not PETSc's."""
    match = re.match(r"libpetsc(64)?(_\w+)?\.so\.\d+\.\d+", os.path.basename(path))
    return match.group() if match else None


def _other_petsc(found: str) -> LoadError:
    return LoadError(
        f"this petscpack was built for PETSc {_build_info.PETSC_VERSION} ({_build_info.PETSC_LIBRARY}) and the program "
        f"{found}: install petscpack again, with PETSC_DIR set to the PETSc of the program"
    )


def _check_petsc4py() -> None:
    """petsc4py belongs to the PETSc of the same minor version. A program without petsc4py is checked by the plugin."""
    try:
        version = importlib.import_module("petsc4py").__version__
    except ImportError:
        return
    if version.split(".")[:2] != _build_info.PETSC_VERSION.split(".")[:2]:
        raise _other_petsc(f"has petsc4py {version}")


def _has_started(petsc: str) -> bool:
    # PetscBool has had one byte since PETSc 3.24 and four before
    started = ctypes.c_int(0)
    ctypes.CDLL(petsc).PetscInitialized(ctypes.byref(started))
    return bool(started.value)


def _append_option() -> None:
    """Adds the plugin to -dll_append in PETSC_OPTIONS: PETSc takes one such option, with a list."""
    path = plugin()
    if re.search(r"[\s,]", path):
        raise LoadError(f"PETSC_OPTIONS cannot hold the path '{path}', for its spaces or commas: call load() after PETSc has started")
    words = os.environ.get("PETSC_OPTIONS", "").split()
    if "-dll_append" in words[:-1]:
        place = len(words) - words[::-1].index("-dll_append")
        if path not in words[place].split(","):
            words[place] += "," + path
    else:
        words += ["-dll_append", path]
    os.environ["PETSC_OPTIONS"] = " ".join(words)


def _register() -> None:
    """Calls what PETSc would have called for -dll_append."""
    try:
        library = ctypes.CDLL(plugin())
    except OSError as error:
        raise LoadError(f"{plugin()} does not load: {error}") from error
    code = library.PetscPackInitializePackage()
    if code:
        raise LoadError(f"PetscPackInitializePackage() returned an error: {error_text(code)}")


def error_text(code: int) -> str:
    """What PETSc says about an error of one of its functions or of ours."""
    petsc4py = sys.modules.get("petsc4py.PETSc")
    if petsc4py:  # its handler of errors has kept the message, which otherwise PETSc has printed
        return str(petsc4py.Error(code))
    text = ctypes.c_char_p()
    ctypes.CDLL(_petsc_libraries()[0]).PetscErrorMessage(code, ctypes.byref(text), None)
    return f"{code} ({(text.value or b'unknown').decode()})"
