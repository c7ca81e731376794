/* Inboxes: receive messages from other nodes and add them to H (internal). */
#ifndef OSLA_HESSIAN_INBOX_H
#define OSLA_HESSIAN_INBOX_H

#include "kernels/hessian/hessian_wire.h"

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
