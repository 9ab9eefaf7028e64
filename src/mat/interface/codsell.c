/* Setters and getters with a type, for the options of MATAIJCODSELL. An option that the format chooses by itself is
   PETSC_DECIDE here, whatever text it has in the options database. */
#include "typed.h"

static const char *const slice_keys[] = {"c", "sigma"};
static const char *const word_key     = "word";
static const char        automatic[]  = "auto";

/*@
  MatAIJCoDSELLSetSlice - Sets the rows of a slice, and of a window that is sorted, of a `MATAIJCODSELL`

  Logically Collective

  Input Parameters:
+ A     - the matrix, of type `MATAIJCODSELL`
. c     - rows of a slice: 8, 16, 32 or 64
- sigma - rows of a window that is sorted by length, 1 to 4096; 1 sorts nothing, `PETSC_DECIDE` sorts only where that
          saves padding

  Options Database Keys:
+ -mat_aijcodsell_c <8|16|32|64> - rows of a slice
- -mat_aijcodsell_sigma <n> - rows of a window; 0 is `PETSC_DECIDE`

  Level: intermediate

  Notes:
  The default is 32 and `PETSC_DECIDE`.

  When one of the two is refused, neither changes.

.seealso: `MATAIJCODSELL`, `MatAIJCoDSELLGetSlice()`, `MatAIJCoDSELLSetWord()`, `MatAIJFmtSetOption()`
@*/
PetscErrorCode MatAIJCoDSELLSetSlice(Mat A, PetscInt c, PetscInt sigma)
{
  const double values[] = {(double)c, sigma == PETSC_DECIDE ? 0 : (double)sigma};

  PetscFunctionBegin;
  PetscValidHeaderSpecific(A, MAT_CLASSID, 1);
  PetscValidLogicalCollectiveInt(A, c, 2);
  PetscValidLogicalCollectiveInt(A, sigma, 3);
  PetscCall(AIJFmtTypedSetNumbers(A, MATAIJCODSELL, PETSC_FUNCTION_NAME, 2, slice_keys, values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatAIJCoDSELLGetSlice - Gets the rows of a slice, and of a window that is sorted, of a `MATAIJCODSELL`

  Not Collective

  Input Parameter:
. A - the matrix, of type `MATAIJCODSELL`

  Output Parameters:
+ c     - rows of a slice, or `NULL`
- sigma - rows of a window that is sorted by length, or `PETSC_DECIDE`; or `NULL`

  Level: intermediate

.seealso: `MATAIJCODSELL`, `MatAIJCoDSELLSetSlice()`
@*/
PetscErrorCode MatAIJCoDSELLGetSlice(Mat A, PetscInt *c, PetscInt *sigma)
{
  const char *rows;
  double      window;

  PetscFunctionBegin;
  PetscCall(AIJFmtTypedGetChoice(A, MATAIJCODSELL, PETSC_FUNCTION_NAME, slice_keys[0], &rows));
  PetscCall(AIJFmtTypedGetNumber(A, MATAIJCODSELL, PETSC_FUNCTION_NAME, slice_keys[1], &window));
  if (c) PetscCall(PetscOptionsStringToInt(rows, c));
  if (sigma) *sigma = window == 0 ? PETSC_DECIDE : (PetscInt)window;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatAIJCoDSELLSetWord - Sets how many positions a word of the dictionary of a `MATAIJCODSELL` stands for

  Logically Collective

  Input Parameters:
+ A    - the matrix, of type `MATAIJCODSELL`
- word - 1 to 8, or `PETSC_DECIDE`, the default, for the number that needs fewest bytes

  Options Database Key:
. -mat_aijcodsell_word <auto|1|2|3|4|5|6|7|8> - positions of a word

  Level: intermediate

.seealso: `MATAIJCODSELL`, `MatAIJCoDSELLGetWord()`, `MatAIJCoDSELLSetSlice()`, `MatAIJFmtSetOption()`
@*/
PetscErrorCode MatAIJCoDSELLSetWord(Mat A, PetscInt word)
{
  const double value = (double)word;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(A, MAT_CLASSID, 1);
  PetscValidLogicalCollectiveInt(A, word, 2);
  if (word == PETSC_DECIDE) PetscCall(AIJFmtTypedSetChoice(A, MATAIJCODSELL, PETSC_FUNCTION_NAME, word_key, automatic));
  else PetscCall(AIJFmtTypedSetNumbers(A, MATAIJCODSELL, PETSC_FUNCTION_NAME, 1, &word_key, &value));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatAIJCoDSELLGetWord - Gets how many positions a word of the dictionary of a `MATAIJCODSELL` stands for

  Not Collective

  Input Parameter:
. A - the matrix, of type `MATAIJCODSELL`

  Output Parameter:
. word - 1 to 8, or `PETSC_DECIDE`

  Level: intermediate

.seealso: `MATAIJCODSELL`, `MatAIJCoDSELLSetWord()`
@*/
PetscErrorCode MatAIJCoDSELLGetWord(Mat A, PetscInt *word)
{
  const char *choice;
  PetscBool   decide;

  PetscFunctionBegin;
  PetscAssertPointer(word, 2);
  PetscCall(AIJFmtTypedGetChoice(A, MATAIJCODSELL, PETSC_FUNCTION_NAME, word_key, &choice));
  PetscCall(PetscStrcmp(choice, automatic, &decide));
  if (decide) *word = PETSC_DECIDE;
  else PetscCall(PetscOptionsStringToInt(choice, word));
  PetscFunctionReturn(PETSC_SUCCESS);
}
