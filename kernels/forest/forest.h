/* The data of a forest: its links to other ranks, its transfers under way, and how its links are
 * set up (private to forests).
 *
 * Two joined ranks have a link: the edges from leaves of one to roots of the other. Each side knows
 * its own vertices of the link, in the order of the leaf rank's list. On a node both lists lie in
 * the leaf rank's shared memory, where the root rank reads them.
 *
 * The transfers of a forest are numbered on each rank, and are read and sent in the order of their
 * numbers. A rank reads the values that come to it, link by link, and then publishes the number of
 * the transfer as `read`. If the values of a node neighbour lie in an array, it loads them in place
 * once the neighbour has announced the transfer. All other values, and small ones, come in parts
 * through the link's ring (forest_ring.h). A transfer is over on a rank when the rank has read and
 * sent its values, and all who read them in place have done so.
 *
 * No ranks wait in a circle: each reads and sends its links in ascending order of the other ranks.
 * A rank that waits for a lower rank waits, in the end, for one that does not wait.
 *
 * "The paper" is Zhang et al., The PetscSF Scalable Communication Layer, IEEE TPDS 2022. */
#ifndef FOREST_H
#define FOREST_H

#include "kernels/forest/forest_pool.h"
#include "kernels/forest/forest_ring.h"
#include "kernels/forest/forest_units.h"

#include <stdatomic.h>
#include <stddef.h>

enum { MOST_TRANSFERS = 8 }; /* most transfers of a forest that may be under way; a power of two */

typedef enum forest_kind { FOREST_BCAST, FOREST_REDUCE, FOREST_FETCH, FOREST_KINDS } forest_kind;

/* ---- shared memory ---- */

/* Location of a rank's vertices in an array of the pool. */
typedef struct value_location {
  int64_t array;          /* index of the array; -1 if the values are in none */
  int64_t offset, stride; /* bytes from the array's start to vertex 0; bytes between vertices */
} value_location;

typedef struct transfer_locations {
  value_location values; /* location of the values that neighbours read */
  value_location before; /* fetch: location of the array `before`, which neighbours write */
} transfer_locations;

/* A rank's record of a transfer for its node neighbours. Records are two cache lines apart, because
 * one line made a one-edge fetch 14 % slower (results/star-forests). */
typedef struct forest_announcement {
  _Atomic uint64_t number; /* transfer that the record describes; 0 while it is written */
  uint64_t signature;      /* see osli_forest_signature */
  transfer_locations at;
  unsigned char padding[CACHE_LINE];
} forest_announcement;
_Static_assert(offsetof(forest_announcement, padding) == CACHE_LINE, "one line is read");

/* A rank's shared state of a forest, in the pool; node neighbours read it. */
typedef struct forest_control {
  _Alignas(CACHE_LINE) _Atomic uint64_t read; /* transfers up to this number have been read */
  struct {
    _Alignas(CACHE_LINE) forest_announcement announcement;
  } of[MOST_TRANSFERS];
} forest_control;

/* ---- links ---- */

/* This rank's side of the edges between it and another rank, or itself. */
typedef struct forest_link {
  int rank;                    /* the other rank */
  bool is_near;                /* the other rank is on this node */
  bool is_self;                /* the other rank is this rank */
  int64_t edges;               /* number of edges, at least 1 */
  int64_t low_root, high_root; /* range of the indices of the link's roots */
  vertex_index mine;           /* indices of this rank's vertices */
  vertex_index
    theirs; /* indices of the other rank's vertices; unset on a link to leaves of another node */
  forest_control *control; /* shared state of the other rank, if that is on this node */
  _Atomic uint64_t seen;   /* latest value loaded from control->read */
  forest_ring ring;
  vertex_block block[2]; /* memory of mine.block and theirs.block */
} forest_link;

typedef struct forest_links {
  int n;
  forest_link *of; /* [n] links, ascending by rank */
  int *ranks;      /* [n] rank of each link */
} forest_links;

/* ---- transfers ---- */

/* Position of the next part that a transfer reads or sends. */
typedef struct forest_cursor {
  int link;
  int64_t part; /* number of the part in the link, from 0 */
} forest_cursor;

/* A two-level transfer: its transfer numbers on the three forests; 0 until begun there. */
typedef struct two_level_run {
  uint64_t near, wire, spread;
  unsigned char *proxies; /* [n_proxies] values of the proxies on this rank */
} two_level_run;

