/* Announces a rank at a collective call, and registers transports for the search of calls
 * (internal). */
#ifndef OSLA_COLLECTIVE_SEARCH_H
#define OSLA_COLLECTIVE_SEARCH_H

#include "src/transport/transport_ops.h"

/* An empty message to the next rank, and one from the previous rank. */
typedef struct entry_announcement {
  osla_transport *t;
  MPI_Request requests[2];
  int code;
} entry_announcement;

/* Announces to the next rank that this rank has entered a collective call on transport t. A
 * searching rank finds the call by this message. Local. Errors: MPI. */
osla_err osli_entry_announce(osla_transport *t, entry_announcement *arrival);
/* Waits for the messages to and from the neighbouring ranks. Errors: MPI. */
osla_err osli_entry_wait(entry_announcement *arrival);

/* Adds a transport to those that osla_meet_find_any searches, or removes it; removing one that was
 * never added does nothing. Both take constant time, because all simulated ranks share one list of
 * transports. Local, thread-safe. */
void osli_transport_register(osla_transport *t);
void osli_transport_unregister(osla_transport *t);

/* Receives and drops the remaining messages of searches, before the communicator is freed. Local.
 */
void osli_search_discard_messages(osla_transport *t);

#endif
