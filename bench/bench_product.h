/* Functions shared by the benchmarks gemm, syrk, symm and trmm: matrices, the check, ScaLAPACK's
 * matrices, the case. See bench.h. */
#ifndef OSLA_BENCH_PRODUCT_H
#define OSLA_BENCH_PRODUCT_H

#include "bench/bench_reference.h"
#include "osla_gemm.h"
#include "osla_gemm_ablation.h"

/* Matrices and options of one implementation. */
typedef struct product_set {
  struct product_data *product;
  osla_matrix *a,              /* first operand */
    *b,                        /* second operand; NULL in syrk */
    *c;                        /* result */
  bool own;                    /* true if create_set has created the matrices of this set */
  int64_t nb;                  /* block size of the matrices of ScaLAPACK */
  osla_gemm_options options;   /* options of osla_gemm and osla_syrk */
  osla_gemm_ablation ablation; /* switches that turn off optimisations of osla_gemm */
  int context;                 /* BLACS context */
} product_set;

typedef struct product_data {
  bench_job *job;
  bool syrk;       /* true if C is the lower triangle of A A^H; false if C := op(A) op(B) */
  int64_t m, n, k; /* dimensions: C is m x n, op(A) is m x k */
  char trans[3];
  /* Vectors of the check, whole on every rank: x has n elements, the others have m. One
   * allocation, which starts at x. */
  osla_complex *x, *y, *expected, *turned;
  product_set osla;
  product_set scalapack[BENCH_MAX_REF_NB];
  reference_names names;
  reference_gemm local, /* data of the reference blas */
    xt;                 /* data of the reference cublasxt */
} product_data;

/* Creates OSLA's matrices and the vectors of the check, for order n and the settings of the job.
 * The caller has set *d to zero. product_destroy must follow, also after an error. Collective. */
osla_err product_create(product_data *d, bench_job *job, int64_t n, bool syrk);
void product_destroy(product_data *d);

bool product_is_real(const product_data *d); /* True if the element type is real. */

/* Fills C with NaN. In syrk only the lower triangle gets NaN, and the upper triangle gets zeros. */
osla_err product_fill_nan(void *set);

/* *residual := |C x - op(A) (op(B) x)| / (eps sqrt(K) |op(A) (op(B) x)|). */
osla_err product_check(void *set, double *residual);

/* Appends the implementation "scalapack", whose timed call is `run`. */
void product_add_scalapack(product_data *d, osla_err (*run)(void *set), bench_impl *impls, int *n);

/* Runs the case with the implementations `impls`. work: number of floating-point operations of a
 * run. Collective. */
osla_err product_run(product_data *d, const char *kernel, double work, const bench_impl *impls,
                     int n_impls);

/* A variant of osla_gemm: a name and a set of options. gemm_print_plan prints, for each variant,
 * what each rank would do. Collective. */
typedef struct gemm_variant {
  const char *name;
  osla_gemm_ablation ablation;
} gemm_variant;
osla_err gemm_print_plan(product_data *d, const gemm_variant *variants, int n_variants);

#endif
