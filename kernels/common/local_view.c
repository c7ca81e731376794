#include "kernels/common/local_view.h"
#include "osla_blas.h"
#include "src/blas/move.h"

#include <inttypes.h>
#include <limits.h>

osla_err osli_view_check_blas(const osla_matrix *a)
{
  const int64_t rows = osla_matrix_local_rows(a), cols = osla_matrix_local_cols(a);
  if (rows == 0 || cols == 0) return OSLA_OK;
  const osla_transport *t = osla_grid_transport(osla_matrix_grid(a));
  const int64_t lld = osla_matrix_lld(a, osla_transport_rank(t));
  OSLA_CHECK(lld <= INT_MAX && cols <= INT_MAX, OSLA_ERR_RANGE,
             "the part of rank %d has %" PRId64 " x %" PRId64
             " elements and leading dimension %" PRId64 ", which exceeds the integers of this BLAS",
             osla_transport_rank(t), rows, cols, lld);
  return osla_blas_ready();
}

osla_err osli_view_needs_buffers(const local_view *v, bool *needed)
{
  int far = 0;
  for (int i = 0; i < v->p; i++)
    for (int j = 0; j < v->q; j++)
      if (!in_place(v, rank_at(v, i, j)) && osla_matrix_local_rows(v->matrix) > 0) far = 1;
  OSLA_CALL(osla_allreduce(v->t, &far, 1, MPI_INT, MPI_MAX));
  *needed = far != 0;
  return OSLA_OK;
}

bool osli_view_has_hidden_neighbour(const local_view *v)
{
  for (int i = 0; i < v->p; i++)
    for (int j = 0; j < v->q; j++) {
      int rank = rank_at(v, i, j);
      bool near = osla_transport_same_node(v->t, rank);
      if (near && !in_place(v, rank) && osla_matrix_local_rows(v->matrix) > 0) return true;
    }
  return false;
}

osla_err osli_view_neighbours_readable(const local_view *v, bool *readable)
{
  int hidden = osli_view_has_hidden_neighbour(v);
  OSLA_CALL(osla_allreduce(v->t, &hidden, 1, MPI_INT, MPI_MAX));
  *readable = hidden == 0;
  return OSLA_OK;
}

void osli_pack(size_t element, int64_t m, int64_t n, const void *from, int64_t from_ld, void *to)
{
  osli_move_columns(element, m, n, from, from_ld, to, m);
}
