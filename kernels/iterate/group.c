/* Groups of ranks that sweep together, in the asynchronous modes as in lock-step.
 *
 * The inner halos, between ranks of the group, are exchanged before each sweep, over channels that
 * deliver every message. The outer halos are those of any iteration. The ranks of a group sum two
 * flags before each sweep, so that all of them make the same sweeps: whether a rank leaves because
 * its run is over, and whether a rank has used an outer halo for `lead` sweeps and must wait.
 *
 * Waiting cannot deadlock. A rank that waits for an outer halo received its latest one before the
 * group began its latest sweep, so the sender's group had begun its latest sweep earlier still.
 * Around a cycle of waiting groups this is impossible. All ranks of a group send their newest
 * state before one of them waits, and their last one when the group makes no more sweeps.
 *
 * Messages of a sweep: a sum over the group, more sums if a rank waits, and the inner halos; and
 * those of the solve. */
#include "kernels/iterate/group.h"
#include "kernels/iterate/iterate.h"

enum { LEAVES, WAITS, FLAGS };

osla_err osli_group_create(osla_iteration *it)
{
  const osla_sweep_group *g = it->p.group;
  it->n_outer = it->p.n_halos - (g ? g->n_inner : 0);
  return g ? osla_reduction_create_among(it->t, g->n, g->ranks, FLAGS, &it->group_sums) : OSLA_OK;
}

void osli_group_begin(osla_iteration *it)
{
  it->has_left = false;
  if (it->p.group) it->p.group->it = it;
}

void osli_group_end(osla_iteration *it)
{
  if (it->p.group) it->p.group->it = NULL;
}

static osla_err sum_in_run(osla_iteration *it, double *values, int n, bool *is_complete)
{
  const double *sums;
  OSLA_CALL(osla_reduction_start(it->group_sums, values, n, 0));
  OSLA_CALL(osli_watch_result(it, it->group_sums, &sums));
  *is_complete = sums != NULL;
  if (sums) memcpy(values, sums, (size_t)n * sizeof *values);
  return OSLA_OK;
}

bool osli_group_sum(osla_sweep_group *g, double *values, int n)
{
  osla_iteration *it = g->it;
  bool is_complete;
  if (!it || it->w.stopped >= 0) return false;
  if (g->n <= 1) return true;
  const osla_err err = sum_in_run(it, values, n, &is_complete);
  if (err != OSLA_OK) osla_transport_abort(it->t, err); /* the other ranks of the group wait */
  return is_complete;
}

bool osli_group_exchange(osla_sweep_group *g, double *x)
{
  if (!g->it) return false;
  const osla_err err = osli_halos_exchange_inner(g->it, x);
  if (err != OSLA_OK) osla_transport_abort(g->it->t, err); /* the other ranks of the group wait */
  return g->it->w.stopped < 0;
}

/* No rank of the group makes another sweep in this run. */
static osla_err leave(osla_iteration *it, const double *x)
{
  it->has_left = true;
  return osli_halos_send(it, x, true);
}

osla_err osli_group_prepare(osla_iteration *it, double *x)
{
  double flags[FLAGS] = {[WAITS] = 1};
  while (flags[WAITS] > 0) {
    bool waits;
    OSLA_CALL(osli_halos_poll(it, &waits));
    flags[LEAVES] = 0.0;
    flags[WAITS] = waits;
    if (!osli_group_sum(it->p.group, flags, FLAGS)) return OSLA_OK;
    if (flags[LEAVES] > 0) return leave(it, x);
    if (flags[WAITS] == 0) break;
    if (it->sent_at != it->sweeps) OSLA_CALL(osli_halos_send(it, x, false));
    OSLA_CALL(osli_halos_receive_newest(it, x));
  }
  return osli_halos_exchange_inner(it, x);
}

osla_err osli_group_leave(osla_iteration *it, const double *x)
{
  double flags[FLAGS] = {[LEAVES] = 1};
  if (it->has_left || it->sweeps == it->o.sweeps || it->p.length == 0) return OSLA_OK;
  OSLA_CALL(leave(it, x));
  (void)osli_group_sum(it->p.group, flags, FLAGS);
  return OSLA_OK;
}

void osli_group_destroy(osla_iteration *it)
{
  osla_reduction_destroy(&it->group_sums);
}
