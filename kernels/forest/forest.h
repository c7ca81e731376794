/* A forest and its transfers under way (private to forests).
 *
 * Two ranks that are joined have a link: the edges from leaves of one to roots of the other. Each
 * side knows its own vertices of them, in the order of the leaves' list. On a node the two lists of
 * a link lie in shared memory, where the leaves' rank made them, and both read them there.
 *
 * A rank's transfers of a forest are numbered; each is read and sent in the order of the numbers.
 * Reading: a rank takes the values that come to it, from one link after the other, and then says so
 * by its word `read`. From a neighbour whose values lie in an array it loads them in place once the
 * neighbour's call, one of CALLS, has the transfer's number. All else comes in parts through the
 * link's ring (forest_ring.h), and so do small values that lie far apart. A transfer is over here
 * when it has been read and sent here, and read by all who read from here in place.
 *
 * Nobody waits in a circle: ranks read and send their links in ascending order of the other ranks;
 * whoever waits for a lower one waits, in the end, for somebody who does not.
 */
#ifndef FOREST_H
#define FOREST_H

#include "kernels/forest/forest_block.h"
#include "kernels/forest/forest_pool.h"
#include "kernels/forest/forest_ring.h"
#include "kernels/forest/forest_units.h"

#include <stdatomic.h>
#include <stddef.h>

enum { CALLS = 8, LINE = 64 }; /* CALLS: a power of two, and the most that are under way */

typedef enum forest_kind { FOREST_BCAST, FOREST_REDUCE, FOREST_FETCH, FOREST_KINDS } forest_kind;

/* Where a rank's values lie; array < 0: in none. */
typedef struct call_values {
  int64_t array, offset, stride;
} call_values;

/* Of a transfer: values that are read from it; of a fetch: that are written to it. */
typedef struct call_places {
  call_values values, before;
} call_places;

/* What a rank says of a transfer to its neighbours, in its part of the pool. The calls of two
 * transfers are two lines apart: where they follow one another, a fetch of one edge takes a seventh
 * longer (results/2026-11-25-star-forests-5). */
typedef struct forest_call {
  _Atomic uint64_t number;    /* the rest is of this transfer */
  uint64_t what;              /* forest_head */
  call_values values, before; /* that are read from it; of a fetch: that are written to it */
  unsigned char apart[LINE];
} forest_call;
_Static_assert(offsetof(forest_call, apart) == LINE, "what is read of a call is a line");

typedef struct forest_control {
  _Alignas(LINE) _Atomic uint64_t read; /* all transfers up to this one */
  struct {
    _Alignas(LINE) forest_call call;
  } of[CALLS];
} forest_control;

/* My side of the edges between me and a rank. */
typedef struct forest_link {
  int rank;
  bool near, self;
  bool thin_mine,
    thin_theirs; /* of a near one: such vertices lie in lines of memory almost alone */
  int64_t edges;
  int64_t low_root, high_root; /* of those that have edges of the link */
  const uint32_t *mine,
    *theirs; /* [edges] indices of vertices; theirs: where the roots are others' or near */
  int64_t mine_first, theirs_first; /* where a list ascends by 1, which is NULL then; else 0 */
  const vertex_block *mine_block, *theirs_block; /* and where it is a block, of another node */
  forest_control *control;                       /* of a near one */
  _Atomic uint64_t seen;                         /* what it had read when I looked last */
  uint64_t early;        /* the transfer that was read from it out of turn: */
  int64_t early_part;    /* so many parts */
  bool early_done;       /* or all */
  forest_ring ring;
  vertex_block block[2]; /* what mine_block, theirs_block point to */
} forest_link;

typedef struct forest_links {
  int n;
  forest_link *of; /* [n] ascending by rank */
  int *ranks;      /* [n] */
} forest_links;

/* Where a transfer stands on this rank: in the links that it reads, or sends. */
typedef struct forest_cursor {
  int link;
  int64_t part;
} forest_cursor;

typedef struct forest_transfer {
  forest_kind kind;
  osla_forest_combine combine;
  osla_unit_type type;
  uint64_t what; /* forest_head */
  int64_t count, stride;
  unsigned char *from, *to, *before; /* of a fetch: leaves, roots */
  bool in_place, before_in_place;    /* neighbours reach `from`, `before` by loads and stores */
  bool awaited;                      /* neighbours wait for the call */
  bool ended;
  bool lent;                               /* ended for reading alone, where that is verified: */
  uint64_t lent_sum, lent_arrays;          /* of the values; the pool's arrays_gone then */
  bool any_order;                          /* links may be read as they come */
  unsigned char *gathered;                 /* of an exact sum, see forest_exact.h; else NULL */
  struct shared_run *shared;               /* what stands for it, see forest_share.h; else NULL */
  forest_cursor reading, sending, answers; /* answers: of a fetch, that come back to leaves */
} forest_transfer;

/* The latest transfer of a kind that was found right: one that is asked for alike needs no checks.
 * Unknown: `arrays` is 0. */
