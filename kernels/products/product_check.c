/* Checks of the operands of a product. */
#include "kernels/products/product_check.h"
#include "src/matrix/part_checks.h"

osla_err osli_product_check(const char *call, const product_operand *operands, int count)
{
  const product_operand *out = &operands[count - 1];
  const osla_dtype dtype = osla_matrix_dtype(out->part->matrix);
  const osla_transport *t = osla_grid_transport(osla_matrix_grid(out->part->matrix));
  for (int k = 0; k < count; k++) {
    const osla_part *part = operands[k].part;
    OSLA_CALL(osli_part_check(call, part, operands[k].name));
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
