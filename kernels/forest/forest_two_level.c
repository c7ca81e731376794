/* Two-level transfers between nodes (see forest_two_level in forest.h): for all leaves of a node
 * that are joined to the same root, a single value is sent between nodes. In section 5.2 of the
 * paper by Zhang et al., this saving is left to MPI. */
#include "kernels/common/lists.h"
#include "kernels/forest/forest_serve.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- transfers ---- */

bool osli_forest_has_two_levels(const osla_forest *f, const forest_transfer *x)
{
  const osla_forest_combine requested = osli_forest_requested_combine(x->signature);
  if (!f->two_level || x->kind == FOREST_FETCH || x->function) return false;
  return x->kind == FOREST_BCAST || requested == OSLA_SUM_ARRIVAL ||
         (osli_unit_is_integer(x->type) && requested != OSLA_REPLACE);
}

osla_err osli_two_level_begin(osla_forest *f, forest_transfer *x)
{
  forest_two_level *s = f->two_level;
  size_t bytes;
  if (__builtin_mul_overflow(s->n_proxies, x->stride, &bytes)) bytes = SIZE_MAX - 1;
  two_level_run *run = calloc(1, sizeof *run);
  unsigned char *proxies = malloc(bytes + 1);
  osla_err err = run && proxies
                   ? OSLA_OK
                   : osla_error_set(OSLA_ERR_MEM, "%" PRId64 " proxies of %" PRId64 " bytes each",
                                    s->n_proxies, x->stride);
  if (err == OSLA_OK) err = osli_forest_wait_for_free(s->near);
  if (err != OSLA_OK) {
    free(proxies);
    free(run);
    return err;
  }
  if (x->kind == FOREST_REDUCE)
    osli_unit_identity(x->type, x->combine, x->count, proxies, x->stride, s->n_proxies);
  run->proxies = proxies;
  x->two_level = run;
  return OSLA_OK;
}

/* Starts the part of a two-level transfer that runs on the forest `on`. Returns the number of the
 * transfer on that forest. */
static uint64_t start_part(const forest_two_level *s, const forest_transfer *x, osla_forest *on)
{
  const two_level_run *run = x->two_level;
  const bool is_bcast = x->kind == FOREST_BCAST;
  const bool reads_proxies = on == (is_bcast ? s->spread : s->wire);
  const bool writes_proxies = on == (is_bcast ? s->wire : s->spread);
  const osla_forest_combine combine = is_bcast && writes_proxies ? OSLA_REPLACE : x->combine;
  const forest_transfer part = {
    .kind = x->kind,
    .combine = combine,
    .type = x->type,
    .signature = on == s->near
                   ? x->signature
                   : osli_forest_signature(x->kind, combine, x->type, (int32_t)x->count),
    .count = x->count,
    .stride = x->stride,
    .from = reads_proxies ? run->proxies : x->from,
    .to = writes_proxies ? run->proxies : x->to,
  };
  return osli_forest_start(on, &part);
}

void osli_two_level_enqueue(osla_forest *f)
{
  forest_two_level *s = f->two_level;
  const forest_transfer *x = osli_forest_transfer(f, f->begun);
  x->two_level->near = start_part(s, x, s->near);
  if (!s->is_pending) {
    s->is_pending = true;
    /* no earlier transfer has a part that must start first */
    s->next_wire = s->next_spread = f->begun;
    s->next_pending = f->pool->pending;
    f->pool->pending = f;
  }
  (void)osli_two_level_advance(f->pool);
}

static bool can_begin(osla_forest *f)
{
  if (f->begun < MOST_TRANSFERS) return true;
  const uint64_t before = f->begun + 1 - MOST_TRANSFERS;
  return osli_forest_transfer(f, before)->ended && osli_forest_neighbours_are_done(f, before);
}

/* True if a part of a two-level transfer can start. The second part can start when the values of
 * the proxies on this rank are complete. */
static bool can_start(const forest_two_level *s, const forest_transfer *x, bool on_wire)
{
  const two_level_run *run = x->two_level;
  const uint64_t other = on_wire ? run->spread : run->wire;
  if (!can_begin(on_wire ? s->wire : s->spread)) return false;
  if (on_wire == (x->kind == FOREST_BCAST)) return true;
  return other > 0 && osli_forest_is_over(on_wire ? s->spread : s->wire, other, true);
}

/* Starts parts on `wire` or on `spread`, in the order of the transfers, as far as they can start
 * now. */
