/* Forests derived from forests (sections 3.2 and 3.3 of the paper by Zhang et al.): split, with
 * gather and scatter, compose, inverse, embed.
 *
 * A rank learns about other ranks' vertices by transfers on the given forests. The values of these
 * transfers are vertex ids: pairs (rank, index), as two int64. */
#include "kernels/forest/forest_serve.h"

#include <inttypes.h>
#include <stdlib.h>

/* ---- vertex ids ---- */

static const osla_unit pair_unit = {OSLA_UNIT_INT64, 2, 0};
static const vertex_id no_vertex = {-1, -1};

osla_err osli_vertex_ids_create(const osla_forest *f, int64_t n, vertex_id **out)
{
  vertex_id *ids = malloc((size_t)(n + 1) * sizeof *ids);
  osla_err err = osla_agree(
    f->t, ids ? OSLA_OK : osla_error_set(OSLA_ERR_MEM, "ids of %" PRId64 " vertices", n));
  *out = ids;
  if (err != OSLA_OK) {
    free(ids);
    *out = NULL;
    return err;
  }
  for (int64_t i = 0; i < n; i++)
    ids[i] = no_vertex;
  return OSLA_OK;
}

osla_err osli_vertex_ids_check(osla_forest *f)
{
  return osla_agree(f->t, osli_forest_check_free(f));
}

void osli_vertex_ids_of_roots(const osla_forest *f, vertex_id *ids)
{
  for (int k = 0; k < f->to_roots.n; k++) {
    const forest_link *l = &f->to_roots.of[k];
    for (int64_t i = 0; i < l->edges; i++) {
      const osla_root root = osli_link_root(l, i);
      ids[osli_link_vertex(l, i)] = (vertex_id){root.rank, root.index};
    }
  }
}

void osli_vertex_ids_of_own(const osla_forest *f, vertex_id *ids, int64_t n, int64_t first)
{
  for (int64_t i = 0; i < n; i++)
    ids[i] = (vertex_id){osla_transport_rank(f->t), first + i};
}

osla_err osli_forest_create_from_ids(osla_transport *t, int64_t n_roots, const vertex_id *ids,
                                     int64_t n, osla_forest **out)
{
  int64_t edges = 0;
  for (int64_t i = 0; i < n; i++)
    edges += ids[i].rank >= 0;
  int64_t *leaf = malloc((size_t)(edges + 1) * sizeof *leaf);
  osla_root *root = malloc((size_t)(edges + 1) * sizeof *root);
  osla_err err = osla_agree(
    t, leaf && root ? OSLA_OK : osla_error_set(OSLA_ERR_MEM, "%" PRId64 " edges", edges));
  for (int64_t i = 0, e = 0; err == OSLA_OK && i < n; i++) {
    if (ids[i].rank < 0) continue;
    leaf[e] = i;
    root[e++] = (osla_root){(int32_t)ids[i].rank, ids[i].index};
  }
  if (err == OSLA_OK) err = osla_forest_create(t, n_roots, edges, leaf, root, out);
  free(leaf);
  free(root);
  return err;
}

osla_err osli_vertex_ids_transfer(osla_forest *f, bool reverse, const vertex_id *sources,
                                  vertex_id *ids)
{
  return reverse ? osla_forest_reduce(f, pair_unit, sources, ids, OSLA_REPLACE)
                 : osla_forest_bcast(f, pair_unit, sources, ids, OSLA_REPLACE);
}

/* ---- split forests: a root for each leaf ---- */

/* Replaces degrees by offsets: slots[i] becomes the index, in the split forest, of the first root
 * that belongs to root i. Returns the number of roots of the split forest. */
static int64_t start_slots(int64_t *slots, int64_t n)
{
  int64_t next = 0;
  for (int64_t i = 0; i < n; i++) {
    int64_t degree = slots[i];
    slots[i] = next;
    next += degree;
  }
  return next;
}

/* Each leaf gets its own root in the split forest: the leaf fetches the offset that is stored at
 * its old root, and the fetch adds 1 to this offset. */
