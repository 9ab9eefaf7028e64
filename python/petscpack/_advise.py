"""What a matrix looks like and what each type would cost: calls a library that returns the advice as JSON."""
from __future__ import annotations

import ctypes
import json
import os
import runpy
from pathlib import Path
from typing import Optional, Protocol, TypedDict, Union, cast

from . import _plugin

_FOLDER = Path(__file__).resolve().parent


class Matrix(Protocol):
    """A petsc4py.PETSc.Mat; only its handle, the address of the Mat in PETSc, is used."""

    @property
    def handle(self) -> int: ...


# Rows that have `from` to `to` nonzeros; made by a call because `from` is a keyword of Python
LengthClass = TypedDict("LengthClass", {"from": int, "to": int, "rows": int})


class RowLengths(TypedDict):
    min: int
    mean: float
    max: int
    empty_rows: int
    histogram: list[LengthClass]


class Block(TypedDict):
    size: int
    fill: float


class Bandwidth(TypedDict):
    lower: int
    upper: int


class Symmetry(TypedDict):
    structure: str
    values: str


class Pattern(TypedDict):
    """A coarse picture: the nonzeros in each of rows x cols cells."""

    rows: int
    cols: int
    nonzeros: list[list[int]]


class Cost(TypedDict):
    """The cost of a type in one place, in bytes and seconds; None: unknown, not measured, or (pays_after) never.

    A type that declines has no seconds, and the bytes of the parent type.
    """

    type: str
    bytes: int
    product: Optional[float]
    conversion: Optional[float]
    measured_product: Optional[float]
    measured_conversion: Optional[float]
    pays_after: Optional[int]
    blocks: int
    declined: int
    reason: Optional[str]


class Place(TypedDict):
    name: str
    title: str
    note: str
    machine: str
    best: str
    options: str
    types: list[Cost]


class Advice(TypedDict):
    version: int
    name: str
    processes: int
    measured: bool
    rows: int
    cols: int
    nonzeros: int
    row_lengths: RowLengths
    block: Block
    bandwidth: Bandwidth
    symmetry: Symmetry
    pattern: Pattern
    places: list[Place]


def advise(matrix: Matrix, measure: bool = False) -> Advice:
    """Finds out what an assembled matrix of an AIJ type looks like, and what each type of petscpack would cost for it.

    matrix is a petsc4py.PETSc.Mat and stays as it is; every process of its communicator must call this. With measure,
    conversions and products are also timed. docs/choosing.md explains the keys. The option to use on this host is
    advise(matrix)["places"][0]["options"].

    Raises RuntimeError with PETSc's message, for instance if the matrix is not assembled or not of an AIJ type.
    """
    _plugin.load()
    library = ctypes.CDLL(_plugin.advisor())
    text = ctypes.c_char_p()
    code = library.PetscPackAdvise(ctypes.c_void_p(matrix.handle), ctypes.c_int(measure), ctypes.byref(text))
    if code:
        raise RuntimeError(_plugin.error_text(code))
    try:
        return cast(Advice, json.loads((text.value or b"").decode(errors="replace")))
    finally:
        library.PetscPackAdviseFree(text)


def write_page(advice: Advice, path: Union[str, os.PathLike[str]]) -> None:
    """Writes the result of advise() as one HTML file with pictures and tables.

    Call it on one process only. Raises ImportError without matplotlib.
    """
    runpy.run_path(str(_FOLDER / "petscpack-advise-html"))["write_page"](advice, path)
