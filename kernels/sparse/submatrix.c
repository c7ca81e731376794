/* Extracts chosen rows and columns of a sparse matrix. Rows are fetched from their owners. The
 * owners of columns receive the new column numbers and send them to the ranks whose rows contain
 * the columns. */
#include "kernels/common/lists.h"
#include "kernels/sparse/csr.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Computes the block boundaries [size + 1] from the number of rows (or columns) that each rank has
 * chosen. The caller frees them. Collective. */
static osla_err make_blocks(osla_transport *t, int64_t n, int64_t **out)
{
  osla_err err = OSLA_OK;
  if (n < 0)
    err = osla_error_set(OSLA_ERR_ARG, "submatrix: %" PRId64 " rows or columns, less than 0", n);
  OSLA_CALL(osla_agree(t, err));
  return osli_rank_starts(t, n, out);
}

/* name[j] becomes the new number of this rank's column j, or -1 if the column was not chosen.
 * Collective. */
static osla_err name_columns(const osla_csr *a, int64_t n, const int64_t *column, int64_t first,
                             int64_t *name)
{
  osla_forest *chosen;
  const int64_t low = a->column_start[osla_transport_rank(a->t)];
  osla_err err = OSLA_OK;
  OSLA_CALL(osla_forest_create_global(a->t, a->column_start, n, NULL, column, &chosen));
  int64_t *mine = malloc((size_t)(n + 1) * sizeof *mine);
  if (!mine) err = osla_error_set(OSLA_ERR_MEM, "no memory for %" PRId64 " columns", n);
  osla_forest_degrees(chosen, name);
  for (int64_t j = 0; j < a->columns && err == OSLA_OK; j++)
    if (name[j] > 1)
      err = osla_error_set(OSLA_ERR_ARG, "column %" PRId64 " is chosen %" PRId64 " times", low + j,
                           name[j]);
  for (int64_t j = 0; j < a->columns; j++)
    name[j] = -1;
  for (int64_t i = 0; mine && i < n; i++)
    mine[i] = first + i;
  err = osla_agree(a->t, err);
  if (err == OSLA_OK) err = osla_forest_reduce(chosen, OSLA_ONE_INT64, mine, name, OSLA_REPLACE);
  free(mine);
  osla_err destroyed = osla_forest_destroy(&chosen);
  return err == OSLA_OK ? destroyed : err;
}

/* Lists the distinct columns that occur in these rows, in ascending order. */
static osla_err list_columns(const fetched_rows *rows, int64_t **out, int64_t *n)
{
  const int64_t all = rows->first[rows->n];
  int64_t *list = malloc((size_t)(all + 1) * sizeof *list);
  OSLA_CHECK(list, OSLA_ERR_MEM, "no memory for %" PRId64 " columns", all);
  if (all > 0) memcpy(list, rows->column, (size_t)all * sizeof *list);
  *n = osli_sort_distinct(list, all);
  *out = list;
  return OSLA_OK;
}

/* Replaces the column numbers in the rows by new ones, and removes entries in columns that were not
 * chosen. */
static void rename_rows(fetched_rows *rows, const int64_t *column, const int64_t *name, int64_t n)
{
  int64_t n_kept = 0, e = 0;
  for (int64_t i = 0; i < rows->n; i++) {
    for (; e < rows->first[i + 1]; e++) {
      const int64_t new_name = name[osli_sorted_index(column, n, rows->column[e])];
      if (new_name < 0) continue;
      rows->column[n_kept] = new_name;
      rows->value[n_kept++] = rows->value[e];
    }
    rows->first[i + 1] = n_kept;
  }
}

static osla_err choose_columns(const osla_csr *a, int64_t n, const int64_t *chosen, int64_t first,
                               fetched_rows *rows)
{
  int64_t *column = NULL, n_columns = 0;
  int64_t *name = malloc((size_t)(a->columns + 1) * sizeof *name), *here = NULL;
  osla_forest *named = NULL;
  osla_err err = name
                   ? list_columns(rows, &column, &n_columns)
                   : osla_error_set(OSLA_ERR_MEM, "no memory for %" PRId64 " columns", a->columns);
  if (err == OSLA_OK) here = malloc((size_t)(n_columns + 1) * sizeof *here);
  if (err == OSLA_OK && !here)
    err = osla_error_set(OSLA_ERR_MEM, "no memory for %" PRId64 " columns", n_columns);
  err = osla_agree(a->t, err);
  if (err == OSLA_OK) err = name_columns(a, n, chosen, first, name);
  if (err == OSLA_OK)
    err = osla_forest_create_global(a->t, a->column_start, n_columns, NULL, column, &named);
  if (err == OSLA_OK) err = osla_forest_bcast(named, OSLA_ONE_INT64, name, here, OSLA_REPLACE);
  if (err == OSLA_OK) rename_rows(rows, column, here, n_columns);
  osla_err destroyed = osla_forest_destroy(&named);
  free(column);
  free(name);
  free(here);
  return err == OSLA_OK ? destroyed : err;
}

osla_err osla_csr_submatrix(osla_csr *a, int64_t n_rows, const int64_t *row, int64_t n_columns,
                            const int64_t *column, osla_csr **out)
{
  int64_t *row_start = NULL, *column_start = NULL;
  fetched_rows rows = {0};
  *out = NULL;
  osla_err err = make_blocks(a->t, n_rows, &row_start);
  if (err == OSLA_OK) err = make_blocks(a->t, n_columns, &column_start);
  if (err == OSLA_OK) err = osli_fetch_rows(a, n_rows, row, &rows);
  if (err == OSLA_OK)
    err = choose_columns(a, n_columns, column, column_start[osla_transport_rank(a->t)], &rows);
  if (err == OSLA_OK)
    err = osla_csr_create(a->t, row_start, column_start, rows.first, rows.column, rows.value, out);
  osli_fetched_rows_free(&rows);
  free(row_start);
  free(column_start);
  return err;
}
