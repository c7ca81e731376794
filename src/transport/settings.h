/* The environment variables that control a transport (layer 0, internal). */
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
  /* OSLA_FAKE_NODES: number of nodes that the ranks of the job are distributed over; 0 if unset */
  int fake_nodes;
  /* OSLA_EXPECT_NODES: required number of nodes of a transport on all ranks of the job; 0 if any
   * number is accepted */
  int expect_nodes;
  /* OSLA_EXPECT_RANKS: required number of ranks of a transport on all ranks of the job; 0 if any
   * number is accepted */
  int expect_ranks;
  double time_limit;   /* OSLA_PATIENCE: time limit of waits in seconds; 0 if unlimited */
  bool no_window_info; /* OSLA_WINDOW_INFO=off: windows get no info keys, see window_mpi.c */
  int sparse_from;     /* OSLA_SPARSE_FROM: number of ranks, see exchange.h; 0 for the default */
  bool own_cores;      /* OSLA_OWN_CORES=on: each rank is assumed to have a core of its own */
  bool verify;         /* OSLA_VERIFY=on: expensive checks are made */
  /* OSLA_MESSAGES: whether puts with notify travel as messages, see eager_mpi.h */
  osla_messages messages;
  int small_bytes; /* largest number of data bytes in the message of a notify */
} osla_settings;

/* Reads the settings. All ranks must have equal settings and the same build of this library,
 * because otherwise their waits do not match. Collective over comm. Errors, on all ranks together:
 * ARG (with the variable and its values), STATE (different builds), MPI. */
osla_err osli_settings_read(MPI_Comm comm, osla_settings *out);

/* Reads an environment variable that must be "on" or "off". Sets *on to default_value if the
 * variable is unset or empty, and to false after an error. Local. Errors: ARG. */
osla_err osli_settings_switch(const char *name, bool default_value, bool *on);

#endif
