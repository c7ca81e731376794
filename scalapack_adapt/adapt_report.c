/* Prints the table of OSLA_SCALAPACK_VERBOSE: the counters of one process. */
#include "scalapack_adapt/adapt.h"

#include <inttypes.h>
#include <stdio.h>

static const char *reason_text(adapt_reason reason)
{
  static const char *const text[] = {
    [ADAPT_OFF] = "switched off",
    [ADAPT_CONTEXT] = "outside a usable context",
    [ADAPT_ARGUMENTS] = "wrong arguments",
    [ADAPT_EMPTY] = "empty",
    [ADAPT_SMALL] = "too small",
    [ADAPT_DESCRIPTOR] = "kind of descriptor",
    [ADAPT_LAYOUT] = "blocks or alignment",
    [ADAPT_FAST] = "as fast as it is",
    [ADAPT_NETWORK] = "nodes must help transfers",
    [ADAPT_MEMORY] = "no memory for copies",
    [ADAPT_FAILED] = "failed before the start",
  };
  return text[reason] ? text[reason] : "other";
}

static int64_t total(const adapt_count *count)
{
  int64_t sum = 0;
  for (int r = 0; r < ADAPT_REASONS; r++)
    sum += count->calls[r];
  return sum;
}

static void print_line(adapt_routine routine, osla_dtype dtype)
{
  const adapt_count *count = adapt_count_of(routine, dtype);
  char name[ADAPT_NAME];
  int64_t all = total(count), offloaded = count->calls[ADAPT_OFFLOADED];
  if (all == 0) return;
  adapt_name(routine, dtype, name);
  (void)fprintf(stderr, "%-8s %9" PRId64 " %10.3f %10.3f %10.1f %10" PRId64 " %10.3f", name,
                offloaded, count->seconds_offloaded, count->seconds_staging,
                count->bytes_staged / (1 << 20), all - offloaded, count->seconds_passed);
  const char *between = "  ";
  for (int r = ADAPT_OFFLOADED + 1; r < ADAPT_REASONS; r++) {
    if (count->calls[r] == 0) continue;
    (void)fprintf(stderr, "%s%" PRId64 " %s", between, count->calls[r],
                  reason_text((adapt_reason)r));
    between = ", ";
  }
  (void)fprintf(stderr, "\n");
}

void adapt_report(void)
{
  (void)fprintf(stderr,
                "OSLA for ScaLAPACK, calls of process 0\n"
                "%-8s %9s %10s %10s %10s %10s %10s  %s\n",
                "routine", "offloaded", "seconds", "staging", "MiB", "passed on", "seconds",
                "because");
  for (int r = 0; r < ADAPT_ROUTINES; r++)
    for (int d = OSLA_FLOAT; d <= OSLA_COMPLEX_DOUBLE; d++)
      print_line((adapt_routine)r, (osla_dtype)d);
}
