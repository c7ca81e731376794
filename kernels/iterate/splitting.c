/* Block Jacobi. A sweep computes the residual of the own rows and solves with the diagonal blocks;
 * for Jacobi's method it divides by the diagonal instead. splitting_sparse.c and splitting_dense.c
 * store the rows. */
#include "kernels/iterate/splitting.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "osla_blas.h"
#include "src/base/double_bits.h"
#include "src/base/reserved.h"
#include "src/blas/move.h"

/* ---- sweeps ---- */

static double sweep(void *arg, double omega, const double *x, double *y)
{
  const osla_splitting *s = arg;
  double sum = 0.0;
  s->kind->residual(s, x);
  for (int64_t i = 0; i < s->n; i++)
    sum += s->residual[i] * s->residual[i];
  if (omega == 0.0) { /* the certificate of a group needs only the residual (certificate.c) */
    memcpy(y, x, (size_t)s->n * sizeof *y);
    return sum;
  }
  if (s->group && !s->group->sweeps.it) return NAN; /* CG of a group needs a run of osla_iterate */
  if (s->inverse)
    for (int64_t i = 0; i < s->n; i++)
      s->step[i] = s->inverse[i] * s->residual[i];
  else if (s->inner)
    osli_splitting_inner_solve(s, s->residual, s->step);
  else
    /* cannot fail, because the blocks have been factored */
    (void)osli_diagonal_blocks_solve(&s->blocks, s->residual, s->step);
  for (int64_t i = 0; i < s->n; i++)
    y[i] = x[i] + omega * s->step[i];
  /* The residual is read for the sum; x and the step are read, and y is written. Jacobi's method
   * also reads the residual and the diagonal, and writes the step. */
  work_charge_memory((s->inverse ? 72.0 : 40.0) * (double)s->n);
  return sum;
}

static void pack(void *arg, int h, const double *x, double *message)
{
  const osla_splitting *s = arg;
  for (int64_t j = 0; j < s->halos[h].send; j++)
    message[j] = x[s->sent[h][j]];
  osli_move_charge(sizeof *x, s->halos[h].send); /* single values, which are not adjacent in x */
}

static void unpack(void *arg, int h, const double *message, double *x)
{
  const osla_splitting *s = arg;
  memcpy(x + s->n + s->received[h], message, (size_t)s->halos[h].recv * sizeof *x);
  osli_move_charge((size_t)s->halos[h].recv * sizeof *x, 1);
}

static double magnitude(void *arg, const double *x)
{
  const osla_splitting *s = arg;
  double sum = 0.0;
  s->kind->absolute(s, 0, x);
  for (int64_t i = 0; i < s->n; i++) {
    const double size = fabs(s->b[i]) + s->step[i];
    sum += size * size;
  }
  return sum;
}

/* ---- bounds ----
 *
 * Bounds of splittings, |M| v <= alpha v, for M = -B^-1 (A - B), row by row of |B^-1| |A - B| v.
 *
 * For Jacobi's method this is |M| itself. For larger blocks |B^-1| is computed by columns, each by
 * a solve with a unit vector. These solves have rounding errors. The computed inverse X satisfies
 * |B^-1| <= |X| (I - F)^-1, F = gamma |L| |U| |X|, with the computed factors (Higham, Accuracy and
 * Stability of Numerical Algorithms, theorems 9.4 and 10.4). So |B^-1| g <= |X| g + |X| 1 max(g) f
 * / (1 - f), where f = max(F 1) < 1. Cost of a step: as many solves with each block as it has rows.
 * Memory: 24 bytes per row. */

static void jacobi_step(const osla_splitting *s, double *y)
{
  for (int64_t i = 0; i < s->n; i++)
    y[i] = s->step[i] * fabs(s->inverse[i]);
}

/* y := |X| g and ones := |X| 1, where X is the computed inverse of the diagonal blocks. Column j of
 * all blocks is computed together. */
static void times_inverse(const osla_splitting *s, const double *g, double *y, double *ones)
{
  const diagonal_blocks *b = &s->blocks;
  double *unit = s->residual, *column = s->bound;
  for (int64_t i = 0; i < s->n; i++)
    y[i] = ones[i] = 0.0;
  for (int64_t j = 0; j < b->block; j++) {
    for (int64_t i = 0; i < s->n; i++)
      unit[i] = i % b->block == j;
    /* cannot fail, because the blocks have been factored */
    (void)osli_diagonal_blocks_solve(b, unit, column);
    for (int64_t from = 0; from + j < s->n; from += b->block)
      for (int64_t i = from; i < from + diagonal_block_size(b, from); i++) {
        y[i] += fabs(column[i]) * g[from + j];
        ones[i] += fabs(column[i]);
      }
  }
}

