/* Replaces info_probe.c in simulations, which have no MPI library to test. */
#include "tools/info/info.h"

void info_test_mpi(osla_transport *t, const info_system *system, info_watchdog *dog,
                   info_findings *f)
{
  (void)t, (void)system, (void)dog;
  info_add(f, "MPI", INFO_SKIPPED, "the ranks are simulated: there is no MPI library to look at");
}
