/*
  mat_tables.c - every option of every table, set and read back, in the matrix and in its blocks;
  refused values and their messages; and that the next product packs the matrix again if it must. Every product is
  compared with the parent's.
*/
#include "mat_options.h"
#include "../../src/mat/impls/aij/tables.h"
#include <math.h>

enum { VALUES_MAX = 16, TEXT_MAX = 256 };

typedef struct {
  Mat                   A;
  const char           *type;
  const SpmvOptionDesc *o;
  PetscBool             packs; /* an option of the format: changing it changes the packed arrays */
} Case;

static char message[2 * TEXT_MAX];

static PetscErrorCode Remember(MPI_Comm comm, int line, const char *function, const char *file, PetscErrorCode code,
                               PetscErrorType kind, const char *text, void *ctx)
{
  (void)comm;
  (void)line;
  (void)function;
  (void)file;
  (void)ctx;
  if (kind == PETSC_ERROR_INITIAL) snprintf(message, sizeof(message), "%s", text);
  return code;
}

/* Runs call, which must fail with this code and a message that contains both texts */
#define EXPECT_REFUSED(call, wanted, first, second, type)                                                              \
  do {                                                                                                                 \
    PetscErrorCode status_;                                                                                            \
    message[0] = 0;                                                                                                    \
    PetscCall(PetscPushErrorHandler(Remember, NULL));                                                                  \
    status_ = call;                                                                                                    \
    PetscCall(PetscPopErrorHandler());                                                                                 \
    PetscCall(Expect(status_ == (wanted), type, "not refused, or with another code: " #call));                         \
    PetscCall(Expect(strstr(message, first) && strstr(message, second), type, message));                               \
  } while (0)

static PetscErrorCode CreateCase(const char *type, const SpmvOptionDesc *o, PetscBool packs, Case *c)
{
  PetscFunctionBeginUser;
  *c = (Case){.type = type, .o = o, .packs = packs};
  PetscCall(CreateBanded(type, NULL, &c->A));
  PetscCall(MatAIJFmtSetOption(c->A, "decline", "false"));
  PetscCall(MatAIJFmtSetOption(c->A, "check", "true"));
  PetscCall(ConfMultiply(c->A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* One product: for it, every block is packed again, or none is */
static PetscErrorCode ExpectPacked(const Case *c, PetscBool anew)
{
  MatAIJFmtInfo before, after;
  PetscBool     right;

  PetscFunctionBeginUser;
  PetscCall(MatAIJFmtGetInfo(c->A, &before));
  PetscCall(ConfMultiply(c->A));
  PetscCall(MatAIJFmtGetInfo(c->A, &after));
  if (!c->packs) PetscFunctionReturn(PETSC_SUCCESS);
  right = (PetscBool)(after.blocks_converted > 0 && after.fallbacks == 0 &&
                      after.conversions - before.conversions == (anew ? after.blocks_converted : 0));
  PetscCall(Expect(right, c->type, anew ? "the next product does not follow an option" : "packed anew for nothing"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The getter, on the matrix and on its blocks */
static PetscErrorCode ExpectValue(const Case *c, double value)
{
  Mat       matrices[3] = {c->A, NULL, NULL};
  char      expected[TEXT_MAX], text[TEXT_MAX];
  PetscBool parallel, same;

  PetscFunctionBeginUser;
  spmv_option_text(c->o, value, expected, sizeof(expected));
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)c->A, MATMPIAIJ, &parallel));
  if (parallel) PetscCall(MatMPIAIJGetSeqAIJ(c->A, &matrices[1], &matrices[2], NULL));
  for (int m = 0; m < 3 && matrices[m]; m++) {
    PetscCall(MatAIJFmtGetOption(matrices[m], c->o->key, text, sizeof(text)));
    PetscCall(PetscStrcmp(text, expected, &same));
    PetscCall(Expect(same, c->type, c->o->key));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Values of an option; the first is its default, and each differs from the one before it */
static int Values(const SpmvOptionDesc *o, double values[VALUES_MAX])
{
  const double more[] = {o->min, o->max, 4294967297.0, 0.3, 1.0 / 3, 1e-5, 20, 1234.5678, 123456};
  int          count  = 0;

  values[count++] = o->default_value;
  if (o->kind == SPMV_OPTION_BOOL) values[count++] = !o->default_value;
  for (int i = 0; o->kind == SPMV_OPTION_ENUM && o->choices[i] && count < VALUES_MAX; i++)
    if (i != (int)o->default_value) values[count++] = i;
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(more); i++) {
    if (o->kind == SPMV_OPTION_ENUM || o->kind == SPMV_OPTION_BOOL || more[i] < o->min || more[i] > o->max) continue;
    if (o->kind == SPMV_OPTION_INT && more[i] != floor(more[i])) continue;
    if (more[i] != values[count - 1]) values[count++] = more[i];
  }
  return count;
}

static PetscErrorCode EveryValue(const Case *c)
{
  double    values[VALUES_MAX];
  const int count = Values(c->o, values);
  char      text[TEXT_MAX];

  PetscFunctionBeginUser;
  PetscCall(ExpectValue(c, values[0]));
  for (int k = 1; k <= count; k++) {
    const double value = values[k % count];

    spmv_option_text(c->o, value, text, sizeof(text));
    for (int again = 0; again < 2; again++) {
      PetscCall(MatAIJFmtSetOption(c->A, c->o->key, text));
      PetscCall(ExpectValue(c, value));
      PetscCall(ExpectPacked(c, again ? PETSC_FALSE : PETSC_TRUE));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The error for a refused value names the valid ones, and nothing changes */
static PetscErrorCode Refusals(const Case *c)
{
  const SpmvOptionDesc *o         = c->o;
  const double          numbers[] = {o->kind == SPMV_OPTION_ENUM   ? 1000003
                                     : o->kind == SPMV_OPTION_BOOL ? 2
                                                                   : 2 * o->max + 1,
                            o->min - 1, NAN, INFINITY, o->min + 0.5};
  const char *const    key   = o->key;
  const SpmvOptionDesc plain = {.kind = SPMV_OPTION_REAL};
  char                 range[TEXT_MAX], text[TEXT_MAX];
  double               values[VALUES_MAX];
  const int            count = Values(o, values);

  PetscFunctionBeginUser;
  spmv_option_text(o, values[count - 1], text, sizeof(text));
  PetscCall(MatAIJFmtSetOption(c->A, key, text));
  PetscCall(ConfMultiply(c->A));
  spmv_option_range(o, range, sizeof(range));
  EXPECT_REFUSED(MatAIJFmtSetOption(c->A, key, "perhaps"), PETSC_ERR_ARG_OUTOFRANGE, key, "perhaps", c->type);
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(numbers); i++) {
    if (o->kind == SPMV_OPTION_REAL && numbers[i] >= o->min && numbers[i] <= o->max) continue;
    spmv_option_text(&plain, numbers[i], text, sizeof(text));
    EXPECT_REFUSED(MatAIJFmtSetOption(c->A, key, text), PETSC_ERR_ARG_OUTOFRANGE, key, text, c->type);
    if (o->kind == SPMV_OPTION_ENUM || (o->kind != SPMV_OPTION_BOOL && i < 2))
      PetscCall(Expect(strstr(message, range) != NULL, c->type, "an error does not say what is possible"));
  }
  PetscCall(ExpectValue(c, values[count - 1]));
  PetscCall(ExpectPacked(c, PETSC_FALSE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode EveryOption(const char *type, const SpmvFormat *table, PetscBool packs)
{
  Case c;

  PetscFunctionBeginUser;
  for (const SpmvOptionDesc *o = table->options; o && o->key; o++) {
    PetscCall(CreateCase(type, o, packs, &c));
    if (!packs) { /* the values that CreateCase() has set in the table */
      PetscCall(MatAIJFmtSetOption(c.A, "decline", "true"));
      PetscCall(MatAIJFmtSetOption(c.A, "check", "false"));
    }
    PetscCall(EveryValue(&c));
    PetscCall(Refusals(&c));
    PetscCall(MatDestroy(&c.A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A key that is in no table, and a matrix without options */
static PetscErrorCode WrongKeyAndType(const char *type)
{
  Mat  A, plain;
  char text[TEXT_MAX];

  PetscFunctionBeginUser;
  PetscCall(CreateBanded(type, NULL, &A));
  PetscCall(CreateBanded(MATAIJ, NULL, &plain));
  EXPECT_REFUSED(MatAIJFmtSetOption(A, "depth", "1"), PETSC_ERR_ARG_OUTOFRANGE, "depth", "decline", type);
  EXPECT_REFUSED(MatAIJFmtGetOption(A, "depth", text, sizeof(text)), PETSC_ERR_ARG_OUTOFRANGE, "depth", "decline",
                 type);
  EXPECT_REFUSED(MatAIJFmtSetOption(plain, "check", "1"), PETSC_ERR_ARG_WRONG, "MatAIJFmtSetOption", "MatConvert()",
                 type);
  EXPECT_REFUSED(MatAIJFmtGetOption(plain, "check", text, sizeof(text)), PETSC_ERR_ARG_WRONG, "MatAIJFmtGetOption",
                 "MatConvert()", type);
  EXPECT_REFUSED(MatAIJFmtSetOption(A, "decline", NULL), PETSC_ERR_ARG_NULL, "", "", type);
  PetscCall(TestDestroyMats(&plain, &A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A debugging build of PETSc detects that processes pass different values or keys */
static PetscErrorCode Disagreement(const char *type)
{
  Mat         A;
  char        text[TEXT_MAX];
  PetscBool   same;
  PetscMPIInt rank, size;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  if (!PetscDefined(USE_DEBUG) || size == 1) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(CreateBanded(type, NULL, &A));
  EXPECT_REFUSED(MatAIJFmtSetOption(A, "decline", rank ? "false" : "true"), PETSC_ERR_ARG_WRONG, "decline",
                 "on all of them", type);
  EXPECT_REFUSED(MatAIJFmtSetOption(A, rank ? "decline" : "check", "true"), PETSC_ERR_ARG_WRONG, "the same",
                 "on all of them", type);
  PetscCall(MatAIJFmtGetOption(A, "decline", text, sizeof(text)));
  PetscCall(PetscStrcmp(text, "true", &same));
  PetscCall(Expect(same, type, "an option that was refused has changed"));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Tables(const char *type, const SpmvFormat *format)
{
  PetscFunctionBeginUser;
  PetscCall(EveryOption(type, format, PETSC_TRUE));
  PetscCall(EveryOption(type, &AIJFmtClassTable, PETSC_FALSE));
  PetscCall(WrongKeyAndType(type));
  PetscCall(Disagreement(type));
  PetscFunctionReturn(PETSC_SUCCESS);
}
