/* osla-bench gemm: C := op(A) op(B). With --ablate also the variants of Table I in Krishnan, Lewis,
 * Vishnu, "Scaling Linear Algebra Kernels using Remote Memory Access". */
#include "config.h"

#include "bench/bench_product.h"

static osla_err run_osla(void *data)
{
  product_set *set = data;
  const bench_settings *s = set->product->job->settings;
  osla_gemm_ablate(&set->ablation);
  const osla_err err = osla_gemm(s->transa, s->transb, 1, osla_whole(set->a), osla_whole(set->b), 0,
                                 osla_whole(set->c), &set->options);
  osla_gemm_ablate(NULL);
  return err;
}

static osla_err run_scalapack(void *data)
{
  product_set *set = data;
  const bench_settings *s = set->product->job->settings;
  return reference_scalapack_gemm(set->context, s->transa, s->transb, set->a, set->b, set->c);
}

/* Variants of osla_gemm. First the default, the only variant in which the ranks of a node share
 * fetched blocks. Then the rows of Table I of the paper, in their order; the rows without zero copy
 * treat the ranks of a node like ranks of other nodes. The variant `alone` merges blocks along k,
 * as the default does. The last four are the rows without order in a milder form: each rank begins
 * with its own block of A, and not with the first one. */
static const gemm_variant variants[] = {
  {"osla", {0}},
  {"osla:none", {.unaware = true, .blocking = true, .unordered = true, .narrow = true}},
  {"osla:nonblocking", {.unaware = true, .unordered = true, .narrow = true}},
  {"osla:zero-copy", {.blocking = true, .unordered = true, .narrow = true}},
  {"osla:zero-copy+nonblocking", {.unordered = true, .narrow = true, .alone = true}},
  {"osla:zero-copy+nonblocking+order", {.narrow = true, .alone = true}},
  {"osla:alone", {.alone = true}},
  {"osla:unshifted+none", {.unaware = true, .blocking = true, .unshifted = true, .narrow = true}},
  {"osla:unshifted+nonblocking", {.unaware = true, .unshifted = true, .narrow = true}},
  {"osla:unshifted+zero-copy", {.blocking = true, .unshifted = true, .narrow = true}},
  {"osla:unshifted+zero-copy+nonblocking", {.unshifted = true, .narrow = true}},
};
enum { N_VARIANTS = sizeof variants / sizeof *variants };

static void add_osla(product_data *d, product_set *sets, int count, bench_impl *impls, int *n)
{
  for (int i = 0; i < count; i++) {
    sets[i] = d->osla;
    sets[i].ablation = variants[i].ablation;
    impls[(*n)++] = (bench_impl){.name = variants[i].name,
                                 .is_osla = true,
                                 .prepare = product_fill_nan,
                                 .run = run_osla,
                                 .check = product_check,
                                 .data = &sets[i]};
  }
}

static osla_err measure(product_data *d, int n_variants)
{
  const bench_settings *s = d->job->settings;
  product_set sets[N_VARIANTS];
  bench_impl impls[BENCH_MAX_IMPLS];
  int n = 0;
  double work = (product_is_real(d) ? 2 : 8) * (double)d->m * (double)d->n * (double)d->k;
  reference_ga ga = {.job = d->job,
                     .m = d->m,
                     .n = d->n,
                     .k = d->k,
                     .from_a = d->osla.a,
                     .from_b = d->osla.b,
                     .x = d->x,
                     .y = d->y,
                     .expected = d->expected};
  d->local = (reference_gemm){.job = d->job,
                              .transa = s->transa,
                              .transb = s->transb,
                              .m = osla_matrix_local_rows(d->osla.c),
                              .n = osla_matrix_local_cols(d->osla.c),
                              .k = d->k,
                              .work = work};
  add_osla(d, sets, n_variants, impls, &n);
  impls[n++] = reference_gemm_impl(&d->local);
  d->xt = d->local;
  if (bench_list_has(s->ref, "cublasxt")) {
    if (reference_cublasxt_is_offered())
      impls[n++] = reference_cublasxt_impl(&d->xt);
    else if (d->job->rank == 0)
      (void)printf("not offered: cublasxt needs the cuBLAS of --device=cuda\n");
  }
  product_add_scalapack(d, run_scalapack, impls, &n);
  impls[n++] = reference_ga_impl(&ga);
  return product_run(d, "gemm", work, impls, n);
}

static osla_err run(bench_job *job, int64_t n)
{
  product_data d = {0};
  int n_variants = job->settings->ablate ? N_VARIANTS : 1;
  osla_err err = product_create(&d, job, n, false);
  if (err == OSLA_OK)
    err = job->settings->plan ? gemm_print_plan(&d, variants, n_variants) : measure(&d, n_variants);
  product_destroy(&d);
  return err;
}

#ifdef HAVE_SCALAPACK
#define ABOUT_SCALAPACK "  scalapack  p?gemm on the same process grid\n"
#else
#define ABOUT_SCALAPACK ""
#endif
#ifdef HAVE_GA
#define ABOUT_GA "  ga         GA_?gemm of Global Arrays in its own distribution over all ranks\n"
#else
#define ABOUT_GA ""
#endif

const bench_kernel bench_gemm = {
  .name = "gemm",
  .summary = "C := op(A) op(B) by SRUMMA",
  .about =
    "\nTimes C := op(A) op(B), C M x N, in GF/s (2 M N K operations, complex 8), beside:\n"
    "  blas       the limit: each rank's share of C, with the same K, by one local product\n"
    "             of private matrices; no communication\n"
    "  cublasxt   with --device, on one rank: cuBLASXt on arrays in host memory\n" ABOUT_SCALAPACK
      ABOUT_GA "Residual: |C x - op(A) (op(B) x)| / (eps sqrt(K) |op(A) (op(B) x)|), x random, max "
    "norms.\n",
  .references = "blas" REFERENCE_SCALAPACK REFERENCE_GA,
  .default_references = "blas" REFERENCE_SCALAPACK,
  .device_references = "blas,cublasxt",
  .precisions = "sdcz",
  .product = true,
  .shapes = true,
  .other_nb = true,
  .modelled = true,
  .after = "Example: mpiexec -n 2 osla-bench gemm --n 1024,2048 --trans NT --ref blas\n",
  .run = run,
  .sizes = {2048},
};
