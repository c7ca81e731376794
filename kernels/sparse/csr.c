/* Creates sparse matrices: sorts rows and splits them into this rank's columns and ghosts.
 *
 * Each rank reads only its own rows. The set-up of a star forest tells each rank which other ranks
 * need its values. Ghosts are numbered by global column, so that ghosts of one owner are adjacent
 * in memory, and consecutive columns form one run. The split follows PETSc's MATMPIAIJ (Zhang et
 * al. 2022, section 4.1). */
#include "kernels/sparse/csr.h"
#include "kernels/common/lists.h"
#include "src/base/hash.h"
#include "src/transport/live_objects.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

typedef struct entry {
  int64_t column;   /* global column of the entry */
  int64_t position; /* index of the entry in the caller's list */
  double value;
} entry;

void osla_even_blocks(int64_t n, int ranks, int64_t *start)
{
  for (int p = 0; p <= ranks; p++)
    start[p] = n / ranks * p + (p < n % ranks ? p : n % ranks);
}

/* ---- arguments ---- */

static osla_err check_blocks(const char *what, const int64_t *start, int size)
{
  OSLA_CHECK(start && start[0] == 0, OSLA_ERR_ARG, "%s_start[0] = %" PRId64 ", not 0", what,
             start ? start[0] : -1);
  for (int p = 0; p < size; p++)
    OSLA_CHECK(start[p + 1] >= start[p], OSLA_ERR_ARG,
               "%s_start[%d] = %" PRId64 " is less than %s_start[%d] = %" PRId64, what, p + 1,
               start[p + 1], what, p, start[p]);
  return OSLA_OK;
}

/* Checks the row pointers before any entry is read, because a wrong pointer may lead beyond the end
 * of the list. */
static osla_err check_first(const int64_t *first, int64_t rows, int64_t first_row)
{
  OSLA_CHECK(first && first[0] == 0, OSLA_ERR_ARG, "first[0] = %" PRId64 ", not 0",
             first ? first[0] : -1);
  for (int64_t i = 0; i < rows; i++)
    OSLA_CHECK(first[i + 1] >= first[i], OSLA_ERR_ARG,
               "row %" PRId64 ": first[%" PRId64 "] = %" PRId64 " is less than first[%" PRId64
               "] = %" PRId64,
               first_row + i, i + 1, first[i + 1], i, first[i]);
  return OSLA_OK;
}

static osla_err check_rows(osla_transport *t, const int64_t *row_start, const int64_t *column_start,
                           const int64_t *first, const int64_t *column, const double *value)
{
  const int size = osla_transport_size(t), rank = osla_transport_rank(t);
  OSLA_CALL(check_blocks("row", row_start, size));
  OSLA_CALL(check_blocks("column", column_start, size));
  const int64_t rows = row_start[rank + 1] - row_start[rank], all = column_start[size];
  const int64_t columns = column_start[rank + 1] - column_start[rank];
  OSLA_CHECK(rows < INT32_MAX && columns < INT32_MAX, OSLA_ERR_RANGE,
             "%" PRId64 " rows and %" PRId64 " columns on rank %d: 2^31 or more", rows, columns,
             rank);
  OSLA_CALL(check_first(first, rows, row_start[rank]));
  OSLA_CHECK(first[rows] == 0 || (column && value), OSLA_ERR_ARG,
             "column or value is NULL, but there are %" PRId64 " entries", first[rows]);
  for (int64_t i = 0; i < rows; i++)
    for (int64_t e = first[i]; e < first[i + 1]; e++)
      OSLA_CHECK(column[e] >= 0 && column[e] < all, OSLA_ERR_ARG,
                 "row %" PRId64 " on rank %d: column %" PRId64 " is outside 0 to %" PRId64,
                 row_start[rank] + i, rank, column[e], all - 1);
  return OSLA_OK;
}

/* ---- sorting rows ---- */

