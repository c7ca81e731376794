/* Channels: messages of which a newer one may replace an older one (layer 1).
 *
 * An asynchronous iteration needs the newest state of a peer, not all of its states. A channel
 * joins two ranks, each of which may send to the other at any time. The calls and the kinds LATEST
 * and RACY are those of Bethune, Bull, Dingle and Higham (Int. J. High Perf. Comput. Appl. 28(1),
 * 2014, section 4.2); EVERY is for iterations in lock-step. Messages that have no room yet are sent
 * in later waits of this rank, and when it polls its channels.
 *
 *   LATEST  the newest whole message; older messages that were not received are dropped. On a node
 *           it is a triple buffer: an atomic exchange on each side, no wait, no copy. Between nodes
 *           up to `in_flight` messages are under way; a newer one replaces a message without room.
 *   RACY    8-byte elements, each from a recent send: a message may be a mixture of several sends.
 *           Between nodes it works as LATEST does.
 *   EVERY   each message, in order; up to `in_flight` unreceived ones. On a node it is a ring of
 *           slots, without copies.
 *
 * All calls except creation and destruction are local, and are made by one thread at a time. The
 * receiver of a message sees everything that its sender stored in it.
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

/* This rank's end of a channel. The peer must give the same tag, kind and in_flight; its send_bytes
 * must equal this rank's recv_bytes, and its recv_bytes this rank's send_bytes. Sizes may be 0; for
 * RACY they are multiples of 8. */
typedef struct osla_channel_end {
  int peer; /* rank of the other end, different from this rank */
  int tag;  /* tag that distinguishes the channels between two ranks */
  osla_channel_kind kind;
  /* largest number of messages that are sent and not yet received, from 1 to OSLA_CHANNEL_MOST */
  int in_flight;
  int64_t send_bytes, recv_bytes;
} osla_channel_end;
enum { OSLA_CHANNEL_MOST = 4096 };

/* A set of channels. The number of a channel is the index of this rank's end in the list that was
 * given at creation. */
typedef struct osla_channels osla_channels;

/* Makes the channels of all ranks. A set of channels between several nodes takes one progress hook
 * (osla_progress_add). Collective.
 *   n, ends [in]  this rank's ends; n is 0 or more
 *   out     [out] owned by the caller
 * Errors, on all ranks together: ARG (invalid peer, no matching end, duplicate tag, different ends,
 * invalid size), MEM, RANGE (no progress hook is left), MPI. */
OSLA_API osla_err osla_channels_create(osla_transport *transport, int n,
                                       const osla_channel_end *ends, osla_channels **out);

/* Closes and destroys all channels of a set. Sent messages are delivered to peers that still
 * receive; they are dropped if the peer has entered this call. Accepts NULL and nulls the handle.
 * Collective. */
OSLA_API void osla_channels_destroy(osla_channels **channels);

/* Address for the next message of send_bytes bytes, aligned to 16 bytes, valid until it is sent;
 * its contents are undefined. With EVERY the call waits while in_flight messages are unreceived.
 * Returns NULL on failure. */
OSLA_API void *osla_channel_buffer(osla_channels *channels, int which);

/* Returns whether osla_channel_send would not wait; LATEST and RACY never wait. */
OSLA_API bool osla_channel_can_send(osla_channels *channels, int which);

/* Sends the message in the channel's buffer.
 *   stamp [in] any number, received with the message; it should grow from one message to the next
 * Errors: MPI. */
OSLA_API osla_err osla_channel_send(osla_channels *channels, int which, uint64_t stamp);

/* Returns whether there is an unreceived message; for RACY, whether the peer has sent since the
 * latest receive. */
OSLA_API bool osla_channel_can_recv(osla_channels *channels, int which);

/* Receives the newest message; EVERY waits for the next one.
 *   message [out] recv_bytes bytes, aligned to 16, unchanged until the next receive. LATEST and
 *                 RACY return the earlier message again if there is no newer one, and NULL before
 *                 the first one.
 *   stamp   [out] stamp of the message; for RACY the stamp of a send that is not newer than any
 *                 element. NULL if it is not needed.
 * Errors: STATE (EVERY: the peer has destroyed its set and no message is left), MPI. */
OSLA_API osla_err osla_channel_recv(osla_channels *channels, int which, const void **message,
                                    uint64_t *stamp);

/* Sleeps until one of the given channels has a message, or until its peer has destroyed its set and
 * all messages are received. If all = true, sleeps until one of these conditions holds for each of
 * the given channels.
 *   which [in] [n] numbers of channels */
OSLA_API void osla_channels_wait(osla_channels *channels, int n, const int *which, bool all);

/* Sleeps until test(arg) is true. The test is called again after each message to this rank. */
OSLA_API void osla_channels_wait_until(osla_channels *channels, bool (*test)(void *arg), void *arg);

#ifdef __cplusplus
}
#endif
#endif
