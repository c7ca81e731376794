/* Condition estimates by Higham's improvement of Hager's method for |A^-1|_1. The method follows
 * the gradient of the convex function |A^-1 x|_1 from vertex to vertex of the unit ball. x is a
 * distributed n x 1 matrix. The steps are those of LAPACK's xLACN2.
 *
 * Memory per rank: its part of two vectors. Messages: the messages of the solves, and two
 * reductions for each solve. */
#include "kernels/common/local_view.h"
#include "kernels/solve/rhs.h"
#include "kernels/solve/solve.h"
#include "src/base/double_bits.h"
#include "src/matrix/memory_kind.h"

#include <complex.h>
#include <float.h>
#include <inttypes.h>
#include <math.h>

typedef struct estimator {
  const osla_factors *factors;
  osla_trans adjoint;
  bool is_complex, is_single;
  osla_matrix *vector;
  local_view x;
  double estimate;
} estimator;

static osla_complex load(const estimator *e, int64_t l)
{
  const void *x = e->x.local;
  if (e->is_complex)
    return e->is_single ? ((const float _Complex *)x)[l] : ((const double _Complex *)x)[l];
  return e->is_single ? (double)((const float *)x)[l] : ((const double *)x)[l];
}

static void store(const estimator *e, int64_t l, osla_complex value)
{
  void *x = e->x.local;
  if (e->is_complex && e->is_single)
    ((float _Complex *)x)[l] = (float _Complex)value;
  else if (e->is_complex)
    ((double _Complex *)x)[l] = value;
  else if (e->is_single)
    ((float *)x)[l] = (float)creal(value);
  else
    ((double *)x)[l] = creal(value);
}

/* Number of this rank's elements of x. Only the ranks of one process column have elements. */
static int64_t count_of(const estimator *e)
{
  return e->x.cols > 0 ? e->x.rows : 0;
}

static int64_t index_of(const estimator *e, int64_t l)
{
  return osla_index_global(l, e->x.mb, e->x.prow, e->x.p);
}

/* x := A^-1 x; *value = |x|_1. */
static osla_err solve_and_norm(estimator *e, double *value)
{
  OSLA_CALL(osli_factors_solve(e->factors, OSLA_NOTRANS, e->vector));
  return osla_matrix_norm(e->vector, OSLA_NORM_ONE, value);
}

/* Replaces each x_i by its sign (for complex types by x_i / |x_i|), and stores the signs in `sign`
 * as well. *changed: true if the signs differ from the previous contents of `sign`; always true for
 * complex types. */
static osla_err set_signs(estimator *e, osla_matrix *sign, bool *changed)
{
  estimator old = *e;
  int differs = 0;
  old.x = view_of(sign);
  for (int64_t l = 0; l < count_of(e); l++) {
    osla_complex value = load(e, l);
    double size = cabs(value);
    osla_complex s = size > DBL_MIN ? value / size : 1.0;
    if (!e->is_complex) s = creal(value) < 0.0 ? -1.0 : 1.0;
    if (e->is_complex || s != load(&old, l)) differs = 1;
    store(e, l, s);
    store(&old, l, s);
  }
  OSLA_CALL(osla_allreduce(e->x.t, &differs, 1, MPI_INT, MPI_MAX));
  *changed = differs != 0;
  return OSLA_OK;
}

/* Finds the first index of the largest |x_i|. If the element at the old *at is as large, *at does
 * not change. */
static osla_err find_largest(estimator *e, int64_t *at)
{
  double most;
  /* found[0] is the first index of the largest element; found[1] is 0 if the element at the old *at
   * is as large, otherwise 1 */
  int64_t found[2] = {e->x.m, 1};
  OSLA_CALL(osla_matrix_norm(e->vector, OSLA_NORM_MAX, &most));
  for (int64_t l = count_of(e) - 1; l >= 0; l--) {
    if (cabs(load(e, l)) < most) continue;
    found[0] = index_of(e, l);
    if (found[0] == *at) found[1] = 0;
  }
  OSLA_CALL(osla_allreduce(e->x.t, found, 2, MPI_INT64_T, MPI_MIN));
  if (found[1] != 0) *at = found[0];
  return OSLA_OK;
}

static void set_unit(estimator *e, int64_t at)
{
  for (int64_t l = 0; l < count_of(e); l++)
    store(e, l, index_of(e, l) == at ? 1.0 : 0.0);
}

