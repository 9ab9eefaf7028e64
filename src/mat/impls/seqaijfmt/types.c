/* The table of types, types.def as PETSc names; their registration, with the function that MatSetType() calls for each;
   and what the class keeps for the process. */
#include "seqaijfmt.h"
#include <petscpc.h>

/* The tables say where PETSc compares the whole name of a type: see names.c. PETSc calls the creator of a MatCoarsen
   before it sets the name of its type, so there can be one row only. */
AIJFmtProcess aijfmt_process = {
    .device_keep = -1,
    .coloring    = {{.type = MATCOLORINGJP}, {.type = MATCOLORINGGREEDY}},
    .coarsen     = {{.type = MATCOARSENHEM}},
    .pc          = {{.type = PCCP}, {.type = PCTFS}, {.type = PCILU}, {.type = PCGAMG}},
};

/* petscpack.h writes the names out, for its reader's sake: they must be those that types.def gives. A name that is
   not defined there is seen as its own text, so this comes before the first use of the names. */
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

PetscInt AIJFmtRowCount(void) { return ROW_COUNT; }

const AIJFmtRow *AIJFmtRowGet(PetscInt i) { return &rows[i]; }

/* The row that a type name belongs to, with or without its prefix seq or mpi; NULL for another type */
PetscErrorCode AIJFmtRowFind(const char *type, const AIJFmtRow **row)
{
  PetscFunctionBegin;
  *row = NULL;
  for (PetscInt i = 0; type && !*row && i < ROW_COUNT; i++) {
    const char *const names[] = {rows[i].seq, rows[i].mpi, rows[i].root};
    for (size_t n = 0; n < PETSC_STATIC_ARRAY_LENGTH(names); n++) {
      PetscBool same;
      PetscCall(PetscStrcmp(type, names[n], &same));
      if (same) *row = &rows[i];
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

enum {
#define SPMV_FORMAT(name, TYPE, summary) ROW_##TYPE,
#include "types.def"
#undef SPMV_FORMAT
};

#define SPMV_FORMAT(name, TYPE, summary)                                                                               \
  static PetscErrorCode MatCreate_SeqAIJ##TYPE(Mat A)                                                                  \
  {                                                                                                                    \
    return AIJFmtCreate(A, AIJFmtRowGet(ROW_##TYPE), PETSC_FALSE);                                                     \
  }                                                                                                                    \
  static PetscErrorCode MatCreate_MPIAIJ##TYPE(Mat A) { return AIJFmtCreate(A, AIJFmtRowGet(ROW_##TYPE), PETSC_TRUE); }
#include "types.def"
#undef SPMV_FORMAT

static PetscErrorCode (*const creators[][2])(Mat) = {
#define SPMV_FORMAT(name, TYPE, summary) {MatCreate_SeqAIJ##TYPE, MatCreate_MPIAIJ##TYPE},
#include "types.def"
#undef SPMV_FORMAT
};

/* MatRegister() comes first: it initializes the Mat package, which MatRegisterRootName() does not */
PetscErrorCode AIJFmtTypesRegister(void)
{
  PetscFunctionBegin;
  for (PetscInt i = 0; i < AIJFmtRowCount(); i++) {
    const AIJFmtRow *row = AIJFmtRowGet(i);

    PetscCall(MatRegister(row->seq, creators[i][0]));
    PetscCall(MatRegister(row->mpi, creators[i][1]));
    PetscCall(MatRegisterRootName(row->root, row->seq, row->mpi));
    PetscCall(MatSeqAIJRegister(row->seq, MatConvert_AIJ_AIJFmt));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
