/* Setters and getters with a type, for the options of MATAIJCRSV. */
#include "typed.h"

/*@
  MatAIJCRSVSetThreads - Sets how many threads of a GPU share a row in a product of a `MATAIJCRSV`

  Logically Collective

  Input Parameters:
+ A       - the matrix, of type `MATAIJCRSV`
- threads - `MATAIJCRSV_THREADS_AUTO` to stream the matrix in blocks and split long rows, `MATAIJCRSV_THREADS_RULE` for
            the power of two next to the mean row length, or `MATAIJCRSV_THREADS_1`, `MATAIJCRSV_THREADS_2`,
            `MATAIJCRSV_THREADS_4`, `MATAIJCRSV_THREADS_8`, `MATAIJCRSV_THREADS_16` or `MATAIJCRSV_THREADS_32`

  Options Database Key:
. -mat_aijcrsv_nt <auto|rule|1|2|4|8|16|32> - threads a row

  Level: intermediate

  Notes:
  All but `MATAIJCRSV_THREADS_AUTO`, the default, leave rows whole, so that a few very long ones take most of the time.

  On the host a row is one loop, whatever is set.

.seealso: `MATAIJCRSV`, `MatAIJCRSVGetThreads()`, `MatAIJCRSVSetVariant()`, `MatAIJFmtSetOption()`
@*/
PetscErrorCode MatAIJCRSVSetThreads(Mat A, MatAIJCRSVThreads threads)
{
  PetscFunctionBegin;
  PetscAssertPointer(threads, 2);
  PetscCall(AIJFmtTypedSetChoice(A, MATAIJCRSV, PETSC_FUNCTION_NAME, "nt", threads));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatAIJCRSVGetThreads - Gets how many threads of a GPU share a row in a product of a `MATAIJCRSV`

  Not Collective

  Input Parameter:
. A - the matrix, of type `MATAIJCRSV`

  Output Parameter:
. threads - what `MatAIJCRSVSetThreads()` or `-mat_aijcrsv_nt` set

  Level: intermediate

.seealso: `MATAIJCRSV`, `MatAIJCRSVSetThreads()`
@*/
PetscErrorCode MatAIJCRSVGetThreads(Mat A, MatAIJCRSVThreads *threads)
{
  PetscFunctionBegin;
  PetscAssertPointer(threads, 2);
  PetscCall(AIJFmtTypedGetChoice(A, MATAIJCRSV, PETSC_FUNCTION_NAME, "nt", threads));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatAIJCRSVSetVariant - Sets which of its improvements the published kernel of a `MATAIJCRSV` does without

  Logically Collective

  Input Parameters:
+ A       - the matrix, of type `MATAIJCRSV`
- variant - `MATAIJCRSV_VARIANT_ALL` for the kernel with all of them, `MATAIJCRSV_VARIANT_NO_READONLY` without the
            read-only path, `MATAIJCRSV_VARIANT_OUTER_LOOP` with a loop over rows, or `MATAIJCRSV_VARIANT_SHARED`, which
            adds up in shared memory

  Options Database Key:
. -mat_aijcrsv_variant <all|no_readonly|outer_loop|shared> - the variant

  Level: advanced

  Note:
  To measure what each improvement brings. It has an effect on a GPU, with threads other than `MATAIJCRSV_THREADS_AUTO`.

.seealso: `MATAIJCRSV`, `MatAIJCRSVGetVariant()`, `MatAIJCRSVSetThreads()`, `MatAIJFmtSetOption()`
@*/
PetscErrorCode MatAIJCRSVSetVariant(Mat A, MatAIJCRSVVariant variant)
{
  PetscFunctionBegin;
  PetscAssertPointer(variant, 2);
  PetscCall(AIJFmtTypedSetChoice(A, MATAIJCRSV, PETSC_FUNCTION_NAME, "variant", variant));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatAIJCRSVGetVariant - Gets which of its improvements the published kernel of a `MATAIJCRSV` does without

  Not Collective

  Input Parameter:
. A - the matrix, of type `MATAIJCRSV`

  Output Parameter:
. variant - what `MatAIJCRSVSetVariant()` or `-mat_aijcrsv_variant` set

  Level: advanced

.seealso: `MATAIJCRSV`, `MatAIJCRSVSetVariant()`
@*/
PetscErrorCode MatAIJCRSVGetVariant(Mat A, MatAIJCRSVVariant *variant)
{
  PetscFunctionBegin;
  PetscAssertPointer(variant, 2);
  PetscCall(AIJFmtTypedGetChoice(A, MATAIJCRSV, PETSC_FUNCTION_NAME, "variant", variant));
  PetscFunctionReturn(PETSC_SUCCESS);
}
