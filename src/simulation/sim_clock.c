/* The simulated clock, in place of src/base/clock.c. */
#include "osla_clock.h"
#include "src/simulation/sim.h"

#include <simgrid/engine.h>
#include <time.h>

/* A look takes no time, and no call of the simulator. But one in many does: 10 ns by the
 * simulator's own clock, or who looks until it is later would look for ever. */
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
  if (++looks < MANY) return now + osli_sim_own()->ahead;
  looks = 0;
  osli_sim_catch_up();
  struct timespec later;
  (void)clock_gettime(CLOCK_MONOTONIC, &later);
  return (double)later.tv_sec + 1e-9 * (double)later.tv_nsec;
}

void osla_clock_settle(void)
{
  osli_sim_catch_up();
}
