/* Private state of splittings, shared by their files. */
#ifndef SPLITTING_H
#define SPLITTING_H

#include "kernels/common/diagonal_blocks.h"
#include "osla_splitting.h"

/* Entries of a sparse matrix by rows; column indices are those of a state: own rows first, then
 * ghosts. */
typedef struct split_entries {
  int64_t *first; /* [n + 1] first entry of each row */
  int32_t *column;
  double *value;
} split_entries;

/* Symmetric elements of a block may differ by this number of rounding errors (Cholesky). */
enum { SYMMETRIC = 8 };

/* Operations that differ between sparse and dense rows. */
typedef struct split_kind {
  /* Computes s->residual := b - A x. */
  void (*residual)(const osla_splitting *s, const double *x);
  /* Computes s->step := |A| |x| without the diagonal blocks of `block` rows; block = 0: all of
   * A. */
  void (*absolute)(const osla_splitting *s, int64_t block, const double *x);
  /* Copies the diagonal block of own rows from .. from + m - 1 to zeroed, column-major memory. */
  void (*copy_block)(const osla_splitting *s, int64_t from, int64_t m, double *to);
} split_kind;

struct osla_splitting {
  osla_transport *t;
  const split_kind *kind;
  const double *b;
  int64_t n, n_ghosts; /* rows of this rank; values of other ranks that they need */
  int64_t first_row;
  int row_terms;
  split_entries sparse;
  double *dense;   /* [n x (n + n_ghosts)] column-major; columns in the order of a state */
  double *inverse; /* [n] inverse of the diagonal; NULL: blocks are used */
  diagonal_blocks blocks;
  double *residual, *step; /* [n] work vectors */
  double *bound;           /* [3 n] work vectors for a bound with blocks; else NULL */
  int n_halos;
  osla_halo *halos;
  int32_t **sent;    /* [n_halos] own rows whose values the peer needs, in the order of the
                      * message */
  int64_t *received; /* [n_halos] index of the peer's first value among the ghosts */
  int32_t *memory;   /* memory of all lists in `sent` */
};

/* ---- splitting.c ---- */

/* Creates a splitting without rows. Fails on all ranks if `err`, the check of the matrix on this
 * rank, or the options are bad on any rank. Collective. */
osla_err osli_splitting_open(osla_transport *t, osla_err err, const split_kind *kind,
                             osla_uplo uplo, const double *b, const osla_splitting_options *o,
                             osla_splitting **out);

/* Allocates work vectors, and inverts the diagonal or factors its blocks, after the rows were set.
 * Local. */
osla_err osli_splitting_factor_blocks(osla_splitting *s, const osla_splitting_options *o);

/* Range of own rows that form the block of row i; empty for block 0. */
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

/* bound_sweep and distance of osla_fixed_point. */
double osli_splitting_bound_sweep(void *arg, double *x, double *y);
double osli_splitting_distance(void *arg, const double *x, const double *y, const double *v);

/* ---- splitting_halos.c ---- */

/* Allocates n halos with `values` indices in `sent`. Local. */
osla_err osli_splitting_make_halos(osla_splitting *s, int64_t n, int64_t values);

/* Finds the halos of the ghosts. ghost: [n_ghosts] global columns, ascending; start: [size + 1]
 * first column of each rank. Collective. Errors, on all ranks together: MEM, MPI. */
osla_err osli_splitting_find_halos(osla_splitting *s, const int64_t *ghost, const int64_t *start);

#endif
