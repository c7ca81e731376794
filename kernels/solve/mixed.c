/* Solves in double precision with factors in single precision. If this fails, factors in double
 * precision are used. */
#include "kernels/common/local_view.h"
#include "kernels/solve/rhs.h"
#include "kernels/solve/solve.h"
#include "osla_chol.h"
#include "osla_lu.h"
#include "src/matrix/memory_kind.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

/* Arguments of a solve in mixed precision. `uplo` is used with Cholesky only. */
typedef struct mixed {
  const osla_matrix *a, *b;
  osla_matrix *x;
  bool cholesky;
  osla_uplo uplo;
  osla_refine_options options;
  int64_t info;
  osla_refine_result refine;
} mixed;

/* Factors the copy of A in place. */
static osla_err factor(mixed *f, osla_matrix *copy, int64_t *ipiv, osla_factors *factors)
{
  osla_lu_result result;
  *factors = f->cholesky ? osla_factors_cholesky(copy, f->uplo) : osla_factors_lu(copy, ipiv);
  if (f->cholesky) return osla_potrf(f->uplo, copy, NULL, &f->info);
  OSLA_CALL(osla_getrf(copy, ipiv, NULL, &result));
  f->info = result.info;
  return OSLA_OK;
}

/* Solves with factors of type `dtype`. X is zero at first, so the first iteration of the refinement
 * is the solve itself. All vectors are allocated before A is factored. */
static osla_err solve_in_precision(mixed *f, osla_dtype dtype)
{
  osla_layout l = osla_matrix_layout(f->a);
  osla_grid *grid = osla_matrix_grid(f->a);
  osla_matrix *copy = NULL;
  osla_refinement *refinement = NULL;
  osla_factors factors;
  int64_t *ipiv = NULL;
  osla_err err;
  OSLA_CALL(osla_matrix_is_triangle(f->a)
              ? osla_matrix_create_triangle(grid, dtype, l.n, l.nb, &copy)
              : osla_matrix_create(grid, dtype, l.n, l.n, l.nb, l.nb, &copy));
  ipiv = malloc((size_t)osla_matrix_local_rows(copy) * sizeof *ipiv + 1);
  err = ipiv ? OSLA_OK : osla_error_set(OSLA_ERR_MEM, "pivots of order %" PRId64, l.n);
  OSLA_TRY(osla_agree(osla_grid_transport(grid), err));
  OSLA_TRY(osli_refinement_open(f->a, copy, f->b, &refinement));
  OSLA_TRY(osla_matrix_add(1.0, f->a, 0.0, copy));
  OSLA_TRY(factor(f, copy, ipiv, &factors));
  OSLA_TRY(osla_matrix_fill(f->x, OSLA_FILL_ZERO, 0));
  f->refine = (osla_refine_result){0, (double)NAN, false};
  if (f->info == 0)
    OSLA_TRY(osli_refinement_run(refinement, &factors, f->x, &f->options, &f->refine));
cleanup:
  osli_refinement_close(&refinement);
  free(ipiv);
  osla_matrix_destroy(&copy);
  return err;
}

static osla_err check(const mixed *f, const char *call)
{
  osla_dtype dtype = osla_matrix_dtype(f->a);
  int64_t nb = osla_matrix_layout(f->b).n, nx = osla_matrix_layout(f->x).n;
  OSLA_NEEDS_FULL(call, f->cholesky ? NULL : f->a, f->b, f->x);
  if (f->cholesky) OSLA_CALL(osli_check_uplo("mixed", f->uplo, f->a));
  OSLA_CALL(osli_rhs_check(OSLA_LEFT, f->a, f->b));
  OSLA_CALL(osli_rhs_check(OSLA_LEFT, f->a, f->x));
  OSLA_CHECK(is_shared(f->b) && is_shared(f->x), OSLA_ERR_ARG,
             "mixed: B or X was made by osla_matrix_wrap_own, but other ranks need it");
  OSLA_CHECK(nb == nx && f->b != f->x, OSLA_ERR_ARG,
             "mixed: B has %" PRId64 " columns, X %" PRId64 "%s", nb, nx,
             f->b == f->x ? "; they are one matrix" : "");
  OSLA_CHECK(dtype == OSLA_DOUBLE || dtype == OSLA_COMPLEX_DOUBLE, OSLA_ERR_UNSUPPORTED,
             "mixed: A has type '%c'; mixed precision needs d or z", osla_dtype_letter(dtype));
  return OSLA_OK;
}

static osla_err solve(mixed *f, const osla_refine_options *options, osla_mixed_result *result)
{
  osla_mixed_result r = {.path = OSLA_MIXED_SINGLE};
  const osla_factors factors = {.matrix = f->a, .cholesky = f->cholesky, .uplo = f->uplo};
  const char *call = f->cholesky ? "osla_posv_mixed" : "osla_gesv_mixed";
  OSLA_NEEDS_HOST(call, f->a, f->b, f->x);
  if (options) f->options = *options;
  OSLA_CALL(osli_refinement_agree(&factors, check(f, call), call, &f->options));
  double n = (double)osla_matrix_layout(f->a).n;
  osla_dtype dtype = osla_matrix_dtype(f->a);
  if (f->options.target == 0.0) f->options.target = 1.0 / sqrt(n > 1.0 ? n : 1.0);
  OSLA_CALL(solve_in_precision(f, dtype == OSLA_DOUBLE ? OSLA_FLOAT : OSLA_COMPLEX_FLOAT));
  r.single_iterations = f->refine.iterations;
  if (!f->refine.converged) {
    r.path = f->info == 0 ? OSLA_MIXED_STALLED : OSLA_MIXED_FACTOR;
    OSLA_CALL(solve_in_precision(f, dtype));
    if (f->info != 0) r.path = OSLA_MIXED_SINGULAR;
  }
  r.info = f->info;
  r.refine = f->refine;
  if (result) *result = r;
  return OSLA_OK;
}

osla_err osla_gesv_mixed(const osla_matrix *a, const osla_matrix *b, osla_matrix *x,
                         const osla_refine_options *options, osla_mixed_result *result)
{
  mixed f = {.a = a, .b = b, .x = x};
  return solve(&f, options, result);
}

osla_err osla_posv_mixed(osla_uplo uplo, const osla_matrix *a, const osla_matrix *b, osla_matrix *x,
                         const osla_refine_options *options, osla_mixed_result *result)
{
  mixed f = {.a = a, .b = b, .x = x, .cholesky = true, .uplo = uplo};
  return solve(&f, options, result);
}
