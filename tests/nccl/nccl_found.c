/* nccl_found.c - prints the version of the NCCL that is found without a path, or why there is none */
#include <spmv_nccl.h>
#include <stdio.h>

int main(void)
{
  SpmvExec exec;
  int      version;

  spmv_exec_init(&exec, SPMV_DEVICE);
  if (spmv_nccl_load(NULL, &version, &exec)) printf("%s\n", exec.message);
  else printf("NCCL %d\n", version);
  return 0;
}