static void block_step(const osla_splitting *s, double *y)
{
  const diagonal_blocks *b = &s->blocks;
  /* relative rounding error of a solve with a block and of the sums of the bound, plus the relative
   * asymmetry that a block may have */
  const double terms = (double)(3 * b->block + 4 + SYMMETRIC) * DBL_EPSILON;
  double *ones = s->bound + s->n, *product = ones + s->n;
  times_inverse(s, s->step, y, ones);
  osli_diagonal_blocks_magnitude(b, ones, product);
  for (int64_t from = 0; from < s->n; from += b->block) {
    const int64_t to = from + diagonal_block_size(b, from);
    double f = 0.0, largest = 0.0;
    for (int64_t i = from; i < to; i++) {
      f = fmax(f, terms * product[i]);
      largest = fmax(largest, s->step[i]);
    }
    const double more = f < 1.0 ? largest * f / (1.0 - f) : INFINITY;
    for (int64_t i = from; i < to; i++)
      y[i] = (1.0 + terms) * (y[i] + (largest > 0.0 ? more * ones[i] : 0.0));
  }
}

static double bound_sweep(void *arg, double *x, double *y)
{
  const osla_splitting *s = arg;
  double largest = 0.0;
  s->kind->absolute(s, s->inverse ? 1 : s->blocks.block, x);
  if (s->inverse)
    jacobi_step(s, y);
  else
    block_step(s, y);
  for (int64_t i = 0; i < s->n; i++)
    /* written so that the comparison is true for a NaN, which is then kept */
    if (!(y[i] / x[i] <= largest)) largest = y[i] / x[i];
  return largest;
}

static double distance(void *arg, const double *x, const double *y, const double *v)
{
  const osla_splitting *s = arg;
  double largest = 0.0;
  for (int64_t i = 0; i < s->n; i++)
    largest = fmax(largest, fabs(x[i] - y[i]) / v[i]);
  return largest;
}

osla_fixed_point osla_splitting_problem(osla_splitting *s)
{
  return (osla_fixed_point){.arg = s,
                            .length = s->n + s->n_ghosts,
                            .n_halos = s->n_halos,
                            .halos = s->halos,
                            .sweep = sweep,
                            .pack = pack,
                            .unpack = unpack,
                            .magnitude = magnitude,
                            .row_terms = s->row_terms,
                            .bound_sweep = s->inner ? NULL : bound_sweep,
                            .distance = s->inner ? NULL : distance,
                            .group = s->group ? &s->group->sweeps : NULL};
}

/* ---- create ---- */

static osla_err check_options(const osla_splitting_options *o)
{
  OSLA_CALL(OSLA_RESERVED(osla_splitting_options, o));
  OSLA_CHECK(o->block >= 0, OSLA_ERR_ARG, "splitting: block = %" PRId64 " is negative", o->block);
  OSLA_CHECK(o->factor >= OSLA_SPLITTING_CHOLESKY && o->factor <= OSLA_SPLITTING_SPARSE,
             OSLA_ERR_ARG, "splitting: factor = %d is not an osla_splitting_factor",
             (int)o->factor);
  OSLA_CHECK(o->inner_tolerance >= 0.0 && o->inner_tolerance < 1.0, OSLA_ERR_ARG,
             "splitting: inner_tolerance = %g is not at least 0 and below 1", o->inner_tolerance);
  OSLA_CHECK(o->group >= 0, OSLA_ERR_ARG, "splitting: group = %" PRId64 " is negative", o->group);
  OSLA_CHECK(o->group <= 1 || o->factor == OSLA_SPLITTING_CG, OSLA_ERR_ARG,
             "splitting: group = %" PRId64
             " needs the factor OSLA_SPLITTING_CG: other solvers work "
             "on the rows of one rank",
             o->group);
  return OSLA_OK;
}

