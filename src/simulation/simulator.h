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
/* Returns the state of the calling rank. */
sim_actor *osli_sim_actor(void);

/* ---- links that serve one transfer after the other (queued_links.cpp) ---- */

/* SimGrid's own links share their bandwidth among all transfers, so each start or end of a transfer
 * changes the rates of others. That is accurate, but with thousands of transfers at once on a torus
 * each transfer costs milliseconds of real time. Here a link sends transfers in their order of
 * arrival, each at the full rate, from a queue without limit. A transfer is cut into parts, so that
 * transfers interleave as packets do. The head of a part moves on before its tail has arrived
 * (cut-through). Transfers of a few packets do not queue. doc/simulation.md compares the two
 * models. */

/* Starts a transfer over queued links; arguments as in osli_sim_transfer. */
void osli_sim_transfer_queued(sg_host_t from, sg_host_t to, size_t bytes, double delay,
                              osli_sim_done *done, void *arg);

/* ---- sparse contents of a large range of memory (sim_pieces.cpp) ---- */

/* If work is only modelled, a ring of messages is a gigabyte that holds a few message heads. Each
 * head written to the ring would cost a page of real memory. Here the heads are stored in a map by
 * address, and the ring's memory is never touched. */

typedef struct sim_pieces sim_pieces;
sim_pieces *osli_sim_pieces_create(void);
/* Frees a map with all its pieces. Accepts NULL. */
void osli_sim_pieces_free(sim_pieces *pieces);

/* Stores bytes for an address: as a new piece, or into an earlier piece that contains the range. */
void osli_sim_pieces_store(sim_pieces *pieces, const void *at, const void *bytes, size_t count);

/* Moves the pieces in [from, from + bytes) to `to` at equal offsets, and removes them. Gaps between
 * pieces are not written. */
void osli_sim_pieces_take(sim_pieces *pieces, void *to, const void *from, size_t bytes);

#ifdef __cplusplus
}
#endif
#endif
