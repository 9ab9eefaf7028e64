/*
  op_solve.c - factors, relaxation and solvers, on a diagonally dominant copy or on the matrix as it is
*/
#include "ops.h"

#include <petscksp.h>

/* A sweep, and the inverted diagonal blocks, which PETSc caches in the matrix until its state rises */
static PetscErrorCode Relax(Conf *c)
{
  const MatSORType   types[] = {SOR_LOCAL_FORWARD_SWEEP, SOR_LOCAL_BACKWARD_SWEEP, SOR_LOCAL_SYMMETRIC_SWEEP,
                                (MatSORType)(SOR_LOCAL_SYMMETRIC_SWEEP | SOR_ZERO_INITIAL_GUESS),
                                (MatSORType)(SOR_LOCAL_FORWARD_SWEEP | SOR_ZERO_INITIAL_GUESS)};
  const MatSORType   type    = types[OpBelow(c, 5)];
  const PetscReal    omega   = OpChance(c, 50) ? 1 : 1.25;
  const PetscScalar *values;
  PetscInt           m, bs;
  Mat                B;
  Vec                x, b;

  PetscFunctionBeginUser;
  PetscCall(OpDominant(c, PETSC_FALSE, &B));
  PetscCall(ConfCreateVecs(B, OpNext(c), &x, &b));
  PetscCall(MatSOR(B, b, omega, type, 0, 1 + OpBelow(c, 2), 1, x));
  PetscCall(ConfSeeVec(c, "relaxed", x));
  PetscCall(MatInvertBlockDiagonal(B, &values));
  PetscCall(MatGetLocalSize(B, &m, NULL));
  PetscCall(MatGetBlockSize(B, &bs));
  for (PetscInt k = 0; k < m * bs; k++) PetscCall(ConfSeeReal(c, "inverse", PetscRealPart(values[k])));
  PetscCall(TestDestroyVecs(&x, &b));
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A factor, and one of new values with the same symbolic factor, or a factor in place of the matrix */
static PetscErrorCode Factor(Conf *c)
{
  const MatFactorType   how         = (MatFactorType)c->operation->how;
  const PetscBool       symmetric   = how == MAT_FACTOR_ICC || how == MAT_FACTOR_CHOLESKY ? PETSC_TRUE : PETSC_FALSE;
  const MatOrderingType orderings[] = {MATORDERINGNATURAL, MATORDERINGRCM, MATORDERINGND};
  MatFactorInfo         info;
  Mat                   B, F = NULL;
  Vec                   x, b;
  IS                    rows, cols;

  PetscFunctionBeginUser;
  PetscCall(OpDominant(c, symmetric, &B));
  PetscCall(MatGetOrdering(B, orderings[OpBelow(c, 3)], &rows, &cols));
  PetscCall(MatFactorInfoInitialize(&info));
  info.fill   = 5;
  info.levels = (PetscReal)OpBelow(c, 3);
  if (how != MAT_FACTOR_NONE) PetscCall(MatGetFactor(B, MATSOLVERPETSC, how, &F));
  if (how == MAT_FACTOR_LU) PetscCall(MatLUFactorSymbolic(F, B, rows, cols, &info));
  if (how == MAT_FACTOR_ILU) PetscCall(MatILUFactorSymbolic(F, B, rows, cols, &info));
  if (how == MAT_FACTOR_CHOLESKY) PetscCall(MatCholeskyFactorSymbolic(F, B, rows, &info));
  if (how == MAT_FACTOR_ICC) PetscCall(MatICCFactorSymbolic(F, B, rows, &info));
  PetscCall(ConfCreateVecs(B, OpNext(c), &x, &b));
  for (int k = 0; k < (F && !c->alone ? 2 : 1); k++) {
    if (k) PetscCall(MatScale(B, 2));
    if (!F) PetscCall(MatLUFactor(B, rows, cols, &info));
    else if (symmetric) PetscCall(MatCholeskyFactorNumeric(F, B, &info));
    else PetscCall(MatLUFactorNumeric(F, B, &info));
    PetscCall(MatSolve(F ? F : B, b, x));
    PetscCall(ConfSeeVec(c, "solved", x));
    PetscCall(MatSolveTranspose(F ? F : B, b, x));
    PetscCall(ConfSeeVec(c, "transpose solved", x));
  }
  PetscCall(TestDestroyVecs(&x, &b));
  PetscCall(ISDestroy(&rows));
  PetscCall(ISDestroy(&cols));
  PetscCall(TestDestroyMats(&F, &B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Settings of a preconditioner, each beginning with its name. Marked ones work on one process only. */
static const struct {
  const char *type, *option, *value;
  PetscBool   sequential, symmetric;
} preconditioners[] = {{PCNONE, NULL, NULL, PETSC_FALSE, PETSC_FALSE},
                       {PCJACOBI, NULL, NULL, PETSC_FALSE, PETSC_FALSE},
                       {PCJACOBI, "-fuzz_pc_jacobi_type", "rowmax", PETSC_FALSE, PETSC_FALSE},
                       {PCPBJACOBI, NULL, NULL, PETSC_FALSE, PETSC_FALSE},
                       {PCSOR, NULL, NULL, PETSC_FALSE, PETSC_FALSE},
                       {PCBJACOBI, NULL, NULL, PETSC_FALSE, PETSC_FALSE},
                       {PCASM, "-fuzz_pc_asm_overlap", "2", PETSC_FALSE, PETSC_FALSE},
                       {PCGASM, NULL, NULL, PETSC_FALSE, PETSC_FALSE},
                       {PCREDUNDANT, NULL, NULL, PETSC_FALSE, PETSC_FALSE},
                       {PCGAMG, "-fuzz_mg_levels_ksp_type", "richardson", PETSC_FALSE, PETSC_TRUE},
                       {PCGAMG, "-fuzz_mg_levels_ksp_type", "cg", PETSC_FALSE, PETSC_TRUE},
                       {PCEISENSTAT, NULL, NULL, PETSC_FALSE, PETSC_FALSE},
                       {PCKACZMARZ, NULL, NULL, PETSC_FALSE, PETSC_FALSE},
                       {PCILU, NULL, NULL, PETSC_TRUE, PETSC_FALSE},
                       {PCILU, "-fuzz_pc_factor_shift_type", "nonzero", PETSC_TRUE, PETSC_FALSE},
                       {PCILU, "-fuzz_pc_factor_shift_type", "inblocks", PETSC_TRUE, PETSC_FALSE},
                       {PCILU, "-fuzz_pc_factor_levels", "2", PETSC_TRUE, PETSC_FALSE},
                       {PCICC, NULL, NULL, PETSC_TRUE, PETSC_TRUE},
                       {PCICC, "-fuzz_pc_factor_shift_type", "positive_definite", PETSC_TRUE, PETSC_TRUE},
                       {PCLU, NULL, NULL, PETSC_TRUE, PETSC_FALSE},
                       {PCLU, "-fuzz_pc_factor_shift_type", "nonzero", PETSC_TRUE, PETSC_FALSE},
                       {PCCHOLESKY, NULL, NULL, PETSC_TRUE, PETSC_TRUE},
                       {PCQR, NULL, NULL, PETSC_TRUE, PETSC_FALSE}};

/* By default, a type over aijcusparse gets factors of cuSPARSE, which support no shift, and PCILU then changes its
   default shift from nonzero to inblocks (docs/petsc-names.md). So both twins ask for PETSc's factors and for
   inblocks. */
static PetscErrorCode SameFactorsOnDevice(PC pc)
{
  MatFactorShiftType shift;
  PetscBool          ilu, factors;

  PetscFunctionBeginUser;
  PetscCall(PetscObjectTypeCompare((PetscObject)pc, PCILU, &ilu));
  PetscCall(PetscObjectTypeCompareAny((PetscObject)pc, &factors, PCILU, PCLU, PCICC, PCCHOLESKY, ""));
  if (!factors || !PetscDefined(HAVE_CUDA) || spmv_device_count(NULL) == 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCFactorSetMatSolverType(pc, MATSOLVERPETSC));
  PetscCall(PCFactorGetShiftType(pc, &shift));
  if (ilu && shift == MAT_SHIFT_NONZERO) PetscCall(PCFactorSetShiftType(pc, MAT_SHIFT_INBLOCKS));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Few iterations, so that rounding differences do not grow. Rounding also decides which tolerance is met first, and the
   iterate that a method leaves when it breaks down: CG as a smoother is not linear, and SYMMLQ then divides the
   cancellation error of a vector by its norm. Eigenvalues that Chebyshev estimates to the last digit are not
   compared. */
static PetscErrorCode SolveWith(Conf *c, Mat B, const char *ksp_type, const char *pc_type)
{
  KSP                ksp;
  PC                 pc;
  Vec                x, b;
  KSPConvergedReason reason;
  PetscInt           iterations;

  PetscFunctionBeginUser;
  PetscCall(KSPCreate(c->comm, &ksp));
  PetscCall(KSPSetOptionsPrefix(ksp, "fuzz_"));
  PetscCall(KSPSetOperators(ksp, B, B));
  PetscCall(KSPSetType(ksp, ksp_type));
  PetscCall(KSPSetTolerances(ksp, 1e-5, 1e-50, 1e5, 6));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, pc_type));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(SameFactorsOnDevice(pc));
  PetscCall(ConfCreateVecs(B, OpNext(c), &x, &b));
  for (int k = 0; k < 2; k++) {
    PetscCall(KSPSolve(ksp, b, x));
    PetscCall(KSPGetConvergedReason(ksp, &reason));
    PetscCall(KSPGetIterationNumber(ksp, &iterations));
    PetscCall(ConfSeeReal(c, "reason", PetscMin((PetscReal)reason, 1)));
    PetscCall(ConfSeeReal(c, "iterations", (PetscReal)iterations));
    if (reason > 0 || reason == KSP_DIVERGED_ITS) PetscCall(ConfSeeVec(c, "solution", x));
    PetscCall(MatShift(B, 1));
  }
  PetscCall(TestDestroyVecs(&x, &b));
  PetscCall(KSPDestroy(&ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Solve(Conf *c)
{
  const KSPType   general[]   = {KSPGMRES, KSPBICG, KSPBCGS, KSPTFQMR, KSPFGMRES, KSPRICHARDSON, KSPCGNE, KSPLSQR};
  const KSPType   symmetric[] = {KSPCG, KSPMINRES, KSPCR, KSPPIPECG, KSPSYMMLQ};
  const PetscInt  general_way = OpBelow(c, 8), symmetric_way = OpBelow(c, 5);
  const PetscBool may_be_symmetric = OpChance(c, 40);
  PetscInt        way;
  PetscBool       is_symmetric;
  Mat             B;

  PetscFunctionBeginUser;
  do way = OpBelow(c, PETSC_STATIC_ARRAY_LENGTH(preconditioners));
  while (preconditioners[way].sequential && c->size > 1);
  is_symmetric = may_be_symmetric || preconditioners[way].symmetric ? PETSC_TRUE : PETSC_FALSE;
  PetscCall(OpDominant(c, is_symmetric, &B));
  PetscCall(OpStepOption(c, preconditioners[way].option, preconditioners[way].value));
  PetscCall(SolveWith(c, B, is_symmetric ? symmetric[symmetric_way] : general[general_way], preconditioners[way].type));
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Zeros on the diagonal make ILU shift or fail */
static PetscErrorCode SolveShifted(Conf *c)
{
  const char *const shifts[] = {"none", "nonzero", "positive_definite", "inblocks"};
  const PCType      types[]  = {PCILU, PCLU};
  const PetscInt    shift = OpBelow(c, 4), type = OpBelow(c, 2);
  Mat               B;
  Vec               d;
  PetscInt          low, high;

  PetscFunctionBeginUser;
  PetscCall(OpDominant(c, PETSC_FALSE, &B));
  PetscCall(MatCreateVecs(B, NULL, &d));
  PetscCall(MatGetDiagonal(B, d));
  PetscCall(VecGetOwnershipRange(d, &low, &high));
  for (PetscInt i = low; i < high; i += 3) PetscCall(VecSetValue(d, i, 0, INSERT_VALUES));
  PetscCall(TestAssembleVec(d));
  PetscCall(MatDiagonalSet(B, d, INSERT_VALUES));
  PetscCall(VecDestroy(&d));
  PetscCall(OpStepOption(c, "-fuzz_pc_factor_shift_type", shifts[shift]));
  PetscCall(SolveWith(c, B, KSPPREONLY, types[type]));
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

enum { SQUARE = OP_SQUARE | OP_NONEMPTY, ON_ONE = SQUARE | OP_SEQUENTIAL };

const ConfOperation op_solve[] = {{"sor", Relax, OP_READS | SQUARE, .ways = 5},
                                  {"ilu", Factor, OP_READS | ON_ONE, .how = MAT_FACTOR_ILU},
                                  {"lu", Factor, ON_ONE | OP_SMALL, .how = MAT_FACTOR_LU},
                                  {"lu_in_place", Factor, ON_ONE | OP_SMALL, .how = MAT_FACTOR_NONE},
                                  {"cholesky", Factor, ON_ONE | OP_SMALL, .how = MAT_FACTOR_CHOLESKY},
                                  {"icc", Factor, ON_ONE, .how = MAT_FACTOR_ICC},
                                  {"solve", Solve, SQUARE | OP_SMALL | OP_RANDOM_ONLY, .ways = 1},
                                  {"solve_shifted", SolveShifted, ON_ONE | OP_SMALL | OP_RANDOM_ONLY, .ways = 1},
                                  {.name = NULL}};
