/* osla-bench potri: the inverse of a positive definite matrix from its factor, which is there. Ours
 * and ScaLAPACK's get the same factor, that of osla. The check multiplies: A (X v) against v, v
 * random. Source: as bench_lu_chol.c. */
#include "config.h"

#include "bench_factor.h"
#include "osla_inverse.h"

#include <math.h>
#include <stdlib.h>

typedef struct potri_data {
  factor_data f;                  /* first: sets point to it */
  osla_matrix *original, *factor; /* A, both triangles; L in its lower one */
  osla_complex *v, *y, *z;        /* [n] of the check, whole on every rank; one allocation at v */
  double norm;                    /* |A| */
} potri_data;

static osla_err potri_create(potri_data *d)
{
  factor_data *f = &d->f;
  const bench_settings *s = f->job->settings;
  void *vectors;
  OSLA_CALL(factor_create(f));
  OSLA_CALL(osla_matrix_create(f->job->grid, s->dtype, f->n, f->n, s->nb, s->nb, &d->original));
  OSLA_CALL(osla_matrix_create(f->job->grid, s->dtype, f->n, f->n, s->nb, s->nb, &d->factor));
  OSLA_CALL(bench_alloc(f->job, 3 * (uint64_t)f->n * sizeof *d->v, &vectors));
  d->v = vectors;
  d->y = d->v + f->n;
  d->z = d->y + f->n;
  bench_fill_vector(s->dtype, d->v, f->n, 3);
  OSLA_CALL(factor_restore(&f->ours));
  OSLA_CALL(osla_matrix_copy(f->ours.a, d->original));
  OSLA_CALL(osla_matrix_norm(d->original, OSLA_NORM_INF, &d->norm));
  OSLA_CALL(f->kind->run(&f->ours));
  return osla_matrix_copy(f->ours.a, d->factor);
}

static void potri_destroy(potri_data *d)
{
  factor_destroy(&d->f);
  osla_matrix_destroy(&d->original);
  osla_matrix_destroy(&d->factor);
  free(d->v);
}

static osla_err prepare(void *data)
{
  factor_set *set = data;
  return osla_matrix_copy(((potri_data *)set->factor)->factor, set->a);
}

static osla_err run_osla(void *data)
{
  factor_set *set = data;
  const bench_settings *s = set->factor->job->settings;
  osla_chol_options options = {.look_ahead = s->look_ahead, .forward = s->forward};
  return osla_potri(OSLA_LOWER, set->a, &options, &set->info);
}

static osla_err run_scalapack(void *data)
{
  factor_set *set = data;
  return reference_scalapack_potri(set->context, set->a, &set->info);
}

static osla_err check(void *data, double *residual)
{
  factor_set *set = data;
  potri_data *d = (potri_data *)set->factor;
  int64_t n = d->f.n;
  bool usable;
  *residual = NAN;
  OSLA_CALL(factor_usable(set, &usable));
  if (!usable) return OSLA_OK;
  /* X of its lower triangle: the triangle, and what is below the diagonal once more. */
  OSLA_CALL(bench_apply(BENCH_LOWER, OSLA_NOTRANS, set->a, d->v, d->y));
  OSLA_CALL(bench_apply(BENCH_UNIT_LOWER, OSLA_CONJTRANS, set->a, d->v, d->z));
  for (int64_t i = 0; i < n; i++)
    d->y[i] += d->z[i] - d->v[i];
  OSLA_CALL(bench_apply(BENCH_WHOLE, OSLA_NOTRANS, d->original, d->y, d->z));
  double scale = (d->norm * bench_max(d->y, n) + bench_max(d->v, n)) * (double)n *
                 bench_eps(osla_matrix_dtype(set->a));
  *residual = bench_max_difference(d->z, d->v, n) / scale;
  return OSLA_OK;
}

static osla_err measure(potri_data *d)
{
  factor_data *f = &d->f;
  const bench_settings *s = f->job->settings;
  const char precision[2] = {osla_dtype_letter(s->dtype), '\0'};
  const bench_impl ours = {.prepare = prepare, .run = run_osla, .check = check};
  const bench_impl scalapack = {.setup = factor_setup_scalapack,
                                .prepare = prepare,
                                .run = run_scalapack,
                                .check = check,
                                .teardown = factor_teardown_scalapack};
  bench_impl impls[BENCH_MAX_IMPLS];
  double square = factor_each(f) * (double)f->n * (double)f->n;
  int64_t k = f->n / 3 > 0 ? f->n / 3 : 1; /* about as many operations */
  f->local = (reference_gemm){.job = f->job,
                              .m = osla_matrix_local_rows(f->ours.a),
                              .n = osla_matrix_local_cols(f->ours.a),
                              .k = k,
                              .work = square * (double)k};
  bench_case c = {.kernel = "potri",
                  .precision = precision,
                  .n = f->n,
                  .nb = s->nb,
                  .look_ahead = true,
                  .impls = impls,
                  .n_impls = factor_impls(f, &ours, &scalapack, impls),
                  .work = square * (double)f->n / 3,
                  .unit = BENCH_GFLOPS,
                  .operations = 1};
  return bench_run_case(f->job, &c);
}

static osla_err run(bench_job *job, int64_t n)
{
  potri_data d = {.f = {.job = job, .kind = &factor_chol, .n = n}};
  osla_err err = potri_create(&d);
  if (err == OSLA_OK) err = measure(&d);
  potri_destroy(&d);
  return err;
}

const bench_kernel bench_potri = {
  .name = "potri",
  .summary = "inverse of a positive definite matrix from its factor",
  .about =
    "\nTimes the lower triangle of A^-1 from L, A = L L^H, which is there, in GF/s (2/3 N^3\n"
    "operations, complex 8/3), beside:\n"
    "  blas       the limit: the rate of a local product of private matrices on each rank,\n"
    "             of as many operations; no communication\n"
    "  scalapack  pdpotri and the like with the same factor on the same process grid\n"
    "Residual: |A (X v) - v| / ((|A| |X v| + |v|) N eps), v random, max norms.\n",
  .references = "blas" REFERENCE_SCALAPACK,
  .after = "Example: mpiexec -n 2 osla-bench potri --n 4096 --nb 128\n",
  .precisions = "sdcz",
  .other_nb = true,
  .most_look_ahead = 2,
  .run = run,
  .sizes = {2048},
};
