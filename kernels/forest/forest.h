/* The data of a forest: its links to other ranks, its transfers in progress, and how its links are
 * set up (private to forests).
 *
 * Two joined ranks have a link: the edges from leaves of one rank to roots of the other rank. Each
 * of the two ranks knows its own vertices of the link, in the order of the leaf rank's list. If the
 * two ranks are on one node, both lists lie in the leaf rank's shared memory, where the root rank
 * reads them.
 *
 * The transfers of a forest are numbered on each rank, and are read and sent in the order of their
 * numbers. A rank reads the values of a transfer, link by link, and then publishes the number of
 * the transfer in the member `read` of its forest_control. If another rank of the node has its
 * values in an array of the pool (forest_pool.h), this rank loads them in place as soon as the
 * other rank has announced the transfer. All other values, and small amounts of values, arrive in
 * parts through the link's ring (forest_ring.h). A transfer is over on a rank when the rank has
 * read and sent its values, and when every rank that reads its values in place has done so.
 *
 * No cycle of waiting ranks can form, because each rank handles its links in ascending order of the
 * rank at the other end. Every chain of ranks that wait for one another therefore ends at a rank
 * that does not wait.
 *
 * "The paper" is Zhang et al., The PetscSF Scalable Communication Layer, IEEE TPDS 2022. */
#ifndef FOREST_H
#define FOREST_H

#include "kernels/forest/forest_pool.h"
#include "kernels/forest/forest_ring.h"
#include "kernels/forest/forest_units.h"

#include <stdatomic.h>
#include <stddef.h>

/* largest number of transfers of a forest in progress; a power of two */
enum { MOST_TRANSFERS = 8 };

typedef enum forest_kind { FOREST_BCAST, FOREST_REDUCE, FOREST_FETCH, FOREST_KINDS } forest_kind;

/* ---- shared memory ---- */

typedef struct transfer_locations {
  value_location values; /* location of the values that other ranks of the node read */
  /* fetch: location of the array `before`, into which other ranks of the node write the old
   * values */
  value_location before;
} transfer_locations;

/* A rank's record of a transfer, read by the other ranks of its node. Records are two cache lines
 * apart, because adjacent records made a one-edge fetch 14 % slower (results/star-forests). */
typedef struct forest_announcement {
  /* number of the transfer that the record describes; 0 while the record is being written */
  _Atomic uint64_t number;
  /* kind, combination, type and count of the transfer, encoded by osli_forest_signature */
  uint64_t signature;
  transfer_locations at;
  unsigned char padding[CACHE_LINE];
} forest_announcement;
_Static_assert(offsetof(forest_announcement, padding) == CACHE_LINE, "one line is read");

/* A rank's shared state of a forest; it lies in the pool, and other ranks of the node read it. */
typedef struct forest_control {
  /* number of the latest transfer that this rank has read */
  _Alignas(CACHE_LINE) _Atomic uint64_t read;
  struct {
    _Alignas(CACHE_LINE) forest_announcement announcement;
  } of[MOST_TRANSFERS];
} forest_control;

/* ---- links ---- */

/* A link as seen by this rank: the edges that join vertices of this rank to vertices of one rank,
 * which may be this rank. */
typedef struct forest_link {
  int rank;     /* rank at the other end of the link */
  bool is_near; /* true if `rank` is on this rank's node */
  bool is_self; /* true if `rank` is this rank */
  /* true if few values are not packed: ranks of the node read them in place like many values
   * (osli_forest_read_all_in_place) */
  bool packs_nothing;
  int64_t edges; /* number of edges, at least 1 */
  /* number of edges in all links before this link */
  int64_t first_edge;
  int64_t low_root;  /* lowest index of a root in the link */
  int64_t high_root; /* highest index of a root in the link */
  vertex_index mine; /* indices of this rank's vertices in the link */
  /* indices of the other rank's vertices; unset if that rank is on another node and has the
   * leaves */
  vertex_index theirs;
  /* shared state of the other rank; NULL if that rank is on another node */
  forest_control *control;
  _Atomic uint64_t seen; /* latest value that this rank has loaded from control->read */
  forest_ring ring;
  vertex_block block[2]; /* memory for mine.block and theirs.block */
} forest_link;

