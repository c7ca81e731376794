#include "local_view.h"
#include "move.h"

osla_err osla_view_needs_buffers(const local_view *v, bool *needed)
{
  int far = 0;
  for (int i = 0; i < v->p; i++)
    for (int j = 0; j < v->q; j++)
      if (!in_place(v, rank_at(v, i, j)) && osla_matrix_local_rows(v->matrix) > 0) far = 1;
  OSLA_CALL(osla_allreduce(v->t, &far, 1, MPI_INT, MPI_MAX));
  *needed = far != 0;
  return OSLA_OK;
}

osla_err osla_view_readable(const local_view *v, bool *readable)
{
  int hidden = 0;
  for (int i = 0; i < v->p; i++)
    for (int j = 0; j < v->q; j++) {
      int rank = rank_at(v, i, j);
      bool near = osla_transport_same_node(v->t, rank);
      if (near && !in_place(v, rank) && osla_matrix_local_rows(v->matrix) > 0) hidden = 1;
    }
  OSLA_CALL(osla_allreduce(v->t, &hidden, 1, MPI_INT, MPI_MAX));
  *readable = hidden == 0;
  return OSLA_OK;
}

void osla_pack(size_t element, int64_t m, int64_t n, const void *from, int64_t from_ld, void *to)
{
  osla_move_columns(element, m, n, from, from_ld, to, m);
}
