/* gen_sort.c - sorting and memory for the generators. */
#include "gen_private.h"
#include <stdio.h>
#include <stdlib.h>

enum { FEW = 48 };

static int compare(const void *a, const void *b)
{
  const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x > y) - (x < y);
}

void gen_sort(int64_t *number, int64_t count)
{
  if (count > FEW) {
    qsort(number, (size_t)count, sizeof *number, compare);
    return;
  }
  for (int64_t k = 1; k < count; k++) {
    const int64_t inserted = number[k];
    int64_t       at       = k;
    for (; at > 0 && number[at - 1] > inserted; at--) number[at] = number[at - 1];
    number[at] = inserted;
  }
}

int64_t gen_sort_unique(int64_t *number, int64_t count)
{
  int64_t kept = 0;

  gen_sort(number, count);
  for (int64_t k = 0; k < count; k++)
    if (kept == 0 || number[k] != number[kept - 1]) number[kept++] = number[k];
  return kept;
}

void *gen_alloc(int64_t count, size_t size)
{
  void *block = malloc(count > 0 ? (size_t)count * size : 1);

  if (block) return block;
  fprintf(stderr, "no memory for %lld bytes of a generated mesh\n", (long long)count * (long long)size);
  exit(1);
}

void gen_free_kept(void)
{
  gen_free_meshes();
  gen_free_published();
}
