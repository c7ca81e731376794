/* Links from edges. Who has leaves knows which roots they are joined to; who has roots hears of it
 * in two exchanges: how many edges, from ranks that it does not know; then, between those who are
 * joined, where in the pool the lists, words and slots of the link lie. The roots' owner reads the
 * lists of a neighbour where they are and gets the others', where these are needed. (Section 5.1 of
 * the paper, where leaves' ranks send them.) */
#include "kernels/forest/forest_lists.h"
#include "src/transport/exchange.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* What a rank sends to those that it is joined to; before that the roots' owners alone: how many
 * edges there are, an int64_t. */
typedef struct places {
  int64_t n_roots, control;
  int n_far;                   /* as in the forest */
  list_form leaves, roots;     /* of the edges from my leaves to your roots */
  int64_t low_root, high_root; /* as in forest_link */
  bool thin_leaves, thin_roots;
  int64_t leaf_words, leaf_slots; /* of that link, at me */
  int64_t root_words, root_slots; /* of the link from your leaves to my roots, at me */
} places;
_Static_assert(sizeof(places) <= OSLA_MOST_LETTER, "a letter");

/* Of mine to that rank; it is joined to me. */
static const places *places_of(const osla_letters *theirs, int rank)
{
  return osli_letter_of(theirs, rank);
}

/* ---- who is joined to whom ---- */

static osla_err count_edges(const osla_forest *f, const forest_edges *e, osla_letters *out)
{
  *out = (osla_letters){.bytes = sizeof(int64_t)};
  for (int p = 0; p < osla_transport_size(f->t); p++) {
    const int64_t edges = e->start[p + 1] - e->start[p];
    if (edges > 0) OSLA_CALL(osli_letters_add(out, p, &edges));
  }
  return OSLA_OK;
}

/* `edges`: with each rank. */
static osla_err make_links(osla_forest *f, const osla_letters *edges, forest_links *out)
{
  out->of = calloc((size_t)edges->n + 1, sizeof *out->of);
  out->ranks = calloc((size_t)edges->n + 1, sizeof *out->ranks);
  OSLA_CHECK(out->of && out->ranks, OSLA_ERR_MEM, "%d links", edges->n);
  for (int i = 0; i < edges->n; i++) {
    const int p = osli_letter_rank(edges, i);
    forest_link *l = &out->of[out->n];
    out->ranks[out->n++] = p;
    *l = (forest_link){
      .rank = p, .self = p == osla_transport_rank(f->t), .near = osla_transport_same_node(f->t, p)};
    memcpy(&l->edges, osli_letter(edges, i), sizeof l->edges);
    osli_ring_size(&l->ring, l->edges, l->near);
    f->n_far += !l->near;
  }
  return OSLA_OK;
}

/* ---- my part of the pool ---- */

static size_t reserve(size_t *at, size_t bytes)
{
  size_t start = *at;
  *at += (bytes + LINE - 1) / LINE * LINE;
  return start;
}

/* Offsets in my piece; those of links in far_words and far_slots, until the other's are known. */
typedef struct layout {
  size_t control, lists, bytes;
} layout;

static void reserve_rings(forest_links *links, size_t *at)
{
  for (int i = 0; i < links->n; i++) {
    forest_ring *ring = &links->of[i].ring;
    if (links->of[i].self) continue;
    ring->far_words = reserve(at, sizeof(ring_words));
    ring->far_slots = reserve(at, osli_ring_all_slots(ring));
  }
}

static layout lay_out(osla_forest *f)
{
  layout l = {0};
  l.control = reserve(&l.bytes, sizeof(forest_control));
  reserve_rings(&f->to_roots, &l.bytes);
  reserve_rings(&f->to_leaves, &l.bytes);
  l.lists = reserve(&l.bytes, osli_forest_lists_bytes(f));
  return l;
}

static unsigned char *piece_at(const osla_forest *f, size_t offset)
{
  return (unsigned char *)f->piece.memory + offset;
}

/* Of roots with leaves on other nodes, whose lists are to be got. */
static size_t far_count(const osla_forest *f, const osla_letters *theirs)
{
  size_t count = 0;
  for (int i = 0; i < f->to_leaves.n; i++) {
    const forest_link *l = &f->to_leaves.of[i];
    if (!l->near && places_of(theirs, l->rank)->roots.list >= 0) count += (size_t)l->edges;
  }
  return count;
}

static size_t staging_bytes(const forest_links *links)
{
  size_t bytes = 0;
  for (int i = 0; i < links->n; i++)
    if (!links->of[i].near) bytes += osli_ring_staging(&links->of[i].ring);
  return bytes;
}

