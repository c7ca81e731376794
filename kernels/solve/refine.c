/* Iterative refinement; the factors may have a narrower precision than A. */
#include "kernels/common/local_view.h"
#include "kernels/solve/rhs.h"
#include "kernels/solve/solve.h"
#include "osla_blas.h"
#include "src/base/double_bits.h"
#include "src/base/reserved.h"
#include "src/matrix/memory_kind.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

/* State of a refinement. All matrices have the distribution that solves need. */
struct osla_refinement {
  const osla_matrix *a, *b;
  const osla_factors *factors;
  double norm_a;
  osla_matrix *x;    /* best solution so far */
  osla_matrix *next; /* next candidate for the solution */
  osla_matrix *r;    /* residual */
  /* copy of r in the type of the factors; NULL if A has the same type as the factors */
  osla_matrix *narrow;
  double value;   /* scaled residual of x */
  double *maxima; /* largest absolute element in each column of r */
  int64_t *room;  /* scratch memory for osli_residual_compute */
};

static void swap(osla_matrix **x, osla_matrix **y)
{
  osla_matrix *z = *x;
  *x = *y;
  *y = z;
}

/* Scales the columns of R by powers of two. sign = -1 brings the largest element of each column
 * near 1; sign = 1 undoes this scaling. */
static osla_err scale_columns(const osla_refinement *f, int sign)
{
  enum { MOST = 1000 };
  local_view v = view_of(f->r);
  for (int64_t c = 0; c < v.cols; c++) {
    int exponent;
    (void)frexp(f->maxima[osla_index_global(c, v.nb, v.pcol, v.q)], &exponent);
    if (exponent < -MOST) exponent = -MOST;
    if (exponent > MOST) exponent = MOST;
    OSLA_CALL(osla_blas_scal(v.dtype, v.rows, ldexp(1.0, sign * exponent), local_at(&v, 0, c)));
  }
  return OSLA_OK;
}

/* R := X + A^-1 R. If the factors have a narrower precision, R is scaled first, so that no element
 * underflows in that precision. */
static osla_err correct(osla_refinement *f)
{
  osla_transport *t = osla_grid_transport(osla_matrix_grid(f->a));
  if (!f->narrow) {
    OSLA_CALL(osli_factors_solve(f->factors, OSLA_NOTRANS, f->r));
    return osla_matrix_add(1.0, f->x, 1.0, f->r);
  }
  OSLA_CALL(osla_agree(t, scale_columns(f, -1)));
  OSLA_CALL(osla_matrix_add(1.0, f->r, 0.0, f->narrow));
  OSLA_CALL(osli_factors_solve(f->factors, OSLA_NOTRANS, f->narrow));
  OSLA_CALL(osla_matrix_add(1.0, f->narrow, 0.0, f->r));
  OSLA_CALL(osla_agree(t, scale_columns(f, 1)));
  return osla_matrix_add(1.0, f->x, 1.0, f->r);
}

/* Makes one iteration. *better: true if X was replaced by a better solution. */
static osla_err iterate(osla_refinement *f, bool *better)
{
  double before = f->value;
  OSLA_CALL(correct(f));
  swap(&f->next, &f->r);
  OSLA_CALL(
    osli_residual_compute(f->a, f->norm_a, f->next, f->b, f->r, &f->value, f->maxima, f->room));
  *better = f->value < before;
  if (*better)
    swap(&f->x, &f->next);
  else
    f->value = before;
  return OSLA_OK;
}

static osla_err refine(osla_refinement *f, int most, double target, osla_refine_result *result)
{
  bool falls = true;
  OSLA_CALL(
    osli_residual_compute(f->a, f->norm_a, f->x, f->b, f->r, &f->value, f->maxima, f->room));
  while (falls && f->value > target && isfinite(f->value) && result->iterations < most) {
    double before = f->value;
    bool better;
    OSLA_CALL(iterate(f, &better));
    if (better) result->iterations++;
    falls = f->value <= before / 2;
  }
  result->residual = f->value;
  result->converged = f->value <= target;
  return OSLA_OK;
}

static osla_err check(const osla_matrix *a, const osla_factors *factors, const osla_matrix *b,
                      const osla_matrix *x)
{
  osla_layout la = osla_matrix_layout(a), lf = osla_matrix_layout(factors->matrix);
  osla_layout lb = osla_matrix_layout(b), lx = osla_matrix_layout(x);
  OSLA_NEEDS_FULL("osla_refine", factors->cholesky ? NULL : factors->matrix, b, x);
  OSLA_CALL(osli_rhs_check(OSLA_LEFT, a, b));
  OSLA_CALL(osli_rhs_check(OSLA_LEFT, a, x));
  OSLA_CHECK(is_shared(b) && is_shared(x), OSLA_ERR_ARG,
             "refine: B or X was made by osla_matrix_wrap_own, but other ranks need it");
  OSLA_CALL(osli_rhs_check_matrix(factors->matrix));
  if (factors->cholesky) OSLA_CALL(osli_check_uplo("refine", factors->uplo, factors->matrix));
  OSLA_CHECK(lf.n == la.n, OSLA_ERR_ARG,
             "refine: A is of order %" PRId64 ", its factors of %" PRId64, la.n, lf.n);
  OSLA_CHECK(lb.n == lx.n && b != x, OSLA_ERR_ARG,
             "refine: B has %" PRId64 " columns, X %" PRId64 "%s", lb.n, lx.n,
             b == x ? "; they are one matrix" : "");
  return OSLA_OK;
}

