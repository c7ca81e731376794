/* Chooses a backend, and creates and destroys transports, with the progress thread. */
#include "osla_backend.h"
#include "osla_clock.h"
#include "osla_farewell.h"
#include "osla_log.h"
#include "src/base/futex.h"
#include "src/base/hash.h"
#include "src/base/reserved.h"
#include "src/transport/request_pool.h"
#include "src/transport/time_limit.h"
#include "src/transport/trace.h"
#include "src/transport/transport_ops.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- the choice of a backend ---- */

/* The backends of other libraries, added at run time by osla_backend_offer, so that libosla does
 * not depend on those libraries. */
enum { MAX_OFFERED = 4 };
static const osla_transport_ops *offered[MAX_OFFERED];
static int n_offered;

static void stop_hooks(void)
{
  osli_hooks_paused = true;
}

const osla_backend_services *osla_backend_offer(const osla_transport_ops *ops)
{
  static osla_backend_services services = {.allgather = osli_allgather,
                                           .wait_until = osli_wait_until,
                                           .stop_hooks = stop_hooks,
                                           .time_limit_blocked = osli_time_limit_blocked};
  services.built_in = osli_transport_built_in;
  int i = 0;
  while (i < n_offered && offered[i] != ops)
    i++;
  if (ops && i == MAX_OFFERED) return NULL;
  if (ops && i == n_offered) offered[n_offered++] = ops;
  return &services;
}

/* Index of the backend with this name: 0 for the built-in one, then those that other libraries have
 * offered, -1 if the name is unknown. */
static int find_backend(const char *name)
{
  if (strcmp(osli_transport_built_in->name, name) == 0) return 0;
  for (int i = 0; i < n_offered; i++)
    if (strcmp(offered[i]->name, name) == 0) return i + 1;
  return -1;
}

static osla_err report_unknown(const char *name, bool by_environment)
{
  char known[128];
  int used = snprintf(known, sizeof known, "%s", osli_transport_built_in->name);
  for (int i = 0; i < n_offered && used < (int)sizeof known; i++)
    used += snprintf(known + used, sizeof known - (size_t)used, ", %s", offered[i]->name);
  return osla_error_set(
    OSLA_ERR_UNSUPPORTED, "transport '%s'%s: this program has only: %s%s", name,
    by_environment ? " (OSLA_TRANSPORT)" : "", known,
    strcmp(name, "sim") == 0
      ? " (a simulation needs a build of its own: configure --enable-simulation)"
      : "");
}

/* Finds the backend of this name. If name is NULL, takes the name in OSLA_TRANSPORT or, if it is
 * unset, "mpi". Collective on comm. Errors, on all ranks together: UNSUPPORTED (unknown name; the
 * text lists the known ones), ARG (ranks ask for different names), MPI. */
static osla_err choose_backend(MPI_Comm comm, const char *name, const osla_transport_ops **out)
{
  const char *wish = getenv("OSLA_TRANSPORT");
  bool by_environment = !name && wish && wish[0];
  if (!name) name = wish && wish[0] ? wish : osli_transport_built_in->name;
  const int mine = find_backend(name);
  /* names are compared by hashes, because ranks may offer backends in different orders */
  const int64_t hash = (int64_t)hash_extend(HASH_OF_NO_BYTES, name, strlen(name));
  int64_t span[3] = {mine >= 0, hash, ~hash};
  OSLA_MPI(MPI_Allreduce(MPI_IN_PLACE, span, 3, MPI_INT64_T, MPI_MIN, comm));
  if (span[0] && span[1] != ~span[2])
    return osla_error_set(
      OSLA_ERR_ARG,
      "transport '%s': other ranks ask for a different one; all ranks must ask for the same", name);
  if (mine < 0) return report_unknown(name, by_environment);
  if (!span[0])
    return osla_error_set(OSLA_ERR_UNSUPPORTED, "another rank asks for an unknown transport");
  *out = mine == 0 ? osli_transport_built_in : offered[mine - 1];
  return OSLA_OK;
}

/* ---- creation and destruction of transports ---- */

