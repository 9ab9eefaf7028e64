/*
  options.c - the options of a matrix: -mat_aij<format>_<key> from the format's own table, and -mat_aijfmt_<key> for all
  formats from tables.c. All are tables of SpmvOptionDesc, so the same code reads, checks, prints and sets them.

  They are read twice: when a matrix gets its type, because a program that hard-codes AIJ may never call
  MatSetFromOptions(), and in MatSetFromOptions(), which also lists them for -help.
*/
#include "aijfmt.h"
#include <string.h>

enum { AIJFMT_NAME_MAX = 128 /* bytes of -mat_aij<format>_<key> */ };

PetscErrorCode AIJFmtOptionsInit(Mat_AIJFmt *s)
{
  const SpmvFormat *format = spmv_format_find(s->row->format);

  PetscFunctionBegin;
  if (!strcmp(s->row->format, AIJFmtAutoTable.name)) format = &AIJFmtAutoTable;
  PetscCheck(format, PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "libspmvpack has no format %s: libpetscpack and libspmvpack are of different versions", s->row->format);
  spmv_options_init(&s->format_options, format);
  spmv_options_init(&s->class_options, &AIJFmtClassTable);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets one option from text. A Boolean option without text, as in -flag, is true; upper and lower case are equal. */
static PetscErrorCode TableSetText(SpmvOptions *options, const SpmvOptionDesc *desc, const char value[])
{
  char       message[SPMV_MESSAGE_MAX] = "", text[SPMV_MESSAGE_MAX], name[AIJFMT_NAME_MAX];
  SpmvStatus status;

  PetscFunctionBegin;
  PetscCall(PetscStrncpy(text, value, sizeof text));
  if (desc->kind == SPMV_OPTION_BOOL) {
    PetscCall(PetscStrtolower(text));
    if (!text[0]) PetscCall(PetscStrncpy(text, "true", sizeof text));
  }
  status = spmv_options_set_text(options, desc->key, text, message);
  AIJFmtOptionName(options->format, desc->key, name, sizeof name);
  PetscCheck(!status, PETSC_COMM_SELF, AIJFmtErrorCode(status), "%s: %s", name, message);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* One line of -help: the text of the table and the choices */
static PetscErrorCode HelpText(const SpmvOptionDesc *desc, char text[], size_t size)
{
  PetscFunctionBegin;
  PetscCall(PetscStrncpy(text, desc->help, size));
  for (int i = 0; desc->kind == SPMV_OPTION_ENUM && desc->choices[i]; i++) {
    PetscCall(PetscStrlcat(text, i ? "|" : ": ", size));
    PetscCall(PetscStrlcat(text, desc->choices[i], size));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Reads one table from the options database, with the prefix of object. PetscOptionsObject is NULL outside of an
   options block; inside of one, -help names `function` as the way to set the options from C. */
PetscErrorCode AIJFmtTableRead(PetscObject object, SpmvOptions *options, const char *function,
                               AIJFmtOptionItems PetscOptionsObject)
{
  const SpmvOptionDesc *desc = options->format->options;

  PetscFunctionBegin;
  for (int i = 0; desc && desc[i].key; i++) {
    char      name[AIJFMT_NAME_MAX], text[256], now[256], help[256];
    PetscBool set;

    AIJFmtOptionName(options->format, desc[i].key, name, sizeof name);
    if (PetscOptionsObject) {
      spmv_option_text(&desc[i], options->value[i], now, sizeof now);
      PetscCall(HelpText(&desc[i], help, sizeof help));
      PetscCall(PetscOptionsString(name, help, function, now, text, sizeof text, &set));
    } else PetscCall(PetscOptionsGetString(object->options, object->prefix, name, text, sizeof text, &set));
    if (set) PetscCall(TableSetText(options, &desc[i], text));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode AIJFmtOptionsRead(Mat A, Mat_AIJFmt *s, AIJFmtOptionItems PetscOptionsObject)
{
  Mat_AIJFmt now;

  PetscFunctionBegin;
  now.format_options = s->format_options;
  now.class_options  = s->class_options;
  PetscCall(AIJFmtTableRead((PetscObject)A, &now.format_options, "MatAIJFmtSetOption", PetscOptionsObject));
  PetscCall(AIJFmtTableRead((PetscObject)A, &now.class_options, "MatAIJFmtSetOption", PetscOptionsObject));
  PetscCall(AIJFmtStateCopyOptions(&now, s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatSetFromOptions_AIJFmt(Mat A, AIJFmtOptionItems PetscOptionsObject)
{
  Mat_AIJFmt *s;
  PetscErrorCode (*parent)(Mat, AIJFmtOptionItems);

  PetscFunctionBegin;
  PetscCall(AIJFmtStateGet(A, &s));
  if (!s) PetscFunctionReturn(PETSC_SUCCESS); /* a subclass that PETSc made of ours: AIJ has no options here */
  parent = (s->parallel ? &s->parent->mpi : &s->parent->seq)->setfromoptions;
  if (parent) PetscCall(parent(A, PetscOptionsObject));
  PetscOptionsHeadBegin(PetscOptionsObject, "Packed format");
  PetscCall(AIJFmtOptionsRead(A, s, PetscOptionsObject));
  PetscOptionsHeadEnd();
  if (s->parallel) PetscCall(AIJFmtBlocksCopyOptions(A, s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- set and get from C, by key: for sequential and parallel matrices, before and after assembly. A change that
   affects the plan takes effect at the next product. ---- */

/* Finds the row of a key in the format's own table, or else in that of all formats */
static PetscErrorCode FindOption(Mat_AIJFmt *s, const char key[], SpmvOptions **options, int *position)
{
  SpmvOptions *const tables[]               = {&s->format_options, &s->class_options};
  char               keys[SPMV_MESSAGE_MAX] = "";

  PetscFunctionBegin;
  for (int t = 0; t < 2; t++) {
    const SpmvOptionDesc *desc = tables[t]->format->options;

    for (int i = 0; desc && desc[i].key; i++) {
      if (!strcmp(desc[i].key, key)) {
        *options  = tables[t];
        *position = i;
        PetscFunctionReturn(PETSC_SUCCESS);
      }
      PetscCall(PetscStrlcat(keys, " ", sizeof keys));
      PetscCall(PetscStrlcat(keys, desc[i].key, sizeof keys));
    }
  }
  SETERRQ(PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "type %s has no option %s: it has%s", s->row->root, key, keys);
}

/* In a debugging build, checks that all processes pass the same key and value: otherwise they would pack differently */
static PetscErrorCode RequireSame(Mat A, const char key[], const Mat_AIJFmt *changed)
{
  enum { N = SPMV_OPTIONS_MAX };
  double    most[4 * N]; /* all values, then all values negated */
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
             "the processes set option %s to different values: pass the same key and value on all of them", key);
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
  The folder docs/options has a page for each table of options, with values and defaults; `-help` lists them too.

  May be called before or after assembly. If packed arrays that depend on the option exist already, the next product
  converts the matrix again; setting several options one after the other costs one conversion. The valid range of an
  option does not depend on other options, so their order does not matter.

  An unknown key or a value out of range is an error whose message lists the valid ones; no option is changed.

  Example Usage:
.vb
  MatAIJFmtSetOption(A, "layout", "uniform"); // of MATAIJFOLD, as -mat_aijfold_layout uniform
.ve

.seealso: `MatAIJFmtGetOption()`
@*/
PetscErrorCode MatAIJFmtSetOption(Mat A, const char key[], const char value[])
{
  Mat_AIJFmt   changed, *s;
  SpmvOptions *options;
  int          position;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(A, MAT_CLASSID, 1);
  PetscAssertPointer(key, 2);
  PetscCall(AIJFmtStateRequire(A, PETSC_FUNCTION_NAME, &s));
  changed.row            = s->row;
  changed.format_options = s->format_options;
  changed.class_options  = s->class_options;
  PetscCall(FindOption(&changed, key, &options, &position));
  PetscCheck(value, PETSC_COMM_SELF, PETSC_ERR_ARG_NULL, "option %s needs a text, not NULL", key);
  PetscCall(TableSetText(options, &options->format->options[position], value));
  if (PetscDefined(USE_DEBUG)) PetscCall(RequireSame(A, key, &changed));
  PetscCall(AIJFmtStateCopyOptions(&changed, s));
  if (s->parallel) PetscCall(AIJFmtBlocksCopyOptions(A, s));
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
  Mat_AIJFmt  *s;
  SpmvOptions *options;
  int          position;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(A, MAT_CLASSID, 1);
  PetscAssertPointer(key, 2);
  PetscAssertPointer(value, 3);
  PetscCall(AIJFmtStateRequire(A, PETSC_FUNCTION_NAME, &s));
  PetscCall(FindOption(s, key, &options, &position));
  spmv_option_text(&options->format->options[position], options->value[position], value, size);
  PetscFunctionReturn(PETSC_SUCCESS);
}
