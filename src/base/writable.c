#include "src/base/writable.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* The lines of the table are in the order of addresses: "from-past rwxp ..." (man 5 proc). */
bool osli_is_writable(const void *base, size_t bytes)
{
  uint64_t next = (uint64_t)(uintptr_t)base; /* first address that is not yet known as writable */
  const uint64_t end = next + bytes;
  FILE *maps = fopen("/proc/self/maps", "r");
  if (!maps) return true;
  char *line = NULL;
  size_t room = 0;
  while (next < end && getline(&line, &room, maps) > 0) {
    uint64_t from, past;
    char access[5];
    if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s", &from, &past, access) != 3) continue;
    if (past <= next) continue;
    if (from > next || access[1] != 'w') break;
    next = past;
  }
  free(line);
  (void)fclose(maps);
  return next >= end;
}
