/* Factorisations of Global Arrays, and solves with the factors. */
#include "ga_adapt/ga_internal.h"
#include "osla_chol.h"
#include "osla_index.h"
#include "osla_solve.h"

#include <inttypes.h>
#include <stdlib.h>

static const ga_making square = {.blocks = OSLA_GA_SQUARE};

static int64_t smaller(int64_t x, int64_t y)
{
  return x < y ? x : y;
}

static osla_err check_matrix(int g_a, bool must_be_square, ga_array *a)
{
  OSLA_CALL(osli_ga_array_check(g_a, "g_a", a));
  OSLA_CHECK(a->ndim == 2, OSLA_ERR_UNSUPPORTED, "g_a has one dimension, not 2");
  OSLA_CHECK(!must_be_square || a->m == a->n, OSLA_ERR_ARG,
             "g_a is %" PRId64 " x %" PRId64 ", not square", a->m, a->n);
  return OSLA_OK;
}

static osla_err check_system(int g_a, int g_b, ga_array *a, ga_array *b)
{
  OSLA_CALL(check_matrix(g_a, true, a));
  OSLA_CALL(osli_ga_array_check(g_b, "g_b", b));
  OSLA_CHECK(g_a != g_b, OSLA_ERR_ARG, "g_b = %d is g_a, too", g_b);
  OSLA_CHECK(b->m == a->n, OSLA_ERR_ARG,
             "g_b has right-hand sides of %" PRId64 " elements (its last dimension), not %" PRId64,
             b->m, a->n);
  OSLA_CHECK(a->dtype == b->dtype, OSLA_ERR_ARG, "arrays of different types: %c and %c",
             osla_dtype_letter(a->dtype), osla_dtype_letter(b->dtype));
  return OSLA_OK;
}

/* Allocates pivots for this rank's rows. Collective. */
static osla_err allocate_pivots(osla_matrix *a, int64_t **local)
{
  *local = calloc((size_t)osla_matrix_local_rows(a) + 1, sizeof **local);
  return osla_agree(osla_grid_transport(osla_matrix_grid(a)),
                    *local ? OSLA_OK : osla_error_set(OSLA_ERR_MEM, "pivots"));
}

static int64_t global_row(osla_matrix *a, int64_t row)
{
  osla_layout l = osla_matrix_layout(a);
  return osla_index_global(row, l.mb, osla_grid_prow(osla_matrix_grid(a)), l.nprow);
}

/* Gives all ranks the pivots of all rows. Collective. */
static osla_err gather_pivots(osla_matrix *a, const int64_t *local, int64_t *ipiv)
{
  osla_layout l = osla_matrix_layout(a);
  int64_t count = smaller(l.m, l.n);
  for (int64_t i = 0; i < count; i++)
    ipiv[i] = 0;
  for (int64_t r = 0; r < osla_matrix_local_rows(a); r++) {
    int64_t i = global_row(a, r);
    if (i < count && osla_grid_pcol(osla_matrix_grid(a)) == 0) ipiv[i] = local[r];
  }
  return osla_allreduce(osla_grid_transport(osla_matrix_grid(a)), ipiv, count, MPI_INT64_T,
                        MPI_SUM);
}

/* Factors that a solve B := op(A)^-1 B uses: those of LU if `ipiv` is set, otherwise those of
 * Cholesky. */
typedef struct solver {
  osla_trans trans;
  const int64_t *ipiv; /* pivots of this rank's rows; NULL for Cholesky */
  osla_uplo uplo;
} solver;

static osla_err solve(osla_matrix *a, const solver *s, ga_array *b)
{
  osla_ga_matrix *x = NULL;
  osla_err err;
  OSLA_TRY(osli_ga_matrix_open(b, (ga_making){.like = a}, &x));
  osla_matrix *rhs = osla_ga_matrix_get(x);
  if (s->ipiv)
    OSLA_TRY(osla_getrs(s->trans, a, s->ipiv, rhs));
  else
    OSLA_TRY(osla_potrs(s->uplo, a, rhs));
  err = osla_ga_matrix_store(x);
cleanup:
  osla_ga_matrix_destroy(&x);
  return err;
}

static osla_err lu_solve(osla_trans trans, ga_array *a, ga_array *b, int64_t *info)
{
  osla_ga_matrix *x = NULL;
  osla_lu_result result = {0};
  int64_t *pivots = NULL;
  osla_err err;
  OSLA_TRY(osli_ga_matrix_open(a, square, &x));
  OSLA_TRY(allocate_pivots(osla_ga_matrix_get(x), &pivots));
  OSLA_TRY(osla_getrf(osla_ga_matrix_get(x), pivots, NULL, &result));
  *info = result.info;
  solver s = {.trans = trans, .ipiv = pivots};
  if (result.info == 0) err = solve(osla_ga_matrix_get(x), &s, b);
cleanup:
  free(pivots);
  osla_ga_matrix_destroy(&x);
  return err;
}

