/* Neighbours in a process column (internal).
 *
 * Mates are ranks of one node that have consecutive process rows. What other nodes send to all of
 * them goes to the first, their leader, which tells the others when all is there: one message in
 * place of some. Other neighbours, whose process rows lie beyond those of another node, hear and
 * read one another directly.
 */
#ifndef OSLA_LU_NODE_GROUP_H
#define OSLA_LU_NODE_GROUP_H

#include "kernels/lu/lu_state.h"

typedef struct lu_range {
  int first, end; /* process rows */
} lu_range;

/* Fills f->leaders. Local. */
void osli_lu_leaders_choose(lu *f);

/* A leader and its mates. */
lu_range osli_lu_node_group(const lu *f, int leader);

/* To all mates of mine, of which I am the leader: exchange e's rows of other nodes are there
 * (2 e - 1), or all of its U is (2 e; where all process rows share its work). None is told where
 * all process rows are mates. */
osla_err osli_lu_group_notify(lu *f, uint64_t word);

/* Has a word of a process row come? If it must, waits for it. */
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

/* The store of a process row's rank; NULL: on another node. */
static inline unsigned char *store_of(const lu *f, int prow)
{
  return osla_segment_peer(f->store, rank_at(&f->v, prow, f->v.pcol));
}

#endif
