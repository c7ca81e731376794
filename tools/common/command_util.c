/* Texts of grids, sizes and times; number of cores of the host. See command.h. */
#include "config.h"

#include "osla_blas.h"
#include "tools/common/command.h"

#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int command_parse_grid(const char *name, const char *option, const char *text, int size, int *nprow,
                       int *npcol)
{
  int p = 0, q = 0, used = -1;
  char times = '\0';
  if (sscanf(text, "%9d %c %9d %n", &p, &times, &q, &used) < 3 || used < 0 || text[used] != '\0' ||
      (times != 'x' && times != 'X') || p < 1 || q < 1)
    return command_error(name, "%s: '%s' is not a grid such as 2x3", option, text);
  if ((int64_t)p * q > size)
    return command_error(name, "%s: %d x %d is %" PRId64 " processes, but there %s %d rank%s",
                         option, p, q, (int64_t)p * q, size == 1 ? "is" : "are", size,
                         size == 1 ? "" : "s");
  *nprow = p;
  *npcol = q;
  return OSLA_EXIT_OK;
}

command_text format_bytes(uint64_t bytes)
{
  static const char *const unit[] = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB"};
  command_text text;
  double value = (double)bytes;
  int i = 0;
  while (value >= 1024 && i < 5) {
    value /= 1024;
    i++;
  }
  if (i == 0)
    (void)snprintf(text.s, sizeof text.s, "%" PRIu64 " bytes", bytes);
  else
    (void)snprintf(text.s, sizeof text.s, value < 10 ? "%.2f %s" : "%.1f %s", value, unit[i]);
  return text;
}

command_text format_seconds(double seconds)
{
  command_text text;
  char *s = text.s;
  size_t n = sizeof text.s;
  if (!(seconds >= 0))
    (void)snprintf(s, n, "?");
  else if (seconds < 1e-3)
    (void)snprintf(s, n, "%.3g us", 1e6 * seconds);
  else if (seconds < 1)
    (void)snprintf(s, n, "%.3g ms", 1e3 * seconds);
  else if (seconds < 60)
    (void)snprintf(s, n, "%.3g s", seconds);
  else if (seconds < 3600)
    (void)snprintf(s, n, "%d min %02d s", (int)seconds / 60, (int)seconds % 60);
  else
    (void)snprintf(s, n, "%" PRId64 " h %02d min", (int64_t)seconds / 3600,
                   (int)((int64_t)seconds % 3600 / 60));
  size_t used = strlen(s);
  if (osla_simulated_machine()) (void)snprintf(s + used, n - used, " simulated");
  return text;
}

json_t *command_number(double value)
{
  return isfinite(value) ? json_real(value) : json_null();
}

json_t *command_string(const char *text)
{
  json_t *string = text ? json_string(text) : json_null();
  return string ? string : json_string("(not UTF-8)");
}

osla_err command_cpu_examine(MPI_Comm comm, command_cpu *out)
{
  memset(out, 0, sizeof *out);
  OSLA_CALL(osla_host_look(comm, &out->host));
  out->chosen_by_user = getenv("OPENBLAS_NUM_THREADS") || getenv("OMP_NUM_THREADS");
  int share = out->host.cores / out->host.ranks;
  out->threads = out->chosen_by_user ? osla_blas_threads() : share;
  if (out->threads < 1) out->threads = 1;
  return OSLA_OK;
}

void command_cpu_apply(const command_cpu *cpu)
{
  if (!cpu->chosen_by_user) osla_blas_set_threads(cpu->threads);
}

int command_exit(int status)
{
  /* OpenBLAS 0.3.21 starts threads when it is loaded, and joins them at exit. A thread that finds
   * no room for its buffer (ulimit -v) never ends. */
  if (osla_blas_has_room(osla_blas_threads())) return status;
  (void)fflush(NULL);
  _exit(status);
}
