/* Inner solvers of a multisplitting with one block per rank or group of ranks: CG, or sparse
 * Cholesky. The block B consists of the entries of A in the rows and columns of this rank, or of
 * its group. CG reads the entries of B from the stored rows of A, without a copy, and solves
 * B z = r to a relative tolerance, from z = 0. Sparse Cholesky factors the block of a rank once.
 *
 * CG of a group: each rank holds the rows of B, and the elements of the vectors, that belong to its
 * rows of A. The vector of the search direction is laid out as a state of the iteration. Before
 * each product the ranks exchange those of its ghosts that ranks of the group own; the other ghosts
 * stay 0. All ranks of the group make the same steps, because they decide by sums that are bitwise
 * equal. A step sends the messages of two sums over the group and of one exchange of ghosts.
 *
 * Source: Frommer and Szyld, On asynchronous iterations, J. Comput. Appl. Math. 123, 2000,
 * section 4.2 (two-stage multisplittings: the blocks are solved approximately). */
#include "kernels/iterate/splitting.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/iterate/cholmod_block.h"
#include "osla_krylov.h"
#include "osla_random.h"
#include "src/blas/work.h"

struct split_inner {
  double tolerance;
  int64_t iterations;                     /* number of CG iterations of all solves */
  cholmod_block *factor;                  /* sparse Cholesky factor of the block; NULL: CG solves */
  double *residual, *direction, *product; /* [vector_length] work vectors of CG */
};

/* Returns the number of elements that this rank stores of a vector of the block: those of its own
 * rows and, if the block belongs to a group, one for each ghost value of a state. */
static int64_t vector_length(const osla_splitting *s)
{
  return s->group ? s->n + s->n_ghosts : s->n;
}

/* Computes y := B x, or y := B^T x if `transposed`, from the rows of B that this rank owns. If the
 * block belongs to a group, the ghosts of x must have the values of the ranks that own them. After
 * y := B x the ghosts of y are 0. After y := B^T x they are contributions of this rank to elements
 * of y that other ranks own. */
static void multiply_block(const osla_splitting *s, bool transposed, const double *x, double *y)
{
  const split_entries *r = &s->sparse;
  for (int64_t i = 0; i < vector_length(s); i++)
    y[i] = 0.0;
  for (int64_t i = 0; i < s->n; i++)
    for (int64_t e = r->first[i]; e < r->first[i + 1]; e++) {
      const int32_t j = r->column[e];
      if (!splitting_is_in_block(s, j)) continue;
      if (transposed)
        y[j] += r->value[e] * x[i];
      else
        y[i] += r->value[e] * x[j];
    }
}

/* Bytes that CG moves in memory (work_charge_memory). At the start, z, r and p are written, the
 * right-hand side is read, and r is read for a sum. An iteration reads the entries, 12 bytes each,
 * `first` and p for the product q, which is set to 0 and then changed; reads p and q for a sum;
 * reads p and q and changes z and r; reads r for a sum; and reads r and changes p. */
static double bytes_of_start(const osla_splitting *s)
{
  return 64.0 * (double)s->n;
}
static double bytes_of_iteration(const osla_splitting *s)
{
  return 12.0 * (double)s->sparse.first[s->n] + 144.0 * (double)s->n;
}

/* Sets *sum to the scalar product of two vectors of the block, a sum over the group if there is
 * one. Returns false, without a sum, if the run has ended because a rank has stopped. */
static bool dot_block(const osla_splitting *s, const double *x, const double *y, double *sum)
{
  *sum = osla_dot_local(s->n, x, y);
  return !s->group || osli_group_sum(&s->group->sweeps, sum, 1);
}

