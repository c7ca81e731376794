/* Ranks that arrive at a meeting, and ranks that look for it (internal). */
#ifndef MEET_FIND_H
#define MEET_FIND_H

#include "src/transport/transport_ops.h"

/* A message to the rank after mine, one from the rank before. */
typedef struct meet_arrival {
  osla_transport *t;
  MPI_Request requests[2];
  int code;
} meet_arrival;

/* Tells the rank after mine that I am at the meeting of this transport; a rank that looks for the
 * meeting finds it by that. Local. Errors: MPI. */
osla_err osli_meet_arrive(osla_transport *t, meet_arrival *arrival);
osla_err osli_meet_arrived(meet_arrival *arrival); /* waits for both */

/* A transport that osla_meet_find_any looks at, until it is forgotten; one that was never
 * remembered may be. Simulated ranks share a process, and so the list: each takes no longer for
 * more of them. Local, thread-safe. */
void osli_meet_remember(osla_transport *t);
void osli_meet_forget(osla_transport *t);

/* Takes what is left of searches; before the communicator is freed. Local. */
void osli_meet_drain(osla_transport *t);

#endif
