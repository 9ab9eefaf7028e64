"""A neo-Hookean cube that is twisted, by Newton's method in DOLFINx 0.11: tetrahedra of degree 1. The program asks PETSc for
CG with Jacobi by itself, and knows nothing of petscpack.

    python3 -m petscpack run dolfinx_hyperelasticity.py [cells per edge]

Prints a line of JSON: rows, iterations of Newton's method and of CG, seconds of all and of KSPSolve, and the norm of the solution.
"""
import json
import sys
import time

try:
    import dolfinx_solver  # noqa: F401  (DOLFINx's wheel of PyPI: it loads the MPI)
except ImportError:
    pass
import numpy as np
import ufl
from dolfinx import fem, mesh
from dolfinx.fem.petsc import NonlinearProblem
from mpi4py import MPI
from petsc4py import PETSc

YOUNG, POISSON = 1.0e4, 0.3
MU, LAME = YOUNG / 2 / (1 + POISSON), YOUNG * POISSON / (1 + POISSON) / (1 - 2 * POISSON)
SOLVER = {"snes_type": "newtonls", "snes_linesearch_type": "none", "snes_rtol": 1e-8, "snes_max_it": 20,
          "ksp_type": "cg", "pc_type": "jacobi", "ksp_rtol": 1e-8, "ksp_max_it": 5000}


def residual(u, v):
    """The derivative of the stored energy of a compressible neo-Hookean body."""
    deformation = ufl.variable(ufl.Identity(3) + ufl.grad(u))
    volume = ufl.det(deformation)
    energy = MU / 2 * (ufl.tr(deformation.T * deformation) - 3) - MU * ufl.ln(volume) + LAME / 2 * ufl.ln(volume) ** 2
    return ufl.inner(ufl.diff(energy, deformation), ufl.grad(v)) * ufl.dx


def twist(x, angle=0.3):
    """The displacement of the face x = 1: a rotation about its middle."""
    y, z = x[1] - 0.5, x[2] - 0.5
    return np.vstack((np.zeros_like(y), y * (np.cos(angle) - 1) - z * np.sin(angle), y * np.sin(angle) + z * (np.cos(angle) - 1)))


def clamps(cube, space):
    def at(face):
        facets = mesh.locate_entities_boundary(cube, 2, lambda x: np.isclose(x[0], face))
        return fem.locate_dofs_topological(space, 2, facets)

    turned = fem.Function(space)
    turned.interpolate(twist)
    return [fem.dirichletbc(np.zeros(3), at(0.0), space), fem.dirichletbc(turned, at(1.0))]


def main():
    cells = int(sys.argv[1]) if sys.argv[1:] else 20
    cube = mesh.create_box(MPI.COMM_WORLD, [np.zeros(3), np.ones(3)], [cells] * 3, mesh.CellType.tetrahedron)
    space = fem.functionspace(cube, ("Lagrange", 1, (3,)))
    u = fem.Function(space)
    problem = NonlinearProblem(residual(u, ufl.TestFunction(space)), u, bcs=clamps(cube, space), petsc_options_prefix="twist_",
                               petsc_options=SOLVER)
    PETSc.Log.begin()
    begin = time.perf_counter()
    problem.solve()
    seconds = time.perf_counter() - begin
    snes = problem.solver
    if MPI.COMM_WORLD.rank == 0:
        print(json.dumps({"rows": problem.A.getSize()[0], "type": problem.A.getType(), "ksp": snes.getKSP().getType(),
                          "pc": snes.getKSP().getPC().getType(), "newton": snes.getIterationNumber(),
                          "iterations": snes.getLinearSolveIterations(), "converged": snes.getConvergedReason() > 0,
                          "norm": float(np.linalg.norm(u.x.array)), "newton_s": seconds,
                          "solve_s": [PETSc.Log.Event("KSPSolve").getPerfInfo()["time"]],
                          "petsc": ".".join(map(str, PETSc.Sys.getVersion()))}), flush=True)


if __name__ == "__main__":
    main()
