/* Switches, counters and the real routines: the state that a drop-in has to keep between calls, as
 * its interface has no handle to keep it in. */
#include "adapt.h"

#include "osla_log.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DTYPES = 4, CACHE_MIB = 1024 };

static struct {
  bool read; /* the environment */
  adapt_settings settings;
  int depth; /* of passed-on calls */
  adapt_count counts[ADAPT_ROUTINES][DTYPES];
  adapt_function *real[ADAPT_ROUTINES][DTYPES];
  adapt_registry registry;
} state;

/* A number of the environment that is not negative; a wrong one is reported and not used. */
static double number_of(const char *variable, double fallback)
{
  const char *text = getenv(variable);
  if (!text || !*text) return fallback;
  char *end;
  double value = strtod(text, &end);
  if (*end == '\0' && value >= 0 && value < 1e300) return value;
  osla_log(0, "%s=%s is not a number from 0 on; not used", variable, text);
  return fallback;
}

static bool is_set(const char *variable)
{
  const char *text = getenv(variable);
  return text && *text && strcmp(text, "0") != 0;
}

bool adapt_is_foreign(void)
{
  bool open_mpi = dlsym(RTLD_DEFAULT, "ompi_mpi_comm_world") != NULL;
#ifdef OPEN_MPI
  return !open_mpi;
#else
  return open_mpi;
#endif
}

static void read_environment(void)
{
  adapt_settings *s = &state.settings;
  const char *mode = getenv("OSLA_SCALAPACK");
  bool force = mode && strcmp(mode, "force") == 0;
  s->verbose = is_set("OSLA_SCALAPACK_VERBOSE");
  s->off = mode && strcmp(mode, "off") == 0;
  s->min_flops = force ? 0 : number_of("OSLA_SCALAPACK_MIN_FLOPS", -1);
  s->block = (int64_t)number_of("OSLA_SCALAPACK_BLOCK", -1);
  s->cache = (size_t)(number_of("OSLA_SCALAPACK_CACHE", CACHE_MIB) * (1 << 20));
  if (mode && *mode && strcmp(mode, "on") != 0 && !force && !s->off)
    osla_log(0, "OSLA_SCALAPACK=%s is not on, off or force; taken as on", mode);
  if (!s->off && adapt_is_foreign()) {
    s->off = true;
    if (s->verbose) osla_log(0, "this process has another MPI: all calls are passed on");
  }
  state.read = true;
}

const adapt_settings *adapt_settings_get(void)
{
  if (!state.read) read_environment();
  return &state.settings;
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
  return state.depth > 0;
}

void adapt_nest(int change)
{
  state.depth += change;
}

void adapt_name(adapt_routine routine, osla_dtype dtype, char name[ADAPT_NAME])
{
  static const char *const base[] = {"gemm",  "syrk", "trsm",  "geadd", "getrf",
                                     "getrs", "gesv", "potrf", "potrs", "posv"};
  (void)snprintf(name, ADAPT_NAME, "p%c%s", osla_dtype_letter(dtype), base[routine]);
}

adapt_function *adapt_real(adapt_routine routine, osla_dtype dtype)
{
  adapt_function **real = &state.real[routine][dtype];
  if (*real) return *real;
  char name[ADAPT_NAME], symbol[ADAPT_NAME + 1];
  adapt_name(routine, dtype, name);
  (void)snprintf(symbol, sizeof symbol, "%s_", name);
  void *at = dlsym(RTLD_NEXT, symbol);
  if (!at) {
    osla_log(0, "%s is called, but no ScaLAPACK library with %s is loaded; ending", name, symbol);
    abort();
  }
  memcpy(real, &at, sizeof at); /* ISO C has no cast from an object to a function */
  return *real;
}
