/*
  refused_points.c - memory refused at any point. An action is done again and again on new objects: first its first point
  fails, then its second one, until the action has no such point. A point is an allocation of device memory, one of pinned
  memory, or a launch; it fails on the last process or on all. Needs the emulated GPU, which can be told to fail.

    mpiexec -n 2 refused_points -kind launch -action "cgdevice gamg" -first 40 -last 60

  The action must not hang, and its result must be that of PETSc on a plain matrix: with a solver on the host, with a
  reason and the same count on all processes. Then the same objects must solve on the device again, and nothing may
  stay allocated. After the kind `lost` all calls fail from the point on: all processes must get the same error, or
  none, and then the right result.

    -kind      device, pinned, launch, lost, or each in turn
    -action    only actions whose name begins so
    -all       the point fails on all processes
    -once      later points succeed; an allocation that is tried again is the same point. Launches fail once in any case.
    -first, -last, -step    numbers of the points; -step -n: n points of each action, evenly spread
*/
static const char help[] = "Refuses memory and launches at each point of solves and operations on matrices.\n";

#include "refused.h"

#include <cuda_runtime_api.h>
#include <signal.h>
#include <spmv_emulator.h>
#include <unistd.h>

enum { PATIENCE = 60 /* seconds for a point */ };

static const char *const kind_names[]  = {"device", "pinned", "launch", "lost"};
static const unsigned    kind_points[] = {SPMV_POINT_DEVICE, SPMV_POINT_PINNED, SPMV_POINT_LAUNCH, SPMV_POINT_LOST};

Refused refused;

static PetscBool all = PETSC_FALSE, once = PETSC_FALSE;
static PetscInt  checks, failures;
static char      name[160]; /* of the point */

/* ---- points ---- */

static void TooLong(int number)
{
  (void)number;
  if (write(2, name, strlen(name)) < 0 || write(2, ": hangs\n", 8) < 0) _exit(2);
  _exit(1);
}

void RefusedArm(long point)
{
  const PetscBool fails = point >= 0 && (all || refused.rank == refused.size - 1) ? PETSC_TRUE : PETSC_FALSE;

  (void)alarm(PATIENCE);
  (void)spmv_emulator_refuse(kind_points[refused.kind], fails ? point : -1,
                             refused.kind == LAUNCH || (once && refused.kind != LOST));
}

PetscErrorCode RefusedDisarm(void)
{
  int some;

  PetscFunctionBeginUser;
  refused.passed = spmv_emulator_passed();
  some           = spmv_emulator_refuse(0, -1, 0) > 0;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &some, 1, MPI_INT, MPI_MAX, PETSC_COMM_WORLD));
  refused.met = some ? PETSC_TRUE : PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* right: on all processes */
