/* LU factorisation of a part of a matrix. The part is factored as a matrix of its own; pivots count
 * the rows of the whole matrix. */
#include "kernels/common/part_operand.h"
#include "osla_lu.h"
#include "src/matrix/part_checks.h"

#include <inttypes.h>
#include <stdlib.h>

/* Factors the part in place. ipiv has an element for each local row of the whole matrix; those of
 * the part are consecutive. */
static osla_err factor_view(const part_operand *x, int64_t order, int64_t *ipiv,
                            const osla_lu_options *options, osla_lu_result *result)
{
  const osla_part *part = &x->part;
  const int64_t first = osli_part_rows_below(part, 0), end = osli_part_rows_below(part, order);
  OSLA_CALL(osla_getrf(x->at, ipiv ? ipiv + first : NULL, options, result));
  for (int64_t l = first; ipiv && l < end; l++)
    ipiv[l] += part->i;
  return OSLA_OK;
}

/* Factors a copy of the part. numbers[order] receives the pivots of all rows, as row indices of the
 * whole matrix. The caller frees it, also after a failure. */
static osla_err factor_copy(const part_operand *x, int64_t order, const osla_lu_options *options,
                            osla_lu_result *result, int64_t **out)
{
  const osla_part all = osla_whole(x->at);
  int64_t *pivots = malloc((size_t)osla_matrix_local_rows(x->at) * sizeof *pivots + 1);
  int64_t *numbers = *out = malloc((size_t)order * sizeof *numbers + 1);
  osla_err err = OSLA_OK;
  if (!pivots || !numbers) err = osla_error_set(OSLA_ERR_MEM, "%" PRId64 " pivots", order);
  OSLA_TRY(osla_agree(osla_grid_transport(osla_matrix_grid(x->at)), err));
  OSLA_TRY(osla_getrf(x->at, pivots, options, result));
  OSLA_TRY(osli_part_numbers_gather(&all, order, pivots, numbers));
  for (int64_t i = 0; i < order; i++)
    numbers[i] += x->part.i;
cleanup:
  free(pivots);
  return err;
}

static osla_err check(const osla_part *a, const int64_t *ipiv, const osla_lu_options *options)
{
  OSLA_CALL(osli_part_check("getrf", a, "A"));
  bool rows = osli_part_rows_below(a, 0) < osli_part_rows_below(a, a->m);
  OSLA_CHECK(ipiv || !rows || (options && options->pivoting == OSLA_PIVOT_NONE), OSLA_ERR_ARG,
             "LU: ipiv is NULL, which is possible with OSLA_PIVOT_NONE only");
  return OSLA_OK;
}

static osla_err agree(const osla_part *a, const osla_lu_options *options, osla_err local)
{
  const osla_lu_options o = options ? *options : (osla_lu_options){0};
  const osla_argument same[] = {OSLA_PART_ARGUMENTS("a", *a),
                                {"pivoting", (int)o.pivoting},
                                {"look_ahead", o.look_ahead},
                                {"forward", (int)o.forward}};
  return osla_agree_same(osla_grid_transport(osla_matrix_grid(a->matrix)), local, "osla_getrf_part",
                         same, (int)(sizeof same / sizeof *same));
}

osla_err osla_getrf_part(osla_part a, int64_t *ipiv, const osla_lu_options *options,
                         osla_lu_result *result)
{
  const int64_t order = a.m < a.n ? a.m : a.n;
  int64_t *numbers = NULL;
  part_operand x;
  OSLA_CALL(agree(&a, options, check(&a, ipiv, options)));
  OSLA_CALL(osli_part_open(&a, NULL, &x));
  osla_err err = x.copy ? factor_copy(&x, order, options, result, &numbers)
                        : factor_view(&x, order, ipiv, options, result);
  err = osli_part_close(&x, true, err);
  if (err == OSLA_OK && numbers && ipiv) osli_part_numbers_scatter(&a, order, numbers, ipiv);
  free(numbers);
  return err;
}
