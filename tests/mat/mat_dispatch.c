/*
  mat_dispatch.c - everything that PETSc finds by type names must also be found for our types: conversions to and from
  every registered type, and products with a matrix of every type that can be made, compared between plain AIJ and a
  packed type

    mat_dispatch [-format rbp] [-verbose]

  The test has no list of types: it takes those that this PETSc has registered, so that a new type is compared
  automatically. Both sides must succeed with the same products, or fail with the same error.
*/
static const char help[] = "Conversions and products of packed types with all other types.\n";

#include "mat_dispatch.h"

static PetscInt  passed, failed;
static PetscBool verbose;

/* Suppresses PETSc's trace, which would hide the results; only the text of the error code is used */
static PetscErrorCode Quietly(PetscErrorCode (*f)(Trial *), Trial *t)
{
  PetscFunctionBeginUser;
  PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
  t->error = f(t);
  PetscCall(PetscPopErrorHandler());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* y = C x and its transpose, as two numbers to which all entries of y contribute. Only MatMult() if C has no transposed
   product. */
static PetscErrorCode ApplyBoth(Trial *t)
{
  Vec         x, y, z;
  PetscScalar sum[2] = {0, 0};

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(t->C, &x, &y));
  PetscCall(VecDuplicate(y, &z));
  PetscCall(ConfSetVec(x, 5));
  PetscCall(ConfSetVec(z, 6));
  PetscCall(MatMult(t->C, x, y));
  PetscCall(VecDot(y, z, &sum[0]));
  PetscCall(VecPointwiseMult(y, y, y));
  PetscCall(VecDot(y, z, &sum[1]));
  for (int k = 0; k < 2; k++) t->seen[k] = PetscRealPart(sum[k]);
  PetscCall(TestDestroyVecs(&x, &y));
  PetscCall(VecDestroy(&z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ConvertTo(Trial *t)
{
  PetscFunctionBeginUser;
  PetscCall(MatConvert(t->A, t->type, MAT_INITIAL_MATRIX, &t->C));
  PetscCall(ApplyBoth(t));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Assembles the result, because MATAIJPERM sets up its arrays in an assembly, and reads uninitialized memory without
   one */
static PetscErrorCode ConvertAndAssemble(Trial *t)
{
  PetscFunctionBeginUser;
  PetscCall(MatConvert(t->A, t->type, MAT_INITIAL_MATRIX, &t->C));
  PetscCall(TestAssemble(t->C));
  PetscCall(ApplyBoth(t));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PETSc's general product of three matrices of any type crashes if it is not possible, so the test only compares which
   function PETSc chooses */
static PetscErrorCode Multiply(Trial *t)
{
  PetscFunctionBeginUser;
  PetscCall(MatProductCreate(t->A, t->B, t->product == MATPRODUCT_ABC ? t->B : NULL, &t->C));
  PetscCall(MatProductSetType(t->C, t->product));
  PetscCall(MatProductSetAlgorithm(t->C, MATPRODUCTALGORITHMDEFAULT));
  PetscCall(MatProductSetFill(t->C, 3));
  PetscCall(MatProductSetFromOptions(t->C));
  PetscCall(MatGetOperation(t->C, MATOP_PRODUCTSYMBOLIC, &t->symbolic));
  if (t->product == MATPRODUCT_ABC) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatProductSymbolic(t->C));
  PetscCall(MatProductNumeric(t->C));
  PetscCall(ApplyBoth(t));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscBool Agree(const Trial *a, const Trial *b)
{
  if (a->error || b->error) return a->error == b->error ? PETSC_TRUE : PETSC_FALSE;
  if (a->symbolic != b->symbolic) return PETSC_FALSE;
  for (int k = 0; k < 2; k++)
    if (PetscAbsReal(a->seen[k] - b->seen[k]) > 1e4 * PETSC_MACHINE_EPSILON * (PetscAbsReal(a->seen[k]) + 1))
      return PETSC_FALSE;
  return PETSC_TRUE;
}

/* Runs f with plain AIJ and with a packed type. A failed trial may leave half a matrix, which is not freed. */
static PetscErrorCode Compare(const char *what, PetscErrorCode (*f)(Trial *), Trial *plain, Trial *packed)
{
  PetscInt different;

  PetscFunctionBeginUser;
  PetscCall(Quietly(f, plain));
  PetscCall(Quietly(f, packed));
  different = Agree(plain, packed) ? 0 : 1;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &different, 1, MPIU_INT, MPI_MAX, PETSC_COMM_WORLD));
  if (different) failed++;
  else passed++;
  if (different || verbose)
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s%s: aij %s, packed %s\n", different ? "FAILED " : "", what,
                          DispatchOutcome(plain), DispatchOutcome(packed)));
  if (!plain->error) PetscCall(MatDestroy(&plain->C));
  if (!packed->error) PetscCall(MatDestroy(&packed->C));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CompareConversions(const char *name, Mat B, const DispatchPair *pair)
{
  char  what[128];
  Trial plain = {.A = B, .type = MATAIJ}, packed = {.A = B, .type = pair->type};

  PetscFunctionBeginUser;
  PetscCall(PetscSNPrintf(what, sizeof what, "%s to %s", name, pair->type));
  PetscCall(Compare(what, ConvertTo, &plain, &packed));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* All products in which a matrix B of another type is one or two of the factors */
static PetscErrorCode CompareProducts(const char *name, Mat B, Mat packed_b, const DispatchPair *pair)
{
  const MatProductType kinds[] = {MATPRODUCT_AB,   MATPRODUCT_AtB,  MATPRODUCT_ABt,
                                  MATPRODUCT_PtAP, MATPRODUCT_RARt, MATPRODUCT_ABC};
  char                 what[128];

  PetscFunctionBeginUser;
  for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
    for (int second = 0; second < 2; second++) {
      Trial plain  = {.product = kinds[k], .A = pair->plain, .B = B},
            packed = {.product = kinds[k], .A = pair->packed, .B = packed_b};

      if (second) {
        plain.A  = B;
        packed.A = packed_b;
        plain.B  = pair->plain;
        packed.B = pair->packed;
      }
      PetscCall(PetscSNPrintf(what, sizeof what, "%s of %s and %s", MatProductTypes[kinds[k]],
                              second ? name : pair->type, second ? pair->type : name));
      PetscCall(Compare(what, Multiply, &plain, &packed));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PETSc's ABt erases the transposed pattern of such a matrix and crashes, even if the other factor is plain AIJ */
static PetscErrorCode IsOtherSubclass(Mat A, PetscBool *is)
{
  PetscBool plain;

  PetscFunctionBeginUser;
  PetscCall(PetscObjectBaseTypeCompareAny((PetscObject)A, is, MATSEQAIJ, MATMPIAIJ, ""));
  PetscCall(PetscObjectTypeCompareAny((PetscObject)A, &plain, MATSEQAIJ, MATMPIAIJ, ""));
  if (plain) *is = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Conversion to a registered type; if a matrix of that type exists, also conversion from it and products with it */
static PetscErrorCode TryType(const char *type, const DispatchPair *pair)
{
  char      what[128];
  Trial     plain = {.A = pair->plain, .type = type}, packed = {.A = pair->packed, .type = type};
  Trial     other = {.A = pair->plain, .type = type};
  PetscBool subclass;

  PetscFunctionBeginUser;
  PetscCall(PetscSNPrintf(what, sizeof what, "%s to %s", pair->type, type));
  PetscCall(Compare(what, ConvertTo, &plain, &packed));
  PetscCall(Quietly(ConvertAndAssemble, &other));
  if (other.error) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(CompareConversions(type, other.C, pair));
  PetscCall(IsOtherSubclass(other.C, &subclass));
  if (!subclass) PetscCall(CompareProducts(type, other.C, other.C, pair));
  PetscCall(MatDestroy(&other.C));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Types that are made from a plain or packed matrix, rather than by conversion */
static PetscErrorCode TryMade(const DispatchMaker *maker, const DispatchPair *pair)
{
  Mat B, packed_b;

  PetscFunctionBeginUser;
  PetscCall(maker->make(pair->small_plain, &B));
  PetscCall(maker->make(pair->small_packed, &packed_b));
  PetscCall(CompareConversions(maker->name, B, pair));
  PetscCall(CompareConversions(maker->name, packed_b, pair));
  PetscCall(CompareProducts(maker->name, B, packed_b, pair));
  PetscCall(TestDestroyMats(&B, &packed_b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TryFormat(const char *format)
{
  DispatchPair pair;
  char       **types;
  int          count;

  PetscFunctionBeginUser;
  PetscCall(DispatchPairCreate(format, &pair));
  PetscCall(DispatchTypes(&types, &count));
  for (int t = 0; t < count; t++) PetscCall(TryType(types[t], &pair));
  for (int t = 0; t < count; t++) PetscCall(PetscFree(types[t]));
  PetscCall(PetscFree(types));
  for (const DispatchMaker *maker = dispatch_makers; maker->name; maker++) PetscCall(TryMade(maker, &pair));
  PetscCall(DispatchPairDestroy(&pair));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  char      only[32] = "";
  PetscBool chosen   = PETSC_TRUE;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscPackInitializePackage());
  PetscCall(PetscOptionsGetString(NULL, NULL, "-format", only, sizeof only, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-verbose", &verbose, NULL));
  for (int f = 0; ConfFormat(f); f++) {
    if (only[0]) PetscCall(PetscStrcmp(only, ConfFormat(f), &chosen));
    if (chosen) PetscCall(TryFormat(ConfFormat(f)));
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%" PetscInt_FMT " passed, %" PetscInt_FMT " failed\n", passed, failed));
  PetscCall(PetscFinalize());
  return failed || !passed ? 1 : 0;
}