enum { PROGRESS_NAP_US = 50 };

static void *progress_main(void *arg)
{
  osla_transport *t = arg;
  while (!atomic_load(&t->stop_progress)) {
    osli_nap(PROGRESS_NAP_US);
    osla_progress(t);
  }
  return NULL;
}

static osla_err start_progress_thread(osla_transport *t)
{
  OSLA_CHECK(t->thread_level >= MPI_THREAD_MULTIPLE, OSLA_ERR_STATE,
             "the progress thread needs MPI_THREAD_MULTIPLE, but MPI provides level %d",
             t->thread_level);
  OSLA_CHECK(pthread_create(&t->progress_thread, NULL, progress_main, t) == 0, OSLA_ERR_MEM,
             "cannot start the progress thread");
  t->has_progress_thread = true;
  return OSLA_OK;
}

/* Checks that the job has the expected number of ranks and nodes. If the launcher does not belong
 * to this MPI, each process is a job of one rank. */
static osla_err check_expectations(const osla_transport *t)
{
  int world;
  OSLA_MPI(MPI_Comm_size(MPI_COMM_WORLD, &world));
  if (t->size < world) return OSLA_OK;
  int ranks = t->settings.expect_ranks, nodes = t->settings.expect_nodes;
  OSLA_CHECK(
    ranks == 0 || ranks == t->size, OSLA_ERR_STATE,
    "this job has %d rank%s, and OSLA_EXPECT_RANKS asks for %d: does the launcher belong "
    "to this MPI (srun: --mpi=pmi2 for MPICH and derived MPIs, --mpi=pmix for Open MPI; else "
    "the MPI's own mpiexec)?",
    t->size, t->size == 1 ? "" : "s", ranks);
  OSLA_CHECK(nodes == 0 || nodes == t->n_nodes || t->ops->every_rank_a_node, OSLA_ERR_STATE,
             "this job has %d nodes, and OSLA_EXPECT_NODES asks for %d", t->n_nodes, nodes);
  return OSLA_OK;
}

static osla_err find_memory_share(osla_transport *t, int ranks)
{
  uint64_t shared;
  osla_memory_available(&shared, &t->memory_share);
  t->memory_share /= (uint64_t)ranks;
  return osla_allreduce(t, &t->memory_share, 1, MPI_UINT64_T, MPI_MIN);
}

/* Agrees on an error as osla_agree does, but before the backend has started. */
static osla_err agree_before_start(const osla_transport *t, osla_err local)
{
  struct {
    int code;
    char text[512];
  } verdict = {.code = (int)local};
  int lowest = local == OSLA_OK ? t->size : t->rank;
  OSLA_MPI(MPI_Allreduce(MPI_IN_PLACE, &lowest, 1, MPI_INT, MPI_MIN, t->comm));
  if (lowest == t->size) return OSLA_OK;
  (void)strncpy(verdict.text, osla_error_text(), sizeof verdict.text - 1);
  OSLA_MPI(MPI_Bcast(&verdict, sizeof verdict, MPI_BYTE, lowest, t->comm));
  return osla_error_set((osla_err)verdict.code, "%s", verdict.text);
}

static osla_err check_threads(const osla_transport *t, const osla_transport_options *options)
{
  bool alone = !options || (options->threads_per_rank <= 1 && !options->progress_thread);
  OSLA_CHECK(alone || !t->ops->one_thread, OSLA_ERR_UNSUPPORTED,
             "transport '%s': a rank has one thread, and this job asks for %s", t->ops->name,
             options->progress_thread ? "a progress thread" : "more");
  return OSLA_OK;
}