void osli_splitting_inner_solve(const osla_splitting *s, const double *right, double *z)
{
  struct split_inner *c = s->inner;
  const int64_t n = s->n, rows = s->group ? s->group->rows : n;
  double *r = c->residual, *p = c->direction, *q = c->product, square, curvature;
  int64_t iterations = 0;
  if (c->factor) {
    osli_cholmod_block_solve(c->factor, right, z);
    return;
  }
  if (n == 0) return;
  for (int64_t i = 0; i < n; i++) {
    z[i] = 0.0;
    r[i] = p[i] = right[i];
  }
  if (!dot_block(s, r, r, &square)) return;
  const double wanted = c->tolerance * c->tolerance * square;
  while (iterations < rows && square > wanted) {
    iterations++;
    if (s->group && !osli_group_exchange(&s->group->sweeps, p)) return;
    multiply_block(s, false, p, q);
    /* In a group, dot_block waits for the other ranks, so the simulated time of this rank's work
     * must pass before it. A rank alone charges the time of all iterations at the end. */
    if (s->group) work_charge_memory(bytes_of_iteration(s));
    if (!dot_block(s, p, q, &curvature)) return;
    if (!(curvature > 0.0)) break; /* keeps z: the iteration certifies any x */
    const double step = square / curvature, before = square;
    for (int64_t i = 0; i < n; i++) {
      z[i] += step * p[i];
      r[i] -= step * q[i];
    }
    if (!dot_block(s, r, r, &square)) return;
    for (int64_t i = 0; i < n; i++)
      p[i] = r[i] + square / before * p[i];
  }
  c->iterations += iterations;
  work_charge_memory(bytes_of_start(s) +
                     (s->group ? 0.0 : (double)iterations * bytes_of_iteration(s)));
}

/* ---- checks of the block ---- */

/* Returns the column of A whose value of x is element j of a state (osla_splitting_problem).
 *   ghost [s->n_ghosts] columns of A of the ghost values, which follow the rank's own values */
static int64_t global_column(const osla_splitting *s, const int64_t *ghost, int64_t j)
{
  return j < s->n ? s->first_row + j : ghost[j - s->n];
}

static osla_err check_finite(const osla_splitting *s, const int64_t *ghost)
{
  const split_entries *r = &s->sparse;
  for (int64_t i = 0; i < s->n; i++)
    for (int64_t e = r->first[i]; e < r->first[i + 1]; e++)
      OSLA_CHECK(!splitting_is_in_block(s, r->column[e]) || isfinite(r->value[e]), OSLA_ERR_ARG,
                 "splitting: element (%" PRId64 ", %" PRId64 ") is %g, which is not finite",
                 s->first_row + i, global_column(s, ghost, r->column[e]), r->value[e]);
  return OSLA_OK;
}

static osla_err check_diagonal(const osla_splitting *s)
{
  for (int64_t i = 0; i < s->n; i++) {
    double diagonal = 0.0;
    s->kind->copy_block(s, i, 1, &diagonal);
    OSLA_CHECK(diagonal > 0.0 && isfinite(diagonal), OSLA_ERR_ARG,
               "splitting: the diagonal element of row %" PRId64
               " is %g: CG and sparse Cholesky need a positive definite block",
               s->first_row + i, diagonal);
  }
  return OSLA_OK;
}

/* Sets sum[i] to the sum of the absolute values of row i and of column i of the block B. Uses only
 * the rows of B that this rank owns. */
static void add_magnitudes(const osla_splitting *s, double *sum)
{
  const split_entries *r = &s->sparse;
  for (int64_t i = 0; i < vector_length(s); i++)
    sum[i] = 0.0;
  for (int64_t i = 0; i < s->n; i++)
    for (int64_t e = r->first[i]; e < r->first[i + 1]; e++) {
      if (!splitting_is_in_block(s, r->column[e])) continue;
      sum[i] += fabs(r->value[e]);
      sum[r->column[e]] += fabs(r->value[e]);
    }
}

/* Computes the vectors that check_symmetric compares, for a pseudorandom vector v. Uses only the
 * rows of B that this rank owns. Sets `product` to B v, `direction` to B^T v, and `residual` to the
 * vector that add_magnitudes computes. For the block of a group, the ghosts of the last two are
 * contributions to elements of other ranks, which osli_splitting_add_ghosts must add there. */
static void compute_products(const osla_splitting *s, const int64_t *ghost)
{
  const struct split_inner *c = s->inner;
  for (int64_t j = 0; j < vector_length(s); j++)
    c->residual[j] = 1.0 + osla_random_uniform(7, 0, (uint64_t)global_column(s, ghost, j));
  multiply_block(s, false, c->residual, c->product);
  multiply_block(s, true, c->residual, c->direction);
  add_magnitudes(s, c->residual);
}

