/* Fetches rows of different lengths by two star forests. In the first forest, rows are roots. It
 * brings the length of each wanted row, and the offset of the row in the owner's list. In the
 * second forest, entries are roots. It brings the entries (Zhang et al. 2022, section 4.2). */
#include "kernels/sparse/csr.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

void osli_fetched_rows_free(fetched_rows *rows)
{
  free(rows->first);
  free(rows->column);
  free(rows->value);
  *rows = (fetched_rows){0};
}

static osla_err make_rows(fetched_rows *r, int64_t n, int64_t entries)
{
  if (!r->first) r->first = calloc((size_t)n + 1, sizeof *r->first);
  r->column = malloc((size_t)(entries + 1) * sizeof *r->column);
  r->value = malloc((size_t)(entries + 1) * sizeof *r->value);
  r->n = n;
  OSLA_CHECK(r->first && r->column && r->value, OSLA_ERR_MEM,
             "no memory for %" PRId64 " entries of %" PRId64 " rows", entries, n);
  return OSLA_OK;
}

/* Copies this rank's rows to lists of compressed rows. */
static osla_err list_mine(const osla_csr *a, fetched_rows *out)
{
  OSLA_CALL(make_rows(out, a->rows, osla_csr_entries(a)));
  for (int64_t i = 0; i < a->rows; i++)
    out->first[i + 1] =
      out->first[i] + osla_csr_row(a, i, out->column + out->first[i], out->value + out->first[i]);
  return OSLA_OK;
}

/* Offset and length of a row in the list of its owner. */
typedef struct row_location {
  int64_t rank, first, n;
} row_location;
static const osla_unit location_unit = {OSLA_UNIT_INT64, 3, 0};

static osla_err fetch_locations(osla_csr *a, const fetched_rows *mine, int64_t n,
                                const int64_t *row, row_location *location)
{
  osla_forest *rows;
  OSLA_CALL(osla_forest_create_global(a->t, a->row_start, n, NULL, row, &rows));
  row_location *roots = malloc((size_t)(a->rows + 1) * sizeof *roots);
  osla_err err =
    roots ? OSLA_OK : osla_error_set(OSLA_ERR_MEM, "no memory for %" PRId64 " positions", a->rows);
  for (int64_t i = 0; roots && i < a->rows; i++)
    roots[i] = (row_location){osla_transport_rank(a->t), mine->first[i],
                              mine->first[i + 1] - mine->first[i]};
  err = osla_agree(a->t, err);
  if (err == OSLA_OK) err = osla_forest_bcast(rows, location_unit, roots, location, OSLA_REPLACE);
  free(roots);
  osla_err destroyed = osla_forest_destroy(&rows);
  return err == OSLA_OK ? destroyed : err;
}

static osla_err list_entries(const row_location *location, int64_t n, fetched_rows *out,
                             osla_root **root)
{
  int64_t entries = 0;
  for (int64_t i = 0; i < n; i++)
    entries += location[i].n;
  *root = malloc((size_t)(entries + 1) * sizeof **root);
  OSLA_CHECK(*root, OSLA_ERR_MEM, "no memory for %" PRId64 " entries of other ranks", entries);
  OSLA_CALL(make_rows(out, n, entries));
  for (int64_t i = 0; i < n; i++) {
    for (int64_t k = 0; k < location[i].n; k++)
      (*root)[out->first[i] + k] = (osla_root){(int32_t)location[i].rank, location[i].first + k};
    out->first[i + 1] = out->first[i] + location[i].n;
  }
  return OSLA_OK;
}

static osla_err fetch_entries(osla_csr *a, const fetched_rows *mine, const row_location *location,
                              int64_t n, fetched_rows *out)
{
  osla_root *root = NULL;
  osla_forest *entries = NULL;
  osla_err err = osla_agree(a->t, list_entries(location, n, out, &root));
  if (err == OSLA_OK)
    err = osla_forest_create(a->t, mine->first[mine->n], out->first[n], NULL, root, &entries);
  free(root);
  if (err != OSLA_OK) return err;
  err = osla_forest_bcast(entries, OSLA_ONE_INT64, mine->column, out->column, OSLA_REPLACE);
  if (err == OSLA_OK)
    err = osla_forest_bcast(entries, OSLA_ONE_DOUBLE, mine->value, out->value, OSLA_REPLACE);
  osla_err destroyed = osla_forest_destroy(&entries);
  return err == OSLA_OK ? destroyed : err;
}

osla_err osli_fetch_rows(osla_csr *a, int64_t n, const int64_t *row, fetched_rows *out)
{
  fetched_rows mine = {0};
  *out = (fetched_rows){0};
  row_location *location = malloc((size_t)(n > 0 ? n + 1 : 1) * sizeof *location);
  osla_err err = location ? list_mine(a, &mine)
                          : osla_error_set(OSLA_ERR_MEM, "no memory for %" PRId64 " rows", n);
  err = osla_agree(a->t, err);
  if (err == OSLA_OK) err = fetch_locations(a, &mine, n, row, location);
  if (err == OSLA_OK) err = fetch_entries(a, &mine, location, n, out);
  if (err != OSLA_OK) osli_fetched_rows_free(out);
  osli_fetched_rows_free(&mine);
  free(location);
  return err;
}
