/* Names of vertices, (rank, index), which forests carry to where the edges of other forests begin
 * (private to forests). */
#ifndef FOREST_NAMES_H
#define FOREST_NAMES_H

#include "kernels/forest/forest.h"

/* A vertex of some rank; rank -1: none. */
typedef struct vertex_name {
  int64_t rank, index;
} vertex_name;

/* n names, none yet; the caller frees them. Collective. Errors, on all ranks together: MEM. */
osla_err osli_forest_make_names(const osla_forest *f, int64_t n, vertex_name **out);

/* A transfer of its own may begin. Collective. Errors, on all ranks together: STATE. */
osla_err osli_forest_names_check(osla_forest *f);

/* names[leaf] := the leaf's root. Local. */
void osli_forest_name_roots(const osla_forest *f, vertex_name *names);

/* names[i] := my own vertex first + i. Local. */
void osli_forest_name_mine(const osla_forest *f, vertex_name *names, int64_t n, int64_t first);

/* A forest whose leaf i is joined to names[i], where that is somebody. Collective. Errors: as
 * osla_forest_create. */
osla_err osli_forest_join_names(osla_transport *t, int64_t n_roots, const vertex_name *names,
                                int64_t n, osla_forest **out);

/* names[leaf], or `back` names[root] := what is named at the other end of its edge. Collective. */
osla_err osli_forest_bring_names(osla_forest *f, bool back, const vertex_name *named,
                                 vertex_name *names);

#endif
