/* osla-bench syrk: the lower triangle of C := A A^H, A n x k, by osla_syrk, or osla_herk for
 * complex types. */
#include "config.h"

#include "bench/bench_product.h"

static osla_err run_osla(void *data)
{
  product_set *set = data;
  const osla_part a = osla_whole(set->a), c = osla_whole(set->c);
  return product_is_real(set->product)
           ? osla_syrk(OSLA_LOWER, OSLA_NOTRANS, 1, a, 0, c, &set->options)
           : osla_herk(OSLA_LOWER, OSLA_NOTRANS, 1, a, 0, c, &set->options);
}

static osla_err run_scalapack(void *data)
{
  product_set *set = data;
  return reference_scalapack_syrk(set->context, set->a, set->c);
}

static osla_err measure(product_data *d)
{
  bench_impl impls[BENCH_MAX_IMPLS];
  int n = 0;
  double order = (double)d->n, each = product_is_real(d) ? 1 : 4;
  /* inner size of a general product that takes as many operations as syrk */
  int64_t half = (d->k + 1) / 2;
  impls[n++] = (bench_impl){.name = "osla",
                            .prepare = product_fill_nan,
                            .run = run_osla,
                            .check = product_check,
                            .data = &d->osla};
  d->local = (reference_gemm){.job = d->job,
                              .transb = OSLA_CONJTRANS,
                              .m = osla_matrix_local_rows(d->osla.c),
                              .n = osla_matrix_local_cols(d->osla.c),
                              .k = half,
                              .work = 2 * each * order * order * (double)half};
  impls[n++] = reference_gemm_impl(&d->local);
  product_add_scalapack(d, run_scalapack, impls, &n);
  return product_run(d, "syrk", each * order * (order + 1) * (double)d->k, impls, n);
}

static osla_err run(bench_job *job, int64_t n)
{
  product_data d = {0};
  osla_err err = product_create(&d, job, n, true);
  if (err == OSLA_OK) err = measure(&d);
  product_destroy(&d);
  return err;
}

const bench_kernel bench_syrk = {
  .name = "syrk",
  .summary = "lower triangle of C := A A^H",
  .about =
    "\nTimes the lower triangle of C := A A^H, A N x K, in GF/s (N (N + 1) K operations, complex "
    "4\n"
    "times as many; osla_syrk, of complex types osla_herk), beside:\n"
    "  blas       the limit: the rate of one local product of private matrices on each rank, of\n"
    "             its elements of C with K / 2 (as many operations); no communication\n"
    "  scalapack  pdsyrk, pzherk and the like on the same process grid\n"
    "Residual: |C x - A (A^H x)| / (eps sqrt(K) |A (A^H x)|), x random, max norms.\n",
  .references = "blas" REFERENCE_SCALAPACK,
  .precisions = "sdcz",
  .product = true,
  .other_nb = true,
  .after = "Example: mpiexec -n 2 osla-bench syrk --n 2048 --k 512\n",
  .run = run,
  .sizes = {2048},
};
