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

/* Where leaves add to roots themselves (osla_forest_adds): LATER, since the owner has not begun;
 * DONE, with the answers; OTHERWISE, as other fetches go, since its roots are in no array. */
typedef enum forest_added { FOREST_ADD_LATER, FOREST_ADD_DONE, FOREST_ADD_OTHERWISE } forest_added;
forest_added osli_forest_add(osla_forest *f, uint64_t number, const forest_transfer *x,
                             const forest_link *l);

#endif
