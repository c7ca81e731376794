/* Starts and ends OpenSHMEM, and finds the PE numbers of a transport's ranks. */
#define _GNU_SOURCE /* RTLD_NEXT */
#include "src/transport/shmem/shmem_start.h"

#include <dlfcn.h>
#include <math.h>
#include <shmem.h>
#include <stdlib.h>
#include <string.h>

/* State of OpenSHMEM in this process, which all transports share. */
static struct {
  pthread_mutex_t lock;
  bool started; /* true after this library has called shmem_init_thread with success */
  bool ended;   /* true from the call of shmem_finalize on */
} shmem = {.lock = PTHREAD_MUTEX_INITIALIZER};

const osla_backend_services *osli_shmem_services;

void osli_shmem_enter(osla_transport *t, const char *call)
{
  (void)pthread_mutex_lock(&t->mutex);
  (void)pthread_mutex_lock(&shmem.lock);
  if (t->settings.time_limit > 0) osli_shmem_services->time_limit_blocked(&t->locked, call);
}

void osli_shmem_leave(osla_transport *t)
{
  if (t->settings.time_limit > 0) osli_shmem_services->time_limit_blocked(&t->locked, NULL);
  (void)pthread_mutex_unlock(&shmem.lock);
  (void)pthread_mutex_unlock(&t->mutex);
}

bool osli_shmem_has_ended(void)
{
  return shmem.ended;
}

/* Ends OpenSHMEM, and then MPI unless shmem_finalize has ended it. This order is necessary with
 * Open MPI: shmem_finalize crashes if it runs after MPI_Finalize. If a callback on MPI_COMM_SELF
 * calls shmem_finalize, then shmem_finalize calls MPI_Finalize a second time. Open MPI's
 * shmem_finalize ends MPI after it has closed the symmetric heap, so callbacks on MPI_COMM_SELF
 * find the heap closed. The definition is weak, so that a program may define MPI_Finalize
 * itself. */
__attribute__((weak)) int MPI_Finalize(void)
{
  int (*next)(void), is_over = 0;
  if (shmem.started && !shmem.ended) {
    shmem.ended = true;
    osli_shmem_services->stop_hooks();
    shmem_finalize();
    (void)MPI_Finalized(&is_over);
  }
  if (is_over) return MPI_SUCCESS;
  /* call the MPI_Finalize of a preloaded profiling tool, which this definition hides */
  *(void **)&next = dlsym(RTLD_NEXT, "MPI_Finalize");
  return next ? next() : PMPI_Finalize();
}

/* Sets variables that Open MPI reads at the start of OpenSHMEM, unless the user has set them.
 *   OMPI_MCA_opal_common_ucx_opal_mem_hooks=0  installs no hook that spml/ucx calls when memory is
 *       freed. Open MPI 4.1 never removes the hook, and crashes when memory is freed after MPI has
 *       unloaded spml/ucx.
 *   SHMEM_SYMMETRIC_HEAP_SIZE  gives the size of the heap to Open MPI 4.1, which does not read the
 *       standard's SHMEM_SYMMETRIC_SIZE (OpenSHMEM 1.4, section 7). An older name of the variable,
 *       SMA_SYMMETRIC_SIZE, takes precedence. */
static void set_environment(void)
{
  const char *bytes = getenv("SHMEM_SYMMETRIC_SIZE");
  (void)setenv("OMPI_MCA_opal_common_ucx_opal_mem_hooks", "0", 0);
  if (bytes && !getenv("SMA_SYMMETRIC_SIZE")) (void)setenv("SHMEM_SYMMETRIC_HEAP_SIZE", bytes, 0);
}

/* Returns the thread level with which OpenSHMEM must be started: that of MPI. OSLA never calls
 * OpenSHMEM from two threads at a time. But in Open MPI every call of MPI also enters OpenSHMEM, to
 * make progress, so if several threads may call MPI, several threads may be inside OpenSHMEM. */
static int wanted_level(const osla_transport *t)
{
  if (t->thread_level >= MPI_THREAD_MULTIPLE) return SHMEM_THREAD_MULTIPLE;
  return t->thread_level == MPI_THREAD_SERIALIZED ? SHMEM_THREAD_SERIALIZED : SHMEM_THREAD_FUNNELED;
}

/* Starts OpenSHMEM, unless it was started before. Collective. */
static osla_err start_once(const osla_transport *t, bool whole_world)
{
  int level = 0;
  if (shmem.started) return OSLA_OK;
  OSLA_CHECK(whole_world, OSLA_ERR_STATE,
             "the first transport on OpenSHMEM has %d ranks, but must have all of MPI_COMM_WORLD",
             t->size);
  set_environment();
  const int wanted = wanted_level(t);
  OSLA_CHECK(shmem_init_thread(wanted, &level) == 0, OSLA_ERR_STATE, "shmem_init_thread failed");
  OSLA_CHECK(level >= wanted, OSLA_ERR_STATE,
             "OpenSHMEM provides thread level %d, but this job needs level %d: start MPI with a "
             "lower thread level",
             level, wanted);
  shmem.started = true;
  return OSLA_OK;
}

/* Returns the number of bytes in an environment variable, whose text is a number with an optional
 * unit such as 1.5G; 0 if the variable is not set. */
static int64_t bytes_of_variable(const char *name)
{
  static const char units[] = "kKmMgGtT";
  const char *text = getenv(name);
  char *end;
  if (!text) return 0;
  const double number = strtod(text, &end);
  const char *unit = *end ? strchr(units, *end) : NULL;
  return (int64_t)ldexp(number, unit ? 10 * ((int)(unit - units) / 2 + 1) : 0);
}

/* Checks that all ranks ask for a symmetric heap of one size. Otherwise an allocation could fail on
 * some ranks, and the others would wait in shmem_align for ever. Collective. */
static osla_err agree_on_heap(osla_transport *t)
{
  static const char *const names[] = {"SHMEM_SYMMETRIC_SIZE", "SMA_SYMMETRIC_SIZE",
                                      "SHMEM_SYMMETRIC_HEAP_SIZE"};
  enum { NAMES = sizeof names / sizeof *names };
  osla_argument sizes[NAMES];
  for (int i = 0; i < NAMES; i++)
    sizes[i] = (osla_argument){names[i], bytes_of_variable(names[i])};
  return osla_agree_same(t, OSLA_OK, "osla_transport_create", sizes, NAMES);
}

osla_err osli_shmem_start(osla_transport *t)
{
  int world = 0, mine = 0;
  OSLA_CALL(osli_shmem_services->built_in->start(t));
  OSLA_MPI(MPI_Comm_size(MPI_COMM_WORLD, &world));
  shmem_ranks *ranks = calloc(1, sizeof *ranks + (size_t)t->size * sizeof *ranks->pe);
  t->backend = ranks;
  OSLA_CALL(osla_agree(t, ranks ? OSLA_OK
                                : osla_error_set(OSLA_ERR_MEM, "PE numbers of %d ranks", t->size)));
  ranks->whole_world = t->size == world;
  OSLA_CALL(agree_on_heap(t));
  osli_shmem_enter(t, "shmem_init_thread");
  osla_err err = start_once(t, ranks->whole_world);
  if (err == OSLA_OK) mine = shmem_my_pe();
  osli_shmem_leave(t);
  OSLA_CALL(osla_agree(t, err));
  return osli_shmem_services->allgather(t, &mine, ranks->pe, sizeof mine);
}

void osli_shmem_finish(osla_transport *t)
{
  osli_shmem_services->built_in->finish(t);
  free(t->backend);
  t->backend = NULL;
}
