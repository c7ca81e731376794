/* Messages to other nodes, the origin's side (internal). */
#ifndef OSLA_HESSIAN_OUTBOX_H
#define OSLA_HESSIAN_OUTBOX_H

#include "hessian_fill.h"
#include "osla_segment.h"
#include "osla_stripes.h"

#include <pthread.h>
#include <stdatomic.h>

/* Notify slots: bytes that wait for the target; bytes of it that were taken; scratch was freed. */
enum { NOTIFY_READY, NOTIFY_TAKEN, NOTIFY_ROOM, NOTIFY_PURPOSES };

/* What waits here for a rank of another node: a ring in my segment that the owner reads. Numbers
 * are bytes since the beginning. */
typedef struct outbox {
  pthread_mutex_t mutex;  /* one sender at a time, over a whole chain */
  unsigned char *ring;    /* NULL: the rank is on my node */
  uint64_t written;       /* under the mutex */
  uint64_t chain;         /* where the part that is written begins; under the mutex */
  _Atomic uint64_t ready; /* of them, those that the owner may take */
  uint64_t told;          /* of these, those that the owner was told of; by the hook */
  osla_posted notice;     /* the telling; by the hook */
} outbox;

/* The origin's side of the wire. */
osla_stripes *osla_hessian_lock(const osla_hessian *h, int rank); /* NULL off the node */
void osla_wire_sizes(osla_hessian *h, int remote, size_t bytes);
size_t osla_wire_segment_bytes(const osla_hessian *h);
size_t osla_wire_table_bytes(const osla_hessian *h); /* outboxes and inboxes */
size_t osla_wire_ring_offset(const osla_hessian *h, int holder, int reader);
osla_err osla_outboxes_create(osla_hessian *h);
void osla_outboxes_free(osla_hessian *h);
osla_err osla_outbox_tell(osla_hessian *h,
                          int target); /* by the hook: tells the owner what waits */

/* Between begin and end the messages of a part follow one another; other threads' wait. `bytes` is
 * an estimate of them all: begin waits until there is room. */
void osla_outbox_begin(osla_hessian *h, int target, size_t bytes);
void osla_outbox_end(osla_hessian *h, int target);

/* Waits for room, then writes a message. p NULL: flags alone. u: ship columns of G, at r0, c0 of
 * the splits, instead of p's values. Returns its bytes. */
size_t osla_outbox_put(osla_hessian *h, int target, const piece *p, uint64_t stripes,
                       uint32_t flags, const update *u, int64_t r0, int64_t c0);

/* Columns of a piece from c on that go into one message, if all their rows do; rows of which one
 * column with its list takes at most half a message. */
int64_t osla_outbox_columns(const osla_hessian *h, const piece *p, int64_t c);
int64_t osla_outbox_rows(const osla_hessian *h);

#endif
