/* The best of all records of a process column, which every rank of it gets (internal).
 *
 * Dissemination (D. Hensgen, R. Finkel, U. Manber, "Two Algorithms for Barrier Synchronization",
 * Int. J. Parallel Programming 17, 1988) in n ways at once (T. Hoefler, T. Mehlan, F. Mietke,
 * W. Rehm, "Fast Barrier Synchronization for InfiniBand", IPDPS 2006), here by several ranks of a
 * node together: a team. Its members first read one another's records; then each of them hears from
 * another team, and they meet again. With g members a team knows g + 1 times as many teams after
 * each round: 16 nodes of four ranks need two rounds between nodes in place of four.
 */
#ifndef OSLA_LU_DISSEMINATE_H
#define OSLA_LU_DISSEMINATE_H

#include "kernels/lu/lu_column.h"

/* Fills f->teams. Local. */
void osli_lu_teams_choose(lu *f);

/* record := the combination of the records of all, where it does not matter if one is added twice.
 * Local, but all ranks of the column call it. */
osla_err osli_lu_disseminate(lu *f, const lu_step *s, void *record, size_t bytes, lu_add *add);
int osli_lu_dissemination_slots(int p); /* records of a set that it needs, at most */

#endif
