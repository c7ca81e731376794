/* Waits that end when a rank has stopped.
 *
 * Neighbours in the tree of the reduction regularly send one another short messages, in each step
 * of a run and while they wait. A rank that receives no message from a neighbour for `patience`
 * seconds notifies its other neighbours, which notify theirs, and all ranks end the run. These
 * messages have no data, and only the newest one of a neighbour counts. The stamp of a message
 * holds the number of the run, and 1 + the number of the rank that has stopped, or 0 if no rank has
 * stopped. */
#include "kernels/iterate/iterate.h"
#include "osla_clock.h"

#include <math.h>

enum { PARTS = 8 }; /* smallest number of messages that are sent per `patience` seconds */
static const uint64_t STOPPED = (UINT64_C(1) << 32) - 1;

/* ---- neighbours ---- */

int osli_watch_ends(osla_iteration *it, osla_channel_end *ends)
{
  watch *w = &it->w;
  w->first = 2 * it->p.n_halos;
  w->n = it->o.patience > 0 ? osla_reduction_neighbours(it->reduction, w->rank) : 0;
  for (int k = 0; k < w->n; k++)
    ends[k] = (osla_channel_end){
      .peer = w->rank[k], .tag = INT32_MAX, .kind = OSLA_CHANNEL_LATEST, .in_flight = 2};
  return w->n;
}

static osla_err send_words(osla_iteration *it, int except)
{
  watch *w = &it->w;
  const uint64_t word = it->run << OSLA_ITERATE_RUN_SHIFT | (uint64_t)(w->stopped + 1);
  for (int k = 0; k < w->n; k++)
    if (k != except) OSLA_CALL(osla_channel_send(it->set, w->first + k, word));
  return OSLA_OK;
}

static osla_err stop(osla_iteration *it, int rank, int except)
{
  it->w.stopped = rank;
  it->c.over = true;
  it->c.end = OSLA_ITERATE_STALLED;
  return send_words(it, except);
}

/* ---- steps ---- */

/* Evaluates the latest message of neighbour k, if it belongs to this run. */
static osla_err apply_word(osla_iteration *it, int k)
{
  watch *w = &it->w;
  if (w->word[k] >> OSLA_ITERATE_RUN_SHIFT != it->run) return OSLA_OK;
  w->silent[k] = 0.0;
  const int stopped = (int)(w->word[k] & STOPPED) - 1;
  return stopped >= 0 && w->stopped < 0 ? stop(it, stopped, k) : OSLA_OK;
}

osla_err osli_watch_begin(osla_iteration *it)
{
  watch *w = &it->w;
  if (w->n == 0) return OSLA_OK;
  w->on = true;
  w->stepped = w->notified = osla_clock();
  for (int k = 0; k < w->n; k++) {
    /* the neighbour may not have begun the run, or may have begun it before this rank */
    w->silent[k] = -1.0;
    OSLA_CALL(apply_word(it, k));
  }
  return send_words(it, -1);
}

void osli_watch_end(osla_iteration *it)
{
  it->w.on = false;
}

osla_err osli_watch_check(const osla_iteration *it)
{
  OSLA_CHECK(
    it->w.stopped < 0, OSLA_ERR_STATE,
    "iteration: rank %d stalled in an earlier run: only osla_iteration_destroy is possible",
    it->w.stopped);
  return OSLA_OK;
}

static osla_err receive_word(osla_iteration *it, int k)
{
  watch *w = &it->w;
  const void *message;
  if (!osla_channel_can_recv(it->set, w->first + k)) return OSLA_OK;
  OSLA_CALL(osla_channel_recv(it->set, w->first + k, &message, &w->word[k]));
  return apply_word(it, k);
}

/* Makes one step of the watch. A rank that was suspended has received nothing meanwhile, although
 * its neighbours are alive. So the time between two steps counts as at most `patience` / PARTS.
 * Messages are sent at this interval, and also before a step that may take as long as the previous
 * one. */
osla_err osli_watch_step(osla_iteration *it)
{
  watch *w = &it->w;
  const double patience = it->o.patience, part = patience / PARTS;
  if (!w->on || w->stopped >= 0) return OSLA_OK;
  const double now = osla_clock(), step = now - w->stepped;
  w->stepped = now;
  for (int k = 0; k < w->n && w->stopped < 0; k++) {
    if (w->silent[k] >= 0.0) w->silent[k] += fmin(step, part);
    OSLA_CALL(receive_word(it, k));
    if (w->stopped < 0 && w->silent[k] > patience) OSLA_CALL(stop(it, w->rank[k], -1));
  }
  if (w->stopped >= 0 || now - w->notified + step < part) return OSLA_OK;
  w->notified = now;
  return send_words(it, -1);
}

/* ---- waits ---- */

typedef struct awaited {
  osla_iteration *it;
  osla_channels *set;
  int n;
  const int *channels;
  bool sends;
  osla_err err;
} awaited;

static bool is_stopped(void *arg)
{
  awaited *a = arg;
  a->err = osli_watch_step(a->it);
  return a->err != OSLA_OK || a->it->w.stopped >= 0;
}

/* Tests whether all channels are ready. During a run, a rank closes a channel only if some rank has
 * stopped, and it first sends a message about this. */
static bool are_ready(void *arg)
{
  const awaited *a = arg;
  for (int k = 0; k < a->n; k++) {
    const int c = a->channels[k];
    const bool ready =
      a->sends ? osla_channel_can_send(a->set, c) : osla_channel_can_recv(a->set, c);
    if (!ready) return is_stopped(arg);
  }
  return true;
}

static osla_err wait_for(osla_iteration *it, osla_channels *set, int n, const int *channels,
                         bool sends)
{
  awaited a = {it, set, n, channels, sends, OSLA_OK};
  osla_channels_wait_until(set, are_ready, &a);
  return a.err;
}

osla_err osli_watch_receive(osla_iteration *it, osla_channels *set, int n, const int *channels)
{
  if (it->w.on) return wait_for(it, set, n, channels, false);
  osla_channels_wait(set, n, channels, true);
  return OSLA_OK;
}

osla_err osli_watch_send(osla_iteration *it, int n, const int *channels)
{
  return it->w.on ? wait_for(it, it->set, n, channels, true) : OSLA_OK;
}

osla_err osli_watch_result(osla_iteration *it, osla_reduction *reduction, const double **result)
{
  awaited a = {.it = it};
  if (!it->w.on) return osla_reduction_wait(reduction, result);
  OSLA_CALL(osla_reduction_wait_or(reduction, is_stopped, &a, result));
  return a.err;
}

osla_err osli_watch_reduce(osla_iteration *it, const double *values, int n_sums, int n_maxima,
                           const double **result)
{
  *result = NULL;
  if (it->w.stopped >= 0) return OSLA_OK;
  OSLA_CALL(osla_reduction_start(it->reduction, values, n_sums, n_maxima));
  return osli_watch_result(it, it->reduction, result);
}
