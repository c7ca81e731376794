/* Cholesky factorisation of a part. */
#include "osla_chol.h"
#include "part_checks.h"
#include "part_operand.h"

osla_err osla_potrf_part(osla_uplo uplo, osla_part a, const osla_chol_options *options,
                         int64_t *info)
{
  osla_transport *t = osla_grid_transport(osla_matrix_grid(a.matrix));
  part_operand x;
  *info = 0;
  OSLA_CALL(osla_agree(t, osla_part_check("potrf", &a, "A")));
  OSLA_CALL(osla_part_open(&a, NULL, &x));
  return osla_part_close(&x, true, osla_potrf(uplo, x.at, options, info));
}
