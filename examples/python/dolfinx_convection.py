"""Convection and diffusion in a cube by DOLFINx 0.11, tetrahedra of degree 1, stabilized by SUPG: a matrix that is not symmetric,
in a program that never asks for a solver, so that PETSc takes GMRES, and that knows nothing of petscpack.

    PETSC_OPTIONS="-pc_type jacobi" python3 -m petscpack run dolfinx_convection.py [cells per edge] [solves]

Prints the line of dolfinx_elasticity.py.
"""
import sys
import time

import dolfinx_elasticity  # solve, and the line; it loads DOLFINx
import dolfinx.fem.petsc as fem_petsc
import numpy as np
import ufl
from dolfinx import fem, mesh
from mpi4py import MPI
from petsc4py import PETSc

DIFFUSION = 0.005  # at 73 cells an edge the cells' Peclet number is about 1 where the flow is fastest


def wind(x):
    """A flow that turns about the cube's axis and rises: nowhere zero, free of divergence."""
    return ufl.as_vector((0.5 - x[1], x[0] - 0.5, 0.25))


def forms(cube, space):
    """Galerkin's form and SUPG's of it; of degree 1, second derivatives within a cell are zero."""
    u, v = ufl.TrialFunction(space), ufl.TestFunction(space)
    flow = wind(ufl.SpatialCoordinate(cube))
    speed, size = ufl.sqrt(ufl.inner(flow, flow)), ufl.CellDiameter(cube)
    peclet = speed * size / (2 * DIFFUSION)
    tau = size / (2 * speed) * (1 / ufl.tanh(peclet) - 1 / peclet)
    tested = v + tau * ufl.inner(flow, ufl.grad(v))
    a = DIFFUSION * ufl.inner(ufl.grad(u), ufl.grad(v)) * ufl.dx + ufl.inner(flow, ufl.grad(u)) * tested * ufl.dx(degree=2)
    heat = fem.Constant(cube, 1.0) * tested * ufl.dx(degree=2)
    return fem.form(a), fem.form(heat)


def assemble(cells):
    """The matrix and the right-hand side of a cube that is heated, with cold walls; and the space, whose communicator is theirs."""
    cube = mesh.create_box(MPI.COMM_WORLD, [np.zeros(3), np.ones(3)], [cells] * 3, mesh.CellType.tetrahedron)
    space = fem.functionspace(cube, ("Lagrange", 1))
    a, heat = forms(cube, space)
    cube.topology.create_connectivity(2, 3)
    walls = fem.locate_dofs_topological(space, 2, mesh.exterior_facet_indices(cube.topology))
    cold = fem.dirichletbc(0.0, walls, space)
    matrix = fem_petsc.assemble_matrix(a, bcs=[cold])
    matrix.assemble()
    load = fem_petsc.assemble_vector(heat)
    fem_petsc.apply_lifting(load, [a], [[cold]])
    load.ghostUpdate(addv=PETSc.InsertMode.ADD, mode=PETSc.ScatterMode.REVERSE)
    cold.set(load.array_w)
    return matrix, load, space


def main():
    cells, solves = (int(word) for word in (sys.argv[1:3] + ["40", "2"][len(sys.argv[1:3]):]))
    begin = time.perf_counter()
    matrix, load, space = assemble(cells)  # noqa: F841  (the space has to live)
    dolfinx_elasticity.solve_and_report(matrix, load, solves, time.perf_counter() - begin)


if __name__ == "__main__":
    main()
