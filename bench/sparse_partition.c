/* New numbers for the rows of a graph, so that each rank's are close together: METIS, on rank 0.
 * Karypis, Kumar, A Fast and High Quality Multilevel Scheme for Partitioning Irregular Graphs, SIAM
 * J. Sci. Comput. 20 (1998). */
#include "config.h"

#include "bench_sparse.h"

#include <stdlib.h>

#ifdef HAVE_METIS
#include <metis.h>

typedef struct lists {
  idx_t *first, *neighbour, *part;
} lists;

static osla_err allocate(const osla_csr *graph, lists *l)
{
  const size_t n = (size_t)osla_csr_rows(graph), entries = (size_t)osla_csr_entries(graph);
  l->first = calloc(n + 1, sizeof *l->first);
  l->part = calloc(n + 1, sizeof *l->part);
  l->neighbour = calloc(entries + 1, sizeof *l->neighbour);
  OSLA_CHECK(l->first && l->part && l->neighbour, OSLA_ERR_MEM, "lists of %zu vertices", n);
  return OSLA_OK;
}

static osla_err list_neighbours(const osla_csr *graph, lists *l)
{
  int64_t *column = malloc(((size_t)osla_csr_entries(graph) + 1) * sizeof *column);
  idx_t at = 0;
  OSLA_CHECK(column, OSLA_ERR_MEM, "lists of neighbours");
  for (int64_t i = 0; i < osla_csr_rows(graph); i++) {
    const int64_t n = osla_csr_row(graph, i, column, NULL);
    for (int64_t e = 0; e < n; e++)
      if (column[e] != i) l->neighbour[at++] = (idx_t)column[e];
    l->first[i + 1] = at;
  }
  free(column);
  return OSLA_OK;
}

/* l->part[vertex]: its rank. */
static osla_err divide(const osla_csr *graph, int ranks, lists *l)
{
  idx_t n = (idx_t)osla_csr_rows(graph), constraints = 1, parts = ranks, cut;
  OSLA_CALL(allocate(graph, l));
  OSLA_CALL(list_neighbours(graph, l));
  if (ranks == 1) return OSLA_OK; /* METIS divides by 0 */
  int status = METIS_PartGraphKway(&n, &constraints, l->first, l->neighbour, NULL, NULL, NULL,
                                   &parts, NULL, NULL, NULL, &cut, l->part);
  OSLA_CHECK(status == METIS_OK, OSLA_ERR_MEM, "METIS fails with status %d", status);
  return OSLA_OK;
}

/* Those of rank 0 first, each rank's in the order that they had. */
static void number_parts(const lists *l, int64_t n, int ranks, int64_t *number, int64_t *start)
{
  int64_t next = 0;
  for (int rank = 0; rank < ranks; rank++) {
    start[rank] = next;
    for (int64_t i = 0; i < n; i++)
      if (l->part[i] == rank) number[i] = next++;
  }
  start[ranks] = next;
}

osla_err sparse_partition(bench_job *job, const osla_csr *whole, int64_t *number, int64_t *start)
{
  const int64_t n = osla_csr_row_start(whole)[job->size];
  lists l = {0};
  osla_err err = job->rank == 0 ? divide(whole, job->size, &l) : OSLA_OK;
  if (err == OSLA_OK && job->rank == 0) number_parts(&l, n, job->size, number, start);
  free(l.first);
  free(l.part);
  free(l.neighbour);
  OSLA_CALL(osla_agree(job->transport, err));
  OSLA_CALL(osla_bcast(job->transport, number, n, MPI_INT64_T, 0));
  return osla_bcast(job->transport, start, job->size + 1, MPI_INT64_T, 0);
}

#else

osla_err sparse_partition(bench_job *job, const osla_csr *whole, int64_t *number, int64_t *start)
{
  (void)job, (void)whole, (void)number, (void)start;
  return osla_error_set(OSLA_ERR_UNSUPPORTED, "--partition: this build has no METIS");
}

#endif
