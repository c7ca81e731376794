/* Reductions that first gather the values of all leaves in an array: exact sums, which add up the
 * values for each root and round once, and combinations by a function of the caller. */
#include "kernels/common/exact_sum.h"
#include "kernels/forest/forest_serve.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Edges of each root. The first SUM_EXACT, or the first reduction by a function, on a forest
 * creates them. Edges are numbered link by link, in the order of to_leaves. */
typedef struct forest_gather {
  int64_t *start; /* [n_roots + 1] start[j]: offset in `edge` of the first edge of root j */
  uint32_t *edge; /* numbers of the edges, sorted by root */
  /* indices of the roots with edges; set when roots lie on a device for the first time */
  vertex_index joined;
} forest_gather;

void osli_forest_gather_free(forest_gather **gather)
{
  if (!*gather) return;
  free((*gather)->start);
  free((*gather)->edge);
  osli_index_forget(&(*gather)->joined);
  free((uint32_t *)(uintptr_t)(*gather)->joined.list);
  free(*gather);
  *gather = NULL;
}

/* Counts the edges of each root, and sorts the edges by root. Uses start[j] as the next free index
 * for an edge of root j, and restores it at the end. */
static void sort_edges(const osla_forest *f, forest_gather *g)
{
  int64_t number = 0;
  for (int k = 0; k < f->to_leaves.n; k++)
    for (int64_t i = 0; i < f->to_leaves.of[k].edges; i++)
      g->start[osli_link_vertex(&f->to_leaves.of[k], i) + 1]++;
  for (int64_t j = 0; j < f->n_roots; j++)
    g->start[j + 1] += g->start[j];
  for (int k = 0; k < f->to_leaves.n; k++)
    for (int64_t i = 0; i < f->to_leaves.of[k].edges; i++)
      g->edge[g->start[osli_link_vertex(&f->to_leaves.of[k], i)]++] = (uint32_t)number++;
  for (int64_t j = f->n_roots; j > 0; j--)
    g->start[j] = g->start[j - 1];
  g->start[0] = 0;
}

static osla_err make_gather(osla_forest *f)
{
  const int64_t n = f->to_leaves.n_edges;
  OSLA_CHECK(n <= UINT32_MAX, OSLA_ERR_RANGE, "values of %" PRId64 " edges to gather: 2^32 or more",
             n);
  forest_gather *g = calloc(1, sizeof *g);
  OSLA_CHECK(g, OSLA_ERR_MEM, "lists of edges to gather");
  g->start = calloc((size_t)f->n_roots + 2, sizeof *g->start);
  g->edge = malloc((size_t)(n + 1) * sizeof *g->edge);
  f->gather = g;
  if (g->start && g->edge) {
    sort_edges(f, g);
    return OSLA_OK;
  }
  osli_forest_gather_free(&f->gather);
  return osla_error_set(OSLA_ERR_MEM, "lists of %" PRId64 " edges to gather", n);
}

osla_err osli_forest_exact_begin(osla_forest *f, forest_transfer *x)
{
  if (!f->gather) OSLA_CALL(make_gather(f));
  const size_t bytes = osli_unit_element(x->type) * (size_t)x->count;
  x->gathered = malloc((size_t)f->to_leaves.n_edges * bytes + 1);
  OSLA_CHECK(x->gathered, OSLA_ERR_MEM, "values of %" PRId64 " edges to gather",
             f->to_leaves.n_edges);
  return OSLA_OK;
}

vertex_list osli_forest_exact_buffer(const forest_transfer *x, const forest_link *l)
{
  const int64_t bytes = (int64_t)osli_unit_element(x->type) * x->count;
  return (vertex_list){x->gathered, bytes, NULL, l->first_edge, NULL, NULL};
}

/* True if the real numbers of a type are floats. A complex number consists of two real numbers. */
static bool is_of_floats(osla_unit_type type)
{
  return type == OSLA_UNIT_FLOAT || type == OSLA_UNIT_COMPLEX_FLOAT;
}

static double load(const unsigned char *at, bool floats)
{
  float narrow;
  double x;
  if (!floats) {
    memcpy(&x, at, sizeof x);
    return x;
  }
  memcpy(&narrow, at, sizeof narrow);
  return narrow;
}