osla_err osla_forest_split(osla_forest *f, osla_forest **out)
{
  size_t roots = (size_t)f->n_roots, leaves = (size_t)f->leaf_space;
  int64_t *slots = malloc((roots + 1) * sizeof *slots), n_roots = 0;
  int64_t *ones = malloc((leaves + 1) * sizeof *ones), *mine = malloc((leaves + 1) * sizeof *mine);
  vertex_id *ids = NULL;
  *out = NULL;
  bool have = slots && ones && mine;
  osla_err err =
    osla_agree(f->t, have ? OSLA_OK : osla_error_set(OSLA_ERR_MEM, "slots of %zu roots", roots));
  if (err == OSLA_OK) err = osli_vertex_ids_check(f);
  if (err == OSLA_OK) err = osli_vertex_ids_create(f, f->leaf_space, &ids);
  if (err == OSLA_OK) {
    osla_forest_degrees(f, slots);
    n_roots = start_slots(slots, f->n_roots);
    for (size_t i = 0; i < leaves; i++)
      ones[i] = 1;
    err = osla_forest_fetch(f, OSLA_ONE_INT64, slots, ones, mine, OSLA_SUM);
  }
  if (err == OSLA_OK) osli_vertex_ids_of_roots(f, ids);
  for (int64_t i = 0; err == OSLA_OK && i < f->leaf_space; i++)
    if (ids[i].rank >= 0) ids[i].index = mine[i];
  if (err == OSLA_OK) err = osli_forest_create_from_ids(f->t, n_roots, ids, f->leaf_space, out);
  free(slots);
  free(ones);
  free(mine);
  free(ids);
  return err;
}

/* ---- gather and scatter ---- */

/* Makes the split forest of f unless a gather or scatter has made it already. The result is equal
 * on all ranks. */
static osla_err prepare_split(osla_forest *f)
{
  return f->split ? OSLA_OK : osla_forest_split(f, &f->split);
}

osla_err osla_forest_gather_leaves_begin(osla_forest *f, osla_unit unit, const void *leaves,
                                         void *gathered, osla_forest_run *run)
{
  *run = (osla_forest_run){0};
  OSLA_CALL(prepare_split(f));
  return osla_forest_reduce_begin(f->split, unit, leaves, gathered, OSLA_REPLACE, run);
}

osla_err osla_forest_scatter_leaves_begin(osla_forest *f, osla_unit unit, const void *gathered,
                                          void *leaves, osla_forest_run *run)
{
  *run = (osla_forest_run){0};
  OSLA_CALL(prepare_split(f));
  return osla_forest_bcast_begin(f->split, unit, gathered, leaves, OSLA_REPLACE, run);
}

osla_err osla_forest_gather_leaves(osla_forest *f, osla_unit unit, const void *leaves,
                                   void *gathered)
{
  osla_forest_run run;
  OSLA_CALL(osla_forest_gather_leaves_begin(f, unit, leaves, gathered, &run));
  return osla_forest_end(&run);
}

osla_err osla_forest_scatter_leaves(osla_forest *f, osla_unit unit, const void *gathered,
                                    void *leaves)
{
  osla_forest_run run;
  OSLA_CALL(osla_forest_scatter_leaves_begin(f, unit, gathered, leaves, &run));
  return osla_forest_end(&run);
}

/* ---- composed forests ---- */

/* Creates a forest with n_roots roots on this rank. Its leaves are the leaves of f, or with
 * `reverse` the roots of f. Each leaf is joined to the vertex with the id sources[j], where j is
 * the other end of the leaf's edge in f. */
static osla_err join_through(osla_forest *f, bool reverse, int64_t n_roots,
                             const vertex_id *sources, osla_forest **out)
{
  vertex_id *ids;
  int64_t n = reverse ? f->n_roots : f->leaf_space;
  osla_err err = osli_vertex_ids_create(f, n, &ids);
  if (err == OSLA_OK) err = osli_vertex_ids_transfer(f, reverse, sources, ids);
  if (err == OSLA_OK) err = osli_forest_create_from_ids(f->t, n_roots, ids, n, out);
  free(ids);
  return err;
}

/* Composes two forests. Without `reverse`, roots of `a` are joined to leaves of `b` where a leaf of
 * `a` has the same index as a root of `b`. With `reverse`, roots of `a` are joined to roots of `b`
 * where both have a leaf of the same index. */
static osla_err compose(osla_forest *a, osla_forest *b, bool reverse, osla_forest **out)
{
  vertex_id *sources;
  int64_t n = reverse ? b->leaf_space : b->n_roots;
  OSLA_CALL(osli_vertex_ids_create(a, n > a->leaf_space ? n : a->leaf_space, &sources));
  osli_vertex_ids_of_roots(a, sources);
  osla_err err = join_through(b, reverse, a->n_roots, sources, out);
  free(sources);
  return err;
}

