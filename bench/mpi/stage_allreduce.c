/*
  stage_allreduce - to be preloaded into a program of PETSc whose MPI moves messages of device memory but does not add
  there, such as MPICH on a UCX with CUDA.

    mpiexec -n 2 -genv LD_PRELOAD libstage_allreduce.so ./program -use_gpu_aware_mpi 1

  When PETSc first uses a GPU it calls MPI_Allreduce() once with numbers in device memory, and takes an MPI that fails
  for one that is not GPU-aware. Its solvers reduce numbers on the host. So this library copies the buffers of an
  MPI_Allreduce() in device memory to the host and back. All other buffers go to MPI as they are.

  The CUDA driver is asked only if the program has loaded it: without it nothing lies on a device. Hence the library
  needs no CUDA, neither to be compiled nor to be loaded, and never makes a context on a GPU.
*/
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdint.h>
#include <stdlib.h>

/* As in cuda.h. Addresses of the device are integers there. */
enum { MEMORY_TYPE_ATTRIBUTE = 2, DEVICE_MEMORY = 2 };
typedef int (*PointerGetAttribute)(void *value, int attribute, uint64_t pointer);
typedef int (*Copy)(uint64_t to, uint64_t from, size_t bytes);

static PointerGetAttribute pointer_get_attribute;
static Copy                copy;

/* 0 until the driver is in the process; from then on it stays there */
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
  code = PMPI_Type_get_extent(type, &lower, &extent); /* types with gaps or a lower bound are not met here */
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