static osla_err initialise(osla_transport *t, MPI_Comm comm, const osla_transport_options *options)
{
  OSLA_MPI(MPI_Comm_dup(comm, &t->comm));
  OSLA_MPI(MPI_Comm_set_errhandler(t->comm, MPI_ERRORS_RETURN));
  OSLA_MPI(MPI_Comm_rank(t->comm, &t->rank));
  OSLA_MPI(MPI_Comm_size(t->comm, &t->size));
  OSLA_MPI(MPI_Query_thread(&t->thread_level));
  OSLA_CALL(agree_before_start(t, OSLA_RESERVED(osla_transport_options, options)));
  OSLA_CALL(choose_backend(t->comm, options ? options->transport : NULL, &t->ops));
  int leader;
  OSLA_CALL(osli_settings_read(t->comm, &t->settings));
  OSLA_CALL(osla_farewell_arrange(t->comm));
  OSLA_CALL(osli_nodes_map(t, &leader));
  OSLA_CALL(check_expectations(t));

  OSLA_CALL(agree_before_start(t, check_threads(t, options)));
  int threads = options && options->threads_per_rank > 1 ? options->threads_per_rank : 1;
  osla_host host;
  osla_groups groups;
  osli_groups_locate("", &t->groups);
  osli_groups_read(&t->groups, &groups);
  t->has_memory_limit = groups.n_memory > 0;
  OSLA_CALL(osli_host_describe_nodes(t->comm, leader, &groups, &host));
  t->host = host.first;
  t->oversubscribed = threads > host.share && !t->settings.own_cores;
  OSLA_CALL(t->ops->start(t));
  OSLA_CALL(find_memory_share(t, host.ranks));
  /* ranks may set the option progress_thread differently */
  const bool wanted = options && options->progress_thread;
  OSLA_CALL(osla_agree(t, wanted ? start_progress_thread(t) : OSLA_OK));
  return t->settings.time_limit > 0 ? osla_agree(t, osli_time_limit_watch(t)) : OSLA_OK;
}

osla_err osla_transport_create(MPI_Comm comm, const osla_transport_options *options,
                               osla_transport **out)
{
  int started = 0;
  (void)MPI_Initialized(&started);
  OSLA_CHECK(started, OSLA_ERR_STATE, "MPI is not started: call MPI_Init_thread first");

  *out = NULL;
  osla_transport *t = calloc(1, sizeof *t);
  request_pool *pool = osli_pool_create();
  osla_err err = osli_agree_allocated(comm, t && pool, "transport objects");
  if (err != OSLA_OK) {
    free(t);
    osli_pool_destroy(pool);
    return err;
  }
  t->ops = osli_transport_built_in;
  t->comm = t->node_comm = MPI_COMM_NULL;
  t->pending = MPI_REQUEST_NULL;
  (void)pthread_mutex_init(&t->mutex, NULL);
  (void)pthread_mutex_init(&t->hook_mutex, NULL);
  (void)pthread_mutex_init(&t->end_mutex, NULL);
  t->pool = pool;
  atomic_store(&t->awaited_rank, -1);
  err = initialise(t, comm, options);
  if (err == OSLA_OK) {
    osli_transport_register(t);
    OSLA_MAKES("osla_transport_create", "osla_transport_destroy");
    t->alive.t = t;
    osli_live_object_add(&t->alive);
  } else {
    osla_transport_destroy(&t);
  }
  *out = t;
  return err;
}

void osla_transport_destroy(osla_transport **transport)
{
  osla_transport *t = transport ? *transport : NULL;
  if (!t) return;
  osli_transport_unregister(t);
  osli_live_object_remove(&t->alive);
  if (t->has_progress_thread) {
    atomic_store(&t->stop_progress, true);
    (void)pthread_join(t->progress_thread, NULL);
  }
  osli_transport_objects_destroy(t);
  t->ops->finish(t);
  osli_time_limit_unwatch(t);
  if (t->node_comm != MPI_COMM_NULL) (void)MPI_Comm_free(&t->node_comm);
  if (t->comm != MPI_COMM_NULL) {
    osli_search_discard_messages(t);
    (void)MPI_Comm_free(&t->comm);
  }
  osli_pool_destroy(t->pool);
  osli_trace_free(t);
  (void)pthread_mutex_destroy(&t->hook_mutex);
  (void)pthread_mutex_destroy(&t->end_mutex);
  (void)pthread_mutex_destroy(&t->mutex);
  free(t->searching);
  free(t->node_of);
  free(t->node_rank_of);
  free(t);
  *transport = NULL;
}
