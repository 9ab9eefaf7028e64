/*
  stage_test.c - reduces numbers in device memory over all processes, like the start-up check of PETSc. The device
  memory is that of stage_driver.c: if MPI accesses it, the program crashes. Run with libstage_allreduce preloaded.
*/
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>

char *FakeDeviceMemory(void);
int   cuMemcpy(uint64_t to, uint64_t from, size_t bytes);

static void Put(const void *from, void *to, size_t bytes)
{
  (void)cuMemcpy((uint64_t)(uintptr_t)to, (uint64_t)(uintptr_t)from, bytes);
}

static int Check(const char what[], double found, double wanted)
{
  if (found == wanted) return 0;
  printf("%s: %g, not %g\n", what, found, wanted);
  return 1;
}

int main(int argc, char **argv)
{
  const int one[2] = {1, 0};
  double    host[2], sum;
  int       faults = 0, alone[2], rank, size;
  int      *check;
  double   *values;

  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  sum    = size * (size + 1) / 2.0;
  check  = (int *)FakeDeviceMemory();
  values = (double *)FakeDeviceMemory() + 8;
  Put(one, check, sizeof one);
  MPI_Allreduce(check, check + 1, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF);
  Put(check, alone, sizeof alone);
  faults += Check("PETSc's check", alone[1], 1);

  host[0] = rank + 1;
  host[1] = -host[0];
  Put(host, values, sizeof host);
  MPI_Allreduce(values, host, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  faults += Check("from the device", host[0], sum) + Check("from the device, second", host[1], -sum);
  MPI_Allreduce(MPI_IN_PLACE, values, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  Put(values, host, sizeof host);
  faults += Check("in place", host[0], sum) + Check("in place, second", host[1], -sum);
  MPI_Allreduce(MPI_IN_PLACE, host, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  faults += Check("on the host", host[0], size * sum);
  MPI_Finalize();
  return faults ? 1 : 0;
}
