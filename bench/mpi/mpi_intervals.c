/*
  mpi_intervals.c - records the calls of MPI that begin messages and wait for them, for mult_timeline. A function of the
  program replaces the function of the same name in MPI's library, also in calls from PETSc. No headers of PETSc here,
  because they make these names macros.
*/
#include "timeline.h"
#include <mpi.h>

int MPI_Startall(int count, MPI_Request requests[])
{
  const uint64_t begin = TimelineNow();
  const int      code  = PMPI_Startall(count, requests);

  TimelineAdd("mpi", "MPI_Startall", begin, TimelineNow());
  return code;
}

int MPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[])
{
  const uint64_t begin = TimelineNow();
  const int      code  = PMPI_Waitall(count, requests, statuses);

  TimelineAdd("mpi", "MPI_Waitall", begin, TimelineNow());
  return code;
}
