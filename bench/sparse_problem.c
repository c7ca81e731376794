/* Makes the sparse matrix of the cases spmv and cg. See bench_sparse.h.
 *
 * Without a file the matrix has a row for each point of a cubic grid. Two points are neighbours if
 * their squared distance is at most --reach; a point inside the cube has 26 neighbours for --reach
 * 3, and 56 for --reach 5. The entry of two neighbours is -1. The diagonal entry is the number of
 * neighbours + 1, so that the matrix is positive definite. With a graph file the ends of an edge
 * are neighbours, and the entries are computed in the same way. A Matrix Market file gives all
 * entries. */
#include "bench/bench_sparse.h"
#include "osla_sparse_device.h"
#include "osla_sparse_file.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- OSLA's matrix ---- */

typedef struct lists {
  int64_t *first, *column;
  double *value;
  int64_t n, room;
} lists;

static osla_err push(lists *l, int64_t column, double value)
{
  if (l->n == l->room) {
    const int64_t room = l->room ? 2 * l->room : 4096;
    int64_t *columns = realloc(l->column, (size_t)room * sizeof *columns);
    if (columns) l->column = columns;
    double *values = columns ? realloc(l->value, (size_t)room * sizeof *values) : NULL;
    if (values) l->value = values;
    OSLA_CHECK(values, OSLA_ERR_MEM, "%lld entries of a matrix", (long long)room);
    l->room = room;
  }
  l->column[l->n] = column;
  l->value[l->n++] = value;
  return OSLA_OK;
}

static osla_err grid_row(lists *l, int64_t row, int64_t side, int reach)
{
  const int64_t x = row % side, y = row / side % side, z = row / side / side;
  const int most = (int)sqrt((double)reach);
  const int64_t before = l->n;
  OSLA_CALL(push(l, row, 0.0));
  for (int c = -most; c <= most; c++)
    for (int b = -most; b <= most; b++)
      for (int a = -most; a <= most; a++) {
        const bool inside =
          x + a >= 0 && x + a < side && y + b >= 0 && y + b < side && z + c >= 0 && z + c < side;
        const int distance = a * a + b * b + c * c;
        if (inside && distance > 0 && distance <= reach)
          OSLA_CALL(push(l, x + a + side * (y + b + side * (z + c)), -1.0));
      }
  l->value[before] = (double)(l->n - before);
  return OSLA_OK;
}

/* Appends a row of the graph, with a diagonal entry, to the lists of the matrix. */
static osla_err graph_row(lists *l, const osla_csr *graph, int64_t row, int64_t global)
{
  const int64_t n = osla_csr_row(graph, row, NULL, NULL);
  OSLA_CALL(push(l, global, (double)(n + 1)));
  /* placeholder entries, whose columns osla_csr_row fills in below */
  for (int64_t e = 0; e < n; e++)
    OSLA_CALL(push(l, 0, -1.0));
  (void)osla_csr_row(graph, row, l->column + l->n - n, NULL);
  return OSLA_OK;
}

/* Lists this rank's rows: rows of the graph, or if `graph` is NULL rows of the cube. */
static osla_err list_rows(const bench_job *job, const osla_csr *graph, int64_t side,
                          const int64_t *start, lists *l)
{
  const int64_t low = start[job->rank], rows = start[job->rank + 1] - low;
  l->first = calloc((size_t)rows + 1, sizeof *l->first);
  OSLA_CHECK(l->first, OSLA_ERR_MEM, "%lld rows of a matrix", (long long)rows);
  for (int64_t i = 0; i < rows; i++) {
    if (graph)
      OSLA_CALL(graph_row(l, graph, i, low + i));
    else
      OSLA_CALL(grid_row(l, low + i, side, job->settings->reach));
    l->first[i + 1] = l->n;
  }
  return OSLA_OK;
}

/* Creates the matrix of a graph with the row blocks `given`, or the matrix of the smallest cube of
 * at least n points if there is no graph. */
