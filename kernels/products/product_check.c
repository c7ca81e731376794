/* Checks of the operands of a product. */
#include "kernels/products/product_check.h"
#include "src/matrix/part_checks.h"

#include <inttypes.h>

/* Checks that a part of a triangular matrix begins on the diagonal, or has no elements. */
static osla_err check_diagonal_part(const char *call, const product_operand *operand)
{
  const osla_part *p = operand->part;
  OSLA_CALL(osli_part_inside(call, p, operand->name));
  OSLA_CHECK(p->i == p->j || p->m == 0 || p->n == 0, OSLA_ERR_UNSUPPORTED,
             "%s: the part of the triangular matrix %s begins at (%" PRId64 ", %" PRId64
             "), not on the diagonal: copy it to a full matrix first (osla_matrix_copy_part)",
             call, operand->name, p->i, p->j);
  return OSLA_OK;
}

osla_err osli_product_check(const char *call, const product_operand *operands, int count)
{
  const product_operand *out = &operands[count - 1];
  const osla_dtype dtype = osla_matrix_dtype(out->part->matrix);
  const osla_transport *t = osla_grid_transport(osla_matrix_grid(out->part->matrix));
  for (int k = 0; k < count; k++) {
    const osla_part *part = operands[k].part;
    const bool triangle = operands[k].symmetric && osla_matrix_is_triangle(part->matrix);
    OSLA_CALL(triangle ? check_diagonal_part(call, &operands[k])
                       : osli_part_check_stored(call, part, operands[k].name));
    OSLA_CHECK(osla_matrix_dtype(part->matrix) == dtype, OSLA_ERR_ARG,
               "%s: %s has type '%c', %s '%c'", call, operands[k].name,
               osla_dtype_letter(osla_matrix_dtype(part->matrix)), out->name,
               osla_dtype_letter(dtype));
    OSLA_CHECK(osla_grid_transport(osla_matrix_grid(part->matrix)) == t, OSLA_ERR_ARG,
               "%s: the matrices belong to different transports", call);
    OSLA_CHECK(k + 1 == count || !osli_parts_overlap(part, out->part), OSLA_ERR_ARG,
               "%s: %s overlaps %s", call, out->name, operands[k].name);
  }
  return OSLA_OK;
}
