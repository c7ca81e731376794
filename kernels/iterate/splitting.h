/* What the files of splittings share. */
#ifndef SPLITTING_H
#define SPLITTING_H

#include "kernels/common/diagonal_blocks.h"
#include "osla_splitting.h"

/* The entries of a sparse matrix, in columns of a state: own ones first, then ghosts. */
typedef struct split_entries {
  int64_t *first; /* [n + 1] */
  int32_t *column;
  double *value;
} split_entries;

/* By so many roundings elements on both sides of a block's diagonal may differ (Cholesky). */
enum { SYMMETRIC = 8 };

/* What differs between sparse rows and dense ones. */
typedef struct split_kind {
  /* s->residual := b - A x. */
  void (*residual)(const osla_splitting *s, const double *x);
  /* s->step := |A| |x|, without the square blocks of so many rows on the diagonal; 0: all of A. */
  void (*absolute)(const osla_splitting *s, int64_t block, const double *x);
  /* The square block of the own rows from .. from + m - 1, by columns, into zeros. */
  void (*copy_block)(const osla_splitting *s, int64_t from, int64_t m, double *to);
} split_kind;

struct osla_splitting {
  osla_transport *t;
  const split_kind *kind;
  const double *b;
  int64_t n, n_ghosts; /* rows of this rank; values of others */
  int64_t first_row;
  int row_terms;
  split_entries sparse;
  double *dense;   /* [n x (n + n_ghosts)] by columns, in the order of a state */
  double *inverse; /* [n] of the diagonal; NULL: */
  diagonal_blocks blocks;
  double *residual, *step; /* [n] */
  double *bound;           /* [3 n] for a bound with blocks; else NULL */
  int n_halos;
  osla_halo *halos;
  int32_t **sent;    /* [n_halos] own columns that the peer needs, in its order */
  int64_t *received; /* [n_halos] where the peer's begin among the ghosts */
  int32_t *memory;   /* of `sent` */
};

/* ---- splitting.c ---- */

/* A new one without rows. Fails on all ranks if `err`, what this rank says of the matrix, or its
 * options are bad. Collective. */
osla_err osli_splitting_open(osla_transport *t, osla_err err, const split_kind *kind,
                             osla_uplo uplo, const double *b, const osla_splitting_options *o,
                             osla_splitting **out);

/* Vectors, and the diagonal or its blocks, when the rows are there. Local. */
osla_err osli_splitting_factor_blocks(osla_splitting *s, const osla_splitting_options *o);

/* The own rows, and columns, of the block of row i; block 0: none. */
typedef struct split_range {
  int64_t from, to;
} split_range;
static inline split_range splitting_block_of(const osla_splitting *s, int64_t block, int64_t i)
{
  if (block == 0) return (split_range){0, 0};
  const int64_t from = i - i % block;
  return (split_range){from, s->n - from < block ? s->n : from + block};
}

/* ---- splitting_bound.c ---- */

/* What osla_fixed_point has for a bound. */
double osli_splitting_bound_sweep(void *arg, double *x, double *y);
double osli_splitting_distance(void *arg, const double *x, const double *y, const double *v);

/* ---- splitting_halos.c ---- */

/* Room for n halos with `values` columns in `sent`. Local. */
osla_err osli_splitting_make_halos(osla_splitting *s, int64_t n, int64_t values);

/* Halos of the ghosts: `ghost` [n_ghosts] global columns, ascending; `start` [size + 1] those of
 * the ranks. Collective. Errors, on all ranks together: MEM, MPI. */
osla_err osli_splitting_find_halos(osla_splitting *s, const int64_t *ghost, const int64_t *start);

#endif
