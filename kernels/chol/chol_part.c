/* Cholesky factorisation of a part of a matrix. */
#include "kernels/common/part_operand.h"
#include "osla_chol.h"
#include "src/matrix/part_checks.h"

static osla_err agree(osla_uplo uplo, const osla_part *a, const osla_chol_options *options)
{
  const osla_chol_options o = options ? *options : (osla_chol_options){0};
  const osla_argument same[] = {{"uplo", (int)uplo},
                                OSLA_PART_ARGUMENTS("a", *a),
                                {"look_ahead", o.look_ahead},
                                {"forward", (int)o.forward}};
  return osla_agree_same(osla_grid_transport(osla_matrix_grid(a->matrix)),
                         osli_part_check_stored("potrf", a, "A"), "osla_potrf_part", same,
                         (int)(sizeof same / sizeof *same));
}

osla_err osla_potrf_part(osla_uplo uplo, osla_part a, const osla_chol_options *options,
                         int64_t *info)
{
  part_operand x;
  *info = 0;
  OSLA_CALL(agree(uplo, &a, options));
  OSLA_CALL(osli_part_open(&a, NULL, &x));
  return osli_part_close(&x, true, osla_potrf(uplo, x.at, options, info));
}
