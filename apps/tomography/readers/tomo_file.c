/* Reads whole files (contract: tomo_io.h). */
#include "apps/tomography/readers/tomo_io.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

osla_err tomo_file_read(const char *file, void **bytes, size_t *size)
{
  struct stat status;
  *bytes = NULL;
  *size = 0;
  FILE *stream = fopen(file, "rb");
  OSLA_CHECK(stream, OSLA_ERR_IO, "%s: %s", file, strerror(errno));
  if (fstat(fileno(stream), &status) != 0 || !S_ISREG(status.st_mode)) {
    fclose(stream);
    return osla_error_set(OSLA_ERR_IO, "%s: is not a regular file", file);
  }
  const size_t length = (size_t)status.st_size;
  char *content = malloc(length + 1);
  const size_t done = content ? fread(content, 1, length, stream) : 0;
  fclose(stream);
  if (!content) return osla_error_set(OSLA_ERR_MEM, "no memory for %zu bytes of %s", length, file);
  if (done != length) {
    free(content);
    return osla_error_set(OSLA_ERR_IO, "%s: ends after %zu of %zu bytes", file, done, length);
  }
  content[length] = '\0';
  *bytes = content;
  *size = length;
  return OSLA_OK;
}

osla_err tomo_file_check(const char *file)
{
  struct stat status;
  OSLA_CHECK(stat(file, &status) == 0, OSLA_ERR_IO, "%s: %s", file, strerror(errno));
  OSLA_CHECK(S_ISREG(status.st_mode), OSLA_ERR_IO, "%s: is not a regular file", file);
  return OSLA_OK;
}

bool tomo_file_is_hdf5(const char *file)
{
  unsigned char begin[8];
  FILE *stream = fopen(file, "rb");
  const bool read = stream && fread(begin, 1, sizeof begin, stream) == sizeof begin;
  if (stream) (void)fclose(stream);
  return read && memcmp(begin, "\x89HDF\r\n\x1a\n", sizeof begin) == 0;
}