osla_err osli_splitting_open(osla_transport *t, osla_err err, const split_kind *kind,
                             osla_uplo uplo, const double *b, const osla_splitting_options *o,
                             osla_splitting **out)
{
  osla_splitting *s = calloc(1, sizeof *s);
  const osla_argument same[] = {{"block", o->block > 1 ? o->block : 1},
                                {"factor", (int)o->factor},
                                {"inner_tolerance (bits)", double_bits(o->inner_tolerance)},
                                {"group", o->group > 1 ? o->group : 1},
                                {"uplo", (int)uplo}};
  if (err == OSLA_OK) err = check_options(o);
  /* loads the BLAS before the first sweep, because sweeps must not fail */
  if (err == OSLA_OK) err = osla_blas_ready();
  if (err == OSLA_OK && !s) err = osla_error_set(OSLA_ERR_MEM, "no memory for splitting object");
  err = osla_agree_same(t, err, "osla_splitting_create", same, 5);
  if (err != OSLA_OK) {
    free(s);
    return err;
  }
  *s = (osla_splitting){.t = t, .kind = kind, .b = b};
  *out = s;
  return OSLA_OK;
}

static osla_err invert_diagonal(osla_splitting *s)
{
  s->inverse = calloc((size_t)s->n + 1, sizeof *s->inverse);
  OSLA_CHECK(s->inverse, OSLA_ERR_MEM, "no memory for %" PRId64 " diagonal elements", s->n);
  for (int64_t i = 0; i < s->n; i++) {
    s->kind->copy_block(s, i, 1, &s->inverse[i]);
    OSLA_CHECK(s->inverse[i] != 0.0 && isfinite(s->inverse[i]), OSLA_ERR_ARG,
               "splitting: the diagonal element of row %" PRId64 " is %g, not finite or 0",
               s->first_row + i, s->inverse[i]);
    s->inverse[i] = 1.0 / s->inverse[i];
  }
  return OSLA_OK;
}

/* Checks that a diagonal block is symmetric, because Cholesky reads only one triangle. Symmetric
 * entries may differ by rounding errors, since they may be sums. */
static osla_err check_symmetric(int64_t first_row, int64_t n, const double *block)
{
  for (int64_t j = 0; j < n; j++)
    for (int64_t i = j + 1; i < n; i++) {
      const double low = block[i + j * n], high = block[j + i * n];
      OSLA_CHECK(!(fabs(low - high) > SYMMETRIC * DBL_EPSILON * (fabs(low) + fabs(high))),
                 OSLA_ERR_ARG,
                 "splitting: a(%" PRId64 ", %" PRId64 ") = %g and a(%" PRId64 ", %" PRId64
                 ") = %g: Cholesky needs symmetric blocks (OSLA_SPLITTING_LU takes others)",
                 first_row + i, first_row + j, low, first_row + j, first_row + i, high);
    }
  return OSLA_OK;
}

osla_err osli_splitting_factor_blocks(osla_splitting *s, const osla_splitting_options *o,
                                      const int64_t *ghost)
{
  diagonal_blocks *b = &s->blocks;
  s->residual = calloc((size_t)s->n + 1, sizeof *s->residual);
  s->step = calloc((size_t)s->n + 1, sizeof *s->step);
  OSLA_CHECK(s->residual && s->step, OSLA_ERR_MEM, "no memory for vectors of a splitting");
  if (o->factor == OSLA_SPLITTING_CG || o->factor == OSLA_SPLITTING_SPARSE)
    return osli_splitting_inner_create(s, o, ghost);
  if (o->block <= 1) return invert_diagonal(s);
  s->bound = calloc(3 * (size_t)s->n + 1, sizeof *s->bound);
  OSLA_CHECK(s->bound, OSLA_ERR_MEM, "no memory for vectors of a splitting");
  const bool lu = o->factor == OSLA_SPLITTING_LU;
  OSLA_CALL(osli_diagonal_blocks_create("splitting", s->n, o->block, lu, b));
  for (int64_t from = 0; from < b->n; from += b->block) {
    const int64_t size = diagonal_block_size(b, from);
    double *block = diagonal_block_at(b, from);
    s->kind->copy_block(s, from, size, block);
    if (!lu) OSLA_CALL(check_symmetric(s->first_row + from, size, block));
  }
  return osli_diagonal_blocks_factor("splitting", s->first_row, b);
}

void osla_splitting_destroy(osla_splitting **splitting)
{
  osla_splitting *s = splitting ? *splitting : NULL;
  if (!s) return;
  free(s->sparse.first);
  free(s->sparse.column);
  free(s->sparse.value);
  free(s->dense);
  free(s->inverse);
  osli_diagonal_blocks_free(&s->blocks);
  osli_splitting_inner_free(s);
  osli_splitting_group_free(s);
  free(s->residual);
  free(s->step);
  free(s->bound);
  free(s->halos);
  free(s->sent);
  free(s->received);
  free(s->memory);
  free(s);
  *splitting = NULL;
}
