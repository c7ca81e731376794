/* Transfers over links that serve one transfer after the other (layer 0, internal to the transport
 * `sim`).
 *
 * SimGrid's own links share their bandwidth among all transfers, so each start or end of a transfer
 * changes the rates of others. That is accurate, but with thousands of transfers at once on a torus
 * each transfer costs milliseconds of real time. Here a link sends transfers in their order of
 * arrival, each at the full rate, from a queue without limit. A transfer is cut into parts, so that
 * transfers interleave as packets do. The head of a part moves on before its tail has arrived
 * (cut-through). Transfers of a few packets do not queue. doc/simulation.md compares the two
 * models.
 */
#ifndef OSLA_QUEUED_LINKS_H
#define OSLA_QUEUED_LINKS_H

#include "src/simulation/simulator.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Starts a transfer over queued links; arguments as in osli_sim_transfer. */
void osli_sim_transfer_queued(sg_host_t from, sg_host_t to, size_t bytes, double delay,
                              osli_sim_done *done, void *arg);

#ifdef __cplusplus
}
#endif
#endif
