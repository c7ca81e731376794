/* Waiting and the clock of simulated ranks. A rank that waits is suspended in the simulator, which
 * costs no real time. */
#include "osla_log.h"
#include "src/simulation/sim.h"

#include <stdlib.h>

/* Seconds. Some waits end by time alone (a claim on stripes), so a rank polls at first after
 * `first_turn`, then after twice the time. If no event has resumed it for `longest`, the job is
 * deadlocked. */
static const double first_turn = 200e-6, longest = 1e7;

void osli_sim_spend(double seconds)
{
  sim_own *own = osli_sim_own();
  own->ahead += seconds > 0 ? seconds + own->debt : own->debt;
  own->debt = 0;
}

void osli_sim_catch_up(void)
{
  sim_own *own = osli_sim_own();
  double all = own->ahead;
  own->ahead = 0;
  if (all > 0) sg_actor_sleep_for(all);
}

/* Subtracts the rank's idle time from its debt: a core that waits works for transfers meanwhile. */
static void settle(sim_rank *rank)
{
  double now = simgrid_get_clock(), idle = rank->asleep ? now - rank->settled : 0;
  rank->settled = now;
  rank->own->debt = rank->own->debt > idle ? rank->own->debt - idle : 0;
}

static void arrived(void *arg)
{
  sim_call *call = arg;
  sim_rank *at = call->at;
  if (at->asleep || !osli_sim_cores_move(sim_job_of(at->t))) {
    call->done(call->arg);
    return;
  }
  call->next = NULL;
  *at->last_call = call;
  at->last_call = &call->next;
}

void osli_sim_take(sim_rank *me)
{
  while (me->calls) {
    sim_call *call = me->calls;
    me->calls = call->next;
    if (!me->calls) me->last_call = &me->calls;
    call->done(call->arg);
  }
}

void osli_sim_move(sim_rank *from, sim_rank *to, size_t bytes, double delay, sim_call *call,
                   osli_sim_done *done, void *arg)
{
  double work = (double)bytes * sim_job_of(from->t)->machine.cpu;
  osli_sim_move_working(from, to, bytes, work, delay, call, done, arg);
}

void osli_sim_move_working(sim_rank *from, sim_rank *to, size_t bytes, double work, double delay,
                           sim_call *call, osli_sim_done *done, void *arg)
{
  settle(from);
  settle(to);
  from->own->debt += work;
  to->own->debt += work;
  *call = (sim_call){NULL, to, done, arg};
  osli_sim_transfer(from->host, to->host, bytes, delay, arrived, call);
}

void osli_sim_look(const osla_transport *t)
{
  static const double a_look = 1e-7;
  if (!sim_me(t)->waits) osli_sim_spend(a_look);
  osli_sim_catch_up();
}

void osli_sim_wake(sim_rank *rank)
{
  rank->events++;
  if (!rank->asleep) return;
  settle(rank);
  rank->asleep = false;
  sg_sem_release(rank->wakes);
}

/* Suspends the rank for at most `seconds`. Returns true if another rank resumed it, false after a
 * timeout. */
static bool sleep_at_most(sim_rank *me, const osla_bell *bell, double seconds)
{
  settle(me);
  me->bell = bell;
  me->asleep = true;
  if (!sg_sem_acquire_timeout(me->wakes, seconds)) return true;
  settle(me);
  me->asleep = false;
  return false;
}

/* Waits until test(arg) is true. Hooks and tests may let simulated time pass; events in that time
 * resume no rank, so the test is repeated at once. Charges the time that a store of another rank
 * takes to become visible. */
void osli_sim_wait_until(osla_transport *t, osla_wait_test *test, void *arg, osla_bell *bell)
{
  sim_rank *me = sim_me(t);
  double turn = first_turn, waited = 0;
  bool slept = false, outer = !me->waits; /* false if a hook called from a wait waits itself */
  me->waits = true;
  osli_sim_catch_up();
  for (;;) {
    uint64_t events = me->events;
    osla_progress(t);
    if (test(arg)) break;
    osli_sim_catch_up();
    if (me->events != events || me->calls) continue;
    slept = true;
    if (sleep_at_most(me, bell, turn)) {
      turn = first_turn;
      waited = 0;
      continue;
    }
    waited += turn;
    turn *= 2;
    if (waited < longest) continue;
    (void)osla_error_set(OSLA_ERR_STATE,
                         "rank %d waits, and nothing has happened for %g simulated seconds",
                         t->rank, waited);
    osla_transport_abort(t, OSLA_ERR_STATE);
  }
  if (outer) me->waits = false;
  if (slept) osli_sim_spend(sim_job_of(t)->machine.wake);
}

/* Links the ranks of each node into a ring, for all ranks at once. */
static void join_nodes(const osla_transport *t)
{
  sim_job *job = sim_job_of(t);
  for (int rank = 0; rank < t->size; rank++) {
    sim_rank *me = &job->rank[rank], *before = NULL;
    for (int i = rank - 1; i >= 0 && !before; i--) /* usually the first candidate matches */
      if (osla_transport_node_of(t, i) == osla_transport_node_of(t, rank)) before = &job->rank[i];
    me->next_here = before ? before->next_here : me;
    if (before) before->next_here = me;
  }
}

void osli_sim_ring(osla_transport *t, osla_bell *bell)
{
  sim_rank *me = sim_me(t), *other = me;
  if (!me->next_here) join_nodes(t);
  do {
    bool listens = !other->bell || other->bell == bell || other->t->n_hooks > 0;
    if (listens) osli_sim_wake(other);
    other = other->next_here;
  } while (other != me);
}