typedef struct forest_links {
  int n;
  /* number of edges in all links */
  int64_t n_edges;
  forest_link *of; /* [n] links, ascending by the rank at the other end */
  int *ranks;      /* [n] rank at the other end of each link */
} forest_links;

/* ---- transfers ---- */

/* Combination of a reduction by a function of the caller, in the signature of the transfer. */
#define FOREST_BY_FUNCTION ((osla_forest_combine)OSLA_COMBINES)

/* Position, in a transfer, of the next part that is read or sent. */
typedef struct forest_cursor {
  int link;     /* index of the link, from 0 */
  int64_t part; /* index of the part within the values of the link, from 0 */
} forest_cursor;

/* The three transfers that make up a two-level transfer, one on each forest of forest_two_level. */
typedef struct two_level_run {
  uint64_t near;   /* number of the transfer on the forest `near`; 0 until it is begun */
  uint64_t wire;   /* number of the transfer on the forest `wire`; 0 until it is begun */
  uint64_t spread; /* number of the transfer on the forest `spread`; 0 until it is begun */
  /* [n_proxies] values of the roots' local substitutes (proxies) on this rank */
  unsigned char *proxies;
} two_level_run;

typedef struct forest_transfer {
  forest_kind kind;
  /* operation that combines values: SUM if the caller chose SUM_ARRIVAL or SUM_EXACT, and REPLACE
   * if the caller has passed a function */
  osla_forest_combine combine;
  osla_unit_type type;
  int64_t count;  /* number of numbers in a vertex */
  int64_t stride; /* bytes from one vertex of an array to the next */
  /* kind, combination, type and count of the transfer, encoded by osli_forest_signature */
  uint64_t signature;
  unsigned char *from;   /* array whose vertices the transfer reads */
  unsigned char *to;     /* array whose vertices the transfer changes */
  unsigned char *before; /* array to which a fetch copies the old values of the roots */
  transfer_locations at; /* locations of `from` and `before` in arrays of the pool */
  /* location of `to`, if the transfer reads from a link with many bytes; otherwise array = -1 */
  value_location target;
  /* true if other ranks of the node read many bytes in place, so that this rank helps them */
  bool helps;
  /* true if other ranks of the node read values in place, for which they wait for the
   * announcement */
  bool is_awaited;
  /* true if the caller has ended the transfer, or its begin has not passed all checks yet */
  bool ended;
  /* true if work that this rank queues later on devices waits for signals of the ranks that read
   * the values in place */
  bool is_ordered;
  /* fetch: true if work that this rank queues later on devices waits for the signal of the rank at
   * the other end of the link that is being read */
  bool link_is_ordered;
  forest_cursor reading, sending;
  forest_cursor answers; /* fetch: next part of the roots' old values to be read at the leaves */
  /* copies of the values of all leaves, for SUM_EXACT and functions; otherwise NULL */
  unsigned char *gathered;
  osla_forest_function *function; /* combines values of leaves with roots; NULL: `combine` does */
  void *context;                  /* argument of the function */
  /* numbers of the three transfers that make up a two-level transfer; NULL for other transfers */
  two_level_run *two_level;
  /* OSLA_VERIFY: true if osla_forest_end_read has ended the transfer, so that other ranks may still
   * read its values */
  bool is_exposed;
  uint64_t exposed_hash;   /* hash of the values that other ranks may still read */
  uint64_t exposed_arrays; /* value of the pool's arrays_removed when the hash was computed */
} forest_transfer;

/* The latest transfer of a kind that passed all checks. A transfer with equal arguments is not
 * checked again. */
typedef struct cached_transfer {
  /* value of the pool's array_changes when the transfer was checked; 0 if no transfer is cached */
  uint64_t array_changes;
  /* number of changes to the program's registered memory (osli_registrations) when the transfer was
   * checked; if it has changed, the transfer is checked again */
  uint64_t registrations;
  forest_transfer transfer;
} cached_transfer;

/* ---- forests ---- */

