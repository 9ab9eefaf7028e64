/*
  stage_allreduce - a library to preload into a PETSc program whose MPI sends messages from device memory but cannot
  reduce there, such as MPICH on a UCX with CUDA.

    mpiexec -n 2 -genv LD_PRELOAD libstage_allreduce.so ./program -use_gpu_aware_mpi 1

  When PETSc first uses a GPU it calls MPI_Allreduce() once with numbers in device memory; if that fails, PETSc
  concludes that MPI is not GPU-aware. Its solvers reduce numbers on the host. So this library stages the buffers of an
  MPI_Allreduce() in device memory through the host. All other buffers go to MPI unchanged.

  The library uses the CUDA driver only if the program has loaded it: otherwise no memory is on a device. So it needs no
  CUDA to be compiled or loaded, and never creates a context on a GPU.
*/
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdint.h>
#include <stdlib.h>

/* Declarations of cuda.h, where device addresses are integers */
enum { MEMORY_TYPE_ATTRIBUTE = 2, DEVICE_MEMORY = 2 };
typedef int (*PointerGetAttribute)(void *value, int attribute, uint64_t pointer);
typedef int (*Copy)(uint64_t to, uint64_t from, size_t bytes);

static PointerGetAttribute pointer_get_attribute;
static Copy                copy;

/* Whether the driver is loaded; a loaded driver stays loaded */
static int FindDriver(void)
{
  void *driver;

  if (copy) return 1;
  driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
  if (!driver) return 0;
  *(void **)&pointer_get_attribute = dlsym(driver, "cuPointerGetAttribute");
  if (pointer_get_attribute) *(void **)&copy = dlsym(driver, "cuMemcpy");
  return copy != NULL;
}

static int OnDevice(const void *buffer)
{
  unsigned int type = 0;

  if (!buffer || buffer == MPI_IN_PLACE || !FindDriver()) return 0;
  return !pointer_get_attribute(&type, MEMORY_TYPE_ATTRIBUTE, (uint64_t)(uintptr_t)buffer) && type == DEVICE_MEMORY;
}

static int CopyBytes(void *to, const void *from, size_t bytes)
{
  return copy((uint64_t)(uintptr_t)to, (uint64_t)(uintptr_t)from, bytes) ? MPI_ERR_BUFFER : MPI_SUCCESS;
}

int MPI_Allreduce(const void *send, void *receive, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
  const int send_there = OnDevice(send), receive_there = OnDevice(receive);
  MPI_Aint  lower, extent;
  size_t    bytes;
  char     *staged;
  int       code;

  if (!send_there && !receive_there) return PMPI_Allreduce(send, receive, count, type, op, comm);
  code = PMPI_Type_get_extent(type, &lower, &extent); /* assumes no gaps and no lower bound */
  if (code) return code;
  bytes  = (size_t)count * (size_t)extent;
  staged = malloc(2 * bytes + 1);
  if (!staged) return MPI_ERR_NO_MEM;
  if (send_there) code = CopyBytes(staged, send, bytes);
  if (!code && receive_there && send == MPI_IN_PLACE) code = CopyBytes(staged + bytes, receive, bytes);
  if (!code)
    code = PMPI_Allreduce(send_there ? staged : send, receive_there ? staged + bytes : receive, count, type, op, comm);
  if (!code && receive_there) code = CopyBytes(receive, staged + bytes, bytes);
  free(staged);
  return code;
}
