/* Regions that are kept for the next one to be made (floor 0, internal to the MPI backend).
 *
 * Factorisations and solves make a few small regions each time they are called. To map memory on
 * the node takes eight collective calls, and a window across nodes spins; one that is kept takes
 * one call and a barrier. Kept are the latest 16 regions and, on the rank with most, at most
 * 128 MiB or 1/32 of its share of the host's memory.
 */
#ifndef OSLA_REGION_CACHE_H
#define OSLA_REGION_CACHE_H

#include "src/transport/mpi/region_mpi.h"

/* *out := a kept region with room for `bytes` on each rank, those zeroed; or NULL.
 *   largest [out] the largest `bytes` of all ranks
 * Collective. Errors: MPI. */
osla_err osli_region_cache_take(osla_transport *t, size_t bytes, size_t *largest,
                                osla_region **out);

/* Keeps a region that nobody uses any more. False: it does not fit. Collective; a barrier if true
 * and there are several nodes. */
bool osli_region_cache_keep(osla_region *region);

/* Frees what is kept; were there any? Collective. */
bool osli_region_cache_clear(osla_transport *t);

#endif
