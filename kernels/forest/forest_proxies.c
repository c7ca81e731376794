/* Which ranks have which proxies (see forest_share.h): a node's ranks tell one another in shared
 * memory which roots of other nodes their leaves are joined to; each takes those that fall to it.
 */
#include "kernels/forest/forest_setup.h"
#include "kernels/forest/forest_share.h"
#include "src/transport/exchange.h"

#include <stdlib.h>
#include <string.h>

/* A root of any rank as one number; ascending ones are those of one rank after the other. */
static uint64_t key_of(const osla_root *root)
{
  return (uint64_t)(uint32_t)root->rank << 32 | (uint64_t)root->index;
}

/* Which of a node's n ranks has the proxy. In runs, whose values lie side by side. */
static int proxy_rank(uint64_t key, int n)
{
  enum { RUN = 512 };
  return (int)(((key >> 32) + (key & UINT32_MAX) / RUN) % (uint64_t)n);
}

static int compare(const void *a, const void *b)
{
  uint64_t x, y;
  memcpy(&x, a, sizeof x);
  memcpy(&y, b, sizeof y);
  return x < y ? -1 : x > y;
}

/* Ascending, each once. */
static int64_t sort_keys(uint64_t *key, int64_t n)
{
  int64_t kept = 0;
  if (n > 0) qsort(key, (size_t)n, sizeof *key, compare);
  for (int64_t i = 0; i < n; i++)
    if (kept == 0 || key[i] != key[kept - 1]) key[kept++] = key[i];
  return kept;
}

/* Keys of each rank of the node, in the pool. */
typedef struct key_lists {
  forest_pool *pool;
  pool_piece piece;
  int64_t *place; /* [size] of each rank: where they lie */
  int64_t *count; /* and how many */
} key_lists;

static const uint64_t *keys_of(const key_lists *l, int rank)
{
  const unsigned char *memory = osla_segment_peer(l->piece.segment, rank);
  return (const uint64_t *)(const void *)(memory + l->place[rank]);
}

static void lists_close(key_lists *l)
{
  if (l->piece.segment) osli_pool_give(l->pool, &l->piece);
  free(l->place);
  free(l->count);
  *l = (key_lists){.pool = l->pool};
}

/* Where mine lie, to the ranks of the node, and where theirs do. */
static osla_err tell_lists(const osla_forest *f, int64_t n, osla_exchange *x, osla_letters *mine,
                           key_lists *l)
{
  const int64_t place[] = {(int64_t)l->piece.offset, n};
  osla_letters theirs = {0};
  for (int p = 0; p < osla_transport_size(f->t); p++)
    if (osla_transport_same_node(f->t, p)) OSLA_CALL(osli_letters_add(mine, p, place));
  osla_err err = osli_exchange_run(x, mine, mine->n, &theirs);
  for (int i = 0; i < theirs.n && err == OSLA_OK; i++) {
    int64_t other[2];
    memcpy(other, osli_letter(&theirs, i), sizeof other);
    l->place[osli_letter_rank(&theirs, i)] = other[0];
    l->count[osli_letter_rank(&theirs, i)] = other[1];
  }
  osli_letters_free(&theirs);
  return err;
}

/* Publishes mine; then all of the node see them. Collective. */
static osla_err lists_open(osla_forest *f, const uint64_t *key, int64_t n, key_lists *l)
{
  const size_t size = (size_t)osla_transport_size(f->t);
  osla_exchange *x = NULL;
  osla_letters mine = {.bytes = 2 * sizeof(int64_t)};
  *l = (key_lists){.pool = f->pool};
  l->place = calloc(size, sizeof *l->place);
  l->count = calloc(size, sizeof *l->count);
  osla_err err =
    l->place && l->count ? OSLA_OK : osla_error_set(OSLA_ERR_MEM, "places of %zu ranks", size);
  if (err == OSLA_OK) err = osli_exchange_open(f->t, mine.bytes, &x);
  if (err == OSLA_OK) err = osli_letters_reserve(&mine, osla_transport_node_size(f->t));
  err = osla_agree(f->t, err);
  if (err == OSLA_OK) err = osli_pool_take(f->pool, (size_t)(n + 1) * sizeof *key, &l->piece);
  if (err == OSLA_OK) {
    if (n > 0) memcpy(l->piece.memory, key, (size_t)n * sizeof *key);
    err = osla_agree(f->t, tell_lists(f, n, x, &mine, l));
  }
  osli_letters_free(&mine);
  osli_exchange_close(&x);
  return err;
}