PetscErrorCode RefusedCheck(PetscBool right, const char what[])
{
  int good = right;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &good, 1, MPI_INT, MPI_MIN, PETSC_COMM_WORLD));
  checks++;
  if (!good) {
    failures++;
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: %s\n", name, what));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode RefusedAlike(Vec got, Vec expected, PetscReal tolerance, const char what[])
{
  PetscReal difference, largest;

  PetscFunctionBeginUser;
  PetscCall(TestDistance(got, expected, NORM_INFINITY, &difference, &largest));
  PetscCall(RefusedCheck(difference <= tolerance * largest, what));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whether an armed action has failed as it may: by the same error on all processes after its device was lost */
PetscErrorCode RefusedError(PetscErrorCode error, PetscBool *failed)
{
  int both[2] = {(int)error, -(int)error};

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, both, 2, MPI_INT, MPI_MAX, PETSC_COMM_WORLD));
  *failed = both[0] ? PETSC_TRUE : PETSC_FALSE;
  PetscCall(RefusedCheck(!error || (refused.met && refused.kind == LOST), "an error"));
  PetscCall(RefusedCheck(both[0] == -both[1], "an error on some processes only"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- all actions ---- */

#define ON(type, ksp, pc, null, stage, note)                                                                           \
  {                                                                                                                    \
    ksp " " pc note, RefusedSolve, type, ksp, pc, null, stage                                                          \
  }
#define PACKED(ksp, pc, null, stage)                                                                                   \
  {                                                                                                                    \
    ksp " " pc " packed", RefusedSolve, MATAIJRBP, ksp, pc, null, stage                                                \
  }
#define PLAIN(ksp, pc) ON(MATAIJ, ksp, pc, PETSC_FALSE, SOLVE, ""), ON(MATAIJ, ksp, pc, PETSC_FALSE, RENEW, " renew")
#define NULL_SPACE(ksp, pc)                                                                                            \
  ON(MATAIJ, ksp, pc, PETSC_TRUE, SOLVE, " null"), ON(MATAIJ, ksp, pc, PETSC_TRUE, RENEW, " null renew")
#define OPERATION(of)                                                                                                  \
  {                                                                                                                    \
    "matrix " #of, RefusedOperate, MATAIJRBP, NULL, NULL, PETSC_FALSE, of                                              \
  }

static const Action actions[] = {
    PLAIN(KSPCGDEVICE, PCJACOBI),
    PLAIN(KSPCGDEVICE, PCPBJACOBI),
    PLAIN(KSPGMRESDEVICE, PCJACOBI),
    PLAIN(KSPCGDEVICE, PCASM),
    PLAIN(KSPCGDEVICE, PCILU),
    PLAIN(KSPGMRESDEVICE, PCBJACOBI),
    PLAIN(KSPCGDEVICE, PCGAMG),
    PLAIN(KSPGMRESDEVICE, PCGAMG),
    PLAIN(KSPCG, PCGAMGDEVICE),
    PLAIN(KSPCGDEVICE, AGG),
    NULL_SPACE(KSPCGDEVICE, PCGAMG),
    NULL_SPACE(KSPGMRESDEVICE, PCGAMG),
    NULL_SPACE(KSPCG, PCGAMGDEVICE),
    ON(MATAIJ, KSPCGDEVICE, PCGAMG, PETSC_FALSE, SETUP, " setup"),
    ON(MATAIJ, KSPCGDEVICE, PCGAMG, PETSC_TRUE, SETUP, " null setup"),
    ON(MATAIJ, KSPCG, PCGAMGDEVICE, PETSC_FALSE, PC_SETUP, " setup"),
    ON(MATAIJ, KSPCG, PCGAMGDEVICE, PETSC_TRUE, PC_SETUP, " null setup"),
    PACKED(KSPCGDEVICE, PCJACOBI, PETSC_FALSE, RENEW),
    PACKED(KSPCGDEVICE, AGG, PETSC_TRUE, SOLVE),
    PACKED(KSPGMRESDEVICE, AGG, PETSC_FALSE, RENEW),
    OPERATION(MULT),
    OPERATION(MULT_TRANSPOSED),
    OPERATION(DIAGONAL),
    OPERATION(NEW_VALUES),
    OPERATION(COO),
    OPERATION(COO_VALUES),
    OPERATION(PTAP),
    OPERATION(PTAP_VALUES),
    OPERATION(AB),
};

/* ILU is a PC of one process */
static PetscBool RefusedRuns(const Action *a)
{
  return refused.size == 1 || !a->pc || strcmp(a->pc, PCILU) ? PETSC_TRUE : PETSC_FALSE;
}

static size_t DeviceMemory(void)
{
  size_t available = 0, total = 0;

  (void)cudaMemGetInfo(&available, &total);
  return total - available;
}

static PetscErrorCode RunAction(const Action *a, PetscInt first, PetscInt last, PetscInt step)
{
  PetscInt done = 0;
  size_t   before;

  PetscFunctionBeginUser;
  PetscCall(PetscSNPrintf(name, sizeof name, "%s, no point", a->name));
  PetscCall(a->run(a, -1)); /* allocates what the library keeps for the process */
  refused.met = PETSC_TRUE;
  PetscCallMPI(MPI_Bcast(&refused.passed, 1, MPI_LONG, refused.size - 1, PETSC_COMM_WORLD));
  if (step < 0) {
    step = (PetscInt)PetscMax(1, (refused.passed - first) / -step);
    first += step / 2;
  }
  for (PetscInt point = first; refused.met && point <= last; point += step) {
    PetscCall(PetscSNPrintf(name, sizeof name, "%d processes, %s, %s %" PetscInt_FMT "%s%s", refused.size, a->name,
                            kind_names[refused.kind], point, all ? " on all" : "", once ? " once" : ""));
    before = DeviceMemory();
    PetscCall(a->run(a, point));
    if (refused.kind != LOST) PetscCall(RefusedCheck(DeviceMemory() == before, "memory of the device is lost"));
    done += refused.met;
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: %" PetscInt_FMT " points of kind %s\n", a->name, done,
                        kind_names[refused.kind]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  char     only[64] = "", of_kind[32] = "";
  PetscInt first = 0, last = 1000000, step = 1;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscPackInitializePackage());
  PetscCall(PetscPackReplaceType(PCILU, PETSC_TRUE));
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &refused.rank));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &refused.size));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-kind", of_kind, sizeof of_kind, NULL));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-action", only, sizeof only, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-all", &all, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-once", &once, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-first", &first, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-last", &last, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-step", &step, NULL));
  /* several small levels; the coarsest one gets no dense matrix, which would take the emulated GPU a second */
  PetscCall(PetscOptionsInsertString(
      NULL, "-pc_gamg_coarse_eq_limit 12 -pc_gamg_process_eq_limit 4 -mat_aijfmt_device gpu -mat_aijfmt_decline 0"));
  (void)signal(SIGALRM, TooLong);
  for (int k = 0; k < KINDS; k++) {
    if (of_kind[0] && strcmp(of_kind, kind_names[k])) continue;
    refused.kind = (Kind)k;
    for (size_t a = 0; a < sizeof actions / sizeof *actions; a++)
      if (!strncmp(actions[a].name, only, strlen(only)) && RefusedRuns(&actions[a]))
        PetscCall(RunAction(&actions[a], first, last, step));
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%" PetscInt_FMT " checks, %" PetscInt_FMT " failed\n", checks, failures));
  PetscCall(PetscFinalize());
  return failures || !checks ? 1 : 0;
}
