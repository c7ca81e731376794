/* Creation and destruction of a forest without two-level transfers.
 *
 * A leaf rank knows the roots to which its leaves are joined. The root ranks learn about their
 * leaves in two exchanges. In the first one, each leaf rank sends the number of edges. In the
 * second one, joined ranks exchange the offsets of the link's lists, counters and slots in the
 * pool. (In section 5.1 of the paper by Zhang et al., leaf ranks send their lists.) */
#include "kernels/forest/forest_serve.h"
#include "src/transport/exchange.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* ---- links ---- */

/* Writes a letter (a short message) to each rank whose roots are joined to leaves of this rank. The
 * letter contains the number of edges, an int64_t. */
static osla_err write_edge_counts(const osla_forest *f, const forest_edges *e, osla_letters *out)
{
  *out = (osla_letters){.bytes = sizeof(int64_t)};
  for (int p = 0; p < osla_transport_size(f->t); p++) {
    const int64_t edges = e->start[p + 1] - e->start[p];
    if (edges > 0) OSLA_CALL(osli_letters_add(out, p, &edges));
  }
  return OSLA_OK;
}

static osla_err make_links(osla_forest *f, const osla_letters *edges, forest_links *out)
{
  out->of = calloc((size_t)edges->n + 1, sizeof *out->of);
  out->ranks = calloc((size_t)edges->n + 1, sizeof *out->ranks);
  OSLA_CHECK(out->of && out->ranks, OSLA_ERR_MEM, "%d links", edges->n);
  for (int i = 0; i < edges->n; i++) {
    const int p = osli_letter_rank(edges, i);
    forest_link *l = &out->of[out->n];
    out->ranks[out->n++] = p;
    *l = (forest_link){.rank = p,
                       .first_edge = out->n_edges,
                       .is_self = p == osla_transport_rank(f->t),
                       .is_near = osla_transport_same_node(f->t, p)};
    memcpy(&l->edges, osli_letter(edges, i), sizeof l->edges);
    out->n_edges += l->edges;
    osli_ring_set_size(&l->ring, l->edges, l->is_near);
    f->n_far += !l->is_near;
  }
  return OSLA_OK;
}

/* ---- this rank's piece of the pool ---- */

/* Offsets in this rank's piece of the pool. The offsets of a ring's counters and slots are first
 * stored in the ring's members far_words and far_slots. Later these members are overwritten by the
 * offsets at the other rank. */
typedef struct layout {
  size_t control, lists, bytes;
} layout;

