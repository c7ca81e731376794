/* Node sums, and the memory on this node to which updates are added (internal). */
#ifndef OSLA_HESSIAN_NODE_H
#define OSLA_HESSIAN_NODE_H

#include "osla_hessian.h"
#include "osla_stripes.h"

/* Memory on this node to which updates for one owner are added; local = NULL: there is none,
 * updates are sent. */
typedef struct near_part {
  unsigned char *local; /* the owner's local array, or the node's sum for this owner */
  int64_t lld;
  osla_stripes *lock;
  _Atomic uint64_t *touched; /* NULL, or the mask in which touched stripes are recorded */
  int host;                  /* rank that sends the node's sum; unused for an owner on this node */
} near_part;

/* Node sums. Create, destroy and send are collective, and do nothing without options.node_sums. */
osla_err osli_node_sums_check(const osla_hessian_options *options);
osla_err osli_node_sums_bytes(osla_hessian *h, size_t *bytes); /* sums that this rank hosts */
osla_err osli_node_sums_create(osla_hessian *h);
void osli_node_sums_destroy(osla_hessian *h);
near_part osli_near_part(const osla_hessian *h, int owner);
/* Sends all sums to their owners and clears them. Collective; no update may be running. */
osla_err osli_node_sums_send(osla_hessian *h);

#endif
