/* The time limit on waits, OSLA_PATIENCE (layer 0, internal).
 *
 * By default there is no limit: a wait for a rank that has died lasts until MPI notices, which over
 * a network may never happen. With a limit, a rank ends the job if it has waited for that time and
 * none of its network transfers has completed meanwhile. The limit cannot distinguish a dead rank
 * from a computing one, so it must exceed the longest computation between two calls of the library,
 * and the time of a 1 GiB transfer. */
#ifndef OSLA_TIME_LIMIT_H
#define OSLA_TIME_LIMIT_H

#include "src/transport/transport_ops.h"

/* Timer of one wait of a thread. */
typedef struct wait_timer {
  double since;
  uint64_t finished; /* number of completed transfers at time `since` */
} wait_timer;

wait_timer osli_time_limit_start(const osla_transport *t);

/* Ends the job with one line of text if the wait has exceeded the time limit. Restarts the timer if
 * a transfer has completed. Local. */
void osli_time_limit_check(osla_transport *t, wait_timer *p);

/* Records in *call that a blocking call of MPI or OpenSHMEM begins (name), or has returned (NULL).
 * `call` is &t->locked if the caller holds the transport's mutex, else &t->collective. If there is
 * a time limit, a thread checks both records. */
void osli_time_limit_blocked(osla_blocked_call *call, const char *name);

/* Starts and stops the thread that checks blocking calls. Stopping a thread that was not
 * started does nothing. Local. Errors: MEM. */
osla_err osli_time_limit_watch(osla_transport *t);
void osli_time_limit_unwatch(osla_transport *t);

#endif
