"""Loads the plugin: by an option if PETSc has not started yet, else into the PETSc of the process."""
from __future__ import annotations

import ctypes
import importlib
import os
import re
from pathlib import Path

from . import _build_info

_ENTRY = "PetscDLLibraryRegister_petscpack"  # the function that PETSc calls for -dll_append


class LoadError(RuntimeError):
    """The plugin does not fit the PETSc of the process."""


def plugin() -> str:
    """The path of libpetscpack.so, for the option -dll_append of any PETSc program."""
    return str(Path(__file__).resolve().parent / "libpetscpack.so")


def types() -> tuple[str, ...]:
    """The names of the matrix types, for Mat.setType() and -mat_type: one for each format, and aijauto, which chooses.

    Each has a sequential and a parallel form, such as seqaijrbp and mpiaijrbp, between which PETSc chooses.
    """
    return tuple("aij" + name for name in (*_build_info.FORMATS, "auto"))


def load() -> None:
    """Registers the types with PETSc. A second call does nothing.

    Before PETSc has started, this adds the plugin to the environment variable PETSC_OPTIONS, which PETSc reads when it
    starts. An option -dll_append among the arguments of petsc4py.init() would override it: then call
    load() after init().
    After PETSc has started, every process of PETSC_COMM_WORLD must call this.

    This function does not open a PETSc library, because a program may have to load its MPI first.

    Raises LoadError if the plugin does not fit the PETSc of the process.
    """
    libraries = _petsc_libraries()
    if not _build_info.VARIANTS:  # the loader of a wheel checks this itself
        fitting = [path for path in libraries if _loader_name(path) == _build_info.PETSC_LIBRARY]
        if libraries and not fitting:
            raise _other_petsc(f"has loaded {libraries[0]}")
        libraries = fitting
    if any(_has_started(path) for path in libraries):
        _register()
    else:
        check_petsc4py()
        append_option()


def variant() -> str | None:
    """The library that serves the PETSc of this process; None before PETSc has loaded one."""
    if not _build_info.VARIANTS:
        return plugin()
    path = ctypes.CDLL(plugin()).petscpack_variant_path
    path.restype = ctypes.c_char_p
    return os.fsdecode(path()) or None


def advisor() -> str | None:
    """The library that contains the advisor."""
    return variant() if _build_info.VARIANTS else str(Path(plugin()).with_name("libpetscpack_advise.so"))


def _driver() -> ctypes.CDLL | None:
    try:
        return ctypes.CDLL("libcuda.so.1")
    except OSError:
        return None


def gpus() -> list[str]:
    """The names of the GPUs that the driver reports. Empty without a driver."""
    driver, count = _driver(), ctypes.c_int(0)
    if not driver or driver.cuInit(0) or driver.cuDeviceGetCount(ctypes.byref(count)):
        return []
    names = []
    for number in range(count.value):
        name = ctypes.create_string_buffer(128)
        driver.cuDeviceGetName(name, len(name), number)
        names.append(name.value.decode(errors="replace"))
    return names


def why_no_gpu() -> str:
    """Why the kernels cannot use a GPU; "" if they can."""
    if not _build_info.CUDA:
        return "petscpack was built without nvcc, and has no code for a GPU"
    if not _driver():
        return "this machine has no NVIDIA driver (libcuda.so.1)"
    if not _build_info.VARIANTS:  # its library needs the PETSc of the program, so the kernels are not asked
        return "" if gpus() else "the driver shows no GPU"
    reason = ctypes.create_string_buffer(1024)
    kernels = ctypes.CDLL(str(Path(plugin()).with_name("libspmvpack.so")))
    return "" if kernels.spmv_device_count(reason) else reason.value.decode(errors="replace")


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
    """libpetsc_real.so.3.18 for /usr/lib/libpetsc_real.so.3.18.5; None for a library that is not PETSc's."""
    match = re.match(r"libpetsc(64)?(_\w+)?\.so\.\d+\.\d+", os.path.basename(path))
    return match.group() if match else None


