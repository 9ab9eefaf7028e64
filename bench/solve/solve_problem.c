/*
  solve_problem.c - the matrices of solve_bench: patterns of the catalogue with new values, because the catalogue's are
  random numbers, for which Krylov methods do not converge.

  Each pair of neighbours I, J has a symmetric positive semidefinite K_IJ: with one unknown per node a number between
  0.5 and 1.5; with three unknowns the stiffness of a bar from I to J, plus a tenth of it in the other directions. A_IJ
  = -K_IJ, and A_II is the sum of the K_IJ plus `shift` times its diagonal. On a symmetric pattern A is symmetric
  positive definite.
*/
#include "solve_bench.h"
#include "families.h"
#include "gen_graph.h"
#include "parallel.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double across = 0.1;

typedef struct {
  const SpmvPattern *pattern;
  Problem           *p;
  const double      *point; /* [3 nodes], NULL: the nodes have no coordinates */
  double             shift;
} Filling;

/* The direction of a pair of nodes; exchanging the nodes changes its sign only */
static void direction(const Filling *f, PetscInt from, PetscInt to, double d[3])
{
  const uint64_t low = (uint64_t)PetscMin(from, to), high = (uint64_t)PetscMax(from, to);
  double         length = 0;

  for (int a = 0; a < 3; a++) {
    if (f->point) d[a] = f->point[3 * to + a] - f->point[3 * from + a];
    else d[a] = gen_uniform(gen_hash(low, high), (uint64_t)a) - 0.5;
    length += d[a] * d[a];
  }
  for (int a = 0; a < 3; a++) d[a] /= sqrt(length);
}

/* Entry (a, b) of K_IJ */
static double stiffness(const Filling *f, PetscInt from, PetscInt to, PetscInt a, PetscInt b)
{
  const uint64_t low = (uint64_t)PetscMin(from, to), high = (uint64_t)PetscMax(from, to);
  double         d[3];

  if (f->p->block_size == 1) return 0.5 + gen_uniform(low, high);
  direction(f, from, to, d);
  return d[a % 3] * d[b % 3] + (a == b ? across : 0);
}

static void fill_rows(void *filling_, int64_t begin, int64_t end)
{
  const Filling *f  = filling_;
  Problem       *p  = f->p;
  const PetscInt bs = p->block_size;

  for (PetscInt local = (PetscInt)begin; local < (PetscInt)end; local++) {
    const PetscInt row = p->first_row + local, node = row / bs;
    double         sum[8] = {0}; /* sums of the K_IJ of the row, by column of the block */
    for (PetscInt k = p->row_ptr[local]; k < p->row_ptr[local + 1]; k++) {
      const PetscInt col = p->col[k];
      double         entry;
      if (col / bs == node) continue;
      entry       = stiffness(f, node, col / bs, row % bs, col % bs);
      p->value[k] = -entry;
      sum[col % bs] += entry;
    }
    for (PetscInt k = p->row_ptr[local]; k < p->row_ptr[local + 1]; k++)
      if (p->col[k] / bs == node)
        p->value[k] = sum[p->col[k] % bs] + (p->col[k] == row ? f->shift * sum[row % bs] + 1e-12 : 0);
  }
}

/* The coordinates of nodes on a grid, slightly perturbed so that no entry of a block is zero by symmetry; NULL if the
   family has none. order: the grid node of each node of the matrix; NULL for the order of the grid. */
static double *grid_points(int64_t nx, int64_t ny, int64_t nodes, const int32_t *order)
{
  double *point = malloc((size_t)(3 * nodes + 1) * sizeof *point);

  for (int64_t i = 0; point && i < nodes; i++) {
    const int64_t node  = order ? order[i] : i;
    const int64_t at[3] = {node % nx, node / nx % ny, node / nx / ny};
    for (int a = 0; a < 3; a++)
      point[3 * i + a] = (double)at[a] + 0.3 * (gen_uniform((uint64_t)node, (uint64_t)(77 + a)) - 0.5);
  }
  return point;
}

