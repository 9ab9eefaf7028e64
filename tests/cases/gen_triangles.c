/*
  gen_triangles.c - unstructured meshes of the plane: each cell of a grid is cut in two through the corner of lowest
  random rank. A vertex has 6 neighbours on average, 4 to 8. The meshes must never change, because results are compared
  across runs.
*/
#include "gen_graph.h"
#include "gen_private.h"
#include "parallel.h"

static uint64_t rank_of(int32_t vertex) { return gen_mix(0x3e9a + (uint64_t)vertex); }

typedef struct {
  int64_t  n;
  int32_t *node;
} Cells;

static void cut_cells(void *cells_, int64_t begin, int64_t end)
{
  const Cells  *cells = cells_;
  const int64_t n     = cells->n;

  for (int64_t c = begin; c < end; c++) {
    const int32_t low = (int32_t)(c / (n - 1) * n + c % (n - 1)), high = low + (int32_t)n;
    const int32_t corner[4] = {low, low + 1, high + 1, high}; /* in cyclic order */
    int32_t      *out       = cells->node + 6 * c;
    int           first     = 0;
    for (int k = 1; k < 4; k++)
      if (rank_of(corner[k]) < rank_of(corner[first])) first = k;
    for (int t = 1; t <= 2; t++) {
      *out++ = corner[first];
      *out++ = corner[(first + t) % 4];
      *out++ = corner[(first + t + 1) % 4];
    }
  }
}

GenElements gen_elements_triangles(int64_t n)
{
  const int64_t cells = (n - 1) * (n - 1);
  GenElements   e     = {n * n, 2 * cells, 3, gen_alloc(6 * cells, sizeof(int32_t))};
  Cells         all   = {n, e.node};

  gen_parallel(cells, cut_cells, &all);
  return e;
}
