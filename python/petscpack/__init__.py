"""Packed sparse-matrix types for PETSc.

    import petscpack
    petscpack.load()
    from petsc4py import PETSc
    matrix = PETSc.Mat().create()
    matrix.setType("aijrbp")

load() may also be called after PETSc has started. advise(matrix) tells which type suits a matrix, and write_page(advice,
path) writes the advice as an HTML page.
"""
from ._advise import Advice, advise, write_page
from ._build_info import CUDA as has_cuda
from ._build_info import PETSC_VERSION as petsc_version
from ._build_info import VERSION as __version__
from ._plugin import LoadError, load, plugin, types

__all__ = ["Advice", "LoadError", "__version__", "advise", "has_cuda", "load", "petsc_version", "plugin", "types", "write_page"]
