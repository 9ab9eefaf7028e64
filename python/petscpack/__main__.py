"""Prints the options with which any PETSc program loads petscpack, or runs a program unchanged with petscpack.

    eval "$(python3 -m petscpack)"                 prints the line that sets PETSC_OPTIONS, and the GPUs as comments
    ./program -dll_append $(python3 -m petscpack plugin) -mat_type aijrbp
    python3 -m petscpack run program.py arguments  runs it with petscpack and options that use it; run --help
    python3 -m petscpack options                   prints these options
"""
from __future__ import annotations

import os
import sys

if sys.path[0] == os.getcwd():  # files of the user there may have the names of modules of Python
    del sys.path[0]

from . import _plugin, _run  # noqa: E402


def _show() -> None:
    print(f'export PETSC_OPTIONS="-dll_append {_plugin.plugin()}${{PETSC_OPTIONS:+ $PETSC_OPTIONS}}"')
    for number, name in enumerate(_plugin.gpus()):
        print(f"# GPU {number}: {name}")
    reason = _plugin.why_no_gpu()
    if reason:
        print(f"# products run on the host: {reason}")


def _main(arguments: list[str]) -> None:
    if not arguments:
        _show()
    elif arguments == ["plugin"]:
        print(_plugin.plugin())
    elif arguments[0] == "run":
        _run.run(arguments[1:])
    elif arguments[0] == "options":
        _run.print_options(arguments[1:])
    else:
        sys.exit(f"unknown arguments: {' '.join(arguments)}\n{__doc__}")


_main(sys.argv[1:])
