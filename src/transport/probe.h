/* Probes of the MPI library: what its RMA can and cannot do (floor 0, internal; for `osla info`).
 *
 * Raw MPI RMA on windows of the probe's own, in the very patterns that the transport avoids. The
 * library itself never uses them. All are collective on the transport, whose ranks must make
 * no other call meanwhile, return the same result on all ranks, and fail together (MPI, MEM).
 * Pairs of ranks are of two kinds; a result is given for each kind.
 */
#ifndef OSLA_PROBE_H
#define OSLA_PROBE_H

#include "osla_transport.h"

enum { OSLA_PROBE_ON_NODE, OSLA_PROBE_ACROSS, OSLA_PROBE_KINDS };

/* Where does MPI_Put land when the window's base is 1, 4, 8 or 12 bytes past a 16-byte boundary?
 *   early [out] most bytes before the right place; 0: right; OSLA_PROBE_LOST: not within 16 bytes
 *               of it; -1: there is no pair of this kind
 * MPICH before 4.0.3 over UCX: up to 12. */
enum { OSLA_PROBE_LOST = 1000 };
osla_err osli_probe_alignment(osla_transport *t, int early[OSLA_PROBE_KINDS]);

/* Does a get from a window whose memory lies within another window's read other memory?
 *   elsewhere [out] 1: yes, 0: no, -1: there is no pair of this kind
 * MPICH 4.0.2 over UCX 1.13: the memory at the start of the other window. */
osla_err osli_probe_window_within(osla_transport *t, int elsewhere[OSLA_PROBE_KINDS]);

/* Is the data of MPI_Rget with a strided datatype there when its request is complete?
 *   lacking [out] most elements (of 8) that are not; -1: there is no pair of this kind
 * MPICH 4.0.2: the request completes without data. */
osla_err osli_probe_strided_get(osla_transport *t, int lacking[OSLA_PROBE_KINDS]);

/* Does MPI_Win_shared_query serve a window made by MPI_Win_allocate, as MPI 4.1 asks?
 *   served [out] every rank got an address of its own memory without an error
 * MPICH 4.0.2: error, the flavour must be SHARED. */
osla_err osli_probe_shared_query(osla_transport *t, bool *served);

/* Two ranks of which one computes without a call to MPI; the same on all ranks. */
typedef struct osla_probe_pair {
  int origin, target; /* different */
  double busy_seconds;
} osla_probe_pair;

/* How long do an 8-byte MPI_Get and MPI_Put (both with flush) of rank `origin` take while rank
 * `target` computes? Median of 3, on a window of ordinary memory; who comes when it may be through
 * measures again, and it computes for twice as long.
 *   get, put [out] seconds. Near busy_seconds: the target's processor must help (not passive). */
osla_err osli_probe_passive(osla_transport *t, const osla_probe_pair *pair, double *get,
                            double *put);

/* Does a get of 8 bytes between nodes wait while its target computes? Measured once in a process,
 * or when these ranks have measured differently, on the backend's own word of a region with a
 * window; there are several nodes. */
typedef struct osla_region osla_region;
osla_err osli_probe_get_waits(osla_region *region, bool *waits);

/* The same of the transport's own operations: a get of 8 bytes, a put of 8 bytes with notify, a
 * fetch-and-add. Each to its end: when the data is here, when the notify is over there. */
typedef struct osla_probe_times {
  double get, notify, fetch_add; /* seconds */
} osla_probe_times;
osla_err osli_probe_busy_target(osla_transport *t, const osla_probe_pair *pair,
                                osla_probe_times *out);

#endif