static int by_column(const void *left, const void *right)
{
  const entry *a = left, *b = right;
  if (a->column != b->column) return a->column < b->column ? -1 : 1;
  return a->position < b->position ? -1 : a->position > b->position;
}

/* Sorts the entries of a row by column, and adds up entries of the same column in the order of the
 * list. Returns the number of remaining entries. */
static int64_t sort_row(int64_t n, const int64_t *column, const double *value, entry *row)
{
  bool sorted = true;
  for (int64_t e = 0; e < n; e++) {
    row[e] = (entry){column[e], e, value[e]};
    sorted &= e == 0 || column[e] > column[e - 1];
  }
  if (sorted) return n;
  qsort(row, (size_t)n, sizeof *row, by_column);
  int64_t count = 0;
  for (int64_t e = 0; e < n; e++) {
    if (count > 0 && row[count - 1].column == row[e].column)
      row[count - 1].value += row[e].value;
    else
      row[count++] = row[e];
  }
  return count;
}

/* ---- ghosts ---- */

/* Lists the distinct columns of `n` entries that are outside low .. high - 1, in ascending order.
 * The caller frees the list. */
static osla_err list_ghosts(int64_t n, const int64_t *column, int64_t low, int64_t high,
                            int64_t **out, int64_t *count)
{
  int64_t others = 0;
  for (int64_t e = 0; e < n; e++)
    others += column[e] < low || column[e] >= high;
  int64_t *list = malloc((size_t)(others + 1) * sizeof *list);
  OSLA_CHECK(list, OSLA_ERR_MEM, "no memory for %" PRId64 " columns of other ranks", others);
  others = 0;
  for (int64_t e = 0; e < n; e++)
    if (column[e] < low || column[e] >= high) list[others++] = column[e];
  const int64_t distinct = osli_sort_distinct(list, others);
  int64_t *shorter = realloc(list, (size_t)(distinct + 1) * sizeof *list);
  if (shorter) list = shorter;
  *out = list;
  *count = distinct;
  if (distinct < INT32_MAX) return OSLA_OK;
  return osla_error_set(OSLA_ERR_RANGE,
                        "%" PRId64 " ghosts on a rank, at most 2^31 - 2 are allowed", distinct);
}

/* ---- own part and ghost part ---- */

void osli_csr_part_free(csr_part *p)
{
  free(p->first);
  free(p->column);
  free(p->value);
  *p = (csr_part){0};
}

static void free_lists(osla_csr *a)
{
  osli_csr_part_free(&a->own);
  osli_csr_part_free(&a->other);
  free(a->other_row);
  free(a->ghost_column);
}

static osla_err make_part(csr_part *p, int64_t rows, int64_t entries)
{
  p->first = calloc((size_t)rows + 1, sizeof *p->first);
  p->column = malloc((size_t)(entries + 1) * sizeof *p->column);
  p->value = malloc((size_t)(entries + 1) * sizeof *p->value);
  OSLA_CHECK(p->first && p->column && p->value, OSLA_ERR_MEM,
             "no memory for %" PRId64 " entries of a matrix", entries);
  return OSLA_OK;
}

static void append(csr_part *p, int64_t *at, int32_t column, double value)
{
  p->column[*at] = column;
  p->value[(*at)++] = value;
}

/* Counts the entries in this rank's columns, and finds the length of the longest row. */
static void count_entries(const osla_csr *a, const int64_t *first, const int64_t *column,
                          int64_t low, int64_t high, int64_t *own, int64_t *longest)
{
  *own = *longest = 0;
  for (int64_t i = 0; i < a->rows; i++)
    if (first[i + 1] - first[i] > *longest) *longest = first[i + 1] - first[i];
  for (int64_t e = 0; e < first[a->rows]; e++)
    *own += column[e] >= low && column[e] < high;
}

