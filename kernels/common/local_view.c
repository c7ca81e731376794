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
  /* no run of columns has a larger leading dimension than the first one */
  const int64_t lld = osli_stored_columns(a, osla_transport_rank(t), 0).ld;
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

/* ---- checks of arguments ---- */

osla_err osli_check_side(const char *call, osla_side side)
{
  OSLA_CHECK(side == OSLA_LEFT || side == OSLA_RIGHT, OSLA_ERR_ARG,
             "%s: side = %d is neither OSLA_LEFT nor OSLA_RIGHT", call, (int)side);
  return OSLA_OK;
}

osla_err osli_check_uplo(const char *call, osla_uplo uplo, const osla_matrix *matrix)
{
  OSLA_CHECK(uplo == OSLA_LOWER || uplo == OSLA_UPPER, OSLA_ERR_ARG,
             "%s: uplo = %d is neither OSLA_LOWER nor OSLA_UPPER", call, (int)uplo);
  OSLA_CHECK(uplo == OSLA_LOWER || !osla_matrix_is_triangle(matrix), OSLA_ERR_ARG,
             "%s: uplo is OSLA_UPPER, but a matrix of osla_matrix_create_triangle stores only its "
             "lower triangle: pass OSLA_LOWER",
             call);
  return OSLA_OK;
}

osla_err osli_check_trans(const char *call, osla_trans trans)
{
  OSLA_CHECK(trans == OSLA_NOTRANS || trans == OSLA_TRANS || trans == OSLA_CONJTRANS, OSLA_ERR_ARG,
             "%s: trans = %d is not an osla_trans", call, (int)trans);
  return OSLA_OK;
}

osla_err osli_check_diag(const char *call, osla_diag diag)
{
  OSLA_CHECK(diag == OSLA_NONUNIT || diag == OSLA_UNIT, OSLA_ERR_ARG,
             "%s: diag = %d is neither OSLA_NONUNIT nor OSLA_UNIT", call, (int)diag);
  return OSLA_OK;
}

osla_err osli_check_panel_options(const char *call, int look_ahead, osla_forward forward,
                                  int *depth)
{
  *depth = look_ahead < 0 ? 0 : look_ahead == 0 ? 1 : look_ahead;
  OSLA_CHECK(look_ahead >= -1 && look_ahead <= 2, OSLA_ERR_ARG,
             "%s: look_ahead = %d is not -1, 0, 1 or 2", call, look_ahead);
  OSLA_CHECK(forward >= OSLA_FORWARD_CHOSEN && forward <= OSLA_FORWARD_TREE, OSLA_ERR_ARG,
             "%s: forward = %d is not an osla_forward", call, (int)forward);
  return OSLA_OK;
}