static bool advance_forest(osla_forest *f, bool on_wire)
{
  forest_two_level *s = f->two_level;
  uint64_t *next = on_wire ? &s->next_wire : &s->next_spread;
  bool any = false;
  for (; *next <= f->begun; ++*next) {
    const forest_transfer *x = osli_forest_transfer(f, *next);
    if (!x->two_level) continue;
    if (!can_start(s, x, on_wire)) break;
    *(on_wire ? &x->two_level->wire : &x->two_level->spread) =
      start_part(s, x, on_wire ? s->wire : s->spread);
    any = true;
  }
  return any;
}

bool osli_two_level_advance(forest_pool *pool)
{
  bool any = false;
  for (osla_forest **at = &pool->pending; *at;) {
    forest_two_level *s = (*at)->two_level;
    any |= advance_forest(*at, true);
    any |= advance_forest(*at, false);
    /* tries `wire` again, because a reduction's part on `spread` may have ended at once */
    any |= advance_forest(*at, true);
    s->is_pending = s->next_wire <= (*at)->begun || s->next_spread <= (*at)->begun;
    if (s->is_pending)
      at = &s->next_pending;
    else
      *at = s->next_pending;
  }
  return any;
}

bool osli_two_level_is_over(osla_forest *f, const forest_transfer *x, bool with_readers)
{
  const forest_two_level *s = f->two_level;
  const two_level_run *run = x->two_level;
  return run->wire > 0 && run->spread > 0 &&
         osli_forest_is_over(s->near, run->near, with_readers) &&
         osli_forest_is_over(s->wire, run->wire, true) &&
         osli_forest_is_over(s->spread, run->spread, true);
}

void osli_two_level_end(osla_forest *f, forest_transfer *x, bool with_readers)
{
  osli_forest_mark_ended(f->two_level->near, x->two_level->near, with_readers);
  osli_forest_mark_ended(f->two_level->wire, x->two_level->wire, true);
  osli_forest_mark_ended(f->two_level->spread, x->two_level->spread, true);
  free(x->two_level->proxies);
  free(x->two_level);
  x->two_level = NULL;
}

/* ---- roots of other nodes, as keys in shared memory ---- */

/* Key of a root: one number with the rank in its high half and the index in its low half. */
static int64_t key_of(const osla_root *root)
{
  return (int64_t)root->rank << 32 | root->index;
}

/* Index among the ranks of the node, 0 .. n - 1, of the rank that has the proxy of a root. Adjacent
 * roots have their proxies on the same rank, in runs of RUN roots. */
static int proxy_rank(int64_t key, int n)
{
  enum { RUN = 512 };
  return (int)(((key >> 32) + (key & UINT32_MAX) / RUN) % n);
}

/* Sorted keys of each rank of this node, in memory of the pool. */
typedef struct key_lists {
  forest_pool *pool;
  pool_piece piece; /* memory for the keys of this rank */
  /* [2 size] for each rank of this node: offset of its keys in its segment; number of its keys */
  int64_t *where;
} key_lists;

static const int64_t *keys_of(const key_lists *l, int rank)
{
  const unsigned char *memory = osla_segment_peer(l->piece.segment, rank);
  return (const int64_t *)(const void *)(memory + l->where[2 * rank]);
}

static int64_t count_of(const key_lists *l, int rank)
{
  return l->where[2 * rank + 1];
}

static void lists_close(key_lists *l)
{
  if (l->piece.segment) osli_pool_release(l->pool, &l->piece);
  free(l->where);
}

/* Publishes this rank's keys to the ranks of its node. Returns when all ranks of the node have
 * published their keys. If any rank passes an error as `local`, all ranks return this error.
 * Collective. */
static osla_err lists_open(osla_forest *f, osla_err local, const int64_t *key, int64_t n,
                           key_lists *l)
{
  const size_t size = (size_t)osla_transport_size(f->t);
  int64_t *mine = calloc(2 * size, sizeof *mine);
  l->where = calloc(2 * size, sizeof *l->where);
  if (local == OSLA_OK && !(mine && l->where))
    local = osla_error_set(OSLA_ERR_MEM, "offsets of %zu ranks", size);
  osla_err err = osli_pool_allocate(f->pool, local, (size_t)(n + 1) * sizeof *key, &l->piece);
  if (err == OSLA_OK) {
    if (n > 0) memcpy(l->piece.memory, key, (size_t)n * sizeof *key);
    for (size_t p = 0; p < size; p++) {
      mine[2 * p] = (int64_t)l->piece.offset;
      mine[2 * p + 1] = n;
    }
    err = osla_alltoall(f->t, mine, l->where, 2, MPI_INT64_T);
  }
  free(mine);
  return err;
}

/* ---- proxies ---- */

