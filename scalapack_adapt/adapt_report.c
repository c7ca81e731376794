/* Prints the counters of process 0 during MPI_Finalize if OSLA_SCALAPACK_VERBOSE is set: a table of
 * all calls, and a table of the offloaded calls that ran on a device. */
#include "scalapack_adapt/adapt.h"

#include "osla_log.h"

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

static const char *place_text(adapt_place place)
{
  static const char *const text[] = {
    [ADAPT_HOST_SMALL] = "too few operations for each element",
    [ADAPT_HOST_ROUTINE] = "not on devices",
    [ADAPT_HOST_LAYOUT] = "blocks or alignment",
    [ADAPT_HOST_MEMORY] = "too little memory",
    [ADAPT_HOST_UNSERVED] = "refused",
  };
  return text[place] ? text[place] : "other";
}

/* Number of offloaded calls that ran on the host although OSLA_SCALAPACK_DEVICE is set. */
static int64_t total_on_host(const adapt_count *count)
{
  int64_t sum = 0;
  for (int p = ADAPT_ON_DEVICE + 1; p < ADAPT_PLACES; p++)
    sum += count->places[p];
  return sum;
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

/* Prints how many offloaded calls of a routine ran on the device and how many on the host, and the
 * reasons for the host. */
static void print_places(adapt_routine routine, osla_dtype dtype)
{
  const adapt_count *count = adapt_count_of(routine, dtype);
  char name[ADAPT_NAME];
  if (count->calls[ADAPT_OFFLOADED] == 0) return;
  adapt_name(routine, dtype, name);
  (void)fprintf(stderr, "%-8s %9" PRId64 " %10.3f %10" PRId64, name, count->places[ADAPT_ON_DEVICE],
                count->seconds_on_device, total_on_host(count));
  const char *between = "  ";
  for (int p = ADAPT_ON_DEVICE + 1; p < ADAPT_PLACES; p++) {
    if (count->places[p] == 0) continue;
    (void)fprintf(stderr, "%s%" PRId64 " %s", between, count->places[p],
                  place_text((adapt_place)p));
    if (p == ADAPT_HOST_MEMORY || p == ADAPT_HOST_UNSERVED)
      (void)fprintf(stderr, " (%s)", count->device_error);
    between = ", ";
  }
  (void)fprintf(stderr, "\n");
}

/* Prints one line if calls whose work is worth the copies to the device ran on the host. */
static void warn_of_host(void)
{
  int64_t missed = 0;
  for (int r = 0; r < ADAPT_ROUTINES; r++)
    for (int d = OSLA_FLOAT; d <= OSLA_COMPLEX_DOUBLE; d++)
      for (int p = ADAPT_HOST_LAYOUT; p < ADAPT_PLACES; p++)
        missed += adapt_count_of((adapt_routine)r, (osla_dtype)d)->places[p];
  if (missed > 0)
    osla_log(0,
             "OSLA_SCALAPACK_DEVICE=%s: %" PRId64 " calls ran on the host although their work is "
             "worth the copies; OSLA_SCALAPACK_VERBOSE=1 prints the reasons",
             adapt_settings_get()->device, missed);
}

void adapt_report(bool verbose)
{
  typedef void print(adapt_routine routine, osla_dtype dtype);
  print *const tables[] = {print_line, print_places};
  const char *device = adapt_settings_get()->device;
  if (!verbose) {
    if (device) warn_of_host();
    return;
  }
  (void)fprintf(stderr,
                "OSLA for ScaLAPACK, calls of process 0\n"
                "%-8s %9s %10s %10s %10s %10s %10s  %s\n",
                "routine", "offloaded", "seconds", "staging", "MiB", "passed on", "seconds",
                "because");
  for (int table = 0; table < (device ? 2 : 1); table++) {
    if (table == 1)
      (void)fprintf(stderr, "Offloaded calls on device \"%s\"\n%-8s %9s %10s %10s  %s\n", device,
                    "routine", "on device", "seconds", "on host", "because");
    for (int r = 0; r < ADAPT_ROUTINES; r++)
      for (int d = OSLA_FLOAT; d <= OSLA_COMPLEX_DOUBLE; d++)
        tables[table]((adapt_routine)r, (osla_dtype)d);
  }
}
