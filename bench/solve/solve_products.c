/* solve_products.c - a cell without a solver: products, the diagonal, scaling and new values of a matrix. */
#include "solve_bench.h"

static PetscErrorCode OpMakeVectors(void *run_)
{
  Run      *run = run_;
  PetscReal norm;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(run->A, &run->x, &run->y));
  PetscCall(CopyThroughHost(run->p->b, run->x));
  PetscCall(VecNorm(run->x, NORM_2, &norm)); /* copies x to the memory in which the type computes */
  PetscFunctionReturn(0);
}

static PetscErrorCode OpMult(void *run_)
{
  Run *run = run_;

  PetscFunctionBeginUser;
  PetscCall(MatMult(run->A, run->x, run->y));
  PetscFunctionReturn(0);
}

static PetscErrorCode OpMultTranspose(void *run_)
{
  Run *run = run_;

  PetscFunctionBeginUser;
  PetscCall(MatMultTranspose(run->A, run->x, run->y));
  PetscFunctionReturn(0);
}

static PetscErrorCode OpDiagonal(void *run_)
{
  Run *run = run_;

  PetscFunctionBeginUser;
  PetscCall(MatGetDiagonal(run->A, run->y));
  PetscFunctionReturn(0);
}

static PetscErrorCode OpScale(void *run_)
{
  Run *run = run_;

  PetscFunctionBeginUser;
  PetscCall(MatScale(run->A, run->factor));
  PetscFunctionReturn(0);
}

typedef struct {
  Run   *run;
  Vec    expected; /* on the host */
  double deviation;
} Comparison;

/* The relative deviation of y from the result on the host */
static PetscErrorCode OpCompare(void *comparison_)
{
  Comparison *c = comparison_;
  Vec         y;
  PetscReal   difference, norm;

  PetscFunctionBeginUser;
  PetscCall(VecDuplicate(c->expected, &y));
  PetscCall(CopyThroughHost(c->run->y, y));
  PetscCall(VecAXPY(y, -1, c->expected));
  PetscCall(VecNorm(y, NORM_2, &difference));
  PetscCall(VecNorm(c->expected, NORM_2, &norm));
  c->deviation = (double)(norm > 0 ? difference / norm : difference);
  PetscCall(VecDestroy(&y));
  PetscFunctionReturn(0);
}

/* Times an operation with its result in y, and compares the result with the host's */
static PetscErrorCode TryAndCompare(Run *run, const char name[], PetscInt times, PetscInt batch, Operation operation,
                                    Vec expected)
{
  Phase     *phase;
  Comparison comparison = {run, expected, -1};

  PetscFunctionBeginUser;
  PetscCall(CellTry(run->cell, name, times, batch, operation, run, &phase));
  if (!phase || phase->error[0]) PetscFunctionReturn(0);
  PetscCall(Guard(OpCompare, &comparison, phase->error));
  phase->deviation = comparison.deviation;
  PetscFunctionReturn(0);
}

/* Times MatScale() and the next product, which may have to update a copy of the values. expected, the product before,
   is scaled, too. */
static PetscErrorCode TryScaling(Run *run, const char scale[], const char product[], double factor, Vec expected)
{
  Phase *phase;

  PetscFunctionBeginUser;
  run->factor = (PetscScalar)factor;
  PetscCall(CellTry(run->cell, scale, 1, 1, OpScale, run, &phase));
  if (!phase || phase->error[0]) PetscFunctionReturn(0);
  PetscCall(VecScale(expected, (PetscScalar)factor));
  PetscCall(TryAndCompare(run, product, 1, 1, OpMult, expected));
  PetscFunctionReturn(0);
}

static PetscErrorCode TryNewValues(Run *run, Vec expected)
{
  Phase *phase;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(run->p->row_ptr[run->p->rows], &run->values));
  for (run->step = 1; run->step <= 2; run->step++) {
    PetscCall(ProblemValues(run->p, run->step, run->values));
    PetscCall(CellTry(run->cell, run->step == 1 ? "new_values" : "new_values_again", 1, 1, OpWriteValues, run, &phase));
    if (!phase || phase->error[0]) break;
    PetscCall(ProblemMult(run->p, run->step, run->p->b, expected));
    PetscCall(TryAndCompare(run, run->step == 1 ? "product_after_new_values" : "product_after_new_values_again", 1, 1,
                            OpMult, expected));
  }
  PetscFunctionReturn(0);
}

PetscErrorCode MeasureProducts(const Problem *p, const Settings *s, Cell *cell)
{
  Run    run = {.p = p, .settings = s, .cell = cell};
  Phase *phase;
  Vec    expected;

  PetscFunctionBeginUser;
  PetscCall(VecDuplicate(p->b, &expected));
  PetscCall(CellTime(cell, "assembly", 1, 1, OpAssemble, &run, &phase));
  if (!cell->error[0]) PetscCall(Guard(OpMakeVectors, &run, cell->error));
  PetscCall(ProblemMult(p, 0, p->b, expected));
  PetscCall(TryAndCompare(&run, "first_product", 1, 1, OpMult, expected));
  PetscCall(TryAndCompare(&run, "product", s->repeat, BATCH, OpMult, expected));
  PetscCall(TryAndCompare(&run, "first_diagonal", 1, 1, OpDiagonal, p->diagonal));
  PetscCall(TryAndCompare(&run, "diagonal", s->repeat, 1, OpDiagonal, p->diagonal));
  PetscCall(TryScaling(&run, "scale", "product_after_scale", 2, expected));
  PetscCall(TryScaling(&run, "scale_again", "product_after_scale_again", 0.5, expected));
  PetscCall(TryNewValues(&run, expected));
  PetscCall(MatMultTranspose(p->host, p->b, expected));
  /* the last part, with the values of A_0 again, because some types make a second copy of the matrix for it */
  if (run.A && !cell->error[0]) {
    PetscCall(ProblemValues(p, 0, run.values));
    PetscCall(CellTry(cell, "new_values_before_transposed", 1, 1, OpWriteValues, &run, &phase));
    PetscCall(TryAndCompare(&run, "first_transposed", 1, 1, OpMultTranspose, expected));
    PetscCall(TryAndCompare(&run, "transposed", s->repeat, BATCH, OpMultTranspose, expected));
  }
  PetscCall(VecDestroy(&expected));
  PetscCall(RunDestroy(&run));
  PetscFunctionReturn(0);
}
