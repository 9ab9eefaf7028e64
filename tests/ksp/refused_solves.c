/* refused_solves.c - the solves of refused_points: by KSPCGDEVICE, by KSPGMRESDEVICE, or by KSPCG with PCGAMGDEVICE. */
#include "refused.h"

/* Reads each solution, for which GMRES needs device memory */
static PetscErrorCode Look(KSP ksp, PetscInt n, PetscReal norm, void *ctx)
{
  Vec x;

  PetscFunctionBeginUser;
  (void)n;
  (void)norm;
  (void)ctx;
  PetscCall(KSPBuildSolution(ksp, NULL, &x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Solver(const char type[], const char pc_type[], Mat A, KSP *ksp)
{
  PetscBool agg, gmres, graph, overlap, blocks;
  PC        pc;

  PetscFunctionBeginUser;
  PetscCall(KSPCreate(PETSC_COMM_WORLD, ksp));
  PetscCall(KSPSetType(*ksp, type));
  PetscCall(KSPSetOperators(*ksp, A, A));
  PetscCall(KSPSetTolerances(*ksp, (PetscReal)1e-6, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT));
  PetscCall(KSPGetPC(*ksp, &pc));
  PetscCall(PetscStrcmp(type, KSPGMRESDEVICE, &gmres));
  if (gmres) PetscCall(KSPMonitorSet(*ksp, Look, NULL, NULL));
  PetscCall(PetscStrcmp(pc_type, PCPBJACOBI, &graph)); /* with PCJACOBI: one kernel for the whole solve */
  if (graph) PetscCall(KSPDeviceSetMode(*ksp, KSP_DEVICE_GRAPH));
  PetscCall(PetscStrcmp(pc_type, PCASM, &overlap)); /* with a function that the device has */
  PetscCall(PetscStrcmp(pc_type, PCBJACOBI, &blocks));
  if (overlap) PetscCall(PetscOptionsInsertString(NULL, "-sub_pc_type sor -sub_mat_aijfmt_device gpu"));
  if (blocks) PetscCall(PetscOptionsInsertString(NULL, "-sub_pc_type ilu -sub_mat_aijfmt_device gpu"));
  PetscCall(PetscStrcmp(pc_type, AGG, &agg));
  PetscCall(PCSetType(pc, agg ? PCGAMG : pc_type));
  if (agg) PetscCall(PCGAMGSetType(pc, PCGAMGAGGDEVICE));
  PetscCall(KSPSetFromOptions(*ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The number of solves, or of applications of the preconditioner, on the device and by PETSc; and the reason */
static PetscErrorCode Counts(KSP ksp, PetscInt count[2], const char **reason)
{
  KSPDeviceInfo  info;
  PCMGDeviceInfo pc_info;
  PetscBool      cg, of_pc;
  char           text[TEST_VIEW], *at;
  PC             pc;

  PetscFunctionBeginUser;
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PetscObjectTypeCompare((PetscObject)ksp, KSPCGDEVICE, &cg));
  PetscCall(PetscObjectTypeCompare((PetscObject)ksp, KSPCG, &of_pc));
  *reason = NULL;
  if (cg) {
    PetscCall(KSPDeviceGetInfo(ksp, &info));
    count[0] = info.solves_device;
    count[1] = info.solves_host;
    *reason  = info.reason;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (of_pc) {
    PetscCall(PCMGDeviceGetInfo(pc, &pc_info));
    count[0] = pc_info.applies_device;
    count[1] = pc_info.applies_petsc;
    *reason  = pc_info.reason;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(TestView((PetscObject)ksp, PETSC_VIEWER_DEFAULT, text));
  count[0] = count[1] = 0;
  at                  = strstr(text, "solves on the device ");
  if (at && sscanf(at, "solves on the device %" PetscInt_FMT ", by KSPGMRES %" PetscInt_FMT, &count[0], &count[1]) < 2)
    count[0] = -1;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckSolution(KSP ksp, Vec x, Vec expected)
{
  KSPConvergedReason why;

  PetscFunctionBeginUser;
  PetscCall(KSPGetConvergedReason(ksp, &why));
  PetscCall(RefusedCheck(why > 0, KSPConvergedReasons[why]));
  PetscCall(RefusedAlike(x, expected, (PetscReal)1e-4, "a wrong solution"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The same counts on all processes; work by PETSc only after a refusal, and with a reason */
static PetscErrorCode CheckCounts(KSP ksp, const PetscInt before[2], PetscBool refused)
{
  PetscInt    now[2], most[4];
  const char *reason;
  PetscBool   host;

  PetscFunctionBeginUser;
  PetscCall(Counts(ksp, now, &reason));
  host = now[1] > before[1] ? PETSC_TRUE : PETSC_FALSE;
  for (int i = 0; i < 2; i++) {
    most[2 * i]     = now[i];
    most[2 * i + 1] = -now[i];
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, most, 4, MPIU_INT, MPI_MAX, PETSC_COMM_WORLD));
  PetscCall(RefusedCheck(most[0] == -most[1] && most[2] == -most[3], "other counts on some processes"));
  PetscCall(RefusedCheck(host || now[0] > before[0], "the work was not counted"));
  PetscCall(RefusedCheck(!host || refused, reason ? reason : "by PETSc without a refusal"));
  PetscCall(RefusedCheck(!reason || !host == !reason[0], "no reason, or one for work on the device"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Expected(const Action *a, Vec b, Vec *x)
{
  static Vec kept[2];
  Mat        A;
  KSP        ksp;

  PetscFunctionBeginUser;
  if (!kept[a->null]) {
    PetscCall(RefusedMatrix(MATAIJ, a->null, &A));
    PetscCall(VecDuplicate(b, &kept[a->null]));
    PetscCall(Solver(KSPCG, PCJACOBI, A, &ksp));
    PetscCall(KSPSetTolerances(ksp, (PetscReal)1e-12, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT));
    PetscCall(KSPSolve(ksp, b, kept[a->null]));
    PetscCall(KSPDestroy(&ksp));
    PetscCall(MatDestroy(&A));
    PetscCall(PetscObjectRegisterDestroy((PetscObject)kept[a->null]));
  }
  PetscCall(VecDuplicate(b, x));
  PetscCall(VecCopy(kept[a->null], *x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The steps before that in which points fail */
static PetscErrorCode Before(const Action *a, KSP ksp, Mat A, Vec b, Vec x, Vec expected)
{
  PetscFunctionBeginUser;
  if (a->part != RENEW) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(RefusedFill(A, 2, a->null ? 0 : (PetscReal)0.1));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(VecScale(expected, (PetscReal)0.5));
  PetscCall(VecZeroEntries(x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Armed(const Action *a, KSP ksp, Vec b, Vec x, long point)
{
  PetscErrorCode error;
  PC             pc;

  PetscFunctionBeginUser;
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
  RefusedArm(point);
  error = a->part == SETUP ? KSPSetUp(ksp) : a->part == PC_SETUP ? PCSetUp(pc) : KSPSolve(ksp, b, x);
  PetscCall(RefusedDisarm());
  PetscCall(PetscPopErrorHandler());
  PetscFunctionReturn(error);
}

PetscErrorCode RefusedSolve(const Action *a, long point)
{
  PetscInt    count[2];
  const char *reason;
  PetscBool   failed;
  Mat         A;
  Vec         x, b, expected;
  KSP         ksp;

  PetscFunctionBeginUser;
  PetscCall(RefusedMatrix(a->type, a->null, &A));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(RefusedValues(b));
  PetscCall(Expected(a, b, &expected));
  PetscCall(Solver(a->ksp, a->pc, A, &ksp));
  PetscCall(Before(a, ksp, A, b, x, expected));
  PetscCall(Counts(ksp, count, &reason));
  PetscCall(RefusedError(Armed(a, ksp, b, x, point), &failed));
  if (failed) PetscFunctionReturn(PETSC_SUCCESS); /* PETSc cannot free objects that an error has left half-made */
  if (a->part == SETUP || a->part == PC_SETUP) PetscCall(KSPSolve(ksp, b, x));
  PetscCall(CheckSolution(ksp, x, expected));
  PetscCall(CheckCounts(ksp, count, refused.met));
  PetscCall(Counts(ksp, count, &reason));
  PetscCall(VecZeroEntries(x));
  /* an analysis for factors or sweeps tries again in a new set-up */
  if (!strcmp(a->pc, PCASM) || !strcmp(a->pc, PCBJACOBI) || !strcmp(a->pc, PCILU)) {
    PetscCall(KSPReset(ksp));
    PetscCall(KSPSetOperators(ksp, A, A));
  }
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(CheckSolution(ksp, x, expected));
  PetscCall(CheckCounts(ksp, count, PETSC_FALSE));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(TestDestroyVecs(&expected, &b));
  PetscCall(VecDestroy(&x));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}
