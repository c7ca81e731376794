/* Messages between nodes (internal). Outboxes are on the sending side, inboxes on the receiving
 * side. */
#ifndef OSLA_HESSIAN_BOXES_H
#define OSLA_HESSIAN_BOXES_H

#include "kernels/hessian/hessian_update.h"
#include "kernels/hessian/hessian_wire.h"

/* Creates the outboxes. Must be called after osli_wire_sizes and after the segment was created.
 * Errors: MEM. */
osla_err osli_outboxes_create(osla_hessian *h);
void osli_outboxes_free(osla_hessian *h);
size_t osli_outboxes_bytes(const wire *w);

/* Progress step: notifies nodes for which new messages wait. */
osla_err osli_outboxes_announce(osla_hessian *h);
/* Waits for notifications in flight. Called after the progress hook was removed. */
osla_err osli_outboxes_stop(osla_hessian *h);

/* Returns the number of bytes written so far for a node. Local; no update may be running. */
uint64_t osli_outbox_written(const osla_hessian *h, int node);

/* _begin and _end enclose the messages of a part for one owner. These messages follow one another
 * in the ring, and messages of other threads for the owner's node wait. `bytes`: estimated size of
 * all messages of the part; _begin waits until the ring has room for these bytes. */
void osli_outbox_begin(osla_hessian *h, int owner, size_t bytes);
void osli_outbox_end(osla_hessian *h, int owner);

/* Waits for room in the ring, writes one message and returns its bytes. If p is NULL, the message
 * has only flags. If u is NULL, the values of p are sent; otherwise the message has columns of G of
 * the update u, which start at positions r0 and c0 of the sorted index lists. */
size_t osli_outbox_put(osla_hessian *h, int owner, const piece *p, uint64_t stripes, uint32_t flags,
                       const update *u, int64_t r0, int64_t c0);

/* Returns the number of columns of a piece, starting with column c, that fit into one message
 * together with all their rows. */
int64_t osli_outbox_columns(const osla_hessian *h, const piece *p, int64_t c);
/* Returns the largest number of rows for which one column and the row list take at most half a
 * message. */
int64_t osli_outbox_rows(const osla_hessian *h);

/* ---- hessian_inbox.c ---- */

/* Creates the inboxes. Must be called after osli_wire_sizes and after the segment was created.
 * Errors: MEM. */
osla_err osli_inboxes_create(osla_hessian *h);
void osli_inboxes_free(osla_hessian *h);
size_t osli_inboxes_bytes(const wire *w);

/* Progress step: fetches messages that wait for this node, and adds them. */
osla_err osli_inboxes_serve(osla_hessian *h);
/* Waits for transfers in flight. Called after the progress hook was removed. */
osla_err osli_inboxes_stop(osla_hessian *h);

/* Waits until, for each origin, expected[origin] bytes that were announced at this rank's gate have
 * been added. Local. */
void osli_inboxes_wait_applied(osla_hessian *h, const uint64_t *expected);

#endif
