/* The limit on waits, OSLA_PATIENCE (floor 0, internal).
 *
 * Off by default: then a wait for a rank that has gone lasts until MPI itself notices, which over a
 * network may be never. With it, whoever has waited so long without seeing anything finished that
 * crosses the network ends the job. It cannot tell a rank that is gone from one that computes: it
 * must be longer than the longest work between two calls of the library, and than a transfer of
 * 1 GiB.
 */
#ifndef OSLA_PATIENCE_H
#define OSLA_PATIENCE_H

#include "src/transport/transport_ops.h"

/* A wait of this thread. */
typedef struct patience {
  double since;
  uint64_t finished; /* transfers, then */
} patience;

patience osli_patience_start(const osla_transport *t);

/* Ends the job with one line if the limit is reached; begins anew if something was seen. Local. */
void osli_patience_check(osla_transport *t, patience *p);

/* A blocking call of MPI begins; it is over (NULL). `call` is the transport's `locked` under its
 * mutex, else its `collective`. While there is a limit a thread watches over both. */
void osli_patience_blocked(osla_blocked_call *call, const char *name);

/* Starts and stops that thread; to stop one that was not started does nothing. Local. Errors: MEM.
 */
osla_err osli_patience_watch(osla_transport *t);
void osli_patience_unwatch(osla_transport *t);

#endif
