/* Forests of common patterns (all-gather, gather, all-to-all), concatenated and widened forests,
 * and forests of sections (sections 3.1, 3.3 and 4.2 of the paper that forest.h names). */
#include "kernels/common/lists.h"
#include "kernels/forest/forest_serve.h"

#include <inttypes.h>
#include <stdlib.h>

/* ---- patterns ---- */

/* If `joined`, gives this rank one leaf for each root of all ranks; otherwise this rank gets no
 * leaves. */
static osla_err join_all(osla_transport *t, const int64_t *start, bool joined, osla_forest **out)
{
  const int64_t all = start[osla_transport_size(t)], n = joined ? all : 0;
  if (all > UINT32_MAX) /* all ranks return this error, because `all` is equal on all ranks */
    return osla_error_set(OSLA_ERR_RANGE, "a pattern of %" PRId64 " roots: 2^32 or more", all);
  int64_t *root = malloc((size_t)(n + 1) * sizeof *root);
  OSLA_CALL(osla_agree(
    t, root ? OSLA_OK : osla_error_set(OSLA_ERR_MEM, "a pattern of %" PRId64 " edges", n)));
  for (int64_t i = 0; i < n; i++)
    root[i] = i;
  osla_err err = osla_forest_create_global(t, start, n, NULL, root, out);
  free(root);
  return err;
}

static osla_err make_gather(osla_transport *t, int64_t n_roots, bool joined, osla_forest **out)
{
  int64_t *start = NULL;
  osla_err err = OSLA_OK;
  if (n_roots < 0) err = osla_error_set(OSLA_ERR_ARG, "n_roots = %" PRId64 " is negative", n_roots);
  if (n_roots > UINT32_MAX)
    err = osla_error_set(OSLA_ERR_RANGE, "%" PRId64 " roots: 2^32 or more", n_roots);
  OSLA_CALL(osla_agree(t, err));
  err = osli_rank_starts(t, n_roots, &start);
  if (err == OSLA_OK) err = join_all(t, start, joined, out);
  free(start);
  return err;
}

osla_err osla_forest_allgather(osla_transport *t, int64_t n_roots, osla_forest **out)
{
  *out = NULL;
  return make_gather(t, n_roots, true, out);
}

osla_err osla_forest_gather(osla_transport *t, int64_t n_roots, int rank, osla_forest **out)
{
  const osla_argument same[] = {{"rank", rank}};
  osla_err err = OSLA_OK;
  *out = NULL;
  if (rank < 0 || rank >= osla_transport_size(t))
    err = osla_error_set(OSLA_ERR_ARG, "rank = %d is outside 0 .. %d", rank,
                         osla_transport_size(t) - 1);
  OSLA_CALL(osla_agree_same(t, err, "osla_forest_gather", same, 1));
  return make_gather(t, n_roots, osla_transport_rank(t) == rank, out);
}

osla_err osla_forest_alltoall(osla_transport *t, int64_t n, osla_forest **out)
{
  const int size = osla_transport_size(t), me = osla_transport_rank(t);
  const osla_argument same[] = {{"n", n}};
  osla_err err = OSLA_OK;
  *out = NULL;
  if (n < 0) err = osla_error_set(OSLA_ERR_ARG, "n = %" PRId64 " is negative", n);
  if (n > (int64_t)UINT32_MAX / size)
    err = osla_error_set(OSLA_ERR_RANGE, "%" PRId64 " values to each of %d ranks: 2^32 or more", n,
                         size);
  OSLA_CALL(osla_agree_same(t, err, "osla_forest_alltoall", same, 1));
  osla_root *root = malloc((size_t)(n * size + 1) * sizeof *root);
  OSLA_CALL(osla_agree(
    t, root ? OSLA_OK : osla_error_set(OSLA_ERR_MEM, "a pattern of %" PRId64 " edges", n * size)));
  for (int p = 0; p < size; p++)
    for (int64_t i = 0; i < n; i++)
      root[p * n + i] = (osla_root){p, me * n + i};
  err = osla_forest_create(t, n * size, n * size, NULL, root, out);
  free(root);
  return err;
}

/* ---- concatenated and widened forests ---- */

static osla_err check_several(int n, osla_forest *const *forests)
{
  for (int k = 1; k < n; k++)
    OSLA_CHECK(forests[k]->t == forests[0]->t, OSLA_ERR_ARG,
               "forest %d belongs to another transport than forest 0", k);
  return OSLA_OK;
}

/* Sets ids[leaf] to the root of each leaf of f. The indices of this rank's roots are counted from
 * first_root. Collective. */
static osla_err name_part(osla_forest *f, int64_t first_root, vertex_id *ids)
{
  vertex_id *roots;
  OSLA_CALL(osli_vertex_ids_create(f, f->n_roots, &roots));
  osli_vertex_ids_of_own(f, roots, f->n_roots, first_root);
  osla_err err = osli_vertex_ids_transfer(f, false, roots, ids);
  free(roots);
  return err;
}

