/* How a simulated rank waits: asleep in the simulator, where that costs no real time. */
#include "osla_log.h"
#include "sim.h"

#include <stdlib.h>

/* Some waits end by time alone (a claim on stripes). Whoever was woken by nothing for so long, with
 * everybody else, waits for ever. */
static const double first_turn = 20e-3, longest = 1e7;

void osla_sim_spend(double seconds)
{
  sim_own *own = osla_sim_own();
  double all = seconds > 0 ? seconds + own->debt : own->debt;
  own->debt = 0;
  if (all > 0) sg_actor_sleep_for(all);
}

void osla_sim_move(const sim_job *job, sim_rank *from, sim_rank *to, size_t bytes, double delay,
                   osla_sim_done *done, void *arg)
{
  double work = (double)bytes * job->machine.cpu;
  from->own->debt += work;
  to->own->debt += work;
  osla_sim_transfer(from->host, to->host, bytes, delay, done, arg);
}

void osla_sim_look(const osla_transport *t)
{
  static const double a_look = 1e-7;
  if (!sim_me(t)->waits) osla_sim_spend(a_look);
}

void osla_sim_wake(sim_rank *rank)
{
  if (!rank->asleep) return;
  rank->asleep = false;
  sg_sem_release(rank->wakes);
}

/* A neighbour's store takes a moment to be seen. */
void osla_sim_wait_until(osla_transport *t, osla_wait_test *test, void *arg, osla_bell *bell)
{
  sim_rank *me = sim_me(t);
  double turn = first_turn, waited = 0;
  bool slept = false, outer = !me->waits; /* a hook may wait, too */
  me->waits = true;
  for (;;) {
    osla_progress(t);
    if (test(arg)) break;
    me->bell = bell;
    me->asleep = slept = true;
    double since = simgrid_get_clock();
    bool timed_out = sg_sem_acquire_timeout(me->wakes, turn);
    double idle = simgrid_get_clock() - since; /* in which the core worked for transfers */
    me->own->debt = me->own->debt > idle ? me->own->debt - idle : 0;
    if (timed_out) {
      me->asleep = false;
      waited += turn;
      turn *= 2;
      if (waited < longest) continue;
      (void)osla_error_set(OSLA_ERR_STATE,
                           "rank %d waits, and nothing has happened for %g simulated seconds",
                           t->rank, waited);
      osla_transport_abort(t, OSLA_ERR_STATE);
    }
    turn = first_turn;
    waited = 0;
  }
  if (outer) me->waits = false;
  if (slept) osla_sim_spend(sim_job_of(t)->machine.wake);
}

void osla_sim_ring(osla_transport *t, osla_bell *bell)
{
  sim_job *job = sim_job_of(t);
  for (int rank = 0; rank < t->size; rank++) {
    sim_rank *other = &job->rank[rank];
    if (t->node_of[rank] == t->node && (!other->bell || other->bell == bell)) osla_sim_wake(other);
  }
}
