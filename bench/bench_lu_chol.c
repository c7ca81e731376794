/* osla-bench lu, osla-bench chol. The check compares left factor (right factor x) with P A x for a
 * random vector x. Source: Freivalds, "Probabilistic machines can use less running time" (IFIP
 * 1977). */
#include "config.h"

#include "bench/bench_factor.h"
#include "osla_blas.h"
#include "src/blas/work.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Vectors of the check, whole on every rank; one allocation, which starts at x. */
typedef struct check_data {
  factor_data f; /* must be the first member, because factor_set.factor points to it */
  osla_complex *x, *expected, *y, *z;
  int64_t *pivots;
  /* divisor of the residual, (norm of A) |x| n eps; 0 before the first check, which computes it and
   * `expected` */
  double scale;
} check_data;

static osla_err check_create(check_data *c)
{
  factor_data *f = &c->f;
  osla_dtype dtype = f->job->settings->dtype;
  int64_t n = f->n;
  void *vectors;
  if (osli_work_modelled) return OSLA_OK;
  OSLA_CALL(bench_alloc(f->job, (uint64_t)n * (4 * sizeof *c->x + sizeof *c->pivots), &vectors));
  c->x = vectors;
  c->expected = c->x + n;
  c->y = c->expected + n;
  c->z = c->y + n;
  c->pivots = (int64_t *)(c->z + n);
  bench_fill_vector(dtype, c->x, n, 3);
  return OSLA_OK;
}

/* c->expected := A x, where A replaces the factors in the matrix of the set. This is done after the
 * first factorisation, so that with --cold the factorisation is the first work on the matrix. */
static osla_err compute_expected(check_data *c, factor_set *set)
{
  double norm;
  osla_matrix *a;
  OSLA_CALL(factor_restore(set));
  OSLA_CALL(factor_full(set, &a));
  OSLA_CALL(bench_apply(BENCH_WHOLE, OSLA_NOTRANS, a, c->x, c->expected));
  OSLA_CALL(osla_matrix_norm(a, OSLA_NORM_INF, &norm));
  c->scale = norm * bench_max(c->x, c->f.n) * (double)c->f.n * bench_eps(osla_matrix_dtype(set->a));
  return OSLA_OK;
}

static osla_err check(void *data, double *residual)
{
  factor_set *set = data;
  check_data *c = (check_data *)set->factor;
  const factor_kind *kind = c->f.kind;
  int64_t n = c->f.n;
  bool usable;
  osla_matrix *factors;
  *residual = NAN;
  OSLA_CALL(factor_usable(set, &usable));
  if (!usable) return OSLA_OK;
  OSLA_CALL(factor_full(set, &factors));
  OSLA_CALL(bench_apply(kind->right, kind->right_trans, factors, c->x, c->y));
  OSLA_CALL(bench_apply(kind->left, OSLA_NOTRANS, factors, c->y, c->z));
  OSLA_CALL(factor_pivots(set, c->pivots));
  if (c->scale == 0) OSLA_CALL(compute_expected(c, set));
  memcpy(c->y, c->expected, (size_t)n * sizeof *c->y);
  OSLA_CALL(osla_lapack_laswp(OSLA_COMPLEX_DOUBLE, 1, c->y, n, n, c->pivots, false));
  *residual = bench_max_difference(c->z, c->y, n) / c->scale;
  return OSLA_OK;
}

