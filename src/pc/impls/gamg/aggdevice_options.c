/*
  aggdevice_options.c - the options set on agg, from C and from the command line. agg has no getters, so its setters are
  wrapped, and its options are read a second time.
*/
#include "aggdevice.h"

static const char *const setters[] = {"PCGAMGSetAggressiveLevels_C", "PCGAMGMISkSetAggressive_C",
                                      "PCGAMGSetAggressiveSquareGraph_C", "PCGAMGMISkSetMinDegreeOrdering_C",
                                      "PCGAMGSetNSmooths_C"};

enum { LEVELS, DISTANCE, SQUARE, DEGREE, SMOOTHS, SETTERS };

typedef PetscErrorCode (*SetInt)(PC, PetscInt);
typedef PetscErrorCode (*SetBool)(PC, PetscBool);

static PetscErrorCode SetNumber(PC pc, int which, PetscInt n)
{
  PC_AggDevice *a;

  PetscFunctionBegin;
  PetscCall(AggDevGet(pc, &a));
  PetscCall(((SetInt)a->agg.setter[which])(pc, n));
  if (which == LEVELS) a->options.aggressive_levels = n;
  else if (which == DISTANCE) a->options.mis_k = n;
  else a->options.smooths = n;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SetFlag(PC pc, int which, PetscBool flag)
{
  PC_AggDevice *a;

  PetscFunctionBegin;
  PetscCall(AggDevGet(pc, &a));
  PetscCall(((SetBool)a->agg.setter[which])(pc, flag));
  *(which == SQUARE ? &a->options.square : &a->options.minimum_degree) = flag;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SetAggressiveLevels(PC pc, PetscInt n) { return SetNumber(pc, LEVELS, n); }
static PetscErrorCode SetDistance(PC pc, PetscInt n) { return SetNumber(pc, DISTANCE, n); }
static PetscErrorCode SetSmooths(PC pc, PetscInt n) { return SetNumber(pc, SMOOTHS, n); }
static PetscErrorCode SetSquare(PC pc, PetscBool square) { return SetFlag(pc, SQUARE, square); }
static PetscErrorCode SetMinimumDegree(PC pc, PetscBool minimum) { return SetFlag(pc, DEGREE, minimum); }

/* Sets agg's defaults and wraps its setters. agg's destruction removes the composed functions. */
PetscErrorCode AggDevOptionsInit(PC pc, PC_AggDevice *a)
{
  static const AIJFmtFunction ours[] = {(AIJFmtFunction)SetAggressiveLevels, (AIJFmtFunction)SetDistance,
                                        (AIJFmtFunction)SetSquare, (AIJFmtFunction)SetMinimumDegree,
                                        (AIJFmtFunction)SetSmooths};

  PetscFunctionBegin;
  a->options = (AggDevOptions){.aggressive_levels = 1,
                               .mis_k             = 2,
                               .smooths           = 1,
                               .square            = AIJFMT_GAMG_SQUARES,
                               .minimum_degree    = AIJFMT_GAMG_MINIMUM_DEGREE};
  for (int i = 0; i < SETTERS; i++) {
    PetscCall(PetscObjectQueryFunction((PetscObject)pc, setters[i], &a->agg.setter[i]));
    if (a->agg.setter[i]) PetscCall(PetscObjectComposeFunction((PetscObject)pc, setters[i], ours[i]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Reads only the options that agg has in this version of PETSc: those with a setter */
PetscErrorCode AggDevOptionsRead(PC pc, PC_AggDevice *a)
{
  AggDevOptions *o       = &a->options;
  PetscOptions   options = ((PetscObject)pc)->options;
  const char    *prefix;
  PetscBool      set, old;
  PetscInt       levels;

  PetscFunctionBegin;
  PetscCall(PCGetOptionsPrefix(pc, &prefix));
  PetscCall(PetscOptionsGetInt(options, prefix, "-pc_gamg_square_graph", &levels, &old));
  PetscCall(PetscOptionsGetInt(options, prefix, "-pc_gamg_aggressive_coarsening", &o->aggressive_levels, &set));
  if (old && !set) o->aggressive_levels = levels;
  PetscCall(PetscOptionsGetInt(options, prefix, "-pc_gamg_agg_nsmooths", &o->smooths, NULL));
  if (a->agg.setter[DISTANCE])
    PetscCall(PetscOptionsGetInt(options, prefix, "-pc_gamg_aggressive_mis_k", &o->mis_k, NULL));
  if (a->agg.setter[SQUARE]) {
    if (old && !set) o->square = PETSC_TRUE;
    PetscCall(PetscOptionsGetBool(options, prefix, "-pc_gamg_aggressive_square_graph", &o->square, NULL));
  }
  if (a->agg.setter[DEGREE])
    PetscCall(PetscOptionsGetBool(options, prefix, "-pc_gamg_mis_k_minimum_degree_ordering", &o->minimum_degree, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}
