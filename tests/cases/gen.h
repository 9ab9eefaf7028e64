/*
  gen.h - sparse matrices by formula, for tests and benchmarks: a GenSpec describes a matrix, gen_pattern() makes its
  CSR with 32- or 64-bit indices, gen_values() makes numbers.

  Each row is a function of its number: the same spec gives the same matrix on every machine, for any index type and
  with any number of threads. Sizes are limited only by memory. Only unstructured meshes and the shapes of
  gen_published.h keep data beside the spec, which gen_free_kept() frees.
*/
#ifndef SPMV_GEN_H
#define SPMV_GEN_H

#include <spmv_kernels.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { GEN_CYCLE_MAX = 16 };

typedef struct GenSpec  GenSpec;
typedef struct GenGraph GenGraph; /* of gen_graph.h */

/* Writes the columns of row i, in ascending order, to col, which has space for spec->cols; returns their number */
typedef int64_t (*GenRow)(const GenSpec *spec, int64_t i, int64_t *col);

/* The constructors below say what the fields between row and seed mean */
struct GenSpec {
  int64_t  rows, cols;
  GenRow   row;
  int      points;                         /* of a stencil */
  int64_t  nodes[3];                       /* of a grid, along x, y and z */
  int      cycle_length;                   /* entries of cycle */
  int64_t  cycle[GEN_CYCLE_MAX];           /* repeated over the nodes or rows */
  int64_t  cycle_start[GEN_CYCLE_MAX + 1]; /* sums of the earlier entries */
  int64_t  period, min_length;
  double   parameter; /* of a distribution of row lengths: its mean or its exponent */
  uint64_t seed;
  int      zero_percent; /* explicit zeros among the values; exact data has some even at 0 */

  const GenGraph *graph;  /* [nodes[0]] nodes, not owned */
  const double   *weight; /* weights of the row lengths 0 .. period, not owned */
};

/* ---- meshes: node graphs of a grid, a few unknowns per node ---- */

/* A stencil of 3, 5, 7 (star, in 1, 2, 3 dimensions), 9 or 27 points (box, in 2 or 3 dimensions) on nx x ny x nz nodes,
   in natural order. Each digit of dofs is the number of unknowns of a node, and the digits repeat: "1" is a scalar
   problem, "3" elasticity, "33231303" elasticity with fixed unknowns removed, "12365143" a mixture. The unknowns of a
   node are coupled. */
GenSpec gen_mesh(int points, int64_t nx, int64_t ny, int64_t nz, const char *dofs);

/* Scalar stencils, and trilinear hexahedra of elasticity with 3 unknowns per node */
GenSpec gen_stencil(int points, int64_t nx, int64_t ny, int64_t nz);
GenSpec gen_elasticity_hex(int64_t nx, int64_t ny, int64_t nz);

/* Tetrahedra with vertices on an n^3 grid; each cell is cut at random, conforming to its neighbours. A vertex has 14
   neighbours on average, 3 to 26. Nodes are the vertices (linear elements), vertices and edges (quadratic elements), or
   edges (Nedelec elements of lowest order). Every node has dofs unknowns. */
typedef enum { GEN_P1, GEN_P2, GEN_EDGES } GenElement;
typedef enum { GEN_NATURAL, GEN_RCM, GEN_SHUFFLED } GenOrder;
GenSpec gen_tetrahedra(int64_t n, GenElement element, GenOrder order, int dofs);
/* Triangles with vertices on an n^2 grid of the plane, cut in the same way: 6 neighbours on average, 4 to 8 in the
   interior. Nodes are the vertices. */
GenSpec gen_triangles(int64_t n, GenOrder order, int dofs);

/* dofs unknowns for each node of a graph, which must live as long as the spec */
GenSpec gen_on_graph(const GenGraph *graph, int dofs);

/* ---- shapes for corner cases ---- */

GenSpec gen_empty(int64_t rows, int64_t cols);
GenSpec gen_diagonal(int64_t n);
GenSpec gen_dense(int64_t rows, int64_t cols);

/* Runs of `length` adjacent columns, separated by `gap` empty columns; row i begins (i mod 3) columns later */
GenSpec gen_runs(int64_t rows, int64_t cols, int64_t length, int64_t gap);

/* Row i has lengths[i mod count] nonzeros, spread evenly over the columns with some jitter */
GenSpec gen_lengths(int64_t rows, int64_t cols, int count, const int64_t *lengths, uint64_t seed);

