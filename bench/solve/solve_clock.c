/* solve_clock.c - the clock, device memory, and the guard of solve_bench. */
#include "solve_bench.h"
#include <petsctime.h>
#include <stdio.h>
#include <string.h>
#ifdef SOLVE_BENCH_CUDA
  #include <cuda_profiler_api.h>
  #include <cuda_runtime.h>
  #include <petscdevice.h>
#endif

#ifdef SOLVE_BENCH_CUDA
static PetscBool has_device = PETSC_FALSE;

static PetscErrorCode CheckCuda(cudaError_t code)
{
  PetscFunctionBeginUser;
  if (code != cudaSuccess) (void)cudaGetLastError();
  PetscCheck(code == cudaSuccess, PETSC_COMM_SELF, PETSC_ERR_LIB, "CUDA: %s", cudaGetErrorString(code));
  PetscFunctionReturn(0);
}
#endif

PetscErrorCode DeviceFind(void)
{
  PetscFunctionBeginUser;
#ifdef SOLVE_BENCH_CUDA
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess) (void)cudaGetLastError();
  has_device = count > 0 ? PETSC_TRUE : PETSC_FALSE;
  #if PetscDefined(HAVE_CUDA)
  if (has_device) PetscCall(PetscDeviceInitialize(PETSC_DEVICE_CUDA)); /* PETSc chooses the device of this process */
  #endif
#endif
  PetscFunctionReturn(0);
}

PetscErrorCode DeviceWait(void)
{
  PetscFunctionBeginUser;
#ifdef SOLVE_BENCH_CUDA
  if (has_device) PetscCall(CheckCuda(cudaDeviceSynchronize()));
#endif
  PetscFunctionReturn(0);
}

double DeviceUsed(void)
{
#ifdef SOLVE_BENCH_CUDA
  size_t available, total;
  if (has_device && cudaMemGetInfo(&available, &total) == cudaSuccess) return (double)(total - available);
#endif
  return -1;
}

PetscErrorCode DeviceCopy(const void *from, size_t bytes, void **on_device)
{
  PetscFunctionBeginUser;
#ifdef SOLVE_BENCH_CUDA
  if (has_device) {
    if (!*on_device) PetscCall(CheckCuda(cudaMalloc(on_device, bytes + 1)));
    if (from) PetscCall(CheckCuda(cudaMemcpy(*on_device, from, bytes, cudaMemcpyHostToDevice)));
    PetscFunctionReturn(0);
  }
#endif
  (void)from;
  (void)bytes;
  (void)on_device;
  SETERRQ(PETSC_COMM_SELF, PETSC_ERR_SUP, "there is no device for the values");
}

PetscErrorCode DeviceFree(void **on_device)
{
  PetscFunctionBeginUser;
#ifdef SOLVE_BENCH_CUDA
  if (*on_device) PetscCall(CheckCuda(cudaFree(*on_device)));
#endif
  *on_device = NULL;
  PetscFunctionReturn(0);
}

PetscErrorCode DeviceProfile(PetscBool on)
{
  PetscFunctionBeginUser;
#ifdef SOLVE_BENCH_CUDA
  if (has_device) PetscCall(CheckCuda(on ? cudaProfilerStart() : cudaProfilerStop()));
#endif
  (void)on;
  PetscFunctionReturn(0);
}

void DeviceName(char gpu[TEXT], char cuda[TEXT])
{
  gpu[0] = cuda[0] = 0;
#ifdef SOLVE_BENCH_CUDA
  int                   device, runtime = 0, driver = 0;
  struct cudaDeviceProp properties;
  if (!has_device || cudaGetDevice(&device) || cudaGetDeviceProperties(&properties, device)) return;
  (void)cudaRuntimeGetVersion(&runtime);
  (void)cudaDriverGetVersion(&driver);
  snprintf(gpu, TEXT, "%s", properties.name);
  snprintf(cuda, TEXT, "%d.%d, driver for %d.%d", runtime / 1000, runtime % 1000 / 10, driver / 1000,
           driver % 1000 / 10);
#endif
}

PetscErrorCode DevicesOfAll(char **texts)
{
  PetscFunctionBeginUser;
  *texts = NULL;
#ifdef SOLVE_BENCH_CUDA
  PetscMPIInt size;
  int         device, mine = has_device ? 1 : 0, all;
  char        bus[TEXT] = "";
  PetscCallMPI(MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, PETSC_COMM_WORLD));
  if (!all) PetscFunctionReturn(0);
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(PetscMalloc1((size_t)size * TEXT, texts));
  PetscCall(CheckCuda(cudaGetDevice(&device)));
  PetscCall(CheckCuda(cudaDeviceGetPCIBusId(bus, sizeof bus, device)));
  PetscCallMPI(MPI_Allgather(bus, TEXT, MPI_CHAR, *texts, TEXT, MPI_CHAR, PETSC_COMM_WORLD));