static PetscBool is_tetrahedra(const NamedMatrix *m) { return strncmp(m->name, "tet3_", 5) ? PETSC_FALSE : PETSC_TRUE; }

/* Points along an edge of the cube that the tetrahedra fill */
static int64_t points_along(const NamedMatrix *m) { return (int64_t)llround(cbrt((double)m->spec.nodes[0])); }

/* The node of the mesh of each node of the matrix; NULL: the same */
static int32_t *order_of(const NamedMatrix *m)
{
  const char *name  = strchr(m->name, '_');
  int32_t    *order = NULL;

  if (!is_tetrahedra(m)) return NULL;
  if (!strncmp(name, "_random", 7)) order = gen_shuffled(m->spec.nodes[0]);
  else if (!strncmp(name, "_rcm", 4)) {
    GenElements tetrahedra = gen_elements_tetrahedra(points_along(m));
    GenGraph    graph      = gen_graph_of(&tetrahedra);
    order                  = gen_reverse_cuthill_mckee(&graph);
    gen_elements_free(&tetrahedra);
    gen_graph_free(&graph);
  }
  return order;
}

static double *points_of(const NamedMatrix *m, const int32_t *order)
{
  const int64_t nodes = m->spec.nodes[0], n = points_along(m);

  if (!strncmp(m->name, "hex3:", 5)) return grid_points(nodes, m->spec.nodes[1], nodes * nodes * nodes, NULL);
  return is_tetrahedra(m) ? grid_points(n, n, nodes, order) : NULL;
}

/* Copies the rows of this process from the whole pattern */
static PetscErrorCode TakeRows(const SpmvPattern *pattern, Problem *p)
{
  const PetscInt *row_ptr = pattern->row_ptr, *col = pattern->col;
  PetscInt        nodes = PETSC_DECIDE, all_nodes, first = 0, nnz;

  PetscFunctionBeginUser;
  p->all_rows = (PetscInt)pattern->rows;
  p->nonzeros = (double)pattern->nnz;
  all_nodes   = p->all_rows / p->block_size;
  PetscCall(PetscSplitOwnership(PETSC_COMM_WORLD, &nodes, &all_nodes));
  p->rows = nodes * p->block_size;
  PetscCallMPI(MPI_Exscan(&p->rows, &first, 1, MPIU_INT, MPI_SUM, PETSC_COMM_WORLD));
  p->first_row = first;
  nnz          = row_ptr[first + p->rows] - row_ptr[first];
  PetscCall(PetscMalloc3(p->rows + 1, &p->row_ptr, nnz, &p->col, nnz, &p->value));
  for (PetscInt i = 0; i <= p->rows; i++) p->row_ptr[i] = row_ptr[first + i] - row_ptr[first];
  PetscCall(PetscArraycpy(p->col, col + row_ptr[first], nnz));
  PetscFunctionReturn(0);
}

/* Makes the matrix on the host, its diagonal, and a right-hand side that does not depend on the number of processes */
static PetscErrorCode FinishProblem(Problem *p)
{
  PetscScalar *b;

  PetscFunctionBeginUser;
  PetscCall(AssembleBySetValues(p, MATAIJ, &p->host));
  PetscCall(MatCreateVecs(p->host, &p->diagonal, &p->b));
  PetscCall(MatGetDiagonal(p->host, p->diagonal));
  PetscCall(VecGetArrayWrite(p->b, &b));
  for (PetscInt i = 0; i < p->rows; i++) b[i] = (PetscScalar)(gen_uniform(5, (uint64_t)(p->first_row + i)) - 0.5);
  PetscCall(VecRestoreArrayWrite(p->b, &b));
  PetscFunctionReturn(0);
}

PetscErrorCode ProblemNearNullSpace(Problem *p, const double points[])
{
  Vec          place;
  PetscScalar *values;

  PetscFunctionBeginUser;
  PetscCall(VecCreateMPI(PETSC_COMM_WORLD, p->rows, p->all_rows, &place));
  PetscCall(VecSetBlockSize(place, 3));
  PetscCall(VecGetArrayWrite(place, &values));
  for (PetscInt i = 0; i < p->rows; i++) values[i] = (PetscScalar)points[p->first_row + i];
  PetscCall(VecRestoreArrayWrite(place, &values));
  PetscCall(MatNullSpaceCreateRigidBody(place, &p->near));
  PetscCall(VecDestroy(&place));
  PetscFunctionReturn(0);
}

