/* What gemm, syrk, symm, trmm share: their matrices, the check, ScaLAPACK's sets, the case. See
 * bench.h. */
#ifndef OSLA_BENCH_PRODUCT_H
#define OSLA_BENCH_PRODUCT_H

#include "bench/bench_reference.h"
#include "osla_gemm.h"

/* What one implementation works on. */
typedef struct product_set {
  struct product_data *product;
  osla_matrix *a, *b, *c;    /* b: NULL in syrk */
  bool own;                  /* the matrices go with this set, else they are those of `ours` */
  int64_t nb;                /* of the set's own matrices */
  osla_gemm_options options; /* ours */
  int context;               /* BLACS */
} product_set;

typedef struct product_data {
  bench_job *job;
  bool syrk;       /* C := A A^H, lower triangle; else C := op(A) op(B) */
  int64_t m, n, k; /* C is m x n; op(A) is m x k */
  char trans[3];
  osla_complex *x, *y, *expected, *turned; /* [n], then [m]: whole on every rank; allocated at x */
  product_set ours;
  product_set scalapack[BENCH_MAX_REF_NB];
  reference_names names;
  reference_gemm local;
} product_data;

/* Makes our matrices and the vectors of the check, for order n and the settings of the job; `d` is
 * zero before. product_destroy is due also after a failure. Collective. */
osla_err product_create(product_data *d, bench_job *job, int64_t n, bool syrk);
void product_destroy(product_data *d);

bool product_is_real(const product_data *d); /* its type */

/* C := NaN where it is due; zero in the other triangle of syrk. */
osla_err product_spoil(void *set);

/* |C x - op(A) (op(B) x)| / (eps sqrt(K) |op(A) (op(B) x)|). */
osla_err product_check(void *set, double *residual);

/* Appends ScaLAPACK, whose timed call is `run`. */
void product_add_scalapack(product_data *d, osla_err (*run)(void *set), bench_impl *impls, int *n);

/* Runs the case of these implementations. `work`: floating-point operations. Collective. */
osla_err product_run(product_data *d, const char *kernel, double work, const bench_impl *impls,
                     int n_impls);

/* gemm --plan: what each rank would do, by the variants of ours. Collective. */
typedef struct gemm_variant {
  const char *name;
  osla_gemm_options options;
} gemm_variant;
osla_err gemm_print_plan(product_data *d, const gemm_variant *variants, int n_variants);

#endif