static osla_err llt_solve(ga_array *a, ga_array *b, int64_t *info)
{
  osla_ga_matrix *x = NULL;
  solver s = {.uplo = OSLA_LOWER};
  osla_err err;
  OSLA_TRY(osli_ga_matrix_open(a, square, &x));
  OSLA_TRY(osla_potrf(s.uplo, osla_ga_matrix_get(x), NULL, info));
  if (*info == 0) err = solve(osla_ga_matrix_get(x), &s, b);
cleanup:
  osla_ga_matrix_destroy(&x);
  return err;
}

osla_err osla_ga_lu_solve(char trans, int g_a, int g_b, int64_t *info)
{
  osla_trans op;
  ga_array a, b;
  OSLA_CHECK(info, OSLA_ERR_ARG, "info is NULL");
  OSLA_CALL(osli_ga_trans(trans, "trans", &op));
  OSLA_CALL(check_system(g_a, g_b, &a, &b));
  return lu_solve(op, &a, &b, info);
}

osla_err osla_ga_llt_solve(int g_a, int g_b, int64_t *info)
{
  ga_array a, b;
  OSLA_CHECK(info, OSLA_ERR_ARG, "info is NULL");
  OSLA_CALL(check_system(g_a, g_b, &a, &b));
  return llt_solve(&a, &b, info);
}

osla_err osla_ga_solve(int g_a, int g_b, int64_t *info)
{
  ga_array a, b;
  int64_t pivot = 0;
  OSLA_CALL(osla_ga_llt_solve(g_a, g_b, info));
  if (*info == 0) return OSLA_OK;
  OSLA_CALL(check_system(g_a, g_b, &a, &b));
  OSLA_CALL(lu_solve(OSLA_NOTRANS, &a, &b, &pivot));
  if (pivot > 0) *info = -pivot;
  return OSLA_OK;
}

osla_err osla_ga_getrf(int g_a, int64_t *ipiv, int64_t *info)
{
  osla_ga_matrix *x = NULL;
  osla_lu_result result = {0};
  int64_t *pivots = NULL;
  ga_array a;
  osla_err err;
  OSLA_CHECK(info, OSLA_ERR_ARG, "info is NULL");
  OSLA_CALL(check_matrix(g_a, false, &a));
  OSLA_CHECK(ipiv, OSLA_ERR_ARG, "ipiv is NULL");
  OSLA_TRY(osli_ga_matrix_open(&a, square, &x));
  OSLA_TRY(allocate_pivots(osla_ga_matrix_get(x), &pivots));
  OSLA_TRY(osla_getrf(osla_ga_matrix_get(x), pivots, NULL, &result));
  OSLA_TRY(gather_pivots(osla_ga_matrix_get(x), pivots, ipiv));
  *info = result.info;
  err = osla_ga_matrix_store(x);
cleanup:
  free(pivots);
  osla_ga_matrix_destroy(&x);
  return err;
}

osla_err osla_ga_potrf(char uplo, int g_a, int64_t *info)
{
  osla_ga_matrix *x = NULL;
  osla_uplo triangle;
  ga_array a;
  osla_err err;
  OSLA_CHECK(info, OSLA_ERR_ARG, "info is NULL");
  OSLA_CALL(osli_ga_uplo(uplo, &triangle));
  OSLA_CALL(check_matrix(g_a, true, &a));
  OSLA_TRY(osli_ga_matrix_open(&a, square, &x));
  OSLA_TRY(osla_potrf(triangle, osla_ga_matrix_get(x), NULL, info));
  err = osla_ga_matrix_store(x);
cleanup:
  osla_ga_matrix_destroy(&x);
  return err;
}

osla_err osla_ga_getrs(char trans, int g_a, const int64_t *ipiv, int g_b)
{
  osla_ga_matrix *x = NULL;
  int64_t *pivots = NULL;
  osla_trans op;
  ga_array a, b;
  osla_err err;
  OSLA_CALL(osli_ga_trans(trans, "trans", &op));
  OSLA_CALL(check_system(g_a, g_b, &a, &b));
  OSLA_CHECK(ipiv, OSLA_ERR_ARG, "ipiv is NULL");
  OSLA_TRY(osli_ga_matrix_open(&a, square, &x));
  OSLA_TRY(allocate_pivots(osla_ga_matrix_get(x), &pivots));
  for (int64_t r = 0; r < osla_matrix_local_rows(osla_ga_matrix_get(x)); r++)
    pivots[r] = ipiv[global_row(osla_ga_matrix_get(x), r)];
  solver s = {.trans = op, .ipiv = pivots};
  err = solve(osla_ga_matrix_get(x), &s, &b);
cleanup:
  free(pivots);
  osla_ga_matrix_destroy(&x);
  return err;
}

osla_err osla_ga_potrs(char uplo, int g_a, int g_b)
{
  osla_ga_matrix *x = NULL;
  solver s = {0};
  ga_array a, b;
  osla_err err;
  OSLA_CALL(osli_ga_uplo(uplo, &s.uplo));
  OSLA_CALL(check_system(g_a, g_b, &a, &b));
  OSLA_TRY(osli_ga_matrix_open(&a, square, &x));
  err = solve(osla_ga_matrix_get(x), &s, &b);
cleanup:
  osla_ga_matrix_destroy(&x);
  return err;
}
