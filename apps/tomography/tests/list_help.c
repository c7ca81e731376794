/* Reads lists of stations and earthquakes from texts, for tests; see list_help.h. */
#include "apps/tomography/tests/list_help.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void write_bytes(const char *content, size_t size, char path[64])
{
  strcpy(path, "/tmp/osla-test-XXXXXX");
  int fd = mkstemp(path);
  CU_ASSERT(fd >= 0 && write(fd, content, size) == (ssize_t)size);
  if (fd >= 0) close(fd);
}

void list_write(const char *content, char path[64])
{
  write_bytes(content, strlen(content), path);
}

int64_t list_read(list_reader *read, const char *content, tomo_site **sites)
{
  char path[64];
  int64_t count = 0;
  list_write(content, path);
  OSLA_ASSERT_OK(read(path, sites, &count));
  unlink(path);
  return count;
}

void list_refuse_bytes(list_reader *read, const char *content, size_t size, const char *expected)
{
  char path[64], text[512];
  tomo_site *sites = NULL;
  int64_t count = 1;
  write_bytes(content, size, path);
  CU_ASSERT(read(path, &sites, &count) != OSLA_OK);
  CU_ASSERT(sites == NULL && count == 0);
  size_t length = (size_t)snprintf(text, sizeof text, "%s%s", path, expected);
  if (length > 3 && strcmp(text + length - 3, "...") == 0)
    length -= 3;
  else
    length++;
  OSLA_ASSERT_MSG(strncmp(osla_error_text(), text, length) == 0, "got \"%s\", not \"%s\"",
                  osla_error_text(), text);
  unlink(path);
}

void list_refuse(list_reader *read, const char *content, const char *expected)
{
  list_refuse_bytes(read, content, strlen(content), expected);
}
