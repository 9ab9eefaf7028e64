/* options.c - the options that all device solvers have: iterations per chunk, and the format of matrices without a
   plan. */
#include "device.h"

enum { CHUNK_MAX = 64 /* limit of the engines */, FORMATS_MAX = 16, OPTION_MAX = 64 };

/* s is NULL if the solver is of another type */
PetscErrorCode KSPDevSetChunk(KSP ksp, KSPDevice *s, PetscInt chunk)
{
  PetscFunctionBegin;
  PetscCheck(chunk >= 0 && chunk <= CHUNK_MAX, PetscObjectComm((PetscObject)ksp), PETSC_ERR_ARG_OUTOFRANGE,
             "A chunk of %" PetscInt_FMT " iterations is not 0 to %d", chunk, (int)CHUNK_MAX);
  if (s) s->chunk = chunk;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPDevSetFormat(KSP ksp, KSPDevice *s, const char format[])
{
  PetscBool same;

  PetscFunctionBegin;
  PetscCheck(spmv_format_find(format), PetscObjectComm((PetscObject)ksp), PETSC_ERR_ARG_OUTOFRANGE,
             "There is no format %s; %s is one", format, spmv_format_get(0)->name);
  if (!s) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscStrcmp(format, s->format, &same));
  if (!same) { /* the next solve makes new plans */
    AIJFmtPlanDrop(&s->matrix.own, &s->exec);
    AIJFmtPlanDrop(&s->matrix.others, &s->exec);
  }
  PetscCall(PetscStrncpy(s->format, format, sizeof s->format));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* type: the solver type, with which option names begin; functions: the prefix of its function names */
PetscErrorCode KSPDevFromOptions(KSP ksp, KSPDevice *s, const char type[], const char functions[],
                                 AIJFmtOptionItems PetscOptionsObject)
{
  const int   formats = PetscMin(spmv_format_count(), FORMATS_MAX);
  const char *names[FORMATS_MAX];
  char        option[OPTION_MAX], function[OPTION_MAX];
  PetscInt    chunk, format;
  PetscBool   set;

  PetscFunctionBegin;
  for (int i = 0; i < formats; i++) names[i] = spmv_format_get(i)->name;
  PetscCall(PetscSNPrintf(option, sizeof option, "-ksp_%s_chunk", type));
  PetscCall(PetscSNPrintf(function, sizeof function, "%sSetChunk", functions));
  PetscCall(PetscOptionsInt(option, "Iterations that are enqueued together, at most 64; 0: by the size", function,
                            s->chunk, &chunk, &set));
  if (set) PetscCall(KSPDevSetChunk(ksp, s, chunk));
  PetscCall(PetscSNPrintf(option, sizeof option, "-ksp_%s_format", type));
  PetscCall(PetscSNPrintf(function, sizeof function, "%sSetFormat", functions));
  PetscCall(PetscOptionsEList(option, "Format for matrices that are not packed", function, names, formats, s->format,
                              &format, &set));
  if (set) PetscCall(KSPDevSetFormat(ksp, s, names[format]));
  PetscFunctionReturn(PETSC_SUCCESS);
}
