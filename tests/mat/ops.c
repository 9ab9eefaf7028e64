/*
  ops.c - the table of operations, one operation run, and what operations record and replace
*/
#include "ops.h"

static const ConfOperation *const tables[] = {op_values, op_arrays, op_sums,     op_renewals, op_convert, op_structure,
                                              op_parts,  op_reads,  op_products, op_solve,    op_device};

const ConfOperation *OpGet(PetscInt i)
{
  for (size_t t = 0; t < sizeof(tables) / sizeof(tables[0]); t++)
    for (const ConfOperation *o = tables[t]; o->name; o++)
      if (!i--) return o;
  return NULL;
}

const ConfOperation *OpFind(const char *name)
{
  const ConfOperation *o;

  for (PetscInt i = 0; (o = OpGet(i)); i++)
    if (!strcmp(o->name, name)) return o;
  return NULL;
}

/* The second call draws the same numbers as the first */
static PetscErrorCode Refill(Conf *c, const ConfOperation *o, uint64_t drawn, PetscInt way)
{
  const uint64_t drawn_now = c->drawn;
  const PetscInt way_now   = c->way;

  PetscFunctionBeginUser;
  c->drawn = drawn;
  c->way   = way;
  PetscCall(o->run(c));
  c->drawn = drawn_now;
  c->way   = way_now;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode OpRun(Conf *c, const ConfOperation *o)
{
  const uint64_t  drawn = c->drawn;
  const PetscInt  way   = c->way;
  const PetscBool other = c->other ? PETSC_TRUE : PETSC_FALSE;

  PetscFunctionBeginUser;
  c->operation = o;
  PetscCall(o->run(c));
  if ((o->where & OP_MAKES) && c->made && (way >= 0 || OpChance(c, 60))) {
    PetscCall(MatScale(c->A, OpFactor(c)));
    PetscCall(Refill(c, o, drawn, way));
  }
  if (c->made && (o->where & OP_BECOMES) && OpChance(c, 25)) {
    PetscCall(OpReplace(c, c->made));
    c->made = NULL;
  }
  PetscCall(MatDestroy(&c->made));
  if (!other) PetscCall(MatDestroy(&c->other));
  PetscFunctionReturn(PETSC_SUCCESS);
}

MatReuse OpReuse(const Conf *c) { return c->made ? MAT_REUSE_MATRIX : MAT_INITIAL_MATRIX; }

PetscErrorCode OpSeeMade(Conf *c, const char *what, PetscBool own)
{
  PetscFunctionBeginUser;
  if (c->alone) PetscCall(ConfSeeRows(c, what, c->made));
  else if (own) PetscCall(ConfSeeMat(c, what, c->made));
  else PetscCall(ConfSeeProducts(c, what, c->made));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode OpSeeIS(Conf *c, const char *what, IS is)
{
  const PetscInt *index;
  PetscInt        n;

  PetscFunctionBeginUser;
  PetscCall(ISGetLocalSize(is, &n));
  PetscCall(ISGetIndices(is, &index));
  PetscCall(ConfSeeReal(c, what, (PetscReal)n));
  for (PetscInt i = 0; i < n; i++) PetscCall(ConfSeeReal(c, what, (PetscReal)index[i]));
  PetscCall(ISRestoreIndices(is, &index));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode OpStepOption(Conf *c, const char *name, const char *value)
{
  PetscFunctionBeginUser;
  c->step_option = name;
  if (name) PetscCall(PetscOptionsSetValue(NULL, name, value));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode OpKeep(Conf *c, Mat B)
{
  ConfKept *k = c->kept;

  PetscFunctionBeginUser;
  if (!k) {
    PetscCall(MatDestroy(&B));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (k->count == CONF_KEPT_MAX) PetscCall(MatDestroy(&k->A[--k->count]));
  k->A[k->count++] = B;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode OpReplace(Conf *c, Mat B)
{
  PetscFunctionBeginUser;
  PetscCall(OpKeep(c, c->A));
  c->A = B;
  PetscFunctionReturn(PETSC_SUCCESS);
}