static osla_err check_both(const osla_forest *a, osla_forest *b)
{
  OSLA_CHECK(a->t == b->t, OSLA_ERR_ARG, "the two forests belong to different transports");
  return osli_vertex_ids_check(b);
}

osla_err osla_forest_compose(osla_forest *a, osla_forest *b, osla_forest **out)
{
  *out = NULL;
  OSLA_CALL(check_both(a, b));
  return compose(a, b, false, out);
}

/* Fails on all ranks if a root has more than one leaf. Collective. */
static osla_err check_single(osla_forest *f, const char *what)
{
  int64_t *degree = malloc((size_t)(f->n_roots + 1) * sizeof *degree), shared_root = -1;
  osla_err err = degree ? OSLA_OK : osla_error_set(OSLA_ERR_MEM, "degrees");
  if (degree) osla_forest_degrees(f, degree);
  for (int64_t i = 0; degree && i < f->n_roots && shared_root < 0; i++)
    if (degree[i] > 1) shared_root = i;
  if (shared_root >= 0)
    err = osla_error_set(OSLA_ERR_ARG,
                         "%s: root %" PRId64 " of rank %d has %" PRId64 " leaves, more than one",
                         what, shared_root, osla_transport_rank(f->t), degree[shared_root]);
  free(degree);
  return osla_agree(f->t, err);
}

osla_err osla_forest_compose_inverse(osla_forest *a, osla_forest *b, osla_forest **out)
{
  *out = NULL;
  OSLA_CALL(check_both(a, b));
  OSLA_CALL(check_single(b, "compose with an inverse"));
  return compose(a, b, true, out);
}

osla_err osla_forest_inverse(osla_forest *f, osla_forest **out)
{
  vertex_id *sources;
  *out = NULL;
  OSLA_CALL(osli_vertex_ids_check(f));
  OSLA_CALL(check_single(f, "inverse"));
  OSLA_CALL(osli_vertex_ids_create(f, f->leaf_space, &sources));
  osli_vertex_ids_of_own(f, sources, f->leaf_space, 0);
  osla_err err = join_through(f, true, f->leaf_space, sources, out);
  free(sources);
  return err;
}

/* ---- forests with a subset of the edges ---- */

/* Copies the ids of the chosen vertices from `all` to `ids`. Errors: ARG (an index outside 0 ..
 * space - 1). */
static osla_err keep_chosen(const int64_t *chosen, int64_t n, int64_t space, const char *what,
                            const vertex_id *all, vertex_id *ids)
{
  for (int64_t i = 0; i < n; i++) {
    OSLA_CHECK(chosen[i] >= 0 && chosen[i] < space, OSLA_ERR_ARG,
               "%s %" PRId64 " is not below %" PRId64, what, chosen[i], space);
    ids[chosen[i]] = all[chosen[i]];
  }
  return OSLA_OK;
}

/* Creates the forest without the edges of vertices that are not chosen. */
static osla_err embed(osla_forest *f, bool of_roots, int64_t n, const int64_t *chosen,
                      osla_forest **out)
{
  const int64_t space = of_roots ? f->n_roots : f->leaf_space;
  vertex_id *all = NULL, *ids = NULL;
  osla_err err = osli_vertex_ids_create(f, space, &all);
  if (err == OSLA_OK) err = osli_vertex_ids_create(f, space, &ids);
  if (err == OSLA_OK) {
    if (of_roots)
      osli_vertex_ids_of_own(f, all, space, 0);
    else
      osli_vertex_ids_of_roots(f, all);
    err = osla_agree(f->t, keep_chosen(chosen, n, space, of_roots ? "root" : "leaf", all, ids));
  }
  if (err == OSLA_OK)
    err = of_roots ? join_through(f, false, f->n_roots, ids, out)
                   : osli_forest_create_from_ids(f->t, f->n_roots, ids, space, out);
  free(all);
  free(ids);
  return err;
}

osla_err osla_forest_embed_roots(osla_forest *f, int64_t n, const int64_t *chosen,
                                 osla_forest **out)
{
  *out = NULL;
  OSLA_CALL(osli_vertex_ids_check(f));
  return embed(f, true, n, chosen, out);
}

osla_err osla_forest_embed_leaves(osla_forest *f, int64_t n, const int64_t *chosen,
                                  osla_forest **out)
{
  *out = NULL;
  return embed(f, false, n, chosen, out);
}
