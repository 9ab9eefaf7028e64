/* The setters and getters of petscpack.h. They work on sequential and parallel matrices, before and after assembly; a
   change that a plan depends on takes effect at the next product. */
#include "seqaijfmt.h"

static PetscErrorCode FindDesc(const SpmvOptions *options, const char key[], const SpmvOptionDesc **found,
                               int *position)
{
  const SpmvOptionDesc *desc = options->format->options;

  PetscFunctionBegin;
  *found = NULL;
  for (int i = 0; desc && desc[i].key && !*found; i++) {
    PetscBool same;
    PetscCall(PetscStrcmp(desc[i].key, key, &same));
    if (same) {
      *found    = &desc[i];
      *position = i;
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode AppendKeys(const SpmvOptions *options, char text[], size_t size)
{
  const SpmvOptionDesc *desc = options->format->options;

  PetscFunctionBegin;
  for (int i = 0; desc && desc[i].key; i++) {
    PetscCall(PetscStrlcat(text, " ", size));
    PetscCall(PetscStrlcat(text, desc[i].key, size));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The table that has key, its row and position: the format's own comes first */
PetscErrorCode AIJFmtOptionFind(Mat_AIJFmt *s, const char key[], SpmvOptions **options, const SpmvOptionDesc **desc,
                                int *position)
{
  char keys[SPMV_MESSAGE_MAX] = "";

  PetscFunctionBegin;
  *options = &s->format_options;
  PetscCall(FindDesc(*options, key, desc, position));
  if (*desc) PetscFunctionReturn(PETSC_SUCCESS);
  *options = &s->class_options;
  PetscCall(FindDesc(*options, key, desc, position));
  if (*desc) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(AppendKeys(&s->format_options, keys, sizeof keys));
  PetscCall(AppendKeys(&s->class_options, keys, sizeof keys));
  SETERRQ(PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "type %s has no option %s: it has%s", s->row->root, key, keys);
}

/* Changes a copy first: one refused value leaves all as they were */
PetscErrorCode AIJFmtOptionsSet(Mat A, Mat_AIJFmt *s, int count, const char *const keys[], const char *const values[])
{
  Mat_AIJFmt            changed;
  SpmvOptions          *options;
  const SpmvOptionDesc *desc;
  int                   position;

  PetscFunctionBegin;
  changed.row            = s->row;
  changed.format_options = s->format_options;
  changed.class_options  = s->class_options;
  for (int i = 0; i < count; i++) {
    PetscCall(AIJFmtOptionFind(&changed, keys[i], &options, &desc, &position));
    PetscCall(AIJFmtOptionSetText(options, desc, values[i]));
  }
  PetscCall(AIJFmtStateCopyOptions(&changed, s));
  if (s->parallel) PetscCall(AIJFmtBlocksCopyOptions(A, s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatAIJFmtSetOption - Sets an option of a matrix of a packed type from text, as the options database would

  Logically Collective

  Input Parameters:
+ A     - the matrix, of type `MATAIJRBP`, `MATAIJCRSV`, or another type of petscpack
. key   - the name of the option without its prefix: `min_run` for `-mat_aijrbp_min_run`, `check` for
          `-mat_aijfmt_check`
- value - a number, one of the choices of the option, or `true` or `false`

  Options Database Keys:
+ -mat_aij<format>_<key> - the options of a format, listed by `-help`
. -mat_aijfmt_check   - compare every product with that of the parent type
. -mat_aijfmt_eager   - convert at assembly, not at the first product
. -mat_aijfmt_decline - let the analysis of a pattern leave the products to the parent type
- -mat_aijfmt_device  - `auto`, `host` or `gpu`

  Level: intermediate

  Notes:
  May be called before or after assembly. When packed arrays are there already and depend on the option, the next
  product converts the matrix again.

  An unknown key, or a value out of its range, is an error that lists what is possible.

.seealso: `MatAIJFmtGetOption()`, `MatAIJRBPSetFormat()`, `MatAIJFoldSetWidth()`, `MatAIJCRSVSetThreads()`,
          `MatAIJCoDSELLSetSlice()`, `MatAIJFmtSetCheck()`
@*/
PetscErrorCode MatAIJFmtSetOption(Mat A, const char key[], const char value[])
{
  Mat_AIJFmt *s;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(A, MAT_CLASSID, 1);
  PetscAssertPointer(key, 2);
  PetscAssertPointer(value, 3);
  PetscCall(AIJFmtStateRequire(A, PETSC_FUNCTION_NAME, &s));
  PetscCall(AIJFmtOptionsSet(A, s, 1, &key, &value));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatAIJFmtGetOption - Gets an option of a matrix of a packed type as text

  Not Collective

  Input Parameters:
+ A    - the matrix, of type `MATAIJRBP`, `MATAIJCRSV`, or another type of petscpack
. key  - the name of the option without its prefix, as for `MatAIJFmtSetOption()`
- size - the length of `value`

  Output Parameter:
. value - the text that `MatAIJFmtSetOption()` would take

  Level: intermediate

.seealso: `MatAIJFmtSetOption()`
@*/
PetscErrorCode MatAIJFmtGetOption(Mat A, const char key[], char value[], size_t size)
{
  Mat_AIJFmt           *s;
  SpmvOptions          *options;
  const SpmvOptionDesc *desc;
  int                   position;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(A, MAT_CLASSID, 1);
  PetscAssertPointer(key, 2);
  PetscAssertPointer(value, 3);
  PetscCall(AIJFmtStateRequire(A, PETSC_FUNCTION_NAME, &s));
  PetscCall(AIJFmtOptionFind(s, key, &options, &desc, &position));
  PetscCall(AIJFmtOptionText(desc, options->value[position], value, size));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SetFlag(Mat A, const char *function, const char key[], PetscBool flag)
{
  const char *const text = flag ? "true" : "false";
  Mat_AIJFmt       *s;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(A, MAT_CLASSID, 1);
  PetscValidLogicalCollectiveBool(A, flag, 2);
  PetscCall(AIJFmtStateRequire(A, function, &s));
  PetscCall(AIJFmtOptionsSet(A, s, 1, &key, &text));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode GetFlag(Mat A, const char *function, int option, PetscBool *flag)
{
  Mat_AIJFmt *s;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(A, MAT_CLASSID, 1);
  PetscAssertPointer(flag, 2);
  PetscCall(AIJFmtStateRequire(A, function, &s));
  *flag = AIJFmtClassFlag(s, option);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatAIJFmtSetCheck - Sets whether every product of a matrix of a packed type is compared with that of its parent type

  Logically Collective

  Input Parameters:
+ A     - the matrix, of type `MATAIJRBP`, `MATAIJCRSV`, or another type of petscpack
- check - `PETSC_TRUE` to compare; the default is `PETSC_FALSE`

  Options Database Key:
. -mat_aijfmt_check <bool> - compare every product

  Level: intermediate

  Note:
  A difference beyond the bound of rounding, 2 (k + 2) eps (|A| |x| + |z|) for a row of k nonzeros, is an error that
  names the row, both values and the bound. Each product then costs several of the parent's.

.seealso: `MatAIJFmtGetCheck()`, `MatAIJFmtSetOption()`
@*/
PetscErrorCode MatAIJFmtSetCheck(Mat A, PetscBool check) { return SetFlag(A, PETSC_FUNCTION_NAME, "check", check); }

/*@
  MatAIJFmtGetCheck - Gets whether every product is compared with that of the parent type

  Not Collective

  Input Parameter:
. A - the matrix, of type `MATAIJRBP`, `MATAIJCRSV`, or another type of petscpack

  Output Parameter:
. check - `PETSC_TRUE` if so

  Level: intermediate

.seealso: `MatAIJFmtSetCheck()`
@*/
PetscErrorCode MatAIJFmtGetCheck(Mat A, PetscBool *check)
{
  return GetFlag(A, PETSC_FUNCTION_NAME, AIJFMT_CHECK, check);
}

/*@
  MatAIJFmtSetEager - Sets whether a matrix of a packed type is converted at assembly

  Logically Collective

  Input Parameters:
+ A     - the matrix, of type `MATAIJRBP`, `MATAIJCRSV`, or another type of petscpack
- eager - `PETSC_TRUE` to convert in `MatAssemblyEnd()`; the default, `PETSC_FALSE`, waits for the first product

  Options Database Key:
. -mat_aijfmt_eager <bool> - convert at assembly

  Level: intermediate

.seealso: `MatAIJFmtGetEager()`, `MatAIJFmtSetOption()`
@*/
PetscErrorCode MatAIJFmtSetEager(Mat A, PetscBool eager) { return SetFlag(A, PETSC_FUNCTION_NAME, "eager", eager); }

/*@
  MatAIJFmtGetEager - Gets whether a matrix of a packed type is converted at assembly

  Not Collective

  Input Parameter:
. A - the matrix, of type `MATAIJRBP`, `MATAIJCRSV`, or another type of petscpack

  Output Parameter:
. eager - `PETSC_TRUE` if so

  Level: intermediate

.seealso: `MatAIJFmtSetEager()`
@*/
PetscErrorCode MatAIJFmtGetEager(Mat A, PetscBool *eager)
{
  return GetFlag(A, PETSC_FUNCTION_NAME, AIJFMT_EAGER, eager);
}

/*@
  MatAIJFmtSetDecline - Sets whether a packed format may leave the products to the parent type

  Logically Collective

  Input Parameters:
+ A       - the matrix, of type `MATAIJRBP`, `MATAIJCRSV`, or another type of petscpack
- decline - `PETSC_FALSE` to insist on the format; the default is `PETSC_TRUE`

  Options Database Key:
. -mat_aijfmt_decline <bool> - may decline

  Level: intermediate

  Note:
  The analysis of a pattern declines when plain CSR is at least as good. When it insists, a pattern that is too large
for the format is an error. Columns out of order, which `MATAIJ` allows, are left to the parent type in any case.

.seealso: `MatAIJFmtGetDecline()`, `MatAIJFmtSetOption()`, `MatAIJFmtGetInfo()`
@*/
PetscErrorCode MatAIJFmtSetDecline(Mat A, PetscBool decline)
{
  return SetFlag(A, PETSC_FUNCTION_NAME, "decline", decline);
}

/*@
  MatAIJFmtGetDecline - Gets whether a packed format may leave the products to the parent type

  Not Collective

  Input Parameter:
. A - the matrix, of type `MATAIJRBP`, `MATAIJCRSV`, or another type of petscpack

  Output Parameter:
. decline - `PETSC_TRUE` if so

  Level: intermediate

.seealso: `MatAIJFmtSetDecline()`
@*/
PetscErrorCode MatAIJFmtGetDecline(Mat A, PetscBool *decline)
{
  return GetFlag(A, PETSC_FUNCTION_NAME, AIJFMT_DECLINE, decline);
}

/*@
  MatAIJFmtSetDevice - Sets where the packed arrays of a matrix lie

  Logically Collective

  Input Parameters:
+ A      - the matrix, of type `MATAIJRBP`, `MATAIJCRSV`, or another type of petscpack
- device - `MATAIJFMT_DEVICE_AUTO` for the GPU where there is one, `MATAIJFMT_DEVICE_HOST`, or `MATAIJFMT_DEVICE_GPU`

  Options Database Key:
. -mat_aijfmt_device <auto|host|gpu> - where the packed arrays lie

  Level: intermediate

  Note:
  `MATAIJFMT_DEVICE_GPU` without a usable GPU is no error: the matrix stays on the host, and `MatView()` tells why.

.seealso: `MatAIJFmtGetDevice()`, `MatAIJFmtSetOption()`
@*/
PetscErrorCode MatAIJFmtSetDevice(Mat A, MatAIJFmtDevice device)
{
  const char *const key = "device";
  Mat_AIJFmt       *s;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(A, MAT_CLASSID, 1);
  PetscAssertPointer(device, 2);
  PetscCall(AIJFmtStateRequire(A, PETSC_FUNCTION_NAME, &s));
  PetscCall(AIJFmtOptionsSet(A, s, 1, &key, &device));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatAIJFmtGetDevice - Gets where the packed arrays of a matrix may lie

  Not Collective

  Input Parameter:
. A - the matrix, of type `MATAIJRBP`, `MATAIJCRSV`, or another type of petscpack

  Output Parameter:
. device - what `MatAIJFmtSetDevice()` or `-mat_aijfmt_device` set

  Level: intermediate

.seealso: `MatAIJFmtSetDevice()`, `MatAIJFmtGetInfo()`
@*/
PetscErrorCode MatAIJFmtGetDevice(Mat A, MatAIJFmtDevice *device)
{
  Mat_AIJFmt *s;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(A, MAT_CLASSID, 1);
  PetscAssertPointer(device, 2);
  PetscCall(AIJFmtStateRequire(A, PETSC_FUNCTION_NAME, &s));
  *device = s->class_options.format->options[AIJFMT_DEVICE].choices[(int)s->class_options.value[AIJFMT_DEVICE]];
  PetscFunctionReturn(PETSC_SUCCESS);
}
