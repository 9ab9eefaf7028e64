/* gen_mesh.c - matrices of grids: stencils on nx x ny x nz nodes with a repeating number of unknowns per node. */
#include "gen.h"
#include <string.h>

/* The first unknown of a node; for node = number of nodes, the number of unknowns */
static int64_t first_unknown(const GenSpec *s, int64_t node)
{
  return node / s->cycle_length * s->cycle_start[s->cycle_length] + s->cycle_start[node % s->cycle_length];
}

/* The node of an unknown; nodes without unknowns are skipped */
static int64_t node_of_unknown(const GenSpec *s, int64_t unknown)
{
  const int64_t per_cycle = s->cycle_start[s->cycle_length], rest = unknown % per_cycle;
  int           k = 0;

  while (s->cycle_start[k + 1] <= rest) k++;
  return unknown / per_cycle * s->cycle_length + k;
}

/* Whether the stencil has the neighbour at an offset: boxes have all, stars those with one nonzero component */
static int in_stencil(int points, int dx, int dy, int dz)
{
  if (points == 9 || points == 27) return 1;
  return (dx != 0) + (dy != 0) + (dz != 0) <= 1;
}

static int64_t mesh_row(const GenSpec *s, int64_t i, int64_t *col)
{
  const int64_t nx = s->nodes[0], ny = s->nodes[1], nz = s->nodes[2], node = node_of_unknown(s, i);
  const int64_t x = node % nx, y = node / nx % ny, z = node / nx / ny;
  int64_t       count = 0;

  for (int dz = z > 0 ? -1 : 0; dz <= (z + 1 < nz); dz++)
    for (int dy = y > 0 ? -1 : 0; dy <= (y + 1 < ny); dy++)
      for (int dx = x > 0 ? -1 : 0; dx <= (x + 1 < nx); dx++) {
        const int64_t neighbour = node + dx + nx * (dy + ny * dz);
        if (!in_stencil(s->points, dx, dy, dz)) continue;
        for (int64_t u = first_unknown(s, neighbour); u < first_unknown(s, neighbour + 1); u++) col[count++] = u;
      }
  return count;
}

GenSpec gen_mesh(int points, int64_t nx, int64_t ny, int64_t nz, const char *dofs)
{
  GenSpec s;

  memset(&s, 0, sizeof s);
  s.row      = mesh_row;
  s.points   = points;
  s.nodes[0] = nx;
  s.nodes[1] = ny;
  s.nodes[2] = nz;
  for (; s.cycle_length < GEN_CYCLE_MAX && dofs[s.cycle_length]; s.cycle_length++) {
    s.cycle[s.cycle_length]           = dofs[s.cycle_length] - '0';
    s.cycle_start[s.cycle_length + 1] = s.cycle_start[s.cycle_length] + s.cycle[s.cycle_length];
  }
  s.rows = s.cols = first_unknown(&s, nx * ny * nz);
  return s;
}

GenSpec gen_stencil(int points, int64_t nx, int64_t ny, int64_t nz) { return gen_mesh(points, nx, ny, nz, "1"); }

GenSpec gen_elasticity_hex(int64_t nx, int64_t ny, int64_t nz) { return gen_mesh(27, nx, ny, nz, "3"); }
