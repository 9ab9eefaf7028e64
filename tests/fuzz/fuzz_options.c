/*
  fuzz_options.c - options of the packed types: in PETSc's database, and set on the matrix by a program
*/
#include "fuzz.h"

#include <cases.h>
#include <stdio.h>

/* Does not override options of the command line. The plain twin's turn comes first and does the same. */
static PetscErrorCode PutOption(Fuzz *f, const char *name, const char *value)
{
  PetscBool there, ours = PETSC_FALSE;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsHasName(NULL, NULL, name, &there));
  for (PetscInt k = 0; k < f->database_count && !ours; k++) PetscCall(PetscStrcmp(f->database[k], name, &ours));
  if ((there && !ours) || (!ours && f->database_count == FUZZ_OPTIONS_MAX)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscOptionsSetValue(NULL, name, value));
  if (!ours) PetscCall(PetscStrncpy(f->database[f->database_count++], name, CONF_TYPE_MAX));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The option settings of the kernel tests, as "key=value ..." */
static PetscErrorCode PutVariant(Fuzz *f, const SpmvFormat *format)
{
  const uint64_t way = OpNext(&f->c);
  SpmvOptions    options;
  char           text[CASE_VARIANT_TEXT], name[CONF_TYPE_MAX], **part, *value;
  int            count;

  PetscFunctionBeginUser;
  case_variant(format, CASE_QUICK, (int)(way % (uint64_t)case_variant_count(format, CASE_QUICK)), &options, text);
  PetscCall(PetscStrToArray(text, ' ', &count, &part));
  for (int i = 0; i < count; i++) {
    if (!(value = strchr(part[i], '='))) continue;
    *value++ = 0;
    PetscCall(PetscSNPrintf(name, sizeof(name), "-mat_aij%s_%s", format->name, part[i]));
    PetscCall(PutOption(f, name, value));
  }
  PetscCall(PetscStrToArrayDestroy(count, part));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Products per candidate in a trial of aijauto: few, so that turns end within the sequence */
static const char *const trials[] = {"0", "1", "2", "5"};
enum { TRIALS = sizeof trials / sizeof trials[0] };

static PetscErrorCode Options(Conf *c)
{
  Fuzz *const       f       = (Fuzz *)c; /* its first member */
  const SpmvFormat *format  = spmv_format_find(f->base_format);
  const PetscBool   decline = OpChance(&f->c, 30), check = OpChance(&f->c, 20);
  const PetscBool   variant = OpChance(&f->c, 70);
  const char *const trial   = trials[OpBelow(&f->c, TRIALS)];

  PetscFunctionBeginUser;
  if (format && variant) PetscCall(PutVariant(f, format));
  PetscCall(PutOption(f, "-mat_aijfmt_decline", decline ? "true" : "false"));
  PetscCall(PutOption(f, "-mat_aijauto_trial", trial));
  PetscCall(PutOption(f, "-mat_aijfmt_check", check ? "true" : "false"));
  PetscCall(MatSetFromOptions(c->A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets an option in the database and on the matrix; later operations must keep it. Those that give the matrix another
   header read it from the database again, so an option of the command line is left alone. */
static PetscErrorCode SetOption(Conf *c)
{
  Fuzz *const       f      = (Fuzz *)c;
  const char *const keys[] = {"decline", "check"};
  const char *const key    = keys[OpBelow(&f->c, 2)];
  const char *const value  = OpChance(&f->c, 50) ? "true" : "false";
  char              name[CONF_TYPE_MAX], now[CONF_TYPE_MAX];
  PetscBool         set;

  PetscFunctionBeginUser;
  PetscCall(PetscSNPrintf(name, sizeof(name), "-mat_aijfmt_%s", key));
  PetscCall(PutOption(f, name, value));
  PetscCall(PetscOptionsGetString(NULL, NULL, name, now, sizeof(now), &set));
  if (set) PetscCall(PetscStrcmp(now, value, &set));
  if (!set) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscStrncpy(f->option, key, sizeof(f->option)));
  PetscCall(PetscStrncpy(f->value, value, sizeof(f->value)));
  if (FuzzIsPacked(f)) PetscCall(MatAIJFmtSetOption(c->A, f->option, f->value));
  PetscFunctionReturn(PETSC_SUCCESS);
}

const ConfOperation fuzz_options[] = {
    {"options", Options, OP_RENEWS, .ways = 1}, {"set_option", SetOption, 0, .ways = 1}, {.name = NULL}};
