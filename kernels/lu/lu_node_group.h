/* Groups of ranks of one node in a process column (internal).
 *
 * A node group consists of ranks of one node that have consecutive process rows. Its first rank is
 * the leader. Other nodes send data for the group only once, to the memory of the leader, and the
 * leader notifies the other members when the data have arrived. Ranks of one node that belong to
 * different groups, because process rows of another node lie between them, exchange data with one
 * another directly. */
#ifndef OSLA_LU_NODE_GROUP_H
#define OSLA_LU_NODE_GROUP_H

#include "kernels/lu/lu_state.h"

typedef struct lu_range {
  int first; /* first process row of the range */
  int end;   /* 1 + the last process row of the range */
} lu_range;

/* Chooses the leader of each process row and stores it in f->leaders. Local. */
void osli_lu_leaders_choose(lu *f);

/* Process rows of the group of `leader`. */
lu_range osli_lu_node_group(const lu *f, int leader);

/* Notifies the other members of the group of which this rank is the leader. `word` is 2 e - 1 when
 * the rows of exchange e from other nodes have arrived, and 2 e when all of U of exchange e has
 * arrived (only if the whole process column shares the work on U). Does nothing if the group is the
 * whole process column. */
osla_err osli_lu_group_notify(lu *f, uint64_t word);

/* True if the notify slot `purpose` of process row `prow` has reached `word`. With `wait`, waits
 * until it has. */
bool osli_lu_is_notified(lu *f, int prow, int purpose, uint64_t word, bool wait);

static inline lu_range one_process_row(int prow)
{
  return (lu_range){prow, prow + 1};
}

static inline int my_leader(const lu *f)
{
  return f->leaders[f->v.prow];
}

static inline bool is_leader(const lu *f, int prow)
{
  return f->leaders[prow] == prow;
}

static inline bool is_in_my_group(const lu *f, int prow)
{
  return f->leaders[prow] == my_leader(f);
}

/* Address of the store of process row `prow`, or NULL if that rank is on another node. */
static inline unsigned char *store_of(const lu *f, int prow)
{
  return osla_segment_peer(f->store, rank_at(&f->v, prow, f->v.pcol));
}

#endif
