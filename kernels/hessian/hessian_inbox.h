/* Messages from other nodes, the side of their owners (internal). */
#ifndef OSLA_HESSIAN_INBOX_H
#define OSLA_HESSIAN_INBOX_H

#include "kernels/hessian/hessian_wire.h"

/* After osli_wire_sizes and the segment. Errors: MEM. */
osla_err osli_inboxes_create(osla_hessian *h);
void osli_inboxes_free(osla_hessian *h);
size_t osli_inboxes_bytes(const wire *w);

/* By the hook: gets and adds what waits for this node. */
osla_err osli_inboxes_serve(osla_hessian *h);
/* Waits for what is under way; the hook is gone. */
osla_err osli_inboxes_stop(osla_hessian *h);

/* Waits until expected[origin] bytes that came through this gate have been added. Local. */
void osli_inboxes_wait_applied(osla_hessian *h, const uint64_t *expected);

#endif
