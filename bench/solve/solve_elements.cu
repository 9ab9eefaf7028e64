/* solve_elements.cu - the list of the entries of all element matrices, made on the device: a thread for each entry. */
#include "solve_element.h"
#include "solve_elements.h"
#include <cuda_runtime.h>

namespace
{

constexpr int THREADS = 256;

struct Scale {
  double of[2];
};

__device__ std::int64_t entry_of_thread() { return static_cast<std::int64_t>(blockIdx.x) * THREADS + threadIdx.x; }

__global__ void list_kernel(Elements e, PetscInt *row, PetscInt *col)
{
  const std::int64_t k = entry_of_thread();
  if (k >= e.count * ELEMENT_ENTRIES) return;

  const std::int32_t *node = e.node + k / ELEMENT_ENTRIES * ELEMENT_NODES;
  const int           at   = static_cast<int>(k % ELEMENT_ENTRIES);
  row[k]                   = element_unknown(node, at / ELEMENT_DOFS);
  col[k]                   = element_unknown(node, at % ELEMENT_DOFS);
}

__global__ void values_kernel(Elements e, Scale scale, PetscScalar *values)
{
  const std::int64_t k = entry_of_thread();
  if (k >= e.count * ELEMENT_ENTRIES) return;

  const Element element = element_make(e.node + k / ELEMENT_ENTRIES * ELEMENT_NODES, e.point);
  const int     at      = static_cast<int>(k % ELEMENT_ENTRIES);
  values[k] = static_cast<PetscScalar>(element_entry(&element, at / ELEMENT_DOFS, at % ELEMENT_DOFS, scale.of));
}

unsigned blocks_of(const Elements *e)
{
  return static_cast<unsigned>((e->count * ELEMENT_ENTRIES + THREADS - 1) / THREADS);
}

} // namespace

int ElementsListThere(const Elements *e, PetscInt row[], PetscInt col[])
{
  if (e->count > 0) list_kernel<<<blocks_of(e), THREADS>>>(*e, row, col);
  return cudaGetLastError();
}

int ElementsValuesThere(const Elements *e, const double scale[2], PetscScalar values[])
{
  if (e->count > 0) values_kernel<<<blocks_of(e), THREADS>>>(*e, Scale{{scale[0], scale[1]}}, values);
  return cudaGetLastError();
}
