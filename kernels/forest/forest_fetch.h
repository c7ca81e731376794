/* Reading, answering and adding of fetches (private to forests). All of it by who is in the pool.
 */
#ifndef FOREST_FETCH_H
#define FOREST_FETCH_H

#include "kernels/forest/forest.h"

/* The leaves' values of a link to my roots, and the answers to them. false: not all can be now. */
bool osli_forest_fetch_link(osla_forest *f, uint64_t number, forest_transfer *x, forest_link *l);

/* Of a fetch: the values before that come back to my leaves by rings. false: some are still to
 * come.
 */
bool osli_forest_read_answers(osla_forest *f, uint64_t number, forest_transfer *x);

#endif
