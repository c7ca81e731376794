/* Distributes entries to the owners of their rows. In a star forest, each entry is a leaf of its
 * row. In the split forest each leaf has its own root, ordered by row, and reductions with REPLACE
 * gather the lists of compressed rows (Zhang et al. 2022, section 3.2: gather). */
#include "kernels/sparse/entries.h"
#include "osla_random.h"
#include "src/base/double_bits.h"

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
  OSLA_CHECK(row && column && value, OSLA_ERR_MEM, "no memory for %" PRId64 " entries of a matrix",
             room);
  e->room = room;
  return OSLA_OK;
}

osla_err osli_entries_add(csr_entries *e, int64_t row, int64_t column, double value)
{
  if (e->n == e->room) OSLA_CALL(grow(e));
  e->row[e->n] = row;
  e->column[e->n] = column;
  e->value[e->n++] = value;
  return OSLA_OK;
}

void osli_entries_free(csr_entries *e)
{
  free(e->row);
  free(e->column);
  free(e->value);
  *e = (csr_entries){0};
}

/* Compressed rows gathered on this rank, in the form that osla_csr_create takes. */
typedef struct row_lists {
  int64_t *first, *column;
  double *value;
} row_lists;

static void lists_free(row_lists *l)
{
  free(l->first);
  free(l->column);
  free(l->value);
}

/* Computes first[i], the offset of row i. The number of entries of a row is the number of leaves of
 * its root. */
