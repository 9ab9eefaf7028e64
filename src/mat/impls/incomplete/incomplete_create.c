/* incomplete_create.c - the package petscpack in PETSc's list, and a factor as an object: creation, views, destruction. */
#include "incomplete.h"
#include "sys/compat.h"

static PetscErrorCode MatDestroy_Incomplete(Mat);

/* Factors are known by their operation: composed functions of other packages have the same name */
PetscErrorCode MatIncompleteStateGet(Mat F, Mat_Incomplete **s)
{
  PetscFunctionBegin;
  *s = F->ops->destroy == MatDestroy_Incomplete ? (Mat_Incomplete *)F->data : NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

void MatIncompleteFree(Mat_Incomplete *s)
{
  spmv_factor_destroy(&s->device);
  AIJFmtVectorFree(&s->exec, &s->b);
  AIJFmtVectorFree(&s->exec, &s->x);
}

static PetscErrorCode MatDestroy_Incomplete(Mat F)
{
  Mat_Incomplete *s = (Mat_Incomplete *)F->data;

  PetscFunctionBegin;
  MatIncompleteFree(s);
  PetscCall(MatDestroy(&s->host));
  PetscCall(MatDestroy(&s->cut));
  PetscCall(MatDestroy(&s->matrix));
  PetscCall(ISDestroy(&s->row));
  PetscCall(ISDestroy(&s->col));
  PetscCall(PetscObjectComposeFunction((PetscObject)F, "MatFactorGetSolverType_C", NULL));
  PetscCall(PetscFree(F->data));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatView_Incomplete(Mat F, PetscViewer viewer)
{
  Mat_Incomplete *s = (Mat_Incomplete *)F->data;
  SpmvFactorInfo  info;
  PetscBool       ascii;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &ascii));
  if (!ascii) PetscFunctionReturn(PETSC_SUCCESS);
  if (s->blocks > 1)
    PetscCall(PetscViewerASCIIPrintf(viewer, "blocks of rows: %" PetscInt_FMT ", as of bjacobi\n", s->blocks));
  if (s->why[0]) PetscCall(PetscViewerASCIIPrintf(viewer, "factored on the host: %s\n", s->why));
  if (s->host) PetscCall(MatView(s->host, viewer));
  if (s->why[0] || !s->device) PetscFunctionReturn(PETSC_SUCCESS);
  spmv_factor_info(s->device, &info);
  PetscCall(PetscViewerASCIIPrintf(viewer, "factored on the GPU: %s(%d), levels %lld and %lld, shift %g\n",
                                   F->factortype == MAT_FACTOR_ILU ? "ILU" : "ICC", (int)s->info.levels,
                                   (long long)info.levels[0], (long long)info.levels[1], info.shift));
  PetscCall(PetscViewerASCIIPrintf(viewer,
                                   "  analyses %" PetscInt_FMT ", factorizations %" PetscInt_FMT
                                   ", solves %" PetscInt_FMT "; on the host %" PetscInt_FMT "\n",
                                   s->analyses, s->numeric, s->solves, s->solves_host));
  PetscCall(PetscViewerASCIIPrintf(viewer, "  nonzeros of the factor %lld, memory of the GPU %.1f MiB\n",
                                   (long long)info.factor_nonzeros, (double)info.bytes / 1048576));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatGetInfo_Incomplete(Mat F, MatInfoType type, MatInfo *to)
{
  Mat_Incomplete *s = (Mat_Incomplete *)F->data;
  SpmvFactorInfo  info;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(to, sizeof *to));
  to->block_size = 1;
  if (s->host) PetscCall(MatGetInfo(s->host, type, to));
  if (s->host || !s->device) PetscFunctionReturn(PETSC_SUCCESS);
  spmv_factor_info(s->device, &info);
  to->nz_allocated = to->nz_used = (PetscLogDouble)info.factor_nonzeros;
  to->memory                     = (PetscLogDouble)info.bytes;
  to->fill_ratio_given           = s->info.fill;
  to->fill_ratio_needed          = F->factortype == MAT_FACTOR_ILU
                                       ? (PetscLogDouble)info.factor_nonzeros / (PetscLogDouble)info.nonzeros
                                       : 2 * (PetscLogDouble)info.factor_nonzeros / (PetscLogDouble)(info.nonzeros + info.rows);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode StateRequire_Incomplete(Mat F, Mat_Incomplete **s)
{
  PetscFunctionBegin;
  PetscCall(MatIncompleteStateGet(F, s));
  PetscCheck(*s, PetscObjectComm((PetscObject)F), PETSC_ERR_ARG_WRONG,
             "The matrix is not a factor of the package petscpack");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  MatIncompleteGetInfo - Gets where an incomplete factor of the package petscpack is, and what has been done with it

  Not Collective

  Input Parameter:
. F - a factor of the package `MATSOLVERPETSCPACK`, from `PCFactorGetMatrix()` or `MatGetFactor()`

  Output Parameter:
. info - the values; `reason` is valid until the next operation on `F`

  Level: intermediate

.seealso: `MatIncompleteSetBlocks()`, `PetscPackReplaceType()`, `PCFactorGetMatrix()`, `MatGetFactor()`, `PCILU`, `PCICC`
@*/
PetscErrorCode MatIncompleteGetInfo(Mat F, MatIncompleteInfo *info)
{
  Mat_Incomplete *s;
  SpmvFactorInfo  of = {.rows = 0};

  PetscFunctionBegin;
  PetscValidHeaderSpecific(F, MAT_CLASSID, 1);
  PetscAssertPointer(info, 2);
  PetscCall(StateRequire_Incomplete(F, &s));
  if (s->device) spmv_factor_info(s->device, &of);
  *info = (MatIncompleteInfo){.on_device       = s->matrix && !s->why[0] ? PETSC_TRUE : PETSC_FALSE,
                              .reason          = s->why,
                              .symbolic        = s->analyses,
                              .numeric         = s->numeric,
                              .solves          = s->solves,
                              .solves_host     = s->solves_host,
                              .blocks          = s->blocks,
                              .shifts          = (PetscInt)of.shifts,
                              .shift           = (PetscReal)of.shift,
                              .factor_nonzeros = of.factor_nonzeros,
                              .bytes           = (PetscLogDouble)of.bytes};
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  MatIncompleteSetBlocks - Sets the number of blocks of rows of an incomplete factor of the package petscpack

  Logically Collective

  Input Parameters:
+ F      - a factor of the package `MATSOLVERPETSCPACK`, from `PCFactorGetMatrix()` or `MatGetFactor()`
- blocks - the number of blocks, 1 for all rows in one

  Options Database Key:
. -mat_incomplete_blocks <1> - the number, with the prefix of the factor, which is that of the `PC`

  Level: intermediate

  Notes:
  Entries between blocks are not part of the factor. `PCILU` and `PCICC` are then `PCBJACOBI` with so many local blocks, but
  with one factor, whose rows wait for rows of their own block only: fewer levels, which a GPU solves faster, for more
  iterations. The rows are divided as `PCBJACOBI` divides them. A shift is one of all blocks, where `PCBJACOBI` has one for
  each.

  It takes effect in the next symbolic factorization. To set it before the first one, call
  `PCFactorSetUpMatSolverType()` and `PCFactorGetMatrix()`.

.seealso: `MatIncompleteGetInfo()`, `PCFactorSetUpMatSolverType()`, `PCFactorGetMatrix()`, `PCBJACOBI`, `PCILU`, `PCICC`
@*/
PetscErrorCode MatIncompleteSetBlocks(Mat F, PetscInt blocks)
{
  Mat_Incomplete *s;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(F, MAT_CLASSID, 1);
  PetscValidLogicalCollectiveInt(F, blocks, 2);
  PetscCall(StateRequire_Incomplete(F, &s));
  PetscCheck(blocks >= 1 && blocks <= PETSC_MPI_INT_MAX, PetscObjectComm((PetscObject)F), PETSC_ERR_ARG_OUTOFRANGE,
             "%" PetscInt_FMT " blocks: it must be 1 or more", blocks);
  s->blocks = blocks;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatFactorGetSolverType_Incomplete(Mat F, MatSolverType *type)
{
  PetscFunctionBegin;
  *type = F->solvertype;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static void OperationsSet_Incomplete(Mat F, MatFactorType type)
{
  F->ops->destroy        = MatDestroy_Incomplete;
  F->ops->view           = MatView_Incomplete;
  F->ops->getinfo        = MatGetInfo_Incomplete;
  F->ops->solve          = MatSolve_Incomplete;
  F->ops->solvetranspose = MatSolveTranspose_Incomplete;
  F->ops->forwardsolve   = MatForwardSolve_Incomplete;
  F->ops->backwardsolve  = MatBackwardSolve_Incomplete;
  if (type == MAT_FACTOR_ILU) {
    F->ops->ilufactorsymbolic = MatILUFactorSymbolic_Incomplete;
    F->ops->lufactornumeric   = MatFactorNumeric_Incomplete;
  } else {
    F->ops->iccfactorsymbolic     = MatICCFactorSymbolic_Incomplete;
    F->ops->choleskyfactornumeric = MatFactorNumeric_Incomplete;
  }
}

static PetscErrorCode MatGetFactor_Incomplete(Mat A, MatFactorType type, Mat *out)
{
  Mat             F;
  Mat_Incomplete *s;

  PetscFunctionBegin;
  PetscCall(MatCreate(PetscObjectComm((PetscObject)A), &F));
  PetscCall(MatSetSizes(F, A->rmap->n, A->cmap->n, A->rmap->N, A->cmap->N));
  PetscCall(PetscStrallocpy(MATSOLVERPETSCPACK, &((PetscObject)F)->type_name));
  PetscCall(MatSetUp(F));
  PetscCall(PetscNew(&s));
  spmv_exec_init(&s->exec, SPMV_DEVICE);
  spmv_factor_options_init(&s->options);
  s->blocks       = 1;
  s->options.kind = type == MAT_FACTOR_ILU ? SPMV_FACTOR_ILU : SPMV_FACTOR_ICC;
  F->data         = s;
  F->factortype   = type;
  OperationsSet_Incomplete(F, type);
  PetscCall(PetscFree(F->solvertype));
  PetscCall(PetscStrallocpy(MATSOLVERPETSCPACK, &F->solvertype));
  F->canuseordering = PETSC_TRUE;
  PetscCall(PetscStrallocpy(MATORDERINGNATURAL, (char **)&F->preferredordering[type]));
  PetscCall(PetscObjectComposeFunction((PetscObject)F, "MatFactorGetSolverType_C", MatFactorGetSolverType_Incomplete));
  *out = F;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Serves the subtypes of MATSEQAIJ, too, since PETSc compares the beginning of a type's name. PETSc's own package comes
   first in the list, so that programs that name no package keep it. */
PetscErrorCode MatIncompleteRegister(void)
{
  PetscFunctionBegin;
  PetscCall(MatSolverTypeRegister(MATSOLVERPETSCPACK, MATSEQAIJ, MAT_FACTOR_ILU, MatGetFactor_Incomplete));
  PetscCall(MatSolverTypeRegister(MATSOLVERPETSCPACK, MATSEQAIJ, MAT_FACTOR_ICC, MatGetFactor_Incomplete));
  PetscFunctionReturn(PETSC_SUCCESS);
}
