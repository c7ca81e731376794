#include "config.h"

#include "bench/graph_partition.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

osla_err graph_lists_create(int64_t n, int64_t neighbours, graph_lists *out)
{
  *out = (graph_lists){.n = n};
  out->first = calloc((size_t)n + 1, sizeof *out->first);
  out->neighbour = calloc((size_t)neighbours + 1, sizeof *out->neighbour);
  if (out->first && out->neighbour) return OSLA_OK;
  graph_lists_free(out);
  return osla_error_set(OSLA_ERR_MEM, "lists of %" PRId64 " vertices", n);
}

void graph_lists_free(graph_lists *graph)
{
  free(graph->first);
  free(graph->neighbour);
  *graph = (graph_lists){0};
}

#ifdef HAVE_METIS
#include <metis.h>

/* Converts integers to METIS's integer type, whose width is chosen when METIS is built. */
static osla_err converted(const int64_t *list, int64_t n, idx_t **out)
{
  *out = malloc(((size_t)n + 1) * sizeof **out);
  OSLA_CHECK(*out, OSLA_ERR_MEM, "lists of %" PRId64 " numbers", n);
  for (int64_t i = 0; i < n; i++)
    (*out)[i] = (idx_t)list[i];
  return OSLA_OK;
}

static osla_err divide(const graph_lists *graph, int parts, idx_t *first, idx_t *neighbour,
                       idx_t *number)
{
  idx_t n = (idx_t)graph->n, constraints = 1, wanted = parts, cut;
  int status = METIS_PartGraphKway(&n, &constraints, first, neighbour, NULL, NULL, NULL, &wanted,
                                   NULL, NULL, NULL, &cut, number);
  OSLA_CHECK(status == METIS_OK, OSLA_ERR_MEM, "METIS fails with status %d", status);
  return OSLA_OK;
}

osla_err graph_partition(const graph_lists *graph, int parts, int32_t *part)
{
  const int64_t n = graph->n, edges = graph->first[n];
  memset(part, 0, (size_t)n * sizeof *part);
  /* METIS would divide by 0 here; all vertices are in part 0 */
  if (parts == 1 || n == 0) return OSLA_OK;
  OSLA_CHECK(n <= IDX_MAX && edges <= IDX_MAX, OSLA_ERR_RANGE,
             "METIS's integers hold at most %" PRId64 ", not %" PRId64, (int64_t)IDX_MAX,
             n > edges ? n : edges);
  idx_t *first = NULL, *neighbour = NULL, *number = malloc((size_t)n * sizeof *number);
  osla_err err = number ? OSLA_OK : osla_error_set(OSLA_ERR_MEM, "parts of %" PRId64, n);
  if (err == OSLA_OK) err = converted(graph->first, n + 1, &first);
  if (err == OSLA_OK) err = converted(graph->neighbour, edges, &neighbour);
  if (err == OSLA_OK) err = divide(graph, parts, first, neighbour, number);
  for (int64_t i = 0; err == OSLA_OK && i < n; i++)
    part[i] = (int32_t)number[i];
  free(first);
  free(neighbour);
  free(number);
  return err;
}

#else

osla_err graph_partition(const graph_lists *graph, int parts, int32_t *part)
{
  (void)graph, (void)parts, (void)part;
  return osla_error_set(OSLA_ERR_UNSUPPORTED, "--partition needs a build with METIS");
}

#endif
