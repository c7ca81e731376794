/* Entries find the owners of their rows by a star forest, in which each is a leaf of its row.
 * Split, every leaf has a root of its own there, row by row, and reductions with REPLACE gather
 * them: the lists of compressed rows (Zhang et al. 2022, section 3.2: gather). */
#include "entries.h"

#include <inttypes.h>
#include <stdlib.h>

static osla_err grow(csr_entries *e)
{
  const int64_t room = e->room ? e->room + e->room / 2 : 1024;
  int64_t *row = realloc(e->row, (size_t)room * sizeof *row);
  if (row) e->row = row;
  int64_t *column = realloc(e->column, (size_t)room * sizeof *column);
  if (column) e->column = column;
  double *value = realloc(e->value, (size_t)room * sizeof *value);
  if (value) e->value = value;
  OSLA_CHECK(row && column && value, OSLA_ERR_MEM, "%" PRId64 " entries of a matrix", room);
  e->room = room;
  return OSLA_OK;
}

osla_err osla_entries_add(csr_entries *e, int64_t row, int64_t column, double value)
{
  if (e->n == e->room) OSLA_CALL(grow(e));
  e->row[e->n] = row;
  e->column[e->n] = column;
  e->value[e->n++] = value;
  return OSLA_OK;
}

void osla_entries_free(csr_entries *e)
{
  free(e->row);
  free(e->column);
  free(e->value);
  *e = (csr_entries){0};
}

/* What has come to this rank, as osla_csr_create takes it. */
typedef struct row_lists {
  int64_t *first, *column;
  double *value;
} row_lists;

/* first[i] := where row i begins: its entries are the leaves of its root. */
static osla_err make_lists(const osla_forest *rows, row_lists *l)
{
  const int64_t n = osla_forest_n_roots(rows);
  l->first = calloc((size_t)n + 1, sizeof *l->first);
  OSLA_CHECK(l->first, OSLA_ERR_MEM, "%" PRId64 " rows of a matrix", n);
  osla_forest_degrees(rows, l->first + 1);
  for (int64_t i = 0; i < n; i++)
    l->first[i + 1] += l->first[i];
  l->column = malloc((size_t)(l->first[n] + 1) * sizeof *l->column);
  l->value = malloc((size_t)(l->first[n] + 1) * sizeof *l->value);
  OSLA_CHECK(l->column && l->value, OSLA_ERR_MEM, "%" PRId64 " entries of a matrix", l->first[n]);
  return OSLA_OK;
}

static osla_err gather(osla_forest *rows, const csr_entries *e, row_lists *l)
{
  osla_forest *each;
  OSLA_CALL(osla_agree(osla_forest_transport(rows), make_lists(rows, l)));
  OSLA_CALL(osla_forest_split(rows, &each));
  osla_err err = osla_forest_reduce(each, OSLA_ONE_INT64, e->column, l->column, OSLA_REPLACE);
  if (err == OSLA_OK)
    err = osla_forest_reduce(each, OSLA_ONE_DOUBLE, e->value, l->value, OSLA_REPLACE);
  osla_err destroyed = osla_forest_destroy(&each);
  return err == OSLA_OK ? destroyed : err;
}

osla_err osla_entries_to_csr(osla_transport *t, const int64_t *row_start,
                             const int64_t *column_start, const csr_entries *e, osla_csr **out)
{
  osla_forest *rows;
  row_lists l = {0};
  *out = NULL;
  OSLA_CALL(osla_forest_create_global(t, row_start, e->n, NULL, e->row, &rows));
  osla_err err = gather(rows, e, &l);
  osla_err destroyed = osla_forest_destroy(&rows);
  if (err == OSLA_OK) err = destroyed;
  if (err == OSLA_OK)
    err = osla_csr_create(t, row_start, column_start, l.first, l.column, l.value, out);
  free(l.first);
  free(l.column);
  free(l.value);
  return err;
}

osla_err osla_entries_to_vector(osla_transport *t, const int64_t *start, const csr_entries *e,
                                double *part)
{
  osla_forest *rows;
  OSLA_CALL(osla_forest_create_global(t, start, e->n, NULL, e->row, &rows));
  osla_err err = osla_forest_reduce(rows, OSLA_ONE_DOUBLE, e->value, part, OSLA_REPLACE);
  osla_err destroyed = osla_forest_destroy(&rows);
  return err == OSLA_OK ? destroyed : err;
}
