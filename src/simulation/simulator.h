/* What the simulator does for us, in C (floor 0, internal). SimGrid 3.32 and later.
 *
 * All simulated ranks are coroutines of one process: they share its memory, and only one runs at a
 * time, until it blocks in the simulator. No time passes while a rank runs.
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

/* After `delay` seconds moves so many bytes from one host to another through the modelled network,
 * without a call of whoever is there; then calls done(arg), once, which must not block. Returns at
 * once. */
typedef void osli_sim_done(void *arg);
void osli_sim_transfer(sg_host_t from, sg_host_t to, size_t bytes, double delay,
                       osli_sim_done *done, void *arg);

/* Seconds that the first byte takes from one host to another. */
double osli_sim_latency(sg_host_t from, sg_host_t to);

/* From now on the line between a host and the network, both ways, has that part of its bandwidth.
 */
void osli_sim_slow_line(sg_host_t host, double times);

/* From a machine file: the host's property of that name; NULL: there is none. */
const char *osli_sim_property(sg_host_t host, const char *name);

/* Seconds of the real processor that this process has used. */
double osli_sim_processor_time(void);

/* What a coroutine has of its own. It lives as long as the simulation. */
typedef struct sim_own {
  char error_text[512]; /* of its latest error */
  sim_core core;        /* how fast it computes */
  double began;         /* where the latest call of BLAS began, of the real processor's time */
  double debt;  /* seconds that transfers have taken from its core, and that it has not spent */
  double ahead; /* seconds that it has spent, and that the simulator's clock has still to go */
} sim_own;
sim_own *osli_sim_own(void); /* the caller's */

#ifdef __cplusplus
}
#endif
#endif