#endif
  PetscFunctionReturn(0);
}

/* An error handler of PETSc that keeps the first message, which has the reason */
static PetscErrorCode KeepFirstMessage(MPI_Comm comm, int line, const char *function, const char *file,
                                       PetscErrorCode code, PetscErrorType kind, const char *message, void *context)
{
  char *text = context;

  (void)comm;
  (void)line;
  (void)file;
  if (kind == PETSC_ERROR_INITIAL && !text[0])
    snprintf(text, TEXT, "%s: %s", function ? function : "unknown function", message ? message : "");
  return code;
}

PetscErrorCode Guard(Operation operation, void *context, char error[TEXT])
{
  PetscErrorCode code;
  PetscMPIInt    size, failed, any;

  PetscFunctionBeginUser;
  error[0] = 0;
  PetscCall(PetscPushErrorHandler(KeepFirstMessage, error));
  code = operation(context);
  PetscCall(PetscPopErrorHandler());
  if (code && !error[0]) {
    const char *text = NULL;
    (void)PetscErrorMessage(code, &text, NULL);
    snprintf(error, TEXT, "error %d: %s", (int)code, text ? text : "");
  }
  if (!code) error[0] = 0; /* PETSc has handled the error itself */
  failed = code ? 1 : 0;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCallMPI(MPI_Allreduce(&failed, &any, 1, MPI_INT, MPI_MAX, PETSC_COMM_WORLD));
  if (any && !failed) snprintf(error, TEXT, "failed on another process");
  PetscFunctionReturn(0);
}

typedef struct {
  Operation operation;
  void     *context;
  PetscInt  batch;
} Batch;

static PetscErrorCode OpBatch(void *batch_)
{
  const Batch *batch = batch_;

  PetscFunctionBeginUser;
  for (PetscInt i = 0; i < batch->batch; i++) PetscCall(batch->operation(batch->context));
  PetscCall(DeviceWait());
  PetscFunctionReturn(0);
}

static PetscErrorCode OpWait(void *ignored)
{
  PetscFunctionBeginUser;
  (void)ignored;
  PetscCall(DeviceWait());
  PetscFunctionReturn(0);
}

PetscErrorCode TimeGuarded(Operation operation, void *context, PetscInt batch, double *seconds, char error[TEXT])
{
  Batch          all = {operation, context, batch};
  PetscLogDouble begin, end;
  double         spent;

  PetscFunctionBeginUser;
  PetscCall(Guard(OpWait, NULL, error));
  if (error[0]) PetscFunctionReturn(0);
  PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
  PetscCall(PetscTime(&begin));
  PetscCall(Guard(OpBatch, &all, error));
  PetscCall(PetscTime(&end));
  spent = (double)(end - begin) / (double)batch;
  PetscCallMPI(MPI_Allreduce(&spent, seconds, 1, MPI_DOUBLE, MPI_MAX, PETSC_COMM_WORLD));
  PetscFunctionReturn(0);
}

PetscErrorCode CellTry(Cell *cell, const char name[], PetscInt times, PetscInt batch, Operation operation,
                       void *context, Phase **phase)
{
  Phase *p;

  PetscFunctionBeginUser;
  *phase = NULL;
  if (cell->error[0]) PetscFunctionReturn(0);
  PetscCheck(cell->phases < MAX_PHASES && times <= MAX_TIMES, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "too many phases");
  p = *phase = &cell->phase[cell->phases++];
  memset(p, 0, sizeof *p);
  p->name      = name;
  p->batch     = batch;
  p->deviation = p->residual = -1;
  while (p->count < times && !p->error[0]) {
    PetscCall(TimeGuarded(operation, context, batch, &p->seconds[p->count], p->error));
    if (!p->error[0]) p->count++;
  }
  p->device_bytes = cell->base_bytes < 0 ? -1 : DeviceUsed() - cell->base_bytes;
  if (cell->save) PetscCall(cell->save(cell->save_context));
  PetscFunctionReturn(0);
}

PetscErrorCode CellTime(Cell *cell, const char name[], PetscInt times, PetscInt batch, Operation operation,
                        void *context, Phase **phase)
{
  PetscFunctionBeginUser;
  PetscCall(CellTry(cell, name, times, batch, operation, context, phase));
  if (*phase && (*phase)->error[0]) PetscCall(PetscSNPrintf(cell->error, TEXT, "%s", (*phase)->error));
  PetscFunctionReturn(0);
}
