/* osla-bench symm, osla-bench trmm: products with a matrix whose lower triangle is used. symm
 * computes C := A B. trmm works in place on C, which holds a copy of B. bench_product.c has the
 * check. */
#include "config.h"

#include "bench/bench_product.h"
#include "osla_products.h"

#include <stdlib.h>

/* d->expected := A (B x), where the lower triangle of A is stored. A is symmetric if `symmetric`,
 * else lower triangular. */
static osla_err expected_create(product_data *d, bool symmetric)
{
  osla_complex *bx = d->turned; /* holds the product B x; all matrices have order n */
  OSLA_CALL(bench_apply(BENCH_WHOLE, OSLA_NOTRANS, d->osla.b, d->x, bx));
  return symmetric ? bench_apply_symmetric(OSLA_TRANS, d->osla.a, bx, d->expected, d->y)
                   : bench_apply(BENCH_LOWER, OSLA_NOTRANS, d->osla.a, bx, d->expected);
}

static osla_err run_symm(void *data)
{
  product_set *set = data;
  return osla_symm(OSLA_LEFT, OSLA_LOWER, 1, osla_whole(set->a), osla_whole(set->b), 0,
                   osla_whole(set->c), NULL);
}

static osla_err run_trmm(void *data)
{
  product_set *set = data;
  return osla_trmm(OSLA_LEFT, OSLA_LOWER, OSLA_NOTRANS, OSLA_NONUNIT, 1, osla_whole(set->a),
                   osla_whole(set->c), NULL);
}

static osla_err run_scalapack_symm(void *data)
{
  product_set *set = data;
  return reference_scalapack_symm(set->context, set->a, set->b, set->c);
}

static osla_err run_scalapack_trmm(void *data)
{
  product_set *set = data;
  return reference_scalapack_trmm(set->context, set->a, set->c);
}

static osla_err copy_b_to_c(void *data)
{
  product_set *set = data;
  return osla_matrix_copy(set->b, set->c);
}

static osla_err measure(product_data *d, bool symmetric)
{
  bench_impl impls[BENCH_MAX_IMPLS];
  const double n = (double)d->n, each = product_is_real(d) ? 1 : 4;
  int count = 0;
  /* inner size of a general product that takes as many operations as the kernel */
  const int64_t k = symmetric ? d->n : (d->n + 1) / 2;
  impls[count++] = (bench_impl){.name = "osla",
                                .prepare = symmetric ? product_fill_nan : copy_b_to_c,
                                .run = symmetric ? run_symm : run_trmm,
                                .check = product_check,
                                .data = &d->osla};
  d->local = (reference_gemm){.job = d->job,
                              .m = osla_matrix_local_rows(d->osla.c),
                              .n = osla_matrix_local_cols(d->osla.c),
                              .k = k,
                              .work = 2 * each * n * n * (double)k};
  impls[count++] = reference_gemm_impl(&d->local);
  const int first = count;
  product_add_scalapack(d, symmetric ? run_scalapack_symm : run_scalapack_trmm, impls, &count);
  for (int i = first; i < count && !symmetric; i++)
    impls[i].prepare = copy_b_to_c;
  return product_run(d, symmetric ? "symm" : "trmm", each * n * n * n * (symmetric ? 2 : 1), impls,
                     count);
}

static osla_err run(bench_job *job, int64_t n, bool symmetric)
{
  product_data d = {0};
  osla_err err = product_create(&d, job, n, false);
  if (err == OSLA_OK) err = expected_create(&d, symmetric);
  if (err == OSLA_OK) err = measure(&d, symmetric);
  product_destroy(&d);
  return err;
}

static osla_err run_symm_case(bench_job *job, int64_t n)
{
  return run(job, n, true);
}

static osla_err run_trmm_case(bench_job *job, int64_t n)
{
  return run(job, n, false);
}

const bench_kernel bench_symm = {
  .name = "symm",
  .summary = "C := A B, A symmetric by its lower triangle",
  .about =
    "\nTimes C := A B, all N x N, A symmetric by its lower triangle, in GF/s (2 N^3 operations,\n"
    "complex 8), beside:\n"
    "  blas       the limit: each rank's share of C by one local product of private matrices\n"
    "  scalapack  pdsymm and the like on the same process grid\n"
    "Residual: |C x - A (B x)| / (eps sqrt(N) |A (B x)|), x random, max norms.\n",
  .references = "blas" REFERENCE_SCALAPACK,
  .precisions = "sdcz",
  .other_nb = true,
  .after = "Example: mpiexec -n 2 osla-bench symm --n 2048\n",
  .run = run_symm_case,
  .sizes = {2048},
};

const bench_kernel bench_trmm = {
  .name = "trmm",
  .summary = "B := A B, A lower triangular, in place",
  .about =
    "\nTimes B := A B, N x N, A lower triangular, in place, in GF/s (N^3 operations, complex 4),\n"
    "beside:\n"
    "  blas       the limit: the rate of a local product of private matrices on each rank, of\n"
    "             as many operations; no communication\n"
    "  scalapack  pdtrmm and the like on the same process grid\n"
    "Residual: as of symm.\n",
  .references = "blas" REFERENCE_SCALAPACK,
  .precisions = "sdcz",
  .other_nb = true,
  .after = "Example: mpiexec -n 2 osla-bench trmm --n 2048\n",
  .run = run_trmm_case,
  .sizes = {2048},
};
