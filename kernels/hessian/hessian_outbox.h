/* Messages to other nodes, the origin's side (internal). */
#ifndef OSLA_HESSIAN_OUTBOX_H
#define OSLA_HESSIAN_OUTBOX_H

#include "kernels/hessian/hessian_update.h"
#include "kernels/hessian/hessian_wire.h"

/* After osli_wire_sizes and the segment. Errors: MEM. */
osla_err osli_outboxes_create(osla_hessian *h);
void osli_outboxes_free(osla_hessian *h);
size_t osli_outboxes_bytes(const wire *w);

/* By the hook: notifies the nodes that have something new to hear. */
osla_err osli_outboxes_announce(osla_hessian *h);
/* The same at the end, when there is no hook: waits for what is under way. */
osla_err osli_outboxes_stop(osla_hessian *h);

/* Bytes written for a node so far. Local; no update may be under way. */
uint64_t osli_outbox_written(const osla_hessian *h, int node);

/* Between begin and end the messages of a part for an owner follow one another; those of other
 * threads for that owner's node wait. `bytes` is an estimate of them all: begin waits until there
 * is room. */
void osli_outbox_begin(osla_hessian *h, int owner, size_t bytes);
void osli_outbox_end(osla_hessian *h, int owner);

/* Waits for room, then writes a message. p NULL: flags alone. u: ship columns of G, at r0, c0 of
 * the splits, instead of p's values. Returns its bytes. */
size_t osli_outbox_put(osla_hessian *h, int owner, const piece *p, uint64_t stripes, uint32_t flags,
                       const update *u, int64_t r0, int64_t c0);

/* Columns of a piece from c on that go into one message, if all their rows do; rows of which one
 * column with its list takes at most half a message. */
int64_t osli_outbox_columns(const osla_hessian *h, const piece *p, int64_t c);
int64_t osli_outbox_rows(const osla_hessian *h);

#endif
