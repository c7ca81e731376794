/* Internal calls on segments (layer 1). */
#ifndef OSLA_SEGMENT_PRIVATE_H
#define OSLA_SEGMENT_PRIVATE_H

#include "osla_device.h"
#include "osla_segment.h"
#include "osla_stripes.h"
#include "src/device/device.h"
#include "src/transport/transport_ops.h"

/* Returns the transport on which a device was opened. Local. */
osla_transport *osli_device_transport(const osla_device *device);

/* Returns in *out the table of functions of a kind of device, "fake" or "cuda". Local. Errors: ARG
 * (unknown kind), UNSUPPORTED (no plug-in for "cuda", or one of another version). */
osla_err osli_device_backend(const char *kind, const device_ops **out);

/* Creates a segment as osla_segment_create_for does. The data area lies on the device, or in host
 * memory if `device` is NULL. Collective. Errors: those of osla_segment_create_on. */
osla_err osli_segment_create_on(osla_transport *t, osla_device *device, size_t bytes,
                                int n_purposes, const osla_notifiers *notifiers,
                                osla_segment **out);

/* Returns the queue of the open device that a handle denotes. Local. */
device_queue *osli_device_queue(const osla_device *device);

/* Returns whether the device uses signals: when ranks of the node inform each other, their devices
 * then wait for each other, and no host waits for a device. Equal on all ranks. Local. */
bool osli_device_has_signals(const osla_device *device);

/* Queues a signal of this rank in LANE_MAIN of a device, and publishes it to the ranks of the node.
 * The device must have signals, and no other thread may signal on it at the same time. The next
 * osli_device_settle returns errors. Local. */
void osli_device_signal_ranks(osla_device *device);
/* Lets work that is queued later in LANE_MAIN of this rank's device wait for the latest signal that
 * `rank`, a rank of the node, has published for its device. Does nothing if `device` is NULL or has
 * no signals, or if `rank` is this rank. The next osli_device_settle returns errors. Local. */
void osli_device_await_rank(const osla_device *device, int rank);

/* Releases the stripes in `mask` as osla_stripes_release does, but does not wait for work on
 * devices. The caller must have waited for the work on data that the stripes guard. Local. */
void osli_stripes_drop(osla_transport *transport, osla_stripes *lock, uint64_t mask);

/* Wakes a rank as osla_segment_wake does, but does not wait for work on devices. The caller must
 * have waited for the work whose results the other rank must see. Local. */
void osli_segment_wake_at_once(const osla_segment *segment, int rank);

/* ---- message lines in a segment ---- */

/* A message line carries messages in one direction between two ranks. The receiver starts its
 * receives in advance, so each message arrives at its final address without a copy, and its arrival
 * needs no separate notification. The comment of osla_transport_ops.line_open says what both ranks
 * must do. */

/* Opens one end of a message line to a rank of another node. *line = NULL at both ends if the
 * transport provides no line. Local. Errors: MEM, MPI. */
osla_err osli_segment_line_open(osla_segment *segment, const osla_line_end *end, osla_line **line);

/* Starts to send or receive a message, without a record in the trace. Local. Errors: MPI. */
osla_err osli_segment_line_start(osla_segment *segment, osla_line *line, void *message,
                                 size_t bytes);

/* Sends a message and records it in the trace as a put; osli_segment_line_left records the end of
 * the put, when the line's member `done` has counted the message. Local. Errors: MPI. */
osla_err osli_segment_line_send(osla_segment *segment, osla_line *line, void *message, size_t bytes,
                                osla_posted *sent);
void osli_segment_line_left(osla_segment *segment, const osla_posted *sent);

/* Sets whether progress steps update the line's count of complete messages, `done`. After the
 * opening of the line they do. Does nothing for NULL. Local. */
void osli_segment_line_watch(osla_segment *segment, osla_line *line, bool watched);

/* Closes this rank's end of a message line, and sets *line to NULL. Does nothing if *line is
 * NULL. */
void osli_segment_line_close(osla_segment *segment, osla_line **line);

/* ---- messages that consist of heads and bulk data ---- */

/* In a simulation that only models work (src/blas/work.h) bulk data are neither stored nor moved,
 * and their memory is never touched. On a real machine osli_segment_store is a copy. */

/* Declares that each rank's data area from `offset` on holds only messages, which that rank writes
 * by osli_segment_store, and other ranks get once. Local; before the first store. */
void osli_segment_messages(osla_segment *segment, size_t offset);

/* Copies bytes to this rank's data area. The same bytes may be stored again only after the other
 * rank has got them. Local, thread-safe. */
void osli_segment_store(osla_segment *segment, size_t offset, const void *bytes, size_t count);

#endif