/* ---- proxies ---- */

/* The roots of other nodes that my leaves are joined to. */
static osla_err my_keys(const osla_forest *f, const forest_edges *e, uint64_t **out, int64_t *n)
{
  uint64_t *key = malloc((size_t)(e->n + 1) * sizeof *key);
  OSLA_CHECK(key, OSLA_ERR_MEM, "roots of other nodes");
  *n = 0;
  for (int64_t i = 0; i < e->n; i++)
    if (!osla_transport_same_node(f->t, e->root[i].rank)) key[(*n)++] = key_of(&e->root[i]);
  *n = sort_keys(key, *n);
  *out = key;
  return OSLA_OK;
}

/* The keys of all ranks of the node that fall to me. */
static osla_err my_proxies(const osla_forest *f, const key_lists *l, uint64_t **out, int64_t *n)
{
  const int me = osla_transport_rank(f->t), node_size = osla_transport_node_size(f->t);
  const int mine = osla_transport_node_rank_of(f->t, me);
  uint64_t *key = NULL;
  for (int pass = 0; pass < 2; pass++) {
    *n = 0;
    for (int p = 0; p < osla_transport_size(f->t); p++) {
      if (!osla_transport_same_node(f->t, p)) continue;
      const uint64_t *keys = keys_of(l, p);
      for (int64_t i = 0; i < l->count[p]; i++) {
        if (proxy_rank(keys[i], node_size) != mine) continue;
        if (key) key[*n] = keys[i];
        ++*n;
      }
    }
    if (!key) key = malloc((size_t)(*n + 1) * sizeof *key);
    OSLA_CHECK(key, OSLA_ERR_MEM, "roots of other nodes");
  }
  *n = sort_keys(key, *n);
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
  OSLA_CHECK(out->leaf && out->root, OSLA_ERR_MEM, "lists of edges");
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

/* Where a root's value comes to this node. */
static osla_root proxy_of(const osla_forest *f, const key_lists *proxies, const int *node,
                          uint64_t key)
{
  const int rank = node[proxy_rank(key, osla_transport_node_size(f->t))];
  const uint64_t *keys = keys_of(proxies, rank);
  const uint64_t *at = bsearch(&key, keys, (size_t)proxies->count[rank], sizeof key, compare);
  return (osla_root){rank, at - keys};
}

typedef struct three_lists {
  edge_list near, wire, spread;
} three_lists;

static osla_err deal_edges(const osla_forest *f, const forest_edges *e, const key_lists *proxies,
                           three_lists *out)
{
  const int me = osla_transport_rank(f->t), size = osla_transport_size(f->t);
  const uint64_t *mine = keys_of(proxies, me);
  int *node = calloc((size_t)osla_transport_node_size(f->t), sizeof *node);
  OSLA_CHECK(node, OSLA_ERR_MEM, "ranks of a node");
  for (int p = 0; p < size; p++)
    if (osla_transport_same_node(f->t, p)) node[osla_transport_node_rank_of(f->t, p)] = p;
  osla_err err = edges_make(e->n, &out->near);
  if (err == OSLA_OK) err = edges_make(e->n, &out->spread);
  if (err == OSLA_OK) err = edges_make(proxies->count[me], &out->wire);
  for (int64_t i = 0; err == OSLA_OK && i < e->n; i++) {
    const int64_t leaf = e->leaf ? e->leaf[i] : i;
    if (osla_transport_same_node(f->t, e->root[i].rank))
      add_edge(&out->near, leaf, e->root[i]);
    else
      add_edge(&out->spread, leaf, proxy_of(f, proxies, node, key_of(&e->root[i])));
  }
  for (int64_t i = 0; err == OSLA_OK && i < proxies->count[me]; i++)
    add_edge(&out->wire, i, (osla_root){(int32_t)(mine[i] >> 32), (int64_t)(mine[i] & UINT32_MAX)});
  free(node);
  return err;
}

static osla_err make_forests(osla_forest *f, const forest_edges *e, const key_lists *proxies)
{
  three_lists lists = {0};
  forest_share *s = calloc(1, sizeof *s);
  osla_err err = s ? deal_edges(f, e, proxies, &lists) : osla_error_set(OSLA_ERR_MEM, "a forest");
  err = osla_agree(f->t, err);
  if (err == OSLA_OK) {
    s->n_proxies = lists.wire.n;
    err = osli_forest_create_bare(f->t, f->n_roots, lists.near.n, lists.near.leaf, lists.near.root,
                                  &s->near);
  }
  if (err == OSLA_OK)
    err = osli_forest_create_bare(f->t, f->n_roots, lists.wire.n, lists.wire.leaf, lists.wire.root,
                                  &s->wire);
  if (err == OSLA_OK)
    err = osli_forest_create_bare(f->t, lists.wire.n, lists.spread.n, lists.spread.leaf,
                                  lists.spread.root, &s->spread);
  edges_free(&lists.near);
  edges_free(&lists.wire);
  edges_free(&lists.spread);
  f->share = s;
  if (err != OSLA_OK && s) (void)osli_forest_share_destroy(f);
  return err;
}

/* Values that cross without proxies, of all ranks. */
static osla_err count_crossing(const osla_forest *f, int64_t *out)
{
  *out = 0;
  for (int k = 0; k < f->to_roots.n; k++)
    if (!f->to_roots.of[k].near) *out += f->to_roots.of[k].edges;
  return osla_allreduce(f->t, out, 1, MPI_INT64_T, MPI_SUM);
}

osla_err osli_forest_share_create(osla_forest *f, const forest_edges *e)
{
  enum { FEW = 64 }; /* edges of a rank */
  uint64_t *key = NULL, *proxy = NULL;
  int64_t n_keys = 0, n_proxies = 0, crossing = 0;
  key_lists wanted = {.pool = f->pool}, proxies = wanted;
  if (osla_transport_n_nodes(f->t) == 1) return OSLA_OK;
  OSLA_CALL(count_crossing(f, &crossing));
  if (crossing <= (int64_t)FEW * osla_transport_size(f->t)) return OSLA_OK;
  osla_err err = osla_agree(f->t, my_keys(f, e, &key, &n_keys));
  if (err == OSLA_OK) err = lists_open(f, key, n_keys, &wanted);
  if (err == OSLA_OK) err = osla_agree(f->t, my_proxies(f, &wanted, &proxy, &n_proxies));
  int64_t less = n_proxies;
  if (err == OSLA_OK) err = osla_allreduce(f->t, &less, 1, MPI_INT64_T, MPI_SUM);
  const bool worth = less <= crossing / 4 * 3;
  if (err == OSLA_OK && worth) err = lists_open(f, proxy, n_proxies, &proxies);
  if (err == OSLA_OK && worth) err = make_forests(f, e, &proxies);
  lists_close(&wanted);
  lists_close(&proxies);
  free(key);
  free(proxy);
  return err;
}

osla_err osli_forest_share_destroy(osla_forest *f)
{
  forest_share *s = f->share;
  if (!s) return OSLA_OK;
  osla_err err = osla_forest_destroy(&s->near), one = osla_forest_destroy(&s->wire);
  if (err == OSLA_OK) err = one;
  one = osla_forest_destroy(&s->spread);
  free(s);
  f->share = NULL;
  return err == OSLA_OK ? one : err;
}
