#include "osla_clock.h"

#include <time.h>

double osla_clock(void)
{
  struct timespec now;
  (void)clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void osla_clock_settle(void)
{
}
