/* Private state of splittings, shared by their files. */
#ifndef SPLITTING_H
#define SPLITTING_H

#include "kernels/common/diagonal_blocks.h"
#include "osla_splitting.h"

/* Entries of a sparse matrix by rows. Column indices are indices in a state, which holds the values
 * of the own rows first, then the ghosts. */
typedef struct split_entries {
  int64_t *first; /* [n + 1] index of the first entry of each row */
  int32_t *column;
  double *value;
} split_entries;

/* With Cholesky: number of rounding errors by which two symmetric elements of a block may
 * differ. */
enum { SYMMETRIC = 8 };

/* Operations that splittings of sparse and dense matrices implement differently. */
typedef struct split_kind {
  /* Sets s->residual to b - A x. */
  void (*residual)(const osla_splitting *s, const double *x);
  /* Computes s->step := |A'| |x|, where A' is A without its diagonal blocks of `block` rows, or A
   * itself if block = 0. */
  void (*absolute)(const osla_splitting *s, int64_t block, const double *x);
  /* Copies the diagonal block of own rows from .. from + m - 1 to `to`, column-major. The memory
   * must be zero before. */
  void (*copy_block)(const osla_splitting *s, int64_t from, int64_t m, double *to);
} split_kind;

struct osla_splitting {
  osla_transport *t;
  const split_kind *kind;
  const double *b;
  int64_t n;        /* number of this rank's rows */
  int64_t n_ghosts; /* number of values of other ranks that this rank's rows need */
  int64_t first_row;
  int row_terms;
  split_entries sparse;
  /* [n x (n + n_ghosts)] dense matrix, column-major; the columns are in the order of a state: own,
   * then ghosts */
  double *dense;
  double *inverse; /* [n] inverse of the diagonal; NULL: the diagonal blocks are used */
  diagonal_blocks blocks;
  double *residual; /* [n] work vector for residuals */
  double *step;     /* [n] work vector for steps */
  double *bound;    /* [3 n] work vectors for a bound with diagonal blocks; otherwise NULL */
  int n_halos;
  osla_halo *halos;
  /* [n_halos] indices of the own rows whose values the peer of each halo needs, in the order of the
   * message */
  int32_t **sent;
  /* [n_halos] index, among the ghosts, of the first value from the peer of each halo */
  int64_t *received;
  int32_t *memory; /* memory of all index lists in `sent` */
};

/* ---- splitting.c ---- */

/* Creates a splitting without rows. `err` is the error of the matrix check on this rank. Fails on
 * all ranks if `err` or the options of any rank are bad. Collective. */
osla_err osli_splitting_open(osla_transport *t, osla_err err, const split_kind *kind,
                             osla_uplo uplo, const double *b, const osla_splitting_options *o,
                             osla_splitting **out);

/* Called after the rows were stored: allocates work vectors, and inverts the diagonal or factors
 * its blocks. Local. */
osla_err osli_splitting_factor_blocks(osla_splitting *s, const osla_splitting_options *o);

/* Range of own rows in the diagonal block of row i; empty if the block size is 0. */
typedef struct split_range {
  int64_t from, to;
} split_range;
static inline split_range splitting_block_of(const osla_splitting *s, int64_t block, int64_t i)
{
  if (block == 0) return (split_range){0, 0};
  const int64_t from = i - i % block;
  return (split_range){from, s->n - from < block ? s->n : from + block};
}

/* ---- splitting_halos.c ---- */

/* Allocates n halos, and memory for `values` indices in `sent`. Local. */
osla_err osli_splitting_make_halos(osla_splitting *s, int64_t n, int64_t values);

/* Sets up the halos by which ghosts are exchanged. ghost [n_ghosts] contains global columns in
 * ascending order, and start [size + 1] the first column of each rank. Collective. Errors, on all
 * ranks together: MEM, MPI. */
osla_err osli_splitting_find_halos(osla_splitting *s, const int64_t *ghost, const int64_t *start);

#endif
