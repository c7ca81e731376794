/* Settings and counters: state between calls, global because the interface of ScaLAPACK has no
 * handle. Threads share the members under the mutex; no MPI call is made while it is locked. */
#include "scalapack_adapt/adapt.h"

#include "osla_log.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DTYPES = 4 };

static struct {
  pthread_once_t once;
  adapt_settings settings;
  pthread_mutex_t mutex;
  adapt_count counts[ADAPT_ROUTINES][DTYPES];
  adapt_registry registry;
} state = {.once = PTHREAD_ONCE_INIT, .mutex = PTHREAD_MUTEX_INITIALIZER};

static _Thread_local struct {
  int depth; /* number of nested calls that were passed on */
  adapt_caller caller;
} mine;

/* Reads a non-negative number from an environment variable. An invalid value is reported and
 * ignored. */
static double number_of(const char *variable, double fallback)
{
  const char *text = getenv(variable);
  if (!text || !*text) return fallback;
  char *end;
  double value = strtod(text, &end);
  if (*end == '\0' && value >= 0 && value < 1e300) return value;
  osla_log(0, "%s=%s is ignored: it must be a number of at least 0", variable, text);
  return fallback;
}

static bool is_set(const char *variable)
{
  const char *text = getenv(variable);
  return text && *text && strcmp(text, "0") != 0;
}

/* Default of adapt_settings.device_min, the smallest number of operations for each element that is
 * copied to or from a device. It is estimated for 16 cores that do 40e9 flop/s each, and for copies
 * between pageable host memory and a GPU at 6e9 bytes/s, or 750e6 elements/s in double precision.
 * In the time of one element's copy the 16 cores do 853 operations. With fewer operations the
 * copies alone take longer than the computation on the host. */
enum { DEVICE_MIN = 850 };

static void read_environment(void)
{
  adapt_settings *s = &state.settings;
  const char *mode = getenv("OSLA_SCALAPACK");
  bool force = mode && strcmp(mode, "force") == 0;
  s->verbose = is_set("OSLA_SCALAPACK_VERBOSE");
  s->off = mode && strcmp(mode, "off") == 0;
  s->min_flops = force ? 0 : number_of("OSLA_SCALAPACK_MIN_FLOPS", -1);
  s->block = (int64_t)number_of("OSLA_SCALAPACK_BLOCK", -1);
  double cache = number_of("OSLA_SCALAPACK_CACHE", -1);
  s->cache = cache < 0 ? ADAPT_CACHE_UNSET : (size_t)(cache * (1 << 20));
  const char *device = getenv("OSLA_SCALAPACK_DEVICE");
  s->device = device && *device ? device : NULL;
  s->device_min = number_of("OSLA_SCALAPACK_DEVICE_MIN", DEVICE_MIN);
  if (mode && *mode && strcmp(mode, "on") != 0 && !force && !s->off)
    osla_log(0, "OSLA_SCALAPACK=%s is ignored: it must be on, off or force", mode);
}

const adapt_settings *adapt_settings_get(void)
{
  (void)pthread_once(&state.once, read_environment);
  return &state.settings;
}

void adapt_lock(void)
{
  (void)pthread_mutex_lock(&state.mutex);
}

void adapt_unlock(void)
{
  (void)pthread_mutex_unlock(&state.mutex);
}

adapt_count *adapt_count_of(adapt_routine routine, osla_dtype dtype)
{
  return &state.counts[routine][dtype];
}

adapt_registry *adapt_registry_get(void)
{
  return &state.registry;
}

bool adapt_is_nested(void)
{
  return mine.depth > 0;
}

void adapt_nest(int change)
{
  mine.depth += change;
}

void osla_adapt_caller_set(const adapt_caller *caller)
{
  mine.caller = *caller;
}

adapt_caller adapt_caller_get(void)
{
  return mine.caller;
}

void adapt_name(adapt_routine routine, osla_dtype dtype, char name[ADAPT_NAME])
{
  static const char *const base[ADAPT_ROUTINES] = {
    [ADAPT_GEMM] = "gemm",   [ADAPT_SYRK] = "syrk",   [ADAPT_HERK] = "herk",
    [ADAPT_SYMM] = "symm",   [ADAPT_HEMM] = "hemm",   [ADAPT_TRMM] = "trmm",
    [ADAPT_TRSM] = "trsm",   [ADAPT_GEADD] = "geadd", [ADAPT_GETRF] = "getrf",
    [ADAPT_GETRS] = "getrs", [ADAPT_GESV] = "gesv",   [ADAPT_POTRF] = "potrf",
    [ADAPT_POTRS] = "potrs", [ADAPT_POSV] = "posv"};
  (void)snprintf(name, ADAPT_NAME, "p%c%s", osla_dtype_letter(dtype), base[routine]);
}
