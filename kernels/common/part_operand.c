#include "kernels/common/part_operand.h"

#include "kernels/common/local_view.h"
#include "src/matrix/memory_kind.h"
#include "src/matrix/part_local.h"
#include "src/matrix/part_view.h"

#include <string.h>

/* True if the part is a whole matrix on which the kernel can work. An empty triangular matrix is
 * replaced by an empty full one, because kernels accept triangular matrices only for some
 * operands. */
static bool is_whole(const osla_part *p)
{
  osla_layout l = osla_matrix_layout(p->matrix);
  if (p->m == 0 && osla_matrix_is_triangle(p->matrix)) return false;
  return p->i == 0 && p->j == 0 && p->m == l.m && p->n == l.n;
}

/* Creates a matrix for a copy of the part. Unless `like` is given, the grid and the blocks of the
 * copy are chosen so that most elements of the part stay on their rank. */
static osla_err create_copy(const osla_part *part, const osla_matrix *like, part_operand *x)
{
  const osla_layout l = osla_matrix_layout(part->matrix);
  const osla_dtype dtype = osla_matrix_dtype(part->matrix);
  osla_grid *grid = osla_matrix_grid(part->matrix);
  osla_layout of = {.m = part->m, .n = part->n, .mb = l.mb, .nb = l.nb};
  if (like) {
    of.mb = osla_matrix_layout(like).nb;
    return osli_matrix_create_like(part->matrix, osla_matrix_grid(like), dtype, &of, &x->copy);
  }
  OSLA_CALL(osla_agree(osla_grid_transport(grid),
                       osla_grid_shift(grid, osla_index_owner(part->i, l.mb, l.nprow),
                                       osla_index_owner(part->j, l.nb, l.npcol), &x->grid)));
  if (osla_matrix_is_triangle(part->matrix) && part_is_diagonal(part))
    return osla_matrix_create_triangle(x->grid, dtype, part->n, l.nb, &x->copy);
  return osli_matrix_create_like(part->matrix, x->grid, dtype, &of, &x->copy);
}

osla_err osli_part_open(const osla_part *part, const osla_matrix *like, part_operand *x)
{
  osla_err err = OSLA_OK;
  *x = (part_operand){.part = *part, .at = part->matrix};
  if (is_whole(part)) return OSLA_OK;
  if (osli_part_has_view(part)) {
    OSLA_TRY(osla_agree(osla_grid_transport(osla_matrix_grid(part->matrix)),
                        osli_part_view(part, &x->view)));
    x->at = x->view;
    return OSLA_OK;
  }
  OSLA_TRY(create_copy(part, like, x));
  OSLA_TRY(osla_matrix_copy_part(*part, osla_whole(x->copy)));
  x->at = x->copy;
  return OSLA_OK;
cleanup:
  return osli_part_close(x, false, err);
}

osla_err osli_part_close(part_operand *x, bool written, osla_err err)
{
  if (x->copy && written && err == OSLA_OK)
    err = osla_matrix_copy_part(osla_whole(x->copy), x->part);
  osla_matrix_destroy(&x->view);
  osla_matrix_destroy(&x->copy);
  osla_grid_destroy(&x->grid);
  return err;
}

/* ---- numbers attached to rows ---- */

int64_t osli_part_rows_below(const osla_part *part, int64_t row)
{
  const local_view v = view_of(part->matrix);
  return rows_below(&v, part->i + row);
}

osla_err osli_part_numbers_gather(const osla_part *part, int64_t count, const int64_t *whole,
                                  int64_t *numbers)
{
  const local_view v = view_of(part->matrix);
  const int64_t end = rows_below(&v, part->i + count);
  memset(numbers, 0, (size_t)count * sizeof *numbers);
  for (int64_t l = rows_below(&v, part->i); v.pcol == 0 && l < end; l++)
    numbers[osla_index_global(l, v.mb, v.prow, v.p) - part->i] = whole[l];
  return osla_allreduce(v.t, numbers, count, MPI_INT64_T, MPI_SUM);
}

void osli_part_numbers_scatter(const osla_part *part, int64_t count, const int64_t *from,
                               int64_t *whole)
{
  const local_view v = view_of(part->matrix);
  const int64_t end = rows_below(&v, part->i + count);
  for (int64_t l = rows_below(&v, part->i); l < end; l++)
    whole[l] = from[osla_index_global(l, v.mb, v.prow, v.p) - part->i];
}
