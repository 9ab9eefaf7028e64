#!/usr/bin/env python3
"""A packed matrix type in petsc4py: nothing to import, the plugin is named once when PETSc starts.

    ex2_petsc4py.py build/lib/libpetscpack.so [aijrbp] [PETSc options]

Needs the petsc4py of the PETSc that the plugin was built for (Debian and Ubuntu: python3-petsc4py-real).
"""
import sys

import petsc4py

plugin = sys.argv[1] if len(sys.argv) > 1 else sys.exit(__doc__)
matrix_type = sys.argv[2] if len(sys.argv) > 2 else "aijrbp"
petsc4py.init([sys.argv[0], "-dll_append", plugin, *sys.argv[3:]])
from petsc4py import PETSc  # noqa: E402  (PETSc starts at this import)


def elasticity_like(points, dofs):
    """A chain of points with a few unknowns each, coupled to both neighbours: rows hold one long run of columns."""
    rows = points * dofs
    matrix = PETSc.Mat().create()
    matrix.setSizes([rows, rows])
    matrix.setType("aij")
    matrix.setPreallocationNNZ(3 * dofs)
    first, last = matrix.getOwnershipRange()
    for row in range(first, last):
        point = row // dofs
        columns = range(max(point - 1, 0) * dofs, min(point + 2, points) * dofs)
        values = [float(4 * dofs) if column == row else -1.0 for column in columns]
        matrix.setValues([row], list(columns), values)
    matrix.assemble()
    return matrix


def solve(matrix):
    x, b = matrix.createVecs()
    x.set(1.0)
    matrix.mult(x, b)
    x.set(0.0)
    solver = PETSc.KSP().create()
    solver.setOperators(matrix)
    solver.setType("cg")
    solver.getPC().setType("jacobi")
    solver.setTolerances(rtol=1e-10)
    solver.setFromOptions()
    solver.solve(b, x)
    x.shift(-1.0)
    return solver.getIterationNumber(), x.norm(PETSc.NormType.NORM_INFINITY)


plain = elasticity_like(2000, 3)
packed = plain.convert(matrix_type, PETSc.Mat())  # without the second argument, plain itself changes
results = {matrix.getType(): solve(matrix) for matrix in (plain, packed)}
for name, (iterations, error) in results.items():
    PETSc.Sys.Print(f"{name}: {iterations} iterations, error {error:.1e}")
(plain_iterations, _), (packed_iterations, error) = results.values()
if abs(plain_iterations - packed_iterations) > 1 or error > 1e-6:
    sys.exit("the types disagree")