/* Lists the keys of the roots on other nodes to which this rank's leaves are joined. */
static osla_err keys_of_my_roots(const osla_forest *f, const forest_edges *e, int64_t **out,
                                 int64_t *n)
{
  int64_t *key = malloc((size_t)(e->n + 1) * sizeof *key);
  OSLA_CHECK(key, OSLA_ERR_MEM, "keys of %" PRId64 " roots on other nodes", e->n);
  *n = 0;
  for (int64_t i = 0; i < e->n; i++)
    if (!osla_transport_same_node(f->t, e->root[i].rank)) key[(*n)++] = key_of(&e->root[i]);
  *n = osli_sort_distinct(key, *n);
  *out = key;
  return OSLA_OK;
}

/* Lists those keys, of all ranks of the node, whose proxies (substitutes for roots of other nodes)
 * are on this rank. The first pass counts the keys. */
static osla_err keys_of_my_proxies(const osla_forest *f, const key_lists *l, int64_t **out,
                                   int64_t *n)
{
  const int me = osla_transport_rank(f->t), node_size = osla_transport_node_size(f->t);
  const int mine = osla_transport_node_rank_of(f->t, me);
  int64_t *key = NULL;
  for (int pass = 0; pass < 2; pass++) {
    *n = 0;
    for (int p = 0; p < osla_transport_size(f->t); p++) {
      if (!osla_transport_same_node(f->t, p)) continue;
      const int64_t *keys = keys_of(l, p);
      for (int64_t i = 0; i < count_of(l, p); i++) {
        if (proxy_rank(keys[i], node_size) != mine) continue;
        if (key) key[*n] = keys[i];
        ++*n;
      }
    }
    if (!key) key = malloc((size_t)(*n + 1) * sizeof *key);
    OSLA_CHECK(key, OSLA_ERR_MEM, "keys of %" PRId64 " proxies", *n);
  }
  *n = osli_sort_distinct(key, *n);
  *out = key;
  return OSLA_OK;
}

/* ---- the three forests ---- */

typedef struct edge_list {
  int64_t n;
  int64_t *leaf;
  osla_root *root;
} edge_list;

static osla_err edges_make(int64_t most, edge_list *out)
{
  out->n = 0;
  out->leaf = malloc((size_t)(most + 1) * sizeof *out->leaf);
  out->root = malloc((size_t)(most + 1) * sizeof *out->root);
  OSLA_CHECK(out->leaf && out->root, OSLA_ERR_MEM, "lists of %" PRId64 " edges", most);
  return OSLA_OK;
}

static void edges_free(edge_list *e)
{
  free(e->leaf);
  free(e->root);
}

static void add_edge(edge_list *e, int64_t leaf, osla_root root)
{
  e->leaf[e->n] = leaf;
  e->root[e->n++] = root;
}

/* Returns a root's proxy on this node, which is a root of the forest `spread`. node: [node size]
 * ranks of the node. */
static osla_root proxy_of(const osla_forest *f, const key_lists *proxies, const int *node,
                          int64_t key)
{
  const int rank = node[proxy_rank(key, osla_transport_node_size(f->t))];
  const int64_t *keys = keys_of(proxies, rank);
  return (osla_root){rank, osli_sorted_index(keys, count_of(proxies, rank), key)};
}

typedef struct edge_lists {
  edge_list near, wire, spread;
} edge_lists;

static osla_err split_edges(const osla_forest *f, const forest_edges *e, const key_lists *proxies,
                            edge_lists *out)
{
  const int me = osla_transport_rank(f->t), size = osla_transport_size(f->t);
  const int64_t *mine = keys_of(proxies, me);
  int *node = calloc((size_t)osla_transport_node_size(f->t), sizeof *node);
  OSLA_CHECK(node, OSLA_ERR_MEM, "a list of the node's ranks");
  for (int p = 0; p < size; p++)
    if (osla_transport_same_node(f->t, p)) node[osla_transport_node_rank_of(f->t, p)] = p;
  osla_err err = edges_make(e->n, &out->near);
  if (err == OSLA_OK) err = edges_make(e->n, &out->spread);
  if (err == OSLA_OK) err = edges_make(count_of(proxies, me), &out->wire);
  for (int64_t i = 0; err == OSLA_OK && i < e->n; i++) {
    const int64_t leaf = e->leaf ? e->leaf[i] : i;
    if (osla_transport_same_node(f->t, e->root[i].rank))
      add_edge(&out->near, leaf, e->root[i]);
    else
      add_edge(&out->spread, leaf, proxy_of(f, proxies, node, key_of(&e->root[i])));
  }
  for (int64_t i = 0; err == OSLA_OK && i < count_of(proxies, me); i++)
    add_edge(&out->wire, i, (osla_root){(int32_t)(mine[i] >> 32), mine[i] & UINT32_MAX});
  free(node);
  return err;
}

