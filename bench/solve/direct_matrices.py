#!/usr/bin/env python3
"""Writes two matrices that multigrid does not solve, for the step direct_matrices of a GPU run, in PETSc's binary format. Needs numpy.

    direct_matrices.py folder [cells along an edge of the cube: 32]

convection.petsc: unsymmetric, a flow that turns, by upwind differences; stokes.petsc: a saddle point, velocities on the faces of
cells and pressures in them, one pressure left out because only differences of it count.
"""
import sys
from pathlib import Path

import numpy as np


def write(path, rows, entries):
    """entries: triples of arrays, row, column and value; equal places are added up."""
    row, column, value = (np.concatenate([np.ravel(part) for part in parts]) for parts in zip(*entries))
    place, number = np.unique(row * rows + column, return_inverse=True)
    sums = np.bincount(number, value)
    with open(path, "wb") as file:
        np.array([1211216, rows, rows, len(place)], ">i4").tofile(file)
        np.bincount(place // rows, minlength=rows).astype(">i4").tofile(file)
        (place % rows).astype(">i4").tofile(file)
        sums.astype(">f8").tofile(file)


def neighbours(numbers):
    """For each axis the numbers of all pairs of neighbours."""
    for axis in range(3):
        yield axis, np.delete(numbers, -1, axis), np.delete(numbers, 0, axis)


def laplacian(numbers):
    """The 7-point stencil with fixed values around."""
    yield numbers, numbers, np.full(numbers.shape, 6.0)
    for _, one, other in neighbours(numbers):
        yield one, other, np.full(one.shape, -1.0)
        yield other, one, np.full(one.shape, -1.0)


def convection(n, strength=20.0):
    numbers = np.arange(n**3).reshape(n, n, n)
    x, y, _ = (np.indices(numbers.shape) + 0.5) / n
    flow = strength / n * np.stack([y - 0.5, 0.5 - x, np.full(x.shape, 0.2)])
    yield from laplacian(numbers)
    for axis, one, other in neighbours(numbers):
        at_one, at_other = np.delete(flow[axis], -1, axis), np.delete(flow[axis], 0, axis)
        yield other, one, -np.maximum(at_other, 0)
        yield one, other, np.minimum(at_one, 0)
    yield numbers, numbers, np.abs(flow).sum(0)


def stokes(n):
    first, pressure = 0, 3 * (n - 1) * n * n - 1 + np.arange(n**3).reshape(n, n, n)  # the first cell has no number of its own
    for axis, one, other in neighbours(pressure):
        numbers = first + np.arange(one.size).reshape(one.shape)
        first += one.size
        yield from laplacian(numbers)
        for cell, sign in (one, -1.0), (other, 1.0):
            kept = cell != pressure[0, 0, 0]
            yield numbers[kept], cell[kept], np.full(kept.sum(), sign)
            yield cell[kept], numbers[kept], np.full(kept.sum(), sign)


def main():
    folder, n = Path(sys.argv[1]), int((sys.argv[2:] or ["32"])[0])
    write(folder / "convection.petsc", n**3, convection(n))
    write(folder / "stokes.petsc", 3 * (n - 1) * n * n + n**3 - 1, stokes(n))


if __name__ == "__main__":
    main()
