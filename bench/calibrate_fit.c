/* Least squares with non-negative coefficients. */
#include "bench/calibrate.h"

#include "osla_blas.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

double calibrate_monomial(const char *monomial, const calibrate_shape *s)
{
  double x = 1;
  for (const char *at = monomial; *at; at++)
    x *= *at == 'm' ? (double)s->m : *at == 'n' ? (double)s->n : *at == 'k' ? (double)s->k : 1;
  return x;
}

/* row[i][j]: monomial j of measurement i divided by the measured time. The model should give 1 for
 * each measurement. */
typedef struct problem {
  int count, terms;
  double row[CALIBRATE_SHAPES][CALIBRATE_TERMS];
  double scale[CALIBRATE_TERMS]; /* factors that give the columns norm 1 */
} problem;

static void problem_create(const calibrate_kind *kind, int count, const calibrate_shape *shape,
                           const double *seconds, problem *p)
{
  memset(p, 0, sizeof *p);
  p->count = count;
  while (p->terms < CALIBRATE_TERMS && kind->monomials[p->terms])
    p->terms++;
  for (int j = 0; j < p->terms; j++) {
    double sum = 0;
    for (int i = 0; i < count; i++) {
      double x = calibrate_monomial(kind->monomials[j], &shape[i]) / seconds[i];
      p->row[i][j] = x;
      sum += x * x;
    }
    p->scale[j] = 1 / sqrt(sum);
    for (int i = 0; i < count; i++)
      p->row[i][j] *= p->scale[j];
  }
}

static double value(const problem *p, int i, const double *c)
{
  double sum = 0;
  for (int j = 0; j < p->terms; j++)
    sum += c[j] * p->row[i][j];
  return sum;
}

/* Solves the normal equations of the chosen columns. *good := false if a coefficient is not
 * positive or the columns are linearly dependent. */
static osla_err solve(const problem *p, unsigned chosen, double *c, bool *good)
{
  int column[CALIBRATE_TERMS], n = 0;
  int64_t info;
  double a[CALIBRATE_TERMS * CALIBRATE_TERMS], b[CALIBRATE_TERMS];
  for (int j = 0; j < p->terms; j++)
    if (chosen >> j & 1) column[n++] = j;
  for (int j = 0; j < n; j++) {
    b[j] = 0;
    for (int i = 0; i < p->count; i++)
      b[j] += p->row[i][column[j]];
    for (int l = 0; l < n; l++) {
      a[l + j * n] = l == j ? 1e-12 : 0;
      for (int i = 0; i < p->count; i++)
        a[l + j * n] += p->row[i][column[l]] * p->row[i][column[j]];
    }
  }
  *good = false;
  memset(c, 0, CALIBRATE_TERMS * sizeof *c);
  OSLA_CALL(osla_lapack_potrf(OSLA_DOUBLE, OSLA_LOWER, n, a, n, &info));
  if (info != 0) return OSLA_OK;
  OSLA_CALL(osla_blas_trsm(OSLA_DOUBLE, OSLA_LEFT, OSLA_LOWER, OSLA_NOTRANS, OSLA_NONUNIT, n, 1, a,
                           n, b, n));
  OSLA_CALL(
    osla_blas_trsm(OSLA_DOUBLE, OSLA_LEFT, OSLA_LOWER, OSLA_TRANS, OSLA_NONUNIT, n, 1, a, n, b, n));
  *good = true;
  for (int j = 0; j < n; j++) {
    c[column[j]] = b[j];
    if (!(b[j] > 0)) *good = false;
  }
  return OSLA_OK;
}

int calibrate_compare(const void *a, const void *b)
{
  const double *x = a, *y = b;
  return (*x > *y) - (*x < *y);
}

static void measure_errors(const problem *p, const double *c, calibrate_fit *out)
{
  double error[CALIBRATE_SHAPES];
  for (int i = 0; i < p->count; i++)
    error[i] = fabs(value(p, i, c) - 1);
  qsort(error, (size_t)p->count, sizeof *error, calibrate_compare);
  out->median = error[p->count / 2];
  out->worst = error[p->count - 1];
}

osla_err calibrate_fit_kind(const calibrate_kind *kind, int count, const calibrate_shape *shape,
                            const double *seconds, calibrate_fit *out)
{
  problem *p = malloc(sizeof *p);
  double c[CALIBRATE_TERMS] = {0}, best[CALIBRATE_TERMS] = {0}, least = INFINITY;
  osla_err err = OSLA_OK;
  OSLA_CHECK(p, OSLA_ERR_MEM, "a fit of %d measurements", count);
  problem_create(kind, count, shape, seconds, p);
  for (unsigned chosen = 1; chosen < 1U << p->terms && err == OSLA_OK; chosen++) {
    bool good;
    double sum = 0;
    err = solve(p, chosen, c, &good);
    if (err != OSLA_OK || !good) continue;
    for (int i = 0; i < count; i++)
      sum += (value(p, i, c) - 1) * (value(p, i, c) - 1);
    if (sum >= least) continue;
    least = sum;
    memcpy(best, c, sizeof best);
  }
  memset(out, 0, sizeof *out);
  out->terms = p->terms;
  measure_errors(p, best, out);
  for (int j = 0; j < p->terms; j++)
    out->c[j] = best[j] * p->scale[j];
  free(p);
  return err;
}
