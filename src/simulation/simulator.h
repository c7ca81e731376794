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

/* ---- memory bandwidth that cores share (shared_bandwidth.cpp) ---- */

/* A die of a processor: some cores with memory of their own. Cores that sweep at the same time
 * share the bandwidth of this memory max-min fairly. */
typedef struct sim_die sim_die;

/* Returns die `number` (from 0) of the host, and sets the bandwidth of its memory to `bandwidth`
 * bytes per second. The die lives as long as the simulation. */
sim_die *osli_sim_die(sg_host_t host, int number, double bandwidth);

/* Suspends the calling rank for `delay` seconds, and then until its core has moved `bytes`, more
 * than 0, to or from the memory, at a rate of at most `most` bytes per second. */
void osli_sim_die_move(sim_die *die, double bytes, double most, double delay);

/* Adds `bytes` of a network transfer to the work of the memory, and returns at once. Cores that are
 * moving data at this time are delayed: each must move an equal part of these bytes before it has
 * finished. Without such cores the bytes cost nothing. */
void osli_sim_die_load(sim_die *die, double bytes);

/* State of a simulated rank (a coroutine). It lives as long as the simulation. */
typedef struct sim_actor {
  char error_text[512]; /* text of the rank's latest error */
  sim_core core;        /* rates and model of the rank's core */
  double began; /* real CPU time at which the latest BLAS call began; 0 if none is under way */
  /* seconds of the core's time that transfers have used, not yet charged to the rank */
  double debt;
  double ahead; /* seconds by which the rank's own clock is ahead of the simulator's */
  sim_die *die; /* the die of the rank's core; NULL: cores do not share bandwidth */
  /* bytes that a sweep moves, per second of its time in the model of the core, which does not know
   * of sharing; and the greatest rate of the core, in bytes per second */
  double bytes_per_second, most;
  /* Die to which the network adapter of the rank's host is attached; NULL if cores do not share
   * bandwidth. */
  sim_die *adapter_die;
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
