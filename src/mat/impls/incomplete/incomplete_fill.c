/*
  incomplete_fill.c - the pattern of a factor with fill, or of one in another order, from the symbolic factor of PETSc's
  package. MatGetRowIJ() gives its arrays, whose layout is the one that PETSc documents for factors of MATSEQAIJ and
  MATSEQSBAIJ; a layout that differs is noticed.
*/
#include "incomplete.h"

/* Rows of U, whose columns ascend and end with the diagonal. Of MATSEQAIJ they follow L, the last row first. */
typedef struct {
  PetscInt        n, total; /* rows, entries of L and U */
  PetscBool       ilu;
  const PetscInt *i, *j; /* of L and then U; of U */
  PetscInt       *upper; /* [n]: where the row of U begins */
} Layout;

/* Counts the entries of each row, also those of U^T in place of L, and finds the rows of U. *good: the layout is right */
static PetscErrorCode RowsCount(const Layout *l, int32_t counts[], PetscBool *good)
{
  PetscInt at = l->ilu ? l->i[l->n] : 0;

  PetscFunctionBegin;
  for (PetscInt k = 0; k < l->n; k++) {
    const PetscInt row = l->ilu ? l->n - 1 - k : k;

    l->upper[row] = at;
    for (; at < l->total && l->j[at] > row && l->j[at] < l->n; at++) {
      counts[row]++;
      if (!l->ilu) counts[l->j[at]]++;
    }
    *good = (PetscBool)(at < l->total && l->j[at] == row);
    if (!*good) PetscFunctionReturn(PETSC_SUCCESS);
    at++;
    counts[row] += 1 + (l->ilu ? (int32_t)(l->i[row + 1] - l->i[row]) : 0);
  }
  *good = (PetscBool)(at == l->total);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* used: [n], zeros. Rows ascend, so that the columns of U^T do. */
static void RowsPut(const Layout *l, const int32_t row_ptr[], int32_t col[], int32_t used[])
{
  for (PetscInt row = 0; row < l->n; row++) {
    int32_t  at = row_ptr[row] + used[row];
    PetscInt k;

    for (k = l->i[row]; l->ilu && k < l->i[row + 1]; k++) col[at++] = (int32_t)l->j[k];
    col[at++] = (int32_t)row;
    for (k = l->upper[row]; l->j[k] != row; k++) {
      col[at++] = (int32_t)l->j[k];
      if (!l->ilu) col[row_ptr[l->j[k]] + used[l->j[k]]++] = (int32_t)row;
    }
  }
}

/* Of fill->row_ptr and col; *good as above */
static PetscErrorCode PatternCopy(const Layout *l, SpmvFactorFill *fill, PetscBool *good)
{
  int32_t *row_ptr, *col, *used;

  PetscFunctionBegin;
  PetscCall(PetscCalloc1(l->n + 1, &row_ptr));
  fill->row_ptr = row_ptr;
  PetscCall(RowsCount(l, row_ptr + 1, good));
  if (!*good) PetscFunctionReturn(PETSC_SUCCESS);
  for (PetscInt row = 0; row < l->n; row++) row_ptr[row + 1] += row_ptr[row];
  PetscCall(PetscMalloc1(row_ptr[l->n], &col));
  PetscCall(PetscCalloc1(l->n, &used));
  RowsPut(l, row_ptr, col, used);
  PetscCall(PetscFree(used));
  fill->col = col;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode OrderCopy(IS order, PetscInt n, SpmvFactorFill *fill)
{
  const PetscInt *from;
  int32_t        *to;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(n, &to));
  PetscCall(ISGetIndices(order, &from));
  for (PetscInt k = 0; k < n; k++) to[k] = (int32_t)from[k];
  PetscCall(ISRestoreIndices(order, &from));
  fill->order = to;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatIncompleteFillGet(const Mat_Incomplete *s, IS order, SpmvFactorFill *fill, char why[SPMV_MESSAGE_MAX])
{
  Layout    l = {.ilu = s->options.kind == SPMV_FACTOR_ILU ? PETSC_TRUE : PETSC_FALSE};
  PetscBool done, good = PETSC_FALSE;
  MatInfo   info;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(fill, sizeof *fill));
  PetscCall(MatGetInfo(s->host, MAT_LOCAL, &info));
  l.total = (PetscInt)info.nz_used;
  if (info.nz_used > INT32_MAX / 2) {
    PetscCall(PetscSNPrintf(why, SPMV_MESSAGE_MAX, "the factor has %.0f nonzeros, too many for the GPU", info.nz_used));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MatGetRowIJ(s->host, 0, PETSC_FALSE, PETSC_FALSE, &l.n, &l.i, &l.j, &done));
  if (done) {
    PetscCall(PetscMalloc1(l.n, &l.upper));
    PetscCall(PatternCopy(&l, fill, &good));
    PetscCall(PetscFree(l.upper));
    PetscCall(MatRestoreRowIJ(s->host, 0, PETSC_FALSE, PETSC_FALSE, NULL, &l.i, &l.j, &done));
  }
  if (!good) {
    PetscCall(PetscStrncpy(why, "this PETSc stores factors in another way", SPMV_MESSAGE_MAX));
    PetscCall(MatIncompleteFillRestore(fill));
  } else if (order) PetscCall(OrderCopy(order, l.n, fill));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatIncompleteFillRestore(SpmvFactorFill *fill)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(fill->row_ptr));
  PetscCall(PetscFree(fill->col));
  PetscCall(PetscFree(fill->order));
  PetscFunctionReturn(PETSC_SUCCESS);
}
