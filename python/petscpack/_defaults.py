"""The options that python3 -m petscpack run sets."""
from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple


class Default(NamedTuple):
    """What --no-NAME leaves out."""

    name: str
    option: str
    value: str  # "" for a flag; the values of rows with the same option are joined by commas
    without: str  # what happens without it


# A matrix without a type becomes aij, and replaced types reach programs that hard-code them, under PETSc's names. -mat_type would
# also change matrices that the program has made dense or symmetric before MatSetFromOptions().
DEFAULTS = (
    Default("types", "-petscpack_replace", "aij", "matrices are PETSc's own"),
    Default("cg", "-petscpack_replace", "cg", "CG is PETSc's own"),
    Default("gmres", "-petscpack_replace", "gmres", "GMRES, the default of PETSc's solvers, is PETSc's own"),
    Default("richardson", "-petscpack_replace", "richardson", "Richardson's iteration is PETSc's own"),
    Default("gamg", "-petscpack_replace", "gamg", "GAMG is PETSc's own: its set-up runs on the host"),
    Default("factors", "-petscpack_replace", "lu,cholesky", "LU and Cholesky without a named package are PETSc's own"),
    Default("incomplete", "-petscpack_replace", "ilu,icc", "ILU and ICC are PETSc's own"),
    Default("packages", "-petscpack_replace_packages", "mumps,superlu_dist,superlu,umfpack,cholmod,klu,pastix,strumpack", "named packages factor on the host"),
    Default("summary", "-petscpack_summary", "", "no summary at the end"),
)


def options(left_out: Collection[str] = ()) -> str:
    """The options for PETSc, without the defaults of these names."""
    values: dict[str, list[str]] = {}
    for default in DEFAULTS:
        if default.name not in left_out:
            values.setdefault(default.option, []).extend([default.value] if default.value else [])
    return " ".join(f"{option} {','.join(joined)}".rstrip() for option, joined in values.items())
