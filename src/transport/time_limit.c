#include "src/transport/time_limit.h"

#include "osla_clock.h"
#include "osla_log.h"
#include "src/base/futex.h"
#include "src/transport/request_pool.h"

#include <stdio.h>
#include <unistd.h>

enum { WATCH_US = 50000, LAST_SECONDS = 5 };

wait_timer osli_time_limit_start(const osla_transport *t)
{
  return (wait_timer){osla_clock(), osli_pool_finished(t->pool)};
}

/* Time limit in seconds of the waits of this rank. Ranks with higher numbers wait slightly longer,
 * so that one rank reports a deadlock.
 */
static double limit_of(const osla_transport *t)
{
  double later = t->rank > 0 ? 1 + 0.25 * t->rank : 0, most = 2 + 0.1 * t->settings.time_limit;
  return t->settings.time_limit + (later < most ? later : most);
}

/* Reports the exceeded limit and ends the job. A thread inside a blocking MPI call holds MPI's
 * lock, so MPI_Abort would block, too; and MPI_Abort may block after a host is lost. In both cases
 * this process exits, at the latest by the alarm, and the launcher ends the others. */
_Noreturn static void give_up(osla_transport *t, const char *call)
{
  const char *kernel = atomic_load(&t->kernel);
  int peer = atomic_load(&t->awaited_rank);
  char from[64] = "", in[96] = "";
  if (peer >= 0)
    (void)snprintf(from, sizeof from, " from rank %d (node %d)", peer,
                   osla_transport_node_of(t, peer));
  if (kernel)
    (void)snprintf(in, sizeof in, " in %s, step %lld", kernel, (long long)atomic_load(&t->step));
  osla_log(t->rank, "nothing came%s for %g s%s%s%s (OSLA_PATIENCE=%g); ending all ranks", from,
           t->settings.time_limit, in, call ? ", waiting in " : "", call ? call : "",
           t->settings.time_limit);
  osli_end_hook_run(t);
  osli_nap(OSLA_LAST_LINE_US);
  (void)alarm(LAST_SECONDS);
  if (!call) (void)MPI_Abort(MPI_COMM_WORLD, 1); /* osla_transport_abort ends MPI_COMM_WORLD, too */
  _exit(1);
}

void osli_time_limit_check(osla_transport *t, wait_timer *p)
{
  if (t->settings.time_limit <= 0) return;
  uint64_t finished = osli_pool_finished(t->pool);
  if (finished != p->finished)
    *p = osli_time_limit_start(t);
  else if (osla_clock() - p->since > limit_of(t))
    give_up(t, NULL);
}

void osli_time_limit_blocked(osla_blocked_call *call, const char *name)
{
  if (name) atomic_store(&call->since, osla_clock());
  atomic_store(&call->name, name);
}

static void watch_call(osla_transport *t, osla_blocked_call *call)
{
  const char *name = atomic_load(&call->name);
  if (name && osla_clock() - atomic_load(&call->since) > limit_of(t)) give_up(t, name);
}

static void *watch_main(void *arg)
{
  osla_transport *t = arg;
  while (!atomic_load(&t->stop_watch)) {
    osli_nap(WATCH_US);
    watch_call(t, &t->collective);
    watch_call(t, &t->locked);
  }
  return NULL;
}

osla_err osli_time_limit_watch(osla_transport *t)
{
  OSLA_CHECK(pthread_create(&t->watch_thread, NULL, watch_main, t) == 0, OSLA_ERR_MEM,
             "cannot start the thread that checks the time limit OSLA_PATIENCE");
  t->has_watch_thread = true;
  return OSLA_OK;
}

void osli_time_limit_unwatch(osla_transport *t)
{
  if (!t->has_watch_thread) return;
  atomic_store(&t->stop_watch, true);
  (void)pthread_join(t->watch_thread, NULL);
  t->has_watch_thread = false;
}