static osla_err measure(check_data *c)
{
  factor_data *f = &c->f;
  const bench_settings *s = f->job->settings;
  const factor_kind *kind = f->kind;
  const char precision[2] = {osla_dtype_letter(s->dtype), '\0'};
  const bench_impl osla = {.prepare = factor_restore, .run = kind->run, .check = check};
  const bench_impl scalapack = {.setup = factor_setup_scalapack,
                                .prepare = factor_restore,
                                .run = kind->run_scalapack,
                                .check = check,
                                .teardown = factor_teardown_scalapack};
  bench_impl impls[BENCH_MAX_IMPLS];
  double square = factor_each(f) * (double)f->n * (double)f->n;
  /* inner size of a product that takes about as many operations as the factorisation */
  int64_t k = f->n / kind->part > 0 ? f->n / kind->part : 1;
  f->local = (reference_gemm){.job = f->job,
                              .m = osla_matrix_local_rows(f->osla.a),
                              .n = osla_matrix_local_cols(f->osla.a),
                              .k = k,
                              .work = square * (double)k};
  bench_case bench = {.kernel = kind->name,
                      .precision = precision,
                      .n = f->n,
                      .nb = s->nb,
                      .pivoting = kind == &factor_lu ? factor_pivoting_name(s->pivoting) : NULL,
                      .look_ahead = true,
                      .impls = impls,
                      .n_impls = factor_impls(f, &osla, &scalapack, impls),
                      .work = square * (double)f->n / (double)kind->part,
                      .unit = BENCH_GFLOPS,
                      .operations = 1,
                      .cold = s->cold};
  return bench_run_case(f->job, &bench);
}

static osla_err run(bench_job *job, int64_t n, const factor_kind *kind)
{
  check_data c = {.f = {.job = job, .kind = kind, .pivoting = job->settings->pivoting, .n = n}};
  osla_err err = factor_create(&c.f);
  if (err == OSLA_OK) err = check_create(&c);
  if (err == OSLA_OK) err = measure(&c);
  factor_destroy(&c.f);
  free(c.x);
  return err;
}

static osla_err run_lu(bench_job *job, int64_t n)
{
  return run(job, n, &factor_lu);
}

static osla_err run_chol(bench_job *job, int64_t n)
{
  return run(job, n, &factor_chol);
}

#define ABOUT_BLAS                                                                                 \
  "  blas       the limit: the rate of a local product of private matrices on each rank,\n"        \
  "             of as many operations; no communication\n"                                         \
  "  lapack     with --device, on one rank: one call of the device's LAPACK on the whole matrix\n"

const bench_kernel bench_lu = {
  .name = "lu",
  .summary = "LU with partial, tournament or no pivoting",
  .about =
    "\nTimes P A = L U, A random (diagonally dominant for --pivoting none), in GF/s (2/3 N^3\n"
    "operations, complex 8/3), beside:\n" ABOUT_BLAS
    "  scalapack  pdgetrf and the like on the same process grid; it always pivots partially\n"
    "Residual: |L (U x) - P (A x)| / (|A| |x| N eps), x random, max norms.\n",
  .references = "blas" REFERENCE_SCALAPACK,
  .device_references = "blas,lapack",
  .after = "Example: mpiexec -n 4 osla-bench lu --n 4096 --nb 128 --grid 2x2\n",
  .precisions = "sdcz",
  .other_nb = true,
  .cold = true,
  .pivotings = "partial,tournament,none",
  .most_look_ahead = 2,
  .modelled = true,
  .run = run_lu,
  .sizes = {2048},
};

const bench_kernel bench_chol = {
  .name = "chol",
  .summary = "Cholesky factorisation, lower triangle",
  .about = "\nTimes A = L L^H, A positive definite, in GF/s (1/3 N^3 operations, complex 4/3), "
           "beside:\n" ABOUT_BLAS "  triangle   OSLA with A stored as a triangle, osla-triangle\n"
           "  scalapack  pdpotrf and the like on the same process grid\n"
           "Residual: |L (L^H x) - A x| / (|A| |x| N eps), x random, max norms.\n",
  .references = "triangle,blas" REFERENCE_SCALAPACK,
  .default_references = "blas" REFERENCE_SCALAPACK,
  .device_references = "blas,lapack",
  .after = "Example: mpiexec -n 2 osla-bench chol --n 4096 --precision s\n",
  .precisions = "sdcz",
  .other_nb = true,
  .cold = true,
  .most_look_ahead = 2,
  .modelled = true,
  .run = run_chol,
  .sizes = {2048},
};
