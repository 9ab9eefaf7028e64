/* Options of a matrix by their keys. The functions work on sequential and parallel matrices, before and after assembly;
   a change that a plan depends on takes effect at the next product. */
#include "seqaijfmt.h"
#include <stdlib.h>

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

/* Finds the table that has key, and its row there. The format's own table is searched first. */
static PetscErrorCode Find(Mat_AIJFmt *s, const char key[], SpmvOptions **options, const SpmvOptionDesc **desc,
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

/* Checks, in a debugging build, that all processes pass the same key and value: else they would pack differently */
static PetscErrorCode RequireSame(Mat A, const char *function, const char key[], const Mat_AIJFmt *changed)
{
  enum { N = SPMV_OPTIONS_MAX };
  double    most[4 * N]; /* all values, and the same with the other sign */
  PetscBool same = PETSC_TRUE;

  PetscFunctionBegin;
  for (int i = 0; i < N; i++) {
    most[i]         = changed->format_options.value[i];
    most[N + i]     = changed->class_options.value[i];
    most[2 * N + i] = -most[i];
    most[3 * N + i] = -most[N + i];
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, most, 4 * N, MPI_DOUBLE, MPI_MAX, PetscObjectComm((PetscObject)A)));
  for (int i = 0; i < 2 * N; i++)
    if (most[i] != -most[2 * N + i]) same = PETSC_FALSE;
  PetscCheck(same, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_WRONG,
             "%s: the processes do not give option %s the same value: give all of them the same key and value",
             function, key);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets an option from number, or from text where number is NULL. A refused value leaves the option as it was. */
static PetscErrorCode OptionSet(Mat A, const char *function, const char key[], const char text[], const double *number)
{
  Mat_AIJFmt            changed, *s;
  SpmvOptions          *options;
  const SpmvOptionDesc *desc;
  int                   position;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(A, MAT_CLASSID, 1);
  PetscAssertPointer(key, 2);
  PetscCall(AIJFmtStateRequire(A, function, &s));
  changed.row            = s->row;
  changed.format_options = s->format_options;
  changed.class_options  = s->class_options;
  PetscCall(Find(&changed, key, &options, &desc, &position));
  PetscCheck(number || text, PETSC_COMM_SELF, PETSC_ERR_ARG_NULL, "%s: option %s needs a text, not NULL", function,
             key);
  if (number) PetscCall(AIJFmtTableSetNumber(options, desc, *number));
  else PetscCall(AIJFmtTableSetText(options, desc, text));
  if (PetscDefined(USE_DEBUG)) PetscCall(RequireSame(A, function, key, &changed));
  PetscCall(AIJFmtStateCopyOptions(&changed, s));
  if (s->parallel) PetscCall(AIJFmtBlocksCopyOptions(A, s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode OptionGet(Mat A, const char *function, const char key[], const SpmvOptionDesc **desc,
                                double *value)
{
  Mat_AIJFmt  *s;
  SpmvOptions *options;
  int          position;

  PetscFunctionBegin;
  *value = 0; /* gcc does not see that callers stop at an error */
  PetscValidHeaderSpecific(A, MAT_CLASSID, 1);
  PetscAssertPointer(key, 2);
  PetscCall(AIJFmtStateRequire(A, function, &s));
  PetscCall(Find(s, key, &options, desc, &position));
  *value = options->value[position];
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
+ -mat_aij<format>_<key> - the options of a format
- -mat_aijfmt_<key>      - the options of all formats

  Level: intermediate

  Notes:
  The folder docs/options has a page for each table of options, with their values and defaults; `-help` lists them too.

  May be called before or after assembly. When packed arrays are there already and depend on the option, the next
  product converts the matrix again; so several options that are set one after the other cost one conversion. The range
  of an option does not depend on the value of another, so their order does not matter.

  An unknown key, or a value out of its range, is an error that lists what is possible, and leaves all options as they
  were.

  Example Usage:
.vb
  MatAIJFmtSetOption(A, "layout", "uniform"); // of MATAIJFOLD, as -mat_aijfold_layout uniform
.ve

.seealso: `MatAIJFmtGetOption()`, `MatAIJFmtSetOptionNumber()`
@*/
PetscErrorCode MatAIJFmtSetOption(Mat A, const char key[], const char value[])
{
  PetscFunctionBegin;
  PetscAssertPointer(value, 3);
  PetscCall(OptionSet(A, PETSC_FUNCTION_NAME, key, value, NULL));
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

.seealso: `MatAIJFmtSetOption()`, `MatAIJFmtGetOptionNumber()`
@*/
PetscErrorCode MatAIJFmtGetOption(Mat A, const char key[], char value[], size_t size)
{
  const SpmvOptionDesc *desc;
  double                number;

  PetscFunctionBegin;
  PetscAssertPointer(value, 3);
  PetscCall(OptionGet(A, PETSC_FUNCTION_NAME, key, &desc, &number));
  spmv_option_text(desc, number, value, size);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatAIJFmtSetOptionNumber - Sets an option of a matrix of a packed type from a number

  Logically Collective

  Input Parameters:
+ A     - the matrix, of type `MATAIJRBP`, `MATAIJCRSV`, or another type of petscpack
. key   - the name of the option without its prefix, as for `MatAIJFmtSetOption()`
- value - the number, in the unit of the option (memory is in bytes); 0 or 1 for an option that is false or true

  Level: intermediate

  Notes:
  The number is stored as it is, without a way through text. It is a `double` whatever the precision and the indices of
  PETSc are, so that every integer up to 2^53 is exact: bytes of memory pass where a `PetscInt` or a `PetscReal` would
  be too short.

  An option with choices takes the choice whose text is the number, such as 32 of `8`, `16`, `32` and `64`; use
  `MatAIJFmtSetOption()` for the others.

  A number out of the range of the option, or a fraction for an integer, is an error that names the range, and leaves
  the option as it was.

  Example Usage:
.vb
  MatAIJFmtSetOptionNumber(A, "device_memory", 6.0 * 1024 * 1024 * 1024); // of MATAIJFOLD: 6 GiB
.ve

.seealso: `MatAIJFmtGetOptionNumber()`, `MatAIJFmtSetOption()`
@*/
PetscErrorCode MatAIJFmtSetOptionNumber(Mat A, const char key[], double value)
{
  PetscFunctionBegin;
  PetscCall(OptionSet(A, PETSC_FUNCTION_NAME, key, NULL, &value));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatAIJFmtGetOptionNumber - Gets an option of a matrix of a packed type as a number

  Not Collective

  Input Parameters:
+ A   - the matrix, of type `MATAIJRBP`, `MATAIJCRSV`, or another type of petscpack
- key - the name of the option without its prefix, as for `MatAIJFmtSetOption()`

  Output Parameter:
. value - the number that `MatAIJFmtSetOptionNumber()` would take

  Level: intermediate

  Note:
  A choice that is no number, such as `auto`, is an error: `MatAIJFmtGetOption()` gives its text.

.seealso: `MatAIJFmtSetOptionNumber()`, `MatAIJFmtGetOption()`
@*/
PetscErrorCode MatAIJFmtGetOptionNumber(Mat A, const char key[], double *value)
{
  const SpmvOptionDesc *desc;
  double                number;
  char                 *end;

  PetscFunctionBegin;
  PetscAssertPointer(value, 3);
  PetscCall(OptionGet(A, PETSC_FUNCTION_NAME, key, &desc, &number));
  if (desc->kind == SPMV_OPTION_ENUM) {
    const char *choice = desc->choices[(int)number];

    number = strtod(choice, &end);
    PetscCheck(end != choice && !*end, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONG,
               "option %s is %s, which is no number: MatAIJFmtGetOption() gives it as text", key, choice);
  }
  *value = number;
  PetscFunctionReturn(PETSC_SUCCESS);
}
