/*
  record.c - the results of an operation as a list of numbers and texts, and the comparison of two lists
*/
#include "conf.h"

/* The data are small integers, so sums are exact; divisions (factorizations, norms) are done in the same order */
#define TOLERANCE (1e4 * PETSC_MACHINE_EPSILON)

PetscErrorCode ConfRecordCreate(ConfRecord *r)
{
  PetscFunctionBeginUser;
  PetscCall(PetscSegBufferCreate(sizeof(ConfItem), 1024, &r->items));
  PetscCall(PetscSegBufferCreate(sizeof(ConfLabel), 64, &r->labels));
  r->count = 0;
  r->last  = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ConfRecordDestroy(ConfRecord *r)
{
  PetscFunctionBeginUser;
  PetscCall(PetscSegBufferDestroy(&r->items));
  PetscCall(PetscSegBufferDestroy(&r->labels));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscBool IsLabelled(const ConfLabel *label, const char *what, const char *text)
{
  return label && !strcmp(label->what, what) && !strcmp(label->text, text) ? PETSC_TRUE : PETSC_FALSE;
}

/* Labels all later items */
static PetscErrorCode Label(Conf *c, const char *what, const char *text)
{
  ConfRecord *r = c->record;
  ConfLabel  *label;

  PetscFunctionBeginUser;
  if (IsLabelled(r->last, what, text)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscSegBufferGet(r->labels, 1, &label));
  PetscCall(PetscStrncpy(label->what, what, CONF_WHAT_MAX));
  PetscCall(PetscStrncpy(label->text, text, CONF_TYPE_MAX));
  r->last = label;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode See(Conf *c, PetscReal value)
{
  ConfRecord *r = c->record;
  ConfItem   *item;

  PetscFunctionBeginUser;
  PetscCall(PetscSegBufferGet(r->items, 1, &item));
  item->label = r->last;
  item->value = value;
  r->count++;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ConfSeeReal(Conf *c, const char *what, PetscReal value)
{
  PetscFunctionBeginUser;
  PetscCall(Label(c, what, ""));
  PetscCall(See(c, value));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ConfSeeText(Conf *c, const char *what, const char *text)
{
  PetscFunctionBeginUser;
  PetscCall(Label(c, what, text));
  PetscCall(See(c, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ConfSeeVec(Conf *c, const char *what, Vec x)
{
  const PetscScalar *value;
  PetscInt           n;

  PetscFunctionBeginUser;
  PetscCall(VecGetLocalSize(x, &n));
  PetscCall(VecGetArrayRead(x, &value));
  PetscCall(ConfSeeReal(c, what, (PetscReal)n));
  for (PetscInt i = 0; i < n; i++) PetscCall(See(c, PetscRealPart(value[i])));
  PetscCall(VecRestoreArrayRead(x, &value));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The type's name without the format, so that both runs record the same text; ours: whether the format was there */
static PetscErrorCode PlainTypeName(const Conf *c, Mat A, char *name, PetscBool *ours)
{
  MatType     type;
  const char *bases[] = {"seqaij", "mpiaij"};
  char        full[CONF_TYPE_MAX];

  PetscFunctionBeginUser;
  PetscCall(MatGetType(A, &type));
  PetscCall(PetscStrncpy(name, type, CONF_TYPE_MAX));
  *ours = PETSC_FALSE;
  for (int b = 0; b < 2 && c->format[0] && !*ours; b++) {
    PetscCall(ConfName(c, bases[b], full));
    PetscCall(PetscStrcmp(type, full, ours));
    if (*ours) PetscCall(PetscStrncpy(name, bases[b], CONF_TYPE_MAX));
  }
  if (!ConfIsOurs(c->format)) *ours = PETSC_FALSE; /* a subclass of AIJ by PETSc, such as aijcusparse */
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ConfSeeRows(Conf *c, const char *what, Mat A)
{
  PetscInt           low, high, count;
  const PetscInt    *col;
  const PetscScalar *value;

  PetscFunctionBeginUser;
  PetscCall(MatGetOwnershipRange(A, &low, &high));
  for (PetscInt i = low; i < high; i++) {
    PetscCall(MatGetRow(A, i, &count, &col, &value));
    PetscCall(ConfSeeReal(c, what, (PetscReal)count));
    for (PetscInt k = 0; k < count; k++) {
      PetscCall(See(c, (PetscReal)col[k]));
      PetscCall(See(c, PetscRealPart(value[k])));
    }
    PetscCall(MatRestoreRow(A, i, &count, &col, &value));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ConfSeeMat(Conf *c, const char *what, Mat A)
{
  char      type[CONF_TYPE_MAX];
  PetscInt  size[4];
  PetscBool ours;

  PetscFunctionBeginUser;
  PetscCall(PlainTypeName(c, A, type, &ours));
  PetscCall(ConfSeeText(c, what, type));
  PetscCall(MatGetSize(A, &size[0], &size[1]));
  PetscCall(MatGetLocalSize(A, &size[2], &size[3]));
  for (int k = 0; k < 4; k++) PetscCall(ConfSeeReal(c, what, (PetscReal)size[k]));
  PetscCall(ConfSeeRows(c, what, A));
  PetscCall(ConfSeeProducts(c, what, A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Number of products that a matrix of a type under test has done, by the format or by the parent. Matrices without
   nonzeros do not count products. */
static PetscErrorCode CountProducts(Mat A, PetscBool ours, PetscReal *count)
{
  MatAIJFmtInfo info;
  MatInfo       size;

  PetscFunctionBeginUser;
  *count = 0;
  if (ours) {
    PetscCall(MatGetInfo(A, MAT_GLOBAL_SUM, &size));
    *count = size.nz_used > 0 ? 0 : PETSC_INFINITY;
  }
  if (ours && *count == 0) {
    PetscCall(MatAIJFmtGetInfo(A, &info));
    *count = info.products + info.products_transposed + info.fallbacks + info.fallbacks_transposed;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* to = A from + scale * to, once in place and once into a third vector */
static PetscErrorCode SeeSums(Conf *c, const char *what, Mat A, Vec from, Vec to,
                              PetscErrorCode (*product)(Mat, Vec, Vec, Vec))
{
  Vec third;

  PetscFunctionBeginUser;
  PetscCall(VecDuplicate(to, &third));
  PetscCall(ConfSetVec(third, 99));
  PetscCall(product(A, from, to, third));
  PetscCall(ConfSeeVec(c, what, third));
  PetscCall(product(A, from, to, to));
  PetscCall(ConfSeeVec(c, what, to));
  PetscCall(VecDestroy(&third));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ConfSeeProducts(Conf *c, const char *what, Mat A)
{
  Vec       x, y;
  char      type[CONF_TYPE_MAX];
  PetscBool ours;
  PetscReal before, after;

  PetscFunctionBeginUser;
  PetscCall(PlainTypeName(c, A, type, &ours));
  PetscCall(CountProducts(A, ours, &before));
  PetscCall(ConfCreateVecs(A, 3, &x, &y));
  PetscCall(MatMult(A, x, y));
  PetscCall(ConfSeeVec(c, what, y));
  PetscCall(SeeSums(c, what, A, x, y, MatMultAdd));
  PetscCall(ConfSetVec(y, 5));
  PetscCall(MatMultTranspose(A, y, x));
  PetscCall(ConfSeeVec(c, what, x));
  PetscCall(SeeSums(c, what, A, y, x, MatMultTransposeAdd));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(CountProducts(A, ours, &after));
  if (ours && after < before + 6) c->uncounted++;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscBool Agree(PetscReal a, PetscReal b, PetscReal scale)
{
  if (a == b || (PetscIsNanReal(a) && PetscIsNanReal(b))) return PETSC_TRUE;
  if (PetscIsInfOrNanReal(a) || PetscIsInfOrNanReal(b)) return PETSC_FALSE;
  scale = PetscMax(scale, PetscMax(PetscAbsReal(a), PetscAbsReal(b)));
  return PetscAbsReal(a - b) <= TOLERANCE * scale ? PETSC_TRUE : PETSC_FALSE;
}

static PetscReal LargestNumber(const ConfItem *item, size_t count)
{
  PetscReal largest = 0;

  for (size_t i = 0; i < count; i++)
    if (!PetscIsInfOrNanReal(item[i].value)) largest = PetscMax(largest, PetscAbsReal(item[i].value));
  return largest;
}

PetscErrorCode ConfCompare(const Conf *c, const char *operation, const ConfRecord *expected, const ConfRecord *actual,
                           PetscInt *different)
{
  ConfItem        *a, *b;
  const ConfLabel *seen[2] = {NULL, NULL};
  PetscBool        same    = PETSC_FALSE;
  PetscReal        scale   = 1;

  PetscFunctionBeginUser;
  *different = 0;
  PetscCall(PetscSegBufferExtractInPlace(expected->items, &a));
  PetscCall(PetscSegBufferExtractInPlace(actual->items, &b));
  if (c->inexact) scale = PetscMax(scale, LargestNumber(a, expected->count));
  for (size_t i = 0; i < PetscMin(expected->count, actual->count); i++, a++, b++) {
    if (a->label != seen[0] || b->label != seen[1]) same = IsLabelled(a->label, b->label->what, b->label->text);
    seen[0] = a->label;
    seen[1] = b->label;
    if (same && Agree(a->value, b->value, scale)) continue;
    if ((*different)++) continue;
    PetscCall(PetscFPrintf(PETSC_COMM_SELF, PETSC_STDERR,
                           "  %s, process %d, item %zu: expected %s %s %.17g, got %s %s %.17g\n", operation, c->rank, i,
                           a->label->what, a->label->text, (double)a->value, b->label->what, b->label->text,
                           (double)b->value));
  }
  if (expected->count != actual->count) {
    (*different)++;
    PetscCall(PetscFPrintf(PETSC_COMM_SELF, PETSC_STDERR, "  %s, process %d: expected %zu items, got %zu\n", operation,
                           c->rank, expected->count, actual->count));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
