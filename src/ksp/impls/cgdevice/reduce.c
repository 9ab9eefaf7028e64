/* reduce.c - the option of a solver that is about several processes, from C. */
#include "cgdevice.h"

const char *const KSPCGDeviceReduces[] = {"auto", "mpi", "shared", "KSPCGDeviceReduce", "KSP_CGDEVICE_REDUCE_", NULL};

/*@
  KSPCGDeviceSetReduce - Sets how the processes of a `KSPCGDEVICE` add their sums

  Logically Collective

  Input Parameters:
+ ksp    - the solver; nothing happens when it is of another type
- reduce - `KSP_CGDEVICE_REDUCE_AUTO`, `KSP_CGDEVICE_REDUCE_MPI` or `KSP_CGDEVICE_REDUCE_SHARED`

  Options Database Key:
. -ksp_cgdevice_reduce <auto> - auto, mpi or shared

  Level: advanced

  Notes:
  mpi copies the sums of a process to the host, calls `MPI_Allreduce()` and copies them back, so that the host waits
  twice an iteration. shared lets the GPUs write to and read from memory of the host that all processes map; only
  kernels wait. It needs all processes on one host, and GPUs that work at the same time; else mpi is used.

  auto is shared where all processes are on one host and each has a GPU of its own. Processes that share a GPU get mpi:
  without NVIDIA's MPS they run in turns, and each sum would wait for one.

.seealso: `KSPCGDEVICE`, `KSPCGDeviceGetReduce()`, `KSPCGDeviceGetInfo()`
@*/
PetscErrorCode KSPCGDeviceSetReduce(KSP ksp, KSPCGDeviceReduce reduce)
{
  KSP_CGDevice *s;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(ksp, KSP_CLASSID, 1);
  PetscValidLogicalCollectiveEnum(ksp, reduce, 2);
  PetscCheck((int)reduce >= KSP_CGDEVICE_REDUCE_AUTO && reduce <= KSP_CGDEVICE_REDUCE_SHARED,
             PetscObjectComm((PetscObject)ksp), PETSC_ERR_ARG_OUTOFRANGE, "There is no reduction %d of %s", (int)reduce,
             KSPCGDEVICE);
  PetscCall(CGDevStateGet(ksp, &s));
  if (s) s->reduce = reduce;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  KSPCGDeviceGetReduce - Gets how the processes of a `KSPCGDEVICE` are to add their sums

  Not Collective

  Input Parameter:
. ksp - the solver

  Output Parameter:
. reduce - what `KSPCGDeviceSetReduce()` or the option set; `KSPCGDeviceGetInfo()` tells what the last solve did

  Level: advanced

.seealso: `KSPCGDEVICE`, `KSPCGDeviceSetReduce()`
@*/
PetscErrorCode KSPCGDeviceGetReduce(KSP ksp, KSPCGDeviceReduce *reduce)
{
  KSP_CGDevice *s;

  PetscFunctionBegin;
  PetscAssertPointer(reduce, 2);
  PetscCall(CGDevRequire(ksp, &s));
  *reduce = s->reduce;
  PetscFunctionReturn(PETSC_SUCCESS);
}