/* Three forests that together replace the edges of one forest, such that each root sends only one
 * value to each other node. A proxy is a substitute for a root of another node. A node has one
 * proxy for each such root to which its leaves are joined, and distributes its proxies over its
 * ranks.
 *
 *   near    joins leaves to roots on their own node
 *   wire    joins proxies to the roots on other nodes
 *   spread  joins leaves to proxies on their own node
 *
 * A broadcast begins on `near` and `wire`; it begins on `spread` when the proxies on this rank are
 * complete. A reduction begins on `near` and `spread`, and then goes through `wire`. On each of the
 * three forests all ranks begin transfers in the same order. */
typedef struct forest_two_level {
  osla_forest *near, *wire, *spread;
  int64_t n_proxies; /* number of proxies (substitutes for roots of other nodes) on this rank */
  /* lowest number of a transfer whose part on `wire` may not have begun yet */
  uint64_t next_wire;
  /* lowest number of a transfer whose part on `spread` may not have begun yet */
  uint64_t next_spread;
  bool is_pending; /* true if the forest is in the pool's list `pending` */
  osla_forest *next_pending;
} forest_two_level;

struct osla_forest {
  osla_transport *t;
  forest_pool *pool;
  pool_piece piece;   /* this rank's memory of the forest, which other ranks can access */
  int creation_index; /* creation index of the forest within its transport, from 1 */

  int64_t n_roots, n_edges, leaf_space;
  int64_t low_root;  /* lowest index of a root with edges; 0 if no root has edges */
  int64_t high_root; /* highest index of a root with edges; -1 if no root has edges */
  int64_t low_leaf;  /* lowest index of a leaf with an edge; 0 if no leaf has edges */
  forest_links to_roots, to_leaves;
  int n_far;               /* number of links to ranks on other nodes */
  uint32_t *far_lists;     /* copies of index lists of ranks on other nodes */
  unsigned char *staging;  /* send buffers of all rings to other nodes */
  forest_control *control; /* this rank's shared state of the forest, which lies in `piece` */

  /* the transfer with number n is at index n % MOST_TRANSFERS */
  forest_transfer transfer[MOST_TRANSFERS];
  cached_transfer cached[FOREST_KINDS];
  uint64_t begun; /* number of the latest transfer that was begun */
  uint64_t read;  /* number of the latest transfer whose values have all been read */
  uint64_t sent;  /* number of the latest transfer whose values have all been sent */
  /* True if this rank has queued work on a device without signals that accesses another rank's
   * memory in place. The rank waits for this work before it publishes that it has read. */
  bool owes_wait;
  /* Device with signals on which this rank has queued work that accesses another rank's memory in
   * place, or NULL. The rank queues a signal on it before it publishes that it has read. */
  osla_device *owes_signal;
  bool owes_credit; /* true if acknowledgements for some ring could not be sent yet */
  unsigned n_polls; /* number of polls that made no progress */
  bool is_active;   /* true if the forest is in the pool's list `active` */
  struct osla_forest *next_active;

  /* edges sorted by root, for SUM_EXACT and functions (forest_exact.c); NULL until needed */
  struct forest_gather *gather;
  /* three forests for two-level transfers; NULL if all transfers follow the forest's own edges */
  forest_two_level *two_level;
  /* forest in which each leaf has a root of its own, for gathers and scatters; NULL until the first
   * of them */
  osla_forest *split;
  bool has_apart_shift; /* true if apart_shift has been set */
  /* offset in vertices from root 0 to leaf 0, in an array that holds roots and leaves, for which no
   * root is also a leaf */
  int64_t apart_shift;
};

/* Encodes a transfer's kind, combination as requested, type and count, on which all ranks must
 * agree. */
static inline uint64_t osli_forest_signature(forest_kind kind, osla_forest_combine combine,
                                             osla_unit_type type, int32_t count)
{
  return (uint64_t)kind | (uint64_t)combine << 8 | (uint64_t)type << 16 | (uint64_t)count << 32;
}

/* Combination that the caller asked for. A transfer's member `combine` may differ: it is the
 * operation that is executed. */
static inline osla_forest_combine osli_forest_requested_combine(uint64_t signature)
{
  return (osla_forest_combine)(signature >> 8 & 255);
}

