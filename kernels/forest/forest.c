/* Forests: making and ending them, and what they know. */
#include "kernels/forest/forest_exact.h"
#include "kernels/forest/forest_serve.h"
#include "kernels/forest/forest_setup.h"
#include "kernels/forest/forest_share.h"
#include "kernels/forest/forest_verify.h"
#include "src/base/hash.h"

#include <inttypes.h>
#include <stdlib.h>

static void free_links(forest_links *links)
{
  for (int i = 0; i < links->n; i++)
    osli_ring_close(&links->of[i].ring);
  free(links->of);
  free(links->ranks);
}

static void free_forest(osla_forest *f)
{
  free_links(&f->to_roots);
  free_links(&f->to_leaves);
  if (f->pool) osli_pool_give(f->pool, &f->piece);
  free(f->far_lists);
  free(f->staging);
  osli_forest_gather_free(&f->gather);
  free(f);
}

/* `local`: what the caller found in its arguments. */
static osla_err create(osla_transport *t, osla_err local, int64_t n_roots, forest_edges *edges,
                       bool shares, osla_forest **out)
{
  osla_forest *f = calloc(1, sizeof *f);
  if (local == OSLA_OK && !f) local = osla_error_set(OSLA_ERR_MEM, "forest object");
  osla_err err = osla_agree(t, local);
  if (err != OSLA_OK) {
    free(f);
    return err;
  }
  f->t = t;
  f->n_roots = n_roots;
  f->n_edges = edges->n;
  f->leaf_space = edges->leaf_space;
  f->low_leaf = edges->low_leaf;
  err = osli_forest_pool(t, &f->pool);
  if (err == OSLA_OK && shares) f->pool->forests++;
  if (err == OSLA_OK) f->made = f->pool->forests; /* parts of one have its number */
  if (err == OSLA_OK) err = osli_forest_join(f, edges);
  if (err == OSLA_OK && shares) err = osli_forest_share_create(f, edges);
  if (err == OSLA_OK)
    *out = f;
  else
    free_forest(f);
  return err;
}

static osla_err count_and_create(osla_transport *t, int64_t n_roots, int64_t n_edges,
                                 const int64_t *leaf, const osla_root *root, bool shares,
                                 osla_forest **out)
{
  forest_edges edges = {0};
  *out = NULL;
  osla_err err = osli_forest_count(t, n_roots, n_edges, leaf, root, &edges);
  err = create(t, err, n_roots, &edges, shares, out);
  osli_forest_edges_free(&edges);
  return err;
}

osla_err osla_forest_create(osla_transport *t, int64_t n_roots, int64_t n_edges,
                            const int64_t *leaf, const osla_root *root, osla_forest **out)
{
  return count_and_create(t, n_roots, n_edges, leaf, root, true, out);
}

osla_err osli_forest_create_bare(osla_transport *t, int64_t n_roots, int64_t n_edges,
                                 const int64_t *leaf, const osla_root *root, osla_forest **out)
{
  return count_and_create(t, n_roots, n_edges, leaf, root, false, out);
}

/* The rank p with start[p] <= index < start[p + 1]. */
static int owner_of(const int64_t *start, int size, int64_t index)
{
  int low = 0, high = size - 1;
  while (low < high) {
    int middle = (low + high + 1) / 2;
    if (start[middle] <= index)
      low = middle;
    else
      high = middle - 1;
  }
  return low;
}

static osla_err find_owners(const int64_t *start, int size, int64_t n_edges, const int64_t *index,
                            osla_root *out)
{
  OSLA_CHECK(start[0] == 0, OSLA_ERR_ARG, "start[0] = %" PRId64 ", not 0", start[0]);
  for (int p = 0; p < size; p++)
    OSLA_CHECK(start[p + 1] >= start[p], OSLA_ERR_ARG,
               "start[%d] = %" PRId64 " is less than start[%d] = %" PRId64, p + 1, start[p + 1], p,
               start[p]);
  for (int64_t i = 0; i < n_edges; i++) {
    OSLA_CHECK(index[i] >= 0 && index[i] < start[size], OSLA_ERR_ARG,
               "edge %" PRId64 ": no root %" PRId64 " among %" PRId64, i, index[i], start[size]);
    int p = owner_of(start, size, index[i]);
    out[i] = (osla_root){p, index[i] - start[p]};
  }
  return OSLA_OK;
}

