/* The node of each rank (layer 0, internal). osla_transport_node_of and its neighbours read it.
 *
 * If each node holds the same number of consecutive ranks (the last node may hold fewer), which is
 * usual, that number is enough. Otherwise there are two tables with an entry for each rank. */
#ifndef OSLA_NODE_MAP_H
#define OSLA_NODE_MAP_H

#include "osla_transport.h"

/* Sets node_comm and all fields of t about nodes. Nodes are numbered from 0 in the order of their
 * lowest ranks. Collective over t->comm.
 *   leader [out] lowest rank of this rank's node
 * Errors: MEM, ARG (as ops->split_hosts), MPI. */
osla_err osli_nodes_map(osla_transport *t, int *leader);

#endif
