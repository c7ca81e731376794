/* Messages to other nodes, on the sending side (internal). */
#ifndef OSLA_HESSIAN_OUTBOX_H
#define OSLA_HESSIAN_OUTBOX_H

#include "kernels/hessian/hessian_update.h"
#include "kernels/hessian/hessian_wire.h"

/* Creates the outboxes, after osli_wire_sizes and the segment. Errors: MEM. */
osla_err osli_outboxes_create(osla_hessian *h);
void osli_outboxes_free(osla_hessian *h);
size_t osli_outboxes_bytes(const wire *w);

/* Progress step: notifies nodes that new messages wait for them. */
osla_err osli_outboxes_announce(osla_hessian *h);
/* Waits for notifications in flight, after the progress hook was removed. */
osla_err osli_outboxes_stop(osla_hessian *h);

/* Returns the number of bytes written for a node so far. Local; no update may be running. */
uint64_t osli_outbox_written(const osla_hessian *h, int node);

/* Encloses the messages of a part for one owner: they follow one another in the ring, and messages
 * of other threads for that owner's node wait. `bytes` estimates all of them; begin waits until
 * there is room. */
void osli_outbox_begin(osla_hessian *h, int owner, size_t bytes);
void osli_outbox_end(osla_hessian *h, int owner);

/* Waits for room, writes one message and returns its bytes. p = NULL: flags only. u: NULL for the
 * values of p, or the update whose columns of G are sent, from row r0 and column c0 of the splits.
 */
size_t osli_outbox_put(osla_hessian *h, int owner, const piece *p, uint64_t stripes, uint32_t flags,
                       const update *u, int64_t r0, int64_t c0);

/* osli_outbox_columns: number of columns of a piece, from c on, that fit one message together with
 * all their rows. osli_outbox_rows: number of rows of which one column with its row list takes at
 * most half a message. */
int64_t osli_outbox_columns(const osla_hessian *h, const piece *p, int64_t c);
int64_t osli_outbox_rows(const osla_hessian *h);

#endif