static osla_err fill_parts(osla_csr *a, const int64_t *first, const int64_t *column,
                           const double *value)
{
  const int rank = osla_transport_rank(a->t);
  const int64_t low = a->column_start[rank], high = a->column_start[rank + 1];
  int64_t n_own, longest, own = 0, other = 0;
  count_entries(a, first, column, low, high, &n_own, &longest);
  OSLA_CALL(make_part(&a->own, a->rows, n_own));
  OSLA_CALL(make_part(&a->other, a->rows, first[a->rows] - n_own));
  a->other_row = malloc((size_t)(a->rows + 1) * sizeof *a->other_row);
  entry *row = malloc((size_t)(longest + 1) * sizeof *row);
  if (!a->other_row || !row) {
    free(row);
    return osla_error_set(OSLA_ERR_MEM, "no memory for %" PRId64 " rows of a matrix", a->rows);
  }
  a->own.n = a->rows;
  for (int64_t i = 0; i < a->rows; i++) {
    const int64_t at = first[i], before = other;
    const int64_t n = sort_row(first[i + 1] - at, column + at, value + at, row);
    for (int64_t e = 0; e < n; e++) {
      const int64_t c = row[e].column;
      if (c >= low && c < high)
        append(&a->own, &own, (int32_t)(c - low), row[e].value);
      else
        append(&a->other, &other, (int32_t)osli_sorted_index(a->ghost_column, a->n_ghosts, c),
               row[e].value);
    }
    a->own.first[i + 1] = own;
    if (other == before) continue;
    a->other_row[a->other.n++] = (int32_t)i;
    a->other.first[a->other.n] = other;
  }
  free(row);
  return OSLA_OK;
}

/* Copies the block boundaries of rows and columns. */
static osla_err copy_blocks(osla_csr *a, const int64_t *row_start, const int64_t *column_start)
{
  const int size = osla_transport_size(a->t), rank = osla_transport_rank(a->t);
  const size_t bytes = ((size_t)size + 1) * sizeof *row_start;
  a->row_start = malloc(bytes);
  a->column_start = malloc(bytes);
  OSLA_CHECK(a->row_start && a->column_start, OSLA_ERR_MEM, "no memory for blocks of a matrix");
  memcpy(a->row_start, row_start, bytes);
  memcpy(a->column_start, column_start, bytes);
  a->rows = row_start[rank + 1] - row_start[rank];
  a->columns = column_start[rank + 1] - column_start[rank];
  return OSLA_OK;
}

/* Creates those parts of the matrix that need no communication. */
static osla_err make_local(osla_csr *a, const int64_t *row_start, const int64_t *column_start,
                           const int64_t *first, const int64_t *column, const double *value)
{
  const int rank = osla_transport_rank(a->t);
  OSLA_CALL(check_rows(a->t, row_start, column_start, first, column, value));
  OSLA_CALL(copy_blocks(a, row_start, column_start));
  OSLA_CALL(list_ghosts(first[a->rows], column, column_start[rank], column_start[rank + 1],
                        &a->ghost_column, &a->n_ghosts));
  return fill_parts(a, first, column, value);
}

static osla_err make_shared(osla_csr *a)
{
  OSLA_MAKES("osla_csr_create", "osla_csr_destroy");
  const int size = osla_transport_size(a->t);
  const osla_argument same[] = {{"rows", a->row_start[size]},
                                {"columns", a->column_start[size]},
                                {"row_start, its hash", hash_starts(a->row_start, size)},
                                {"column_start, its hash", hash_starts(a->column_start, size)}};
  OSLA_CALL(
    osla_agree_same(a->t, OSLA_OK, "osla_csr_create", same, (int)(sizeof same / sizeof *same)));
  OSLA_CALL(osla_forest_create_global(a->t, a->column_start, a->n_ghosts, NULL, a->ghost_column,
                                      &a->forest));
  void *memory;
  OSLA_CALL(osla_vertices_create(a->t, (size_t)a->n_ghosts * sizeof *a->ghost, &memory));
  a->ghost = memory;
  return OSLA_OK;
}

