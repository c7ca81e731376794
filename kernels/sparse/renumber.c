/* Renumbers the rows and columns of a matrix, and moves rows to other ranks. A broadcast brings the
 * new numbers of ghosts; then each entry is sent to the rank that owns its row (entries.c). */
#include "kernels/sparse/csr.h"
#include "kernels/sparse/entries.h"

#include <inttypes.h>
#include <stdlib.h>

/* Checks that each new number is given exactly once, by means of a star forest in which each row is
 * a leaf of its new number. */
static osla_err check_numbers(const osla_csr *a, const int64_t *number, const int64_t *start)
{
  const int rank = osla_transport_rank(a->t), size = osla_transport_size(a->t);
  const int64_t mine = start[rank + 1] - start[rank];
  osla_forest *rows = NULL;
  osla_err err = OSLA_OK;
  if (start[size] != a->row_start[size])
    err = osla_error_set(
      OSLA_ERR_ARG, "the matrix has %" PRId64 " rows, the blocks of new numbers end with %" PRId64,
      a->row_start[size], start[size]);
  OSLA_CALL(osla_agree(a->t, err));
  OSLA_CALL(osla_forest_create_global(a->t, start, a->rows, NULL, number, &rows));
  int64_t *degree = malloc((size_t)(mine + 1) * sizeof *degree);
  if (!degree)
    err = osla_error_set(OSLA_ERR_MEM, "no memory for numbers of %" PRId64 " rows", mine);
  if (degree) osla_forest_degrees(rows, degree);
  for (int64_t i = 0; degree && i < mine && err == OSLA_OK; i++)
    if (degree[i] != 1)
      err = osla_error_set(OSLA_ERR_ARG, "number %" PRId64 " is given to %" PRId64 " rows",
                           start[rank] + i, degree[i]);
  free(degree);
  err = osla_agree(a->t, err);
  osla_err destroyed = osla_forest_destroy(&rows);
  return err == OSLA_OK ? destroyed : err;
}

static osla_err list_entries(const osla_csr *a, const int64_t *number, const int64_t *ghost_number,
                             csr_entries *e)
{
  for (int64_t i = 0; i < a->rows; i++)
    for (int64_t k = a->own.first[i]; k < a->own.first[i + 1]; k++)
      OSLA_CALL(osli_entries_add(e, number[i], number[a->own.column[k]], a->own.value[k]));
  for (int64_t i = 0; i < a->other.n; i++)
    for (int64_t k = a->other.first[i]; k < a->other.first[i + 1]; k++)
      OSLA_CALL(osli_entries_add(e, number[a->other_row[i]], ghost_number[a->other.column[k]],
                                 a->other.value[k]));
  return OSLA_OK;
}

static osla_err check_square(const osla_csr *a)
{
  const int rank = osla_transport_rank(a->t);
  OSLA_CHECK(a->rows == a->columns && a->row_start[rank] == a->column_start[rank], OSLA_ERR_ARG,
             "renumber: rows and columns are distributed in different blocks");
  return OSLA_OK;
}

osla_err osla_csr_renumber(osla_csr *a, const int64_t *number, const int64_t *start, osla_csr **out)
{
  csr_entries e = {0};
  *out = NULL;
  OSLA_CALL(osla_agree(a->t, check_square(a)));
  OSLA_CALL(check_numbers(a, number, start));
  int64_t *ghost_number = malloc((size_t)(a->n_ghosts + 1) * sizeof *ghost_number);
  osla_err err =
    ghost_number ? OSLA_OK : osla_error_set(OSLA_ERR_MEM, "no memory for numbers of ghosts");
  err = osla_agree(a->t, err);
  if (err == OSLA_OK)
    err = osla_forest_bcast(a->forest, OSLA_ONE_INT64, number, ghost_number, OSLA_REPLACE);
  if (err == OSLA_OK) err = osla_agree(a->t, list_entries(a, number, ghost_number, &e));
  free(ghost_number);
  if (err == OSLA_OK) err = osli_entries_to_csr(a->t, start, start, &e, out);
  osli_entries_free(&e);
  return err;
}