static inline forest_transfer *osli_forest_transfer(osla_forest *f, uint64_t number)
{
  return &f->transfer[number % MOST_TRANSFERS];
}

/* Returns the number of the oldest transfer whose record has not been reused. */
static inline uint64_t osli_forest_oldest(const osla_forest *f)
{
  return f->begun > MOST_TRANSFERS ? f->begun + 1 - MOST_TRANSFERS : 1;
}

/* Returns the links through which a transfer of this kind reads values. */
static inline forest_links *osli_forest_read_links(osla_forest *f, forest_kind kind)
{
  return kind == FOREST_BCAST ? &f->to_roots : &f->to_leaves;
}
/* Returns the links through which a transfer of this kind sends values. */
static inline forest_links *osli_forest_send_links(osla_forest *f, forest_kind kind)
{
  return kind == FOREST_BCAST ? &f->to_leaves : &f->to_roots;
}

/* True if values are sent through the ring although they could be read in place. This holds for at
 * most 512 bytes of a broadcast or reduction: the values lie in the ring's slot directly behind the
 * word that shows that they have arrived, and the sender need not wait for readers. The result is
 * equal at both ends of a link. */
static inline bool osli_forest_packs(const forest_transfer *x, const forest_link *l)
{
  enum { FEW = 512 };
  const size_t bytes = osli_unit_element(x->type) * (size_t)x->count;
  return x->kind != FOREST_FETCH && !l->packs_nothing && l->edges <= FEW && bytes <= FEW &&
         bytes * (size_t)l->edges <= FEW;
}

/* Makes ranks of the node read even few values in place in all later transfers along the forest's
 * own edges; two-level transfers, which exist only on several nodes, do not change. This suits
 * values on devices, because packed values pass through host memory. Local; all ranks must call it
 * after an equal number of transfers of the forest. */
static inline void osli_forest_read_all_in_place(osla_forest *f)
{
  for (int i = 0; i < f->to_roots.n; i++)
    f->to_roots.of[i].packs_nothing = true;
  for (int i = 0; i < f->to_leaves.n; i++)
    f->to_leaves.of[i].packs_nothing = true;
  /* transfers that were cached before would still pack few values */
  for (int kind = 0; kind < FOREST_KINDS; kind++)
    f->cached[kind].array_changes = 0;
}

/* True if the rank at the other end of the link reads this rank's values in place, provided that
 * the values lie in an array of the pool. */
static inline bool osli_forest_is_read_in_place(const forest_transfer *x, const forest_link *l)
{
  return l->is_near && !l->is_self && !osli_forest_packs(x, l);
}

/* True if the values of a link fill at least 256 KiB. Then the rank that owns the values copies a
 * part of them while it waits for the reader (src/memory/shared_copy.h). */
static inline bool osli_forest_is_large(const forest_transfer *x, const forest_link *l)
{
  enum { LARGE = 256 << 10 };
  const size_t bytes = osli_unit_element(x->type) * (size_t)x->count;
  return (size_t)l->edges >= LARGE / bytes && (size_t)l->edges * bytes >= LARGE;
}

/* True if a fetch returns the old values of roots through the ring although they could be written
 * in place. This holds if the leaves are scattered and the ring has room for all values, because
 * writing in place would move cache lines away from the leaf rank. leaves: the link's leaves. */
static inline bool osli_forest_packs_answers(const forest_transfer *x, const forest_link *l,
                                             const vertex_index *leaves)
{
  const size_t bytes = osli_unit_element(x->type) * (size_t)x->count;
  return leaves->list && (uint64_t)l->edges <= l->ring.n_slots * (l->ring.slot_bytes / bytes);
}

/* Returns the index of this rank's vertex in edge i of a link. */
static inline int64_t osli_link_vertex(const forest_link *l, int64_t i)
{
  return osli_vertex_index(&l->mine, i);
}

/* Returns the index of the root in edge i of a link to roots. */
static inline osla_root osli_link_root(const forest_link *l, int64_t i)
{
  return (osla_root){l->rank, osli_vertex_index(&l->theirs, i)};
}

