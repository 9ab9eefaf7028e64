/* device_reason.c - prints the number of devices, or why there are none. A separate process, because the library finds
   devices only once. */
#include <spmv_kernels.h>
#include <stdio.h>

int main(void)
{
  char reason[SPMV_MESSAGE_MAX];

  printf("%d devices. %s\n", spmv_device_count(reason), reason);
  return 0;
}
