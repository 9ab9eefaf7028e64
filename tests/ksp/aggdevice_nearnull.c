/*
  aggdevice_nearnull.c - the near-null space in set-ups of PCGAMG of type aggdevice, on the emulated device, which counts
  copies. With PCGAMGSetRepartition(), which changes nothing else on one process, it passes through the host on each level,
  as it does without petscpack: the other set-up must give the same bits without those copies. Then each allocation fails
  in turn, so that levels go to the host or to agg. On several processes, where repartitioning does more, PETSc keeps the
  array with PCGAMGSetReuseInterpolation(), and only the copy of the finest level is gone.

    aggdevice_nearnull -mat_aijfmt_decline 0 -mat_aijfmt_device gpu
*/
static const char help[] = "Counts copies of the near-null space in set-ups of aggdevice.\n";

#include "cgdevice_test.h"

#include <petsc/private/vecimpl.h>
#include <spmv_emulator.h>
#include <spmv_kernels.h>
#include <string.h>

enum { LEVELS = 8, OUTCOMES = 512 };

typedef enum { COMPONENTS, CONSTANT, CONSTANT_AND_VECTOR, MOTIONS, MOTIONS_THERE } Kind;

/* A near-null space of `columns` vectors, `uploads` of them copied to the device on the first level, for `unknowns` per
   point */
typedef struct {
  const char *name;
  Kind        kind;
  PetscInt    unknowns, columns, uploads;
} Row;

static const Row rows[] = {
    {"components of 1", COMPONENTS, 1, 1, 0},
    {"components of 3", COMPONENTS, 3, 3, 0},
    {"constant", CONSTANT, 1, 1, 0},
    {"constant for 3 unknowns", CONSTANT, 3, 1, 1},
    {"constant and a vector", CONSTANT_AND_VECTOR, 1, 2, 2},
    {"motions", MOTIONS, 3, 6, 6},
    {"motions in device memory", MOTIONS_THERE, 3, 6, 0},
};

static PetscMPIInt processes;

/* Of a set-up and a solve */
typedef struct {
  PetscInt levels, rows[LEVELS];    /* of this process, from the finest level on */
  long     copies[LEVELS], vectors; /* of as many bytes as the near-null space of a level, a vector of the first */
  PCGAMGAggDeviceInfo info;
  PetscBool           failed; /* an allocation was refused */
  Vec                 x;
} Outcome;

/* ---- a problem ---- */

