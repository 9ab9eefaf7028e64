/* interrupted_actions.c - the operations that mat_interrupted.c interrupts. */
#include "mat_interrupted.h"

static PetscErrorCode Mult(InterruptedCase *c) { return MatMult(c->A, c->x, c->y); }
static PetscErrorCode MultTranspose(InterruptedCase *c) { return MatMultTranspose(c->A, c->x, c->y); }
static PetscErrorCode Diagonal(InterruptedCase *c) { return MatGetDiagonal(c->A, c->y); }

/* Makes a plan for both products, and then changes values, so that the plan is stale */
static PetscErrorCode NewValues(InterruptedCase *c)
{
  PetscFunctionBeginUser;
  PetscCall(Mult(c));
  PetscCall(MultTranspose(c));
  PetscCall(MatSetValue(c->A, 1, 1, 44, INSERT_VALUES));
  PetscCall(TestAssemble(c->A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- changes of values, which also update a plan on a GPU ---- */

static PetscErrorCode Scale(InterruptedCase *c) { return MatScale(c->A, 3); }
static PetscErrorCode DiagonalScale(InterruptedCase *c) { return MatDiagonalScale(c->A, c->x, c->x); }
static PetscErrorCode Shift(InterruptedCase *c) { return MatShift(c->A, 0.5); }
static PetscErrorCode Copy(InterruptedCase *c) { return MatCopy(c->other, c->A, SAME_NONZERO_PATTERN); }

/* ---- products of matrices ---- */

/* Their symbolic phase makes a matrix of our type within PETSc's own code, which leaks memory if that fails: so only
   allocations on the GPU fail here. An interrupted product is repeated from the start, because PETSc's half-made
   product cannot be used. */
static PetscErrorCode MatrixProduct(InterruptedCase *c, MatProductType type)
{
  PetscFunctionBeginUser;
  PetscCall(MatDestroy(&c->result));
  PetscCall(MatProductCreate(c->A, c->P, NULL, &c->result));
  PetscCall(MatProductSetType(c->result, type));
  PetscCall(MatProductSetFromOptions(c->result));
  PetscCall(MatProductSymbolic(c->result));
  PetscCall(MatProductNumeric(c->result));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ProductAB(InterruptedCase *c) { return MatrixProduct(c, MATPRODUCT_AB); }
static PetscErrorCode ProductAtB(InterruptedCase *c) { return MatrixProduct(c, MATPRODUCT_AtB); }
static PetscErrorCode ProductPtAP(InterruptedCase *c) { return MatrixProduct(c, MATPRODUCT_PtAP); }

static PetscErrorCode ProductOfOldValues(InterruptedCase *c)
{
  PetscFunctionBeginUser;
  PetscCall(ProductPtAP(c));
  PetscCall(NewValues(c));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ProductNumeric(InterruptedCase *c) { return MatProductNumeric(c->result); }

/* All steps from the host CSR to the matrix of the graph */
static PetscErrorCode Graph(InterruptedCase *c)
{
  PetscFunctionBeginUser;
  PetscCall(MatDestroy(&c->result));
#if PETSC_VERSION_LT(3, 21, 0)
  PetscCall(MatCreateGraph(c->A, PETSC_TRUE, PETSC_TRUE, 0.01, &c->result));
#else
  PetscCall(MatCreateGraph(c->A, PETSC_TRUE, PETSC_TRUE, 0.01, 0, NULL, &c->result));
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

const InterruptedAction interrupted_actions[] = {
    {"MatMult()", NULL, Mult, PETSC_FALSE, FAULT_HOST},
    {"MatMult() with new values", NewValues, Mult, PETSC_FALSE, FAULT_HOST},
    {"MatMultTranspose()", NULL, MultTranspose, PETSC_FALSE, FAULT_HOST},
    {"MatMultTranspose() after MatMult()", Mult, MultTranspose, PETSC_FALSE, FAULT_HOST},
    {"MatMultTranspose() with new values", NewValues, MultTranspose, PETSC_FALSE, FAULT_HOST},
    {"MatGetDiagonal()", NULL, Diagonal, PETSC_FALSE, FAULT_HOST},
    {"MatScale()", Mult, Scale, PETSC_TRUE, FAULT_HOST},
    {"MatDiagonalScale()", Mult, DiagonalScale, PETSC_TRUE, FAULT_HOST},
    {"MatShift()", Mult, Shift, PETSC_TRUE, FAULT_HOST},
    {"MatCopy()", Mult, Copy, PETSC_TRUE, FAULT_HOST},
    {"MatMatMult()", NULL, ProductAB, PETSC_FALSE, FAULT_HOST_BESIDE_GPU},
    {"MatTransposeMatMult()", NULL, ProductAtB, PETSC_FALSE, FAULT_HOST_BESIDE_GPU},
    {"MatPtAP()", NULL, ProductPtAP, PETSC_FALSE, FAULT_HOST_BESIDE_GPU},
    {"MatProductNumeric() with new values", ProductOfOldValues, ProductNumeric, PETSC_FALSE, FAULT_HOST},
    {"MatCreateGraph()", NULL, Graph, PETSC_FALSE, FAULT_GPU},
    {NULL, NULL, NULL, PETSC_FALSE, FAULT_GPU},
};
