/* Links from edges. Who has leaves knows which roots they are joined to; who has roots hears of it
 * in two exchanges between all ranks: how many edges, and where in the pool the lists, words and
 * slots of the link lie. The roots' owner reads the lists of a neighbour where they are and gets
 * the others'. (Section 5.1 of the paper, where leaves' ranks send them.) */
#include "forest_setup.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* What a rank tells another one first, and then. */
typedef struct counts {
  int64_t edges; /* from my leaves to your roots */
  int64_t roots; /* mine */
} counts;
typedef struct places {
  int64_t control;
  int64_t leaf_list, root_list;   /* of the edges from my leaves to your roots */
  int64_t leaf_words, leaf_slots; /* of that link, at me */
  int64_t root_words, root_slots; /* of the link from your leaves to my roots, at me */
} places;
enum { COUNTS = sizeof(counts) / sizeof(int64_t), PLACES = sizeof(places) / sizeof(int64_t) };

/* ---- who is joined to whom ---- */

static osla_err exchange_counts(const osla_forest *f, const forest_edges *e, counts *mine,
                                counts *theirs)
{
  for (int p = 0; p < osla_transport_size(f->t); p++)
    mine[p] = (counts){e->start[p + 1] - e->start[p], f->n_roots};
  return osla_alltoall(f->t, mine, theirs, COUNTS, MPI_INT64_T);
}

static osla_err check_roots(const osla_transport *t, const forest_edges *e, const counts *theirs)
{
  for (int64_t i = 0; i < e->n; i++)
    OSLA_CHECK(e->root[i].index < theirs[e->root[i].rank].roots, OSLA_ERR_ARG,
               "leaf %" PRId64 " of rank %d: rank %" PRId32 " has no root %" PRId64
               ", it has %" PRId64 " (from 0)",
               e->leaf ? e->leaf[i] : i, osla_transport_rank(t), e->root[i].rank, e->root[i].index,
               theirs[e->root[i].rank].roots);
  return OSLA_OK;
}

static osla_err make_links(osla_forest *f, const counts *with, forest_links *out)
{
  int size = osla_transport_size(f->t), n = 0;
  for (int p = 0; p < size; p++)
    n += with[p].edges > 0;
  out->of = calloc((size_t)n + 1, sizeof *out->of);
  out->ranks = calloc((size_t)n + 1, sizeof *out->ranks);
  OSLA_CHECK(out->of && out->ranks, OSLA_ERR_MEM, "%d links", n);
  for (int p = 0; p < size; p++) {
    if (with[p].edges == 0) continue;
    forest_link *l = &out->of[out->n];
    out->ranks[out->n++] = p;
    *l = (forest_link){.rank = p,
                       .self = p == osla_transport_rank(f->t),
                       .near = osla_transport_same_node(f->t, p),
                       .edges = with[p].edges};
    osla_ring_size(&l->ring, l->edges, l->near);
    f->has_far |= !l->near;
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
  size_t control, leaf_list, root_list, bytes;
} layout;

static void reserve_rings(forest_links *links, size_t *at)
{
  for (int i = 0; i < links->n; i++) {
    forest_ring *ring = &links->of[i].ring;
    if (links->of[i].self) continue;
    ring->far_words = reserve(at, sizeof(ring_words));
    ring->far_slots = reserve(at, osla_ring_all_slots(ring));
  }
}

static layout lay_out(osla_forest *f)
{
  layout l = {0};
  size_t list = (size_t)f->n_edges * sizeof(uint32_t);
  l.control = reserve(&l.bytes, sizeof(forest_control));
  reserve_rings(&f->to_roots, &l.bytes);
  reserve_rings(&f->to_leaves, &l.bytes);
  l.leaf_list = reserve(&l.bytes, list);
  l.root_list = reserve(&l.bytes, list);
  return l;
}

static unsigned char *piece_at(const osla_forest *f, size_t offset)
{
  return (unsigned char *)f->piece.memory + offset;
}

static size_t far_count(const forest_links *links)
{
  size_t count = 0;
  for (int i = 0; i < links->n; i++)
    if (!links->of[i].near) count += (size_t)links->of[i].edges;
  return count;
}

static size_t staging_bytes(const forest_links *links)
{
  size_t bytes = 0;
  for (int i = 0; i < links->n; i++)
    if (!links->of[i].near) bytes += osla_ring_staging(&links->of[i].ring);
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
    osla_ring_start(ring, piece_at(f, ring->far_words), piece_at(f, ring->far_slots));
    if (links->of[i].near) continue;
    osla_ring_stage(ring, *staging);
    *staging += osla_ring_staging(ring);
  }
}

