/* Waiting and the clock of simulated ranks. A rank that waits is suspended in the simulator, which
 * costs no real time. */
#include "osla_clock.h"
#include "src/simulation/sim.h"

#include <time.h>

/* Seconds. Some waits end by time alone (a claim on stripes), so a rank polls at first after
 * `first_interval`, then after twice the time. If no event has resumed it for `longest`, the job is
 * deadlocked. */
static const double first_interval = 200e-6, longest = 1e7;

void osli_sim_advance_clock(double seconds)
{
  sim_actor *own = osli_sim_actor();
  own->ahead += seconds > 0 ? seconds + own->debt : own->debt;
  own->debt = 0;
}

void osli_sim_sync_clock(void)
{
  sim_actor *own = osli_sim_actor();
  double all = own->ahead;
  own->ahead = 0;
  if (all > 0) sg_actor_sleep_for(all);
}

/* Replaces src/base/clock.c. Reading the clock takes no simulated time, and usually no call of the
 * simulator. But if time stood still, a loop that polls the clock would never end. So one of MANY
 * readings calls clock_gettime, by which SimGrid advances its clock by 10 ns. */
double osla_clock(void)
{
  enum { MANY = 1000 };
  static double latest;
  static int looks;
  double now = simgrid_get_clock();
  if (now > latest) {
    latest = now;
    looks = 0;
  }
  if (++looks < MANY) return now + osli_sim_actor()->ahead;
  looks = 0;
  osli_sim_sync_clock();
  struct timespec later;
  (void)clock_gettime(CLOCK_MONOTONIC, &later);
  return (double)later.tv_sec + 1e-9 * (double)later.tv_nsec;
}

void osla_clock_settle(void)
{
  osli_sim_sync_clock();
}

/* Subtracts the rank's idle time from its debt: a core that waits works for transfers meanwhile. */
static void reduce_debt(sim_rank *rank)
{
  double now = simgrid_get_clock(), idle = rank->is_suspended ? now - rank->debt_time : 0;
  rank->debt_time = now;
  rank->own->debt = rank->own->debt > idle ? rank->own->debt - idle : 0;
}

static void arrived(void *arg)
{
  sim_completion *call = arg;
  sim_rank *at = call->at;
  if (at->is_suspended || !osli_sim_needs_cores(sim_job_of(at->t))) {
    call->done(call->arg);
    return;
  }
  call->next = NULL;
  *at->last_completion = call;
  at->last_completion = &call->next;
}

void osli_sim_run_completions(sim_rank *me)
{
  while (me->completions) {
    sim_completion *call = me->completions;
    me->completions = call->next;
    if (!me->completions) me->last_completion = &me->completions;
    call->done(call->arg);
  }
}

void osli_sim_start_transfer(sim_rank *from, sim_rank *to, size_t bytes, double delay,
                             sim_completion *call, osli_sim_done *done, void *arg)
{
  double work = (double)bytes * sim_job_of(from->t)->machine.cpu;
  osli_sim_start_transfer_with_work(from, to, bytes, work, delay, call, done, arg);
}

void osli_sim_start_transfer_with_work(sim_rank *from, sim_rank *to, size_t bytes, double work,
                                       double delay, sim_completion *call, osli_sim_done *done,
                                       void *arg)
{
  /* the adapter reads data that are sent, and writes data that are received */
  if (from->host != to->host && from->own->adapter_die) {
    osli_sim_die_load(from->own->adapter_die, (double)bytes);
    osli_sim_die_load(to->own->adapter_die, (double)bytes);
  }
  reduce_debt(from);
  reduce_debt(to);
  from->own->debt += work;
  to->own->debt += work;
  *call = (sim_completion){NULL, to, done, arg};
  osli_sim_transfer(from->host, to->host, bytes, delay, arrived, call);
}

void osli_sim_charge_poll(const osla_transport *t)
{
  static const double poll_seconds = 1e-7;
  if (!sim_self(t)->is_waiting) osli_sim_advance_clock(poll_seconds);
  osli_sim_sync_clock();
}

void osli_sim_resume(sim_rank *rank)
{
  rank->events++;
  if (!rank->is_suspended) return;
  reduce_debt(rank);
  rank->is_suspended = false;
  sg_sem_release(rank->resume_semaphore);
}

/* Suspends the rank for at most `seconds`. Returns true if another rank resumed it, false after a
 * timeout. */
static bool suspend_at_most(sim_rank *me, const osla_bell *bell, double seconds)
{
  reduce_debt(me);
  me->bell = bell;
  me->is_suspended = true;
  if (!sg_sem_acquire_timeout(me->resume_semaphore, seconds)) return true;
  reduce_debt(me);
  me->is_suspended = false;
  return false;
}

/* Waits until test(arg) is true. Hooks and tests may let simulated time pass; events in that time
 * resume no rank, so the test is repeated at once. Charges the time that a store of another rank
 * takes to become visible. */
void osli_sim_wait_until(osla_transport *t, osla_wait_test *test, void *arg, osla_bell *bell)
{
  sim_rank *me = sim_self(t);
  double interval = first_interval, waited = 0;
  /* outer: false if a progress hook waits while this rank already waits */
  bool was_suspended = false, outer = !me->is_waiting;
  me->is_waiting = true;
  osli_sim_sync_clock();
  for (;;) {
    uint64_t events = me->events;
    osla_progress(t);
    if (test(arg)) break;
    osli_sim_sync_clock();
    if (me->events != events || me->completions) continue;
    was_suspended = true;
    if (suspend_at_most(me, bell, interval)) {
      interval = first_interval;
      waited = 0;
      continue;
    }
    waited += interval;
    interval *= 2;
    if (waited < longest) continue;
    (void)osla_error_set(OSLA_ERR_STATE,
                         "rank %d waits, but no event occurred for %g simulated seconds", t->rank,
                         waited);
    osla_transport_abort(t, OSLA_ERR_STATE);
  }
  if (outer) me->is_waiting = false;
  if (was_suspended) osli_sim_advance_clock(sim_job_of(t)->machine.wake);
}

/* Links the ranks of each node into a ring, for all ranks at once. */
static void link_node_ranks(const osla_transport *t)
{
  sim_job *job = sim_job_of(t);
  for (int rank = 0; rank < t->size; rank++) {
    sim_rank *me = &job->rank[rank], *before = NULL;
    /* in most cases the rank with the preceding number is on the same node */
    for (int i = rank - 1; i >= 0 && !before; i--)
      if (osla_transport_node_of(t, i) == osla_transport_node_of(t, rank)) before = &job->rank[i];
    me->next_on_node = before ? before->next_on_node : me;
    if (before) before->next_on_node = me;
  }
}

void osli_sim_ring(osla_transport *t, osla_bell *bell)
{
  sim_rank *me = sim_self(t), *other = me;
  if (!me->next_on_node) link_node_ranks(t);
  do {
    bool listens = !other->bell || other->bell == bell || other->t->n_hooks > 0;
    if (listens) osli_sim_resume(other);
    other = other->next_on_node;
  } while (other != me);
}
