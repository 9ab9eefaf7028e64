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

/* Entries of a long vector are added up in groups, with different weights */
PetscErrorCode ConfSeeVec(Conf *c, const char *what, Vec x)
{
  const PetscScalar *value;
  PetscInt           n, group, count;
  ConfItem          *item;

  PetscFunctionBeginUser;
  PetscCall(VecGetLocalSize(x, &n));
  PetscCall(ConfSeeReal(c, what, (PetscReal)n));
  group = n > 4000 ? 16 : 1;
  count = (n + group - 1) / group;
  PetscCall(PetscSegBufferGet(c->record->items, (size_t)count, &item));
  c->record->count += (size_t)count;
  for (PetscInt k = 0; k < count; k++) item[k] = (ConfItem){.label = c->record->last, .value = 0};
  PetscCall(VecGetArrayRead(x, &value));
  for (PetscInt i = 0; i < n; i++) item[i / group].value += (PetscReal)(1 + i % group) * PetscRealPart(value[i]);
  PetscCall(VecRestoreArrayRead(x, &value));
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
  PetscCall(ConfIsUnderTest(c, A, type, &ours));
  PetscCall(ConfSeeText(c, what, type));
  PetscCall(MatGetSize(A, &size[0], &size[1]));
  PetscCall(MatGetLocalSize(A, &size[2], &size[3]));
  for (int k = 0; k < 4; k++) PetscCall(ConfSeeReal(c, what, (PetscReal)size[k]));
  PetscCall(ConfSeeRows(c, what, A));
  PetscCall(ConfSeeProducts(c, what, A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Adds the counts of a matrix that is ours */
static PetscErrorCode AddCounts(Mat A, ConfCounts *counts)
{
  MatAIJFmtInfo info;
  const char   *prefix;
  char          where[8] = "";
  PetscBool     bound;

  PetscFunctionBeginUser;
  PetscCall(MatGetOptionsPrefix(A, &prefix));
  PetscCall(PetscOptionsGetString(NULL, prefix, "-mat_aijfmt_device", where, sizeof where, NULL));
  PetscCall(MatAIJFmtGetInfo(A, &info));
  counts->packed += info.products + info.products_transposed;
  counts->fallbacks += info.fallbacks + info.fallbacks_transposed;
  PetscCall(MatBoundToCPU(A, &bound));
  if (where[0] == 'g' && !bound) counts->elsewhere += info.blocks_converted - info.blocks_on_gpu;
  if (where[0] == 'h') counts->elsewhere += info.blocks_on_gpu;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ConfCount(const Conf *c, Mat A, ConfCounts *counts)
{
  char      type[CONF_TYPE_MAX];
  PetscReal sum[3];
  Mat       block[2];
  PetscBool parallel;

  PetscFunctionBeginUser;
  *counts = (ConfCounts){.under_test = PETSC_FALSE};
  PetscCall(ConfIsUnderTest(c, A, type, &counts->under_test));
  if (!counts->under_test) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscStrcmp(type, MATMPIAIJ, &parallel));
  if (!parallel || !c->blocks_only) {
    PetscCall(AddCounts(A, counts));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MatMPIAIJGetSeqAIJ(A, &block[0], &block[1], NULL));
  for (int b = 0; b < 2; b++) PetscCall(AddCounts(block[b], counts));
  sum[0] = counts->packed;
  sum[1] = counts->fallbacks;
  sum[2] = counts->elsewhere;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, sum, 3, MPIU_REAL, MPIU_SUM, PetscObjectComm((PetscObject)A)));
  counts->packed    = sum[0];
  counts->fallbacks = sum[1];
  counts->elsewhere = sum[2];
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
  Vec        x, y;
  ConfCounts before, after;
  PetscReal  counted;
  MatInfo    size;

  PetscFunctionBeginUser;
  PetscCall(ConfCount(c, A, &before));
  PetscCall(ConfCreateVecs(A, 3, &x, &y));
  PetscCall(MatMult(A, x, y));
  PetscCall(ConfSeeVec(c, what, y));
  PetscCall(SeeSums(c, what, A, x, y, MatMultAdd));
  PetscCall(ConfSetVec(y, 5));
  PetscCall(MatMultTranspose(A, y, x));
  PetscCall(ConfSeeVec(c, what, x));
  PetscCall(SeeSums(c, what, A, y, x, MatMultTransposeAdd));
  PetscCall(TestDestroyVecs(&x, &y));
  PetscCall(ConfCount(c, A, &after));
  if (!after.under_test) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatGetInfo(A, MAT_GLOBAL_SUM, &size)); /* matrices without nonzeros do not count products */
  counted = after.packed + after.fallbacks - before.packed - before.fallbacks;
  if ((size.nz_used == 0 || counted >= 6) && after.elsewhere == 0) PetscFunctionReturn(PETSC_SUCCESS);
  c->uncounted++;
  PetscCall(PetscPrintf(PetscObjectComm((PetscObject)A), "  %s: %g products counted, %g blocks elsewhere\n", what,
                        (double)counted, (double)after.elsewhere));
  PetscCall(
      PetscViewerPushFormat(PETSC_VIEWER_STDOUT_(PetscObjectComm((PetscObject)A)), PETSC_VIEWER_ASCII_INFO_DETAIL));
  PetscCall(MatView(A, PETSC_VIEWER_STDOUT_(PetscObjectComm((PetscObject)A))));
  PetscCall(PetscViewerPopFormat(PETSC_VIEWER_STDOUT_(PetscObjectComm((PetscObject)A))));
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
