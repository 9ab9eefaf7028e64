/*
  mat_setters.c - setters and getters of single types: what they set, what they refuse, and that the next product packs
  the matrix anew. Every product is compared with the parent's.
*/
#include "mat_options.h"

enum { CHOICES_MAX = 9, NUMBERS_MAX = 2 };

/* A pair of functions for an option that is one of some texts: all that petscpack.h names */
typedef struct {
  const char *type, *key;
  PetscErrorCode (*set)(Mat, const char *);
  PetscErrorCode (*get)(Mat, const char **);
  const char *choices[CHOICES_MAX];
} ChoiceCase;

static const ChoiceCase choice_cases[] = {
    {MATAIJRBP,
     "format",
     MatAIJRBPSetFormat,
     MatAIJRBPGetFormat,
     {MATAIJRBP_PACKED, MATAIJRBP_CSR, MATAIJRBP_ELL, MATAIJRBP_ELLR}},
    {MATAIJFOLD,
     "layout",
     MatAIJFoldSetLayout,
     MatAIJFoldGetLayout,
     {MATAIJFOLD_LAYOUT_SLICED, MATAIJFOLD_LAYOUT_UNIFORM}},
    {MATAIJFOLD,
     "gather",
     MatAIJFoldSetGather,
     MatAIJFoldGetGather,
     {MATAIJFOLD_GATHER_CACHE, MATAIJFOLD_GATHER_DEVICE, MATAIJFOLD_GATHER_HOST}},
    {MATAIJCRSV,
     "nt",
     MatAIJCRSVSetThreads,
     MatAIJCRSVGetThreads,
     {MATAIJCRSV_THREADS_AUTO, MATAIJCRSV_THREADS_RULE, MATAIJCRSV_THREADS_1, MATAIJCRSV_THREADS_2,
      MATAIJCRSV_THREADS_4, MATAIJCRSV_THREADS_8, MATAIJCRSV_THREADS_16, MATAIJCRSV_THREADS_32}},
    {MATAIJCRSV,
     "variant",
     MatAIJCRSVSetVariant,
     MatAIJCRSVGetVariant,
     {MATAIJCRSV_VARIANT_ALL, MATAIJCRSV_VARIANT_NO_READONLY, MATAIJCRSV_VARIANT_OUTER_LOOP,
      MATAIJCRSV_VARIANT_SHARED}},
};

/* Setters of numbers, of whatever C types, as functions of one kind */
typedef PetscErrorCode (*SetNumbers)(Mat, const double[]);
typedef PetscErrorCode (*GetNumbers)(Mat, double[]);

static PetscErrorCode SetMinRun(Mat A, const double v[]) { return MatAIJRBPSetMinRun(A, (PetscInt)v[0]); }
static PetscErrorCode SetWidth(Mat A, const double v[])
{
  return MatAIJFoldSetWidth(A, (PetscReal)v[0], (PetscReal)v[1]);
}
static PetscErrorCode SetMemory(Mat A, const double v[]) { return MatAIJFoldSetDeviceMemory(A, (PetscInt64)v[0]); }
static PetscErrorCode SetSlice(Mat A, const double v[])
{
  return MatAIJCoDSELLSetSlice(A, (PetscInt)v[0], (PetscInt)v[1]);
}
static PetscErrorCode SetWord(Mat A, const double v[]) { return MatAIJCoDSELLSetWord(A, (PetscInt)v[0]); }