/* ---- what each side needs of the other ---- */

static void start_rings(osla_forest *f, forest_links *links, unsigned char **staging)
{
  for (int i = 0; i < links->n; i++) {
    forest_ring *ring = &links->of[i].ring;
    if (links->of[i].self) continue;
    ring->pool = f->pool;
    ring->segment = f->piece.segment;
    ring->rank = links->of[i].rank;
    osli_ring_start(ring, piece_at(f, ring->far_words), piece_at(f, ring->far_slots));
    if (links->of[i].near) continue;
    osli_ring_stage(ring, *staging);
    *staging += osli_ring_staging(ring);
  }
}

static int rank_of(const forest_links *links, int i)
{
  return i < links->n ? links->ranks[i] : INT_MAX;
}

/* One for each rank that I am joined to in any way; there is room for them. */
static osla_err tell_places(const osla_forest *f, const layout *l, osla_letters *out)
{
  const int64_t base = (int64_t)f->piece.offset;
  const forest_links *roots = &f->to_roots, *leaves = &f->to_leaves;
  for (int i = 0, j = 0; i < roots->n || j < leaves->n;) {
    const bool first = rank_of(roots, i) <= rank_of(leaves, j);
    const int p = first ? rank_of(roots, i) : rank_of(leaves, j);
    places mine = {.n_roots = f->n_roots, .control = base + (int64_t)l->control, .n_far = f->n_far};
    if (rank_of(roots, i) == p) {
      const forest_link *link = &roots->of[i++];
      mine.roots = osli_forest_form_of_roots(f, link);
      mine.leaves = osli_forest_form_of_leaves(f, link);
      mine.low_root = link->low_root;
      mine.high_root = link->high_root;
      mine.thin_leaves = link->thin_mine;
      mine.thin_roots = link->thin_theirs;
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

static const void *at_neighbour(const osla_forest *f, int rank, int64_t offset)
{
  return (const unsigned char *)osla_segment_peer(f->piece.segment, rank) + offset;
}

/* Where both ranks have few links to other nodes: while a forest has something under way, all that
 * may come is looked for in each step of progress. */
static osla_err open_lines(const osla_forest *f, forest_ring *ring, const places *other,
                           bool to_roots)
{
  enum { FEW_LINKS = 64 };
  const int down = 2 * f->piece.number, up = down + 1; /* from roots to leaves */
  if (down < 0 || f->n_far > FEW_LINKS || other->n_far > FEW_LINKS) return OSLA_OK;
  return osli_ring_open_lines(ring, to_roots ? down : up, to_roots ? up : down);
}

static osla_err connect_ring(const osla_forest *f, forest_link *l, const places *other,
                             bool to_roots)
{
  const int64_t words = to_roots ? other->root_words : other->leaf_words;
  const int64_t slots = to_roots ? other->root_slots : other->leaf_slots;
  if (l->self) return OSLA_OK;
  l->ring.far_words = (size_t)words;
  l->ring.far_slots = (size_t)slots;
  if (!l->near) return open_lines(f, &l->ring, other, to_roots);
  l->ring.near_slots = (unsigned char *)(uintptr_t)at_neighbour(f, l->rank, slots);
  l->ring.near_words = (ring_words *)(uintptr_t)at_neighbour(f, l->rank, words);
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
    const places *other = places_of(theirs, l->rank);
    const int64_t start = e->start[l->rank];
    OSLA_CALL(check_roots(f, l, lists->leaf + start, lists->root + start, other->n_roots));
    if (l->near) l->control = (forest_control *)(uintptr_t)at_neighbour(f, l->rank, other->control);
    OSLA_CALL(connect_ring(f, l, other, true));
  }
  return OSLA_OK;
}

/* Lists of others than neighbours, all at the same time, into far_lists. */
static osla_err get_lists(osla_forest *f, const osla_letters *theirs)
{
  osla_segment *segment = f->piece.segment;
  osla_transfer *transfer = malloc((size_t)(f->to_leaves.n + 1) * sizeof *transfer);
  f->far_lists = malloc((far_count(f, theirs) + 1) * sizeof *f->far_lists);
  if (!transfer || !f->far_lists) {
    free(transfer);
    return osla_error_set(OSLA_ERR_MEM, "lists of %d links", f->to_leaves.n);
  }
  osla_err err = OSLA_OK;
  int started = 0;
  uint32_t *far = f->far_lists;
  for (int i = 0; i < f->to_leaves.n && err == OSLA_OK; i++) {
    forest_link *l = &f->to_leaves.of[i];
    const int64_t list = places_of(theirs, l->rank)->roots.list;
    if (l->near || list < 0) continue;
    err = osla_segment_get(segment, l->rank, (size_t)list, far, (size_t)l->edges * sizeof *far,
                           &transfer[started]);
    started += err == OSLA_OK;
    l->mine = far;
    far += l->edges;
  }
  for (int i = 0; i < started; i++) {
    osla_err one = osla_transfer_wait(segment, &transfer[i]);
    if (err == OSLA_OK) err = one;
  }
  free(transfer);
  return err;
}

static void take_range(osla_forest *f, const forest_link *l)
{
  if (l->low_root < f->low_root || f->high_root < 0) f->low_root = l->low_root;
  if (l->high_root > f->high_root) f->high_root = l->high_root;
}

static osla_err connect_to_leaves(osla_forest *f, const osla_letters *theirs)
{
  f->high_root = -1; /* none; low_root is 0 then */
  for (int i = 0; i < f->to_leaves.n; i++) {
    forest_link *l = &f->to_leaves.of[i];
    const places *other = places_of(theirs, l->rank);
    OSLA_CALL(connect_ring(f, l, other, false));
    osli_forest_take_forms(f, l, &other->roots, &other->leaves);
    l->low_root = other->low_root;
    l->high_root = other->high_root;
    l->thin_mine = other->thin_roots;
    l->thin_theirs = other->thin_leaves;
    take_range(f, l);
    if (l->near) l->control = (forest_control *)(uintptr_t)at_neighbour(f, l->rank, other->control);
  }
  return get_lists(f, theirs);
}

/* `err`: whether lists could be made. */
static osla_err take_memory(osla_forest *f, osla_err err, layout *lay, osla_letters *letters)
{
  *lay = lay_out(f);
  size_t staging = staging_bytes(&f->to_roots) + staging_bytes(&f->to_leaves);
  f->staging = calloc(staging + 1, 1);
  if (err == OSLA_OK) err = osli_letters_reserve(letters, f->to_roots.n + f->to_leaves.n);
  if (!f->staging) err = osla_error_set(OSLA_ERR_MEM, "%zu bytes to send from", staging);
  OSLA_CALL(osla_agree(f->t, err));
  return osli_pool_take(f->pool, lay->bytes, &f->piece);
}

static osla_err connect(osla_forest *f, const forest_edges *e, osla_exchange *x)
{
  layout lay;
  forest_lists lists = {NULL, NULL};
  osla_letters mine = {.bytes = sizeof(places)}, theirs = mine;
  osla_err local = osli_forest_lists_make(f, e, &lists);
  osla_err err = take_memory(f, local, &lay, &mine);
  if (err == OSLA_OK) {
    unsigned char *staging = f->staging;
    f->control = (forest_control *)(void *)piece_at(f, lay.control);
    memset(f->control, 0, sizeof *f->control);
    start_rings(f, &f->to_roots, &staging);
    start_rings(f, &f->to_leaves, &staging);
    osli_forest_lists_keep(f, (uint32_t *)(void *)piece_at(f, lay.lists));
    if (e->leaf) local = osli_forest_check_once(e, lists.leaf);
    err = tell_places(f, &lay, &mine);
    if (err == OSLA_OK) err = osli_exchange_run(x, &mine, mine.n, &theirs);
    if (err == OSLA_OK) err = connect_to_roots(f, e, &lists, &theirs);
    if (err == OSLA_OK) err = connect_to_leaves(f, &theirs);
    err = osla_agree(f->t, local != OSLA_OK ? local : err);
  }
  osli_pool_scratch_done(f->pool);
  osli_letters_free(&mine);
  osli_letters_free(&theirs);
  return err;
}

osla_err osli_forest_join(osla_forest *f, const forest_edges *e)
{
  osla_exchange *x = NULL;
  osla_letters mine, theirs = {0};
  osla_err err = count_edges(f, e, &mine);
  if (err == OSLA_OK) err = osli_exchange_open(f->t, sizeof(places), &x);
  err = osla_agree(f->t, err);
  if (err == OSLA_OK) {
    err = osli_exchange_run(x, &mine, -1, &theirs);
    if (err == OSLA_OK) err = make_links(f, &mine, &f->to_roots);
    if (err == OSLA_OK) err = make_links(f, &theirs, &f->to_leaves);
    err = osla_agree(f->t, err);
  }
  osli_letters_free(&mine);
  osli_letters_free(&theirs);
  if (err == OSLA_OK) err = connect(f, e, x);
  osli_exchange_close(&x);
  return err;
}
