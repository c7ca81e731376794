#include "src/transport/patience.h"

#include "osla_clock.h"
#include "osla_log.h"
#include "src/base/futex.h"
#include "src/transport/request_pool.h"

#include <stdio.h>
#include <unistd.h>

enum { WATCH_US = 50000, LAST_SECONDS = 5 };

patience osli_patience_start(const osla_transport *t)
{
  return (patience){osla_clock(), osli_pool_finished(t->pool)};
}

/* Ranks that wait for one another reach their limits together, and one line is enough: so later
 * ranks wait a little longer. */
static double limit_of(const osla_transport *t)
{
  double later = t->rank > 0 ? 1 + 0.25 * t->rank : 0, most = 2 + 0.1 * t->settings.patience;
  return t->settings.patience + (later < most ? later : most);
}

/* Who is in a call of MPI that does not end holds MPI's lock, so MPI_Abort would not end either;
 * and one that has lost a host may not come back: then this process ends by itself or by the alarm,
 * and the launcher ends the others. */
_Noreturn static void give_up(osla_transport *t, const char *call)
{
  const char *kernel = atomic_load(&t->kernel);
  int peer = atomic_load(&t->awaited);
  char from[64] = "", in[96] = "";
  if (peer >= 0)
    (void)snprintf(from, sizeof from, " from rank %d (node %d)", peer,
                   osla_transport_node_of(t, peer));
  if (kernel)
    (void)snprintf(in, sizeof in, " in %s, step %lld", kernel, (long long)atomic_load(&t->step));
  osla_log(t->rank, "nothing came%s for %g s%s%s%s (OSLA_PATIENCE=%g); ending all ranks", from,
           t->settings.patience, in, call ? ", waiting in " : "", call ? call : "",
           t->settings.patience);
  osli_run_end_hook(t);
  osli_nap(OSLA_LAST_WORDS_US);
  (void)alarm(LAST_SECONDS);
  if (!call) (void)MPI_Abort(MPI_COMM_WORLD, 1); /* see osla_transport_abort */
  _exit(1);
}

void osli_patience_check(osla_transport *t, patience *p)
{
  if (t->settings.patience <= 0) return;
  uint64_t finished = osli_pool_finished(t->pool);
  if (finished != p->finished)
    *p = osli_patience_start(t);
  else if (osla_clock() - p->since > limit_of(t))
    give_up(t, NULL);
}

void osli_patience_blocked(osla_blocked_call *call, const char *name)
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

osla_err osli_patience_watch(osla_transport *t)
{
  OSLA_CHECK(pthread_create(&t->watch_thread, NULL, watch_main, t) == 0, OSLA_ERR_MEM,
             "cannot start the thread that watches over OSLA_PATIENCE");
  t->watches = true;
  return OSLA_OK;
}

void osli_patience_unwatch(osla_transport *t)
{
  if (!t->watches) return;
  atomic_store(&t->stop_watch, true);
  (void)pthread_join(t->watch_thread, NULL);
  t->watches = false;
}
