/* Functions shared by the benchmarks lu, chol, potri, getri, solve and hpl: matrices, the calls of
 * OSLA and of ScaLAPACK, pivots. See bench.h. */
#ifndef OSLA_BENCH_FACTOR_H
#define OSLA_BENCH_FACTOR_H

#include "bench/bench_reference.h"

/* Matrices and pivots of one implementation. */
typedef struct factor_set {
  struct factor_data *factor;
  osla_matrix *a;  /* matrix, factored in place */
  osla_matrix *x;  /* n x nrhs: right-hand sides, then solutions; NULL if nrhs = 0 */
  int64_t *pivots; /* ipiv of osla_getrf; NULL if there are no pivots */
  int *ipiv;       /* pivots as ScaLAPACK's IPIV; NULL if `pivots` holds the interchanges */
  bool own;        /* true if create_set has created a and x for this set */
  int64_t nb;      /* block size of the matrices of ScaLAPACK */
  int context;     /* BLACS context */
  /* info of the last factorisation; there are factors only if it is 0. Ranks may differ. */
  int64_t info;
} factor_set;

/* LU or Cholesky. All functions are collective and get a factor_set. */
typedef struct factor_kind {
  const char *name;
  /* Divisor in the operation count of the factorisation, 2 n^3 / part. */
  int64_t part;
  /* functions that factor the matrix a of the set */
  osla_err (*run)(void *set), (*run_scalapack)(void *set);
  /* x := A^-1 x with the factors in a */
  osla_err (*solve)(void *set), (*solve_scalapack)(void *set);
  /* Parts of the factored matrix, whose product is P A = left * right. The check multiplies with
   * both parts. */
  bench_part left, right;
  osla_trans right_trans;
} factor_kind;

extern const factor_kind factor_lu, factor_chol;

typedef struct factor_data {
  bench_job *job;
  const factor_kind *kind;
  osla_pivoting pivoting; /* how OSLA pivots in LU */
  int64_t n, nrhs;
  /* Contents of A: uniform where LU pivots, diagonally dominant where it does not, positive
   * definite for Cholesky. */
  osla_fill fill;
  factor_set osla, triangle, lapack, scalapack[BENCH_MAX_REF_NB];
  /* copy of the unfactored matrix on the device, made by the first factor_restore; later calls copy
   * it, because filling a matrix on a device is slow; NULL if matrices are in host memory */
  osla_matrix *original;
  osla_matrix *full; /* full matrix into which factor_full copies a triangular one, or NULL */
  reference_names names;
  reference_gemm local;
} factor_data;

/* Creates OSLA's matrices and sets the members `fill` and `osla`; the caller has set the members
 * from `job` to `nrhs`. factor_destroy must follow, also after an error. Collective. */
osla_err factor_create(factor_data *d);
void factor_destroy(factor_data *d);

/* Fills the matrix of a set with the values that it has before the factorisation. Collective. */
osla_err factor_restore(void *set);

/* Sets *full to the matrix of a set if it is a full matrix, otherwise to a full copy of the
 * triangular matrix. The next call overwrites the copy, and factor_destroy frees it. Collective. */
osla_err factor_full(const factor_set *set, osla_matrix **full);

/* Number of columns in a block of right-hand sides, chosen so that the blocks spread over all
 * process columns. Local. */
int64_t factor_rhs_block(const factor_data *d);

/* Fills in the implementations and returns their number. Local.
 *
 * The first implementation is OSLA. "triangle" is OSLA on a triangular matrix, into which its
 * set-up copies OSLA's full matrix; it exists for Cholesky in host memory. The implementation
 * "blas" is the limit of local computation, and exists if the caller has set the members of
 * d->local up to `work`. "lapack" is one call of the device's LAPACK on the whole matrix, and
 * exists if there is a single rank with a device. ScaLAPACK has an implementation for each block
 * size, whose functions setup and teardown get a factor_set as argument. */
int factor_impls(factor_data *d, const bench_impl *osla, const bench_impl *scalapack,
                 bench_impl *impls);
osla_err factor_setup_scalapack(void *set);
void factor_teardown_scalapack(void *set);

/* all[i] := row that row i was exchanged with in step i, counted from 0. All ranks get the array.
 * Collective. */
osla_err factor_pivots(const factor_set *set, int64_t *all);

/* *usable := true if the last factorisation succeeded on all ranks. Collective. */
osla_err factor_usable(const factor_set *set, bool *usable);

/* Number of real operations in a multiplication and an addition: 2 for real types, 8 for complex
 * ones. */
double factor_each(const factor_data *d);

const char *factor_pivoting_name(osla_pivoting pivoting);

#endif