osla_err osla_forest_concatenate(int n, osla_forest *const *forests, bool same_roots,
                                 osla_forest **out)
{
  int64_t n_roots = 0, leaves = 0;
  vertex_id *ids;
  *out = NULL;
  if (n <= 0) return osla_error_set(OSLA_ERR_ARG, "n = %d forests: at least 1 is needed", n);
  osla_transport *t = forests[0]->t;
  osla_err err = check_several(n, forests);
  for (int k = 1; k < n && err == OSLA_OK && same_roots; k++)
    if (forests[k]->n_roots != forests[0]->n_roots)
      err = osla_error_set(OSLA_ERR_ARG,
                           "forest %d has %" PRId64 " roots on rank %d, the first one %" PRId64, k,
                           forests[k]->n_roots, osla_transport_rank(t), forests[0]->n_roots);
  const osla_argument same[] = {{"n", n}, {"same_roots", same_roots}};
  OSLA_CALL(osla_agree_same(t, err, "osla_forest_concatenate", same, 2));
  for (int k = 0; k < n; k++)
    leaves += forests[k]->leaf_space;
  OSLA_CALL(osli_vertex_ids_create(forests[0], leaves, &ids));
  leaves = 0;
  for (int k = 0; k < n && err == OSLA_OK; k++) {
    /* The check is repeated before each transfer. If the caller's list contains a forest twice,
     * each transfer needs a further free record of this forest. */
    err = osli_vertex_ids_check(forests[k]);
    if (err == OSLA_OK) err = name_part(forests[k], n_roots, ids + leaves);
    leaves += forests[k]->leaf_space;
    if (!same_roots) n_roots += forests[k]->n_roots;
  }
  if (same_roots) n_roots = forests[0]->n_roots;
  if (err == OSLA_OK) err = osli_forest_create_from_ids(t, n_roots, ids, leaves, out);
  free(ids);
  return err;
}

static osla_err check_strides(const osla_forest *f, int64_t count, int64_t root_stride,
                              int64_t leaf_stride)
{
  OSLA_CHECK(count > 0 && root_stride >= count && leaf_stride >= count, OSLA_ERR_ARG,
             "count = %" PRId64 ", root_stride = %" PRId64 ", leaf_stride = %" PRId64
             ": count must be positive, and at most the strides",
             count, root_stride, leaf_stride);
  const int64_t most = UINT32_MAX;
  OSLA_CHECK(f->n_roots <= most / root_stride && f->leaf_space <= most / leaf_stride,
             OSLA_ERR_RANGE, "%" PRId64 " roots and %" PRId64 " leaves: 2^32 or more when widened",
             f->n_roots, f->leaf_space);
  return OSLA_OK;
}

osla_err osla_forest_strided(osla_forest *f, int64_t count, int64_t root_stride,
                             int64_t leaf_stride, osla_forest **out)
{
  const osla_argument same[] = {{"count", count}, {"root_stride", root_stride}};
  vertex_id *ids, *wide;
  *out = NULL;
  OSLA_CALL(osla_agree_same(f->t, check_strides(f, count, root_stride, leaf_stride),
                            "osla_forest_strided", same, 2));
  OSLA_CALL(osli_vertex_ids_create(f, f->leaf_space, &ids));
  osla_err err = osli_vertex_ids_create(f, f->leaf_space * leaf_stride, &wide);
  if (err == OSLA_OK) {
    osli_vertex_ids_of_roots(f, ids);
    for (int64_t i = 0; i < f->leaf_space; i++)
      for (int64_t c = 0; c < count && ids[i].rank >= 0; c++)
        wide[i * leaf_stride + c] = (vertex_id){ids[i].rank, ids[i].index * root_stride + c};
    err = osli_forest_create_from_ids(f->t, f->n_roots * root_stride, wide,
                                      f->leaf_space * leaf_stride, out);
  }
  free(ids);
  free(wide);
  return err;
}

/* ---- sections: vertices with any number of values ---- */

/* Index of the first value of a vertex, and number of its values. */
typedef struct vertex_section {
  int64_t first, count;
} vertex_section;

/* Checks the list start[0 .. n], which is called `what` in messages. */
static osla_err check_starts(const int64_t *start, int64_t n, const char *what)
{
  OSLA_CHECK(start, OSLA_ERR_ARG, "%s is NULL", what);
  OSLA_CHECK(start[0] == 0, OSLA_ERR_ARG, "%s[0] = %" PRId64 ", not 0", what, start[0]);
  for (int64_t i = 0; i < n; i++)
    OSLA_CHECK(start[i + 1] >= start[i], OSLA_ERR_ARG,
               "%s[%" PRId64 "] = %" PRId64 " is less than %s[%" PRId64 "] = %" PRId64, what, i + 1,
               start[i + 1], what, i, start[i]);
  OSLA_CHECK(start[n] <= UINT32_MAX, OSLA_ERR_RANGE, "%s: %" PRId64 " values: 2^32 or more", what,
             start[n]);
  return OSLA_OK;
}

