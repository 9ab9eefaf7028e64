/* first_line.h - facts of the machine from files of the system, for host_bench and solve_bench */
#pragma once

#include <stdio.h>
#include <string.h>

/* The text after the colon in the first line that begins with key; empty if there is none */
static inline void first_line(const char *path, const char *key, char *text, size_t size)
{
  char  line[512];
  FILE *file = fopen(path, "r");

  text[0] = 0;
  while (file && !text[0] && fgets(line, sizeof line, file)) {
    const char *colon         = strchr(line, ':');
    line[strcspn(line, "\n")] = 0;
    if (!strncmp(line, key, strlen(key)) && colon) snprintf(text, size, "%s", colon + 1 + strspn(colon + 1, " \t"));
  }
  if (file) fclose(file);
}
