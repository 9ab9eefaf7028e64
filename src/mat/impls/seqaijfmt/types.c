/* Registers every type of rows.c with PETSc, with the function that MatSetType() calls for it. */
#include "seqaijfmt.h"

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
