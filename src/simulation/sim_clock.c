/* osla_clock of simulated ranks; replaces src/base/clock.c. */
#include "osla_clock.h"
#include "src/simulation/sim.h"

#include <simgrid/engine.h>
#include <time.h>

/* Reading the clock takes no simulated time, and usually no call of the simulator. But without
 * progress of time a loop that polls the clock would never end, so every MANY readings call
 * clock_gettime, by which SimGrid advances its clock by 10 ns. */
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
