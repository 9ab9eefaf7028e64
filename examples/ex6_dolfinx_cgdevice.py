"""Linear elasticity of a box in DOLFINx: an ordinary program, which leaves the matrix and the solver to PETSc's options.

  python3 ex6_dolfinx_cgdevice.py -n 24 -ksp_type cg -pc_type jacobi
  python3 ex6_dolfinx_cgdevice.py -n 24 -ksp_type cgdevice -pc_type jacobi -mat_type aijrbp -dll_append libpetscpack.so

It knows nothing of petscpack. -n is the number of boxes along each edge, of six tetrahedra each; -steps how often the
load changes and the system is solved again. Prints seconds of each phase, the iterations and the norm of the solution.
"""
import sys
import time

import petsc4py

petsc4py.init(sys.argv)

import numpy as np  # noqa: E402
import ufl  # noqa: E402
from dolfinx import fem, mesh  # noqa: E402
from dolfinx.fem import petsc as fem_petsc  # noqa: E402
from mpi4py import MPI  # noqa: E402
from petsc4py import PETSc  # noqa: E402

YOUNG, POISSON = 1.0e9, 0.3


class Clock:
    """Seconds of each phase, as the slowest process has them."""

    def __init__(self, comm):
        self.comm = comm
        self.begin = time.perf_counter()

    def stop(self, phase):
        self.comm.Barrier()
        if self.comm.rank == 0:
            print(f"{phase}: {time.perf_counter() - self.begin:.4f} s", flush=True)
        self.begin = time.perf_counter()


def stress(u):
    mu = YOUNG / (2 * (1 + POISSON))
    lame = YOUNG * POISSON / ((1 + POISSON) * (1 - 2 * POISSON))
    return 2 * mu * ufl.sym(ufl.grad(u)) + lame * ufl.tr(ufl.grad(u)) * ufl.Identity(3)


def problem(box):
    """The forms of a box that is held at x = 0, and the load as a constant that can change."""
    space = fem.VectorFunctionSpace(box, ("Lagrange", 1))
    load = fem.Constant(box, np.zeros(3, dtype=PETSc.ScalarType))
    u, v = ufl.TrialFunction(space), ufl.TestFunction(space)
    a = fem.form(ufl.inner(stress(u), ufl.grad(v)) * ufl.dx)
    rhs = fem.form(ufl.inner(load, v) * ufl.dx)
    held = mesh.locate_entities_boundary(box, 2, lambda x: np.isclose(x[0], 0))
    clamp = fem.dirichletbc(np.zeros(3, dtype=PETSc.ScalarType), fem.locate_dofs_topological(space, 2, held), space)
    return space, load, a, rhs, clamp


def right_hand_side(a, rhs, clamp):
    b = fem_petsc.assemble_vector(rhs)
    fem_petsc.apply_lifting(b, [a], [[clamp]])
    b.ghostUpdate(addv=PETSc.InsertMode.ADD, mode=PETSc.ScatterMode.REVERSE)
    fem_petsc.set_bc(b, [clamp])
    return b


def main():
    comm, options = MPI.COMM_WORLD, PETSc.Options()
    n, steps = options.getInt("n", 12), options.getInt("steps", 1)
    clock = Clock(comm)
    box = mesh.create_box(comm, [np.zeros(3), np.array([2.0, 1.0, 1.0])], [n, n, n])
    clock.stop("mesh")
    space, load, a, rhs, clamp = problem(box)
    clock.stop("forms")
    matrix = fem_petsc.assemble_matrix(a, [clamp])
    matrix.assemble()
    clock.stop("assembly")
    solver = PETSc.KSP().create(comm)
    solver.setOperators(matrix)
    solver.setTolerances(rtol=1e-8)
    solver.setFromOptions()
    solver.setUp()
    clock.stop("set-up")
    displacement = fem.Function(space)
    for step in range(steps):
        load.value = (0, 0, -1e6 * (step + 1))
        b = right_hand_side(a, rhs, clamp)
        displacement.x.array[:] = 0
        clock.stop("right-hand side")
        solver.solve(b, displacement.vector)
        clock.stop("solve")
        norm = displacement.vector.norm()
        if comm.rank == 0:
            print(f"iterations: {solver.getIterationNumber()}, reason {solver.getConvergedReason()}")
            print(f"norm: {norm:.12e}")
    rows, nonzeros = matrix.getSize()[0], int(matrix.getInfo(PETSc.Mat.InfoType.GLOBAL_SUM)["nz_used"])
    if comm.rank == 0:
        print(f"matrix: {rows} rows, {nonzeros} nonzeros, {matrix.getType()}; solver: {solver.getType()}")
    return 0 if solver.getConvergedReason() > 0 else 1


sys.exit(main())
