/* Reading and sending what is under way (private to forests). */
#ifndef FOREST_SERVE_H
#define FOREST_SERVE_H

#include "kernels/forest/forest.h"

/* As much as can be done now of all forests of the transport. Local; part of every wait. */
void osli_forests_serve(forest_pool *pool);

/* The same, and if this transfer is over here, and with its readers, it has ended. Local. */
bool osli_forest_finish(osla_forest *f, uint64_t number, bool with_readers);

/* Have all neighbours read it that read from me, so that they look at my call no more? Local. */
bool osli_forest_readers_done(osla_forest *f, uint64_t number);

/* Have those read it that read my values in place? Local. */
bool osli_forest_lent_is_back(osla_forest *f, uint64_t number);

/* May another transfer begin? Errors: STATE. Local. */
osla_err osli_forest_check_place(osla_forest *f);

/* It is served no more. Local. */
void osli_forest_deactivate(osla_forest *f);

/* By who is in the pool: */
bool osli_forest_is_over(osla_forest *f, uint64_t number, bool with_readers);
void osli_forest_set_ended(osla_forest *f, uint64_t number);
void osli_forest_serve(osla_forest *f);
void osli_forest_activate(osla_forest *f);
void osli_forest_watch(osla_forest *f, bool watched); /* what comes from other nodes */

/* All parts of a link that have come, into `to`. false: some are still to come. */
bool osli_forest_read_ring(osla_forest *f, uint64_t number, const forest_transfer *x,
                           forest_link *l, vertex_list to, osla_forest_combine combine,
                           forest_cursor *at);

/* Has the values of a transfer that is read next, and that neighbours have begun, brought to this
 * core's caches while it does something else. */
void osli_forest_fetch_nearer(osla_forest *f, uint64_t number);

#endif