/* Place: number of a point along an edge. A vector whose numbers have the sum 0 and the norm 1. */
static PetscErrorCode Slope(Mat A, PetscInt side, Vec *slope)
{
  PetscScalar *v;
  PetscInt     n;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(A, slope, NULL));
  PetscCall(VecGetLocalSize(*slope, &n));
  PetscCall(VecGetArrayWrite(*slope, &v));
  for (PetscInt i = 0; i < n; i++) v[i] = (PetscScalar)(2 * (i % side) - side + 1);
  PetscCall(VecRestoreArrayWrite(*slope, &v));
  PetscCall(VecNormalize(*slope, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Vectors that have their numbers in emulated device memory, too, and say so as those of type VECCUDA do */
static struct {
  Vec   x;
  void *array;
} there[6];

static PetscErrorCode GetArrayThere(Vec x, const PetscScalar **array, PetscMemType *memtype)
{
  PetscFunctionBeginUser;
  *array = NULL;
  for (int i = 0; i < 6; i++)
    if (there[i].x == x) *array = (const PetscScalar *)there[i].array;
  *memtype = PETSC_MEMTYPE_CUDA;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode RestoreArrayThere(Vec x, const PetscScalar **array)
{
  (void)x;
  *array = NULL;
  return PETSC_SUCCESS;
}

static PetscErrorCode CopyThere(MatNullSpace space)
{
  const PetscScalar *array;
  const Vec         *vecs;
  PetscInt           count, n;
  SpmvExec           exec;
  int64_t            bytes;

  PetscFunctionBeginUser;
  spmv_exec_init(&exec, SPMV_DEVICE);
  PetscCall(MatNullSpaceGetVecs(space, NULL, &count, &vecs));
  for (PetscInt i = 0; i < count; i++) {
    PetscCall(VecGetLocalSize(vecs[i], &n));
    bytes = n * (int64_t)sizeof(PetscScalar);
    spmv_exec_free(&exec, SPMV_DEVICE, there[i].array);
    there[i].x = vecs[i];
    PetscCall(VecGetArrayRead(vecs[i], &array));
    PetscCheck(!spmv_alloc(&exec, SPMV_DEVICE, bytes, "a vector", &there[i].array) &&
                   !spmv_copy(there[i].array, SPMV_DEVICE, array, SPMV_HOST, bytes, &exec) && !spmv_stream_wait(&exec),
               PETSC_COMM_SELF, PETSC_ERR_MEM, "%s", exec.message);
    PetscCall(VecRestoreArrayRead(vecs[i], &array));
    there[i].x->ops->getarrayreadandmemtype     = GetArrayThere;
    there[i].x->ops->restorearrayreadandmemtype = RestoreArrayThere;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SetNearNullSpace(const Row *row, PetscInt side, Mat A)
{
  MatNullSpace space = NULL;
  Vec          v     = NULL;

  PetscFunctionBeginUser;
  if (row->kind == CONSTANT) PetscCall(MatNullSpaceCreate(PETSC_COMM_WORLD, PETSC_TRUE, 0, NULL, &space));
  else if (row->kind == CONSTANT_AND_VECTOR) {
    PetscCall(Slope(A, side, &v));
    PetscCall(MatNullSpaceCreate(PETSC_COMM_WORLD, PETSC_TRUE, 1, &v, &space));
  } else if (row->kind >= MOTIONS) {
    PetscCall(CGDevTestPlaces(A, side, &v));
    PetscCall(MatNullSpaceCreateRigidBody(v, &space));
    if (row->kind == MOTIONS_THERE) PetscCall(CopyThere(space));
  }
  if (space) PetscCall(MatSetNearNullSpace(A, space));
  PetscCall(MatNullSpaceDestroy(&space));
  PetscCall(VecDestroy(&v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Problem(const Row *row, PetscInt side, Mat *A)
{
  const PetscInt n = side * side * side * row->unknowns;

  PetscFunctionBeginUser;
  PetscCall(
      TestCreate(PETSC_COMM_WORLD, MATAIJRBP, PETSC_DECIDE, PETSC_DECIDE, n, n, row->unknowns, 27 * row->unknowns, A));
  PetscCall(CGDevTestStencil(*A, side, row->unknowns, 1, (PetscReal)0.1, 3));
  PetscCall(SetNearNullSpace(row, side, *A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Create(Mat A, PetscBool through_host, KSP *ksp)
{
  PC pc;

  PetscFunctionBeginUser;
  PetscCall(KSPCreate(PETSC_COMM_WORLD, ksp));
  PetscCall(KSPSetType(*ksp, KSPCG));
  PetscCall(KSPSetOperators(*ksp, A, A));
  PetscCall(KSPSetTolerances(*ksp, (PetscReal)(PetscDefined(USE_REAL_SINGLE) ? 1e-5 : 1e-10), PETSC_DEFAULT,
                             PETSC_DEFAULT, 400));
  PetscCall(KSPGetPC(*ksp, &pc));
  PetscCall(PCSetType(pc, PCGAMG));
  PetscCall(PCGAMGSetType(pc, PCGAMGAGGDEVICE));
  PetscCall(PCGAMGSetAggressiveLevels(pc, 0));
  PetscCall(PCGAMGSetCoarseEqLim(pc, 20));
  if (processes == 1) PetscCall(PCGAMGSetRepartition(pc, through_host));
  else PetscCall(PCGAMGSetReuseInterpolation(pc, through_host ? PETSC_FALSE : PETSC_TRUE));
  PetscCall(KSPSetFromOptions(*ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- set-ups ---- */

static long CopiesOf(PetscInt numbers) { return spmv_emulator_copies((size_t)numbers * sizeof(PetscScalar)); }

/* Adds the copies so far, times `sign`; sizes: those of the levels, or NULL */
static void Count(const Row *row, const Outcome *sizes, int sign, Outcome *o)
{
  if (!sizes) return;
  for (PetscInt l = 0; l < sizes->levels; l++) o->copies[l] += sign * CopiesOf(sizes->rows[l] * row->columns);
  o->vectors += sign * CopiesOf(sizes->rows[0]);
}

static PetscErrorCode Learn(PC pc, Outcome *o)
{
  KSP level;
  Mat A;

  PetscFunctionBeginUser;
  PetscCall(PCMGGetLevels(pc, &o->levels));
  PetscCheck(o->levels <= LEVELS, PETSC_COMM_SELF, PETSC_ERR_PLIB, "too many levels");
  for (PetscInt i = 0; i < o->levels; i++) {
    PetscCall(PCMGGetSmoother(pc, o->levels - 1 - i, &level));
    PetscCall(KSPGetOperators(level, &A, NULL));
    PetscCall(MatGetLocalSize(A, &o->rows[i], NULL));
  }
  PetscCall(PCGAMGAggDeviceGetInfo(pc, &o->info));
  o->info.reason = o->info.estimate_reason = NULL; /* they belong to the PC */
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A set-up in which the allocation of device memory after `before` others fails (negative: none does), and a solve. With
   sizes of the levels, copies are counted. */
static PetscErrorCode Run(const Row *row, Mat A, PetscBool through_host, long before, const Outcome *sizes, Outcome *o)
{
  KSP ksp;
  PC  pc;
  Vec b;

  PetscFunctionBeginUser;
  memset(o, 0, sizeof *o);
  PetscCall(Create(A, through_host, &ksp));
  PetscCall(KSPGetPC(ksp, &pc));
  Count(row, sizes, -1, o);
  (void)spmv_emulator_refuse(SPMV_POINT_DEVICE, before, 1);
  PetscCall(PCSetUp(pc));
  o->failed = spmv_emulator_refuse(SPMV_POINT_DEVICE, -1, 1) > 0 ? PETSC_TRUE : PETSC_FALSE;
  Count(row, sizes, 1, o);
  PetscCall(MatCreateVecs(A, &o->x, &b));
  PetscCall(CGDevTestRightHandSide(b));
  PetscCall(KSPSolve(ksp, b, o->x));
  PetscCall(Learn(pc, o));
  PetscCall(VecDestroy(&b));
  PetscCall(KSPDestroy(&ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscBool SameLevels(const Outcome *a, const Outcome *b)
{
  return a->levels == b->levels && !memcmp(a->rows, b->rows, sizeof a->rows) &&
                 !memcmp(&a->info, &b->info, sizeof a->info)
             ? PETSC_TRUE
             : PETSC_FALSE;
}

/* Copies of the near-null space: one to the device on each level but the coarsest, and one to the host for each level but
   the finest. All must be gone, but those of the vectors. Other arrays of small levels may have the same size, and are not gone. */
static PetscErrorCode CheckCopies(const Row *row, const Outcome *host, const Outcome *stays)
{
  const PetscBool alone   = processes == 1 ? PETSC_TRUE : PETSC_FALSE;
  const PetscBool by_agg  = !alone && (row->kind == CONSTANT || row->kind == CONSTANT_AND_VECTOR);
  const PetscInt  vectors = by_agg ? 0 : row->uploads - (row->columns == 1); /* one vector is the whole space */
  char            text[160];

  PetscFunctionBeginUser;
  for (PetscInt l = 0; l < host->levels; l++) {
    const long through = alone ? (l > 0) + (l < host->levels - 1) : l == 0 && !by_agg;
    const long whole   = l == 0 && row->columns == 1 && !by_agg ? row->uploads : 0;

    PetscCall(PetscSNPrintf(text, sizeof text,
                            "level %" PetscInt_FMT
                            ": %ld copies of the size of the near-null space through the host, %ld now",
                            l, host->copies[l], stays->copies[l]));
    PetscCall(CGDevTestCheck(host->copies[l] - stays->copies[l] == through - whole, row->name, text));
    PetscCall(CGDevTestCheck(row->kind < MOTIONS || l > (alone ? 1 : 0) || stays->copies[l] == 0, row->name, text));
    PetscCall(PetscInfo(NULL, "%s, %s\n", row->name, text));
  }
  PetscCall(PetscSNPrintf(text, sizeof text, "%ld copies of vectors through the host, %ld now", host->vectors,
                          stays->vectors));
  PetscCall(CGDevTestCheck(stays->vectors - host->vectors == vectors, row->name, text));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Copies(const Row *row)
{
  Outcome   sizes, host, stays;
  PetscBool same;
  Mat       A;

  PetscFunctionBeginUser;
  PetscCall(Problem(row, row->unknowns == 1 ? 10 : processes == 1 ? 7 : 8, &A));
  PetscCall(Run(row, A, PETSC_TRUE, -1, NULL, &sizes));
  PetscCall(Run(row, A, PETSC_TRUE, -1, &sizes, &host));
  PetscCall(Run(row, A, PETSC_FALSE, -1, &sizes, &stays));
  PetscCall(CGDevTestCheck(host.levels >= 3 && stays.info.levels_device == host.levels - 1, row->name,
                           "fewer than three levels, or not on the device"));
  PetscCall(CGDevTestCheck(SameLevels(&host, &stays), row->name, "other levels"));
  PetscCall(VecEqual(host.x, stays.x, &same));
  PetscCall(CGDevTestCheck(same, row->name, "other bits"));
  PetscCall(CheckCopies(row, &host, &stays));
  PetscCall(VecDestroy(&sizes.x));
  PetscCall(TestDestroyVecs(&host.x, &stays.x));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- refused memory ---- */

/* The outcomes of set-ups in each of which another allocation fails */
static PetscErrorCode Refuse(const Row *row, Mat A, PetscBool through_host, Outcome *o, PetscInt *count)
{
  PetscFunctionBeginUser;
  for (*count = 0; *count < OUTCOMES; ++*count) {
    PetscCall(Run(row, A, through_host, *count, NULL, &o[*count]));
    if (!o[*count].failed) break; /* the last outcome is that without a failure */
  }
  PetscCheck(*count < OUTCOMES, PETSC_COMM_SELF, PETSC_ERR_PLIB, "more than %d allocations", OUTCOMES);
  ++*count;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whether one of the outcomes has the levels and the bits of o */
static PetscErrorCode Has(const Outcome *all, PetscInt count, const Outcome *o, PetscBool *has)
{
  PetscFunctionBeginUser;
  *has = PETSC_FALSE;
  for (PetscInt i = 0; i < count && !*has; i++)
    if (SameLevels(&all[i], o)) PetscCall(VecEqual(all[i].x, o->x, has));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Without reuse of interpolation PETSc keeps a copy of the near-null space, and takes that for the second set-up */
static PetscErrorCode Again(const Row *row)
{
  const PetscInt side = 4;
  PetscBool      same;
  Outcome        fresh, kept;
  Mat            A;
  KSP            ksp;
  PC             pc;
  Vec            b;

  PetscFunctionBeginUser;
  memset(&kept, 0, sizeof kept);
  PetscCall(Problem(row, side, &A));
  PetscCall(Run(row, A, PETSC_FALSE, -1, NULL, &fresh));
  PetscCall(Create(A, PETSC_FALSE, &ksp));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCGAMGSetReuseInterpolation(pc, PETSC_FALSE));
  PetscCall(MatCreateVecs(A, &kept.x, &b));
  PetscCall(CGDevTestRightHandSide(b));
  for (int i = 0; i < 2; i++) {
    PetscCall(KSPSolve(ksp, b, kept.x));
    PetscCall(CGDevTestStencil(A, side, row->unknowns, 1, (PetscReal)0.1, 3)); /* the same values */
    PetscCall(VecEqual(fresh.x, kept.x, &same));
    PetscCall(CGDevTestCheck(same, row->name, "other bits without reuse of interpolation"));
  }
  PetscCall(Learn(pc, &kept));
  PetscCall(CGDevTestCheck(kept.info.levels_device == 2 * fresh.info.levels_device, row->name, "one set-up"));
  PetscCall(TestDestroyVecs(&b, &kept.x));
  PetscCall(VecDestroy(&fresh.x));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Levels that go to the host or to agg after levels on the device: as if the near-null space had been on the host */
static PetscErrorCode Refused(const Row *row)
{
  static Outcome host[OUTCOMES], stays[OUTCOMES];
  PetscInt       hosts, all, to_agg = 0, to_host = 0;
  PetscBool      has;
  char           text[160];
  Mat            A;

  PetscFunctionBeginUser;
  PetscCall(Problem(row, 4, &A));
  PetscCall(Refuse(row, A, PETSC_TRUE, host, &hosts));
  PetscCall(Refuse(row, A, PETSC_FALSE, stays, &all));
  for (PetscInt i = 0; i < all; i++) {
    const PCGAMGAggDeviceInfo *info = &stays[i].info;

    PetscCall(Has(host, hosts, &stays[i], &has));
    PetscCall(PetscSNPrintf(text, sizeof text,
                            "outcome %" PetscInt_FMT " of %" PetscInt_FMT ": levels %" PetscInt_FMT
                            " on the device, %" PetscInt_FMT " on the host, %" PetscInt_FMT " by agg, with other bits",
                            i, all, info->levels_device, info->levels_host, info->levels_agg));
    PetscCall(CGDevTestCheck(has, row->name, text));
    if (info->levels_device > 0 && info->levels_agg > 0) to_agg++;
    if (info->levels_device > 0 && info->levels_host > 0) to_host++;
    PetscCall(VecDestroy(&stays[i].x));
  }
  PetscCall(PetscSNPrintf(text, sizeof text, "%" PetscInt_FMT " times to agg, %" PetscInt_FMT " times to the host",
                          to_agg, to_host));
  PetscCall(PetscInfo(NULL, "%s, %" PetscInt_FMT " and %" PetscInt_FMT " outcomes: %s\n", row->name, hosts, all, text));
  PetscCall(CGDevTestCheck(to_agg > 1 && to_host > 1, row->name, text));
  for (PetscInt i = 0; i < hosts; i++) PetscCall(VecDestroy(&host[i].x));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  SpmvExec exec;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscPackInitializePackage());
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &processes));
  spmv_exec_init(&exec, SPMV_DEVICE);
  for (size_t r = 0; r < PETSC_STATIC_ARRAY_LENGTH(rows); r++) {
    if (processes > 1 && r % 2 == 0) continue; /* for time */
    PetscCall(Copies(&rows[r]));
    if (processes == 1) PetscCall(Again(&rows[r]));
    if (processes == 1 && rows[r].kind == MOTIONS) PetscCall(Refused(&rows[r]));
  }
  for (int i = 0; i < 6; i++) spmv_exec_free(&exec, SPMV_DEVICE, there[i].array);
  return CGDevTestEnd();
}