static osla_err make_matrix(bench_job *job, const osla_csr *graph, const int64_t *given, int64_t n,
                            osla_csr **out)
{
  int64_t side = 1;
  lists l = {0};
  while (side * side * side < n)
    side++;
  const int64_t rows = graph ? osla_csr_row_start(graph)[job->size] : side * side * side;
  int64_t *start = malloc(((size_t)job->size + 1) * sizeof *start);
  osla_err err = start ? OSLA_OK : osla_error_set(OSLA_ERR_MEM, "blocks of a matrix");
  if (start) osla_even_blocks(rows, job->size, start);
  if (start && given) memcpy(start, given, ((size_t)job->size + 1) * sizeof *start);
  if (err == OSLA_OK) err = list_rows(job, graph, side, start, &l);
  err = osla_agree(job->transport, err);
  if (err == OSLA_OK)
    err = osla_csr_create(job->transport, start, start, l.first, l.column, l.value, out);
  free(start);
  free(l.first);
  free(l.column);
  free(l.value);
  return err;
}

static bool ends_with(const char *text, const char *end)
{
  const size_t n = strlen(text), m = strlen(end);
  return n >= m && strcmp(text + n - m, end) == 0;
}

/* Renumbers the graph such that each rank gets the vertices that METIS assigns to it. */
static osla_err divide_graph(bench_job *job, const char *file, osla_csr **graph)
{
  const int64_t n = osla_csr_row_start(*graph)[job->size];
  const int64_t first = osla_csr_row_start(*graph)[job->rank];
  osla_csr *whole = NULL, *moved = NULL;
  void *starts = NULL, *numbers = NULL;
  osla_err err;
  OSLA_TRY(bench_alloc(job, 2 * ((uint64_t)job->size + 1) * sizeof(int64_t), &starts));
  OSLA_TRY(bench_alloc(job, (uint64_t)n * sizeof(int64_t), &numbers));
  int64_t *all_on_first = starts, *start = all_on_first + job->size + 1, *number = numbers;
  for (int rank = 1; rank <= job->size; rank++)
    all_on_first[rank] = n;
  OSLA_TRY(osla_csr_read_metis(job->transport, file, all_on_first, &whole));
  OSLA_TRY(sparse_partition(job, whole, number, start));
  OSLA_TRY(osla_csr_renumber(*graph, number + first, start, &moved));
  OSLA_TRY(osla_csr_destroy(graph));
  *graph = moved;
cleanup:
  (void)osla_csr_destroy(&whole);
  free(starts);
  free(numbers);
  return err;
}

static osla_err read_matrix(bench_job *job, const char *file, osla_csr **out)
{
  osla_csr *graph;
  if (ends_with(file, ".mtx"))
    return osla_csr_read_matrix_market(job->transport, file, NULL, NULL, out);
  OSLA_CALL(osla_csr_read_metis(job->transport, file, NULL, &graph));
  osla_err err = job->settings->partition ? divide_graph(job, file, &graph) : OSLA_OK;
  if (err == OSLA_OK) err = make_matrix(job, graph, osla_csr_row_start(graph), 0, out);
  osla_err destroyed = osla_csr_destroy(&graph);
  return err == OSLA_OK ? destroyed : err;
}

/* ---- rows of the reference implementations ---- */

static osla_err allocate_rows(bench_job *job, int64_t n, int64_t entries, sparse_rows *r)
{
  void *memory;
  OSLA_CALL(bench_alloc(job, (uint64_t)(n + 1) * sizeof *r->first, &memory));
  r->first = memory;
  OSLA_CALL(bench_alloc(job, (uint64_t)(n + 1) * sizeof *r->row, &memory));
  r->row = memory;
  OSLA_CALL(bench_alloc(job, (uint64_t)entries * sizeof *r->column, &memory));
  r->column = memory;
  OSLA_CALL(bench_alloc(job, (uint64_t)entries * sizeof *r->value, &memory));
  r->value = memory;
  return OSLA_OK;
}