osla_err osla_forest_create_global(osla_transport *t, const int64_t *start, int64_t n_edges,
                                   const int64_t *leaf, const int64_t *root, osla_forest **out)
{
  forest_edges edges = {0};
  int size = osla_transport_size(t), rank = osla_transport_rank(t);
  osla_err err = OSLA_OK;
  *out = NULL;
  if (n_edges < 0 || (n_edges > 0 && !root))
    err = osla_error_set(OSLA_ERR_ARG, "%" PRId64 " edges, and their roots at %p", n_edges,
                         (const void *)root);
  size_t n = err == OSLA_OK ? (size_t)n_edges : 0;
  osla_root *roots = malloc((n + 1) * sizeof *roots);
  if (!roots) err = osla_error_set(OSLA_ERR_MEM, "%" PRId64 " edges", n_edges);
  if (err == OSLA_OK) err = find_owners(start, size, n_edges, root, roots);
  err = osla_agree(t, err); /* first: it names the value */
  if (err == OSLA_OK) {
    const osla_argument same[] = {{"start, its hash", osla_hash_of_starts(start, size)}};
    err = osla_agree_same(t, err, "osla_forest_create_global", same, 1);
  }
  int64_t n_roots = err == OSLA_OK ? start[rank + 1] - start[rank] : 0;
  if (err == OSLA_OK) err = osli_forest_count(t, n_roots, n_edges, leaf, roots, &edges);
  err = create(t, err, n_roots, &edges, true, out);
  osli_forest_edges_free(&edges);
  free(roots);
  return err;
}

static bool is_idle(const osla_forest *f)
{
  uint64_t oldest = f->begun > CALLS ? f->begun + 1 - CALLS : 1;
  for (uint64_t number = oldest; number <= f->begun; number++)
    if (!f->transfer[number % CALLS].ended) return false;
  return true;
}

static bool links_are_empty(const forest_links *links)
{
  bool all = true;
  for (int i = 0; i < links->n; i++) {
    forest_ring *ring = &links->of[i].ring;
    if (!links->of[i].self) all &= osli_ring_credit_all(ring) && osli_ring_is_empty(ring);
  }
  return all;
}

/* What was begun has ended everywhere; each side knows what the other one has taken, so that no
 * word comes when the memory is somebody else's. */
static bool rings_are_empty(void *arg)
{
  osla_forest *f = arg;
  osli_forests_serve(f->pool);
  osla_pool_enter(f->pool); /* the progress thread gives credit, too */
  bool of_roots = links_are_empty(&f->to_roots), of_leaves = links_are_empty(&f->to_leaves);
  if (!of_roots || !of_leaves) osli_forest_look_at_rings(f);
  osla_pool_leave(f->pool);
  return of_roots && of_leaves;
}

static osla_err finish_rings(forest_links *links)
{
  for (int i = 0; i < links->n; i++)
    if (!links->of[i].self) OSLA_CALL(osli_ring_finish(&links->of[i].ring));
  return OSLA_OK;
}

osla_err osla_forest_destroy(osla_forest **forest)
{
  osla_forest *f = forest ? *forest : NULL;
  if (!f) return OSLA_OK;
  osli_forest_check_lent(f);
  const osla_argument same[] = {{"the number of transfers that were begun", (int64_t)f->begun},
                                {"the forest, as the so-and-so-many-th made", f->made}};
  osla_err local = is_idle(f) ? OSLA_OK
                              : osla_error_set(OSLA_ERR_STATE,
                                               "a forest goes while a transfer of rank %d is under "
                                               "way",
                                               osla_transport_rank(f->t));
  OSLA_CALL(osla_agree_same(f->t, local, "osla_forest_destroy", same, 2));
  OSLA_CALL(osli_forest_share_destroy(f));
  osla_segment_wait(f->pool->segments->segment, rings_are_empty, f);
  osli_forest_deactivate(f);
  osla_err err = finish_rings(&f->to_roots);
  if (err == OSLA_OK) err = finish_rings(&f->to_leaves);
  err = osla_agree(f->t, err); /* and nobody writes here */
  free_forest(f);
  *forest = NULL;
  return err;
}

int64_t osla_forest_n_roots(const osla_forest *f)
{
  return f->n_roots;
}
int64_t osla_forest_n_edges(const osla_forest *f)
{
  return f->n_edges;
}
int64_t osla_forest_leaf_space(const osla_forest *f)
{
  return f->leaf_space;
}
int osla_forest_root_ranks(const osla_forest *f, const int **ranks)
{
  *ranks = f->to_roots.ranks;
  return f->to_roots.n;
}
int osla_forest_leaf_ranks(const osla_forest *f, const int **ranks)
{
  *ranks = f->to_leaves.ranks;
  return f->to_leaves.n;
}
osla_transport *osla_forest_transport(const osla_forest *f)
{
  return f->t;
}