PetscErrorCode ProblemGenerate(const char name[], double shift, PetscBool elements, Problem *p)
{
  NamedMatrix named;
  SpmvPattern pattern;
  char        message[FAMILY_TEXT];
  int32_t    *order;
  double     *points;
  Filling     filling = {.p = p, .shift = shift};

  PetscFunctionBeginUser;
  memset(p, 0, sizeof *p);
  PetscCheck(family_find(name, &named, message), PETSC_COMM_WORLD, PETSC_ERR_ARG_WRONG, "%s", message);
  PetscCheck(!elements || is_tetrahedra(&named), PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT,
             "-assembly elements has elements for -matrix tet3_natural, tet3_rcm and tet3_random, not for %s", name);
  PetscCall(PetscSNPrintf(p->name, sizeof p->name, "%s%s", named.name, elements ? " elements" : ""));
  p->block_size = !strncmp(named.group, "fem3", 4) ? 3 : 1;
  p->symmetric  = !strncmp(named.group, "fem", 3) || !strncmp(named.group, "stencil", 7) ? PETSC_TRUE : PETSC_FALSE;
  order         = order_of(&named);
  points        = points_of(&named, order);
  PetscCheck(!gen_pattern(&named.spec, sizeof(PetscInt) == 8 ? SPMV_I64 : SPMV_I32, &pattern), PETSC_COMM_WORLD,
             PETSC_ERR_MEM, "%s does not fit the memory or PetscInt", named.name);
  gen_free_kept();
  PetscCheck(pattern.rows == pattern.cols, PETSC_COMM_WORLD, PETSC_ERR_ARG_SIZ, "%s is not square", named.name);
  PetscCall(TakeRows(&pattern, p));
  gen_pattern_free(&pattern);
  filling.point = points;
  if (elements) PetscCall(ProblemElements(points_along(&named), order, points, shift, p));
  else gen_parallel(p->rows, fill_rows, &filling);
  PetscCall(FinishProblem(p));
  if (points) PetscCall(ProblemNearNullSpace(p, points));
  free(points);
  free(order);
  PetscFunctionReturn(0);
}

/* Copies the rows of this process from an assembled matrix to arrays */
static PetscErrorCode CopyRows(Mat A, Problem *p)
{
  PetscInt nnz = 0, count;

  PetscFunctionBeginUser;
  PetscCall(MatGetOwnershipRange(A, &p->first_row, &p->rows));
  p->rows -= p->first_row;
  PetscCall(MatGetSize(A, &p->all_rows, NULL));
  for (PetscInt i = 0; i < p->rows; i++) {
    PetscCall(MatGetRow(A, p->first_row + i, &count, NULL, NULL));
    nnz += count;
    PetscCall(MatRestoreRow(A, p->first_row + i, &count, NULL, NULL));
  }
  PetscCall(PetscMalloc3(p->rows + 1, &p->row_ptr, nnz, &p->col, nnz, &p->value));
  p->row_ptr[0] = 0;
  for (PetscInt i = 0; i < p->rows; i++) {
    const PetscInt    *col;
    const PetscScalar *value;
    PetscCall(MatGetRow(A, p->first_row + i, &count, &col, &value));
    PetscCall(PetscArraycpy(p->col + p->row_ptr[i], col, count));
    PetscCall(PetscArraycpy(p->value + p->row_ptr[i], value, count));
    p->row_ptr[i + 1] = p->row_ptr[i] + count;
    PetscCall(MatRestoreRow(A, p->first_row + i, &count, &col, &value));
  }
  PetscFunctionReturn(0);
}