/* A diagonal, and one full row or column in the middle */
GenSpec gen_full_row(int64_t rows, int64_t cols);
GenSpec gen_full_column(int64_t rows, int64_t cols);

/* 78 rows in groups of `group` equal rows, with runs of `run` adjacent columns all over the 128 columns, so that units
   of this size are chosen; then 600 rows with few entries, all at an edge of the matrix, so that the last block of units
   has no others, and idle threads. And the transposed matrix, for transposed products. */
typedef enum { GEN_LAST, GEN_LAST_TWO, GEN_FIRST, GEN_LAST_OR_NONE, GEN_NONE } GenEdge; /* columns of the 600 rows */
GenSpec gen_edge(int group, int run, GenEdge edge);
GenSpec gen_edge_transposed(int group, int run, GenEdge edge);

/* ---- random graphs ---- */

/* Poisson-distributed row lengths with this mean; columns uniform */
GenSpec gen_random(int64_t rows, int64_t cols, double mean, uint64_t seed);

/* Row lengths from a power law P(length) ~ length^-exponent (exponent > 1), from min_length to cols. Half of the
   columns prefer low numbers, which are the hubs of the graph. */
GenSpec gen_power_law(int64_t n, int64_t min_length, double exponent, uint64_t seed);

/* Like a netlist: the diagonal, two to five near neighbours, sometimes a far one, and four rails (the first rows and
   columns), to which every period-th node is connected */
GenSpec gen_circuit(int64_t n, int64_t period, uint64_t seed);

/* Rows of short_length nonzeros; every period-th row has long_length */
GenSpec gen_long_rows(int64_t rows, int64_t cols, int64_t short_length, int64_t long_length, int64_t period,
                      uint64_t seed);

/* Patches of one to eight rows with equal columns: random runs, single columns and gaps of all lengths */
GenSpec gen_patchwork(int64_t rows, int64_t cols, uint64_t seed);

/* Row lengths from a power law, 4 to 20000; popular columns are scattered over the matrix */
GenSpec gen_hubs_anywhere(int64_t n);

/* Like a netlist: one to four neighbours within a few cells of the layout, a far neighbour in one row of eight, and
   eight supply nets, to which every 200th node is connected */
GenSpec gen_supply_nets(int64_t n);

/* Four rows of long_length nonzeros (at most n) among rows of 5; and the same number of nonzeros in rows of nearly
   equal length */
GenSpec gen_four_long_rows(int64_t n, int64_t long_length);
GenSpec gen_no_long_rows(int64_t n, int64_t long_length);

/* The same matrix; `percent` percent of its values are explicit zeros */
GenSpec gen_with_zeros(GenSpec spec, int percent);

/* ---- patterns and values of a spec ---- */

/* Makes the pattern in host memory. Fails with SPMV_ERR_OVERFLOW if it does not fit index_type, or SPMV_ERR_MEMORY. */
SpmvStatus gen_pattern(const GenSpec *spec, SpmvIndex index_type, SpmvPattern *pattern);
void       gen_pattern_free(SpmvPattern *pattern);
/* Frees the meshes and distributions that specs refer to; these specs then become invalid */
void gen_free_kept(void);

/* Exact data are small integers, so that every sum of up to 10^5 products is exact, also in single precision. Random
   data are uniform in [-1, 1]. */
typedef enum { GEN_EXACT, GEN_RANDOM } GenData;

/* n numbers of scalar_type; zero_percent of them 0 */
void gen_values(GenData data, uint64_t seed, int zero_percent, SpmvScalar scalar_type, int64_t n, void *values);

/* One mixing step, a bijection; 64 mixed bits of a number (splitmix64); and these as a number in [0, 1) */
static inline uint64_t gen_scramble(uint64_t h)
{
  h = (h ^ (h >> 30)) * 0xbf58476d1ce4e5b9u;
  h = (h ^ (h >> 27)) * 0x94d049bb133111ebu;
  return h ^ (h >> 31);
}
static inline uint64_t gen_mix(uint64_t a) { return gen_scramble(a + 0x9e3779b97f4a7c15u); }
static inline double   gen_fraction(uint64_t a) { return (double)(gen_mix(a) >> 11) * 0x1p-53; }

/* A hash of two numbers, and the hash as a number in [0, 1) */
uint64_t gen_hash(uint64_t a, uint64_t b);
double   gen_uniform(uint64_t a, uint64_t b);

#ifdef __cplusplus
}
#endif
#endif
