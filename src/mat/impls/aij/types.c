/*
  types.c - the base of all other files: the table of types, the operations of the parent types, which a matrix of ours
  calls for everything that it does not do itself, and the data of the class for the process.

  PETSc's functions are hidden inside libpetsc. Template matrices of the parent types give their addresses; the matrix
  at hand cannot, because it may already be of our type, or hold the operations of MatSetUp()'s hash table.
*/
#include "aijfmt.h"

/* The tables list where PETSc compares the whole name of a type: see petsc_names.c. PETSc calls the creator of a
   MatCoarsen before it sets its type name, so that table can have only one row. */
AIJFmtProcess aijfmt_process = {
    .device_keep = -1,
    .coloring    = {{.type = MATCOLORINGJP}, {.type = MATCOLORINGGREEDY}},
    .coarsen     = {{.type = MATCOARSENHEM}},
};

/* petscpack.h spells the names out for its readers: they must match types.def. A macro that petscpack.h does not define
   expands to its own name, so this check comes before the first use of the names. */
#define TEXT_OF_MACRO(macro) TEXT(macro)
#define TEXT(text)           #text
#define IS_NAME(macro, name) (!__builtin_strcmp(TEXT_OF_MACRO(macro), "\"" name "\""))
#define SPMV_FORMAT(name, TYPE, summary)                                                                               \
  _Static_assert(IS_NAME(MATAIJ##TYPE, "aij" #name) && IS_NAME(MATSEQAIJ##TYPE, "seqaij" #name) &&                     \
                     IS_NAME(MATMPIAIJ##TYPE, "mpiaij" #name),                                                         \
                 "include/petscpack.h must define MATAIJ" #TYPE " as \"aij" #name "\", MATSEQAIJ" #TYPE                \
                 " as \"seqaij" #name "\" and MATMPIAIJ" #TYPE " as \"mpiaij" #name "\": types.def has that type");
#include "types.def"
#undef SPMV_FORMAT
#undef IS_NAME
#undef TEXT
#undef TEXT_OF_MACRO

static const AIJFmtRow rows[] = {
#define SPMV_FORMAT(name, TYPE, summary) {#name, MATSEQAIJ##TYPE, MATMPIAIJ##TYPE, MATAIJ##TYPE},
#include "types.def"
#undef SPMV_FORMAT
};

enum { ROW_COUNT = sizeof rows / sizeof rows[0] };

/* Matrices that the program has made as MATAIJ, after -petscpack_replace aij. AIJFmtRowFind() does not find this row:
   to PETSc and to programs they are plain matrices. */
const AIJFmtRow AIJFmtReplaced = {"auto", MATSEQAIJ, MATMPIAIJ, MATAIJ};

PetscInt AIJFmtRowCount(void) { return ROW_COUNT; }

const AIJFmtRow *AIJFmtRowGet(PetscInt i) { return &rows[i]; }

/* The row of a type name, with or without the prefix seq or mpi; NULL for another type */
PetscErrorCode AIJFmtRowFind(const char *type, const AIJFmtRow **row)
{
  PetscFunctionBegin;
  *row = NULL;
  for (PetscInt i = 0; type && i < ROW_COUNT; i++)
    if (!strcmp(type, rows[i].seq) || !strcmp(type, rows[i].mpi) || !strcmp(type, rows[i].root)) *row = &rows[i];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- the parents ---- */

static const struct {
  MatType seq, mpi;
} parent_types[AIJFMT_PARENT_COUNT] = {
    [AIJFMT_PARENT_HOST] = {MATSEQAIJ, MATMPIAIJ},
    [AIJFMT_PARENT_CUDA] = {MATSEQAIJCUSPARSE, MATMPIAIJCUSPARSE},
};

/* Composed functions of a parent type that a matrix of ours replaces */
const char *const AIJFmtComposedNames[AIJFMT_COMPOSED_COUNT] = {
    [AIJFMT_RETRIEVE_VALUES] = "MatRetrieveValues_C",
    [AIJFMT_STORE_VALUES]    = "MatStoreValues_C",
    [AIJFMT_KRON]            = "MatSeqAIJKron_C",
    [AIJFMT_PREALLOCATE_COO] = "MatSetPreallocationCOO_C",
    [AIJFMT_SET_VALUES_COO]  = "MatSetValuesCOO_C",
    [AIJFMT_COPY_SUB_ARRAY]  = "MatSeqAIJCopySubArray_C",
    [AIJFMT_MERGE_LOCAL]     = "MatMPIAIJGetLocalMatMerge_C",
    [AIJFMT_INODE_SIZES]     = "MatInodeGetInodeSizes_C",
    [AIJFMT_ANY_PRODUCT]     = "MatProductSetFromOptions_anytype_C",
};

/* Takes the operations of a matrix of exactly that type. The options database is empty, so that -help does not print its
   options. */
static PetscErrorCode TakeOperations(AIJFmtParent *parent, PetscBool parallel, PetscOptions none)
{
  struct _MatOps *operation = parallel ? &parent->mpi : &parent->seq;
  Mat template;

  PetscFunctionBegin;
  PetscCall(MatCreate(PETSC_COMM_SELF, &template));
  PetscCall(PetscObjectSetOptions((PetscObject) template, none));
  PetscCall(MatSetSizes(template, 0, 0, 0, 0));
  PetscCall(MatSetType(template, parallel ? parent->mpi_type : parent->seq_type));
  *operation = *template->ops;
  for (int i = 0; i < AIJFMT_COMPOSED_COUNT; i++)
    PetscCall(PetscObjectQueryFunction((PetscObject) template, AIJFmtComposedNames[i], &parent->composed[i][parallel]));
  PetscCall(MatDestroy(&template));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode AIJFmtParentGet(AIJFmtParentKind kind, const AIJFmtParent **parent)
{
  AIJFmtParent *p = &aijfmt_process.parent[kind];
  PetscOptions  none;

  PetscFunctionBegin;
  if (!aijfmt_process.parent_known[kind]) {
    *p = (AIJFmtParent){.kind = kind, .seq_type = parent_types[kind].seq, .mpi_type = parent_types[kind].mpi};
    PetscCall(PetscOptionsCreate(&none));
    aijfmt_process.plain++;
    PetscCall(TakeOperations(p, PETSC_FALSE, none));
    PetscCall(TakeOperations(p, PETSC_TRUE, none));
    aijfmt_process.plain--;
    PetscCall(PetscOptionsDestroy(&none));
    aijfmt_process.parent_known[kind] = PETSC_TRUE;
  }
  *parent = p;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The parent with exactly this type name, or NULL */
PetscErrorCode AIJFmtParentFind(MatType type, const AIJFmtParent **parent)
{
  PetscFunctionBegin;
  *parent = NULL;
  for (int kind = 0; type && kind < AIJFMT_PARENT_COUNT; kind++)
    if (!strcmp(type, parent_types[kind].seq) || !strcmp(type, parent_types[kind].mpi))
      PetscCall(AIJFmtParentGet((AIJFmtParentKind)kind, parent));
  PetscFunctionReturn(PETSC_SUCCESS);
}
