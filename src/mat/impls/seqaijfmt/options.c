/*
  options.c - the options of a matrix: -mat_aij<format>_<key> from the format's own table, and -mat_aijfmt_<key> for all
  formats from tables.c. All are tables of SpmvOptionDesc, so one code reads, checks, prints and sets them.

  They are read twice: when a matrix gets its type, because a program that hard-codes AIJ may never call
  MatSetFromOptions(), and in MatSetFromOptions(), which also lists them for -help.
*/
#include "seqaijfmt.h"
#include <stdlib.h>
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

static PetscErrorCode CheckSet(const SpmvOptions *options, const SpmvOptionDesc *desc, SpmvStatus status,
                               const char message[])
{
  char name[AIJFMT_NAME_MAX];

  PetscFunctionBegin;
  AIJFmtOptionName(options->format, desc->key, name, sizeof name);
  PetscCheck(!status, PETSC_COMM_SELF, AIJFmtErrorCode(status), "%s: %s", name, message);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets one option from text. A truth value is true without a text, as in -flag, and its case does not matter. */
PetscErrorCode AIJFmtTableSetText(SpmvOptions *options, const SpmvOptionDesc *desc, const char value[])
{
  char       message[SPMV_MESSAGE_MAX] = "", text[SPMV_MESSAGE_MAX];
  SpmvStatus status;

  PetscFunctionBegin;
  PetscCall(PetscStrncpy(text, value, sizeof text));
  if (desc->kind == SPMV_OPTION_BOOL) {
    PetscCall(PetscStrtolower(text));
    if (!text[0]) PetscCall(PetscStrncpy(text, "true", sizeof text));
  }
  status = spmv_options_set_text(options, desc->key, text, message);
  PetscCall(CheckSet(options, desc, status, message));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets one option from a number: of choices, the one whose text is that number */
PetscErrorCode AIJFmtTableSetNumber(SpmvOptions *options, const SpmvOptionDesc *desc, double number)
{
  char message[SPMV_MESSAGE_MAX] = "";

  PetscFunctionBegin;
  if (desc->kind == SPMV_OPTION_ENUM) {
    const SpmvOptionDesc plain = {.kind = SPMV_OPTION_REAL};
    char                 range[SPMV_MESSAGE_MAX], text[64], *end;
    int                  i = 0;

    while (desc->choices[i] && (strtod(desc->choices[i], &end) != number || *end)) i++;
    spmv_option_range(desc, range, sizeof range);
    spmv_option_text(&plain, number, text, sizeof text);
    PetscCheck(desc->choices[i], PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
               "option %s: the number %s is not %s; MatAIJFmtSetOption() sets a choice that is no number", desc->key,
               text, range);
    number = i;
  }
  PetscCall(CheckSet(options, desc, spmv_options_set(options, desc->key, number, message), message));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* One line of -help: the text of the table, and the choices */
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
   options block; in one, -help names the function that does the same. */
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
    if (set) PetscCall(AIJFmtTableSetText(options, &desc[i], text));
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
  if (!s) PetscFunctionReturn(PETSC_SUCCESS); /* a subclass made of a matrix of ours; AIJ has no options here */
  parent = (s->parallel ? &s->parent->mpi : &s->parent->seq)->setfromoptions;
  if (parent) PetscCall(parent(A, PetscOptionsObject));
  PetscOptionsHeadBegin(PetscOptionsObject, "Packed format");
  PetscCall(AIJFmtOptionsRead(A, s, PetscOptionsObject));
  PetscOptionsHeadEnd();
  if (s->parallel) PetscCall(AIJFmtBlocksCopyOptions(A, s));
  PetscFunctionReturn(PETSC_SUCCESS);
}
