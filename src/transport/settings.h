/* The environment variables that steer a transport (floor 0, internal). */
#ifndef OSLA_SETTINGS_H
#define OSLA_SETTINGS_H

#include <mpi.h>

#include "osla_transport.h"
#include <stdbool.h>

typedef enum osla_messages {
  OSLA_MESSAGES_AUTO,
  OSLA_MESSAGES_ON,
  OSLA_MESSAGES_OFF
} osla_messages;

typedef struct osla_settings {
  int fake_nodes; /* OSLA_FAKE_NODES: ranks of the job are distributed over so many nodes; 0: not */
  int expect_nodes;    /* OSLA_EXPECT_NODES: a transport on all ranks must find so many; 0: any */
  int expect_ranks;    /* OSLA_EXPECT_RANKS: the same of ranks */
  double time_limit;   /* OSLA_PATIENCE: seconds; 0: waits have no limit */
  bool no_window_info; /* OSLA_WINDOW_INFO=off: windows get no info keys, see window_mpi.h */
  int sparse_from;     /* OSLA_SPARSE_FROM: ranks, see exchange.h; 0: as it is built */
  bool own_cores;      /* OSLA_OWN_CORES=on: ranks are taken to have a core each */
  bool verify;         /* OSLA_VERIFY=on: mistakes that take time to find are looked for */
  osla_messages messages; /* OSLA_MESSAGES, see eager_mpi.h */
  int small_bytes;        /* of data, at most */
} osla_settings;

/* Reads them. All ranks must have the same, and one build of this library: else the waits of some
 * would not fit those of others. Collective over comm. Errors, on all ranks together: ARG (with the
 * variable and its values), STATE (other builds), MPI. */
osla_err osli_settings_read(MPI_Comm comm, osla_settings *out);

/* Does node memory come from MPI_Win_allocate_shared, because the ranks of a node cannot map one
 * another's memory? Local. */
bool osli_transport_memory_by_mpi(const osla_transport *transport);

/* Does OSLA_VERIFY ask for it? Local. */
bool osli_transport_verifies(const osla_transport *transport);

/* The node of this process in a job of that many fake nodes: blocks of ranks of MPI_COMM_WORLD.
 * Local. Errors: MPI. */
osla_err osli_fake_node_of_process(int fake_nodes, int *node);

#endif