static int compare(const void *left, const void *right)
{
  const int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
  return a < b ? -1 : a > b;
}

/* Sorts the ghosts and removes duplicates; the array has space for all entries in other ranks'
 * columns. */
static void number_ghosts(sparse_problem *p, int64_t n)
{
  qsort(p->ghost, (size_t)n, sizeof *p->ghost, compare);
  p->n_ghosts = 0;
  for (int64_t i = 0; i < n; i++)
    if (i == 0 || p->ghost[i] != p->ghost[p->n_ghosts - 1]) p->ghost[p->n_ghosts++] = p->ghost[i];
}

static osla_err copy_rows(sparse_problem *p)
{
  const int64_t low = osla_csr_column_start(p->a)[p->job->rank], entries = osla_csr_entries(p->a);
  const int64_t high = low + p->rows;
  void *columns = NULL, *values = NULL, *ghost;
  int64_t others = 0, own = 0;
  osla_err err;
  OSLA_CALL(allocate_rows(p->job, p->rows, entries, &p->own));
  OSLA_CALL(allocate_rows(p->job, p->rows, entries, &p->other));
  OSLA_CALL(bench_alloc(p->job, (uint64_t)entries * sizeof *p->ghost, &ghost));
  p->ghost = ghost;
  OSLA_TRY(bench_alloc(p->job, (uint64_t)entries * sizeof(int64_t), &columns));
  OSLA_TRY(bench_alloc(p->job, (uint64_t)entries * sizeof(double), &values));
  int64_t *column = columns;
  double *value = values;
  for (int64_t i = 0; i < p->rows; i++) {
    const int64_t n = osla_csr_row(p->a, i, column, value);
    for (int64_t e = 0; e < n; e++)
      if (column[e] < low || column[e] >= high) p->ghost[others++] = column[e];
  }
  number_ghosts(p, others);
  others = 0;
  for (int64_t i = 0; i < p->rows; i++) {
    const int64_t n = osla_csr_row(p->a, i, column, value), before = others;
    for (int64_t e = 0; e < n; e++) {
      const bool mine = column[e] >= low && column[e] < high;
      sparse_rows *r = mine ? &p->own : &p->other;
      int64_t *at = mine ? &own : &others;
      r->value[*at] = value[e];
      if (mine) {
        r->column[(*at)++] = (int32_t)(column[e] - low);
      } else {
        const int64_t *found =
          bsearch(&column[e], p->ghost, (size_t)p->n_ghosts, sizeof *p->ghost, compare);
        r->column[(*at)++] = (int32_t)(found - p->ghost);
      }
    }
    p->own.first[i + 1] = own;
    if (others == before) continue;
    p->other.row[p->other.n++] = (int32_t)i;
    p->other.first[p->other.n] = others;
  }
  p->own.n = p->rows;
cleanup:
  free(columns);
  free(values);
  return err;
}

/* ---- lists of ghosts ---- */

/* For each other rank: the number of ghosts that it owns, the number of this rank's rows that it
 * asks for, and the first positions of these ghosts and of these rows in the lists. */
typedef struct exchange_counts {
  /* [size] elements each; one allocation, which starts at `needed` */
  int *needed, *asked, *from, *to;
  int64_t all_asked;
} exchange_counts;

static osla_err count_both(const sparse_problem *p, exchange_counts *c)
{
  const int64_t *start = osla_csr_column_start(p->a);
  const int size = p->job->size;
  for (int64_t g = 0, rank = 0; g < p->n_ghosts; g++) {
    while (p->ghost[g] >= start[rank + 1])
      rank++;
    c->needed[rank]++;
  }
  OSLA_CALL(osla_alltoall(p->job->transport, c->needed, c->asked, 1, MPI_INT));
  for (int rank = 1; rank < size; rank++) {
    c->from[rank] = c->from[rank - 1] + c->needed[rank - 1];
    c->to[rank] = c->to[rank - 1] + c->asked[rank - 1];
  }
  c->all_asked = c->to[size - 1] + c->asked[size - 1];
  return OSLA_OK;
}