/* Maximises |A^-1 x|_1 over the vertices, starting from x = (1/n, ..., 1/n). */
static osla_err maximise_on_vertices(estimator *e, osla_matrix *sign)
{
  enum { MOST_STEPS = 5 };
  int64_t at = -1, last;
  bool changed;
  for (int64_t l = 0; l < count_of(e); l++)
    store(e, l, 1.0 / (double)e->x.m);
  OSLA_CALL(solve_and_norm(e, &e->estimate));
  if (e->x.m == 1) return OSLA_OK;
  for (int step = 0; step < MOST_STEPS && isfinite(e->estimate); step++) {
    OSLA_CALL(set_signs(e, sign, &changed));
    if (!changed) break;
    OSLA_CALL(osli_factors_solve(e->factors, e->adjoint, e->vector));
    last = at;
    OSLA_CALL(find_largest(e, &at));
    if (at == last || at >= e->x.m)
      break; /* ends if the vertex is the same as before, or if all elements are NaN */
    double value;
    set_unit(e, at);
    OSLA_CALL(solve_and_norm(e, &value));
    if (!(value > e->estimate)) {
      if (isnan(value)) e->estimate = value;
      break;
    }
    e->estimate = value;
  }
  return OSLA_OK;
}

/* Tries also the vector x_i = +-(1 + i / (n - 1)). This vector gives a larger estimate if
 * cancellation has spoiled the estimate so far. */
static osla_err try_alternating(estimator *e)
{
  double value, n = (double)e->x.m;
  for (int64_t l = 0; l < count_of(e); l++) {
    int64_t i = index_of(e, l);
    store(e, l, (i % 2 ? -1.0 : 1.0) * (1.0 + (double)i / (n - 1.0)));
  }
  OSLA_CALL(solve_and_norm(e, &value));
  value *= 2.0 / (3.0 * n);
  if (!(value <= e->estimate) && !isnan(e->estimate)) e->estimate = value;
  return OSLA_OK;
}

static osla_err check(const osla_factors *f, double anorm)
{
  if (!f->cholesky) OSLA_NEEDS_FULL("osla_gecon", f->matrix);
  OSLA_CALL(osli_rhs_check_matrix(f->matrix));
  OSLA_CHECK(anorm >= 0.0, OSLA_ERR_ARG, "condition: anorm = %g is negative or NaN", anorm);
  return f->cholesky ? osli_check_uplo("condition", f->uplo, f->matrix) : OSLA_OK;
}

static osla_err agree(const osla_factors *f, double anorm, osla_err local)
{
  const char *call = f->cholesky ? "osla_pocon" : "osla_gecon";
  OSLA_NEEDS_HOST(call, f->matrix);
  const osla_argument same[] = {{"estimate with Cholesky's factor", f->cholesky},
                                {"uplo", (int)f->uplo},
                                {"order of A", osla_matrix_layout(f->matrix).n},
                                {"anorm (bits)", double_bits(anorm)}};
  return osla_agree_same(osla_grid_transport(osla_matrix_grid(f->matrix)), local, call, same,
                         (int)(sizeof same / sizeof *same));
}

static osla_err estimate(const osla_factors *f, double anorm, double *rcond)
{
  osla_dtype dtype = osla_matrix_dtype(f->matrix);
  estimator e = {.factors = f,
                 .is_complex = dtype == OSLA_COMPLEX_FLOAT || dtype == OSLA_COMPLEX_DOUBLE,
                 .is_single = dtype == OSLA_FLOAT || dtype == OSLA_COMPLEX_FLOAT};
  osla_matrix *sign = NULL;
  osla_err err;
  int64_t n = osla_matrix_layout(f->matrix).n;
  OSLA_CALL(agree(f, anorm, check(f, anorm)));
  *rcond = n == 0 ? 1.0 : 0.0;
  if (n == 0 || anorm == 0.0) return OSLA_OK;
  e.adjoint = e.is_complex ? OSLA_CONJTRANS : OSLA_TRANS;
  OSLA_TRY(osli_rhs_create(f->matrix, dtype, 1, &e.vector));
  OSLA_TRY(osli_rhs_create(f->matrix, dtype, 1, &sign));
  e.x = view_of(e.vector);
  trim_blocks(&e.x);
  OSLA_TRY(maximise_on_vertices(&e, sign));
  if (n > 1 && isfinite(e.estimate)) OSLA_TRY(try_alternating(&e));
  if (isfinite(e.estimate) && e.estimate > 0.0) *rcond = 1.0 / e.estimate / anorm;
cleanup:
  osla_matrix_destroy(&e.vector);
  osla_matrix_destroy(&sign);
  return err;
}

osla_err osla_gecon(const osla_matrix *a, const int64_t *ipiv, double anorm, double *rcond)
{
  osla_factors f = osla_factors_lu(a, ipiv);
  return estimate(&f, anorm, rcond);
}

osla_err osla_pocon(osla_uplo uplo, const osla_matrix *a, double anorm, double *rcond)
{
  osla_factors f = osla_factors_cholesky(a, uplo);
  return estimate(&f, anorm, rcond);
}
