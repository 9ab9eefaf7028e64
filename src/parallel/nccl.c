/*
  nccl.c - one NCCL communicator for each MPI communicator whose processes have a GPU each. Making one takes up to a
  second and GPU memory, so solvers share it: it is kept as an attribute of the MPI communicator.
*/
#include "processes.h"
#include "sys/compat.h"
#include <petscpack.h>
#include <petscsys.h>

enum {
  WHICH_MAX = PETSC_MAX_PATH_LEN,
  /* Seconds without progress after which the other processes count as dead */
  PATIENCE = 50
};

struct PetscPackNcclStruct {
  struct PetscPackNcclStruct *next; /* the list of all communicators */
  SpmvNccl                   *nccl;
  PetscInt                    uses; /* number of solvers, plus 1 while it is an attribute */
  int                         version;
  MPI_Comm                    kept;                  /* see NcclKeep() */
  char                        why[SPMV_MESSAGE_MAX]; /* why there is no NCCL communicator */
};

static PetscPackNccl all              = NULL;
static PetscMPIInt   keyval           = MPI_KEYVAL_INVALID;
static char          which[WHICH_MAX] = "auto";

/* Data that each process sends to all others */
typedef struct {
  int64_t host, place; /* identify the GPU */
  int     version;     /* of the library, or 0 */
} Card;