def _other_petsc(found: str) -> LoadError:
    if _build_info.VARIANTS:
        return LoadError(
            f"this wheel of petscpack holds {', '.join(_build_info.VARIANTS)} (PETSc and MPI; real or complex double, indices of 32 "
            f"or 64 bits, no devices) and the program {found}: build petscpack from source, PETSC_DIR=(folder of PETSc) pip "
            "install --force-reinstall --no-binary petscpack petscpack"
        )
    return LoadError(
        f"this petscpack was built for PETSc {_build_info.PETSC_VERSION} ({_build_info.PETSC_LIBRARY}) and the program "
        f"{found}: install petscpack again, with PETSC_DIR set to the PETSc of the program"
    )


def check_petsc4py() -> None:
    """petsc4py belongs to the PETSc of the same minor version. A program without petsc4py is checked by the plugin."""
    try:
        version = importlib.import_module("petsc4py").__version__
    except ImportError:
        return
    served = [name.partition("-")[0] for name in _build_info.VARIANTS or (_build_info.PETSC_VERSION,)]
    if version.split(".")[:2] not in [minor.split(".")[:2] for minor in served]:
        raise _other_petsc(f"has petsc4py {version}")


def _has_started(petsc: str) -> bool:
    # PetscBool has had one byte since PETSc 3.24 and four before
    started = ctypes.c_int(0)
    ctypes.CDLL(petsc).PetscInitialized(ctypes.byref(started))
    return bool(started.value)


def _of_petscrc() -> str:
    """The value of -dll_append in option files, which -dll_append in PETSC_OPTIONS would override."""
    value = ""
    for path in (Path.home() / ".petscrc", Path(".petscrc"), Path("petscrc")):
        try:
            lines = path.read_text(errors="replace").splitlines()
        except OSError:
            continue
        for words in (line.split() for line in lines):
            if len(words) > 1 and words[0] == "-dll_append":
                value = words[1]
    return value


def _refuse_second_file(libraries: str, where: str) -> None:
    """The plugin refuses a second file of itself, too, but then PETSc prints its whole error message."""
    for other in libraries.split(","):
        if os.path.basename(other) == os.path.basename(plugin()) and os.path.realpath(other) != os.path.realpath(plugin()):
            raise LoadError(f"{where} already loads another petscpack, {other}, beside {plugin()}: remove -dll_append from {where}")


def append_option() -> None:
    """Adds the plugin to -dll_append in PETSC_OPTIONS: PETSc uses only one -dll_append, with a list of libraries."""
    path = plugin()
    if re.search(r"[\s,]", path):
        raise LoadError(f"PETSC_OPTIONS cannot hold the path '{path}', because it has spaces or commas: call load() after PETSc has started")
    words = os.environ.get("PETSC_OPTIONS", "").split()
    if "-dll_append" in words[:-1]:
        place = len(words) - words[::-1].index("-dll_append")
        _refuse_second_file(words[place], "PETSC_OPTIONS")
        if path not in words[place].split(","):
            words[place] += "," + path
    else:
        before = _of_petscrc()
        _refuse_second_file(before, ".petscrc")
        words += ["-dll_append", before + "," + path if before and path not in before.split(",") else path]
    os.environ["PETSC_OPTIONS"] = " ".join(words)


def _register() -> None:
    """Calls the function that PETSc calls for -dll_append."""
    try:
        library = ctypes.CDLL(plugin())
    except OSError as error:
        raise LoadError(f"{plugin()} does not load: {error}") from error
    code = library[_ENTRY]()
    if code:
        raise LoadError(f"the plugin returned an error: {error_text(code)}")


def error_text(code: int) -> str:
    """PETSc's text for an error code of one of its functions or of ours: the kind of error, and the last message.

    The exceptions of petsc4py have that message only where petsc4py has called PETSc.
    """
    text, message = ctypes.c_char_p(), ctypes.c_char_p()
    for path in filter(_has_started, _petsc_libraries()):
        ctypes.CDLL(path).PetscErrorMessage(code, ctypes.byref(text), ctypes.byref(message))
        if message.value:
            break
    kind = (text.value or b"unknown").decode(errors="replace")
    return f"{code} ({kind}): {(message.value or b'').decode(errors='replace')}"
