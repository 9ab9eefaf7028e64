/* refused.h - shared by the files of refused_points: the points that fail, the actions, and checks on all processes. */
#pragma once

#include <petscksp.h>
#include <petscpack.h>
#include "petsc_test.h"

#define AGG "aggdevice" /* PCGAMG of that type */

enum { SIDE = 8 /* of the square on which the problem is posed */ };

typedef enum { DEVICE, PINNED, LAUNCH, LOST, KINDS } Kind; /* of points */

typedef enum { SETUP, PC_SETUP, SOLVE, RENEW } Stage;
typedef enum { MULT, MULT_TRANSPOSED, DIAGONAL, NEW_VALUES, COO, COO_VALUES, PTAP, AB, PTAP_VALUES } Operation;

typedef struct Action Action;
struct Action {
  const char *name;
  PetscErrorCode (*run)(const Action *, long point);
  const char *type, *ksp, *pc; /* of the matrix and the solver */
  PetscBool   null;            /* the matrix is singular, with a null space */
  int         part;            /* a Stage of the solve, in which points fail, or an Operation */
};

typedef struct {
  Kind        kind;
  PetscMPIInt rank, size;
  PetscBool   met;    /* the point was reached on some process */
  long        passed; /* the number of points before it on this process */
} Refused;
extern Refused refused;

/* refused_points.c. From Arm to Disarm a point fails; -1: none does */
void           RefusedArm(long point);
PetscErrorCode RefusedDisarm(void);
PetscErrorCode RefusedCheck(PetscBool right, const char what[]); /* on all processes */
PetscErrorCode RefusedAlike(Vec got, Vec expected, PetscReal tolerance, const char what[]);
PetscErrorCode RefusedError(PetscErrorCode, PetscBool *failed);

/* refused_matrices.c */
PetscErrorCode RefusedMatrix(const char type[], PetscBool null, Mat *);
PetscErrorCode RefusedFill(Mat, PetscReal scale, PetscReal shift);
PetscErrorCode RefusedValues(Vec);
PetscErrorCode RefusedOperate(const Action *, long point);

/* refused_solves.c */
PetscErrorCode RefusedSolve(const Action *, long point);