static PetscErrorCode GetMinRun(Mat A, double v[])
{
  PetscInt n = 0;

  PetscFunctionBeginUser;
  PetscCall(MatAIJRBPGetMinRun(A, &n));
  v[0] = (double)n;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode GetWidth(Mat A, double v[])
{
  PetscReal q = 0, r = 0;

  PetscFunctionBeginUser;
  PetscCall(MatAIJFoldGetWidth(A, &q, NULL));
  PetscCall(MatAIJFoldGetWidth(A, NULL, &r));
  v[0] = (double)q;
  v[1] = (double)r;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode GetMemory(Mat A, double v[])
{
  PetscInt64 bytes = 0;

  PetscFunctionBeginUser;
  PetscCall(MatAIJFoldGetDeviceMemory(A, &bytes));
  v[0] = (double)bytes;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode GetSlice(Mat A, double v[])
{
  PetscInt c = 0, sigma = 0;

  PetscFunctionBeginUser;
  PetscCall(MatAIJCoDSELLGetSlice(A, &c, NULL));
  PetscCall(MatAIJCoDSELLGetSlice(A, NULL, &sigma));
  v[0] = (double)c;
  v[1] = (double)sigma;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode GetWord(Mat A, double v[])
{
  PetscInt word = 0;

  PetscFunctionBeginUser;
  PetscCall(MatAIJCoDSELLGetWord(A, &word));
  v[0] = (double)word;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Numbers that the setter takes, with the text of the option then, and numbers that it refuses; all differ from the
   defaults. Where one of two is refused, the other would be right. */
typedef struct {
  const char *type;
  SetNumbers  set;
  GetNumbers  get;
  int         count;
  const char *keys[NUMBERS_MAX];
  double      good[NUMBERS_MAX];
  const char *text[NUMBERS_MAX];
  double      bad[NUMBERS_MAX];
  double      initial[NUMBERS_MAX];
} NumberCase;

static const NumberCase number_cases[] = {
    {MATAIJRBP, SetMinRun, GetMinRun, 1, {"min_run"}, {4}, {"4"}, {1}, {2}},
    {MATAIJFOLD, SetWidth, GetWidth, 2, {"q", "r"}, {0.5, 0.25}, {"0.5", "0.25"}, {2, -1}, {0, 0}},
    {MATAIJFOLD, SetWidth, GetWidth, 2, {"q", "r"}, {0, 1}, {"0", "1"}, {-1, 0.5}, {0, 0}},
    {MATAIJFOLD, SetMemory, GetMemory, 1, {"device_memory"}, {6442450945}, {"6442450945"}, {-1}, {0}},
    {MATAIJFOLD, SetMemory, GetMemory, 1, {"device_memory"}, {1e15}, {"1000000000000000"}, {1e15 + 1}, {0}},
    {MATAIJCODSELL, SetSlice, GetSlice, 2, {"c", "sigma"}, {64, 128}, {"64", "128"}, {16, 4097}, {32, PETSC_DECIDE}},
    {MATAIJCODSELL, SetSlice, GetSlice, 2, {"c", "sigma"}, {8, PETSC_DECIDE}, {"8", "0"}, {9, 1}, {32, PETSC_DECIDE}},
    {MATAIJCODSELL, SetWord, GetWord, 1, {"word"}, {3}, {"3"}, {9}, {PETSC_DECIDE}},
    {MATAIJCODSELL, SetWord, GetWord, 1, {"word"}, {8}, {"8"}, {0}, {PETSC_DECIDE}},
};

static PetscErrorCode Create(const char *type, Mat *A)
{
  PetscFunctionBeginUser;
  PetscCall(CreateBanded(type, NULL, A));
  PetscCall(MatAIJFmtSetDecline(*A, PETSC_FALSE));
  PetscCall(MatAIJFmtSetCheck(*A, PETSC_TRUE));
  PetscCall(Product(*A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* One product: every block is packed anew for it, or none is */
static PetscErrorCode ExpectPacked(Mat A, PetscBool anew, const char *type, const char *what)
{
  MatAIJFmtInfo before, after;

  PetscFunctionBeginUser;
  PetscCall(MatAIJFmtGetInfo(A, &before));
  PetscCall(Product(A));
  PetscCall(MatAIJFmtGetInfo(A, &after));
  PetscCall(Expect(after.blocks_converted > 0 &&
                           after.conversions - before.conversions == (anew ? after.blocks_converted : 0) &&
                           after.fallbacks == 0
                       ? PETSC_TRUE
                       : PETSC_FALSE,
                   type, what));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ExpectText(Mat A, const char *key, const char *text, const char *type)
{
  char      now[64];
  PetscBool same;

  PetscFunctionBeginUser;
  PetscCall(MatAIJFmtGetOption(A, key, now, sizeof(now)));
  PetscCall(PetscStrcmp(now, text, &same));
  PetscCall(Expect(same, type, key));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The names in petscpack.h are the choices of the format's table, in its order */
static PetscErrorCode ExpectAllNamed(const ChoiceCase *c)
{
  const SpmvOptionDesc *o = spmv_format_find(c->type + strlen("aij"))->options;
  int                   n = 0;
  PetscBool             same;

  PetscFunctionBeginUser;
  while (strcmp(o->key, c->key)) o++;
  for (; o->choices[n] && c->choices[n]; n++) {
    PetscCall(PetscStrcmp(o->choices[n], c->choices[n], &same));
    PetscCall(Expect(same, c->type, c->choices[n]));
  }
  PetscCall(Expect(!o->choices[n] && !c->choices[n] ? PETSC_TRUE : PETSC_FALSE, c->type,
                   "petscpack.h does not name every choice of an option"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* From the last choice, which is no default, to the first and on */
static PetscErrorCode Choices(const ChoiceCase *c)
{
  Mat            A;
  int            count = 0;
  const char    *now;
  PetscBool      same;
  PetscErrorCode status;

  PetscFunctionBeginUser;
  PetscCall(ExpectAllNamed(c));
  PetscCall(Create(c->type, &A));
  while (count < CHOICES_MAX && c->choices[count]) count++;
  for (int k = -1; k < count; k++) {
    const char *choice = c->choices[k < 0 ? count - 1 : k];
    PetscCall(c->set(A, choice));
    PetscCall(c->get(A, &now));
    PetscCall(PetscStrcmp(now, choice, &same));
    PetscCall(Expect(same, c->type, "a getter does not give the choice that was set"));
    PetscCall(ExpectText(A, c->key, choice, c->type));
    PetscCall(ExpectPacked(A, PETSC_TRUE, c->type, "the next product does not follow a choice that was set"));
    PetscCall(c->set(A, choice));
    PetscCall(ExpectPacked(A, PETSC_FALSE, c->type, "a choice set again packs the matrix anew"));
  }
  PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
  status = c->set(A, "none of them");
  PetscCall(PetscPopErrorHandler());
  PetscCall(Expect(status == PETSC_ERR_ARG_OUTOFRANGE ? PETSC_TRUE : PETSC_FALSE, c->type, "a wrong choice is taken"));
  PetscCall(ExpectText(A, c->key, c->choices[count - 1], c->type));
  PetscCall(ExpectPacked(A, PETSC_FALSE, c->type, "a refused choice packs the matrix anew"));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ExpectNumbers(Mat A, const NumberCase *c, const double expected[], const char *what)
{
  double now[NUMBERS_MAX];

  PetscFunctionBeginUser;
  PetscCall(c->get(A, now));
  for (int i = 0; i < c->count; i++) PetscCall(Expect(now[i] == expected[i] ? PETSC_TRUE : PETSC_FALSE, c->type, what));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Numbers(const NumberCase *c)
{
  Mat            A;
  PetscErrorCode status;

  PetscFunctionBeginUser;
  PetscCall(Create(c->type, &A));
  PetscCall(ExpectNumbers(A, c, c->initial, "a getter does not give the default"));
  PetscCall(c->set(A, c->good));
  PetscCall(ExpectNumbers(A, c, c->good, "a getter does not give the number that was set"));
  for (int i = 0; i < c->count; i++) PetscCall(ExpectText(A, c->keys[i], c->text[i], c->type));
  PetscCall(ExpectPacked(A, PETSC_TRUE, c->type, "the next product does not follow a number that was set"));
  PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
  status = c->set(A, c->bad);
  PetscCall(PetscPopErrorHandler());
  PetscCall(Expect(status == PETSC_ERR_ARG_OUTOFRANGE ? PETSC_TRUE : PETSC_FALSE, c->type, "a wrong number is taken"));
  PetscCall(ExpectNumbers(A, c, c->good, "a refused number changes something"));
  PetscCall(ExpectPacked(A, PETSC_FALSE, c->type, "a refused number packs the matrix anew"));
  PetscCall(c->set(A, c->initial));
  PetscCall(ExpectNumbers(A, c, c->initial, "the default cannot be set"));
  PetscCall(ExpectPacked(A, PETSC_TRUE, c->type, "the next product does not follow the default that was set"));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Every function refuses a matrix of another type, packed or not */
static PetscErrorCode RefuseOther(const char *type)
{
  Mat         A;
  const char *now;
  double      numbers[NUMBERS_MAX];
  PetscBool   own;

  PetscFunctionBeginUser;
  PetscCall(CreateBanded(type, NULL, &A));
  PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(choice_cases); i++) {
    const ChoiceCase *c = &choice_cases[i];
    PetscCall(PetscStrcmp(type, c->type, &own));
    if (own) continue;
    PetscCall(Expect(c->set(A, c->choices[0]) == PETSC_ERR_ARG_WRONG ? PETSC_TRUE : PETSC_FALSE, type,
                     "a setter of another type is obeyed"));
    PetscCall(Expect(c->get(A, &now) == PETSC_ERR_ARG_WRONG ? PETSC_TRUE : PETSC_FALSE, type,
                     "a getter of another type answers"));
  }
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(number_cases); i++) {
    const NumberCase *c = &number_cases[i];
    PetscCall(PetscStrcmp(type, c->type, &own));
    if (own) continue;
    PetscCall(Expect(c->set(A, c->good) == PETSC_ERR_ARG_WRONG ? PETSC_TRUE : PETSC_FALSE, type,
                     "a setter of another type is obeyed"));
    PetscCall(Expect(c->get(A, numbers) == PETSC_ERR_ARG_WRONG ? PETSC_TRUE : PETSC_FALSE, type,
                     "a getter of another type answers"));
  }
  PetscCall(PetscPopErrorHandler());
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TypedSetters(void)
{
  PetscFunctionBeginUser;
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(choice_cases); i++) PetscCall(Choices(&choice_cases[i]));
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(number_cases); i++) PetscCall(Numbers(&number_cases[i]));
  PetscCall(RefuseOther(MATAIJ));
  PetscCall(RefuseOther(MATAIJRBP));
  PetscCall(RefuseOther(MATAIJFOLD));
  PetscFunctionReturn(PETSC_SUCCESS);
}
