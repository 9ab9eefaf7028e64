#!/usr/bin/env python3
"""Poisson's equation on a square with petsc4py: assembles, solves with aij and with every packed type, and compares.

    poisson.py [points per side] [PETSc options]        needs the package petscpack (pip install .) and petsc4py

Draws the solution into poisson.png where matplotlib is installed and one process runs.
"""
import sys

import petscpack

petscpack.load()
import petsc4py  # noqa: E402

side = int(sys.argv[1]) if sys.argv[1:2] and sys.argv[1].isdigit() else 100
petsc4py.init(sys.argv)
from petsc4py import PETSc  # noqa: E402  (PETSc starts at this import)


def assemble(matrix_type):
    """The 5-point stencil on side x side inner points."""
    rows = side * side
    matrix = PETSc.Mat().create()
    matrix.setSizes([rows, rows])
    matrix.setType(matrix_type)
    matrix.setPreallocationNNZ((5, 2))
    for row in range(*matrix.getOwnershipRange()):
        i, j = divmod(row, side)
        neighbours = [(i - 1, j), (i, j - 1), (i, j + 1), (i + 1, j)]
        columns = [p * side + q for p, q in neighbours if 0 <= p < side and 0 <= q < side]
        matrix.setValues([row], [row, *columns], [4.0] + [-1.0] * len(columns))
    matrix.assemble()
    return matrix


def solve(matrix):
    x, b = matrix.createVecs()
    b.set(1.0 / (side + 1) ** 2)
    solver = PETSc.KSP().create()
    solver.setOperators(matrix)
    solver.setType("cg")
    solver.getPC().setType("jacobi")
    solver.setTolerances(rtol=1e-10)
    solver.setFromOptions()
    solver.solve(b, x)
    return x, solver.getIterationNumber()


def draw(x):
    try:
        import matplotlib
    except ImportError:
        return
    matplotlib.use("Agg")
    from matplotlib import pyplot

    pyplot.imshow(x.getArray().reshape(side, side), extent=(0, 1, 0, 1))
    pyplot.colorbar(label="solution")
    pyplot.savefig("poisson.png")


reference, iterations = solve(assemble("aij"))
PETSc.Sys.Print(f"aij: {iterations} iterations, largest value {reference.max()[1]:.6f}")
for name in petscpack.types():
    x, iterations = solve(assemble(name))
    x.axpy(-1.0, reference)
    difference = x.norm(PETSc.NormType.NORM_INFINITY)
    PETSc.Sys.Print(f"{name}: {iterations} iterations, differs from aij by {difference:.1e}")
    if difference > 1e-8:
        sys.exit("the types disagree")
if PETSc.COMM_WORLD.getSize() == 1:
    draw(reference)
