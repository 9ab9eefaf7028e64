/* device_reason.c - prints how many devices there are, or why there are none: a process of its own, which asks once */
#include <spmv_kernels.h>
#include <stdio.h>

int main(void)
{
  char reason[SPMV_MESSAGE_MAX];

  printf("%d devices. %s\n", spmv_device_count(reason), reason);
  return 0;
}
