/* stage_driver.c - a fake CUDA driver for the test of stage_allreduce: its device memory is a page that only its
   cuMemcpy() can access. */
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

enum { PAGE = 4096 };
static char *page;

char *FakeDeviceMemory(void)
{
  if (!page) page = mmap(NULL, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return page == MAP_FAILED ? NULL : page;
}

int cuPointerGetAttribute(void *value, int attribute, uint64_t pointer)
{
  const uintptr_t begin = (uintptr_t)page;

  if (attribute != 2 || !page || pointer < begin || pointer >= begin + PAGE) return 1; /* host memory */
  *(unsigned int *)value = 2;
  return 0;
}

int cuMemcpy(uint64_t to, uint64_t from, size_t bytes)
{
  if (mprotect(page, PAGE, PROT_READ | PROT_WRITE)) return 1;
  memcpy((void *)(uintptr_t)to, (const void *)(uintptr_t)from, bytes);
  return mprotect(page, PAGE, PROT_NONE) ? 1 : 0;
}
