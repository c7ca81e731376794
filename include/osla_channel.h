/* Channels: messages that replace one another (floor 1).
 *
 * An iteration without waiting needs the newest state of a peer, not all of its states. A channel
 * joins two ranks, and each of them writes to the other whenever it likes. The calls and both kinds
 * are those of Bethune, Bull, Dingle and Higham (Int. J. High Perf. Comput. Appl. 28(1), 2014,
 * section 4.2); the third is for those who do wait.
 * What has no room yet goes out in every wait of this rank, and when it asks what there is.
 *
 *   LATEST  a whole message of one send, the newest; older ones that nobody received are dropped.
 *           On the node a triple buffer: one exchange on each side, no wait, no copy. Between nodes
 *           up to `in_flight` posted messages; a newer state replaces one that waits to be posted.
 *   RACY    8-byte elements, each the newest: a message may be a mixture of several sends. Between
 *           nodes as LATEST.
 *   EVERY   each message, in order; up to `in_flight` that were not received. On the node a ring of
 *           slots, no copy.
 *
 * All calls but those that make and destroy a set are local, and one thread at a time makes them.
 * The receiver of a message sees all that its sender stored in it.
 *
 * Threads: as osla_transport.h says of collective and of local calls.
 * Part: may change in any release (osla_unstable.h).
 */
#ifndef OSLA_CHANNEL_H
#define OSLA_CHANNEL_H

#include "osla_api.h"
#include "osla_transport.h"
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum osla_channel_kind {
  OSLA_CHANNEL_LATEST,
  OSLA_CHANNEL_RACY,
  OSLA_CHANNEL_EVERY
} osla_channel_kind;

/* My end of one. The peer gives the same tag, kind and in_flight, and the sizes the other way
 * round. Bytes may be 0; of RACY they are multiples of 8. */
typedef struct osla_channel_end {
  int peer; /* another rank */
  int tag;  /* which one of those between the two */
  osla_channel_kind kind;
  int in_flight; /* 1 to OSLA_CHANNEL_MOST */
  int64_t send_bytes, recv_bytes;
} osla_channel_end;
enum { OSLA_CHANNEL_MOST = 4096 };

/* My ends, numbered in the order in which they were given. */
typedef struct osla_channels osla_channels;

/* Makes all channels of all ranks. Collective. Where it joins nodes a set takes a progress hook
 * (osla_progress_add).
 *   n, ends [in]  mine; 0 or more
 *   out     [out] owned by the caller
 * Errors, on all ranks together: ARG (a peer that is not there, or has no such channel; tags that
 * stand twice; ends that differ; sizes), MEM, RANGE (no hook is left), MPI. */
OSLA_API osla_err osla_channels_create(osla_transport *transport, int n,
                                       const osla_channel_end *ends, osla_channels **out);

/* Collective. Closes all of mine; what was sent has been delivered to those that still received,
 * and is dropped where the peer is here, too. Accepts NULL and nulls the handle. */
OSLA_API void osla_channels_destroy(osla_channels **channels);

/* Where the next message is written, send_bytes, aligned to 16 (EVERY waits while in_flight of them
 * were not received). Valid until it is sent; what stands there is undefined. NULL on failure. */
OSLA_API void *osla_channel_buffer(osla_channels *channels, int which);

/* Would osla_channel_send not wait? LATEST and RACY never do. */
OSLA_API bool osla_channel_can_send(osla_channels *channels, int which);

/* Sends what was written there.
 *   stamp [in] travels with it, any number; it should grow
 * Errors: STATE (after close), MPI. */
OSLA_API osla_err osla_channel_send(osla_channels *channels, int which, uint64_t stamp);

/* Is there something that was not received? RACY: something new since the last receive. */
OSLA_API bool osla_channel_can_recv(osla_channels *channels, int which);

/* The newest message, or of EVERY the next one, for which it waits.
 *   message [out] recv_bytes, aligned to 16; stays as it is until the next receive. LATEST and RACY
 *                 without news: the same as before; NULL: none ever came
 *   stamp   [out] of its send; RACY: of a send that is not newer than any element. NULL: not wanted
 * Errors: STATE (EVERY: the peer has closed and no message is left), MPI. */
OSLA_API osla_err osla_channel_recv(osla_channels *channels, int which, const void **message,
                                    uint64_t *stamp);

/* Sleeps until one of these channels (all: each of them) can be received from or is closed.
 *   which [in] [n] numbers of mine */
OSLA_API void osla_channels_wait(osla_channels *channels, int n, const int *which, bool all);

/* Sleeps until test(arg) is true, which is asked again after each message to this rank. */
OSLA_API void osla_channels_wait_until(osla_channels *channels, bool (*test)(void *arg), void *arg);

#ifdef __cplusplus
}
#endif
#endif
