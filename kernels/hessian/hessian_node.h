/* Sums of a node, and where updates are added on the node (internal). */
#ifndef OSLA_HESSIAN_NODE_H
#define OSLA_HESSIAN_NODE_H

#include "osla_hessian.h"
#include "osla_stripes.h"

/* Where updates for an owner are added on this node; local = NULL: they are sent. */
typedef struct near_part {
  unsigned char *local; /* the owner's local array, or the node's sum for it */
  int64_t lld;
  osla_stripes *lock;
  _Atomic uint64_t *touched; /* NULL, or: stripes that are added to must be noted here */
  int host;                  /* of the node's sum: who sends it */
} near_part;

/* Sums of a node, where options.node_sums asks for them. */
osla_err osli_node_sums_check(const osla_hessian_options *options);
osla_err osli_node_sums_bytes(osla_hessian *h, size_t *bytes); /* that this rank hosts */
osla_err osli_node_sums_create(osla_hessian *h);               /* collective */
void osli_node_sums_destroy(osla_hessian *h);                  /* collective */
near_part osli_near_part(const osla_hessian *h, int owner);
/* Hands all sums to the outboxes, and empties them. Collective; no update may be under way. */
osla_err osli_node_sums_send(osla_hessian *h);

#endif