static osla_err make_forest(const osla_forest *f, int64_t n_roots, const edge_list *e,
                            osla_forest **out)
{
  forest_edges edges = {0};
  osla_err err = osli_edges_check(f->t, n_roots, e->n, e->leaf, e->root, &edges);
  err = osli_forest_create_from_edges(f->t, err, n_roots, &edges, out);
  osli_edges_free(&edges);
  return err;
}

static osla_err make_forests(osla_forest *f, const forest_edges *e, const key_lists *proxies)
{
  edge_lists lists = {0};
  forest_two_level *s = calloc(1, sizeof *s);
  osla_err err = s ? split_edges(f, e, proxies, &lists)
                   : osla_error_set(OSLA_ERR_MEM, "the forests of a two-level forest");
  err = osla_agree(f->t, err);
  if (err == OSLA_OK) s->n_proxies = lists.wire.n;
  if (err == OSLA_OK) err = make_forest(f, f->n_roots, &lists.near, &s->near);
  if (err == OSLA_OK) err = make_forest(f, f->n_roots, &lists.wire, &s->wire);
  if (err == OSLA_OK) err = make_forest(f, lists.wire.n, &lists.spread, &s->spread);
  edges_free(&lists.near);
  edges_free(&lists.wire);
  edges_free(&lists.spread);
  f->two_level = s;
  if (err != OSLA_OK) {
    (void)osla_agree(f->t, osli_two_level_retire(f));
    osli_two_level_free(f);
  }
  return err;
}

/* *out is the number of edges, over all ranks, between vertices on different nodes. */
static osla_err count_crossing(const osla_forest *f, int64_t *out)
{
  *out = 0;
  for (int k = 0; k < f->to_roots.n; k++)
    if (!f->to_roots.of[k].is_near) *out += f->to_roots.of[k].edges;
  return osla_allreduce(f->t, out, 1, MPI_INT64_T, MPI_SUM);
}

osla_err osli_two_level_create(osla_forest *f, const forest_edges *e)
{
  /* three forests are worth their cost if the ranks have on average more than this number of edges
   * to other nodes */
  enum { FEW = 64 };
  int64_t *key = NULL, *proxy = NULL;
  int64_t n_keys = 0, n_proxies = 0, crossing = 0;
  key_lists wanted = {.pool = f->pool}, proxies = wanted;
  if (osla_transport_n_nodes(f->t) == 1) return OSLA_OK;
  OSLA_CALL(count_crossing(f, &crossing));
  if (crossing <= (int64_t)FEW * osla_transport_size(f->t)) return OSLA_OK;
  osla_err local = keys_of_my_roots(f, e, &key, &n_keys);
  osla_err err = lists_open(f, local, key, n_keys, &wanted);
  if (err == OSLA_OK) local = keys_of_my_proxies(f, &wanted, &proxy, &n_proxies);
  /* Sums over all ranks: sums[0] counts the proxies, sums[1] the ranks without memory for the list
   * of their proxies. */
  int64_t sums[2] = {n_proxies, local != OSLA_OK};
  if (err == OSLA_OK) err = osla_allreduce(f->t, sums, 2, MPI_INT64_T, MPI_SUM);
  if (err == OSLA_OK && sums[1] > 0) err = osla_agree(f->t, local);
  if (err == OSLA_OK && sums[0] <= crossing / 4 * 3) {
    err = lists_open(f, OSLA_OK, proxy, n_proxies, &proxies);
    if (err == OSLA_OK) err = make_forests(f, e, &proxies);
  }
  lists_close(&wanted);
  lists_close(&proxies);
  free(key);
  free(proxy);
  return err;
}

osla_err osli_two_level_retire(osla_forest *f)
{
  const forest_two_level *s = f->two_level;
  if (!s) return OSLA_OK;
  osla_forest *const all[] = {s->near, s->wire, s->spread};
  osla_err err = OSLA_OK;
  for (int i = 0; i < 3; i++) {
    const osla_err one = osli_forest_retire_one_level(all[i]);
    if (err == OSLA_OK) err = one;
  }
  return err;
}

void osli_two_level_free(osla_forest *f)
{
  forest_two_level *s = f->two_level;
  if (!s) return;
  osli_forest_free_one_level(&s->near);
  osli_forest_free_one_level(&s->wire);
  osli_forest_free_one_level(&s->spread);
  free(s);
  f->two_level = NULL;
}