static osla_err check_options(const osla_refine_options *o)
{
  OSLA_CALL(OSLA_RESERVED(osla_refine_options, o));
  OSLA_CHECK(o->max_iterations >= 0 && o->target >= 0.0, OSLA_ERR_ARG,
             "refine: max_iterations = %d, target = %g: neither may be negative", o->max_iterations,
             o->target);
  return OSLA_OK;
}

osla_err osli_refinement_agree(const osla_factors *factors, osla_err err, const char *call,
                               const osla_refine_options *o)
{
  osla_transport *t = osla_grid_transport(osla_matrix_grid(factors->matrix));
  const osla_argument same[] = {{"solve with Cholesky's factor", factors->cholesky},
                                {"uplo", factors->cholesky ? (int)factors->uplo : OSLA_LOWER},
                                {"order of A", osla_matrix_layout(factors->matrix).n},
                                {"max_iterations", o->max_iterations},
                                {"target (bits)", double_bits(o->target)}};
  /* Each rank's options are checked before the options of all ranks are compared, so that the error
   * message names the invalid option and not a difference between ranks. */
  OSLA_CALL(osla_agree(t, err == OSLA_OK ? check_options(o) : err));
  return osla_agree_same(t, OSLA_OK, call, same, (int)(sizeof same / sizeof *same));
}

static osla_err make_vectors(osla_refinement *f, const osla_matrix *factor)
{
  osla_dtype dtype = osla_matrix_dtype(f->a), narrow = osla_matrix_dtype(factor);
  int64_t nrhs = osla_matrix_layout(f->b).n;
  OSLA_CALL(osla_matrix_norm(f->a, OSLA_NORM_INF, &f->norm_a));
  OSLA_CALL(osli_rhs_create(factor, dtype, nrhs, &f->x));
  OSLA_CALL(osli_rhs_create(factor, dtype, nrhs, &f->next));
  OSLA_CALL(osli_rhs_create(factor, dtype, nrhs, &f->r));
  return narrow == dtype ? OSLA_OK : osli_rhs_create(factor, narrow, nrhs, &f->narrow);
}

osla_err osli_refinement_open(const osla_matrix *a, const osla_matrix *factor, const osla_matrix *b,
                              osla_refinement **out)
{
  size_t nrhs = (size_t)osla_matrix_layout(b).n;
  osla_refinement *f = *out = calloc(1, sizeof *f);
  if (f) {
    f->a = a;
    f->b = b;
    f->maxima = malloc(nrhs * sizeof *f->maxima + 1);
    f->room = malloc(OSLA_RESIDUAL_ROOM * nrhs * sizeof *f->room + 1);
  }
  bool complete = f && f->maxima && f->room;
  osla_err err =
    complete ? OSLA_OK : osla_error_set(OSLA_ERR_MEM, "refine: %zu column maxima", nrhs);
  err = osla_agree(osla_grid_transport(osla_matrix_grid(a)), err);
  return err == OSLA_OK ? make_vectors(f, factor) : err;
}

osla_err osli_refinement_run(osla_refinement *f, const osla_factors *factors, osla_matrix *x,
                             const osla_refine_options *o, osla_refine_result *result)
{
  osla_refine_result r = {0};
  f->factors = factors;
  OSLA_CALL(osla_matrix_copy(x, f->x));
  OSLA_CALL(
    refine(f, o->max_iterations ? o->max_iterations : 30, o->target > 0.0 ? o->target : 1.0, &r));
  OSLA_CALL(osla_matrix_copy(f->x, x));
  if (result) *result = r;
  return OSLA_OK;
}

void osli_refinement_close(osla_refinement **handle)
{
  osla_refinement *f = *handle;
  if (!f) return;
  free(f->maxima);
  free(f->room);
  osla_matrix_destroy(&f->x);
  osla_matrix_destroy(&f->next);
  osla_matrix_destroy(&f->r);
  osla_matrix_destroy(&f->narrow);
  free(f);
  *handle = NULL;
}

osla_err osla_refine(const osla_matrix *a, const osla_factors *factors, const osla_matrix *b,
                     osla_matrix *x, const osla_refine_options *options, osla_refine_result *result)
{
  OSLA_NEEDS_HOST("osla_refine", a, factors->matrix, b, x);
  osla_refine_options o = options ? *options : (osla_refine_options){0};
  osla_refinement *f = NULL;
  OSLA_CALL(osli_refinement_agree(factors, check(a, factors, b, x), "osla_refine", &o));
  osla_err err = osli_refinement_open(a, factors->matrix, b, &f);
  if (err == OSLA_OK) err = osli_refinement_run(f, factors, x, &o, result);
  osli_refinement_close(&f);
  return err;
}
