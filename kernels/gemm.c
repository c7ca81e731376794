/* Contract and dispatch of the distributed multiplication: check, bring operands to fitting
 * distributions, plan, run. */
#include "gemm.h"

#include <inttypes.h>

static osla_err check(const local_view *a, const local_view *b, const local_view *c)
{
  OSLA_CHECK(a->m == c->m && b->n == c->n && a->n == b->m, OSLA_ERR_ARG,
             "gemm: A is %" PRId64 " x %" PRId64 ", B %" PRId64 " x %" PRId64 ", C %" PRId64
             " x %" PRId64,
             a->m, a->n, b->m, b->n, c->m, c->n);
  OSLA_CHECK(a->dtype == c->dtype && b->dtype == c->dtype, OSLA_ERR_ARG,
             "gemm: types '%c', '%c', '%c' differ", osla_dtype_letter(a->dtype),
             osla_dtype_letter(b->dtype), osla_dtype_letter(c->dtype));
  OSLA_CHECK(a->matrix != c->matrix && b->matrix != c->matrix, OSLA_ERR_ARG,
             "gemm: C is also an operand");
  OSLA_CHECK(a->t == c->t && b->t == c->t, OSLA_ERR_ARG,
             "gemm: the matrices belong to different transports");
  return OSLA_OK;
}

/* A copy of `from` in the wanted blocks on C's grid, or NULL when it already fits. Collective. */
static osla_err fit(const local_view *from, const local_view *c, int64_t mb, int64_t nb,
                    osla_matrix **copy)
{
  *copy = NULL;
  if (from->grid == c->grid && from->mb == mb && from->nb == nb) return OSLA_OK;
  OSLA_CALL(osla_matrix_create(c->grid, from->dtype, from->m, from->n, mb, nb, copy));
  return osla_matrix_copy(from->matrix, *copy);
}

osla_err osla_gemm(double alpha, osla_matrix *a, osla_matrix *b, double beta, osla_matrix *c,
                   const osla_gemm_options *options)
{
  gemm_plan plan = {.a = view_of(a), .b = view_of(b), .c = view_of(c)};
  osla_transport *t = plan.c.t;
  osla_matrix *a_copy = NULL, *b_copy = NULL;
  osla_err err;
  OSLA_CALL(check(&plan.a, &plan.b, &plan.c));
  trim_blocks(&plan.a);
  trim_blocks(&plan.b);
  trim_blocks(&plan.c);
  int64_t kb = plan.a.nb;
  OSLA_TRY(fit(&plan.a, &plan.c, plan.c.mb, kb, &a_copy));
  OSLA_TRY(fit(&plan.b, &plan.c, kb, plan.c.nb, &b_copy));
  if (a_copy) plan.a = view_of(a_copy);
  if (b_copy) plan.b = view_of(b_copy);

  OSLA_TRY(osla_agree(t, osla_gemm_plan(&plan, options))); /* also: operands are complete */
  OSLA_TRY(osla_agree(t, osla_gemm_run(&plan, alpha, beta, options))); /* nobody reads any more */
cleanup:
  osla_gemm_plan_free(&plan);
  osla_matrix_destroy(&a_copy);
  osla_matrix_destroy(&b_copy);
  return err;
}