typedef struct forest_transfer {
  forest_kind kind;
  osla_forest_combine combine; /* how values are combined: SUM for SUM_ARRIVAL and SUM_EXACT */
  osla_unit_type type;
  int64_t count, stride;    /* numbers in a vertex, bytes between vertices */
  uint64_t signature;       /* see osli_forest_signature */
  unsigned char *from, *to; /* array of the values to read; array of the values to write */
  unsigned char *before;    /* fetch: array for the values that roots had before */
  transfer_locations at;    /* locations of `from` and `before` in arrays of the pool */
  bool is_awaited; /* true if neighbours read in place, so that they wait for the announcement */
  bool ended;
  forest_cursor reading, sending;
  forest_cursor answers;    /* fetch: position in the values before that come back to leaves */
  unsigned char *gathered;  /* SUM_EXACT: copies of the values of all leaves; else NULL */
  two_level_run *two_level; /* transfer numbers of a two-level transfer; else NULL */
  bool is_exposed;          /* OSLA_VERIFY: ended by osla_forest_end_read, exposing values */
  uint64_t exposed_hash;    /* hash of the exposed values */
  uint64_t exposed_arrays;  /* the pool's arrays_removed when the hash was made */
} forest_transfer;

/* The latest transfer of a kind that passed all checks. An equal transfer is not checked again. */
typedef struct cached_transfer {
  uint64_t array_changes; /* the pool's array_changes at the check; 0 if no transfer is cached */
  forest_transfer transfer;
} cached_transfer;

/* ---- forests ---- */

/* Three forests whose edges together do what those of a forest do, with one value across for each
 * pair of a root and a node:
 *   near    roots on this node to leaves
 *   wire    roots on other nodes to proxies: one on each node for each root that leaves of the
 *           node are joined to; a node's proxies are distributed over its ranks
 *   spread  proxies on this node to leaves
 * A broadcast begins on `near` and `wire`, and on `spread` when this rank's proxies are complete. A
 * reduction goes by `near` and `spread` to roots and proxies, then by `wire`. Transfers begin in
 * one order on each of the three, on all ranks. */
typedef struct forest_two_level {
  osla_forest *near, *wire, *spread;
  int64_t n_proxies; /* number of proxies on this rank */
  uint64_t next_wire,
    next_spread;   /* lowest number of a transfer that may have to begin on wire, spread */
  bool is_pending; /* the forest is in the pool's list `pending` */
  osla_forest *next_pending;
} forest_two_level;

struct osla_forest {
  osla_transport *t;
  forest_pool *pool;
  pool_piece piece;
  int creation_index; /* number among the transport's forests in the order of creation, from 1 */

  int64_t n_roots, n_edges, leaf_space;
  int64_t low_root,
    high_root;      /* range of the indices of roots with edges; 0, -1 if there is none */
  int64_t low_leaf; /* lowest index of a leaf with an edge; 0 if there is none */
  forest_links to_roots, to_leaves;
  int n_far;           /* number of links to ranks of other nodes */
  uint32_t *far_lists; /* copies of index lists that lie on other nodes */
  unsigned char *staging;
  forest_control *control; /* this rank's shared state, in `piece` */

  forest_transfer
    transfer[MOST_TRANSFERS]; /* transfer number n is in transfer[n % MOST_TRANSFERS] */
  cached_transfer cached[FOREST_KINDS];
  uint64_t begun, read, sent; /* number of the latest transfer that was begun, read, sent */
  bool owes_credit;           /* a ring has acknowledgements that could not be sent yet */
  unsigned n_polls;           /* number of polls that found no progress */
  bool is_active;             /* the forest is in the pool's list `active` */
  struct osla_forest *next_active;

  struct forest_gather
    *gather;                   /* edges by root for SUM_EXACT (forest_exact.c); NULL until needed */
  forest_two_level *two_level; /* NULL if all transfers follow the forest's own edges */
  bool has_apart_shift;        /* apart_shift is valid */
  int64_t apart_shift; /* a distance from roots to leaves, in vertices, at which no root and leaf
                          overlap */
};

/* Encodes kind, requested combination, type and count of a transfer, which all ranks must agree on.
 */
static inline uint64_t osli_forest_signature(forest_kind kind, osla_forest_combine combine,
                                             osla_unit_type type, int32_t count)
{
  return (uint64_t)kind | (uint64_t)combine << 8 | (uint64_t)type << 16 | (uint64_t)count << 32;
}

/* The combination that the caller asked for; a transfer's `combine` says how it is done. */
static inline osla_forest_combine osli_forest_requested_combine(uint64_t signature)
{
  return (osla_forest_combine)(signature >> 8 & 255);
}

static inline forest_transfer *osli_forest_transfer(osla_forest *f, uint64_t number)
{
  return &f->transfer[number % MOST_TRANSFERS];
}

/* Links through which a transfer of this kind reads values; links through which it sends them. */
static inline forest_links *osli_forest_read_links(osla_forest *f, forest_kind kind)
{
  return kind == FOREST_BCAST ? &f->to_roots : &f->to_leaves;
}
static inline forest_links *osli_forest_send_links(osla_forest *f, forest_kind kind)
{
  return kind == FOREST_BCAST ? &f->to_leaves : &f->to_roots;
}

/* True if values go through the ring although they could be read in place: at most 512 bytes, which
 * come in the line that announces them, so that no rank waits for readers. Both sides of a link
 * find the same answer. */