static void store(unsigned char *at, bool floats, exact_sum *sum)
{
  const float narrow = floats ? osli_exact_sum_round_float(sum) : 0.0F;
  const double x = floats ? 0.0 : osli_exact_sum_round(sum);
  if (floats)
    memcpy(at, &narrow, sizeof narrow);
  else
    memcpy(at, &x, sizeof x);
}

/* Adds the gathered values of root j to the root, which lies in host memory at `root`. */
static void sum_root(const forest_gather *g, const forest_transfer *x, int64_t j,
                     unsigned char *root, exact_sum *sum)
{
  const bool floats = is_of_floats(x->type);
  const size_t bytes = osli_unit_element(x->type) * (size_t)x->count;
  const size_t step = floats ? sizeof(float) : sizeof(double);
  for (size_t c = 0; c < bytes; c += step) {
    osli_exact_sum_clear(sum);
    osli_exact_sum_add(sum, load(root + c, floats));
    for (int64_t e = g->start[j]; e < g->start[j + 1]; e++)
      osli_exact_sum_add(sum, load(x->gathered + g->edge[e] * bytes + c, floats));
    store(root + c, floats, sum);
  }
}

/* Sets g->joined to the list of the roots with edges. */
static osla_err list_joined_roots(const osla_forest *f, forest_gather *g)
{
  int64_t n = 0;
  if (g->joined.list) return OSLA_OK;
  uint32_t *list = malloc((size_t)(f->n_roots + 1) * sizeof *list);
  OSLA_CHECK(list, OSLA_ERR_MEM, "a list of %" PRId64 " roots", f->n_roots);
  for (int64_t j = 0; j < f->n_roots; j++)
    if (g->start[j] < g->start[j + 1]) list[n++] = (uint32_t)j;
  g->joined = (vertex_index){.list = list, .n = n};
  return OSLA_OK;
}

/* Copies roots from a device to host memory, sums each of them there, and copies them back. */
static osla_err sum_device_roots(const osla_forest *f, const forest_transfer *x, exact_sum *sum)
{
  forest_gather *g = f->gather;
  const int64_t bytes = (int64_t)osli_unit_element(x->type) * x->count;
  OSLA_CALL(list_joined_roots(f, g));
  const int64_t n = g->joined.n;
  unsigned char *copy = malloc((size_t)(n * bytes) + 1);
  OSLA_CHECK(copy, OSLA_ERR_MEM, "a copy of %" PRId64 " roots", n);
  const vertex_list on_device = {x->to, x->stride, g->joined.list, 0, NULL, &g->joined};
  const vertex_list on_host = {copy, bytes, NULL, 0, NULL, NULL};
  osli_vertices_combine(x->type, OSLA_REPLACE, x->count, on_host, on_device, n);
  for (int64_t i = 0; i < n; i++)
    sum_root(g, x, g->joined.list[i], copy + i * bytes, sum);
  osli_vertices_combine(x->type, OSLA_REPLACE, x->count, on_device, on_host, n);
  free(copy);
  return OSLA_OK;
}

/* Combines the gathered values of root j with the root, at `root`, in the order of the edges. */
static void combine_root(const forest_gather *g, const forest_transfer *x, int64_t j,
                         unsigned char *root)
{
  const size_t bytes = osli_unit_element(x->type) * (size_t)x->count;
  for (int64_t e = g->start[j]; e < g->start[j + 1]; e++)
    x->function(x->count, root, x->gathered + g->edge[e] * bytes, x->context);
}

static void sum_roots(osla_forest *f, const forest_transfer *x)
{
  const forest_gather *g = f->gather;
  const bool is_on_device = osli_device_of(x->to) != NULL;
  exact_sum sum;
  osli_exact_sum_start(&sum);
  if (is_on_device) {
    osla_err err = sum_device_roots(f, x, &sum);
    if (err != OSLA_OK) osla_transport_abort(f->t, err);
  }
  for (int64_t j = 0; j < f->n_roots && !is_on_device; j++)
    if (g->start[j] < g->start[j + 1]) sum_root(g, x, j, x->to + j * x->stride, &sum);
}

void osli_forest_exact_end(osla_forest *f, forest_transfer *x)
{
  if (x->function)
    for (int64_t j = 0; j < f->n_roots; j++)
      combine_root(f->gather, x, j, x->to + j * x->stride);
  else
    sum_roots(f, x);
  free(x->gathered);
  x->gathered = NULL;
}