static void tell_places(const osla_forest *f, const forest_edges *e, const layout *l, places *mine)
{
  int64_t base = (int64_t)f->piece.offset, item = sizeof(uint32_t);
  for (int p = 0; p < osla_transport_size(f->t); p++)
    mine[p] = (places){.control = base + (int64_t)l->control,
                       .leaf_list = base + (int64_t)l->leaf_list + e->start[p] * item,
                       .root_list = base + (int64_t)l->root_list + e->start[p] * item};
  for (int i = 0; i < f->to_roots.n; i++) {
    const forest_link *link = &f->to_roots.of[i];
    mine[link->rank].leaf_words = base + (int64_t)link->ring.far_words;
    mine[link->rank].leaf_slots = base + (int64_t)link->ring.far_slots;
  }
  for (int i = 0; i < f->to_leaves.n; i++) {
    const forest_link *link = &f->to_leaves.of[i];
    mine[link->rank].root_words = base + (int64_t)link->ring.far_words;
    mine[link->rank].root_slots = base + (int64_t)link->ring.far_slots;
  }
}

/* A list that ascends by 1 is known by its first. */
static void simplify(const uint32_t **list, int64_t *first, int64_t n)
{
  const uint32_t *at = *list;
  for (int64_t i = 1; i < n; i++)
    if ((int64_t)at[i] != (int64_t)at[0] + i) return;
  *first = at[0];
  *list = NULL;
}

static const void *at_neighbour(const osla_forest *f, int rank, int64_t offset)
{
  return (const unsigned char *)osla_segment_peer(f->piece.segment, rank) + offset;
}

static void connect_ring(const osla_forest *f, forest_link *l, int64_t words, int64_t slots)
{
  if (l->self) return;
  l->ring.far_words = (size_t)words;
  l->ring.far_slots = (size_t)slots;
  if (!l->near) return;
  l->ring.near_slots = (unsigned char *)(uintptr_t)at_neighbour(f, l->rank, slots);
  l->ring.near_words = (ring_words *)(uintptr_t)at_neighbour(f, l->rank, words);
}

static void connect_to_roots(osla_forest *f, const forest_edges *e, const layout *lay,
                             const places *theirs)
{
  const uint32_t *leaf = (const uint32_t *)(const void *)piece_at(f, lay->leaf_list);
  const uint32_t *root = (const uint32_t *)(const void *)piece_at(f, lay->root_list);
  for (int i = 0; i < f->to_roots.n; i++) {
    forest_link *l = &f->to_roots.of[i];
    const places *other = &theirs[l->rank];
    l->mine = leaf + e->start[l->rank];
    l->theirs = root + e->start[l->rank];
    simplify(&l->mine, &l->mine_first, l->edges);
    simplify(&l->theirs, &l->theirs_first, l->edges);
    if (l->near) l->control = (forest_control *)(uintptr_t)at_neighbour(f, l->rank, other->control);
    connect_ring(f, l, other->root_words, other->root_slots);
  }
}

