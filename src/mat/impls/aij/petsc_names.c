/*
  petsc_names.c - functions of PETSc that take exactly seqaij or mpiaij, and do not recognize a subclass.

  Most of PETSc tests whether a type name begins with seqaij or mpiaij. Some functions compare the whole name, and do
  something else, or nothing, for a subclass. Those that PETSc calls through a table of functions are called here while
  the matrix has the name of its parent type, so that they work as for AIJ: orderings, colorings, HEM coarsening,
  MatSeqAIJKron(); PCs: see setup_window.c. docs/petsc-names.md lists all of these functions, and those that cannot be
  reached in this way.
*/
#include "aijfmt.h"

/* ---- orderings: MatGetOrdering() uses the diagonal block of an mpiaij matrix, but not of a subclass ---- */

typedef PetscErrorCode OrderingFn(Mat, MatOrderingType, IS *, IS *);

/* The slot of an ordering, or a free one if the ordering is new */
static int FindOrdering(MatOrderingType type)
{
  int slot = 0;

  while (slot < aijfmt_process.ordering_count && strcmp(aijfmt_process.ordering[slot].name, type)) slot++;
  return slot;
}

static PetscErrorCode MatGetOrdering_AIJFmt(Mat A, MatOrderingType type, IS *rows, IS *cols)
{
  const int   slot = FindOrdering(type);
  Mat_AIJFmt *s;

  PetscFunctionBegin;
  PetscCall(AIJFmtStateGet(A, &s));
  PetscCall(AIJFmtInodesFind(A, "MatGetOrdering()")); /* an ordering keeps the rows of an inode together */
  if (s && s->parallel && !s->alias) AIJFmtAs(A, AIJFMT_PARENT_HOST, MatGetOrdering(A, type, rows, cols));
  else {
    PetscCheck(slot < aijfmt_process.ordering_count, PETSC_COMM_SELF, PETSC_ERR_PLIB,
               "ordering %s is not one that petscpack changed", type);
    PetscCall(((OrderingFn *)aijfmt_process.ordering[slot].order)(A, type, rows, cols));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode WrapOrderings(void)
{
  const int    most  = (int)PETSC_STATIC_ARRAY_LENGTH(aijfmt_process.ordering);
  const char **names = NULL;
  int          count = 0;

  PetscFunctionBegin;
  PetscCall(MatOrderingRegisterAll());
  PetscCall(PetscFunctionListGet(MatOrderingList, &names, &count));
  for (int i = 0; i < count && names[i]; i++) { /* PETSc 3.18 counts the NULL at the end, too */
    const int      slot = FindOrdering(names[i]);
    AIJFmtFunction order;

    PetscCall(PetscFunctionListFind(MatOrderingList, names[i], &order));
    if (order == (AIJFmtFunction)MatGetOrdering_AIJFmt || slot == most) continue;
    PetscCall(PetscStrncpy(aijfmt_process.ordering[slot].name, names[i], sizeof aijfmt_process.ordering[slot].name));
    aijfmt_process.ordering[slot].order = order;
    if (slot == aijfmt_process.ordering_count) aijfmt_process.ordering_count++;
    PetscCall(MatOrderingRegister(aijfmt_process.ordering[slot].name, MatGetOrdering_AIJFmt));
  }
  PetscCall(PetscFree(names));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- objects that work on a matrix: one operation of each runs while the matrix has the name of its parent ---- */

enum { COLORINGS = PETSC_STATIC_ARRAY_LENGTH(aijfmt_process.coloring) };

/* The row of a table with the type name of an object, which is set when creators and operations run */
PetscErrorCode AIJFmtWrappedFind(AIJFmtWrapped table[], int rows, const char type[], AIJFmtWrapped **row)
{
  PetscBool same;

  PetscFunctionBegin;
  *row = NULL;
  for (int r = 0; r < rows && !*row; r++) {
    PetscCall(PetscStrcmp(table[r].type, type, &same));
    if (same) *row = &table[r];
  }
  PetscCheck(*row, PETSC_COMM_SELF, PETSC_ERR_PLIB, "type %s is not one that petscpack changes", type);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Saves the creators of a table from PETSc's list and registers `ours` instead, unless it is registered already */
PetscErrorCode AIJFmtWrappedCreators(AIJFmtWrapped table[], int rows, PetscFunctionList *list, AIJFmtFunction ours)
{
  PetscFunctionBegin;
  for (int r = 0; r < rows; r++) {
    AIJFmtFunction create;

    PetscCall(PetscFunctionListFind(*list, table[r].type, &create));
    if (!create || create == ours) continue;
    table[r].create = create;
    PetscCall(PetscFunctionListAdd(list, table[r].type, ours));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

typedef PetscErrorCode CreateColoring(MatColoring), ApplyColoring(MatColoring, ISColoring *);

static PetscErrorCode MatColoringApply_AIJFmt(MatColoring coloring, ISColoring *result)
{
  AIJFmtWrapped *row;

  PetscFunctionBegin;
  PetscCall(AIJFmtWrappedFind(aijfmt_process.coloring, COLORINGS, ((PetscObject)coloring)->type_name, &row));
  AIJFmtAs(coloring->mat, AIJFMT_PARENT_HOST, ((ApplyColoring *)row->operation)(coloring, result));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatColoringCreate_AIJFmt(MatColoring coloring)
{
  AIJFmtWrapped *row;

  PetscFunctionBegin;
  PetscCall(AIJFmtWrappedFind(aijfmt_process.coloring, COLORINGS, ((PetscObject)coloring)->type_name, &row));
  PetscCall(((CreateColoring *)row->create)(coloring));
  row->operation       = (AIJFmtFunction)coloring->ops->apply;
  coloring->ops->apply = MatColoringApply_AIJFmt;
  PetscFunctionReturn(PETSC_SUCCESS);
}

typedef PetscErrorCode CoarsenStep(MatCoarsen);

static PetscErrorCode MatCoarsenApply_AIJFmt(MatCoarsen coarsen)
{
  PetscFunctionBegin;
  AIJFmtAs(coarsen->graph, AIJFMT_PARENT_HOST, ((CoarsenStep *)aijfmt_process.coarsen[0].operation)(coarsen));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatCoarsenCreate_AIJFmt(MatCoarsen coarsen)
{
  PetscFunctionBegin;
  PetscCall(((CoarsenStep *)aijfmt_process.coarsen[0].create)(coarsen));
  aijfmt_process.coarsen[0].operation = (AIJFmtFunction)coarsen->ops->apply;
  coarsen->ops->apply                 = MatCoarsenApply_AIJFmt;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- MatSeqAIJKron(): the second matrix must be exactly seqaij ---- */

typedef PetscErrorCode SeqAIJKronFn(Mat, Mat, MatReuse, Mat *);

PetscErrorCode MatSeqAIJKron_AIJFmt(Mat A, Mat B, MatReuse reuse, Mat *C)
{
  const AIJFmtParent *parent;

  PetscFunctionBegin;
  PetscCall(AIJFmtParentOf(A, &parent));
  AIJFmtAs(B, AIJFMT_PARENT_HOST, ((SeqAIJKronFn *)parent->composed[AIJFMT_KRON][0])(A, B, reuse, C));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode AIJFmtNamesRegister(void)
{
  PetscFunctionBegin;
  PetscCall(WrapOrderings());
  PetscCall(MatColoringRegisterAll());
  PetscCall(AIJFmtWrappedCreators(aijfmt_process.coloring, COLORINGS, &MatColoringList,
                                  (AIJFmtFunction)MatColoringCreate_AIJFmt));
  PetscCall(MatCoarsenRegisterAll());
  PetscCall(AIJFmtWrappedCreators(aijfmt_process.coarsen, 1, &MatCoarsenList, (AIJFmtFunction)MatCoarsenCreate_AIJFmt));
  PetscFunctionReturn(PETSC_SUCCESS);
}
