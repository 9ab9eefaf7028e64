/*
  options.c - the options of a matrix: -mat_aij<format>_<key> from the format's own table, and -mat_aijfmt_<key> for all
  formats. Both are tables of SpmvOptionDesc, so one code reads, checks, prints and sets them.

  They are read twice: when a matrix gets its type, because a program that hard-codes AIJ may never call
  MatSetFromOptions(), and in MatSetFromOptions(), which also lists them for -help.
*/
#include "seqaijfmt.h"
#include <float.h>
#include <stdio.h>
#include <stdlib.h>

static const char *const devices[] = {MATAIJFMT_DEVICE_AUTO, MATAIJFMT_DEVICE_HOST, MATAIJFMT_DEVICE_GPU, NULL};

static const SpmvOptionDesc class_table[] = {
    [AIJFMT_CHECK] = {"check", SPMV_OPTION_BOOL, 0, 0, 1, NULL,
                      "compare every product with that of the parent type, and stop where they differ"},
    [AIJFMT_EAGER] = {"eager", SPMV_OPTION_BOOL, 0, 0, 1, NULL, "convert at assembly, not at the first product"},
    [AIJFMT_DECLINE] =
        {"decline", SPMV_OPTION_BOOL, 1, 0, 1, NULL,
         "let the analysis of a pattern leave the products to the parent type; false insists on the format"},
    [AIJFMT_DEVICE] = {"device", SPMV_OPTION_ENUM, AIJFMT_DEVICE_IS_AUTO, 0, 0, devices, "where the packed arrays lie"},
    {NULL, SPMV_OPTION_INT, 0, 0, 0, NULL, NULL},
};

/* Not a format: it lends its name and table to spmv_options_*() */
static const SpmvFormat class_options = {.abi = SPMV_ABI, .name = "fmt", .options = class_table};

PetscErrorCode AIJFmtOptionsInit(Mat_AIJFmt *s)
{
  const SpmvFormat *format = spmv_format_find(s->row->format);

  PetscFunctionBegin;
  PetscCheck(format, PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "libspmvpack has no format %s: libpetscpack and libspmvpack are of different versions", s->row->format);
  spmv_options_init(&s->format_options, format);
  spmv_options_init(&s->class_options, &class_options);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The value of an option as a user types it */
PetscErrorCode AIJFmtOptionText(const SpmvOptionDesc *desc, double value, char text[], size_t size)
{
  PetscFunctionBegin;
  if (desc->kind == SPMV_OPTION_ENUM) PetscCall(PetscStrncpy(text, desc->choices[(int)value], size));
  else if (desc->kind == SPMV_OPTION_BOOL) PetscCall(PetscStrncpy(text, value != 0 ? "true" : "false", size));
  else if (desc->kind == SPMV_OPTION_INT) PetscCall(PetscSNPrintf(text, size, "%lld", (long long)value));
  else { /* the shortest text that reads back to the same number: 0.3 as it was typed, not 0.29999999999999999 */
    for (int digits = 1; digits <= DBL_DECIMAL_DIG; digits++) {
      snprintf(text, size, "%.*g", digits, value);
      if (strtod(text, NULL) == value) break;
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The help of an option with what it may be */
static PetscErrorCode HelpText(const SpmvOptionDesc *desc, char text[], size_t size)
{
  char range[128];

  PetscFunctionBegin;
  PetscCall(PetscStrncpy(text, desc->help, size));
  if (desc->kind == SPMV_OPTION_ENUM) {
    PetscCall(PetscStrlcat(text, "; one of", size));
    for (int i = 0; desc->choices[i]; i++) {
      PetscCall(PetscStrlcat(text, " ", size));
      PetscCall(PetscStrlcat(text, desc->choices[i], size));
    }
  } else if (desc->kind == SPMV_OPTION_BOOL) PetscCall(PetscStrlcat(text, "; true or false", size));
  else {
    PetscCall(PetscSNPrintf(range, sizeof range, "; %.10g to %.10g", desc->min, desc->max));
    PetscCall(PetscStrlcat(text, range, size));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets one option from text. A truth value is true without a text, as in -flag, and its case does not matter. */
PetscErrorCode AIJFmtOptionSetText(SpmvOptions *options, const SpmvOptionDesc *desc, const char value[])
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
  PetscCheck(!status, PETSC_COMM_SELF, AIJFmtErrorCode(status), "-mat_aij%s_%s: %s", options->format->name, desc->key,
             message);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Reads one table from the options database; PetscOptionsObject is NULL outside of an options block */
static PetscErrorCode ReadTable(Mat A, SpmvOptions *options, AIJFmtOptionItems PetscOptionsObject)
{
  const SpmvOptionDesc *desc = options->format->options;

  PetscFunctionBegin;
  for (int i = 0; desc && desc[i].key; i++) {
    char      name[128], text[256], now[256], help[512];
    PetscBool set;

    PetscCall(PetscSNPrintf(name, sizeof name, "-mat_aij%s_%s", options->format->name, desc[i].key));
    if (PetscOptionsObject) {
      PetscCall(AIJFmtOptionText(&desc[i], options->value[i], now, sizeof now));
      PetscCall(HelpText(&desc[i], help, sizeof help));
      PetscCall(PetscOptionsString(name, help, "MatAIJFmtSetOption", now, text, sizeof text, &set));
    } else {
      PetscObject object = (PetscObject)A;
      PetscCall(PetscOptionsGetString(object->options, object->prefix, name, text, sizeof text, &set));
    }
    if (set) PetscCall(AIJFmtOptionSetText(options, &desc[i], text));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode AIJFmtOptionsRead(Mat A, Mat_AIJFmt *s, AIJFmtOptionItems PetscOptionsObject)
{
  Mat_AIJFmt now;

  PetscFunctionBegin;
  now.format_options = s->format_options;
  now.class_options  = s->class_options;
  PetscCall(ReadTable(A, &now.format_options, PetscOptionsObject));
  PetscCall(ReadTable(A, &now.class_options, PetscOptionsObject));
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
