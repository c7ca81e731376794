#include "osla_log.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

void osla_log(int rank, const char *format, ...)
{
  char line[1024];
  int used = rank < 0 ? snprintf(line, sizeof line, "osla: ")
                      : snprintf(line, sizeof line, "osla[%d]: ", rank);
  va_list args;
  va_start(args, format);
  (void)vsnprintf(line + used, sizeof line - (size_t)used - 1, format, args);
  va_end(args);
  size_t length = strlen(line);
  line[length++] = '\n';
  ssize_t written = write(STDERR_FILENO, line, length);
  (void)written; /* a failed write to stderr cannot be reported anywhere */
}
