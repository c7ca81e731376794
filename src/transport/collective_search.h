/* Ranks that arrive at a meeting, and ranks that look for it (internal). */
#ifndef MEET_FIND_H
#define MEET_FIND_H

#include "src/transport/transport_ops.h"

/* A message to the rank after mine, one from the rank before. */
typedef struct entry_announcement {
  osla_transport *t;
  MPI_Request requests[2];
  int code;
} entry_announcement;

/* Tells the rank after mine that I am at the meeting of this transport; a rank that looks for the
 * meeting finds it by that. Local. Errors: MPI. */
osla_err osli_entry_announce(osla_transport *t, entry_announcement *arrival);
osla_err osli_entry_wait(entry_announcement *arrival); /* waits for both */

/* A transport that osla_meet_find_any looks at, until it is forgotten; one that was never
 * remembered may be. Simulated ranks share a process, and so the list: each takes no longer for
 * more of them. Local, thread-safe. */
void osli_transport_register(osla_transport *t);
void osli_transport_unregister(osla_transport *t);

/* Takes what is left of searches; before the communicator is freed. Local. */
void osli_search_discard_messages(osla_transport *t);

#endif