/*@C
  PetscPackSetNCCL - Sets how solvers on several GPUs find NVIDIA's library NCCL

  Logically Collective

  Input Parameter:
. nccl - "auto": libnccl.so.2 in the search path of the loader; "off": messages between processes go by MPI; otherwise
         the path of the library

  Options Database Key:
. -petscpack_nccl <auto,off,path> - the same, read by `PetscPackInitializePackage()`; auto by default

  Level: intermediate

  Notes:
  NCCL is used if each process has a GPU of its own; a GPU-aware MPI is not needed. `-ksp_view` shows whether NCCL or
  MPI is used, and for MPI, why.

  The setting affects solvers that are set up afterwards, on communicators on which no solver of petscpack was set up
  before.

.seealso: `PetscPackGetNCCL()`, `KSPCGDEVICE`, `KSPGMRESDEVICE`, `PetscPackInitializePackage()`
@*/
PetscErrorCode PetscPackSetNCCL(const char nccl[])
{
  PetscFunctionBegin;
  PetscCheck(nccl && nccl[0] && strlen(nccl) < sizeof which, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONG,
             "NCCL must be auto, off or the path of its library, of at most %d characters", WHICH_MAX - 1);
  PetscCall(PetscStrncpy(which, nccl, sizeof which));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  PetscPackGetNCCL - Gets how solvers on several GPUs find NVIDIA's library NCCL

  Not Collective

  Output Parameter:
. nccl - set by `PetscPackSetNCCL()` or the option; valid until it is set again

  Level: intermediate

.seealso: `PetscPackSetNCCL()`
@*/
PetscErrorCode PetscPackGetNCCL(const char *nccl[])
{
  PetscFunctionBegin;
  *nccl = which;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PetscPackNcclFromOptions(void)
{
  char said[WHICH_MAX];

  PetscFunctionBegin;
  PetscCall(PetscStrncpy(said, which, sizeof said));
  /* -help prints each title once */
  PetscOptionsBegin(PETSC_COMM_WORLD, NULL, "Several GPUs of petscpack", NULL);
  PetscCall(PetscOptionsString("-petscpack_nccl", "NVIDIA's library NCCL for several GPUs: auto, off or a path",
                               "PetscPackSetNCCL", said, said, sizeof said, NULL));
  PetscOptionsEnd();
  PetscCall(PetscPackSetNCCL(said));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static int64_t HostNumber(void)
{
  char     name[MPI_MAX_PROCESSOR_NAME];
  int      length = 0;
  uint64_t h      = 1469598103934665603u; /* FNV-1a */

  if (MPI_Get_processor_name(name, &length)) return 0;
  for (int i = 0; i < length; i++) h = (h ^ (unsigned char)name[i]) * 1099511628211u;
  return (int64_t)h;
}

/* Opens the library in this process */
static void NcclLoad(SpmvExec *exec, Card *mine, char why[])
{
  *mine = (Card){.host = HostNumber(), .place = spmv_device_place()};
  if (!strcmp(which, "off")) (void)snprintf(why, SPMV_MESSAGE_MAX, "-petscpack_nccl is off");
  else if (spmv_nccl_load(strcmp(which, "auto") ? which : NULL, &mine->version, exec)) {
    mine->version = 0;
    (void)snprintf(why, SPMV_MESSAGE_MAX, "%s", exec->message);
  }
}

/* Why NCCL cannot serve, from the data of all processes, or NULL */
static const char *NcclRefusal(const Card *card, PetscMPIInt size)
{
  for (PetscMPIInt i = 0; i < size; i++) {
    if (card[i].version == 0) return "another process has no NCCL";
    if (card[i].version != card[0].version) return "the processes have different versions of NCCL";
    if (card[i].place < 0) return "it is not known which GPU a process has";
    for (PetscMPIInt j = 0; j < i; j++)
      if (card[i].host == card[j].host && card[i].place == card[j].place) return "two processes share a GPU";
  }
  return NULL;
}

/* Collective */
static PetscErrorCode NcclConnect(MPI_Comm comm, PetscMPIInt rank, PetscMPIInt size, SpmvExec *exec, PetscPackNccl n)
{
  char       id[SPMV_NCCL_ID_BYTES];
  PetscBool  made;
  SpmvStatus status = SPMV_SUCCESS;

  PetscFunctionBegin;
  if (rank == 0) status = spmv_nccl_id(id, exec);
  made = status ? PETSC_FALSE : PETSC_TRUE;
  PetscCall(PetscPackAll(comm, &made));
  if (made) {
    PetscCallMPI(MPI_Bcast(id, SPMV_NCCL_ID_BYTES, MPI_BYTE, 0, comm));
    status = spmv_nccl_create(id, rank, size, PATIENCE, exec, &n->nccl);
    made   = status ? PETSC_FALSE : PETSC_TRUE;
    PetscCall(PetscPackAll(comm, &made));
  }
  if (made) PetscFunctionReturn(PETSC_SUCCESS);
  spmv_nccl_destroy(&n->nccl);
  PetscCall(PetscStrncpy(n->why, status ? exec->message : "NCCL failed on another process", sizeof n->why));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode NcclTry(MPI_Comm comm, SpmvExec *exec, PetscPackNccl n)
{
  PetscMPIInt rank, size;
  Card        mine, *card;
  const char *refusal;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCallMPI(MPI_Comm_size(comm, &size));
  PetscCall(PetscMalloc1((size_t)size, &card));
  PetscCall(PetscMemzero(&mine, sizeof mine)); /* the padding between the fields is sent too */
  NcclLoad(exec, &mine, n->why);
  PetscCallMPI(MPI_Allgather(&mine, sizeof mine, MPI_BYTE, card, sizeof mine, MPI_BYTE, comm));
  refusal    = NcclRefusal(card, size);
  n->version = mine.version;
  PetscCall(PetscFree(card));
  if (!refusal) PetscCall(NcclConnect(comm, rank, size, exec, n));
  else if (!n->why[0]) PetscCall(PetscStrncpy(n->why, refusal, sizeof n->why));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode NcclFree(PetscPackNccl n)
{
  PetscPackNccl *link = &all;

  PetscFunctionBegin;
  while (*link && *link != n) link = &(*link)->next;
  if (*link) *link = n->next;
  spmv_nccl_destroy(&n->nccl);
  PetscCall(PetscFree(n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PetscPackNcclRestore(PetscPackNccl *n)
{
  PetscPackNccl mine = *n;

  PetscFunctionBegin;
  *n = NULL;
  if (mine && --mine->uses == 0) PetscCall(NcclFree(mine));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Called when the MPI communicator is freed */
static int MPIAPI NcclForget(MPI_Comm comm, PetscMPIInt key, void *attribute, void *extra)
{
  PetscPackNccl n = (PetscPackNccl)attribute;

  (void)comm;
  (void)key;
  (void)extra;
  return PetscPackNcclRestore(&n) ? MPI_ERR_OTHER : MPI_SUCCESS;
}

int PetscPackNcclVersion(PetscPackNccl n) { return n->version; }

/* PETSc frees its communicator with the last object on it. A program that makes all objects for each solve would then wait
   each time for a new NCCL communicator, which takes 0.1 s. So that of all processes is kept until the end; others
   are not, because a program may have any number of them. */
static PetscErrorCode NcclKeep(MPI_Comm comm, PetscPackNccl n)
{
  int same;

  PetscFunctionBegin;
  n->kept = MPI_COMM_NULL;
  PetscCallMPI(MPI_Comm_compare(comm, PETSC_COMM_WORLD, &same));
  if (n->nccl && (same == MPI_IDENT || same == MPI_CONGRUENT)) PetscCall(PetscCommDuplicate(comm, &n->kept, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PetscPackNcclGet(MPI_Comm comm, SpmvExec *exec, PetscPackNccl *n, SpmvNccl **nccl,
                                char why[SPMV_MESSAGE_MAX])
{
  PetscMPIInt   found;
  PetscPackNccl mine;

  PetscFunctionBegin;
  if (keyval == MPI_KEYVAL_INVALID)
    PetscCallMPI(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, NcclForget, &keyval, NULL));
  PetscCallMPI(MPI_Comm_get_attr(comm, keyval, &mine, &found));
  if (!found) {
    PetscCall(PetscNew(&mine));
    mine->uses = 1;
    mine->kept = MPI_COMM_NULL;
    mine->next = all;
    all        = mine;
    PetscCall(NcclTry(comm, exec, mine));
    PetscCallMPI(MPI_Comm_set_attr(comm, keyval, mine));
    PetscCall(NcclKeep(comm, mine));
  }
  mine->uses++;
  *n    = mine;
  *nccl = mine->nccl;
  PetscCall(PetscStrncpy(why, mine->why, SPMV_MESSAGE_MAX));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PetscPackNcclFinalize(void)
{
  PetscFunctionBegin;
  for (PetscPackNccl n = all, next = NULL; n; n = next) {
    MPI_Comm kept = n->kept;

    next    = n->next;
    n->kept = MPI_COMM_NULL;
    if (kept != MPI_COMM_NULL) PetscCall(PetscCommDestroy(&kept)); /* may free n */
  }
  for (PetscPackNccl n = all; n; n = n->next)
    if (n->uses == 1) spmv_nccl_destroy(&n->nccl); /* NCCL would wait for graphs that still exist */
  if (keyval != MPI_KEYVAL_INVALID) PetscCallMPI(MPI_Comm_free_keyval(&keyval));
  keyval = MPI_KEYVAL_INVALID;
  PetscCall(PetscStrncpy(which, "auto", sizeof which));
  PetscFunctionReturn(PETSC_SUCCESS);
}
