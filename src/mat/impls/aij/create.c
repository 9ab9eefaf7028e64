/*
  create.c - turns a matrix of a parent type into one of our types, and back. Nothing is packed here: see sync.c.

  A parallel matrix of ours is a MATMPIAIJ whose diagonal and off-diagonal blocks are of our sequential type. The parent
  makes new blocks in many places (preallocation, hash insertion, new nonzeros after assembly, COO), so the blocks
  become ours at the one point that every path reaches: the end of a final assembly.
*/
#include "aijfmt.h"

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

/* Gives B, whose sizes are set, the type of A. Under a name that a matrix keeps from PETSc, MatSetType() may make it plain:
   options of its prefix decide, and PetscPackReplaceType(). */
PetscErrorCode AIJFmtSetTypeLike(Mat A, Mat B)
{
  Mat_AIJFmt *s;

  PetscFunctionBegin;
  PetscCall(AIJFmtStateRequire(A, "a matrix of the same type", &s));
  PetscCall(MatSetType(B, ((PetscObject)A)->type_name));
  PetscCall(AIJFmtInstall(B, s->row, s->parallel, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The parent's MatDuplicate() makes a matrix of our type by its name; we copy the options set on A. The CUDA
   parent returns a matrix of the CUDA type, so AIJFmtInstall() converts the copy to our type again. */
PetscErrorCode MatDuplicate_AIJFmt(Mat A, MatDuplicateOption values, Mat *B)
{
  Mat_AIJFmt *from, *to;

  PetscFunctionBegin;
  PetscCall(AIJFmtStateGet(A, &from));
  if (!from) { /* a subclass that PETSc made from a matrix of ours, see AIJFmtParentOf() */
    AIJFmtHost(duplicate, A, values, B);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(AIJFmtInodesFind(A, "MatDuplicate()"));
  PetscCall((from->parallel ? &from->parent->mpi : &from->parent->seq)->duplicate(A, values, B));
  PetscCall(AIJFmtInstall(*B, from->row, from->parallel, NULL));
  PetscCall(AIJFmtStateRequire(*B, "MatDuplicate()", &to));
  PetscCall(AIJFmtStateCopyOptions(from, to));
  if (to->parallel) PetscCall(AIJFmtBlocksCopyOptions(*B, to));
  PetscCall(aijfmt_process.coo_share(A, from, *B, to));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatAssemblyEnd_SeqAIJFmt(Mat A, MatAssemblyType type)
{
  PetscBool   assembled = PETSC_FALSE;
  Mat_AIJFmt *s;

  PetscFunctionBegin;
  PetscCall(AIJFmtStateGet(A, &s));
  if (s && type == MAT_FINAL_ASSEMBLY) PetscCall(AIJFmtSharedIsAssembled(A, s, &assembled));
  if (!assembled) AIJFmtSuper(seq, assemblyend, A, type);
  if (s && type == MAT_FINAL_ASSEMBLY) PetscCall(AIJFmtSharedDropStale(A, s));
  if (s && !s->alias && !A->factortype) PetscCall(AIJFmtCudaRebind(A, s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Converts the blocks to our type, with the options of the matrix around them. A matrix that keeps PETSc's name has
   blocks of the type that -mat_seqaij_type names, and without that option they are ours already. */
static PetscErrorCode BlocksInstall(Mat A, const Mat_AIJFmt *of_matrix)
{
  Mat blocks[2];

  PetscFunctionBegin;
  PetscCall(AIJFmtBlocksGet(A, blocks));
  for (int b = 0; b < 2; b++) {
    Mat_AIJFmt *of_block;

    if (!blocks[b]) continue;
    PetscCall(AIJFmtStateGet(blocks[b], &of_block));
    if (!AIJFmtKeepsName(of_matrix) || (of_block && AIJFmtKeepsName(of_block)))
      PetscCall(AIJFmtInstall(blocks[b], of_matrix->row, PETSC_FALSE, of_matrix));
  }
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

PetscErrorCode MatAssemblyEnd_MPIAIJFmt(Mat A, MatAssemblyType type)
{
  Mat_AIJFmt *s;

  PetscFunctionBegin;
  AIJFmtSuper(mpi, assemblyend, A, type);
  PetscCall(AIJFmtStateGet(A, &s));
  if (!s || s->alias || type != MAT_FINAL_ASSEMBLY) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(BlocksInstall(A, s));
  PetscCall(AIJFmtBlocksSetSizes(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* MatMatTransposeMult() calls MatSetType() on the transposed pattern, to give the pattern the type of the first
   factor. If the pattern had one of our types and the factor had another type, MatSetType() would destroy the pattern.
   So the pattern gets the host parent's type, which can be converted to every AIJ type. */
PetscErrorCode MatTransposeSymbolic_SeqAIJFmt(Mat A, Mat *B)
{
  PetscFunctionBegin;
  AIJFmtSuper(seq, transposesymbolic, A, B);
  PetscCall(AIJFmtStrip(*B));
  PetscCall(MatConvert(*B, MATSEQAIJ, MAT_INPLACE_MATRIX, B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  ---- MatHeaderMerge() ----

  MatTranspose() in place and MatAXPY() with another pattern make a new matrix C of the same type; MatHeaderMerge(A, &C)
  then moves the contents of C into A. The options of C are the defaults and those without a prefix: those of A are read
  when A is whole again. MatHeaderMerge() calls the operation destroy of A, which has no type name then, and later frees
  the header of C, which has no composed objects then.
*/

/* Does nothing: MatSetFromOptions_AIJFmt() reads the options. PETSc requires this function of a handler. */
static PetscErrorCode HandleNothing(PETSC_UNUSED PetscObject object, PETSC_UNUSED AIJFmtOptionItems items,
                                    PETSC_UNUSED void *ctx)
{
  return PETSC_SUCCESS;
}

/* The destructor of the handler runs when a header is freed */
static PetscErrorCode HeaderDestroyed(PetscObject object, PETSC_UNUSED void *ctx)
{
  const Mat   A = aijfmt_process.merging;
  Mat_AIJFmt *s;

  PetscFunctionBegin;
  AIJFmtListHeaderFreed(object);
  if (!A || object->olist) PetscFunctionReturn(PETSC_SUCCESS);
  aijfmt_process.merging = NULL;
  PetscCall(AIJFmtStateGet(A, &s));
  if (!s) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(AIJFmtOptionsRead(A, s, NULL));
  if (s->parallel) PetscCall(AIJFmtBlocksCopyOptions(A, s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode DestroyByParent_AIJFmt(Mat A, AIJFmtParentKind kind, PetscBool parallel)
{
  const AIJFmtParent *parent;

  PetscFunctionBegin;
  if (!((PetscObject)A)->type_name) aijfmt_process.merging = A;
  PetscCall(AIJFmtParentGet(kind, &parent));
  /* A factor of PETSc on the host is ours by -mat_seqaij_type; the CUDA parent would take its data for cuSPARSE's */
  if (kind == AIJFMT_PARENT_CUDA) A->factortype = MAT_FACTOR_NONE;
  PetscCall((parallel ? &parent->mpi : &parent->seq)->destroy(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The state may be gone when these functions run, so each of them names its parent */
PetscErrorCode MatDestroy_SeqAIJFmt_Host(Mat A) { return DestroyByParent_AIJFmt(A, AIJFMT_PARENT_HOST, PETSC_FALSE); }
PetscErrorCode MatDestroy_MPIAIJFmt_Host(Mat A) { return DestroyByParent_AIJFmt(A, AIJFMT_PARENT_HOST, PETSC_TRUE); }
PetscErrorCode MatDestroy_SeqAIJFmt_CUDA(Mat A) { return DestroyByParent_AIJFmt(A, AIJFMT_PARENT_CUDA, PETSC_FALSE); }
PetscErrorCode MatDestroy_MPIAIJFmt_CUDA(Mat A) { return DestroyByParent_AIJFmt(A, AIJFMT_PARENT_CUDA, PETSC_TRUE); }

/* ---- types ---- */

/* Replaces the parent's operations by ours; A has its type name already */
PetscErrorCode AIJFmtOperationsInstall(Mat A, const Mat_AIJFmt *s)
{
  PetscFunctionBegin;
  for (int i = 0; i < aijfmt_process.operation_count; i++) {
    const AIJFmtOperation *row = &aijfmt_process.operation_table[i];

    if (row->ours[s->parallel] && (!row->when || row->when(A, s)))
      memcpy((char *)A->ops + row->offset, &row->ours[s->parallel], sizeof row->ours[0]);
  }
  for (int i = 0; i < AIJFMT_COMPOSED_COUNT; i++) {
    const AIJFmtComposition *row = &aijfmt_process.composition_table[i];
    AIJFmtFunction           now = NULL;

    if (!row->ours[s->parallel] || (row->when && !row->when(A, s))) continue;
    if (!row->adds) PetscCall(PetscObjectQueryFunction((PetscObject)A, AIJFmtComposedNames[i], &now));
    if (row->adds || now)
      PetscCall(PetscObjectComposeFunction((PetscObject)A, AIJFmtComposedNames[i], row->ours[s->parallel]));
  }
  PetscCall(AIJFmtTripleProductsCompose(A, s, PETSC_FALSE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Restores the parent's operations where ours are still installed */
static PetscErrorCode OperationsRemove(Mat A, const Mat_AIJFmt *s)
{
  const struct _MatOps *parent = s->parallel ? &s->parent->mpi : &s->parent->seq;
  AIJFmtFunction        now;

  PetscFunctionBegin;
  for (int i = 0; i < aijfmt_process.operation_count; i++) {
    const AIJFmtOperation *row = &aijfmt_process.operation_table[i];

    memcpy(&now, (const char *)A->ops + row->offset, sizeof now);
    if (row->ours[s->parallel] && now == row->ours[s->parallel])
      memcpy((char *)A->ops + row->offset, (const char *)parent + row->offset, sizeof now);
  }
  for (int i = 0; i < AIJFMT_COMPOSED_COUNT; i++) {
    PetscCall(PetscObjectQueryFunction((PetscObject)A, AIJFmtComposedNames[i], &now));
    if (now && now == aijfmt_process.composition_table[i].ours[s->parallel])
      PetscCall(
          PetscObjectComposeFunction((PetscObject)A, AIJFmtComposedNames[i], s->parent->composed[i][s->parallel]));
  }
  PetscCall(AIJFmtTripleProductsCompose(A, s, PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A matrix of another subclass of the parent, such as MATSEQAIJPERM from -mat_seqaij_type, is converted to the parent
   first. The converter is called directly, because MatConvert() refuses unassembled matrices, and before A has a state,
   because a converter that replaces the whole matrix would lose it. */
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

/* Sets the default options and then reads the options database. A block instead copies all options of the matrix around
   it. If an option is refused, the state stays without a format, so that the next MatSetType() reads the options
   again. */
static PetscErrorCode FirstOptions(Mat A, const AIJFmtRow *row, const Mat_AIJFmt *of_matrix, Mat_AIJFmt *s)
{
  PetscErrorCode error = PETSC_SUCCESS;

  PetscFunctionBegin;
  s->row = row;
  PetscCall(AIJFmtOptionsInit(s));
  if (of_matrix) PetscCall(AIJFmtStateCopyOptions(of_matrix, s));
  else error = AIJFmtOptionsRead(A, s, NULL);
  if (error) s->row = NULL;
  PetscCall(error);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Makes a state without a plan. Its options are reset unless it had this format before. */
static PetscErrorCode CreateState(Mat A, const AIJFmtRow *row, PetscBool parallel, const Mat_AIJFmt *of_matrix,
                                  Mat_AIJFmt **state)
{
  PetscBool fresh = PETSC_FALSE; /* gcc does not see that it is set whenever the call succeeds */

  PetscFunctionBegin;
  PetscCall(AIJFmtStateCompose(A, state, &fresh));
  if (fresh) PetscCall(PetscObjectAddOptionsHandler((PetscObject)A, HandleNothing, HeaderDestroyed, NULL));
  (*state)->parallel = parallel;
  if ((*state)->row != row) PetscCall(FirstOptions(A, row, of_matrix, *state));
  else if (of_matrix) PetscCall(AIJFmtStateCopyOptions(of_matrix, *state));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Converts A to our type. Idempotent: called by creators, converters, duplicates and each final assembly of a parallel
   matrix. A block takes its options from of_matrix, the parallel matrix around it; of_matrix is NULL otherwise. */
PetscErrorCode AIJFmtInstall(Mat A, const AIJFmtRow *row, PetscBool parallel, const Mat_AIJFmt *of_matrix)
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
    PetscCall(CreateState(A, row, parallel, of_matrix, &s));
    s->self = A;
    PetscCall(AIJFmtParentFind(((PetscObject)A)->type_name, &s->parent));
    PetscCall(AIJFmtCudaAdopt(A, s, of_matrix));
    if (AIJFmtKeepsName(s)) AIJFmtUnbind(A); /* with CUDA, PETSc makes each matrix of a host type as if bound */
    PetscCheck(s->parent, PetscObjectComm((PetscObject)A), PETSC_ERR_PLIB, "no parent type for %s",
               ((PetscObject)A)->type_name);
    PetscCall(PetscObjectChangeTypeName((PetscObject)A, type));
    PetscCall(AIJFmtOperationsInstall(A, s));
    if (parallel && A->assembled) PetscCall(BlocksInstall(A, s));
  } else if (of_matrix) PetscCall(AIJFmtStateCopyOptions(of_matrix, s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Converts a matrix of ours back to the parent type. The container stays, without a plan, until A is destroyed. */
PetscErrorCode AIJFmtStrip(Mat A)
{
  Mat_AIJFmt *s;

  PetscFunctionBegin;
  PetscCall(AIJFmtStateGet(A, &s));
  if (!s) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(AIJFmtInodesFind(A, "another type"));
  PetscCall(OperationsRemove(A, s));
  PetscCall(AIJFmtCudaRelease(A, s));
  PetscCall(AIJFmtStateForget(s));
  if (s->parallel) PetscCall(AIJFmtBlocksStrip(A));
  PetscCall(PetscObjectChangeTypeName((PetscObject)A, s->parallel ? s->parent->mpi_type : s->parent->seq_type));
  PetscCall(aijfmt_process.coo_stay(A, s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Makes a new matrix of a parent type ours */
static PetscErrorCode InstallNew(Mat A, const AIJFmtRow *row, PetscBool parallel)
{
  Mat_AIJFmt *s;

  PetscFunctionBegin;
  PetscCall(AIJFmtInstall(A, row, parallel, NULL));
  PetscCall(AIJFmtStateRequire(A, "MatSetType()", &s));
  s->off_process = AIJFMT_OFF_PROCESS_SENT;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The creator of all our types */
PetscErrorCode AIJFmtCreate(Mat A, const AIJFmtRow *row, PetscBool parallel)
{
  PetscErrorCode error;

  PetscFunctionBegin;
  PetscCall(RefuseOtherScalars(A, parallel ? row->mpi : row->seq));
  aijfmt_process.plain++;
  error = MatSetType(A, parallel ? MATMPIAIJ : MATSEQAIJ);
  aijfmt_process.plain--;
  PetscCall(error);
  PetscCall(InstallNew(A, row, parallel));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  ---- -petscpack_replace aij ----

  PETSc, its packages and programs compare names of types. So the matrices that a program makes as MATAIJ keep that name
  and get our operations from creators that call PETSc's own. The parent is the host's in every PETSc: what reads the
  arrays of a MATSEQAIJ finds current values.
*/

/* -mat_seqaij_type, which PETSc's creator has read, wins over the replacement: with the value seqaij the matrix stays
   plain */
static PetscErrorCode CreateReplaced(Mat A, PetscBool parallel)
{
  PetscBool same, named = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall((*aijfmt_process.create[parallel])(A));
  PetscCall(PetscObjectTypeCompare((PetscObject)A, parallel ? MATMPIAIJ : MATSEQAIJ, &same));
  if (!parallel)
    PetscCall(PetscOptionsHasName(((PetscObject)A)->options, ((PetscObject)A)->prefix, "-mat_seqaij_type", &named));
  if (same && !named && !aijfmt_process.plain) PetscCall(InstallNew(A, &AIJFmtReplaced, parallel));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatCreate_SeqAIJ_Replaced(Mat A) { return CreateReplaced(A, PETSC_FALSE); }
static PetscErrorCode MatCreate_MPIAIJ_Replaced(Mat A) { return CreateReplaced(A, PETSC_TRUE); }

/* Affects only matrices that get their type afterwards. Where our types cannot serve the scalars of this PETSc, MATAIJ
   stays PETSc's. */
PetscErrorCode AIJFmtReplace(PetscBool replace)
{
  static const MatType types[]            = {MATSEQAIJ, MATMPIAIJ};
  PetscErrorCode (*const creators[])(Mat) = {MatCreate_SeqAIJ_Replaced, MatCreate_MPIAIJ_Replaced};

  PetscFunctionBegin;
  if (PetscDefined(USE_COMPLEX) || !(PetscDefined(USE_REAL_DOUBLE) || PetscDefined(USE_REAL_SINGLE)))
    PetscFunctionReturn(PETSC_SUCCESS);
  for (int parallel = 0; parallel < 2; parallel++) {
    PetscErrorCode (*now)(Mat);

    PetscCall(PetscFunctionListFind(MatList, types[parallel], &now));
    if (now != creators[parallel]) aijfmt_process.create[parallel] = now;
    PetscCall(MatRegister(types[parallel], replace ? creators[parallel] : aijfmt_process.create[parallel]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  ---- conversions ----

  The operations convertfrom and convert, to which MatConvert() falls back if it finds no function for a pair of types,
  and the converter of -mat_seqaij_type. Converters between AIJ types are idempotent, and the in-place ones also work
  on unassembled matrices, because creators use them.
*/

/* MATSEQAIJ, MATMPIAIJ, or a type of another format -> our type */
static PetscErrorCode MatConvert_AIJ_AIJFmt(Mat A, MatType type, MatReuse reuse, Mat *B)
{
  const AIJFmtRow *row;
  PetscBool        parallel;

  PetscFunctionBegin;
  PetscCall(AIJFmtRowFind(type, &row));
  PetscCheck(row, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_UNKNOWN_TYPE, "%s is not a type of petscpack", type);
  PetscCall(PetscStrbeginswith(((PetscObject)A)->type_name, "mpi", &parallel));
  if (reuse == MAT_REUSE_MATRIX) {
    PetscCall(MatCopy(A, *B, SAME_NONZERO_PATTERN));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (reuse == MAT_INITIAL_MATRIX) PetscCall(MatDuplicate(A, MAT_COPY_VALUES, B));
  PetscCall(AIJFmtInstall(*B, row, parallel, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The converter of -mat_seqaij_type */
PetscErrorCode MatConvert_SeqAIJ_AIJFmt(Mat A, MatType type, MatReuse reuse, Mat *B)
{
  PetscFunctionBegin;
  if (!aijfmt_process.plain) PetscCall(MatConvert_AIJ_AIJFmt(A, type, reuse, B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Our type -> MATSEQAIJ or MATMPIAIJ, or another subclass of them such as MATSEQAIJPERM */
static PetscErrorCode MatConvert_AIJFmt_AIJ(Mat A, MatType type, MatReuse reuse, Mat *B)
{
  PetscFunctionBegin;
  if (reuse == MAT_REUSE_MATRIX) PetscCall(MatCopy(A, *B, SAME_NONZERO_PATTERN));
  else {
    if (reuse == MAT_INITIAL_MATRIX) PetscCall(MatDuplicate(A, MAT_COPY_VALUES, B));
    PetscCall(AIJFmtStrip(*B)); /* now of the parent type, on the host or CUDA */
    PetscCall(MatConvert(*B, type, MAT_INPLACE_MATRIX, B));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The parent type with the same prefix as a type of ours: aijrbp gives aij, seqaijrbp gives seqaij */
static MatType ParentName(MatType type, const AIJFmtRow *row)
{
  return !strcmp(type, row->seq) ? MATSEQAIJ : !strcmp(type, row->mpi) ? MATMPIAIJ : MATAIJ;
}

/* Whether A is of a parent type or of our type, of the kind that `parent` (seqaij, mpiaij or aij) names. Another
   subclass does not count: its own converter must undo its changes. */
static PetscErrorCode IsOurKind(Mat A, MatType parent, PetscBool *is)
{
  const AIJFmtParent *found;
  Mat_AIJFmt         *s;

  PetscFunctionBegin;
  PetscCall(AIJFmtStateGet(A, &s));
  PetscCall(AIJFmtParentFind(((PetscObject)A)->type_name, &found));
  PetscCall(PetscStrbeginswith(((PetscObject)A)->type_name, parent, is));
  *is = (s || found) && (*is || !strcmp(parent, MATAIJ)) ? PETSC_TRUE : PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Any type -> our type, by way of the parent type unless A has it already */
PetscErrorCode MatConvertFrom_AIJFmt(Mat A, MatType type, MatReuse reuse, Mat *B)
{
  const AIJFmtRow *row;
  MatType          parent;
  PetscErrorCode   error;
  PetscBool        direct = PETSC_FALSE; /* gcc does not see that it is set whenever the call succeeds */

  PetscFunctionBegin;
  PetscCall(AIJFmtRowFind(type, &row));
  if (!row) { /* a type of PETSc, which made ours because of -mat_seqaij_type: again, with new matrices PETSc's own */
    aijfmt_process.plain++;
    error = MatConvert(A, type, reuse, B);
    aijfmt_process.plain--;
    PetscCall(error);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  parent = ParentName(type, row);
  PetscCall(IsOurKind(A, parent, &direct));
  if (direct) PetscCall(MatConvert_AIJ_AIJFmt(A, type, reuse, B));
  else if (reuse == MAT_REUSE_MATRIX) {
    Mat plain;

    PetscCall(MatConvert(A, parent, MAT_INITIAL_MATRIX, &plain));
    PetscCall(MatCopy(plain, *B, DIFFERENT_NONZERO_PATTERN));
    PetscCall(MatDestroy(&plain));
  } else {
    PetscCall(MatConvert(A, parent, reuse, B));
    PetscCall(MatConvert_AIJ_AIJFmt(*B, type, MAT_INPLACE_MATRIX, B));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Our type -> a type that is no AIJ type: calls MatConvert() again, this time with A under the name of its parent */
static PetscErrorCode ConvertAsParent(Mat A, MatType type, MatReuse reuse, Mat *B)
{
  PetscErrorCode (*const convert)(Mat, MatType, MatReuse, Mat *) = A->ops->convert;
  const PetscObjectId id                                         = ((PetscObject)A)->id;
  AIJFmtNameGuard     guard;
  PetscErrorCode      error;
  Mat_AIJFmt         *s;

  PetscFunctionBegin;
  PetscCall(AIJFmtStateGet(A, &s));
  if (s && !s->parallel)
    PetscCall(AIJFmtHostFetch(A)); /* some converters read the host array without MatSeqAIJGetArrayRead() */
  PetscCall(AIJFmtNameGuardBegin(A, AIJFMT_PARENT_HOST, &guard));
  A->ops->convert = NULL;
  error           = MatConvert(A, type, reuse, B);
  if (((PetscObject)A)->id == id) A->ops->convert = convert;
  PetscCall(AIJFmtNameGuardEnd(A, &guard));
  PetscCall(error);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatConvert_AIJFmt_Any(Mat A, MatType type, MatReuse reuse, Mat *B)
{
  Mat_AIJFmt *s;
  PetscBool   root, seq, mpi;

  PetscFunctionBegin;
  PetscCall(AIJFmtStateGet(A, &s));
  PetscCall(PetscStrbeginswith(type, MATAIJ, &root));
  PetscCall(PetscStrbeginswith(type, MATSEQAIJ, &seq));
  PetscCall(PetscStrbeginswith(type, MATMPIAIJ, &mpi));
  if (s && (root || seq || mpi)) PetscCall(MatConvert_AIJFmt_AIJ(A, type, reuse, B));
  else PetscCall(ConvertAsParent(A, type, reuse, B));
  PetscFunctionReturn(PETSC_SUCCESS);
}
