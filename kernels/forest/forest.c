/* Public calls that create, destroy and describe forests. */
#include "kernels/forest/forest_serve.h"
#include "src/base/hash.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- creation ---- */

/* Makes a progress step for all forests of the pool. */
static void serve_pool(void *pool)
{
  osli_forests_serve(pool);
}

/* Creates a forest from checked edges. `local`: the result of the checks on this rank. */
static osla_err create_forest(osla_transport *t, osla_err local, int64_t n_roots,
                              const forest_edges *edges, osla_forest **out)
{
  osla_forest *f = NULL;
  OSLA_CALL(osli_forest_create_from_edges(t, local, n_roots, edges, &f));
  osla_err err = osli_pool_set_progress(f->pool, serve_pool, osli_two_level_advance);
  if (err == OSLA_OK) err = osli_two_level_create(f, edges);
  if (err == OSLA_OK) {
    f->creation_index = ++f->pool->n_forests;
    *out = f;
  } else {
    (void)osla_agree(t, osli_forest_retire_one_level(f));
    osli_forest_free_one_level(&f);
  }
  return err;
}

osla_err osla_forest_create(osla_transport *t, int64_t n_roots, int64_t n_edges,
                            const int64_t *leaf, const osla_root *root, osla_forest **out)
{
  forest_edges edges = {0};
  *out = NULL;
  osla_err err = osli_edges_check(t, n_roots, n_edges, leaf, root, &edges);
  err = create_forest(t, err, n_roots, &edges, out);
  osli_edges_free(&edges);
  return err;
}

/* Returns the rank that owns the root with a global index: the rank p with start[p] <= index <
 * start[p + 1]. */
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
  if (n_edges < 0 || (n_edges > 0 && !root) || !start)
    err = osla_error_set(OSLA_ERR_ARG,
                         "n_edges = %" PRId64 " is negative, or root or start is NULL", n_edges);
  size_t n = err == OSLA_OK ? (size_t)n_edges : 0;
  osla_root *roots = malloc((n + 1) * sizeof *roots);
  if (!roots) err = osla_error_set(OSLA_ERR_MEM, "%" PRId64 " edges", n_edges);
  if (err == OSLA_OK) err = find_owners(start, size, n_edges, root, roots);
  /* The error is exchanged before the hashes are compared, because its message names the wrong
   * value. */
  err = osla_agree(t, err);
  if (err == OSLA_OK) {
    const osla_argument same[] = {{"start, its hash", hash_starts(start, size)}};
    err = osla_agree_same(t, err, "osla_forest_create_global", same, 1);
  }
  int64_t n_roots = err == OSLA_OK ? start[rank + 1] - start[rank] : 0;
  if (err == OSLA_OK) err = osli_edges_check(t, n_roots, n_edges, leaf, roots, &edges);
  err = create_forest(t, err, n_roots, &edges, out);
  osli_edges_free(&edges);
  free(roots);
  return err;
}

/* ---- destruction ---- */

/* True if no transfer of the forest, or of its split forest, is under way on this rank. */
static bool is_idle(const osla_forest *f)
{
  if (f->split && !is_idle(f->split)) return false;
  for (uint64_t number = osli_forest_oldest(f); number <= f->begun; number++)
    if (!f->transfer[number % MOST_TRANSFERS].ended) return false;
  return true;
}

osla_err osla_forest_destroy(osla_forest **forest)
{
  osla_forest *f = forest ? *forest : NULL;
  if (!f) return OSLA_OK;
  osli_forest_check_exposed(f);
  const osla_argument same[] = {{"the number of transfers that were begun", (int64_t)f->begun},
                                {"the forest's creation index", f->creation_index}};
  osla_err local = is_idle(f)
                     ? OSLA_OK
                     : osla_error_set(OSLA_ERR_STATE,
                                      "osla_forest_destroy: a transfer of rank %d is under "
                                      "way, end it first",
                                      osla_transport_rank(f->t));
  OSLA_CALL(osla_agree_same(f->t, local, "osla_forest_destroy", same, 2));
  OSLA_CALL(osla_forest_destroy(&f->split));
  osla_err err = osli_two_level_retire(f);
  local = osli_forest_retire_one_level(f);
  /* When the ranks have agreed, no rank writes into this rank's memory for the forest any more, so
   * that the memory can be freed. */
  err = osla_agree(f->t, err != OSLA_OK ? err : local);
  osli_two_level_free(f);
  osli_forest_free_one_level(forest);
  return err;
}

