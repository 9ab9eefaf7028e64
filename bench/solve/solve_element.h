/*
  solve_element.h - the element matrix of linear elasticity on a tetrahedron with linear functions (E = 1, nu = 0.3), and
  the place of its entries in the list of all entries, for C and for CUDA.

  The list has one element matrix after the other, and each element matrix row by row.
*/
#ifndef SOLVE_ELEMENT_H
#define SOLVE_ELEMENT_H

#include <math.h>
#include <stdint.h>

#ifdef __CUDACC__
  #define ELEMENT_FUNCTION static __host__ __device__ inline
#else
  #define ELEMENT_FUNCTION static inline
#endif

enum { ELEMENT_NODES = 4, ELEMENT_DOFS = 12, ELEMENT_ENTRIES = 144 };

/* The gradients of the four functions, and the volume */
typedef struct {
  double gradient[ELEMENT_NODES][3], volume;
} Element;

/* The global number of an unknown of an element */
ELEMENT_FUNCTION int32_t element_unknown(const int32_t node[ELEMENT_NODES], int dof)
{
  return 3 * node[dof / 3] + dof % 3;
}

/* point: the coordinates of all nodes */
ELEMENT_FUNCTION Element element_make(const int32_t node[ELEMENT_NODES], const double point[])
{
  double  edge[3][3], determinant = 0;
  Element e;

  for (int k = 0; k < 3; k++)
    for (int a = 0; a < 3; a++) edge[k][a] = point[3 * node[k + 1] + a] - point[3 * node[0] + a];
  for (int k = 0; k < 3; k++) {
    const double *u = edge[(k + 1) % 3], *v = edge[(k + 2) % 3];
    for (int a = 0; a < 3; a++)
      e.gradient[k + 1][a] = u[(a + 1) % 3] * v[(a + 2) % 3] - u[(a + 2) % 3] * v[(a + 1) % 3];
  }
  for (int a = 0; a < 3; a++) determinant += edge[0][a] * e.gradient[1][a];
  for (int a = 0; a < 3; a++) {
    for (int k = 1; k < ELEMENT_NODES; k++) e.gradient[k][a] /= determinant;
    e.gradient[0][a] = -(e.gradient[1][a] + e.gradient[2][a] + e.gradient[3][a]);
  }
  e.volume = fabs(determinant) / 6;
  return e;
}

/* Entry (row, col) times scale[0], on the diagonal times scale[1]; of the same bits for (col, row) */
ELEMENT_FUNCTION double element_entry(const Element *e, int row, int col, const double scale[2])
{
  const double  nu = 0.3, lambda = nu / ((1 + nu) * (1 - 2 * nu)), mu = 1 / (2 * (1 + nu));
  const double *g = e->gradient[row / 3], *h = e->gradient[col / 3];
  const int     i = row % 3, j = col % 3;
  const double  along = lambda * (g[i] * h[j]), across = mu * (g[j] * h[i]);
  const double  both = i == j ? mu * (g[0] * h[0] + g[1] * h[1] + g[2] * h[2]) : 0;

  return e->volume * (along + across + both) * scale[row == col];
}

#endif
