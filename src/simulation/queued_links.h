/* Transfers through links that serve one after the other (floor 0, internal to the transport
 * `sim`).
 *
 * The simulator's own links share their bandwidth among all that pass, and whoever begins or ends
 * changes the shares of others: right, but for thousands of transfers at once on a torus each takes
 * milliseconds of real time. Here a link sends what came first, at its full rate; what comes
 * meanwhile waits in its queue, which has no end. A transfer goes in parts, so that others come in
 * between, as packets do; the head of a part goes on while its tail still comes (cut-through), and
 * transfers of a few packets do not wait. doc/simulation.md compares the two.
 */
#ifndef OSLA_QUEUED_LINKS_H
#define OSLA_QUEUED_LINKS_H

#include "src/simulation/simulator.h"

#ifdef __cplusplus
extern "C" {
#endif

/* As osli_sim_transfer. */
void osli_sim_transfer_queued(sg_host_t from, sg_host_t to, size_t bytes, double delay,
                              osli_sim_done *done, void *arg);

#ifdef __cplusplus
}
#endif
#endif
