/* Copies of sparse rows of other ranks. A broadcast over a star forest of rows brings the number
 * of entries of each row. A second forest then connects each entry of a copy to the entry of the
 * original row (Zhang et al. 2022, section 4.2). It brings the columns of the entries once, and
 * the values each time that they have changed. Ranks of the node read the values in place. */
#include "kernels/sparse/product.h"

#include <inttypes.h>
#include <stdlib.h>

static osla_err fetch_lengths(osla_forest *rows, const int64_t *listed_first, row_copies *c)
{
  const int64_t n = osla_forest_n_roots(rows);
  int64_t *length = malloc((size_t)(n + 1) * sizeof *length);
  osla_err err = OSLA_OK;
  c->n = osla_forest_leaf_space(rows);
  c->first = calloc((size_t)c->n + 1, sizeof *c->first);
  if (!length || !c->first)
    err = osla_error_set(OSLA_ERR_MEM, "no memory for lengths of %" PRId64 " rows", n + c->n);
  for (int64_t i = 0; err == OSLA_OK && i < n; i++)
    length[i] = listed_first[i + 1] - listed_first[i];
  err = osla_agree(osla_forest_transport(rows), err);
  if (err == OSLA_OK)
    err = osla_forest_bcast(rows, OSLA_ONE_INT64, length, c->first + 1, OSLA_REPLACE);
  for (int64_t i = 0; err == OSLA_OK && i < c->n; i++)
    c->first[i + 1] += c->first[i];
  free(length);
  return err;
}

static osla_err make_entries(row_copies *c, int64_t **column)
{
  const int64_t entries = c->first[c->n];
  *column = malloc((size_t)(entries + 1) * sizeof **column);
  c->value = malloc((size_t)(entries + 1) * sizeof *c->value);
  OSLA_CHECK(*column && c->value, OSLA_ERR_MEM, "no memory for %" PRId64 " entries of other ranks",
             entries);
  return OSLA_OK;
}

osla_err osli_row_copies_create(osla_forest *rows, const int64_t *listed_first,
                                const int64_t *listed_column, int64_t **column, row_copies *c)
{
  osla_transport *t = osla_forest_transport(rows);
  *c = (row_copies){.n_listed = listed_first[osla_forest_n_roots(rows)]};
  *column = NULL;
  void *memory;
  OSLA_CALL(fetch_lengths(rows, listed_first, c));
  OSLA_CALL(osla_agree(t, make_entries(c, column)));
  OSLA_CALL(osla_forest_sections(rows, listed_first, c->first, &c->forest));
  OSLA_CALL(osla_vertices_create(t, (size_t)c->n_listed * sizeof *c->listed, &memory));
  c->listed = memory;
  return osla_forest_bcast(c->forest, OSLA_ONE_INT64, listed_column, *column, OSLA_REPLACE);
}

osla_err osli_row_copies_begin(row_copies *c, osla_forest_run *run)
{
  return osla_forest_bcast_begin(c->forest, OSLA_ONE_DOUBLE, c->listed, c->value, OSLA_REPLACE,
                                 run);
}

osla_err osli_row_copies_end(row_copies *c, osla_forest_run *run)
{
  (void)c;
  return osla_forest_end_read(run);
}

osla_err osli_row_copies_writable(row_copies *c)
{
  return osla_forest_writable(c->forest);
}

osla_err osli_row_copies_destroy(osla_transport *t, row_copies *c)
{
  void *memory = c->listed;
  OSLA_CALL(osla_vertices_free(t, &memory));
  c->listed = NULL;
  OSLA_CALL(osla_forest_destroy(&c->forest));
  free(c->first);
  free(c->value);
  *c = (row_copies){0};
  return OSLA_OK;
}
