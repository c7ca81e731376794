/* Predicts the memory of an accumulator from the numbers of ranks and nodes. */
#include "kernels/hessian/hessian.h"
#include "kernels/hessian/hessian_inbox.h"
#include "kernels/hessian/hessian_outbox.h"
#include "kernels/hessian/hessian_wire.h"

uint64_t osla_hessian_memory(const osla_shape *s)
{
  int smallest = s->ranks - (s->nodes - 1) * s->per_node;
  int node_start[] = {0, s->per_node}; /* first rank of either node; this rank is on node 0 */
  wire w = {.ranks = s->ranks,
            .n_nodes = s->nodes,
            .node_start = node_start,
            .remote = s->ranks - smallest,
            .shape =
              osli_arrivals_shape(s->nodes > 1 ? (s->ranks - 1) / smallest + 1 : 0, ARRIVAL_FAN)};
  osla_hessian h = {.wire = &w, .options = osli_hessian_resolve(NULL)};
  osli_wire_sizes(&h, h.options.ring_bytes);
  return osla_segment_footprint(w.segment_bytes, 0, s->ranks) +
         ((uint64_t)s->ranks + (uint64_t)s->nodes + 1) * sizeof(int) + osli_outboxes_bytes(&w) +
         osli_inboxes_bytes(&w) + 2 * ((uint64_t)s->n + 1) * sizeof(double);
}