static osla_err make_lists(const osla_forest *rows, row_lists *l)
{
  const int64_t n = osla_forest_n_roots(rows);
  l->first = calloc((size_t)n + 1, sizeof *l->first);
  OSLA_CHECK(l->first, OSLA_ERR_MEM, "no memory for %" PRId64 " rows of a matrix", n);
  osla_forest_degrees(rows, l->first + 1);
  for (int64_t i = 0; i < n; i++)
    l->first[i + 1] += l->first[i];
  l->column = malloc((size_t)(l->first[n] + 1) * sizeof *l->column);
  l->value = malloc((size_t)(l->first[n] + 1) * sizeof *l->value);
  OSLA_CHECK(l->column && l->value, OSLA_ERR_MEM, "no memory for %" PRId64 " entries of a matrix",
             l->first[n]);
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

osla_err osli_entries_to_csr(osla_transport *t, const int64_t *row_start,
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
  lists_free(&l);
  return err;
}

/* ---- symmetry ---- */

/* Sums a hash of each entry over all ranks; the hashes of an entry (i, j) and its mirror (j, i)
 * cancel. If the mirror of an entry is missing, the sum differs from 0, except with probability
 * 2^-64. */
static osla_err sum_of_hashes(osla_transport *t, const csr_entries *e, uint64_t *sum)
{
  *sum = 0;
  for (int64_t k = 0; k < e->n; k++) {
    const uint64_t i = (uint64_t)e->row[k], j = (uint64_t)e->column[k];
    const uint64_t value = (uint64_t)double_bits(e->value[k]);
    if (i < j) *sum += osla_random_bits(value, i, j);
    if (i > j) *sum -= osla_random_bits(value, j, i);
  }
  return osla_allreduce(t, sum, 1, MPI_UINT64_T, MPI_SUM);
}

/* One of the two entries of an undirected edge. It is stored in the row of the edge's lower
 * vertex. */
typedef struct edge_end {
  int64_t other; /* higher vertex of the edge */
  double value;
  bool from_other; /* true if the entry was given in the row of the higher vertex */
} edge_end;

static int compare_ends(const void *a, const void *b)
{
  const edge_end *x = a, *y = b;
  if (x->other != y->other) return x->other < y->other ? -1 : 1;
  return x->value < y->value ? -1 : x->value > y->value;
}

/* Stores entry (i, j) in row min(i, j). The stored column is max(i, j), or -1 - max(i, j) if i is
 * the higher index. Diagonal entries are left out. */
static osla_err fold(const csr_entries *e, csr_entries *folded)
{
  for (int64_t k = 0; k < e->n; k++) {
    const int64_t i = e->row[k], j = e->column[k];
    if (i < j) OSLA_CALL(osli_entries_add(folded, i, j, e->value[k]));
    if (i > j) OSLA_CALL(osli_entries_add(folded, j, -1 - i, e->value[k]));
  }
  return OSLA_OK;
}

/* Sets the error for an edge of weight end[at].value between `row` and end[at].other. Vertex `row`
 * lists this edge more often than the other vertex does, or less often if from_other is set. */
static osla_err refuse_edge(const char *file, int64_t row, const edge_end *end, int64_t n,
                            int64_t at, bool from_other)
{
  const int64_t other = end[at].other, has = (from_other ? other : row) + 1;
  const int64_t lacks = (from_other ? row : other) + 1;
  const double weight = end[at].value;
  /* true if vertex `lacks` lists the edge with the weight of vertex `has` */
  bool same_weight = false;
  /* true if vertex `lacks` lists the edge with another weight than vertex `has` */
  bool other_weight = false;
  for (int64_t k = 0; k < n; k++) {
    if (end[k].other != other || end[k].from_other == from_other) continue;
    if (end[k].value == weight)
      same_weight = true;
    else
      other_weight = true;
  }
  if (other_weight && !same_weight)
    return osla_error_set(OSLA_ERR_IO,
                          "%.200s: vertex %" PRId64 " lists the edge to vertex %" PRId64
                          " with weight %g, and vertex %" PRId64
                          " does not list it with that weight",
                          file, has, lacks, weight, lacks);
  return osla_error_set(OSLA_ERR_IO,
                        "%.200s: vertex %" PRId64 " lists the edge to vertex %" PRId64
                        " (weight %g), and vertex %" PRId64 " does not list it%s",
                        file, has, lacks, weight, lacks, same_weight ? " as often" : "");
}

/* Checks the ends of edges in one row: the two vertices of an edge must list it, with its weight,
 * equally often. */
static osla_err check_ends(const char *file, int64_t row, edge_end *end, int64_t n)
{
  qsort(end, (size_t)n, sizeof *end, compare_ends);
  for (int64_t first = 0, last; first < n; first = last) {
    int64_t excess = 0;
    for (last = first;
         last < n && end[last].other == end[first].other && end[last].value == end[first].value;
         last++)
      excess += end[last].from_other ? -1 : 1;
    if (excess != 0) return refuse_edge(file, row, end, n, first, excess < 0);
  }
  return OSLA_OK;
}

static osla_err check_rows(const char *file, int64_t first_row, int64_t rows, const row_lists *l)
{
  int64_t most = 0;
  for (int64_t i = 0; i < rows; i++)
    if (l->first[i + 1] - l->first[i] > most) most = l->first[i + 1] - l->first[i];
  edge_end *end = malloc((size_t)(most + 1) * sizeof *end);
  osla_err err =
    end ? OSLA_OK : osla_error_set(OSLA_ERR_MEM, "no memory for %" PRId64 " edges of a row", most);
  for (int64_t i = 0; i < rows && err == OSLA_OK; i++) {
    const int64_t n = l->first[i + 1] - l->first[i];
    for (int64_t k = 0; k < n; k++) {
      const int64_t column = l->column[l->first[i] + k];
      end[k] = (edge_end){.other = column < 0 ? -1 - column : column,
                          .value = l->value[l->first[i] + k],
                          .from_other = column < 0};
    }
    err = check_ends(file, first_row + i, end, n);
  }
  free(end);
  return err;
}

/* Finds an entry (i, j) for which (j, i) is missing, and sets the error. */
static osla_err find_unmirrored(osla_transport *t, const char *file, const int64_t *row_start,
                                const csr_entries *e)
{
  const int me = osla_transport_rank(t);
  osla_forest *rows = NULL;
  row_lists l = {0};
  csr_entries folded = {0};
  osla_err err = osla_agree(t, fold(e, &folded));
  if (err == OSLA_OK)
    err = osla_forest_create_global(t, row_start, folded.n, NULL, folded.row, &rows);
  if (err == OSLA_OK) err = gather(rows, &folded, &l);
  if (err == OSLA_OK)
    err = osla_agree(t, check_rows(file, row_start[me], row_start[me + 1] - row_start[me], &l));
  osla_err destroyed = osla_forest_destroy(&rows);
  osli_entries_free(&folded);
  lists_free(&l);
  return err == OSLA_OK ? destroyed : err;
}

osla_err osli_entries_check_mirrored(osla_transport *t, const char *file, const int64_t *row_start,
                                     const csr_entries *e)
{
  uint64_t sum;
  OSLA_CALL(sum_of_hashes(t, e, &sum));
  return sum == 0 ? OSLA_OK : find_unmirrored(t, file, row_start, e);
}

osla_err osli_entries_to_vector(osla_transport *t, const int64_t *start, const csr_entries *e,
                                double *part)
{
  osla_forest *rows;
  OSLA_CALL(osla_forest_create_global(t, start, e->n, NULL, e->row, &rows));
  osla_err err = osla_forest_reduce(rows, OSLA_ONE_DOUBLE, e->value, part, OSLA_REPLACE);
  osla_err destroyed = osla_forest_destroy(&rows);
  return err == OSLA_OK ? destroyed : err;
}
