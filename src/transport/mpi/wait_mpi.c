/* Lets a real process (not a simulated rank) wait for a condition.
 *
 * Ranks may outnumber cores. In that case a spinning rank takes the core from the rank that it
 * waits for; sched_yield does not help on current Linux schedulers. Therefore a rank spins shortly,
 * only if each computing thread has a core, and then sleeps. If a rank of the same node sets the
 * condition, the waiting rank sleeps on a bell (a futex) and is woken at once. If the condition
 * changes over the network, it sleeps for growing times with progress in between. */
#include "osla_clock.h"
#include "src/base/futex.h"
#include "src/transport/request_pool.h"
#include "src/transport/time_limit.h"

#include <math.h>

static const double SPIN = 50e-6, MAX_SPIN_BUDGET = 1e-3;
enum { NAP_MIN_US = 20, NAP_MAX_US = 200, SLEEP_ON_NODE_US = 20000 };

static inline void pause_cpu(void)
{
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

/* Result of a turn: nothing happened; progress took long, so it may have found work; a transfer or
 * message has completed. */
typedef enum turn_result { TURN_IDLE, TURN_SLOW, TURN_COMPLETED } turn_result;

/* Makes one turn of a wait: a progress step and the test of the condition, which may make progress
 * itself. */
static bool progress_and_test(osla_transport *t, osla_wait_test *test, void *arg,
                              turn_result *result)
{
  const uint64_t ended = osli_pool_finished(t->pool);
  osla_progress(t);
  bool done = test(arg);
  *result = osli_pool_finished(t->pool) != ended ? TURN_COMPLETED
            : atomic_load(&t->found_work)        ? TURN_SLOW
                                                 : TURN_IDLE;
  return done;
}

/* Spins while turns find work, because a large transfer takes many turns of both sides, and one
 * sleep takes as long as fifty of them. Turns may take long for other reasons, so spinning after
 * slow turns is limited to *spin_budget seconds. A completion refills the budget; sleeping refills
 * it by an eighth of the time slept. */
static bool spin_on_network(osla_transport *t, osla_wait_test *test, void *arg, double *spin_budget)
{
  double now = osla_clock(), end = now + SPIN, last = now + *spin_budget;
  while (now < end) {
    turn_result result;
    if (progress_and_test(t, test, arg, &result)) return true;
    pause_cpu();
    now = osla_clock();
    if (result == TURN_COMPLETED) last = now + MAX_SPIN_BUDGET;
    if (result != TURN_IDLE && end < last) end = fmin(now + SPIN, last);
  }
  *spin_budget = now < last ? last - now : 0;
  return false;
}

static bool spin_on_node(osla_wait_test *test, void *arg)
{
  double end = osla_clock() + SPIN;
  do {
    for (int i = 0; i < 32; i++) {
      if (test(arg)) return true;
      pause_cpu();
    }
  } while (osla_clock() < end);
  return false;
}

/* Sleeps until the bell rings, or for timeout_us. If test(arg) is true, returns true without
 * sleeping, and the test must not be called again. */
static bool sleep_on(osla_bell *bell, osla_wait_test *test, void *arg, int timeout_us)
{
  /* This fence pairs with the one in osli_futex_bell_ring: either the ringing rank counts this
   * sleeper, or the test below sees the value that the ringing rank has stored. */
  atomic_fetch_add(&bell->sleepers, 1);
  uint32_t result = atomic_load(&bell->rings);
  atomic_thread_fence(memory_order_seq_cst);
  bool done = test(arg);
  if (!done) osli_futex_sleep(&bell->rings, result, timeout_us);
  atomic_fetch_sub(&bell->sleepers, 1);
  return done;
}

void osli_futex_bell_ring(osla_transport *t, osla_bell *bell)
{
  (void)t;
  atomic_thread_fence(memory_order_seq_cst);
  if (atomic_load_explicit(&bell->sleepers, memory_order_relaxed) == 0) return;
  atomic_fetch_add(&bell->rings, 1);
  osli_futex_wake(&bell->rings);
}

void osli_wait_spin_then_sleep(osla_transport *t, osla_wait_test *test, void *arg, osla_bell *bell)
{
  if (test(arg)) return;
  bool network = t->n_nodes > 1 || t->n_attached > 0, spins = !t->oversubscribed;
  double spin_budget = MAX_SPIN_BUDGET;
  if (spins && (network ? spin_on_network(t, test, arg, &spin_budget) : spin_on_node(test, arg)))
    return;

  int nap = NAP_MIN_US;
  wait_timer left = osli_time_limit_start(t);
  for (;;) {
    turn_result result;
    if (progress_and_test(t, test, arg, &result)) return;
    osli_time_limit_check(t, &left);
    if (network && result != TURN_IDLE) {
      const bool again = spins && (result == TURN_COMPLETED || spin_budget >= SPIN);
      nap = NAP_MIN_US;
      if (again && spin_on_network(t, test, arg, &spin_budget)) return;
    }
    const double before = osla_clock();
    if (!bell)
      osli_nap(nap);
    else if (sleep_on(bell, test, arg, network ? nap : SLEEP_ON_NODE_US))
      return;
    spin_budget = fmin(spin_budget + (osla_clock() - before) / 8, MAX_SPIN_BUDGET);
    if (nap < NAP_MAX_US) nap *= 2;
    if (test(arg)) return;
  }
}
