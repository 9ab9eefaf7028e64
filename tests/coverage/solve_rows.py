#!/usr/bin/env python3
"""Solves the smallest problem that each row of settings needs, each with an options prefix of its own, and writes what came out.

    mpiexec -n N python3 solve_rows.py ROWS RESULT [options of PETSc]

ROWS is a JSON file, a list of {"row": number, "problem": name, "options": text}; the prefix of row 7 is r7_. RESULT becomes a
JSON file. coverage.py calls it, plainly and with the plugin, and compares.
"""
import gc
import json
import sys

import numpy
import petsc4py

petsc4py.init(sys.argv)
from petsc4py import PETSc  # noqa: E402

SIDE = 17  # points of a grid in each direction: a multigrid of three levels, and some hundred rows


def even_share(rows):
    """Local and global size, such that every process begins at an even row, and so at a node of two unknowns."""
    processes = PETSc.COMM_WORLD.size
    share = rows // processes // 2 * 2
    last = PETSc.COMM_WORLD.rank == processes - 1
    return (rows - share * (processes - 1) if last else share, rows)


def grid_matrix(entries, unknowns=1):
    """A matrix on the grid; entries(node, neighbour) gives the block that couples them, or None."""
    A = PETSc.Mat().create()
    A.setSizes([even_share(SIDE * SIDE * unknowns)] * 2)
    A.setBlockSize(unknowns)
    A.setFromOptions()
    A.setPreallocationNNZ(9 * unknowns)
    first, last = A.getOwnershipRange()
    for node in range(first // unknowns, last // unknowns):
        y, x = divmod(node, SIDE)
        for v in range(max(y - 1, 0), min(y + 2, SIDE)):
            for u in range(max(x - 1, 0), min(x + 2, SIDE)):
                block = entries((x, y), (u, v))
                if block is not None:
                    A.setValuesBlocked([node], [v * SIDE + u], numpy.asarray(block, dtype=float).ravel())
    A.assemble()
    return A


def poisson(wind=0.0):
    """Five points; wind adds convection in x, which makes the matrix nonsymmetric."""
    def entries(node, other):
        dx, dy = other[0] - node[0], other[1] - node[1]
        if abs(dx) + abs(dy) > 1:
            return None
        return 4.0 + wind if dx == dy == 0 else -1.0 - (wind if dx < 0 else 0.0)
    return grid_matrix(entries)


def elasticity():
    """Springs to eight neighbours, two unknowns per node, held by one more spring per node; with the rigid body modes."""
    def entries(node, other):
        if node != other:
            return -spring(other[0] - node[0], other[1] - node[1])
        return sum(spring(dx, dy) for dx in (-1, 0, 1) for dy in (-1, 0, 1) if dx or dy) + 0.01 * numpy.eye(2)

    def spring(dx, dy):
        along = numpy.array([dx, dy], dtype=float) / numpy.hypot(dx, dy)
        return numpy.outer(along, along) + 0.1 * numpy.eye(2)

    A = grid_matrix(entries, 2)
    places = A.createVecRight()
    places.setBlockSize(2)
    first, last = places.getOwnershipRange()
    places.setArray([float(part) for node in range(first // 2, last // 2) for part in divmod(node, SIDE)[::-1]])
    A.setNearNullSpace(PETSc.NullSpace().createRigidBody(places))
    return A


def two_fields(sign):
    """A field of two unknowns per node and one of one: [L B^T; B sign L] with L of Poisson and B a small difference."""
    n = SIDE * SIDE
    A = PETSc.Mat().createAIJ([even_share(3 * n)] * 2, nnz=12)
    for row in range(*A.getOwnershipRange()):
        field, node, part = (1, row - 2 * n, 0) if row >= 2 * n else (0, row // 2, row % 2)
        y, x = divmod(node, SIDE)
        for u, v in ((x, y), (x - 1, y), (x + 1, y), (x, y - 1), (x, y + 1)):
            if 0 <= u < SIDE and 0 <= v < SIDE:
                near, scale = v * SIDE + u, (4.0 if (u, v) == (x, y) else -1.0)
                A.setValue(row, 2 * n + near if field else 2 * near + part, scale * (sign if field else 1.0))
        for component, step in enumerate((1, SIDE)):
            for near, value in ((node, 0.1), (node - step if field else node + step, -0.1)):
                if 0 <= near < n and (field or component == part):
                    A.setValue(row, 2 * near + component if field else 2 * n + near, value)
    A.assemble()
    return A


def fields_of(A):
    """The index sets of the two fields; the first one has a block size, so that it can be split again."""
    n = A.getSize()[0] // 3
    first, last = A.getOwnershipRange()
    sets = []
    for name, begin, end in (("0", 0, 2 * n), ("1", 2 * n, 3 * n)):
        part = numpy.arange(max(first, begin), max(min(last, end), max(first, begin)), dtype=PETSc.IntType)
        sets.append((name, PETSc.IS().createGeneral(part)))
    sets[0][1].setBlockSize(2)
    return sets


def on_grids(ksp):
    """A grid that can be coarsened, whose matrices PETSc asks for on each level."""
    grid = PETSc.DMDA().create([SIDE, SIDE], stencil_width=1)

    def operators(_, A, P):
        del A
        dm = P.getDM()
        (x0, x1), (y0, y1) = dm.getRanges()
        nx, ny = dm.getSizes()
        row, col = PETSc.Mat.Stencil(), PETSc.Mat.Stencil()
        for y in range(y0, y1):
            for x in range(x0, x1):
                row.index = (x, y)
                for u, v in ((x, y), (x - 1, y), (x + 1, y), (x, y - 1), (x, y + 1)):
                    if 0 <= u < nx and 0 <= v < ny:
                        col.index = (u, v)
                        P.setValueStencil(row, col, 4.0 if (u, v) == (x, y) else -1.0)
        P.assemble()

    ksp.setDM(grid)
    ksp.setComputeOperators(operators)


def solve_eigen(prefix, words):
    """The two eigenvalues of A x = lambda B x next to 0, by SLEPc; the solver within it has the prefix st_."""
    import slepc4py
    slepc4py.init(sys.argv)
    from slepc4py import SLEPc
    A, B = poisson(), grid_matrix(lambda node, other: 2.0 if node == other else 0.1)
    eps = SLEPc.EPS().create()
    eps.setOptionsPrefix(prefix)
    eps.setOperators(A, B)
    eps.setProblemType(SLEPc.EPS.ProblemType.GHEP)
    eps.setDimensions(2)
    if "-eps_interval" in words:
        eps.setWhichEigenpairs(SLEPc.EPS.Which.ALL)
    else:
        eps.setTarget(0.0)
        eps.setWhichEigenpairs(SLEPc.EPS.Which.TARGET_MAGNITUDE)
    for _ in range(1 + ("-st_set_twice" in words)):
        eps.setFromOptions()
    eps.solve()
    found = {"reason": int(eps.getConvergedReason()), "iterations": eps.getIterationNumber(), "residual": eps.computeError(0),
             "x": [eps.getEigenvalue(k).real for k in range(eps.getConverged())]}
    for thing in (eps, A, B):
        thing.destroy()
    return found


def prepare(problem, ksp):
    """Gives the solver its system, and returns the matrix, or None if the solver makes it."""
    if problem == "grids":
        on_grids(ksp)
        return None
    A = {"scalar": poisson, "nonsymmetric": lambda: poisson(1.0), "elasticity": elasticity,
         "fields": lambda: two_fields(1.0), "saddle": lambda: two_fields(-1.0)}[problem]()
    ksp.setOperators(A)
    return A


def solve(row):
    """One row: what KSPSolve() gave, and the true residual."""
    prefix, options = f"r{row['row']}_", PETSc.Options()
    words = row["options"].split()
    for at, word in enumerate(words):
        if word.startswith("-"):
            value = words[at + 1] if at + 1 < len(words) and not words[at + 1].startswith("-") else None
            options.setValue(prefix + word[1:], value)
    if row["problem"] == "eigen":
        return solve_eigen(prefix, words)
    ksp = PETSc.KSP().create()
    ksp.setOptionsPrefix(prefix)
    A = prepare(row["problem"], ksp)
    if row["problem"] in ("fields", "saddle"):
        ksp.getPC().setType("fieldsplit")
        ksp.getPC().setFieldSplitIS(*fields_of(A))
    ksp.setTolerances(rtol=1e-8, max_it=3000)
    ksp.setFromOptions()
    if "-set_twice" in words:
        ksp.setFromOptions()
    of_residual = A.copy() if A and "-pc_factor_in_place" in words else A  # the factors replace the matrix
    ksp.setUp()
    A = of_residual or ksp.getOperators()[0]
    x, b = A.createVecs()
    b.setArray(numpy.cos(numpy.arange(*b.getOwnershipRange())))
    ksp.solve(b, x)
    residual = b.duplicate()
    A.mult(x, residual)
    residual.aypx(-1, b)
    scatter, whole = PETSc.Scatter.toZero(x)
    scatter.scatter(x, whole, addv=False, mode=False)
    found = {"reason": int(ksp.getConvergedReason()), "iterations": ksp.getIterationNumber(), "residual": residual.norm() / b.norm(),
             "x": list(whole.getArray())}
    for thing in (scatter, whole, residual, x, b, ksp, A):
        thing.destroy()
    return found


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        rows = json.load(file)
    results = {}
    for row in rows:
        try:
            results[row["row"]] = solve(row)
        except (PETSc.Error, SystemError) as raised:
            # some functions of slepc4py 3.25 return a value beside the error, of which Python makes a SystemError
            error = raised if isinstance(raised, PETSc.Error) else raised.__cause__
            if not isinstance(error, PETSc.Error):
                raise
            results[row["row"]] = {"error": error.ierr, "text": str(error)[-400:]}
        gc.collect()  # a solver on grids refers to itself
    if PETSc.COMM_WORLD.rank == 0:
        with open(sys.argv[2], "w", encoding="utf-8") as file:
            json.dump(results, file)


if __name__ == "__main__":
    main()
