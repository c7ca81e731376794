/* Private state of splittings, shared by their files. */
#ifndef SPLITTING_H
#define SPLITTING_H

#include "kernels/common/diagonal_blocks.h"
#include "kernels/iterate/group.h"
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

/* The group to which this rank belongs. The rows of its ranks form one diagonal block. */
typedef struct split_group {
  osla_sweep_group sweeps; /* those of its ranks that own rows, and their halos */
  int first, end;          /* the group has the ranks first .. end - 1 of the transport */
  int64_t rows;            /* number of rows of the group */
  /* indices, in a state, of the ghosts that ranks of the group own: from .. to - 1 */
  int64_t from, to;
} split_group;

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
  struct split_inner *inner; /* CG or sparse Cholesky; NULL: `blocks` or `inverse` is used */
  split_group *group;        /* group of this rank; NULL: a block belongs to one rank */
  double *residual;          /* [n] work vector for residuals */
  double *step;              /* [n] work vector for steps */
  double *bound; /* [3 n] work vectors for a bound with diagonal blocks; otherwise NULL */
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
 * its blocks. ghost: as for osli_splitting_find_halos, if the matrix is sparse. Local. */
osla_err osli_splitting_factor_blocks(osla_splitting *s, const osla_splitting_options *o,
                                      const int64_t *ghost);

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

/* ---- splitting_group.c ---- */

/* Creates s->group, of `options.group` ranks, if that is greater than 1. The rows must already be
 * stored in s->sparse. ghost and start: as for osli_splitting_find_halos. Local. Errors: MEM. */
osla_err osli_splitting_group_create(osla_splitting *s, int64_t ranks, const int64_t *ghost,
                                     const int64_t *start);
/* Frees s->group, and sets it to NULL. Local. */
void osli_splitting_group_free(osla_splitting *s);

/* Returns whether index j of a state belongs to the diagonal block of this rank or its group. */
static inline bool splitting_is_in_block(const osla_splitting *s, int64_t j)
{
  return j < s->n || (s->group && j >= s->group->from && j < s->group->to);
}

/* ---- splitting_inner.c ---- */

/* Creates s->inner for CG or sparse Cholesky. The rows of A must already be stored in s->sparse.
 * Checks the block, but not whether that of a group is symmetric. ghost: as for
 * osli_splitting_find_halos. Local. */
osla_err osli_splitting_inner_create(osla_splitting *s, const osla_splitting_options *o,
                                     const int64_t *ghost);
/* Checks that the block of each group is symmetric. ghost: as for osli_splitting_find_halos, which
 * must have been called. Collective. Errors, on all ranks together: ARG, MEM, MPI. */
osla_err osli_splitting_inner_check(osla_splitting *s, const int64_t *ghost);
/* Computes z := B^-1 right, exactly or approximately. B is the diagonal block of A with all rows
 * of this rank, or of its group; the vectors have s->n elements. Local, or, with a group, called by
 * all its ranks together. */
void osli_splitting_inner_solve(const osla_splitting *s, const double *right, double *z);
/* Returns the work of the inner solver: CG iterations since the splitting was created, and
 * osli_cholmod_block_bytes of the sparse Cholesky factor. Both are 0 without such a solver.
 * Local. */
void osli_splitting_inner_work(const osla_splitting *s, int64_t *iterations, double *bytes);
/* Frees s->inner, and sets it to NULL. Local. */
void osli_splitting_inner_free(osla_splitting *s);

/* ---- splitting_halos.c ---- */

/* Allocates n halos, and memory for `values` indices in `sent`. Local. */
osla_err osli_splitting_make_halos(osla_splitting *s, int64_t n, int64_t values);

/* Sets up the halos by which ghosts are exchanged. ghost [n_ghosts] contains global columns in
 * ascending order, and start [size + 1] the first column of each rank. Halos with ranks of the
 * group are the last ones. Collective. Errors, on all
 * ranks together: MEM, MPI. */
osla_err osli_splitting_find_halos(osla_splitting *s, const int64_t *ghost, const int64_t *start);

/* Adds the ghosts of a vector that is laid out as a state to the elements of their owners. The
 * halos must exist. Collective. Errors, on all ranks together: MEM, MPI. */
osla_err osli_splitting_add_ghosts(osla_splitting *s, double *x);

#endif