/* Sets sections[i] to the section of the root of each leaf i. Collective. */
static osla_err fetch_sections(osla_forest *f, const int64_t *root_start, vertex_section *sections)
{
  const osla_unit unit = {OSLA_UNIT_INT64, 2, 0};
  vertex_section *roots = malloc((size_t)(f->n_roots + 1) * sizeof *roots);
  osla_err err = osla_agree(
    f->t,
    roots ? OSLA_OK : osla_error_set(OSLA_ERR_MEM, "sections of %" PRId64 " roots", f->n_roots));
  for (int64_t j = 0; roots && j < f->n_roots; j++)
    roots[j] = (vertex_section){root_start[j], root_start[j + 1] - root_start[j]};
  if (err == OSLA_OK) err = osla_forest_bcast(f, unit, roots, sections, OSLA_REPLACE);
  free(roots);
  return err;
}

/* Checks that each leaf has as many values as its root. *n: number of values of leaves with edges.
 */
static osla_err count_values(const osla_forest *f, const int64_t *leaf_start,
                             const vertex_section *sections, int64_t *n)
{
  *n = 0;
  for (int k = 0; k < f->to_roots.n; k++) {
    const forest_link *l = &f->to_roots.of[k];
    for (int64_t e = 0; e < l->edges; e++) {
      const int64_t i = osli_link_vertex(l, e), count = leaf_start[i + 1] - leaf_start[i];
      OSLA_CHECK(count == sections[i].count, OSLA_ERR_ARG,
                 "leaf %" PRId64 " of rank %d has %" PRId64 " values, but its root %" PRId64
                 " of rank %d has %" PRId64,
                 i, osla_transport_rank(f->t), count, osli_link_root(l, e).index, l->rank,
                 sections[i].count);
      *n += count;
    }
  }
  return OSLA_OK;
}

/* Lists an edge for each of the n values of leaves, in the order of the edges of f. */
static void list_values(const osla_forest *f, const int64_t *leaf_start,
                        const vertex_section *sections, int64_t *leaf, osla_root *root)
{
  int64_t next = 0;
  for (int k = 0; k < f->to_roots.n; k++) {
    const forest_link *l = &f->to_roots.of[k];
    for (int64_t e = 0; e < l->edges; e++) {
      const int64_t i = osli_link_vertex(l, e);
      for (int64_t c = 0; c < sections[i].count; c++, next++) {
        leaf[next] = leaf_start[i] + c;
        root[next] = (osla_root){l->rank, sections[i].first + c};
      }
    }
  }
}

/* Creates the forest of sections from checked arguments. sections: [leaf_space]. Collective. */
static osla_err join_values(osla_forest *f, int64_t n_roots, const int64_t *leaf_start,
                            const vertex_section *sections, osla_forest **out)
{
  int64_t n;
  OSLA_CALL(osla_agree(f->t, count_values(f, leaf_start, sections, &n)));
  int64_t *leaf = malloc((size_t)(n + 1) * sizeof *leaf);
  osla_root *root = malloc((size_t)(n + 1) * sizeof *root);
  osla_err err = osla_agree(
    f->t, leaf && root ? OSLA_OK : osla_error_set(OSLA_ERR_MEM, "%" PRId64 " values", n));
  if (err == OSLA_OK) {
    list_values(f, leaf_start, sections, leaf, root);
    err = osla_forest_create(f->t, n_roots, n, leaf, root, out);
  }
  free(leaf);
  free(root);
  return err;
}

osla_err osla_forest_sections(osla_forest *f, const int64_t *root_start, const int64_t *leaf_start,
                              osla_forest **out)
{
  *out = NULL;
  osla_err err = check_starts(root_start, f->n_roots, "root_start");
  if (err == OSLA_OK) err = check_starts(leaf_start, f->leaf_space, "leaf_start");
  OSLA_CALL(osla_agree(f->t, err));
  OSLA_CALL(osli_vertex_ids_check(f));
  vertex_section *sections = malloc((size_t)(f->leaf_space + 1) * sizeof *sections);
  err = osla_agree(
    f->t, sections ? OSLA_OK
                   : osla_error_set(OSLA_ERR_MEM, "sections of %" PRId64 " leaves", f->leaf_space));
  if (err == OSLA_OK) err = fetch_sections(f, root_start, sections);
  if (err == OSLA_OK) err = join_values(f, root_start[f->n_roots], leaf_start, sections, out);
  free(sections);
  return err;
}
