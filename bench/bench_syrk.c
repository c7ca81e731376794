/* Lower triangle of C := A A^T, A N x K. */
#include "config.h"

#include "bench_product.h"

static osla_err run_osla(void *data)
{
  product_set *set = data;
  return osla_syrk(OSLA_LOWER, OSLA_NOTRANS, 1, osla_whole(set->a), 0, osla_whole(set->c),
                   &set->options);
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
  double order = (double)d->n;
  int64_t half = (d->k + 1) / 2; /* all of C with half of k: as many operations */
  impls[n++] = (bench_impl){.name = "osla",
                            .prepare = product_spoil,
                            .run = run_osla,
                            .check = product_check,
                            .data = &d->ours};
  d->local = (reference_gemm){.job = d->job,
                              .transb = OSLA_TRANS,
                              .m = osla_matrix_local_rows(d->ours.c),
                              .n = osla_matrix_local_cols(d->ours.c),
                              .k = half,
                              .work = 2 * order * order * (double)half};
  impls[n++] = reference_gemm_impl(&d->local);
  product_add_scalapack(d, run_scalapack, impls, &n);
  return product_run(d, "syrk", order * (order + 1) * (double)d->k, impls, n);
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
  .summary = "lower triangle of C := A A^T",
  .about =
    "\nTimes the lower triangle of C := A A^T, A N x K, in GF/s (N (N + 1) K operations), beside:\n"
    "  blas       the limit: the rate of one local product of private matrices on each rank, of\n"
    "             its places of C with K / 2 (as many operations); no communication\n"
    "  scalapack  pdsyrk (pssyrk) on the same memory and the same process grid\n"
    "Residual: |C x - A (A^T x)| / (eps sqrt(K) |A (A^T x)|), x random, max norms.\n",
  .references = "blas" REFERENCE_SCALAPACK,
  .product = true,
  .other_nb = true,
  .after = "Example: mpiexec -n 2 osla-bench syrk --n 2048 --k 512\n",
  .run = run,
  .sizes = {2048},
};
