/* Facts about the pattern of a matrix: every process reads its rows once, then the numbers are reduced. */
#include "advise.h"

/* A block size is accepted if this fraction of all blocks that hold a nonzero is filled: boundary conditions and
   uncoupled unknowns leave holes */
#define FILL_OF_BLOCKS 0.9

/* The lengths of a class: 0, 1, 2, 3 to 4, 5 to 8 and so on */
void AdviceLengthClass(int class, double *from, double *to)
{
  *to = *from = class;
  if (class < 3) return;
  for (*to = 4; class > 3; class --) *to *= 2;
  *from = *to / 2 + 1;
}

static void CountLength(AdviceFacts *f, double length)
{
  double from, to;
  int class = 0;

  for (AdviceLengthClass(class, &from, &to); length > to; AdviceLengthClass(class, &from, &to)) class ++;
  f->sum.lengths[class]++;
  f->sum.nonzeros += length;
  f->sum.empty_rows += length == 0;
  f->most.minus_shortest = PetscMax(f->most.minus_shortest, -length);
  f->most.longest        = PetscMax(f->most.longest, length);
}

/* Updates bandwidth, picture, and blocks of each size. in_row[size] holds, for each block column, the last block row
   (counted from 1) with a nonzero in it. */
static void ReadRow(AdviceFacts *f, PetscInt row, PetscInt length, const PetscInt *col, PetscInt *const in_row[])
{
  double *cells = f->sum.cells + (int)((double)row * f->cell_rows / f->rows) * f->cell_cols;

  CountLength(f, (double)length);
  for (PetscInt k = 0; k < length; k++) {
    f->most.lower = PetscMax(f->most.lower, (double)(row - col[k]));
    f->most.upper = PetscMax(f->most.upper, (double)(col[k] - row));
    cells[(int)((double)col[k] * f->cell_cols / f->cols)]++;
    for (int size = 2; size <= ADVICE_BLOCK_MAX; size++) {
      PetscInt *last = &in_row[size][col[k] / size];

      f->sum.blocks[size] += *last != row / size + 1;
      *last = row / size + 1;
    }
  }
}

static PetscErrorCode ReadRows(Mat A, AdviceFacts *f)
{
  PetscInt *in_row[ADVICE_BLOCK_MAX + 1], first, end, first_column, end_column;

  PetscFunctionBegin;
  PetscCall(MatGetOwnershipRange(A, &first, &end));
  PetscCall(MatGetOwnershipRangeColumn(A, &first_column, &end_column));
  for (int size = 2; size <= ADVICE_BLOCK_MAX; size++) {
    PetscCall(PetscCalloc1((PetscInt)f->cols / size + 1, &in_row[size]));
    f->sum.unfit[size] = first % size || end % size || first_column % size || end_column % size;
  }
  for (PetscInt i = first; i < end; i++) {
    PetscInt        length;
    const PetscInt *col;

    PetscCall(MatGetRow(A, i, &length, &col, NULL));
    ReadRow(f, i, length, col, in_row);
    PetscCall(MatRestoreRow(A, i, &length, &col, NULL));
  }
  for (int size = 2; size <= ADVICE_BLOCK_MAX; size++) PetscCall(PetscFree(in_row[size]));
  PetscFunctionReturn(0);
}

/* Finds the largest size whose blocks are nearly full */
static void FindBlockSize(AdviceFacts *f)
{
  f->block      = 1;
  f->block_fill = 1;
  for (int size = 2; size <= ADVICE_BLOCK_MAX; size++) {
    const double entries = f->sum.blocks[size] * size * size;

    if (f->sum.unfit[size] == 0 && entries > 0 && f->sum.nonzeros >= FILL_OF_BLOCKS * entries) {
      f->block      = size;
      f->block_fill = f->sum.nonzeros / entries;
    }
  }
}

PetscErrorCode AdviceFactsFind(Mat A, AdviceFacts *f)
{
  MPI_Comm comm = PetscObjectComm((PetscObject)A);
  PetscInt rows, cols;

  PetscFunctionBegin;
  PetscCall(MatGetSize(A, &rows, &cols));
  f->rows                = (double)rows;
  f->cols                = (double)cols;
  f->cell_rows           = (int)PetscMin(rows, ADVICE_CELLS);
  f->cell_cols           = (int)PetscMin(cols, ADVICE_CELLS);
  f->most.minus_shortest = rows > 0 ? -f->cols : 0;
  PetscCall(ReadRows(A, f));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &f->sum, sizeof f->sum / sizeof(double), MPI_DOUBLE, MPI_SUM, comm));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &f->most, sizeof f->most / sizeof(double), MPI_DOUBLE, MPI_MAX, comm));
  FindBlockSize(f);
  PetscFunctionReturn(0);
}
