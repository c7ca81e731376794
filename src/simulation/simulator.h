/* C interface to the simulator (layer 0, internal). SimGrid 3.32 and later.
 *
 * All simulated ranks are coroutines of one process. They share its memory, and only one runs at a
 * time, until it blocks in the simulator. No simulated time passes while a rank runs.
 */
#ifndef OSLA_SIMULATOR_H
#define OSLA_SIMULATOR_H

#include "src/simulation/sim_core.h"

#include <simgrid/actor.h>
#include <simgrid/engine.h>
#include <simgrid/host.h>
#include <simgrid/semaphore.h>
#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Starts a transfer of `bytes` over the modelled network and returns at once. It begins after
 * `delay` seconds and needs no call at the target. When it ends, done(arg) is called once; it must
 * not block. */
typedef void osli_sim_done(void *arg);
void osli_sim_transfer(sg_host_t from, sg_host_t to, size_t bytes, double delay,
                       osli_sim_done *done, void *arg);

/* Seconds that the first byte takes from one host to another. */
double osli_sim_latency(sg_host_t from, sg_host_t to);

/* Divides the bandwidth of the links between a host and the network, in both directions, by
 * `times`. */
void osli_sim_slow_links(sg_host_t host, double times);

/* Value of the host's property in the machine file; NULL if it has none. */
const char *osli_sim_property(sg_host_t host, const char *name);

/* Seconds of real CPU time that the calling thread has used. */
double osli_sim_processor_time(void);

/* State of a simulated rank (a coroutine). It lives as long as the simulation. */
typedef struct sim_actor {
  char error_text[512]; /* text of the rank's latest error */
  sim_core core;        /* rates and model of the rank's core */
  double began; /* real CPU time at which the latest BLAS call began; 0 if none is under way */
  /* seconds of the core's time that transfers have used, not yet charged to the rank */
  double debt;
  double ahead; /* seconds by which the rank's own clock is ahead of the simulator's */
} sim_actor;
sim_actor *osli_sim_actor(void); /* returns the state of the calling rank */

#ifdef __cplusplus
}
#endif
#endif