static inline bool osli_forest_packs(const forest_transfer *x, const forest_link *l)
{
  enum { FEW = 512 };
  const size_t bytes = osli_unit_element(x->type) * (size_t)x->count;
  return x->kind != FOREST_FETCH && l->edges <= FEW && bytes <= FEW &&
         bytes * (size_t)l->edges <= FEW;
}

/* True if the link's rank reads this rank's values in place, provided that they lie in an array. */
static inline bool osli_forest_is_read_in_place(const forest_transfer *x, const forest_link *l)
{
  return l->is_near && !l->is_self && !osli_forest_packs(x, l);
}

/* True if a fetch's values before go back through the ring, where they could be written in place:
 * they are scattered, and the ring holds all of them. Writes in place take the leaf rank's cache
 * lines away. leaves: the link's leaves. */
static inline bool osli_forest_packs_answers(const forest_transfer *x, const forest_link *l,
                                             const vertex_index *leaves)
{
  const size_t bytes = osli_unit_element(x->type) * (size_t)x->count;
  return leaves->list && (uint64_t)l->edges <= l->ring.n_slots * (l->ring.slot_bytes / bytes);
}

/* Index of this rank's vertex of edge i of a link. */
static inline int64_t osli_link_vertex(const forest_link *l, int64_t i)
{
  return osli_vertex_index(&l->mine, i);
}

/* Root of edge i of a link to roots. */
static inline osla_root osli_link_root(const forest_link *l, int64_t i)
{
  return (osla_root){l->rank, osli_vertex_index(&l->theirs, i)};
}

/* A link's vertices in an array: of this rank; of the other rank, which must be on this node. */
static inline vertex_list osli_link_mine(const forest_link *l, void *base, int64_t stride)
{
  return (vertex_list){base, stride, l->mine.list, l->mine.first, l->mine.block};
}
static inline vertex_list osli_link_theirs(const forest_link *l, void *base, int64_t stride)
{
  return (vertex_list){base, stride, l->theirs.list, l->theirs.first, NULL};
}

/* ---- set-up ---- */

/* A rank's edges as the caller gave them, and their numbers by root rank. */
typedef struct forest_edges {
  int64_t n, leaf_space, low_leaf;
  const int64_t *leaf;   /* [n] leaf of each edge; NULL: 0 .. n - 1 */
  const osla_root *root; /* [n] root of each edge */
  int64_t *start; /* [size + 1] sorted edges start[p] .. start[p + 1] - 1 have roots of rank p */
} forest_edges;

/* Checks and counts a rank's edges. Local. Errors: ARG, RANGE, MEM. */
osla_err osli_edges_check(const osla_transport *t, int64_t n_roots, int64_t n_edges,
                          const int64_t *leaf, const osla_root *root, forest_edges *out);
void osli_edges_free(forest_edges *edges);

/* Fails if two edges have one leaf. leaf: [n] the leaves in any order. Local. Errors: ARG, MEM. */
osla_err osli_edges_check_unique(const forest_edges *edges, const uint32_t *leaf);

/* Leaves and roots of the edges, sorted by root rank, [n] each. free(leaf) frees both. */
typedef struct forest_lists {
  uint32_t *leaf, *root;
} forest_lists;

/* Sorts the edges, and sets the vertices and root ranges of the links to roots. Local.
 * Errors: MEM. */
osla_err osli_forest_lists_make(osla_forest *f, const forest_edges *e, forest_lists *out);

/* Bytes of the lists that the links to roots need; copies them to `memory`. Local. */
size_t osli_forest_lists_bytes(const osla_forest *f);
void osli_forest_lists_copy(osla_forest *f, uint32_t *memory);

/* Description of a link's vertices for the other rank. */
typedef struct list_description {
  int64_t list;       /* offset of the index list in the segment; -1 if there is no list */
  int64_t first;      /* first index if the indices ascend by 1; else 0 */
  vertex_block block; /* block of the indices; n[0] = 0 if they form no block */
} list_description;
list_description osli_list_describe(const osla_forest *f, const vertex_index *index);

/* Sets the vertices of a link to leaves from the leaf rank's descriptions. A list of another node
 * has still to be read. Local. */
void osli_link_set_lists(const osla_forest *f, forest_link *l, const list_description *roots,
                         const list_description *leaves);

/* A forest without two_level. _from_edges: `local` is the error that osli_edges_check has returned
 * on this rank. Collective. Errors, on all ranks together: as osla_forest_create. */
osla_err osli_forest_create_one_level(osla_transport *t, int64_t n_roots, int64_t n_edges,
                                      const int64_t *leaf, const osla_root *root,
                                      osla_forest **out);
osla_err osli_forest_create_from_edges(osla_transport *t, osla_err local, int64_t n_roots,
                                       const forest_edges *edges, osla_forest **out);

/* Destroys a forest without transfers under way on any rank, and without two_level. Collective.
 * Errors: MPI. Accepts a pointer to NULL. */
osla_err osli_forest_destroy_one_level(osla_forest **forest);

#endif
