/* Which rank is on which node (floor 0, internal; asked by osla_transport_node_of and the like).
 *
 * Where each node holds as many consecutive ranks (the last one may hold fewer), as launchers place
 * them, one number says it all: nothing is kept for each rank. Else there are two tables.
 */
#ifndef OSLA_NODE_MAP_H
#define OSLA_NODE_MAP_H

#include "osla_transport.h"

/* Finds the nodes and numbers them 0, 1, ... in the order of their lowest ranks: node_comm and all
 * of t's fields on nodes.
 *   leader [out] the lowest rank of mine
 * Collective over t->comm. Errors: MEM, ARG (as ops->split_hosts), MPI. */
osla_err osli_nodes_map(osla_transport *t, int *leader);

#endif
