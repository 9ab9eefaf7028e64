#!/usr/bin/env python3
"""A cube solved by LU three times with new values, as the demo programs of DOLFINx 0.11 do it: tetrahedra of degree 1 and a
LinearProblem with {"ksp_type": "preonly", "pc_type": "lu"}. An ordinary program that knows nothing of petscpack.

    python3 -m petscpack run dolfinx_direct.py poisson|helmholtz|heat|elasticity [cells per edge] [--package mumps] [--solves 3] [--json FILE]

poisson: with another coefficient in each solve. helmholtz: waves of growing number; with complex scalars they leave the cube
on all sides but one, with real ones no side lets them out. heat: steps of the implicit Euler method, each half as long as the one
before. elasticity: a clamped body under its own weight, whose stiffness changes by place and from solve to solve. Without
--package, PETSc chooses who factors. All get options, as in the demos, only through petsc_options.

Prints a line of JSON, and writes it to FILE: seconds of each LinearProblem.solve(), those of PCSetUp() and PCApply() within it by
PETSc's log, the rest, which is nearly all assembly, and the residual of each solution. Exit status 1: a residual is above 1e-9.
"""
import argparse
import json
import sys
import time
from pathlib import Path

try:
    import dolfinx_solver  # noqa: F401  (DOLFINx's wheel of PyPI: it loads the MPI)
except ImportError:
    pass
import numpy as np
import ufl
from dolfinx import default_scalar_type, fem, mesh
from dolfinx.fem.petsc import LinearProblem
from mpi4py import MPI
from petsc4py import PETSc

YOUNG, POISSON = 1.0e5, 0.3
MU, LAME = YOUNG / 2 / (1 + POISSON), YOUNG * POISSON / (1 + POISSON) / (1 - 2 * POISSON)
EVENTS = ("PCSetUp", "PCApply")


def cube_of(cells):
    return mesh.create_box(MPI.COMM_WORLD, [np.zeros(3), np.ones(3)], [cells] * 3, mesh.CellType.tetrahedron)


def held_at_the_left(cube, space, value):
    facets = mesh.locate_entities_boundary(cube, 2, lambda x: np.isclose(x[0], 0))
    return fem.dirichletbc(value, fem.locate_dofs_topological(space, 2, facets), space)


def scalar(cells, form):
    """The forms of one step, the boundary condition, and a function that makes the values of step k. form(u, v, c) has a constant
    that changes(k) sets."""
    cube = cube_of(cells)
    space = fem.functionspace(cube, ("Lagrange", 1))
    u, v = ufl.TrialFunction(space), ufl.TestFunction(space)
    constant = fem.Constant(cube, default_scalar_type(1.0))
    x = ufl.SpatialCoordinate(cube)
    a, changes = form(u, v, constant)
    source = ufl.inner(ufl.exp(-10 * ufl.dot(x, x)), v) * ufl.dx

    def change(k):
        constant.value = changes(k)

    return a, source, held_at_the_left(cube, space, default_scalar_type(0)), change


def poisson(u, v, coefficient):
    return coefficient * ufl.inner(ufl.grad(u), ufl.grad(v)) * ufl.dx, lambda k: 1 + k


def helmholtz(u, v, number):
    leaves = 1j * number * ufl.inner(u, v) * ufl.ds if np.issubdtype(default_scalar_type, np.complexfloating) else 0
    return ufl.inner(ufl.grad(u), ufl.grad(v)) * ufl.dx - number**2 * ufl.inner(u, v) * ufl.dx - leaves, lambda k: 4 + 2 * k


def heat(u, v, rate):
    return rate * ufl.inner(u, v) * ufl.dx + ufl.inner(ufl.grad(u), ufl.grad(v)) * ufl.dx, lambda k: 10.0 * 2**k


SCALAR = {"poisson": poisson, "helmholtz": helmholtz, "heat": heat}


def elasticity(cells):
    """The same as scalar() for a body that softens to the right, more in each solve."""
    cube = cube_of(cells)
    space = fem.functionspace(cube, ("Lagrange", 1, (3,)))
    u, v = ufl.TrialFunction(space), ufl.TestFunction(space)
    damage = fem.Constant(cube, default_scalar_type(0.0))
    strain = ufl.sym(ufl.grad(u))
    stress = (1 - damage * ufl.SpatialCoordinate(cube)[0]) * (2 * MU * strain + LAME * ufl.tr(strain) * ufl.Identity(3))
    weight = fem.Constant(cube, np.array([0.0, 0.0, -1.0], dtype=default_scalar_type))
    a = ufl.inner(stress, ufl.sym(ufl.grad(v))) * ufl.dx

    def change(k):
        damage.value = 0.1 * k

    return a, ufl.inner(weight, v) * ufl.dx, held_at_the_left(cube, space, np.zeros(3, dtype=default_scalar_type)), change


def logged():
    return np.array([PETSc.Log.Event(name).getPerfInfo()["time"] for name in EVENTS])


def residual_of(problem):
    """|A x - b| / |b| of the system that was solved."""
    r = problem.b.duplicate()
    problem.A.mult(problem.x, r)
    r.axpy(-1, problem.b)
    return r.norm() / problem.b.norm()


def solve(problem, change, solves):
    found = []
    for k in range(solves):
        change(k)
        before, begin = logged(), time.perf_counter()
        u = problem.solve()
        total = time.perf_counter() - begin
        setup, solved = (float(seconds) for seconds in logged() - before)
        found.append({"total_s": total, "setup_s": setup, "solve_s": solved, "rest_s": total - setup - solved,
                      "residual": residual_of(problem), "norm": float(np.sqrt(problem.A.comm.tompi4py().allreduce(
                          np.sum(np.abs(u.x.array[:problem.x.getLocalSize()]) ** 2))))})
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("problem", choices=(*SCALAR, "elasticity"))
    parser.add_argument("cells", nargs="?", type=int, default=10)
    parser.add_argument("--package", help="for pc_factor_mat_solver_type")
    parser.add_argument("--solves", type=int, default=3)
    parser.add_argument("--json", type=Path)
    asked = parser.parse_args()
    options = {"ksp_type": "preonly", "pc_type": "lu", **({"pc_factor_mat_solver_type": asked.package} if asked.package else {})}
    a, rhs, clamp, change = elasticity(asked.cells) if asked.problem == "elasticity" else scalar(asked.cells, SCALAR[asked.problem])
    PETSc.Log.begin()
    problem = LinearProblem(a, rhs, bcs=[clamp], petsc_options_prefix="direct_", petsc_options=options)
    solves = solve(problem, change, asked.solves)
    right = all(one["residual"] <= 1e-9 for one in solves) and problem.solver.getConvergedReason() > 0
    nonzeros = int(problem.A.getInfo()["nz_used"])  # of all processes
    if MPI.COMM_WORLD.rank == 0:
        line = json.dumps({"problem": asked.problem, "cells": asked.cells, "rows": problem.A.getSize()[0], "processes": MPI.COMM_WORLD.size,
                           "nonzeros": nonzeros, "type": problem.A.getType(), "package": asked.package,
                           "solver": problem.solver.getPC().getFactorSolverType(), "solves": solves, "right": right,
                           "petsc": ".".join(map(str, PETSc.Sys.getVersion()))})
        print(line, flush=True)
        if asked.json:
            asked.json.write_text(line + "\n")
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
