/* Start and end of GA, its environment variables, and the transport that all calls share.
 *
 * The transport is a global variable, because GA's calls have no handle that could hold it.
 *
 * ARMCI-MPI 0.3.1 needs ARMCI_USE_WIN_ALLOCATE=0 on MPICH before 4.0.3. With the default 1, a
 * quarter of the elements of NGA_Put and NGA_Get are wrong on 2 ranks, and NGA_Acc and
 * NGA_Scatter_acc lose some: this MPICH computes wrong addresses in a window whose start is not
 * 16-byte aligned. */
#include "ga_adapt/ga_internal.h"
#include "osla_ga.h"
#include "osla_log.h"

#include <armci.h>
#include <ga-mpi.h>
#include <ga.h>
#include <inttypes.h>
#include <macdecls.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct session {
  osla_transport *transport;
  int key; /* key of the attribute on MPI_COMM_SELF that frees the transport; created once */
  bool has_key, warned;
} session;

static session the_session;

static bool mpi_is_running(void)
{
  int started = 0, ended = 0;
  MPI_Initialized(&started);
  MPI_Finalized(&ended);
  return started && !ended;
}

osla_err osla_ga_initialize(int64_t doubles)
{
  OSLA_CHECK(mpi_is_running(), OSLA_ERR_STATE, "MPI is not running: call MPI_Init first");
  OSLA_CHECK(!GA_Initialized(), OSLA_ERR_STATE,
             "Global Arrays is running: call osla_ga_initialize in place of GA_Initialize");
  OSLA_CHECK(doubles >= 0, OSLA_ERR_ARG, "MA's stack and heap of %" PRId64 " doubles", doubles);
  (void)setenv("ARMCI_USE_WIN_ALLOCATE", "0", 0);
  (void)setenv("ARMCI_RMA_ATOMICITY", "1", 0);
  /* MA_init comes first: if it fails, GA has not been started */
  int failed = !MA_init(C_DBL, doubles, doubles);
  OSLA_MPI(MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD));
  OSLA_CHECK(!failed, OSLA_ERR_MEM, "2 x %" PRId64 " doubles for Global Arrays", doubles);
  GA_Initialize();
  return OSLA_OK;
}

void osla_ga_terminate(void)
{
  osla_transport_destroy(&the_session.transport);
  if (GA_Initialized()) GA_Terminate();
}

/* Called by MPI_Finalize on all ranks, at its beginning, while MPI still works. */
static int free_at_finalize(MPI_Comm comm, int key, void *value, void *extra)
{
  (void)comm, (void)key, (void)value, (void)extra;
  osla_transport_destroy(&the_session.transport);
  return MPI_SUCCESS;
}

osla_err osli_ga_session_check(void)
{
  OSLA_CHECK(mpi_is_running() && GA_Initialized(), OSLA_ERR_STATE,
             "Global Arrays is not running: call osla_ga_initialize (or GA_Initialize) first");
  int group = GA_Pgroup_get_default(), world = GA_Pgroup_get_world();
  OSLA_CHECK(group == world, OSLA_ERR_STATE,
             "the default processor group is %d, not the world (%d): OSLA's calls are for all "
             "processes",
             group, world);
  return OSLA_OK;
}

#ifdef ARMCI_MPI

/* True for versions of MPICH in which windows must be aligned (see the head of this file). */
static bool mpich_before_4_0_3(void)
{
  char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int length = 0, major = 0, minor = 0, patch = 0;
  MPI_Get_library_version(text, &length);
  const char *version = strstr(text, "MPICH Version:");
  if (!version || sscanf(version, "MPICH Version: %d.%d.%d", &major, &minor, &patch) < 2)
    return false;
  return major < 4 || (major == 4 && minor == 0 && patch < 3);
}

/* True if an environment variable is set to "off" by the rules of ARMCI-MPI. */
static bool is_off(const char *name)
{
  const char *value = getenv(name);
  return value && *value && strchr("0nNfF", *value);
}

/* One line that says which setting the user has to make before GA starts, and why; NULL if none is
 * needed. */
static const char *complaint_about_settings(void)
{
  if (GA_Nnodes() == 1 || !mpich_before_4_0_3()) return NULL;
  if (!is_off("ARMCI_USE_WIN_ALLOCATE"))
    return "Global Arrays was started without ARMCI_USE_WIN_ALLOCATE=0: with this MPICH its puts, "
           "gets and accumulates may reach wrong elements; set it to 0 (osla_ga_initialize does, "
           "unless it is set)";
  if (is_off("ARMCI_RMA_ATOMICITY"))
    return "Global Arrays was started with ARMCI_RMA_ATOMICITY=0: with this MPICH its gets may be "
           "complete before their data is there; set it to 1, or leave it";
  return NULL;
}

#else

/* One line that says which setting the user has to make before GA starts, and why; NULL if none is
 * needed. */
static const char *complaint_about_settings(void)
{
  return NULL;
}

#endif

osla_err osli_ga_session_transport(osla_transport **transport)
{
  session *s = &the_session;
  *transport = s->transport;
  if (s->transport) return OSLA_OK;
  if (!s->has_key)
    OSLA_MPI(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, free_at_finalize, &s->key, NULL));
  if (!s->has_key) OSLA_MPI(MPI_Comm_set_attr(MPI_COMM_SELF, s->key, s));
  s->has_key = true;
  OSLA_CALL(osla_transport_create(GA_MPI_Comm(), NULL, &s->transport));
  const char *complaint = complaint_about_settings();
  if (complaint && !s->warned && GA_Nodeid() == 0) osla_log(-1, "%s", complaint);
  s->warned = true;
  *transport = s->transport;
  return OSLA_OK;
}
