/* Combination of the records of a process column by dissemination: every rank gets the result
 * (internal).
 *
 * The algorithm is dissemination (D. Hensgen, R. Finkel, U. Manber, "Two Algorithms for Barrier
 * Synchronization", Int. J. Parallel Programming 17, 1988) with several partners in each round (T.
 * Hoefler, T. Mehlan, F. Mietke, W. Rehm, "Fast Barrier Synchronization for InfiniBand", IPDPS
 * 2006). The partners of a round are served by several ranks of one node, which form a team. The
 * members of a team first combine their records. In each round every member then exchanges with one
 * other team, and the members combine again. With g members the number of teams whose records are
 * known grows by the factor g + 1 in each round: 16 nodes of four ranks need two rounds between
 * nodes, not four. */
#ifndef OSLA_LU_DISSEMINATE_H
#define OSLA_LU_DISSEMINATE_H

#include "kernels/lu/lu_column.h"

/* Divides the process column into teams and stores them in f->teams. Local. */
void osli_lu_teams_choose(lu *f);

/* Combines the records of all ranks of the process column into `record`. A record may be added more
 * than once, so `add` must be idempotent. Local, but all ranks of the process column must call
 * it. */
osla_err osli_lu_disseminate(lu *f, const lu_step *s, void *record, size_t bytes, lu_add *add);
/* Most slots of a set that osli_lu_disseminate needs with p process rows. */
int osli_lu_dissemination_slots(int p);

#endif