static size_t reserve(size_t *at, size_t bytes)
{
  size_t start = *at;
  *at += (bytes + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;
  return start;
}

static void reserve_rings(forest_links *links, size_t *at)
{
  for (int i = 0; i < links->n; i++) {
    forest_ring *ring = &links->of[i].ring;
    if (links->of[i].is_self) continue;
    ring->far_words = reserve(at, sizeof(ring_words));
    ring->far_slots = reserve(at, osli_ring_slots_bytes(ring));
  }
}

static unsigned char *piece_at(const osla_forest *f, size_t offset)
{
  return (unsigned char *)f->piece.memory + offset;
}

static size_t staging_bytes(const forest_links *links)
{
  size_t bytes = 0;
  for (int i = 0; i < links->n; i++)
    if (!links->of[i].is_near) bytes += osli_ring_staging_bytes(&links->of[i].ring);
  return bytes;
}

/* Allocates this rank's piece of the pool, the send buffers of its rings, and memory for its
 * letters (short messages). If any rank passes an error as `local`, all ranks return this error.
 * Collective. */
static osla_err allocate_memory(osla_forest *f, osla_err local, layout *lay, osla_letters *letters)
{
  *lay = (layout){0};
  lay->control = reserve(&lay->bytes, sizeof(forest_control));
  reserve_rings(&f->to_roots, &lay->bytes);
  reserve_rings(&f->to_leaves, &lay->bytes);
  lay->lists = reserve(&lay->bytes, osli_forest_lists_bytes(f));
  size_t staging = staging_bytes(&f->to_roots) + staging_bytes(&f->to_leaves);
  f->staging = calloc(staging + 1, 1);
  if (local == OSLA_OK) local = osli_letters_reserve(letters, f->to_roots.n + f->to_leaves.n);
  if (!f->staging) local = osla_error_set(OSLA_ERR_MEM, "%zu bytes to send from", staging);
  return osli_pool_allocate(f->pool, local, lay->bytes, &f->piece);
}

static void start_rings(osla_forest *f, forest_links *links, unsigned char **staging)
{
  for (int i = 0; i < links->n; i++) {
    forest_ring *ring = &links->of[i].ring;
    if (links->of[i].is_self) continue;
    ring->pool = f->pool;
    ring->segment = f->piece.segment;
    ring->rank = links->of[i].rank;
    osli_ring_init(ring, piece_at(f, ring->far_words), piece_at(f, ring->far_slots));
    if (links->of[i].is_near) continue;
    osli_ring_set_staging(ring, *staging);
    *staging += osli_ring_staging_bytes(ring);
  }
}

/* ---- letters (short messages) between joined ranks ---- */

/* A letter (short message) to a rank that is joined to the sender. All offsets are in the sender's
 * segment. */
typedef struct link_letter {
  int64_t n_roots, control;
  int n_far;
  /* The next members describe the link from the sender's leaves to the receiver's roots. */
  list_description leaves, roots;
  int64_t low_root, high_root;
  int64_t leaf_words; /* offset of the counters of this link's ring */
  int64_t leaf_slots; /* offset of the slots of this link's ring */
  /* The next members describe the link from the receiver's leaves to the sender's roots. */
  int64_t root_words, root_slots;
} link_letter;
_Static_assert(sizeof(link_letter) <= OSLA_MOST_LETTER, "a link_letter fits into a letter");

static int rank_of(const forest_links *links, int i)
{
  return i < links->n ? links->ranks[i] : INT_MAX;
}

/* Writes a letter (short message) to each rank with which this rank has a link in either
 * direction. */
static osla_err write_letters(const osla_forest *f, const layout *l, osla_letters *out)
{
  const int64_t base = (int64_t)f->piece.offset;
  const forest_links *roots = &f->to_roots, *leaves = &f->to_leaves;
  for (int i = 0, j = 0; i < roots->n || j < leaves->n;) {
    const bool is_roots_next = rank_of(roots, i) <= rank_of(leaves, j);
    const int p = is_roots_next ? rank_of(roots, i) : rank_of(leaves, j);
    link_letter mine = {
      .n_roots = f->n_roots, .control = base + (int64_t)l->control, .n_far = f->n_far};
    if (rank_of(roots, i) == p) {
      const forest_link *link = &roots->of[i++];
      mine.roots = osli_list_describe(f, &link->theirs);
      mine.leaves = osli_list_describe(f, &link->mine);
      mine.low_root = link->low_root;
      mine.high_root = link->high_root;
      mine.leaf_words = base + (int64_t)link->ring.far_words;
      mine.leaf_slots = base + (int64_t)link->ring.far_slots;
    }
    if (rank_of(leaves, j) == p) {
      const forest_ring *ring = &leaves->of[j++].ring;
      mine.root_words = base + (int64_t)ring->far_words;
      mine.root_slots = base + (int64_t)ring->far_slots;
    }
    OSLA_CALL(osli_letters_add(out, p, &mine));
  }
  return OSLA_OK;
}

static void *peer_at(const osla_forest *f, int rank, int64_t offset)
{
  return (unsigned char *)osla_segment_peer(f->piece.segment, rank) + offset;
}

/* Opens the ring's message lines if both ranks have few links to other nodes. With many links,
 * polling would be slow: while a forest has a transfer in progress, each progress step polls all of
 * its lines. */
static osla_err open_lines(const osla_forest *f, forest_ring *ring, const link_letter *other,
                           bool to_roots)
{
  enum { FEW_LINKS = 64 };
  /* number of the message line from roots to leaves */
  const int down = 2 * f->piece.number;
  const int up = down + 1; /* number of the message line from leaves to roots */
  if (down < 0 || f->n_far > FEW_LINKS || other->n_far > FEW_LINKS) return OSLA_OK;
  return osli_ring_open_lines(ring, to_roots ? down : up, to_roots ? up : down);
}

static osla_err connect_ring(const osla_forest *f, forest_link *l, const link_letter *other,
                             bool to_roots)
{
  const int64_t words = to_roots ? other->root_words : other->leaf_words;
  const int64_t slots = to_roots ? other->root_slots : other->leaf_slots;
  if (l->is_near) l->control = peer_at(f, l->rank, other->control);
  if (l->is_self) return OSLA_OK;
  l->ring.far_words = (size_t)words;
  l->ring.far_slots = (size_t)slots;
  if (!l->is_near) return open_lines(f, &l->ring, other, to_roots);
  l->ring.near_slots = peer_at(f, l->rank, slots);
  l->ring.near_words = peer_at(f, l->rank, words);
  return OSLA_OK;
}

static osla_err check_roots(const osla_forest *f, const forest_link *l, const uint32_t *leaf,
                            const uint32_t *root, int64_t n_roots)
{
  for (int64_t k = 0; l->high_root >= n_roots && k < l->edges; k++)
    OSLA_CHECK((int64_t)root[k] < n_roots, OSLA_ERR_ARG,
               "leaf %" PRIu32 " of rank %d: rank %d has no root %" PRIu32 ", it has %" PRId64
               " (from 0)",
               leaf[k], osla_transport_rank(f->t), l->rank, root[k], n_roots);
  return OSLA_OK;
}

static osla_err connect_to_roots(osla_forest *f, const forest_edges *e, const forest_lists *lists,
                                 const osla_letters *theirs)
{
  for (int i = 0; i < f->to_roots.n; i++) {
    forest_link *l = &f->to_roots.of[i];
    const link_letter *other = osli_letter_of(theirs, l->rank);
    const int64_t start = e->start[l->rank];
    OSLA_CALL(check_roots(f, l, lists->leaf + start, lists->root + start, other->n_roots));
    OSLA_CALL(connect_ring(f, l, other, true));
  }
  return OSLA_OK;
}

/* Offset of the index list that this rank has to copy from the leaf rank, in that rank's segment;
 * -1 if no list must be copied. The list holds indices of this rank's roots. */
static int64_t list_to_get(const forest_link *l, const osla_letters *theirs)
{
  const link_letter *other = osli_letter_of(theirs, l->rank);
  return l->is_near ? -1 : other->roots.list;
}

/* Copies the index lists of leaf ranks on other nodes to far_lists, with all transfers in flight at
 * the same time. */
static osla_err get_lists(osla_forest *f, const osla_letters *theirs)
{
  osla_segment *segment = f->piece.segment;
  size_t n = 0;
  for (int i = 0; i < f->to_leaves.n; i++)
    if (list_to_get(&f->to_leaves.of[i], theirs) >= 0) n += (size_t)f->to_leaves.of[i].edges;
  osla_transfer *transfer = malloc((size_t)(f->to_leaves.n + 1) * sizeof *transfer);
  f->far_lists = malloc((n + 1) * sizeof *f->far_lists);
  if (!transfer || !f->far_lists) {
    free(transfer);
    return osla_error_set(OSLA_ERR_MEM, "lists of %d links", f->to_leaves.n);
  }
  osla_err err = OSLA_OK;
  int started = 0;
  uint32_t *far = f->far_lists;
  for (int i = 0; i < f->to_leaves.n && err == OSLA_OK; i++) {
    forest_link *l = &f->to_leaves.of[i];
    const int64_t list = list_to_get(l, theirs);
    if (list < 0) continue;
    err = osla_segment_get(segment, l->rank, (size_t)list, far, (size_t)l->edges * sizeof *far,
                           &transfer[started]);
    started += err == OSLA_OK;
    l->mine.list = far;
    far += l->edges;
  }
  for (int i = 0; i < started; i++) {
    osla_err one = osla_transfer_wait(segment, &transfer[i]);
    if (err == OSLA_OK) err = one;
  }
  free(transfer);
  return err;
}

static osla_err connect_to_leaves(osla_forest *f, const osla_letters *theirs)
{
  f->low_root = f->to_leaves.n > 0 ? INT64_MAX : 0;
  f->high_root = -1;
  for (int i = 0; i < f->to_leaves.n; i++) {
    forest_link *l = &f->to_leaves.of[i];
    const link_letter *other = osli_letter_of(theirs, l->rank);
    OSLA_CALL(connect_ring(f, l, other, false));
    osli_link_set_lists(f, l, &other->roots, &other->leaves);
    l->low_root = other->low_root;
    l->high_root = other->high_root;
    if (l->low_root < f->low_root) f->low_root = l->low_root;
    if (l->high_root > f->high_root) f->high_root = l->high_root;
  }
  return get_lists(f, theirs);
}

/* ---- creation ---- */

/* Allocates the memory of this rank's links, and exchanges a letter (short message) with the rank
 * at the other end of each link. If any rank passes an error as `local`, all ranks return this
 * error. Collective. */
static osla_err connect_links(osla_forest *f, osla_err local, const forest_edges *e,
                              osla_exchange *x)
{
  layout lay;
  forest_lists lists = {NULL, NULL};
  osla_letters mine = {.bytes = sizeof(link_letter)}, theirs = mine;
  if (local == OSLA_OK) local = osli_forest_lists_make(f, e, &lists);
  osla_err err = allocate_memory(f, local, &lay, &mine);
  if (err == OSLA_OK) {
    unsigned char *staging = f->staging;
    f->control = (forest_control *)(void *)piece_at(f, lay.control);
    memset(f->control, 0, sizeof *f->control);
    start_rings(f, &f->to_roots, &staging);
    start_rings(f, &f->to_leaves, &staging);
    osli_forest_lists_copy(f, (uint32_t *)(void *)piece_at(f, lay.lists));
    if (e->leaf) local = osli_edges_check_unique(e, lists.leaf);
    err = write_letters(f, &lay, &mine);
    if (err == OSLA_OK) err = osli_exchange_run(x, &mine, mine.n, &theirs);
    if (err == OSLA_OK) err = connect_to_roots(f, e, &lists, &theirs);
    if (err == OSLA_OK) err = connect_to_leaves(f, &theirs);
    err = osla_agree(f->t, local != OSLA_OK ? local : err);
  }
  free(lists.leaf);
  osli_letters_free(&mine);
  osli_letters_free(&theirs);
  return err;
}

/* Creates the links of this rank: one to each rank with which it shares edges. If any rank passes
 * an error as `local`, all ranks return this error. Collective. */
static osla_err join_ranks(osla_forest *f, osla_err local, const forest_edges *e)
{
  osla_exchange *x = NULL;
  osla_letters mine = {0}, theirs = {0};
  if (local == OSLA_OK) local = write_edge_counts(f, e, &mine);
  if (local == OSLA_OK) local = osli_exchange_open(f->t, sizeof(link_letter), &x);
  osla_err err = osla_agree(f->t, local);
  if (err == OSLA_OK) {
    local = osli_exchange_run(x, &mine, -1, &theirs);
    if (local == OSLA_OK) local = make_links(f, &mine, &f->to_roots);
    if (local == OSLA_OK) local = make_links(f, &theirs, &f->to_leaves);
    err = connect_links(f, local, e, x);
  }
  osli_letters_free(&mine);
  osli_letters_free(&theirs);
  osli_exchange_close(&x);
  return err;
}

static void free_links(forest_links *links)
{
  for (int i = 0; i < links->n; i++) {
    osli_ring_close(&links->of[i].ring);
    osli_index_forget(&links->of[i].mine);
    osli_index_forget(&links->of[i].theirs);
  }
  free(links->of);
  free(links->ranks);
}

void osli_forest_free_one_level(osla_forest **forest)
{
  osla_forest *f = *forest;
  *forest = NULL;
  if (!f) return;
  free_links(&f->to_roots);
  free_links(&f->to_leaves);
  osli_pool_release(f->pool, &f->piece);
  free(f->far_lists);
  free(f->staging);
  osli_forest_gather_free(&f->gather);
  free(f);
}

osla_err osli_forest_create_from_edges(osla_transport *t, osla_err local, int64_t n_roots,
                                       const forest_edges *edges, osla_forest **out)
{
  forest_pool *pool;
  OSLA_CALL(osli_forest_pool(t, local, &pool));
  osla_forest *f = calloc(1, sizeof *f);
  /* The other ranks call osla_agree in join_ranks. This call belongs to theirs, so that they fail,
   * too. */
  if (!f) return osla_agree(t, osla_error_set(OSLA_ERR_MEM, "forest object"));
  f->t = t;
  f->pool = pool;
  f->creation_index = pool->n_forests + 1;
  f->n_roots = n_roots;
  f->n_edges = edges->n;
  f->leaf_space = edges->leaf_space;
  f->low_leaf = edges->low_leaf;
  const osla_err err = join_ranks(f, local, edges);
  if (err == OSLA_OK)
    *out = f;
  else
    osli_forest_free_one_level(&f);
  return err;
}

/* ---- destruction ---- */

static bool links_are_empty(const forest_links *links)
{
  bool all = true;
  for (int i = 0; i < links->n; i++) {
    forest_ring *ring = &links->of[i].ring;
    if (!links->of[i].is_self) all &= osli_ring_credit_all(ring) && osli_ring_is_empty(ring);
  }
  return all;
}

/* True if, in all rings of this rank, all parts that were sent and consumed are acknowledged. If
 * this is true on all ranks, no rank writes a counter any more, and another forest may use this
 * memory. */
static bool rings_are_empty(void *arg)
{
  osla_forest *f = arg;
  osli_forests_serve(f->pool);
  osli_pool_lock(f->pool);
  bool of_roots = links_are_empty(&f->to_roots), of_leaves = links_are_empty(&f->to_leaves);
  if (!of_roots || !of_leaves) osli_forest_check_rings(f);
  osli_pool_unlock(f->pool);
  return of_roots && of_leaves;
}

static osla_err wait_for_posted(forest_links *links)
{
  for (int i = 0; i < links->n; i++)
    if (!links->of[i].is_self) OSLA_CALL(osli_ring_wait_posted(&links->of[i].ring));
  return OSLA_OK;
}

/* Removes the forest from the pool's list of active forests. */
static void deactivate(osla_forest *f)
{
  osli_pool_lock(f->pool);
  osla_forest **at = &f->pool->active;
  while (*at && *at != f)
    at = &(*at)->next_active;
  if (*at) *at = f->next_active;
  f->is_active = false;
  osli_pool_unlock(f->pool);
}

osla_err osli_forest_retire_one_level(osla_forest *f)
{
  if (!f) return OSLA_OK;
  osla_segment_wait(f->pool->segments->segment, rings_are_empty, f);
  deactivate(f);
  osla_err err = wait_for_posted(&f->to_roots);
  if (err == OSLA_OK) err = wait_for_posted(&f->to_leaves);
  return err;
}
