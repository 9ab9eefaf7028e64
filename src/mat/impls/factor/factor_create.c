/* factor_create.c - the package cudss in PETSc's list, and a factor as an object: creation, views, destruction. */
#include "factor.h"
#include "sys/compat.h"

static PetscErrorCode MatDestroy_CuDSS(Mat);

static const char *const kinds[] = {"LU", "LDL^T", "Cholesky"}; /* of SpmvDirectKind */

/* Factors are known by their operation: composed functions of other packages have the same name */
PetscErrorCode MatCuDSSStateGet(Mat F, Mat_CuDSS **s)
{
  PetscFunctionBegin;
  *s = F->ops->destroy == MatDestroy_CuDSS ? (Mat_CuDSS *)F->data : NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatCuDSSStateRequire(Mat F, Mat_CuDSS **s)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(F, MAT_CLASSID, 1);
  PetscCall(MatCuDSSStateGet(F, s));
  PetscCheck(*s, PetscObjectComm((PetscObject)F), PETSC_ERR_ARG_WRONG,
             "The matrix is not a factor of the package cudss");
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatDestroy_CuDSS(Mat F)
{
  Mat_CuDSS *s = (Mat_CuDSS *)F->data;

  PetscFunctionBegin;
  spmv_direct_destroy(&s->direct, &s->exec);
  AIJFmtVectorFree(&s->exec, &s->b);
  AIJFmtVectorFree(&s->exec, &s->x);
  PetscCall(MatDestroy(&s->host));
  PetscCall(MatDestroy(&s->named));
  PetscCall(MatDestroy(&s->matrix));
  PetscCall(MatCuDSSForgetWhole(s));
  PetscCall(ISDestroy(&s->row));
  PetscCall(ISDestroy(&s->col));
  PetscCall(PetscObjectComposeFunction((PetscObject)F, "MatFactorGetSolverType_C", NULL));
  PetscCall(PetscFree(F->data));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatView_CuDSS(Mat F, PetscViewer viewer)
{
  Mat_CuDSS     *s = (Mat_CuDSS *)F->data;
  SpmvDirectInfo info;
  PetscBool      ascii;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &ascii));
  if (!ascii) PetscFunctionReturn(PETSC_SUCCESS);
  if (s->host) {
    PetscCall(PetscViewerASCIIPrintf(viewer, "factored on the host: %s\n", s->why));
    PetscCall(MatView(s->host, viewer));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (!s->direct) PetscFunctionReturn(PETSC_SUCCESS);
  spmv_direct_info(s->direct, &info);
  PetscCall(PetscViewerASCIIPrintf(viewer, "factored on the GPU by cuDSS: %s%s%s%s\n", kinds[s->options.kind],
                                   s->options.matching ? " with matching" : "",
                                   s->options.deterministic ? ", deterministic" : "",
                                   info.hybrid ? ", factors in the host's memory in part" : ""));
  PetscCall(PetscViewerASCIIPrintf(viewer,
                                   "  analyses %" PetscInt_FMT ", factorizations %" PetscInt_FMT
                                   ", solves %" PetscInt_FMT "; replaced pivots %lld; steps of refinement %d\n",
                                   s->symbolic, s->numeric, s->solves + (PetscInt)info.applied,
                                   (long long)info.replaced, s->options.refine));
  PetscCall(PetscViewerASCIIPrintf(viewer, "  nonzeros of the factor %lld, memory of the GPU %.1f MiB\n",
                                   (long long)info.factor_nonzeros, (double)info.bytes / 1048576));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatGetInfo_CuDSS(Mat F, MatInfoType type, MatInfo *to)
{
  Mat_CuDSS     *s = (Mat_CuDSS *)F->data;
  SpmvDirectInfo info;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(to, sizeof *to));
  to->block_size = 1;
  if (s->host) PetscCall(MatGetInfo(s->host, type, to));
  if (!s->direct) PetscFunctionReturn(PETSC_SUCCESS);
  spmv_direct_info(s->direct, &info);
  to->nz_allocated = to->nz_used = (PetscLogDouble)info.factor_nonzeros;
  to->memory                     = (PetscLogDouble)info.bytes;
  to->fill_ratio_given           = s->info.fill;
  to->fill_ratio_needed = info.nonzeros > 0 ? (PetscLogDouble)info.factor_nonzeros / (PetscLogDouble)info.nonzeros : 1;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatGetInertia_CuDSS(Mat F, PetscInt *negative, PetscInt *zero, PetscInt *positive)
{
  Mat_CuDSS     *s    = (Mat_CuDSS *)F->data;
  SpmvDirectInfo info = {.rows = 0};

  PetscFunctionBegin;
  if (s->host) {
    PetscCall(MatGetInertia(s->host, negative, zero, positive));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCheck(!PetscDefined(USE_COMPLEX), PetscObjectComm((PetscObject)F), PETSC_ERR_SUP,
             "cuDSS gives no inertia of a complex matrix: use the package mumps");
  if (s->direct) spmv_direct_info(s->direct, &info);
  if (s->direct && s->options.kind == SPMV_DIRECT_SPD) info = (SpmvDirectInfo){.positive = info.rows};
  if (s->several) PetscCallMPI(MPI_Bcast(&info, sizeof info, MPI_BYTE, 0, PetscObjectComm((PetscObject)F)));
  PetscCheck(
      !info.replaced, PETSC_COMM_SELF, PETSC_ERR_SUP,
      "cuDSS has replaced %lld small pivots, so that the inertia is not that of the matrix: use the package petsc",
      (long long)info.replaced);
  if (negative) *negative = (PetscInt)info.negative;
  if (zero) *zero = 0;
  if (positive) *positive = (PetscInt)info.positive;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  MatCuDSSGetInfo - Gets where a factor of the package cudss is, and what has been done with it

  Not Collective

  Input Parameter:
. F - a factor, from `PCFactorGetMatrix()` or `MatGetFactor()`

  Output Parameter:
. info - the values; `reason` is valid until the next operation on `F`

  Level: intermediate

.seealso: `PetscPackSetCuDSS()`, `PCFactorGetMatrix()`, `MatGetFactor()`
@*/
PetscErrorCode MatCuDSSGetInfo(Mat F, MatCuDSSInfo *info)
{
  Mat_CuDSS     *s;
  SpmvDirectInfo of = {.rows = 0};

  PetscFunctionBegin;
  PetscAssertPointer(info, 2);
  PetscCall(MatCuDSSStateRequire(F, &s));
  if (s->direct) spmv_direct_info(s->direct, &of);
  *info = (MatCuDSSInfo){.kind            = s->direct ? kinds[s->options.kind] : "",
                         .on_device       = s->matrix && !s->host ? PETSC_TRUE : PETSC_FALSE,
                         .reason          = s->why,
                         .symbolic        = s->symbolic,
                         .numeric         = s->numeric,
                         .solves          = s->solves + (PetscInt)of.applied,
                         .fallbacks       = s->fallbacks,
                         .replaced_pivots = of.replaced,
                         .factor_nonzeros = of.factor_nonzeros,
                         .bytes           = of.bytes,
                         .hybrid          = of.hybrid ? PETSC_TRUE : PETSC_FALSE};
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatFactorGetSolverType_CuDSS(Mat F, MatSolverType *type)
{
  PetscFunctionBegin;
  *type = F->solvertype;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode OperationsSet(Mat F, MatFactorType type)
{
  PetscFunctionBegin;
  F->ops->destroy           = MatDestroy_CuDSS;
  F->ops->view              = MatView_CuDSS;
  F->ops->getinfo           = MatGetInfo_CuDSS;
  F->ops->getinertia        = type == MAT_FACTOR_CHOLESKY ? MatGetInertia_CuDSS : NULL;
  F->ops->solve             = MatSolve_CuDSS;
  F->ops->solveadd          = MatSolveAdd_CuDSS;
  F->ops->solvetranspose    = MatSolveTranspose_CuDSS;
  F->ops->solvetransposeadd = MatSolveTransposeAdd_CuDSS;
  F->ops->forwardsolve      = MatForwardSolve_CuDSS;
  F->ops->backwardsolve     = MatBackwardSolve_CuDSS;
  F->ops->matsolve          = MatMatSolve_CuDSS;
  F->ops->matsolvetranspose = MatMatSolveTranspose_CuDSS;
  if (type == MAT_FACTOR_LU) {
    F->ops->lufactorsymbolic = MatLUFactorSymbolic_CuDSS;
    F->ops->lufactornumeric  = MatFactorNumeric_CuDSS;
  } else {
    F->ops->choleskyfactorsymbolic = MatCholeskyFactorSymbolic_CuDSS;
    F->ops->choleskyfactornumeric  = MatFactorNumeric_CuDSS;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* package: the name that it bears */
PetscErrorCode MatCuDSSCreate(Mat A, MatFactorType type, const char package[], Mat *out)
{
  PetscMPIInt size;
  Mat         F;
  Mat_CuDSS  *s;

  PetscFunctionBegin;
  PetscCall(MatCreate(PetscObjectComm((PetscObject)A), &F));
  PetscCall(MatSetSizes(F, A->rmap->n, A->cmap->n, A->rmap->N, A->cmap->N));
  PetscCall(PetscStrallocpy(package, &((PetscObject)F)->type_name));
  PetscCall(MatSetUp(F));
  PetscCall(PetscNew(&s));
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)A), &size));
  s->several = size > 1 ? PETSC_TRUE : PETSC_FALSE;
  spmv_exec_init(&s->exec, SPMV_DEVICE);
  spmv_direct_options_init(&s->options);
  F->data       = s;
  F->factortype = type;
  PetscCall(OperationsSet(F, type));
  PetscCall(PetscFree(F->solvertype));
  PetscCall(PetscStrallocpy(package, &F->solvertype));
  F->canuseordering = PETSC_TRUE;
  PetscCall(PetscStrallocpy(MATORDERINGEXTERNAL, (char **)&F->preferredordering[type]));
  PetscCall(PetscObjectComposeFunction((PetscObject)F, "MatFactorGetSolverType_C", MatFactorGetSolverType_CuDSS));
  *out = F;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatGetFactor_CuDSS(Mat A, MatFactorType type, Mat *F)
{
  PetscFunctionBegin;
  PetscCall(MatCuDSSCreate(A, type, MATSOLVERCUDSS, F));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Serves the subtypes of MATSEQAIJ and MATMPIAIJ, too, since PETSc compares the beginning of a type's name. PETSc has no
   LU of MATSEQSBAIJ. */
PetscErrorCode MatCuDSSRegister(void)
{
  static const MatType types[] = {MATSEQAIJ, MATMPIAIJ, MATSEQSBAIJ};

  PetscFunctionBegin;
  for (int t = 0; t < 3; t++) {
    if (t < 2) PetscCall(MatSolverTypeRegister(MATSOLVERCUDSS, types[t], MAT_FACTOR_LU, MatGetFactor_CuDSS));
    PetscCall(MatSolverTypeRegister(MATSOLVERCUDSS, types[t], MAT_FACTOR_CHOLESKY, MatGetFactor_CuDSS));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
