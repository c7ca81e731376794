/* osla-bench potri, osla-bench getri: the inverse of a matrix from its factors, which are computed
 * before. OSLA and ScaLAPACK get the same factors, those of OSLA. The check compares A (X v) with v
 * for a random vector v. Source: Freivalds, "Probabilistic machines can use less running time"
 * (IFIP 1977). */
#include "config.h"

#include "bench/bench_factor.h"
#include "osla_inverse.h"

#include <math.h>
#include <stdlib.h>

typedef struct inverse_data {
  factor_data f;         /* must be the first member, because factor_set.factor points to it */
  osla_matrix *original, /* the matrix A, with both triangles */
    *factor;             /* factors of A; Cholesky's factor is in the lower triangle */
  /* [n] for LU: row with which each row was interchanged, from 0; every rank has all pivots */
  int64_t *pivots;
  /* [n] vectors of the check, whole on every rank; one allocation, which starts at v */
  osla_complex *v, *y, *z;
  double norm; /* infinity norm of A */
} inverse_data;

static bool is_lu(const inverse_data *d)
{
  return d->f.kind == &factor_lu;
}

static osla_err inverse_create(inverse_data *d)
{
  factor_data *f = &d->f;
  const bench_settings *s = f->job->settings;
  void *vectors, *pivots;
  OSLA_CALL(factor_create(f));
  OSLA_CALL(osla_matrix_create(f->job->grid, s->dtype, f->n, f->n, s->nb, s->nb, &d->original));
  OSLA_CALL(osla_matrix_create(f->job->grid, s->dtype, f->n, f->n, s->nb, s->nb, &d->factor));
  OSLA_CALL(bench_alloc(f->job, 3 * (uint64_t)f->n * sizeof *d->v, &vectors));
  d->v = vectors;
  d->y = d->v + f->n;
  d->z = d->y + f->n;
  OSLA_CALL(bench_alloc(f->job, (uint64_t)f->n * sizeof *d->pivots, &pivots));
  d->pivots = pivots;
  bench_fill_vector(s->dtype, d->v, f->n, 3);
  OSLA_CALL(factor_restore(&f->osla));
  OSLA_CALL(osla_matrix_copy(f->osla.a, d->original));
  OSLA_CALL(osla_matrix_norm(d->original, OSLA_NORM_INF, &d->norm));
  OSLA_CALL(f->kind->run(&f->osla));
  if (is_lu(d)) OSLA_CALL(factor_pivots(&f->osla, d->pivots));
  return osla_matrix_copy(f->osla.a, d->factor);
}

static void inverse_destroy(inverse_data *d)
{
  factor_destroy(&d->f);
  osla_matrix_destroy(&d->original);
  osla_matrix_destroy(&d->factor);
  free(d->pivots);
  free(d->v);
}

static osla_err prepare(void *data)
{
  factor_set *set = data;
  return osla_matrix_copy(((inverse_data *)set->factor)->factor, set->a);
}

/* Restores the factors, and restores the pivots in the block size of ScaLAPACK's matrix. */
static osla_err prepare_scalapack(void *data)
{
  factor_set *set = data;
  const inverse_data *d = (inverse_data *)set->factor;
  const osla_layout l = osla_matrix_layout(set->a);
  const int prow = osla_grid_prow(osla_matrix_grid(set->a));
  for (int64_t i = 0; set->ipiv && i < osla_matrix_local_rows(set->a); i++)
    set->ipiv[i] = (int)(d->pivots[osla_index_global(i, l.mb, prow, l.nprow)] + 1);
  return prepare(data);
}

static osla_err run_osla(void *data)
{
  factor_set *set = data;
  const bench_settings *s = set->factor->job->settings;
  const osla_lu_options lu = {.look_ahead = s->look_ahead, .forward = s->forward};
  const osla_chol_options chol = {.look_ahead = s->look_ahead, .forward = s->forward};
  return is_lu((inverse_data *)set->factor) ? osla_getri(set->a, set->pivots, &lu, &set->info)
                                            : osla_potri(OSLA_LOWER, set->a, &chol, &set->info);
}

static osla_err run_scalapack(void *data)
{
  factor_set *set = data;
  return is_lu((inverse_data *)set->factor)
           ? reference_scalapack_getri(set->context, set->a, set->ipiv, &set->info)
           : reference_scalapack_potri(set->context, set->a, &set->info);
}

/* y := X v. For Cholesky, X is symmetric or Hermitian and stored in its lower triangle. */
static osla_err apply_inverse(const inverse_data *d, osla_matrix *x)
{
  if (is_lu(d)) return bench_apply(BENCH_WHOLE, OSLA_NOTRANS, x, d->v, d->y);
  return bench_apply_symmetric(OSLA_CONJTRANS, x, d->v, d->y, d->z);
}

