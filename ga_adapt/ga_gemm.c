/* GA_Dgemm by SRUMMA.
 *
 * The arrays of GA's C interface are the transposes of the matrices in memory (osla_ga.h). C =
 * op(A) op(B) in GA's order is therefore C^T = op(B)^T op(A)^T in memory: the letters N and T that
 * choose op stay, and the operands A and B change places. */
#include "ga_adapt/ga_internal.h"

#include <ga.h>
#include <inttypes.h>

/* Checks that op(X), of rows x cols elements in GA's order, fits into the array, which is m x n in
 * memory. */
static osla_err check_size(const ga_array *x, const char *name, osla_trans trans, int64_t rows,
                           int64_t cols)
{
  int64_t have_rows = trans == OSLA_NOTRANS ? x->n : x->m;
  int64_t have_cols = trans == OSLA_NOTRANS ? x->m : x->n;
  OSLA_CHECK(x->ndim == 2, OSLA_ERR_UNSUPPORTED, "%s has one dimension, not 2", name);
  OSLA_CHECK(rows <= have_rows && cols <= have_cols, OSLA_ERR_ARG,
             "op(%s) is %" PRId64 " x %" PRId64 ", less than %" PRId64 " x %" PRId64, name,
             have_rows, have_cols, rows, cols);
  return OSLA_OK;
}

static osla_part part_of(osla_ga_matrix *x, osla_trans trans, int64_t rows, int64_t cols)
{
  bool turned = trans != OSLA_NOTRANS;
  return osla_part_at(osla_ga_matrix_get(x), 0, 0, turned ? rows : cols, turned ? cols : rows);
}

osla_err osla_ga_gemm(char transa, char transb, int64_t m, int64_t n, int64_t k, osla_complex alpha,
                      int g_a, int g_b, osla_complex beta, int g_c)
{
  ga_making operand = {.blocks = OSLA_GA_AS_DISTRIBUTED, .own = GA_Nnodes() == 1};
  osla_ga_matrix *ma = NULL, *mb = NULL, *mc = NULL;
  osla_trans ta, tb;
  ga_array a, b, c;
  osla_err err;
  OSLA_CALL(osli_ga_trans(transa, "transa", &ta));
  OSLA_CALL(osli_ga_trans(transb, "transb", &tb));
  OSLA_CHECK(m >= 0 && n >= 0 && k >= 0, OSLA_ERR_ARG,
             "m = %" PRId64 ", n = %" PRId64 ", k = %" PRId64, m, n, k);
  OSLA_CALL(osli_ga_array_check(g_a, "g_a", &a));
  OSLA_CALL(osli_ga_array_check(g_b, "g_b", &b));
  OSLA_CALL(osli_ga_array_check(g_c, "g_c", &c));
  OSLA_CALL(check_size(&a, "g_a", ta, m, k));
  OSLA_CALL(check_size(&b, "g_b", tb, k, n));
  OSLA_CALL(check_size(&c, "g_c", OSLA_NOTRANS, m, n));
  OSLA_CHECK(g_c != g_a && g_c != g_b, OSLA_ERR_ARG,
             "g_c = %d is an operand, too: it must be another array", g_c);
  OSLA_CHECK(a.dtype == b.dtype && a.dtype == c.dtype, OSLA_ERR_ARG,
             "arrays of different types: A %c, B %c, C %c", osla_dtype_letter(a.dtype),
             osla_dtype_letter(b.dtype), osla_dtype_letter(c.dtype));

  OSLA_TRY(osli_ga_matrix_open(&a, operand, &ma));
  if (g_b != g_a) OSLA_TRY(osli_ga_matrix_open(&b, operand, &mb));
  bool overwritten = beta == 0 && n == c.m && m == c.n;
  ga_making of_c = {.blocks = OSLA_GA_AS_DISTRIBUTED, .overwritten = overwritten, .own = true};
  OSLA_TRY(osli_ga_matrix_open(&c, of_c, &mc));
  OSLA_TRY(osla_gemm(tb, ta, alpha, part_of(mb ? mb : ma, tb, k, n), part_of(ma, ta, m, k), beta,
                     part_of(mc, OSLA_NOTRANS, m, n), NULL));
  err = osla_ga_matrix_store(mc);
cleanup:
  osla_ga_matrix_destroy(&mc);
  osla_ga_matrix_destroy(&mb);
  osla_ga_matrix_destroy(&ma);
  return err;
}