typedef struct forest_known {
  osla_unit unit;
  osla_forest_combine combine;
  uint64_t arrays; /* the pool's array_changes then */
  forest_transfer transfer;
  call_places places;
} forest_known;

struct osla_forest {
  osla_transport *t;
  forest_pool *pool;
  pool_piece piece;
  int made; /* of the transport's, as the so-and-so-many-th, from 1 */
  int64_t n_roots, n_edges, leaf_space;
  forest_links to_roots, to_leaves; /* of my leaves; of my roots */
  uint32_t *far_lists;
  unsigned char *staging;
  forest_control *control;
  forest_transfer transfer[CALLS];
  forest_known known[FOREST_KINDS];
  uint64_t begun, read, sent; /* up to which number */
  bool is_active, owes;       /* owes: some ring has parts to give back */
  int n_far;                  /* links to ranks of other nodes */
  unsigned looks;             /* in vain */
  struct osla_forest *next_active;
  int64_t low_root, high_root, low_leaf; /* of those with edges; none: 0, -1, 0 */
  struct forest_gather *gather;          /* see forest_exact.h */
  struct forest_share *share;            /* see forest_share.h; NULL: there is none */
  bool knows_apart;                      /* see forest_overlap.c */
  int64_t apart_shift;
};

/* A number for what all ranks must begin alike. */
static inline uint64_t osla_forest_what(forest_kind kind, osla_forest_combine combine,
                                        osla_unit_type type, int32_t count)
{
  return (uint64_t)kind | (uint64_t)combine << 8 | (uint64_t)type << 16 | (uint64_t)count << 32;
}

/* The combination in it: that of a transfer says how it is done, this one what was asked for. */
static inline osla_forest_combine osla_forest_asked(uint64_t what)
{
  return (osla_forest_combine)(what >> 8 & 255);
}

static inline forest_transfer *osla_forest_transfer(osla_forest *f, uint64_t number)
{
  return &f->transfer[number % CALLS];
}

/* The links that a transfer of this kind reads, and sends. */
static inline forest_links *osla_forest_in(osla_forest *f, forest_kind kind)
{
  return kind == FOREST_BCAST ? &f->to_roots : &f->to_leaves;
}
static inline forest_links *osla_forest_out(osla_forest *f, forest_kind kind)
{
  return kind == FOREST_BCAST ? &f->to_leaves : &f->to_roots;
}

/* What could be read in place goes through the ring, too, where that takes less time. Both sides of
 * a link find the same. `thin`: of the vertices that are read.
 * - Small values that lie alone in their lines, written by another core each time: to load each
 *   line from there takes longer than that core takes to pack them.
 * - Few values: they come in the line that announces them, and nobody waits until they were read.
 */
static inline bool osla_forest_packs(const forest_transfer *x, const forest_link *l, bool thin)
{
  enum { SMALL = 16, FEW = 512 };
  const size_t bytes = osli_unit_element(x->type) * (size_t)x->count;
  if (x->kind == FOREST_FETCH) return false;
  return (thin && bytes <= SMALL) ||
         (l->edges <= FEW && bytes <= FEW && bytes * (size_t)l->edges <= FEW);
}

/* Does the link's rank read my values in place, where they lie in an array? */
static inline bool osla_forest_lends(const forest_transfer *x, const forest_link *l)
{
  return l->near && !l->self && !osla_forest_packs(x, l, l->thin_mine);
}

/* The values before that a fetch gives back to leaves here and there: who writes them in place
 * takes lines from each other. Where the ring holds all of them at once nobody waits for it.
 * `leaves`: the list of the link. */
static inline bool osla_forest_packs_answers(const forest_transfer *x, const forest_link *l,
                                             const uint32_t *leaves)
{
  const size_t bytes = osli_unit_element(x->type) * (size_t)x->count;
  return leaves && (uint64_t)l->edges <= l->ring.n_slots * (l->ring.slot_bytes / bytes);
}

/* The i-th of my vertices of a link. */
static inline int64_t osla_link_vertex(const forest_link *l, int64_t i)
{
  if (l->mine) return l->mine[i];
  return l->mine_block ? osla_block_index(l->mine_block, i) : l->mine_first + i;
}

/* And the root that it is joined to, of a link to roots. */
static inline osla_root osla_link_root(const forest_link *l, int64_t i)
{
  const int64_t index = l->theirs         ? (int64_t)l->theirs[i]
                        : l->theirs_block ? osla_block_index(l->theirs_block, i)
                                          : l->theirs_first + i;
  return (osla_root){l->rank, index};
}

/* My vertices of a link, or its rank's, in an array. */
static inline vertex_list osla_link_mine(const forest_link *l, void *base, int64_t stride)
{
  return (vertex_list){base, stride, l->mine, l->mine_first, l->mine_block};
}
static inline vertex_list osla_link_theirs(const forest_link *l, void *base, int64_t stride)
{
  return (vertex_list){base, stride, l->theirs, l->theirs_first, NULL}; /* on a node alone */
}

#endif
