"""Linear elasticity of a cube by DOLFINx 0.11, tetrahedra of degree 1: an ordinary program that leaves matrix and solver to
PETSc's options, and knows nothing of petscpack.

    PETSC_OPTIONS="-ksp_type cg -pc_type jacobi" python3 -m petscpack run dolfinx_elasticity.py [cells per edge] [solves]

Prints a line of JSON: rows, iterations, seconds of the assembly, of the solver's set-up and of each KSPSolve after it, and the
norm of the solution.
"""
import json
import sys
import time

try:
    import dolfinx_solver  # noqa: F401  (DOLFINx's wheel of PyPI: it loads the MPI)
except ImportError:
    pass
import dolfinx.fem.petsc as fem_petsc
import numpy as np
import ufl
from dolfinx import fem, mesh
from mpi4py import MPI
from petsc4py import PETSc

YOUNG, POISSON = 1.0e5, 0.3
MU, LAME = YOUNG / 2 / (1 + POISSON), YOUNG * POISSON / (1 + POISSON) / (1 - 2 * POISSON)


def stress(u):
    strain = ufl.sym(ufl.grad(u))
    return 2 * MU * strain + LAME * ufl.tr(strain) * ufl.Identity(3)


def assemble(cells):
    """The matrix and the right-hand side of a cube that is held at x = 0 and hangs in its own weight."""
    cube = mesh.create_box(MPI.COMM_WORLD, [np.zeros(3), np.ones(3)], [cells] * 3, mesh.CellType.tetrahedron)
    space = fem.functionspace(cube, ("Lagrange", 1, (3,)))
    u, v = ufl.TrialFunction(space), ufl.TestFunction(space)
    a = fem.form(ufl.inner(stress(u), ufl.sym(ufl.grad(v))) * ufl.dx)
    weight = fem.form(ufl.inner(fem.Constant(cube, np.array([0.0, 0.0, -1.0])), v) * ufl.dx)
    held = mesh.locate_entities_boundary(cube, 2, lambda x: np.isclose(x[0], 0))
    clamp = fem.dirichletbc(np.zeros(3), fem.locate_dofs_topological(space, 2, held), space)
    matrix = fem_petsc.assemble_matrix(a, bcs=[clamp])
    matrix.assemble()
    load = fem_petsc.assemble_vector(weight)
    fem_petsc.apply_lifting(load, [a], [[clamp]])
    load.ghostUpdate(addv=PETSc.InsertMode.ADD, mode=PETSc.ScatterMode.REVERSE)
    clamp.set(load.array_w)
    matrix.setOption(PETSc.Mat.Option.SPD, True)
    return matrix, load, space


def rigid_body_modes(space):
    """The near null space of elasticity, for GAMG: three translations and three rotations, orthonormal."""
    modes = [fem.Function(space) for _ in range(6)]
    for axis in range(3):
        modes[axis].x.array[axis::3] = 1.0
    x = space.tabulate_dof_coordinates()
    for mode, (first, second) in zip(modes[3:], ((0, 1), (2, 0), (1, 2))):
        mode.x.array[first::3] = -x[:, second]
        mode.x.array[second::3] = x[:, first]
    vectors = [mode.x.petsc_vec.copy() for mode in modes]
    for place, vector in enumerate(vectors):
        for other in vectors[:place]:
            vector.axpy(-vector.dot(other), other)
        vector.normalize()
    return PETSc.NullSpace().create(vectors=vectors)


def solve(matrix, load, solves):
    ksp = PETSc.KSP().create(MPI.COMM_WORLD)
    ksp.setOperators(matrix)
    ksp.setTolerances(rtol=1e-8, max_it=5000)
    ksp.setFromOptions()
    begin = time.perf_counter()
    ksp.setUp()
    ksp.setUpOnBlocks()
    setup = time.perf_counter() - begin
    solution, seconds = load.duplicate(), []
    for _ in range(solves):
        solution.set(0)
        begin = time.perf_counter()
        ksp.solve(load, solution)
        norm = solution.norm()
        seconds.append(time.perf_counter() - begin)
    return ksp, norm, setup, seconds


def solve_and_report(matrix, load, solves, assembly):
    """Solves, and prints the line; assembly has the seconds that matrix and right-hand side took."""
    ksp, norm, setup, seconds = solve(matrix, load, solves)
    if MPI.COMM_WORLD.rank == 0:
        print(json.dumps({"rows": matrix.getSize()[0], "nonzeros": int(matrix.getInfo()["nz_used"]), "type": matrix.getType(),
                          "ksp": ksp.getType(), "pc": ksp.getPC().getType(), "iterations": ksp.getIterationNumber(),
                          "converged": ksp.getConvergedReason() > 0, "norm": norm, "assembly_s": assembly, "setup_s": setup,
                          "solve_s": seconds, "petsc": ".".join(map(str, PETSc.Sys.getVersion()))}), flush=True)


def main(with_modes=False):
    cells, solves = (int(word) for word in (sys.argv[1:3] + ["40", "2"][len(sys.argv[1:3]):]))
    begin = time.perf_counter()
    matrix, load, space = assemble(cells)
    if with_modes:
        matrix.setNearNullSpace(rigid_body_modes(space))
    solve_and_report(matrix, load, solves, time.perf_counter() - begin)


if __name__ == "__main__":
    main()