/* Checks that the block B is symmetric: that B v and B^T v, which compute_products computed, differ
 * by no more than rounding errors. If B is not symmetric, they differ for almost every v. */
static osla_err check_symmetric(const osla_splitting *s)
{
  const struct split_inner *c = s->inner;
  const double rounding = 8.0 * (s->row_terms + SYMMETRIC) * DBL_EPSILON;
  for (int64_t i = 0; i < s->n; i++)
    OSLA_CHECK(fabs(c->product[i] - c->direction[i]) <= rounding * c->residual[i], OSLA_ERR_ARG,
               "splitting: row and column %" PRId64
               " of a block differ: CG and sparse Cholesky need symmetric blocks "
               "(OSLA_SPLITTING_LU takes others)",
               s->first_row + i);
  return OSLA_OK;
}

osla_err osli_splitting_inner_check(osla_splitting *s, const int64_t *ghost)
{
  struct split_inner *c = s->inner;
  compute_products(s, ghost);
  OSLA_CALL(osli_splitting_add_ghosts(s, c->direction));
  OSLA_CALL(osli_splitting_add_ghosts(s, c->residual));
  OSLA_CALL(osla_agree(s->t, check_symmetric(s)));
  /* CG reads all ghosts of `direction`, but exchanges only those that ranks of the group own; the
   * others must be 0 */
  memset(c->direction, 0, ((size_t)vector_length(s) + 1) * sizeof *c->direction);
  return OSLA_OK;
}

/* ---- create ---- */

static void free_vectors(struct split_inner *c)
{
  free(c->residual);
  free(c->direction);
  free(c->product);
  c->residual = c->direction = c->product = NULL;
}

osla_err osli_splitting_inner_create(osla_splitting *s, const osla_splitting_options *o,
                                     const int64_t *ghost)
{
  OSLA_CHECK(!s->dense, OSLA_ERR_ARG,
             "splitting: CG and sparse Cholesky need a sparse matrix (osla_splitting_create)");
  OSLA_CHECK(o->block == INT64_MAX, OSLA_ERR_ARG,
             "splitting: block = %" PRId64
             ": CG and sparse Cholesky need one block per rank (INT64_MAX)",
             o->block);
  const size_t length = (size_t)vector_length(s) + 1;
  struct split_inner *c = s->inner = calloc(1, sizeof *c);
  OSLA_CHECK(c, OSLA_ERR_MEM, "no memory for an inner solver");
  c->tolerance = o->inner_tolerance == 0.0 ? 0.01 : o->inner_tolerance;
  c->residual = calloc(length, sizeof *c->residual);
  c->direction = calloc(length, sizeof *c->direction);
  c->product = calloc(length, sizeof *c->product);
  OSLA_CHECK(c->residual && c->direction && c->product, OSLA_ERR_MEM,
             "no memory for vectors of an inner solver");
  OSLA_CALL(check_finite(s, ghost));
  OSLA_CALL(check_diagonal(s));
  if (s->group) return OSLA_OK; /* osli_splitting_inner_check checks the block of a group */
  compute_products(s, ghost);
  OSLA_CALL(check_symmetric(s));
  if (o->factor == OSLA_SPLITTING_CG) return OSLA_OK;
  free_vectors(c);
  return osli_cholmod_block_factor(s->n, s->first_row, s->sparse.first, s->sparse.column,
                                   s->sparse.value, &c->factor);
}

void osli_splitting_inner_work(const osla_splitting *s, int64_t *iterations, double *bytes)
{
  const struct split_inner *c = s->inner;
  *iterations = c ? c->iterations : 0;
  *bytes = c ? osli_cholmod_block_bytes(c->factor) : 0.0;
}

void osli_splitting_inner_free(osla_splitting *s)
{
  if (!s->inner) return;
  osli_cholmod_block_free(&s->inner->factor);
  free_vectors(s->inner);
  free(s->inner);
  s->inner = NULL;
}
