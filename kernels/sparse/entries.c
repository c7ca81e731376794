/* Entries find the owners of their rows by a star forest: each is a leaf of its owner's one root;
 * split, every leaf has a root of its own there, and a reduction with REPLACE gathers them (Zhang
 * et al. 2022, section 3.2: gather). */
#include "entries.h"

#include <inttypes.h>
#include <stdlib.h>

osla_err osla_entries_add(csr_entries *e, int64_t row, int64_t column, double value)
{
  if (e->n == e->room) {
    const int64_t room = e->room ? e->room + e->room / 2 : 1024;
    csr_entry *moved = realloc(e->of, (size_t)room * sizeof *moved);
    OSLA_CHECK(moved, OSLA_ERR_MEM, "%" PRId64 " entries of a matrix", room);
    e->of = moved;
    e->room = room;
  }
  e->of[e->n++] = (csr_entry){row, column, value};
  return OSLA_OK;
}

void osla_entries_free(csr_entries *e)
{
  free(e->of);
  *e = (csr_entries){0};
}

static int owner_of(const int64_t *start, int size, int64_t row)
{
  int low = 0, high = size - 1;
  while (low < high) {
    const int middle = (low + high + 1) / 2;
    if (start[middle] <= row)
      low = middle;
    else
      high = middle - 1;
  }
  return low;
}

/* A leaf for each entry, a root for each of those that come here. */
static osla_err join(osla_transport *t, const int64_t *start, const csr_entries *e,
                     osla_forest **out, int64_t *n)
{
  osla_root *root = malloc((size_t)(e->n + 1) * sizeof *root);
  osla_forest *to_owners = NULL;
  osla_err err = osla_agree(
    t, root ? OSLA_OK : osla_error_set(OSLA_ERR_MEM, "ways of %" PRId64 " entries", e->n));
  for (int64_t i = 0; err == OSLA_OK && i < e->n; i++)
    root[i] = (osla_root){owner_of(start, osla_transport_size(t), e->of[i].row), 0};
  if (err == OSLA_OK) err = osla_forest_create(t, 1, e->n, NULL, root, &to_owners);
  free(root);
  OSLA_CALL(err);
  osla_forest_degrees(to_owners, n);
  err = osla_forest_split(to_owners, out);
  osla_err destroyed = osla_forest_destroy(&to_owners);
  return err == OSLA_OK ? destroyed : err;
}

osla_err osla_entries_deal(osla_transport *t, const int64_t *start, csr_entries *e)
{
  const osla_unit unit = {OSLA_UNIT_BYTES, sizeof *e->of, 0};
  csr_entries mine = {0};
  osla_forest *forest = NULL;
  osla_err err = join(t, start, e, &forest, &mine.n);
  if (err != OSLA_OK) return err;
  mine.of = malloc((size_t)(mine.n + 1) * sizeof *mine.of);
  mine.room = mine.n;
  err =
    osla_agree(t, mine.of ? OSLA_OK : osla_error_set(OSLA_ERR_MEM, "%" PRId64 " entries", mine.n));
  if (err == OSLA_OK) err = osla_forest_reduce(forest, unit, e->of, mine.of, OSLA_REPLACE);
  osla_err destroyed = osla_forest_destroy(&forest);
  osla_entries_free(e);
  *e = mine;
  return err == OSLA_OK ? destroyed : err;
}

typedef struct row_lists {
  int64_t *first, *column;
  double *value;
} row_lists;

/* By rows, those of a row in the order in which they came. first[i + 1] is where the next entry of
 * row i goes, and at last where the row ends. */
static osla_err sort_rows(const csr_entries *e, int64_t low, int64_t rows, row_lists *l)
{
  l->first = calloc((size_t)rows + 2, sizeof *l->first);
  l->column = malloc((size_t)(e->n + 1) * sizeof *l->column);
  l->value = malloc((size_t)(e->n + 1) * sizeof *l->value);
  OSLA_CHECK(l->first && l->column && l->value, OSLA_ERR_MEM,
             "%" PRId64 " rows and %" PRId64 " entries of a matrix", rows, e->n);
  for (int64_t i = 0; i < e->n; i++)
    l->first[e->of[i].row - low + 2]++;
  for (int64_t i = 2; i <= rows + 1; i++)
    l->first[i] += l->first[i - 1];
  for (int64_t i = 0; i < e->n; i++) {
    const int64_t at = l->first[e->of[i].row - low + 1]++;
    l->column[at] = e->of[i].column;
    l->value[at] = e->of[i].value;
  }
  return OSLA_OK;
}

osla_err osla_entries_to_csr(osla_transport *t, const int64_t *row_start,
                             const int64_t *column_start, csr_entries *e, osla_csr **out)
{
  const int rank = osla_transport_rank(t);
  row_lists l = {0};
  *out = NULL;
  osla_err err =
    osla_agree(t, sort_rows(e, row_start[rank], row_start[rank + 1] - row_start[rank], &l));
  osla_entries_free(e);
  if (err == OSLA_OK)
    err = osla_csr_create(t, row_start, column_start, l.first, l.column, l.value, out);
  free(l.first);
  free(l.column);
  free(l.value);
  return err;
}