/* ---- queries ---- */

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

void osla_forest_degrees(const osla_forest *f, int64_t *degree)
{
  for (int64_t i = 0; i < f->n_roots; i++)
    degree[i] = 0;
  for (int l = 0; l < f->to_leaves.n; l++)
    for (int64_t i = 0; i < f->to_leaves.of[l].edges; i++)
      degree[osli_link_vertex(&f->to_leaves.of[l], i)]++;
}

void osla_forest_edges(const osla_forest *f, int64_t *leaf, osla_root *root)
{
  int64_t at = 0;
  for (int k = 0; k < f->to_roots.n; k++) {
    const forest_link *l = &f->to_roots.of[k];
    for (int64_t i = 0; i < l->edges; i++, at++) {
      leaf[at] = osli_link_vertex(l, i);
      root[at] = osli_link_root(l, i);
    }
  }
}

/* ---- the forest as text ---- */

typedef struct view_text {
  char *text;
  size_t size;   /* bytes of the buffer that the caller has passed */
  size_t length; /* length of the whole text, which may exceed the buffer */
} view_text;

__attribute__((format(printf, 2, 3))) static void add_text(view_text *v, const char *format, ...)
{
  const bool fits = v->length < v->size;
  va_list values;
  va_start(values, format);
  const int n =
    vsnprintf(fits ? v->text + v->length : NULL, fits ? v->size - v->length : 0, format, values);
  va_end(values);
  v->length += n > 0 ? (size_t)n : 0;
}

static void add_indices(view_text *v, const char *what, const vertex_index *index, int64_t n)
{
  if (index->list)
    add_text(v, "%s by a list", what);
  else if (index->block)
    add_text(v, "%s in a block of %" PRId64 " x %" PRId64 " x %" PRId64 " from %" PRId64, what,
             index->block->n[0], index->block->n[1], index->block->n[2], index->block->first);
  else
    add_text(v, "%s %" PRId64 " to %" PRId64, what, index->first, index->first + n - 1);
}

static const char *location_of(const forest_link *l)
{
  return l->is_self ? "this rank" : l->is_near ? "this node" : "another node";
}

static void add_link(view_text *v, const forest_link *l, bool to_roots, bool edges)
{
  add_text(v, "  %" PRId64 " to %s of rank %d (%s): ", l->edges, to_roots ? "roots" : "leaves",
           l->rank, location_of(l));
  add_indices(v, to_roots ? "leaves" : "roots", &l->mine, l->edges);
  if (to_roots) add_indices(v, ", roots", &l->theirs, l->edges);
  add_text(v, "\n");
  for (int64_t i = 0; to_roots && edges && i < l->edges; i++)
    add_text(v, "    leaf %" PRId64 ", root %" PRId64 "\n", osli_link_vertex(l, i),
             osli_link_root(l, i).index);
}

size_t osla_forest_view(const osla_forest *f, bool edges, char *text, size_t size)
{
  view_text v = {text, size, 0};
  if (size > 0) text[0] = '\0';
  add_text(&v,
           "forest %d, rank %d of %d: %" PRId64 " roots, %" PRId64 " edges, leaves below %" PRId64
           "\n",
           f->creation_index, osla_transport_rank(f->t), osla_transport_size(f->t), f->n_roots,
           f->n_edges, f->leaf_space);
  for (int i = 0; i < f->to_roots.n; i++)
    add_link(&v, &f->to_roots.of[i], true, edges);
  for (int i = 0; i < f->to_leaves.n; i++)
    add_link(&v, &f->to_leaves.of[i], false, false);
  if (f->two_level)
    add_text(&v, "  broadcasts cross between nodes once: %" PRId64 " proxies here\n",
             f->two_level->n_proxies);
  return v.length;
}
