/*
  create.c - makes a matrix of a parent type one of ours, and back: the operations that differ, the composed functions,
  the type name. Nothing is converted here; see sync.c.

  A parallel matrix of ours is a MATMPIAIJ whose diagonal and off-diagonal blocks are of our sequential type. The parent
  makes new blocks in many places (preallocation, hash insertion, new nonzeros after assembly, COO), so the blocks
  become ours at the one point that every path reaches: the end of a final assembly.
*/
#include "seqaijfmt.h"
#include "cuda.h"

static PetscErrorCode RefuseOtherScalars(Mat A, const char *type)
{
  PetscFunctionBegin;
  PetscCheck(!PetscDefined(USE_COMPLEX), PetscObjectComm((PetscObject)A), PETSC_ERR_SUP,
             "type %s needs real scalars, and this PETSc has complex ones: use MATAIJ, or a PETSc configured with "
             "--with-scalar-type=real",
             type);
  PetscCheck(
      PetscDefined(USE_REAL_DOUBLE) || PetscDefined(USE_REAL_SINGLE), PetscObjectComm((PetscObject)A), PETSC_ERR_SUP,
      "type %s needs double or single precision: use MATAIJ, or a PETSc configured with --with-precision=double", type);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The parent's MatDuplicate() makes a matrix of our type by its name; what was set on A by options or calls is ours to
   hand on. The CUDA parent gives its own type back, so the copy is made ours once more. */
static PetscErrorCode MatDuplicate_AIJFmt(Mat A, MatDuplicateOption values, Mat *B)
{
  const AIJFmtParent *host;
  Mat_AIJFmt         *from, *to;

  PetscFunctionBegin;
  PetscCall(AIJFmtStateGet(A, &from));
  if (!from) { /* a subclass that PETSc made of a matrix of ours, see AIJFmtParentOf() */
    PetscCall(AIJFmtParentGet(AIJFMT_PARENT_HOST, &host));
    PetscCall(host->seq.duplicate(A, values, B));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall((from->parallel ? &from->parent->mpi : &from->parent->seq)->duplicate(A, values, B));
  PetscCall(AIJFmtInstall(*B, from->row, from->parallel, NULL));
  PetscCall(AIJFmtStateRequire(*B, "MatDuplicate()", &to));
  to->inner = from->inner;
  PetscCall(AIJFmtStateCopyOptions(from, to));
  if (to->parallel) PetscCall(AIJFmtBlocksCopyOptions(*B, to));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* -mat_aijfmt_eager. MatAssemblyEnd() increases the state once more after this function, and that is the state of the
   values packed here. A block of a parallel matrix waits for the assembly of the whole, which renumbers its columns. */
static PetscErrorCode MatAssemblyEnd_SeqAIJFmt(Mat A, MatAssemblyType type)
{
  const AIJFmtParent *parent;
  Mat_AIJFmt         *s;

  PetscFunctionBegin;
  PetscCall(AIJFmtParentOf(A, &parent));
  PetscCall(parent->seq.assemblyend(A, type));
  PetscCall(AIJFmtStateGet(A, &s));
  if (!s || A->factortype) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(AIJFmtCudaRebind(A, s));
  if (type != MAT_FINAL_ASSEMBLY || s->inner) PetscFunctionReturn(PETSC_SUCCESS);
  if (!AIJFmtClassFlag(s, AIJFMT_EAGER)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(AIJFmtSync(A, s, NULL, ((PetscObject)A)->state + 1));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode InstallBlocks(Mat A, Mat_AIJFmt *outer)
{
  Mat blocks[2];

  PetscFunctionBegin;
  PetscCall(AIJFmtBlocksGet(A, blocks));
  for (int b = 0; b < 2; b++)
    if (blocks[b]) PetscCall(AIJFmtInstall(blocks[b], outer->row, PETSC_FALSE, outer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode AIJFmtBlocksStrip(Mat A)
{
  Mat blocks[2];

  PetscFunctionBegin;
  PetscCall(AIJFmtBlocksGet(A, blocks));
  for (int b = 0; b < 2; b++)
    if (blocks[b]) PetscCall(AIJFmtStrip(blocks[b]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatAssemblyEnd_MPIAIJFmt(Mat A, MatAssemblyType type)
{
  const AIJFmtParent *parent;
  Mat_AIJFmt         *s;
  Mat                 blocks[2];

  PetscFunctionBegin;
  PetscCall(AIJFmtParentOf(A, &parent));
  PetscCall(parent->mpi.assemblyend(A, type));
  PetscCall(AIJFmtStateGet(A, &s));
  if (!s || type != MAT_FINAL_ASSEMBLY) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(InstallBlocks(A, s));
  PetscCall(AIJFmtBlocksSetSizes(A));
  if (!AIJFmtClassFlag(s, AIJFMT_EAGER)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(AIJFmtBlocksGet(A, blocks));
  for (int b = 0; b < 2; b++) {
    Mat_AIJFmt *inner;
    PetscCall(AIJFmtStateRequire(blocks[b], "MatAssemblyEnd()", &inner));
    PetscCall(AIJFmtSync(blocks[b], inner, NULL, ((PetscObject)blocks[b])->state));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The parent writes the values on the host and tells nobody: PETSc 3.18 does not raise the state, and no version marks
   the device's copy as old */
static PetscErrorCode MatRetrieveValues_SeqAIJFmt(Mat A)
{
  const AIJFmtParent *parent;

  PetscFunctionBegin;
  PetscCall(AIJFmtCudaFetch(A)); /* else the device is taken for current */
  PetscCall(AIJFmtParentOf(A, &parent));
  PetscCall(parent->retrieve_values(A));
  PetscCall(PetscObjectStateIncrease((PetscObject)A));
  PetscCall(AIJFmtCudaHostWritten(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* MatMatTransposeMult() of PETSc gives the transposed pattern the type of the other factor by MatSetType(), which would
   wipe a matrix of ours out. It takes the host parent's type, from which every AIJ type can follow. */
static PetscErrorCode MatTransposeSymbolic_SeqAIJFmt(Mat A, Mat *B)
{
  const AIJFmtParent *parent;

  PetscFunctionBegin;
  PetscCall(AIJFmtParentOf(A, &parent));
  PetscCall(parent->seq.transposesymbolic(A, B));
  PetscCall(AIJFmtStrip(*B));
  PetscCall(MatConvert(*B, MATSEQAIJ, MAT_INPLACE_MATRIX, B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Puts our operations over those of the parent */
PetscErrorCode AIJFmtOperationsInstall(Mat A, const Mat_AIJFmt *s)
{
  PetscFunctionBegin;
  A->ops->duplicate      = MatDuplicate_AIJFmt;
  A->ops->setfromoptions = MatSetFromOptions_AIJFmt;
  A->ops->view           = MatView_AIJFmt;
  A->ops->convert        = MatConvert_AIJFmt_Any;
  A->ops->convertfrom    = MatConvertFrom_AIJFmt;
  if (s->parallel) A->ops->assemblyend = MatAssemblyEnd_MPIAIJFmt;
  else {
    A->ops->assemblyend       = MatAssemblyEnd_SeqAIJFmt;
    A->ops->getinfo           = MatGetInfo_SeqAIJFmt;
    A->ops->transposesymbolic = MatTransposeSymbolic_SeqAIJFmt;
    PetscCall(AIJFmtMultInstall(A));
    PetscCall(AIJFmtValuesInstall(A));
    PetscCall(AIJFmtNamesInstall(A, s));
    PetscCall(PetscObjectComposeFunction((PetscObject)A, "MatRetrieveValues_C", MatRetrieveValues_SeqAIJFmt));
  }
  PetscCall(AIJFmtDispatchInstall(A, s));
  PetscCall(AIJFmtMergeInstall(A, s));
  PetscCall(AIJFmtCudaInstall(A, s));
  PetscCall(AIJFmtProductsInstall(A, s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gives back every operation that AIJFmtOperationsInstall() replaces for any parent */
static PetscErrorCode RestoreOperations(Mat A, const Mat_AIJFmt *s)
{
  const struct _MatOps *from = s->parallel ? &s->parent->mpi : &s->parent->seq;

  PetscFunctionBegin;
  A->ops->duplicate                 = from->duplicate;
  A->ops->setfromoptions            = from->setfromoptions;
  A->ops->view                      = from->view;
  A->ops->convert                   = from->convert;
  A->ops->convertfrom               = from->convertfrom;
  A->ops->assemblyend               = from->assemblyend;
  A->ops->getinfo                   = from->getinfo;
  A->ops->transposesymbolic         = from->transposesymbolic;
  A->ops->mult                      = from->mult;
  A->ops->multadd                   = from->multadd;
  A->ops->multtranspose             = from->multtranspose;
  A->ops->multtransposeadd          = from->multtransposeadd;
  A->ops->multhermitiantranspose    = from->multhermitiantranspose;
  A->ops->multhermitiantransposeadd = from->multhermitiantransposeadd;
  A->ops->scale                     = from->scale;
  A->ops->diagonalscale             = from->diagonalscale;
  A->ops->shift                     = from->shift;
  A->ops->axpy                      = from->axpy;
  A->ops->copy                      = from->copy;
  A->ops->zeroentries               = from->zeroentries;
  A->ops->getcolumnreductions       = from->getcolumnreductions;
  A->ops->load                      = from->load;
  A->ops->getdiagonal               = from->getdiagonal;
  A->ops->productsetfromoptions     = from->productsetfromoptions;
  A->ops->bindtocpu                 = from->bindtocpu;
  A->ops->norm                      = from->norm;
  if (!s->parallel) {
    PetscCall(AIJFmtNamesRemove(A, s));
    PetscCall(PetscObjectComposeFunction((PetscObject)A, "MatRetrieveValues_C", s->parent->retrieve_values));
  }
  PetscCall(AIJFmtDispatchRemove(A, s));
  PetscCall(AIJFmtMergeRemove(A, s));
  PetscCall(AIJFmtCudaRemove(A, s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A matrix of another subclass of the parent, such as MATSEQAIJPERM by -mat_seqaij_type, becomes the parent first. Its
   converter is called directly, because MatConvert() refuses unassembled matrices. It comes before A has a state, which
   would be lost where the converter replaces the whole matrix. */
static PetscErrorCode BecomeParent(Mat A, const AIJFmtRow *row, PetscBool parallel)
{
  PetscErrorCode (*convert)(Mat, MatType, MatReuse, Mat *);
  const char         *type   = ((PetscObject)A)->type_name;
  MatType             target = parallel ? MATMPIAIJ : MATSEQAIJ;
  const AIJFmtParent *parent;
  char                name[256];

  PetscFunctionBegin;
  PetscCall(AIJFmtParentFind(type, &parent));
  if (parent) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscSNPrintf(name, sizeof name, "MatConvert_%s_%s_C", type, target));
  PetscCall(PetscObjectQueryFunction((PetscObject)A, name, &convert));
  PetscCheck(convert, PetscObjectComm((PetscObject)A), PETSC_ERR_SUP,
             "type %s cannot become %s: convert it to %s first", type, parallel ? row->mpi : row->seq, target);
  PetscCall(convert(A, target, MAT_INPLACE_MATRIX, &A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The defaults, and then the options database, but for a block, which gets all options of the matrix around it. A
   refused option leaves the state without a format, so that the next MatSetType() asks again. */
static PetscErrorCode FirstOptions(Mat A, const AIJFmtRow *row, const Mat_AIJFmt *outer, Mat_AIJFmt *s)
{
  PetscErrorCode error = PETSC_SUCCESS;

  PetscFunctionBegin;
  s->row = row;
  PetscCall(AIJFmtOptionsInit(s));
  if (outer) PetscCall(AIJFmtStateCopyOptions(outer, s));
  else error = AIJFmtOptionsRead(A, s, NULL);
  if (error) s->row = NULL;
  PetscCall(error);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A state without a plan. Its options start anew unless it was of this format before. */
static PetscErrorCode CreateState(Mat A, const AIJFmtRow *row, PetscBool parallel, const Mat_AIJFmt *outer,
                                  Mat_AIJFmt **state)
{
  PetscBool fresh;

  PetscFunctionBegin;
  PetscCall(AIJFmtStateCompose(A, state, &fresh));
  if (fresh) PetscCall(AIJFmtMergeWatch(A));
  (*state)->parallel = parallel;
  if ((*state)->row != row) PetscCall(FirstOptions(A, row, outer, *state));
  else if (outer) PetscCall(AIJFmtStateCopyOptions(outer, *state));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Makes A ours. Idempotent: creators, converters, duplicates and each final assembly of a parallel matrix call it. A
   block takes its options from the parallel matrix around it, outer, or NULL. */
PetscErrorCode AIJFmtInstall(Mat A, const AIJFmtRow *row, PetscBool parallel, const Mat_AIJFmt *outer)
{
  const char *type = parallel ? row->mpi : row->seq;
  Mat_AIJFmt *s;

  PetscFunctionBegin;
  PetscCall(RefuseOtherScalars(A, type));
  PetscCall(AIJFmtStateGet(A, &s));
  if (!s || s->row != row) {
    PetscCheck(!AIJFmtHashActive(A), PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_WRONGSTATE,
               "a matrix in the midst of MatSetValues() without preallocation cannot become %s: set the type before "
               "MatSetUp(), or after MatAssemblyEnd()",
               type);
    if (s) PetscCall(AIJFmtStrip(A));
    PetscCall(BecomeParent(A, row, parallel));
    PetscCall(CreateState(A, row, parallel, outer, &s));
    PetscCall(AIJFmtParentFind(((PetscObject)A)->type_name, &s->parent));
    PetscCall(AIJFmtCudaAdopt(A, s, outer));
    PetscCheck(s->parent, PetscObjectComm((PetscObject)A), PETSC_ERR_PLIB, "no parent type for %s",
               ((PetscObject)A)->type_name);
    PetscCall(PetscObjectChangeTypeName((PetscObject)A, type));
    PetscCall(AIJFmtOperationsInstall(A, s));
    if (parallel && A->assembled) PetscCall(InstallBlocks(A, s));
  } else if (outer) PetscCall(AIJFmtStateCopyOptions(outer, s));
  s->inner = outer ? PETSC_TRUE : PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Makes a matrix of ours one of the parent type again. The container stays, without a plan, until A is destroyed. */
PetscErrorCode AIJFmtStrip(Mat A)
{
  Mat_AIJFmt *s;

  PetscFunctionBegin;
  PetscCall(AIJFmtStateGet(A, &s));
  if (!s) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(RestoreOperations(A, s));
  PetscCall(AIJFmtStateForget(s));
  if (s->parallel) PetscCall(AIJFmtBlocksStrip(A));
  PetscCall(PetscObjectChangeTypeName((PetscObject)A, s->parallel ? s->parent->mpi_type : s->parent->seq_type));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The creator of every type of ours. MatSetType() of the parent may return a matrix that is ours already, through
   -mat_seqaij_type. */
PetscErrorCode AIJFmtCreate(Mat A, const AIJFmtRow *row, PetscBool parallel)
{
  PetscFunctionBegin;
  PetscCall(RefuseOtherScalars(A, parallel ? row->mpi : row->seq));
  PetscCall(MatSetType(A, parallel ? MATMPIAIJ : MATSEQAIJ));
  PetscCall(AIJFmtInstall(A, row, parallel, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}