/* Sends the columns of this rank's ghosts to their owners, and fills in the lists. */
static osla_err exchange_lists(sparse_problem *p, const exchange_counts *c, int64_t *columns)
{
  bench_job *job = p->job;
  const int64_t first = osla_csr_column_start(p->a)[job->rank];
  OSLA_MPI(MPI_Alltoallv(p->ghost, c->needed, c->from, MPI_INT64_T, columns, c->asked, c->to,
                         MPI_INT64_T, osla_transport_comm(job->transport)));
  for (int64_t g = 0; g < p->n_ghosts; g++)
    p->needed.index[g] = (int)g;
  for (int64_t k = 0; k < c->all_asked; k++)
    p->asked.index[k] = (int)(columns[k] - first);
  return OSLA_OK;
}

static osla_err make_lists(sparse_problem *p)
{
  bench_job *job = p->job;
  exchange_counts c = {0};
  void *counts = NULL, *columns = NULL;
  osla_err err;
  OSLA_TRY(bench_alloc(job, 4 * (uint64_t)job->size * sizeof(int), &counts));
  c.needed = counts;
  c.asked = c.needed + job->size;
  c.from = c.asked + job->size;
  c.to = c.from + job->size;
  OSLA_TRY(count_both(p, &c));
  OSLA_TRY(forest_list_create(job, c.needed, &p->needed));
  OSLA_TRY(forest_list_create(job, c.asked, &p->asked));
  OSLA_TRY(bench_alloc(job, (uint64_t)c.all_asked * sizeof(int64_t), &columns));
  OSLA_TRY(exchange_lists(p, &c, columns));
cleanup:
  free(counts);
  free(columns);
  return err;
}

/* Copies the matrix p->a to the device as p->on_device. The matrix p->a in host memory is still
 * needed to check results. */
static osla_err copy_to_device(sparse_problem *p)
{
  const int64_t *start = osla_csr_row_start(p->a);
  void *memory;
  OSLA_CALL(bench_alloc(p->job, (uint64_t)(p->rows + 1) * sizeof(int64_t), &memory));
  int64_t *number = memory;
  for (int64_t i = 0; i < p->rows; i++)
    number[i] = start[p->job->rank] + i;
  const osla_err err = osla_csr_renumber(p->a, number, start, &p->on_device);
  free(memory);
  return err == OSLA_OK ? osla_csr_to_device(p->on_device, p->job->device) : err;
}

osla_err sparse_problem_create(bench_job *job, forest_case which, int64_t n, sparse_problem *p)
{
  *p = (sparse_problem){.job = job, .which = which};
  const char *file = job->settings->matrix;
  OSLA_CALL(file ? read_matrix(job, file, &p->a) : make_matrix(job, NULL, NULL, n, &p->a));
  p->rows = osla_csr_rows(p->a);
  p->all_rows = osla_csr_row_start(p->a)[job->size];
  p->all_entries = osla_csr_entries(p->a);
  OSLA_CALL(osla_allreduce(job->transport, &p->all_entries, 1, MPI_INT64_T, MPI_SUM));
  OSLA_CHECK(osla_csr_column_start(p->a)[job->size] == p->all_rows, OSLA_ERR_ARG,
             "--matrix: %.200s is not square", file);
  if (job->device) OSLA_CALL(copy_to_device(p));
  OSLA_CALL(copy_rows(p));
  return make_lists(p);
}

static void free_rows(sparse_rows *r)
{
  free(r->row);
  free(r->first);
  free(r->column);
  free(r->value);
}

void sparse_problem_free(sparse_problem *p)
{
  (void)osla_csr_destroy(&p->on_device);
  (void)osla_csr_destroy(&p->a);
  free_rows(&p->own);
  free_rows(&p->other);
  free(p->ghost);
  free(p->needed.peer);
  free(p->asked.peer);
  *p = (sparse_problem){0};
}