/* Lists of others than neighbours, all at the same time, into far_lists. */
static osla_err get_lists(osla_forest *f, const places *theirs)
{
  osla_segment *segment = f->piece.segment;
  osla_transfer *transfer = malloc((size_t)(f->to_leaves.n + 1) * sizeof *transfer);
  OSLA_CHECK(transfer, OSLA_ERR_MEM, "lists of %d links", f->to_leaves.n);
  osla_err err = OSLA_OK;
  int started = 0;
  uint32_t *far = f->far_lists;
  for (int i = 0; i < f->to_leaves.n && err == OSLA_OK; i++) {
    forest_link *l = &f->to_leaves.of[i];
    if (l->near) continue;
    err = osla_segment_get(segment, l->rank, (size_t)theirs[l->rank].root_list, far,
                           (size_t)l->edges * sizeof *far, &transfer[started]);
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

static osla_err connect_to_leaves(osla_forest *f, const places *theirs)
{
  for (int i = 0; i < f->to_leaves.n; i++) {
    forest_link *l = &f->to_leaves.of[i];
    const places *other = &theirs[l->rank];
    connect_ring(f, l, other->leaf_words, other->leaf_slots);
    if (!l->near) continue;
    l->control = (forest_control *)(uintptr_t)at_neighbour(f, l->rank, other->control);
    l->mine = at_neighbour(f, l->rank, other->root_list);
    l->theirs = at_neighbour(f, l->rank, other->leaf_list);
    simplify(&l->theirs, &l->theirs_first, l->edges);
  }
  return get_lists(f, theirs);
}

/* The roots that have edges. */
static void find_roots(osla_forest *f)
{
  f->low_root = f->to_leaves.n > 0 ? INT64_MAX : 0;
  f->high_root = -1;
  for (int i = 0; i < f->to_leaves.n; i++) {
    forest_link *l = &f->to_leaves.of[i];
    for (int64_t k = 0; k < l->edges; k++) {
      if (l->mine[k] < f->low_root) f->low_root = l->mine[k];
      if (l->mine[k] > f->high_root) f->high_root = l->mine[k];
    }
    simplify(&l->mine, &l->mine_first, l->edges);
  }
}

/* Are there less than two of these vertices, of 8 bytes each, in a line of memory? */
static osla_err look_if_thin(const uint32_t *list, int64_t n, bool *thin)
{
  enum { FEW = 16, IN_LINE = LINE / 8, SPREAD = 64 };
  uint32_t low = UINT32_MAX, high = 0;
  int64_t lines = 0;
  *thin = false;
  if (!list || n <= FEW) return OSLA_OK;
  for (int64_t i = 0; i < n; i++) {
    if (list[i] < low) low = list[i];
    if (list[i] > high) high = list[i];
  }
  low /= IN_LINE;
  const size_t range = (size_t)(high / IN_LINE - low) + 1;
  *thin = range > SPREAD * (size_t)n; /* almost each has a line of its own */
  if (*thin) return OSLA_OK;
  unsigned char *met = calloc(range, 1);
  OSLA_CHECK(met, OSLA_ERR_MEM, "%zu marks of lines", range);
  for (int64_t i = 0; i < n; i++) {
    lines += !met[list[i] / IN_LINE - low];
    met[list[i] / IN_LINE - low] = 1;
  }
  free(met);
  *thin = n < 2 * lines;
  return OSLA_OK;
}

static osla_err find_thin(forest_links *links)
{
  for (int i = 0; i < links->n; i++) {
    forest_link *l = &links->of[i];
    if (!l->near || l->self) continue;
    OSLA_CALL(look_if_thin(l->mine, l->edges, &l->thin_mine));
    OSLA_CALL(look_if_thin(l->theirs, l->edges, &l->thin_theirs));
  }
  return OSLA_OK;
}

static osla_err take_memory(osla_forest *f, layout *lay)
{
  *lay = lay_out(f);
  size_t staging = staging_bytes(&f->to_roots) + staging_bytes(&f->to_leaves);
  f->far_lists = malloc((far_count(&f->to_leaves) + 1) * sizeof *f->far_lists);
  f->staging = calloc(staging + 1, 1);
  bool have = f->far_lists && f->staging;
  OSLA_CALL(osla_agree(
    f->t, have ? OSLA_OK : osla_error_set(OSLA_ERR_MEM, "%zu bytes to send from", staging)));
  return osla_pool_take(f->pool, lay->bytes, &f->piece);
}

/* `local`: what was found in the edges; told to all with what is found here. */
static osla_err connect(osla_forest *f, const forest_edges *e, places *mine, places *theirs,
                        osla_err local)
{
  layout lay;
  OSLA_CALL(take_memory(f, &lay));
  unsigned char *staging = f->staging;
  uint32_t *leaf = (uint32_t *)(void *)piece_at(f, lay.leaf_list);
  f->control = (forest_control *)(void *)piece_at(f, lay.control);
  memset(f->control, 0, sizeof *f->control);
  start_rings(f, &f->to_roots, &staging);
  start_rings(f, &f->to_leaves, &staging);
  osla_forest_sort(osla_transport_size(f->t), e, leaf,
                   (uint32_t *)(void *)piece_at(f, lay.root_list));
  if (local == OSLA_OK && e->leaf) local = osla_forest_check_once(e, leaf);
  tell_places(f, e, &lay, mine);
  OSLA_CALL(osla_alltoall(f->t, mine, theirs, PLACES, MPI_INT64_T));
  connect_to_roots(f, e, &lay, theirs);
  osla_err err = connect_to_leaves(f, theirs);
  if (err == OSLA_OK) find_roots(f);
  if (err == OSLA_OK) err = find_thin(&f->to_roots);
  if (err == OSLA_OK) err = find_thin(&f->to_leaves);
  return osla_agree(f->t, local != OSLA_OK ? local : err);
}

osla_err osla_forest_join(osla_forest *f, const forest_edges *e)
{
  size_t size = (size_t)osla_transport_size(f->t);
  counts *count = calloc(2 * size, sizeof *count);
  places *place = calloc(2 * size, sizeof *place);
  osla_err local = OSLA_OK,
           err = osla_agree(f->t, count && place
                                    ? OSLA_OK
                                    : osla_error_set(OSLA_ERR_MEM, "counts of %zu ranks", size));
  if (err == OSLA_OK) err = exchange_counts(f, e, count, count + size);
  if (err == OSLA_OK) {
    local = check_roots(f->t, e, count + size);
    err = make_links(f, count, &f->to_roots);
    if (err == OSLA_OK) err = make_links(f, count + size, &f->to_leaves);
    err = osla_agree(f->t, err);
  }
  if (err == OSLA_OK) err = connect(f, e, place, place + size, local);
  free(count);
  free(place);
  return err;
}