static osla_err check(void *data, double *residual)
{
  factor_set *set = data;
  inverse_data *d = (inverse_data *)set->factor;
  int64_t n = d->f.n;
  bool usable;
  osla_matrix *inverse;
  *residual = NAN;
  OSLA_CALL(factor_usable(set, &usable));
  if (!usable) return OSLA_OK;
  OSLA_CALL(factor_full(set, &inverse));
  OSLA_CALL(apply_inverse(d, inverse));
  OSLA_CALL(bench_apply(BENCH_WHOLE, OSLA_NOTRANS, d->original, d->y, d->z));
  double scale = (d->norm * bench_max(d->y, n) + bench_max(d->v, n)) * (double)n *
                 bench_eps(osla_matrix_dtype(set->a));
  *residual = bench_max_difference(d->z, d->v, n) / scale;
  return OSLA_OK;
}

static osla_err measure(inverse_data *d)
{
  factor_data *f = &d->f;
  const bench_settings *s = f->job->settings;
  const char precision[2] = {osla_dtype_letter(s->dtype), '\0'};
  const bench_impl osla = {.prepare = prepare, .run = run_osla, .check = check};
  const bench_impl scalapack = {.setup = factor_setup_scalapack,
                                .prepare = prepare_scalapack,
                                .run = run_scalapack,
                                .check = check,
                                .teardown = factor_teardown_scalapack};
  bench_impl impls[BENCH_MAX_IMPLS];
  double square = factor_each(f) * (double)f->n * (double)f->n;
  /* k: inner size of a product that takes as many operations as the inversion */
  int64_t part = (is_lu(d) ? 2 : 1) * f->n, k = part / 3 > 0 ? part / 3 : 1;
  f->local = (reference_gemm){.job = f->job,
                              .m = osla_matrix_local_rows(f->osla.a),
                              .n = osla_matrix_local_cols(f->osla.a),
                              .k = k,
                              .work = square * (double)k};
  bench_case c = {.kernel = is_lu(d) ? "getri" : "potri",
                  .precision = precision,
                  .n = f->n,
                  .nb = s->nb,
                  .look_ahead = true,
                  .impls = impls,
                  .n_impls = factor_impls(f, &osla, &scalapack, impls),
                  .work = square * (double)part / 3,
                  .unit = BENCH_GFLOPS,
                  .operations = 1};
  return bench_run_case(f->job, &c);
}

static osla_err invert(bench_job *job, const factor_kind *kind, int64_t n)
{
  inverse_data d = {.f = {.job = job, .kind = kind, .n = n}};
  osla_err err = inverse_create(&d);
  if (err == OSLA_OK) err = measure(&d);
  inverse_destroy(&d);
  return err;
}

static osla_err run_potri(bench_job *job, int64_t n)
{
  return invert(job, &factor_chol, n);
}

static osla_err run_getri(bench_job *job, int64_t n)
{
  return invert(job, &factor_lu, n);
}

const bench_kernel bench_potri = {
  .name = "potri",
  .summary = "inverse of a positive definite matrix from its factor",
  .about =
    "\nTimes the lower triangle of A^-1 from L, A = L L^H, which is there, in GF/s (2/3 N^3\n"
    "operations, complex 8/3), beside:\n"
    "  blas       the limit: the rate of a local product of private matrices on each rank,\n"
    "             of as many operations; no communication\n"
    "  triangle   OSLA with A stored as a triangle, osla-triangle\n"
    "  scalapack  pdpotri and the like with the same factor on the same process grid\n"
    "Residual: |A (X v) - v| / ((|A| |X v| + |v|) N eps), v random, max norms.\n",
  .references = "triangle,blas" REFERENCE_SCALAPACK,
  .default_references = "blas" REFERENCE_SCALAPACK,
  .after = "Example: mpiexec -n 2 osla-bench potri --n 4096 --nb 128\n",
  .precisions = "sdcz",
  .other_nb = true,
  .most_look_ahead = 2,
  .run = run_potri,
  .sizes = {2048},
};

const bench_kernel bench_getri = {
  .name = "getri",
  .summary = "inverse of a matrix from its LU factors",
  .about =
    "\nTimes A^-1 from L and U, P A = L U, which are there, in GF/s (4/3 N^3 operations, complex\n"
    "16/3), beside:\n"
    "  blas       the limit: the rate of a local product of private matrices on each rank,\n"
    "             of as many operations; no communication\n"
    "  scalapack  pdgetri and the like with the same factors on the same process grid\n"
    "Residual: |A (X v) - v| / ((|A| |X v| + |v|) N eps), v random, max norms.\n",
  .references = "blas" REFERENCE_SCALAPACK,
  .after = "Example: mpiexec -n 2 osla-bench getri --n 4096 --nb 128\n",
  .precisions = "sdcz",
  .other_nb = true,
  .most_look_ahead = 2,
  .run = run_getri,
  .sizes = {2048},
};