/* Allocates an empty sparse matrix with its pattern object. */
static osla_err make_object(osla_transport *t, osla_csr **out)
{
  osla_csr *a = *out = calloc(1, sizeof *a);
  if (a) a->pattern = calloc(1, sizeof *a->pattern);
  OSLA_CHECK(a && a->pattern, OSLA_ERR_MEM, "no memory for matrix object");
  a->t = t;
  a->pattern->users = 1;
  return OSLA_OK;
}

/* Ends the creation of a matrix; `err` is the error of this rank so far. If no rank has an
 * error, completes `a` and sets *out = a; otherwise destroys `a`. Returns one error on all
 * ranks. Collective. */
static osla_err complete_matrix(osla_transport *t, osla_err err, osla_csr *a, osla_csr **out)
{
  err = osla_agree(t, err);
  if (err == OSLA_OK) err = make_shared(a);
  if (err == OSLA_OK)
    *out = a;
  else
    (void)osla_csr_destroy(&a);
  return err;
}

osla_err osla_csr_create(osla_transport *t, const int64_t *row_start, const int64_t *column_start,
                         const int64_t *first, const int64_t *column, const double *value,
                         osla_csr **out)
{
  osla_csr *a;
  *out = NULL;
  osla_err err = make_object(t, &a);
  if (err == OSLA_OK) err = make_local(a, row_start, column_start, first, column, value);
  return complete_matrix(t, err, a, out);
}

osla_err osli_csr_from_parts(osla_transport *t, const int64_t *row_start,
                             const int64_t *column_start, const csr_part *own,
                             const csr_part *other, int32_t *other_row, int64_t n_ghosts,
                             int64_t *ghost_column, osla_csr **out)
{
  osla_csr *a, none = {0};
  *out = NULL;
  osla_err err = make_object(t, &a);
  osla_csr *taker = a ? a : &none;
  taker->own = *own;
  taker->other = *other;
  taker->other_row = other_row;
  taker->n_ghosts = n_ghosts;
  taker->ghost_column = ghost_column;
  if (err == OSLA_OK) err = copy_blocks(a, row_start, column_start);
  if (!a) free_lists(&none);
  return complete_matrix(t, err, a, out);
}

void osli_csr_pattern_release(csr_pattern *pattern)
{
  if (pattern && --pattern->users == 0) free(pattern);
}

osla_err osla_csr_destroy(osla_csr **matrix)
{
  osla_csr *a = matrix ? *matrix : NULL;
  if (!a) return OSLA_OK;
  void *memory = a->ghost;
  if (memory) /* frees the values of ghosts first, because the matrix stays intact if this fails */
    OSLA_CALL(osla_vertices_free(a->t, &memory));
  a->ghost = NULL;
  if (a->plan) OSLA_CALL(a->plan_destroy(a->t, &a->plan));
  OSLA_CALL(osla_forest_destroy(&a->forest));
  osli_csr_device_free(a);
  osli_csr_pattern_release(a->pattern);
  free_lists(a);
  free(a->row_start);
  free(a->column_start);
  free(a);
  *matrix = NULL;
  return OSLA_OK;
}

/* ---- queries ---- */

osla_transport *osla_csr_transport(const osla_csr *a)
{
  return a->t;
}

const int64_t *osla_csr_row_start(const osla_csr *a)
{
  return a->row_start;
}

const int64_t *osla_csr_column_start(const osla_csr *a)
{
  return a->column_start;
}

int64_t osla_csr_rows(const osla_csr *a)
{
  return a->rows;
}

int64_t osla_csr_columns(const osla_csr *a)
{
  return a->columns;
}

int64_t osla_csr_entries(const osla_csr *a)
{
  return a->own.first[a->own.n] + a->other.first[a->other.n];
}

int64_t osla_csr_ghosts(const osla_csr *a)
{
  return a->n_ghosts;
}
