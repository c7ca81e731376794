/* Exact sums: the values that leaves send to a root are added up and rounded once. The values of
 * all leaves are first gathered in an array, in any order. Then the values for each root are added
 * up. */
#include "kernels/common/exact_sum.h"
#include "kernels/forest/forest_serve.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Edges of each root. Created by the first exact sum on a forest. Edges are numbered link by link,
 * in the order of to_leaves. */
typedef struct forest_gather {
  int64_t *start; /* [n_roots + 1] start[j]: offset in `edge` of the first edge of root j */
  uint32_t *edge; /* numbers of the edges, sorted by root */
} forest_gather;

void osli_forest_gather_free(forest_gather **gather)
{
  if (!*gather) return;
  free((*gather)->start);
  free((*gather)->edge);
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
  OSLA_CHECK(n <= UINT32_MAX, OSLA_ERR_RANGE, "an exact sum of %" PRId64 " edges, at most 2^32", n);
  forest_gather *g = calloc(1, sizeof *g);
  OSLA_CHECK(g, OSLA_ERR_MEM, "lists of an exact sum");
  g->start = calloc((size_t)f->n_roots + 2, sizeof *g->start);
  g->edge = malloc((size_t)(n + 1) * sizeof *g->edge);
  f->gather = g;
  if (g->start && g->edge) {
    sort_edges(f, g);
    return OSLA_OK;
  }
  osli_forest_gather_free(&f->gather);
  return osla_error_set(OSLA_ERR_MEM, "lists of an exact sum of %" PRId64 " edges", n);
}

osla_err osli_forest_exact_begin(osla_forest *f, forest_transfer *x)
{
  if (!f->gather) OSLA_CALL(make_gather(f));
  const size_t bytes = osli_unit_element(x->type) * (size_t)x->count;
  x->gathered = malloc((size_t)f->to_leaves.n_edges * bytes + 1);
  OSLA_CHECK(x->gathered, OSLA_ERR_MEM, "values of %" PRId64 " edges to sum", f->to_leaves.n_edges);
  return OSLA_OK;
}

vertex_list osli_forest_exact_buffer(const forest_transfer *x, const forest_link *l)
{
  const int64_t bytes = (int64_t)osli_unit_element(x->type) * x->count;
  return (vertex_list){x->gathered, bytes, NULL, l->first_edge, NULL};
}

/* A complex number counts as two real numbers. */
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

void osli_forest_exact_end(osla_forest *f, forest_transfer *x)
{
  const forest_gather *g = f->gather;
  const bool floats = is_of_floats(x->type);
  const size_t bytes = osli_unit_element(x->type) * (size_t)x->count;
  const size_t step = floats ? sizeof(float) : sizeof(double);
  exact_sum sum;
  osli_exact_sum_start(&sum);
  for (int64_t j = 0; j < f->n_roots; j++) {
    if (g->start[j] == g->start[j + 1]) continue;
    for (size_t c = 0; c < bytes; c += step) {
      unsigned char *root = x->to + j * x->stride + c;
      osli_exact_sum_clear(&sum);
      osli_exact_sum_add(&sum, load(root, floats));
      for (int64_t e = g->start[j]; e < g->start[j + 1]; e++)
        osli_exact_sum_add(&sum, load(x->gathered + g->edge[e] * bytes + c, floats));
      store(root, floats, &sum);
    }
  }
  free(x->gathered);
  x->gathered = NULL;
}