/* Returns this rank's vertices of a link, in the array at `base`. */
static inline vertex_list osli_link_mine(const forest_link *l, void *base, int64_t stride)
{
  return (vertex_list){base, stride, l->mine.list, l->mine.first, l->mine.block, &l->mine};
}
/* Returns the other rank's vertices of a link, in the array at `base`. That rank must be on this
 * node. */
static inline vertex_list osli_link_theirs(const forest_link *l, void *base, int64_t stride)
{
  return (vertex_list){base, stride, l->theirs.list, l->theirs.first, NULL, &l->theirs};
}

/* ---- set-up ---- */

/* A rank's edges as passed by the caller, and their numbers for each root rank. */
typedef struct forest_edges {
  int64_t n;             /* number of edges */
  int64_t leaf_space;    /* 1 + highest index of a leaf; 0 without edges */
  int64_t low_leaf;      /* lowest index of a leaf; 0 without edges */
  const int64_t *leaf;   /* [n] leaf of each edge; NULL: edge i has leaf i */
  const osla_root *root; /* [n] rank and index of the root of each edge */
  /* [size + 1] after sorting by root rank, edges start[p] .. start[p + 1] - 1 have their roots on
   * rank p */
  int64_t *start;
} forest_edges;

/* Checks a rank's edges, and counts the edges to each rank. *out borrows the lists `leaf` and
 * `root`; osli_edges_free frees its other memory, also after an error. Local. Errors: ARG, RANGE,
 * MEM. */
osla_err osli_edges_check(const osla_transport *t, int64_t n_roots, int64_t n_edges,
                          const int64_t *leaf, const osla_root *root, forest_edges *out);
void osli_edges_free(forest_edges *edges);

/* Fails if two edges have the same leaf. leaf: [n] leaves of all edges, in any order. Local.
 * Errors: ARG, MEM. */
osla_err osli_edges_check_unique(const forest_edges *edges, const uint32_t *leaf);

/* [n] leaves and [n] roots of the edges, sorted by root rank. free(leaf) frees both arrays. */
typedef struct forest_lists {
  uint32_t *leaf, *root;
} forest_lists;

/* Sorts the edges by root rank, and sets the vertices and the root ranges of the links to roots.
 * Local. Errors: MEM. */
osla_err osli_forest_lists_make(osla_forest *f, const forest_edges *e, forest_lists *out);

/* Returns the size in bytes of the index lists of all links to roots. Local. */
size_t osli_forest_lists_bytes(const osla_forest *f);
/* Copies the index lists of all links to roots to `memory`. Local. */
void osli_forest_lists_copy(osla_forest *f, uint32_t *memory);

/* Description of one rank's vertices of a link, sent to the rank at the other end. */
typedef struct list_description {
  int64_t list;       /* offset of the index list in the sender's segment; -1 if there is no list */
  int64_t first;      /* first index if the indices ascend by 1; otherwise 0 */
  vertex_block block; /* block that the indices form; n[0] = 0 if they form no block */
} list_description;
list_description osli_list_describe(const osla_forest *f, const vertex_index *index);

/* Sets the vertices of a link to leaves from the descriptions that the leaf rank has sent. A list
 * of a rank on another node must still be copied afterwards. Local. */
void osli_link_set_lists(const osla_forest *f, forest_link *l, const list_description *roots,
                         const list_description *leaves);

/* Creates a forest without two_level. If any rank passes an error as `local`, such as the result of
 * osli_edges_check, all ranks return this error. Collective. Errors, on all ranks together: as
 * osla_forest_create. */
osla_err osli_forest_create_from_edges(osla_transport *t, osla_err local, int64_t n_roots,
                                       const forest_edges *edges, osla_forest **out);

/* The two steps that destroy a forest without two_level. No rank may have a transfer in progress.
 * _retire waits until other ranks have acknowledged all parts that this rank has sent, and this
 * rank has acknowledged all parts that it has consumed. All ranks must call it. It accepts NULL.
 * Errors, on this rank alone: MPI.
 * _free frees the forest and sets *forest to NULL. The ranks must have agreed that all have retired
 * the forest, or that its creation has failed. It accepts a pointer to NULL. Collective. */
osla_err osli_forest_retire_one_level(osla_forest *f);
void osli_forest_free_one_level(osla_forest **forest);

#endif
