/* Text of the latest failure. Each thread has one buffer, as it has one errno. */
#include "osla_error.h"

#include "src/base/error_storage.h"

#include <ctype.h>
#include <mpi.h>
#include <stdarg.h>
#include <stdio.h>

static char *own_text(void)
{
  static _Thread_local char text[OSLA_ERROR_TEXT];
  return text;
}
static char *(*error_text)(void) = own_text;

void osli_error_set_storage(char *(*place)(void))
{
  error_text = place;
}

const char *osla_err_name(osla_err err)
{
  switch (err) {
    case OSLA_OK: return "ok";
    case OSLA_ERR_ARG: return "bad argument";
    case OSLA_ERR_MEM: return "not enough memory";
    case OSLA_ERR_RANGE: return "size out of range";
    case OSLA_ERR_IO: return "file error";
    case OSLA_ERR_MPI: return "MPI error";
    case OSLA_ERR_STATE: return "wrong state";
    case OSLA_ERR_UNSUPPORTED: return "not supported";
  }
  return "unknown error";
}

const char *osla_error_text(void)
{
  return error_text();
}

osla_err osla_error_set(osla_err err, const char *format, ...)
{
  va_list args;
  char *text = error_text();
  va_start(args, format);
  (void)vsnprintf(text, OSLA_ERROR_TEXT, format, args);
  va_end(args);
  for (char *c = text; *c; c++)
    if (iscntrl((unsigned char)*c)) *c = '?';
  return err;
}

osla_err osla_error_set_mpi(int mpi_code, const char *what)
{
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  if (MPI_Error_string(mpi_code, text, &length) != MPI_SUCCESS)
    (void)snprintf(text, sizeof text, "error code %d", mpi_code);
  return osla_error_set(OSLA_ERR_MPI, "%.120s: %.380s", what, text);
}
