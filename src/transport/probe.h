/* Probes of the properties of the MPI library's RMA, for `osla info` (layer 0, internal).
 *
 * The probes use RMA on windows of their own, with the access patterns that the transport avoids.
 * All are collective on the transport; the ranks must make no other call meanwhile. They return
 * equal results on all ranks, and fail together (MPI, MEM). Results are arrays with an entry for
 * pairs of ranks on one node, and one for pairs on different nodes. */
#ifndef OSLA_PROBE_H
#define OSLA_PROBE_H

#include "osla_transport.h"

enum { OSLA_PROBE_ON_NODE, OSLA_PROBE_ACROSS, OSLA_PROBE_KINDS };

/* Measures where MPI_Put writes if the window begins 1, 4, 8 or 12 bytes after a 16-byte boundary.
 *   early [out] largest number of bytes before the correct address; 0 if correct, OSLA_PROBE_LOST
 *               if the data are not within 16 bytes of it, -1 without a pair of this kind
 * With MPICH before 4.0.3 over UCX it is up to 12. */
enum { OSLA_PROBE_LOST = 1000 };
osla_err osli_probe_alignment(osla_transport *t, int early[OSLA_PROBE_KINDS]);

/* Tests whether a get from a window whose memory lies inside another window's memory reads the
 * wrong address.
 *   elsewhere [out] 1 if it does, 0 if not, -1 without a pair of this kind
 * MPICH 4.0.2 over UCX 1.13 reads the memory at the start of the outer window. */
osla_err osli_probe_window_within(osla_transport *t, int elsewhere[OSLA_PROBE_KINDS]);

/* Tests whether MPI_Rget with a strided datatype has delivered its data when its request completes.
 *   lacking [out] largest number of missing elements, of 8; -1 without a pair of this kind
 * MPICH 4.0.2 completes the request without data. */
osla_err osli_probe_strided_get(osla_transport *t, int lacking[OSLA_PROBE_KINDS]);

/* Tests whether MPI_Win_shared_query works on a window of MPI_Win_allocate, as MPI 4.1 requires.
 *   served [out] every rank got an address of its own memory without an error
 * MPICH 4.0.2 fails with an error on the flavour of the window. */
osla_err osli_probe_shared_query(osla_transport *t, bool *served);

/* A rank that accesses memory (origin), and a rank that computes for busy_seconds without MPI calls
 * (target). Equal on all ranks. */
typedef struct osla_probe_pair {
  int origin, target; /* two different ranks */
  double busy_seconds;
} osla_probe_pair;

/* Measures the time of an 8-byte MPI_Get and MPI_Put (both with flush) of the origin while the
 * target computes: the median of 3, on a window of ordinary memory. A measurement that begins too
 * late is repeated with twice the computing time.
 *   get, put [out] seconds; close to busy_seconds if the access needs the target's processor */
osla_err osli_probe_passive(osla_transport *t, const osla_probe_pair *pair, double *get,
                            double *put);

/* Tests whether an 8-byte get between nodes waits while its target computes. It measures once in a
 * process, or again if these ranks have different earlier results. The job must have several nodes.
 */
typedef struct osla_region osla_region;
osla_err osli_probe_get_waits(osla_region *region, bool *waits);

/* Results of osli_probe_busy_target, which works as osli_probe_passive but times operations of the
 * transport: an 8-byte get, an 8-byte put with notify, and a fetch-and-add, each until its data
 * have arrived at their destination. */
typedef struct osla_probe_times {
  double get, notify, fetch_add; /* seconds */
} osla_probe_times;
osla_err osli_probe_busy_target(osla_transport *t, const osla_probe_pair *pair,
                                osla_probe_times *out);

#endif
