"""Runs a program unchanged, with the plugin loaded and with options that use it."""
from __future__ import annotations

import argparse
import atexit
import os
import runpy
import sys

from . import _plugin

# Options that the plugin sets when PETSc loads it, unless the user has set them (PETSCPACK_DEFAULTS). A matrix without a type
# becomes aij, and -mat_seqaij_type changes every aij matrix, even if the program hard-codes the type. -mat_type would also
# change matrices that the program has made dense or symmetric before MatSetFromOptions().
DEFAULTS = {
    "types": ("-mat_seqaij_type seqaijauto", "matrices keep their type aij"),
    "cg": ("-ksp_cgdevice_replace_cg", "CG is PETSc's own"),
    "gmres": ("-petscpack_replace gmres", "GMRES, the default of PETSc's solvers, is PETSc's own"),
    "summary": ("-petscpack_summary", "no line at the end"),
}


def _parse(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python3 -m petscpack run", description="Runs a petsc4py program, or any program that uses PETSc, unchanged on the GPU.",
        epilog="Options from PETSC_OPTIONS, .petscrc and the program's command line override those that run sets.")
    for name, (option, without) in DEFAULTS.items():
        parser.add_argument(f"--no-{name}", action="store_true", help=f"do not set {option}: {without}")
    parser.add_argument("-m", dest="module", action="store_true", help="the program is a module")
    parser.add_argument("program")
    parser.add_argument("arguments", nargs=argparse.REMAINDER)
    return parser.parse_args(arguments)


def _join_dll_append(arguments: list[str]) -> None:
    """Adds the plugin to -dll_append on the program's command line, which would override that of PETSC_OPTIONS."""
    for place, word in enumerate(arguments[:-1]):
        if word == "-dll_append":
            arguments[place + 1] += "," + _plugin.plugin()


def _is_first_process() -> bool:
    ranks = (os.environ.get(name) for name in ("OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "SLURM_PROCID"))
    return next((rank for rank in ranks if rank is not None), "0") == "0"


def _say_if_unused() -> None:
    if _plugin.variant() is None and _is_first_process():
        print("petscpack: nothing ran on the GPU: PETSc has not loaded petscpack in this program", file=sys.stderr)


def _is_compiled(program: str) -> bool:
    try:
        with open(program, "rb") as file:
            return file.read(4) == b"\x7fELF"
    except OSError:
        return False


def run(arguments: list[str]) -> None:
    """The command line of python3 -m petscpack run."""
    asked = _parse(arguments)
    wanted = [option for name, (option, _) in DEFAULTS.items() if not getattr(asked, "no_" + name)]
    os.environ["PETSCPACK_DEFAULTS"] = " ".join(wanted)
    try:
        _plugin.load()
    except _plugin.LoadError as error:
        raise SystemExit(f"petscpack: {error}") from error
    _join_dll_append(asked.arguments)
    if not asked.module and _is_compiled(asked.program):
        os.execv(asked.program, [asked.program, *asked.arguments])
    if not asked.no_summary:
        atexit.register(_say_if_unused)
    sys.argv = [asked.program, *asked.arguments]
    if asked.module:
        sys.path[0] = os.getcwd()
        runpy.run_module(asked.program, run_name="__main__", alter_sys=True)
    else:
        if not os.path.exists(asked.program):
            raise SystemExit(f"petscpack: there is no program {asked.program}")
        sys.path[0] = os.path.dirname(os.path.abspath(asked.program))
        runpy.run_path(asked.program, run_name="__main__")
