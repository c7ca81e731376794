/* Node sums, and the memory on this node to which updates are added (internal). */
#ifndef OSLA_HESSIAN_NODE_H
#define OSLA_HESSIAN_NODE_H

#include "kernels/hessian/hessian_array.h"
#include "osla_hessian.h"
#include "osla_stripes.h"

/* Memory on this node to which updates for one owner are added. If array.at is NULL there is no
 * such memory, and updates are sent. */
typedef struct near_part {
  /* part of the owner, or the array with this node's sum of updates for the owner */
  owner_array array;
  osla_stripes *lock;
  /* mask in which the touched stripes are recorded; NULL if they are not recorded */
  _Atomic uint64_t *touched;
  int host; /* rank that sends the node's sum to the owner; unused if the owner is on this node */
} near_part;

/* Node sums. _create, _destroy and _send are collective, and do nothing if options.node_sums is
 * false. */
osla_err osli_node_sums_check(const osla_hessian_options *options);
/* size of the sums in this rank's memory */
osla_err osli_node_sums_bytes(osla_hessian *h, size_t *bytes);
osla_err osli_node_sums_create(osla_hessian *h);
void osli_node_sums_destroy(osla_hessian *h);
near_part osli_near_part(const osla_hessian *h, int owner);
/* Sends all node sums to their owners and clears them. Collective; no update may be running. */
osla_err osli_node_sums_send(osla_hessian *h);

#endif
