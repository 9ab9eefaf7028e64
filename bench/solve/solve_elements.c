/*
  solve_elements.c - problems made of element matrices: linear elasticity on the tetrahedra of the families tet3_*.

  In place of boundary conditions, `shift` times its diagonal is added to each element matrix.
*/
#include "solve_bench.h"
#include "gen_graph.h"
#include "parallel.h"
#include "solve_element.h"
#include <string.h>

/* ---- the list of entries, on the host ---- */

typedef struct {
  const Elements *elements;
  const double   *scale;
  PetscInt       *row, *col;
  PetscScalar    *values;
} Lists;

static void list_of_elements(void *lists_, int64_t begin, int64_t end)
{
  const Lists *l = lists_;

  for (int64_t e = begin; e < end; e++) {
    const int32_t *node = l->elements->node + e * ELEMENT_NODES;
    for (int k = 0; k < ELEMENT_ENTRIES; k++) {
      l->row[e * ELEMENT_ENTRIES + k] = element_unknown(node, k / ELEMENT_DOFS);
      l->col[e * ELEMENT_ENTRIES + k] = element_unknown(node, k % ELEMENT_DOFS);
    }
  }
}

static void values_of_elements(void *lists_, int64_t begin, int64_t end)
{
  const Lists *l = lists_;

  for (int64_t e = begin; e < end; e++) {
    const Element element = element_make(l->elements->node + e * ELEMENT_NODES, l->elements->point);
    for (int k = 0; k < ELEMENT_ENTRIES; k++)
      l->values[e * ELEMENT_ENTRIES + k] =
          (PetscScalar)element_entry(&element, k / ELEMENT_DOFS, k % ELEMENT_DOFS, l->scale);
  }
}

void ElementsList(const Elements *e, PetscInt row[], PetscInt col[])
{
  Lists lists = {.elements = e, .row = row, .col = col};

  gen_parallel(e->count, list_of_elements, &lists);
}

void ElementsValues(const Elements *e, const double scale[2], PetscScalar values[])
{
  Lists lists = {.elements = e, .scale = scale, .values = values};

  gen_parallel(e->count, values_of_elements, &lists);
}

/* ---- the matrix, from the elements of all processes ---- */

/* The elements that have node i are element[first[i]] .. element[first[i+1]-1], ascending */
typedef struct {
  const GenElements *mesh;
  Problem           *p;
  PetscInt          *first, *element;
  double             scale[2];
} Meeting;

static PetscErrorCode Meet(Meeting *m)
{
  const PetscInt ends = (PetscInt)(m->mesh->count * ELEMENT_NODES);

  PetscFunctionBeginUser;
  PetscCall(PetscCalloc1((size_t)m->mesh->nodes + 2, &m->first));
  PetscCall(PetscMalloc1(ends, &m->element));
  for (PetscInt k = 0; k < ends; k++) m->first[m->mesh->node[k] + 2]++;
  for (int64_t i = 0; i <= m->mesh->nodes; i++) m->first[i + 1] += m->first[i];
  for (PetscInt k = 0; k < ends; k++) m->element[m->first[m->mesh->node[k] + 1]++] = k / ELEMENT_NODES;
  PetscFunctionReturn(0);
}

/* Adds the rows of a node in one element to the three rows from row_ptr[0] on, which have the same columns */
static void add_rows(const Meeting *m, const int32_t node[], int own, const PetscInt row_ptr[])
{
  const Element e = element_make(node, m->p->elements.point);

  for (int other = 0; other < ELEMENT_NODES; other++) {
    PetscInt low = row_ptr[0], high = row_ptr[1];
    while (high - low > 1) {
      const PetscInt middle = low + (high - low) / 2;
      if (m->p->col[middle] <= 3 * node[other]) low = middle;
      else high = middle;
    }
    for (int i = 0; i < 3; i++)
      for (int j = 0; j < 3; j++)
        m->p->value[row_ptr[i] + low - row_ptr[0] + j] +=
            (PetscScalar)element_entry(&e, 3 * own + i, 3 * other + j, m->scale);
  }
}

static void fill_nodes(void *meeting_, int64_t begin, int64_t end)
{
  const Meeting *m = meeting_;

  for (int64_t local = begin; local < end; local++) {
    const PetscInt *row_ptr = m->p->row_ptr + 3 * local, node = m->p->first_row / 3 + (PetscInt)local;
    memset(m->p->value + row_ptr[0], 0, (size_t)(row_ptr[3] - row_ptr[0]) * sizeof *m->p->value);
    for (PetscInt k = m->first[node]; k < m->first[node + 1]; k++) {
      const int32_t *of  = m->mesh->node + (int64_t)m->element[k] * ELEMENT_NODES;
      int            own = 0;
      while (of[own] != node) own++;
      add_rows(m, of, own, row_ptr);
    }
  }
}

/* Numbers the nodes as the matrix does, whose node i is node order[i] of the mesh */
static PetscErrorCode Renumber(const int32_t order[], GenElements *mesh)
{
  int32_t *number;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1((size_t)mesh->nodes, &number));
  for (int32_t i = 0; i < (int32_t)mesh->nodes; i++) number[order ? order[i] : i] = i;
  for (int64_t k = 0; k < mesh->count * ELEMENT_NODES; k++) mesh->node[k] = number[mesh->node[k]];
  PetscCall(PetscFree(number));
  PetscFunctionReturn(0);
}

/* Copies the elements whose first node this process owns, and all points */
static PetscErrorCode TakeElements(const GenElements *mesh, const double points[], Problem *p)
{
  const PetscInt begin = p->first_row / 3, end = begin + p->rows / 3;
  int64_t        count = 0;

  PetscFunctionBeginUser;
  for (int64_t e = 0; e < mesh->count; e++)
    count += mesh->node[e * ELEMENT_NODES] >= begin && mesh->node[e * ELEMENT_NODES] < end;
  PetscCall(PetscMalloc2((size_t)(count * ELEMENT_NODES), &p->elements.node, (size_t)p->all_rows, &p->elements.point));
  PetscCall(PetscArraycpy(p->elements.point, points, p->all_rows));
  for (int64_t e = 0; e < mesh->count; e++) {
    const int32_t *node = mesh->node + e * ELEMENT_NODES;
    if (node[0] < begin || node[0] >= end) continue;
    PetscCall(PetscArraycpy(p->elements.node + p->elements.count * ELEMENT_NODES, node, ELEMENT_NODES));
    p->elements.count++;
  }
  PetscFunctionReturn(0);
}

PetscErrorCode ProblemElements(int64_t points_along, const int32_t order[], const double points[], double shift,
                               Problem *p)
{
  GenElements mesh    = gen_elements_tetrahedra(points_along);
  Meeting     meeting = {.mesh = &mesh, .p = p};

  PetscFunctionBeginUser;
  PetscCheck(mesh.count > 0 && 3 * mesh.nodes == p->all_rows, PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "%s has another mesh than its matrix", p->name);
  p->shift = shift;
  PetscCall(Renumber(order, &mesh));
  PetscCall(TakeElements(&mesh, points, p));
  PetscCall(Meet(&meeting));
  ProblemScale(p, 0, meeting.scale);
  gen_parallel(p->rows / 3, fill_nodes, &meeting);
  PetscCall(PetscFree(meeting.first));
  PetscCall(PetscFree(meeting.element));
  gen_elements_free(&mesh);
  PetscFunctionReturn(0);
}