PetscErrorCode ProblemLoad(const char path[], PetscInt block_size, Problem *p)
{
  PetscViewer viewer;
  Mat         A;
  MatInfo     info;
  const char *file = strrchr(path, '/');

  PetscFunctionBeginUser;
  memset(p, 0, sizeof *p);
  PetscCall(PetscStrncpy(p->name, file ? file + 1 : path, sizeof p->name));
  PetscCall(PetscViewerBinaryOpen(PETSC_COMM_WORLD, path, FILE_MODE_READ, &viewer));
  PetscCall(MatCreate(PETSC_COMM_WORLD, &A));
  PetscCall(MatSetType(A, MATAIJ));
  if (block_size > 1) PetscCall(MatSetBlockSize(A, block_size));
  PetscCall(MatLoad(A, viewer));
  PetscCall(PetscViewerDestroy(&viewer));
  PetscCall(MatGetBlockSize(A, &p->block_size));
  PetscCall(MatGetInfo(A, MAT_GLOBAL_SUM, &info));
  p->nonzeros = info.nz_used;
  PetscCall(CopyRows(A, p));
  PetscCall(MatDestroy(&A));
  PetscCall(FinishProblem(p));
  PetscFunctionReturn(0);
}

PetscErrorCode ProblemDestroy(Problem *p)
{
  PetscFunctionBeginUser;
  PetscCall(PetscFree3(p->row_ptr, p->col, p->value));
  PetscCall(PetscFree2(p->elements.node, p->elements.point));
  PetscCall(MatDestroy(&p->host));
  PetscCall(VecDestroy(&p->b));
  PetscCall(VecDestroy(&p->diagonal));
  PetscCall(MatNullSpaceDestroy(&p->near));
  PetscFunctionReturn(0);
}

/* Every value changes in each step, so that stale values in a product or a preconditioner increase the residual */
static double factor_of(PetscInt step) { return 1 + 0.1 * (double)step; }
static double shift_of(PetscInt step) { return 1e-4 * (double)step; }

void ProblemScale(const Problem *p, PetscInt step, double scale[2])
{
  scale[0] = factor_of(step);
  scale[1] = (1 + p->shift) * (factor_of(step) + shift_of(step));
}

PetscErrorCode ProblemValues(const Problem *p, PetscInt step, PetscScalar values[])
{
  const double factor = factor_of(step), shift = shift_of(step);

  PetscFunctionBeginUser;
  for (PetscInt i = 0; i < p->rows; i++)
    for (PetscInt k = p->row_ptr[i]; k < p->row_ptr[i + 1]; k++)
      values[k] = (PetscScalar)(factor + (p->col[k] == p->first_row + i ? shift : 0)) * p->value[k];
  PetscFunctionReturn(0);
}

PetscErrorCode ProblemMult(const Problem *p, PetscInt step, Vec x, Vec y)
{
  Vec scaled;

  PetscFunctionBeginUser;
  PetscCall(VecDuplicate(x, &scaled));
  PetscCall(MatMult(p->host, x, y));
  PetscCall(VecPointwiseMult(scaled, p->diagonal, x));
  PetscCall(VecScale(y, (PetscScalar)factor_of(step)));
  PetscCall(VecAXPY(y, (PetscScalar)shift_of(step), scaled));
  PetscCall(VecDestroy(&scaled));
  PetscFunctionReturn(0);
}

PetscErrorCode ProblemResidual(const Problem *p, PetscInt step, Vec x, double *residual)
{
  Vec       host_x, r;
  PetscReal norm, norm_b;

  PetscFunctionBeginUser;
  PetscCall(VecDuplicate(p->b, &host_x));
  PetscCall(VecDuplicate(p->b, &r));
  PetscCall(CopyThroughHost(x, host_x));
  PetscCall(ProblemMult(p, step, host_x, r));
  PetscCall(VecAXPY(r, -1, p->b));
  PetscCall(VecNorm(r, NORM_2, &norm));
  PetscCall(VecNorm(p->b, NORM_2, &norm_b));
  *residual = (double)(norm / norm_b);
  PetscCall(VecDestroy(&host_x));
  PetscCall(VecDestroy(&r));
  PetscFunctionReturn(0);
}
