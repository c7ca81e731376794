/* What lu, chol, potri, getri, solve and hpl share: matrices, the calls of ours and of ScaLAPACK,
 * the check of factors. See bench.h. */
#ifndef OSLA_BENCH_FACTOR_H
#define OSLA_BENCH_FACTOR_H

#include "bench/bench_reference.h"

/* What one implementation works on. */
typedef struct factor_set {
  struct factor_data *factor;
  osla_matrix *a;  /* factored in place */
  osla_matrix *x;  /* n x nrhs: right-hand sides, then solutions; NULL where nrhs = 0 */
  int64_t *pivots; /* osla_getrf's ipiv; NULL: none */
  int *ipiv;       /* ScaLAPACK's, which then hold; NULL: ours */
  bool own;        /* a and x go with this set, else they are those of `ours` */
  int64_t nb;      /* of the set's own matrices; 0: it has none */
  int context;     /* BLACS */
  int64_t info;    /* of the last factorisation; not 0: no use. Ranks may differ */
} factor_set;

/* LU or Cholesky: all calls are collective and get a set. */
typedef struct factor_kind {
  const char *name;
  int64_t part;                                            /* the operations are 2 n^3 over it */
  osla_err (*run)(void *set), (*run_scalapack)(void *set); /* factor a */
  osla_err (*solve)(void *set), (*solve_scalapack)(void *set); /* x := A^-1 x */
  /* P A = left (right), in the memory of a: the check multiplies with these. */
  bench_part left, right;
  osla_trans right_trans;
} factor_kind;

extern const factor_kind factor_lu, factor_chol;

typedef struct factor_data {
  bench_job *job;
  const factor_kind *kind;
  osla_pivoting pivoting; /* of LU */
  int64_t n, nrhs;
  osla_fill fill; /* of A: what needs pivots, or is safe without; or positive definite */
  factor_set ours, scalapack[BENCH_MAX_REF_NB];
  reference_names names;
  reference_gemm local;
} factor_data;

/* Fills in fill and ours; job to nrhs are the caller's. Collective. factor_destroy also follows a
 * failure. */
osla_err factor_create(factor_data *d);
void factor_destroy(factor_data *d);

/* A set's a := the matrix before its factorisation. Collective. */
osla_err factor_restore(void *set);

/* Block columns of right-hand sides: over all process columns. Local. */
int64_t factor_rhs_block(const factor_data *d);

/* The implementations: ours, blas (d->local, whose fields up to work the caller fills in), and
 * scalapack, of which set_up and tear_down get a factor_set. Returns their count. Local. */
int factor_impls(factor_data *d, const bench_impl *ours, const bench_impl *scalapack,
                 bench_impl *impls);
osla_err factor_setup_scalapack(void *set);
void factor_teardown_scalapack(void *set);

/* all[i] := the row, from 0, that row i was exchanged with in step i; the same on all ranks.
 * Collective. */
osla_err factor_pivots(const factor_set *set, int64_t *all);

/* Did the last factorisation leave factors? The same answer on all ranks. Collective. */
osla_err factor_usable(const factor_set *set, bool *usable);

/* 8/2 for complex and real types: operations of a multiplication and addition. */
double factor_each(const factor_data *d);

const char *factor_pivoting_name(osla_pivoting pivoting);

#endif
