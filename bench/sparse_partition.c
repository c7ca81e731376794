/* Renumbers the rows of a matrix, such that the rows of each rank are neighbours in the graph. */
#include "bench/bench_sparse.h"
#include "bench/graph_partition.h"

#include <stdlib.h>

static osla_err list_neighbours(const osla_csr *matrix, graph_lists *l)
{
  int64_t *column = malloc(((size_t)osla_csr_entries(matrix) + 1) * sizeof *column), at = 0;
  OSLA_CHECK(column, OSLA_ERR_MEM, "lists of neighbours");
  for (int64_t i = 0; i < l->n; i++) {
    const int64_t n = osla_csr_row(matrix, i, column, NULL);
    for (int64_t e = 0; e < n; e++)
      if (column[e] != i) l->neighbour[at++] = column[e];
    l->first[i + 1] = at;
  }
  free(column);
  return OSLA_OK;
}

/* Numbers the vertices of rank 0 first, then those of rank 1, and so on; within a rank the order
 * is kept. */
static void number_parts(const int32_t *part, int64_t n, int ranks, int64_t *number, int64_t *start)
{
  int64_t next = 0;
  for (int rank = 0; rank < ranks; rank++) {
    start[rank] = next;
    for (int64_t i = 0; i < n; i++)
      if (part[i] == rank) number[i] = next++;
  }
  start[ranks] = next;
}

static osla_err divide(const osla_csr *matrix, int ranks, int64_t *number, int64_t *start)
{
  graph_lists l;
  OSLA_CALL(graph_lists_create(osla_csr_rows(matrix), osla_csr_entries(matrix), &l));
  int32_t *part = malloc(((size_t)l.n + 1) * sizeof *part);
  osla_err err = part ? OSLA_OK : osla_error_set(OSLA_ERR_MEM, "parts of a graph");
  if (err == OSLA_OK) err = list_neighbours(matrix, &l);
  if (err == OSLA_OK) err = graph_partition(&l, ranks, part);
  if (err == OSLA_OK) number_parts(part, l.n, ranks, number, start);
  free(part);
  graph_lists_free(&l);
  return err;
}

osla_err sparse_partition(bench_job *job, const osla_csr *whole, int64_t *number, int64_t *start)
{
  osla_err err = job->rank == 0 ? divide(whole, job->size, number, start) : OSLA_OK;
  OSLA_CALL(osla_agree(job->transport, err));
  OSLA_CALL(
    osla_bcast(job->transport, number, osla_csr_row_start(whole)[job->size], MPI_INT64_T, 0));
  return osla_bcast(job->transport, start, job->size + 1, MPI_INT64_T, 0);
}
