/* The table of types: formats.def as PETSc names, with the function that MatSetType() calls for each. */
#include "seqaijfmt.h"
#include "cuda.h"

static const AIJFmtRow rows[] = {
#define SPMV_FORMAT(name, TYPE, summary) {#name, MATSEQAIJ##TYPE, MATMPIAIJ##TYPE, MATAIJ##TYPE},
#include <formats.def>
#undef SPMV_FORMAT
};

enum { ROW_COUNT = sizeof rows / sizeof rows[0] };

/* petscpack.h writes the names out, for its reader's sake: they must be those that formats.def gives */
#define SPMV_FORMAT(name, TYPE, summary)                                                                               \
  _Static_assert(!__builtin_strcmp(MATAIJ##TYPE, "aij" #name) && !__builtin_strcmp(MATSEQAIJ##TYPE, "seqaij" #name) && \
                     !__builtin_strcmp(MATMPIAIJ##TYPE, "mpiaij" #name),                                               \
                 "petscpack.h and formats.def disagree about the type names of format " #name);
#include <formats.def>
#undef SPMV_FORMAT

enum {
#define SPMV_FORMAT(name, TYPE, summary) ROW_##TYPE,
#include <formats.def>
#undef SPMV_FORMAT
};

#define SPMV_FORMAT(name, TYPE, summary)                                                                               \
  static PetscErrorCode MatCreate_SeqAIJ##TYPE(Mat A) { return AIJFmtCreate(A, &rows[ROW_##TYPE], PETSC_FALSE); }      \
  static PetscErrorCode MatCreate_MPIAIJ##TYPE(Mat A) { return AIJFmtCreate(A, &rows[ROW_##TYPE], PETSC_TRUE); }
#include <formats.def>
#undef SPMV_FORMAT

static PetscErrorCode (*const creators[][2])(Mat) = {
#define SPMV_FORMAT(name, TYPE, summary) {MatCreate_SeqAIJ##TYPE, MatCreate_MPIAIJ##TYPE},
#include <formats.def>
#undef SPMV_FORMAT
};

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

/* MatRegister() comes first: it initializes the Mat package, which MatRegisterRootName() does not */
PetscErrorCode AIJFmtRowsRegister(void)
{
  PetscFunctionBegin;
  for (PetscInt i = 0; i < ROW_COUNT; i++) {
    PetscCall(MatRegister(rows[i].seq, creators[i][0]));
    PetscCall(MatRegister(rows[i].mpi, creators[i][1]));
    PetscCall(MatRegisterRootName(rows[i].root, rows[i].seq, rows[i].mpi));
    PetscCall(MatSeqAIJRegister(rows[i].seq, MatConvert_AIJ_AIJFmt));
  }
  PetscCall(AIJFmtNamesRegister());
  PetscCall(AIJFmtCudaRegister());
  PetscFunctionReturn(PETSC_SUCCESS);
}
