/* solve_device.c - elements on the device, and the most device memory that was in use for a while. */
#include "solve_bench.h"
#ifdef SOLVE_BENCH_CUDA
  #include <cuda_runtime.h>
  #include <pthread.h>
  #include <stdatomic.h>
  #include <stdbool.h>
  #include <time.h>
#endif

/* ---- elements ---- */

PetscBool DeviceHasElements(void)
{
#if defined(SOLVE_BENCH_ELEMENTS) && PetscDefined(HAVE_CUDA)
  return DeviceUsed() >= 0 ? PETSC_TRUE : PETSC_FALSE;
#else
  return PETSC_FALSE;
#endif
}

#ifdef SOLVE_BENCH_ELEMENTS
static PetscErrorCode CheckLaunch(int code)
{
  PetscFunctionBeginUser;
  PetscCheck(!code, PETSC_COMM_SELF, PETSC_ERR_LIB, "CUDA: %s", cudaGetErrorString((cudaError_t)code));
  PetscFunctionReturn(0);
}

PetscErrorCode DeviceElementsList(const Elements *e, PetscInt row[], PetscInt col[])
{
  PetscFunctionBeginUser;
  PetscCall(CheckLaunch(ElementsListThere(e, row, col)));
  PetscFunctionReturn(0);
}

PetscErrorCode DeviceElementsValues(const Elements *e, const double scale[2], PetscScalar values[])
{
  PetscFunctionBeginUser;
  PetscCall(CheckLaunch(ElementsValuesThere(e, scale, values)));
  PetscFunctionReturn(0);
}
#else
PetscErrorCode DeviceElementsList(const Elements *e, PetscInt row[], PetscInt col[])
{
  (void)e;
  (void)row;
  (void)col;
  return PETSC_ERR_SUP;
}

PetscErrorCode DeviceElementsValues(const Elements *e, const double scale[2], PetscScalar values[])
{
  (void)e;
  (void)scale;
  (void)values;
  return PETSC_ERR_SUP;
}
#endif

/* ---- the peak of the memory ---- */

#ifdef SOLVE_BENCH_CUDA
enum { LOOK_NANOSECONDS = 200000 };

static struct {
  pthread_t   thread;
  int         device;
  atomic_bool ends;
  double      most;
} peak;

static void *Look(void *ignored)
{
  const struct timespec      pause = {.tv_nsec = LOOK_NANOSECONDS};
  enum cudaStreamCaptureMode mode  = cudaStreamCaptureModeRelaxed; /* must not disturb captures of other threads */

  (void)ignored;
  if (cudaSetDevice(peak.device) != cudaSuccess || cudaThreadExchangeStreamCaptureMode(&mode) != cudaSuccess)
    return NULL;
  while (!atomic_load(&peak.ends)) {
    const double used = DeviceUsed();
    if (used > peak.most) peak.most = used;
    (void)nanosleep(&pause, NULL);
  }
  return NULL;
}
#endif

PetscErrorCode DevicePeakBegin(void)
{
  PetscFunctionBeginUser;
#ifdef SOLVE_BENCH_CUDA
  peak.most = DeviceUsed();
  if (peak.most < 0) PetscFunctionReturn(0);
  atomic_store(&peak.ends, false);
  PetscCheck(cudaGetDevice(&peak.device) == cudaSuccess && !pthread_create(&peak.thread, NULL, Look, NULL),
             PETSC_COMM_SELF, PETSC_ERR_SYS, "no thread to look at the device memory");
#endif
  PetscFunctionReturn(0);
}

PetscErrorCode DevicePeakEnd(double *bytes)
{
  PetscFunctionBeginUser;
  *bytes = -1;
#ifdef SOLVE_BENCH_CUDA
  if (peak.most < 0) PetscFunctionReturn(0);
  atomic_store(&peak.ends, true);
  PetscCheck(!pthread_join(peak.thread, NULL), PETSC_COMM_SELF, PETSC_ERR_SYS, "the thread does not end");
  *bytes = peak.most;
#endif
  PetscFunctionReturn(0);
}
