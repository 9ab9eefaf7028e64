/* What the pattern of a matrix looks like: every process reads its rows, then the numbers are put together. */
#include "advise.h"

/* A block size is believed when so much of all blocks that hold a nonzero is nonzero: rows of boundary conditions, and
   unknowns that do not couple, leave holes */
#define FILL_OF_BLOCKS 0.9

static PetscInt Length(const AdviceMatrix *m, PetscInt row)
{
  PetscInt length = 0;

  for (int b = 0; b < m->count; b++) {
    const PetscInt *row_ptr = m->pattern[b].row_ptr;

    if (m->pattern[b].nnz > 0) length += row_ptr[row + 1] - row_ptr[row];
  }
  return length;
}

/* The lengths of a class: 0, 1, 2, 3 to 4, 5 to 8 and so on */
void AdviceLengthClass(int class, double *from, double *to)
{
  *to = *from = class;
  if (class < 3) return;
  for (*to = 4; class > 3; class --) *to *= 2;
  *from = *to / 2 + 1;
}

static int ClassOf(PetscInt length)
{
  double from, to;
  int class = 0;

  for (AdviceLengthClass(class, &from, &to); length > to; AdviceLengthClass(class, &from, &to)) class ++;
  return class;
}

static void ReadLengths(const AdviceMatrix *m, AdviceFacts *f)
{
  f->shortest = (double)m->whole->cmap->N;
  for (PetscInt i = 0; i < m->local_rows; i++) {
    const PetscInt length = Length(m, i);

    f->nonzeros += (double)length;
    f->empty_rows += length == 0;
    f->shortest = PetscMin(f->shortest, (double)length);
    f->longest  = PetscMax(f->longest, (double)length);
    f->lengths[ClassOf(length)]++;
  }
}

/* Bandwidth, and how many nonzeros lie in each cell of the picture */
static void ReadPositions(const AdviceMatrix *m, AdviceFacts *f)
{
  for (int b = 0; b < m->count; b++) {
    const PetscInt *row_ptr = m->pattern[b].row_ptr, *col = m->pattern[b].col;

    for (PetscInt i = 0; m->pattern[b].nnz > 0 && i < m->local_rows; i++) {
      const double row  = (double)(m->first_row + i);
      const int    cell = (int)(row * f->cell_rows / f->rows) * f->cell_cols;

      for (PetscInt k = row_ptr[i]; k < row_ptr[i + 1]; k++) {
        const double column = (double)AdviceColumn(m, b, col[k]);

        f->lower = PetscMax(f->lower, row - column);
        f->upper = PetscMax(f->upper, column - row);
        f->cells[cell + (int)(column * f->cell_cols / f->cols)]++;
      }
    }
  }
}

/* Blocks of size x size with a nonzero in some rows, which are a multiple of size */
static double BlocksInRows(const AdviceMatrix *m, int b, PetscInt row, int size)
{
  const PetscInt *row_ptr = m->pattern[b].row_ptr, *col = m->pattern[b].col;
  PetscInt        at[ADVICE_BLOCK_MAX];
  double          blocks = 0;

  for (int r = 0; r < size; r++) at[r] = row_ptr[row + r];
  for (;; blocks++) {
    PetscInt first = -1; /* none yet */

    for (int r = 0; r < size; r++)
      if (at[r] < row_ptr[row + r + 1]) {
        const PetscInt block = AdviceColumn(m, b, col[at[r]]) / size;

        if (first < 0 || block < first) first = block;
      }
    if (first < 0) return blocks;
    for (int r = 0; r < size; r++)
      while (at[r] < row_ptr[row + r + 1] && AdviceColumn(m, b, col[at[r]]) / size == first) at[r]++;
  }
}

/* Blocks of each size that hold a nonzero, in the rows of this process; 1 in unfit[size] where the size does not divide
   its rows */
static void CountBlocks(const AdviceMatrix *m, double blocks[ADVICE_BLOCK_MAX + 1], double unfit[ADVICE_BLOCK_MAX + 1])
{
  for (int size = 2; size <= ADVICE_BLOCK_MAX; size++) {
    unfit[size] = m->local_rows % size || m->first_row % size || m->first_column % size || m->whole->cmap->n % size;
    for (int b = 0; !unfit[size] && b < m->count; b++)
      for (PetscInt i = 0; m->pattern[b].nnz > 0 && i < m->local_rows; i += size)
        blocks[size] += BlocksInRows(m, b, i, size);
  }
}

/* The largest size whose blocks are nearly full */
static PetscErrorCode FindBlockSize(const AdviceMatrix *m, MPI_Comm comm, AdviceFacts *f)
{
  double blocks[ADVICE_BLOCK_MAX + 1] = {0}, unfit[ADVICE_BLOCK_MAX + 1] = {0};

  PetscFunctionBegin;
  CountBlocks(m, blocks, unfit);
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, blocks, ADVICE_BLOCK_MAX + 1, MPI_DOUBLE, MPI_SUM, comm));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, unfit, ADVICE_BLOCK_MAX + 1, MPI_DOUBLE, MPI_SUM, comm));
  f->block      = 1;
  f->block_fill = 1;
  for (int size = 2; size <= ADVICE_BLOCK_MAX; size++) {
    const double entries = blocks[size] * size * size;

    if (unfit[size] == 0 && entries > 0 && f->nonzeros >= FILL_OF_BLOCKS * entries) {
      f->block      = size;
      f->block_fill = f->nonzeros / entries;
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode AdviceFactsFind(const AdviceMatrix *m, AdviceFacts *f)
{
  MPI_Comm comm;
  double   most[4];

  PetscFunctionBegin;
  PetscCall(PetscObjectGetComm((PetscObject)m->whole, &comm));
  f->rows      = (double)m->whole->rmap->N;
  f->cols      = (double)m->whole->cmap->N;
  f->cell_rows = (int)PetscMin(f->rows, ADVICE_CELLS);
  f->cell_cols = (int)PetscMin(f->cols, ADVICE_CELLS);
  PetscCall(PetscCalloc1(ADVICE_CELLS * ADVICE_CELLS, &f->cells));
  ReadLengths(m, f);
  ReadPositions(m, f);
  most[0] = -f->shortest;
  most[1] = f->longest;
  most[2] = f->lower;
  most[3] = f->upper;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, most, 4, MPI_DOUBLE, MPI_MAX, comm));
  f->shortest = f->rows > 0 ? -most[0] : 0;
  f->longest  = most[1];
  f->lower    = most[2];
  f->upper    = most[3];
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &f->nonzeros, 1, MPI_DOUBLE, MPI_SUM, comm));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &f->empty_rows, 1, MPI_DOUBLE, MPI_SUM, comm));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, f->lengths, ADVICE_LENGTHS, MPI_DOUBLE, MPI_SUM, comm));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, f->cells, ADVICE_CELLS * ADVICE_CELLS, MPI_DOUBLE, MPI_SUM, comm));
  PetscCall(FindBlockSize(m, comm, f));
  PetscFunctionReturn(PETSC_SUCCESS);
}
