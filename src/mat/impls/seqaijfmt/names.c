/*
  names.c - functions of PETSc that take exactly seqaij or mpiaij, and do not recognize a subclass.

  Most of PETSc tests whether a type name begins with seqaij or mpiaij. Some functions compare the whole name, and do
  something else, or nothing, for a subclass. Those that can be reached through a table of PETSc are called here while
  the matrix has the name of its parent type, so that they do what they do for AIJ: orderings, colorings, HEM
  coarsening, PCCP, PCTFS, PCILU with shift nonzero, classical PCGAMG, MatSeqAIJKron(). docs/petsc-names.md lists all of
  them, and says which cannot be reached.
*/
#include "seqaijfmt.h"
#include <petsc/private/pcimpl.h>

/* Brings the values to the host, where functions of the parent read them without a check */
static PetscErrorCode UpdateHostValues(Mat A, const Mat_AIJFmt *s)
{
  Mat blocks[2] = {A, NULL};

  PetscFunctionBegin;
  if (s->parallel) PetscCall(AIJFmtBlocksGet(A, blocks));
  for (int b = 0; b < 2; b++) {
    const PetscScalar *values;

    if (!blocks[b] || blocks[b]->structure_only) continue;
    PetscCall(MatSeqAIJGetArrayRead(blocks[b], &values));
    PetscCall(MatSeqAIJRestoreArrayRead(blocks[b], &values));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Until AIJFmtAliasEnd(), a matrix of ours has the type name of the host parent, and its current values on the host.
   All other matrices stay as they are. */
PetscErrorCode AIJFmtAliasBegin(Mat A, AIJFmtAlias *alias)
{
  Mat_AIJFmt *s;
  char       *name;

  PetscFunctionBegin;
  alias->state = NULL;
  PetscCall(AIJFmtStateGet(A, &s));
  if (!s || s->alias) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(UpdateHostValues(A, s));
  PetscCall(PetscStrallocpy(AIJFmtHostType(s), &name));
  alias->state                = s;
  alias->id                   = ((PetscObject)A)->id;
  alias->own_name             = ((PetscObject)A)->type_name;
  ((PetscObject)A)->type_name = name;
  s->alias                    = AIJFmtHostType(s);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A conversion in place may have made A another matrix, whose name stays */
PetscErrorCode AIJFmtAliasEnd(Mat A, AIJFmtAlias *alias)
{
  PetscFunctionBegin;
  if (!alias->state) PetscFunctionReturn(PETSC_SUCCESS);
  if (((PetscObject)A)->id != alias->id) PetscCall(PetscFree(alias->own_name));
  else {
    PetscCall(PetscFree(((PetscObject)A)->type_name));
    ((PetscObject)A)->type_name = alias->own_name;
    alias->state->alias         = NULL;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- orderings: MatGetOrdering() orders the diagonal block of exactly mpiaij ---- */

typedef PetscErrorCode Ordering(Mat, MatOrderingType, IS *, IS *);

/* PETSc's own orderings. The table outlives PetscPackFinalizePackage(), because PETSc's list still has our functions
 * then. */
static struct {
  char      name[64];
  Ordering *order;
} orderings[64];
static int ordering_count;

/* The slot of an ordering, or the next free one */
static PetscErrorCode FindOrdering(MatOrderingType type, int *slot)
{
  PetscBool same = PETSC_FALSE;

  PetscFunctionBegin;
  for (*slot = 0; *slot < ordering_count; ++*slot) {
    PetscCall(PetscStrcmp(orderings[*slot].name, type, &same));
    if (same) break;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatGetOrdering_AIJFmt(Mat A, MatOrderingType type, IS *rows, IS *cols)
{
  Mat_AIJFmt    *s;
  AIJFmtAlias    alias;
  PetscErrorCode error;
  int            slot;

  PetscFunctionBegin;
  PetscCall(AIJFmtStateGet(A, &s));
  if (s && s->parallel && !s->alias) {
    PetscCall(AIJFmtAliasBegin(A, &alias));
    error = MatGetOrdering(A, type, rows, cols);
    PetscCall(AIJFmtAliasEnd(A, &alias));
    PetscCall(error);
  } else {
    PetscCall(FindOrdering(type, &slot));
    PetscCheck(slot < ordering_count, PETSC_COMM_SELF, PETSC_ERR_PLIB, "ordering %s is not one that petscpack changed",
               type);
    PetscCall(orderings[slot].order(A, type, rows, cols));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode WrapOrderings(void)
{
  const char **names = NULL;
  int          count = 0;

  PetscFunctionBegin;
  PetscCall(MatOrderingRegisterAll());
  PetscCall(PetscFunctionListGet(MatOrderingList, &names, &count));
  for (int i = 0; i < count && names[i]; i++) { /* PETSc 3.18 counts the NULL at the end, too */
    Ordering *order;
    int       slot;

    PetscCall(PetscFunctionListFind(MatOrderingList, names[i], &order));
    PetscCall(FindOrdering(names[i], &slot));
    if (order == MatGetOrdering_AIJFmt || slot == (int)PETSC_STATIC_ARRAY_LENGTH(orderings)) continue;
    PetscCall(PetscStrncpy(orderings[slot].name, names[i], sizeof orderings[slot].name));
    orderings[slot].order = order;
    if (slot == ordering_count) ordering_count++;
    PetscCall(MatOrderingRegister(orderings[slot].name, MatGetOrdering_AIJFmt));
  }
  PetscCall(PetscFree(names));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- objects that work on a matrix: one of their operations runs with the parent's name on it ---- */

static struct {
  const char *type;
  PetscErrorCode (*create)(MatColoring), (*apply)(MatColoring, ISColoring *);
} colorings[] = {{MATCOLORINGJP, NULL, NULL}, {MATCOLORINGGREEDY, NULL, NULL}};

/* PETSc calls the creator of a MatCoarsen before it sets the name of the type, so there can be one row only */
static struct {
  const char *type;
  PetscErrorCode (*create)(MatCoarsen), (*apply)(MatCoarsen);
} coarsenings[1] = {{MATCOARSENHEM, NULL, NULL}};

static struct {
  const char *type;
  PetscErrorCode (*create)(PC), (*setup)(PC);
} preconditioners[] = {{PCCP, NULL, NULL}, {PCTFS, NULL, NULL}, {PCILU, NULL, NULL}, {PCGAMG, NULL, NULL}};

/* The row of a table with the type name of an object. Creators and operations are called with the name in place. */
#define FindRow(table, object, row)                                                                                    \
  do {                                                                                                                 \
    PetscBool same_ = PETSC_FALSE;                                                                                     \
    for (*(row) = 0; *(row) < (int)PETSC_STATIC_ARRAY_LENGTH(table); ++*(row)) {                                       \
      PetscCall(PetscStrcmp((table)[*(row)].type, ((PetscObject)(object))->type_name, &same_));                        \
      if (same_) break;                                                                                                \
    }                                                                                                                  \
    PetscCheck(same_, PETSC_COMM_SELF, PETSC_ERR_PLIB, "type %s is not one that petscpack changes",                    \
               ((PetscObject)(object))->type_name);                                                                    \
  } while (0)

/* Saves the creators of a table from PETSc's list, and registers `ours` instead, unless it is registered already */
#define WrapCreators(table, list, Register, Object, ours)                                                              \
  do {                                                                                                                 \
    for (size_t r_ = 0; r_ < PETSC_STATIC_ARRAY_LENGTH(table); r_++) {                                                 \
      PetscErrorCode (*create_)(Object);                                                                               \
      PetscCall(PetscFunctionListFind(list, (table)[r_].type, &create_));                                              \
      if (!create_ || create_ == ours) continue;                                                                       \
      (table)[r_].create = create_;                                                                                    \
      PetscCall(Register((table)[r_].type, ours));                                                                     \
    }                                                                                                                  \
  } while (0)

static PetscErrorCode MatColoringApply_AIJFmt(MatColoring coloring, ISColoring *result)
{
  AIJFmtAlias    alias;
  PetscErrorCode error;
  int            row;

  PetscFunctionBegin;
  FindRow(colorings, coloring, &row);
  PetscCall(AIJFmtAliasBegin(coloring->mat, &alias));
  error = colorings[row].apply(coloring, result);
  PetscCall(AIJFmtAliasEnd(coloring->mat, &alias));
  PetscCall(error);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatColoringCreate_AIJFmt(MatColoring coloring)
{
  int row;

  PetscFunctionBegin;
  FindRow(colorings, coloring, &row);
  PetscCall(colorings[row].create(coloring));
  colorings[row].apply = coloring->ops->apply;
  coloring->ops->apply = MatColoringApply_AIJFmt;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatCoarsenApply_AIJFmt(MatCoarsen coarsen)
{
  AIJFmtAlias    alias;
  PetscErrorCode error;

  PetscFunctionBegin;
  PetscCall(AIJFmtAliasBegin(coarsen->graph, &alias));
  error = coarsenings[0].apply(coarsen);
  PetscCall(AIJFmtAliasEnd(coarsen->graph, &alias));
  PetscCall(error);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatCoarsenCreate_AIJFmt(MatCoarsen coarsen)
{
  PetscFunctionBegin;
  PetscCall(coarsenings[0].create(coarsen));
  coarsenings[0].apply = coarsen->ops->apply;
  coarsen->ops->apply  = MatCoarsenApply_AIJFmt;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PCILU changes a shift of kind nonzero, and classical PCGAMG stops, for a GPU's AIJ as well: a matrix over it behaves
   as its parent does. The others read the host's arrays only. */
static PetscErrorCode NeedsAlias(PC pc, PetscBool *needs)
{
  MatFactorShiftType  shift;
  PCGAMGType          gamg;
  const AIJFmtParent *host;
  Mat_AIJFmt         *s;
  PetscBool           is_ilu, is_gamg;

  PetscFunctionBegin;
  PetscCall(AIJFmtStateGet(pc->pmat, &s));
  PetscCall(PetscObjectTypeCompare((PetscObject)pc, PCILU, &is_ilu));
  PetscCall(PetscObjectTypeCompare((PetscObject)pc, PCGAMG, &is_gamg));
  *needs = s ? PETSC_TRUE : PETSC_FALSE;
  if (!s || !(is_ilu || is_gamg)) PetscFunctionReturn(PETSC_SUCCESS);
  if (is_ilu) {
    PetscCall(PCFactorGetShiftType(pc, &shift));
    *needs = shift == MAT_SHIFT_NONZERO ? PETSC_TRUE : PETSC_FALSE;
  } else {
    PetscCall(PCGAMGGetType(pc, &gamg));
    PetscCall(PetscStrcmp(gamg, PCGAMGCLASSICAL, needs));
  }
  PetscCall(AIJFmtParentGet(AIJFMT_PARENT_HOST, &host));
  if (s->parent != host) *needs = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCSetUp_AIJFmt(PC pc)
{
  AIJFmtAlias    alias = {.state = NULL};
  PetscErrorCode error;
  PetscBool      needs = PETSC_FALSE; /* gcc does not see that it is set whenever the call succeeds */
  int            row;

  PetscFunctionBegin;
  FindRow(preconditioners, pc, &row);
  PetscCall(NeedsAlias(pc, &needs));
  if (needs) PetscCall(AIJFmtAliasBegin(pc->pmat, &alias));
  error = preconditioners[row].setup(pc);
  PetscCall(AIJFmtAliasEnd(pc->pmat, &alias));
  PetscCall(error);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCCreate_AIJFmt(PC pc)
{
  int row;

  PetscFunctionBegin;
  FindRow(preconditioners, pc, &row);
  PetscCall(preconditioners[row].create(pc));
  preconditioners[row].setup = pc->ops->setup;
  pc->ops->setup             = PCSetUp_AIJFmt;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- MatSeqAIJKron(): the second matrix must be exactly seqaij ---- */

typedef PetscErrorCode Kron(Mat, Mat, MatReuse, Mat *);

static const char kron_name[] = "MatSeqAIJKron_C";

static PetscErrorCode MatSeqAIJKron_AIJFmt(Mat A, Mat B, MatReuse reuse, Mat *C)
{
  const AIJFmtParent *parent;
  AIJFmtAlias         alias;
  PetscErrorCode      error;

  PetscFunctionBegin;
  PetscCall(AIJFmtParentOf(A, &parent));
  PetscCall(AIJFmtAliasBegin(B, &alias));
  error = ((Kron *)parent->kron)(A, B, reuse, C);
  PetscCall(AIJFmtAliasEnd(B, &alias));
  PetscCall(error);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode AIJFmtNamesInstall(Mat A, const Mat_AIJFmt *s)
{
  PetscFunctionBegin;
  if (s->parent->kron) PetscCall(PetscObjectComposeFunction((PetscObject)A, kron_name, MatSeqAIJKron_AIJFmt));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode AIJFmtNamesRemove(Mat A, const Mat_AIJFmt *s)
{
  PetscFunctionBegin;
  if (s->parent->kron) PetscCall(PetscObjectComposeFunction((PetscObject)A, kron_name, s->parent->kron));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode AIJFmtNamesRegister(void)
{
  PetscFunctionBegin;
  PetscCall(WrapOrderings());
  PetscCall(MatColoringRegisterAll());
  WrapCreators(colorings, MatColoringList, MatColoringRegister, MatColoring, MatColoringCreate_AIJFmt);
  PetscCall(MatCoarsenRegisterAll());
  WrapCreators(coarsenings, MatCoarsenList, MatCoarsenRegister, MatCoarsen, MatCoarsenCreate_AIJFmt);
  PetscCall(PCInitializePackage());
  WrapCreators(preconditioners, PCList, PCRegister, PC, PCCreate_AIJFmt);
  PetscFunctionReturn(PETSC_SUCCESS);
}
