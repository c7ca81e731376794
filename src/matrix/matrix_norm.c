/* Norms of a matrix: a pass over the local elements, then one sum or maximum over the ranks. */
#include "osla_blas.h"
#include "src/blas/work.h"
#include "src/matrix/part_checks.h"
#include "src/matrix/part_stage.h"

#include <complex.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

static double magnitude(osla_dtype dtype, const void *local, int64_t at)
{
  switch (dtype) {
    case OSLA_FLOAT: return fabs((double)((const float *)local)[at]);
    case OSLA_DOUBLE: return fabs(((const double *)local)[at]);
    case OSLA_COMPLEX_FLOAT: return cabs((double _Complex)((const float _Complex *)local)[at]);
    default: return cabs(((const double _Complex *)local)[at]);
  }
}

/* Calls visit(|a_ij|, i, j, sums) for each local element of the part; i and j are indices in the
 * part. If the part begins and ends on the diagonal of a triangular matrix, elements below the
 * diagonal are visited twice, as (i, j) and as (j, i). */
typedef void visitor(double magnitude, int64_t i, int64_t j, double *sums);

static osla_err visit_all(const osla_part *part, visitor *visit, double *sums)
{
  part_stage stage;
  OSLA_CALL(osli_part_stage_open(part, false, &stage));
  const part_local p = stage.p;
  const osla_dtype dtype = osla_matrix_dtype(part->matrix);
  for (int64_t c = 0; c < p.cols && !osli_work_modelled; c++) {
    const int64_t j = part_col(&p, c);
    const stored_columns s = osli_part_stage_columns(&stage, c);
    for (int64_t r = part_first_row(&p, c); r < p.rows; r++) {
      const int64_t i = part_row(&p, r);
      const double x = magnitude(dtype, stage.base, stored_index(&s, r, c));
      visit(x, i, j, sums);
      if (p.lower && i > j) visit(x, j, i, sums);
    }
  }
  osli_part_stage_close(&stage);
  return OSLA_OK;
}

/* Computes the maximum norm by BLAS, column by column, because it is by far the most frequent norm.
 * A NaN is counted in sums[1], since MPI_MAX ignores it. */
static osla_err local_max(const osla_part *part, double *sums)
{
  part_stage stage;
  OSLA_CALL(osli_part_stage_open(part, false, &stage));
  const part_local p = stage.p;
  osla_err err = OSLA_OK;
  for (int64_t c = 0; c < p.cols && err == OSLA_OK; c++) {
    const stored_columns s = osli_part_stage_columns(&stage, c);
    const int64_t first = part_first_row(&p, c);
    double x = 0;
    if (first == p.rows) continue;
    err = osla_blas_max(osla_matrix_dtype(part->matrix), p.rows - first,
                        osli_stored_at(stage.base, &s, first, c, p.element), &x);
    if (isnan(x)) sums[1] = 1.0;
    if (x > sums[0]) sums[0] = x;
  }
  osli_part_stage_close(&stage);
  return err;
}

static void visit_column(double x, int64_t i, int64_t j, double *sums)
{
  (void)i;
  sums[j] += x;
}

static void visit_row(double x, int64_t i, int64_t j, double *sums)
{
  (void)j;
  sums[i] += x;
}

/* Divides an element by the largest element, sums[1], and adds the square of the quotient, so that
 * no square overflows or underflows. */
static void visit_square(double x, int64_t i, int64_t j, double *sums)
{
  (void)i, (void)j;
  double y = x / sums[1];
  sums[0] += y * y;
}

static double largest(const double *sums, int64_t count)
{
  double value = 0.0;
  for (int64_t i = 0; i < count; i++)
    if (!(sums[i] <= value) && !isnan(value))
      value = sums[i]; /* a NaN replaces any value, and no value replaces a NaN */
  return value;
}

static osla_err check(const osla_part *part, osla_norm norm)
{
  OSLA_CHECK(norm >= OSLA_NORM_MAX && norm <= OSLA_NORM_FRO, OSLA_ERR_ARG, "norm = %d is not known",
             (int)norm);
  return osli_part_check_stored("norm", part, "A");
}

static osla_err agree(const char *call, const osla_part *part, osla_norm norm)
{
  const osla_argument same[] = {{"norm", (int)norm}, OSLA_PART_ARGUMENTS("part", *part)};
  return osla_agree_same(osla_grid_transport(osla_matrix_grid(part->matrix)), check(part, norm),
                         call, same, (int)(sizeof same / sizeof *same));
}

/* Computes a norm of a part after the arguments have been checked. */
static osla_err find_norm(osla_part part, osla_norm norm, double *value)
{
  osla_transport *t = osla_grid_transport(osla_matrix_grid(part.matrix));
  double scale = 0.0;
  if (norm == OSLA_NORM_FRO) {
    OSLA_CALL(find_norm(part, OSLA_NORM_MAX, &scale));
    *value = scale;
    if (scale == 0.0 || !isfinite(scale)) return OSLA_OK;
  }
  int64_t count = norm == OSLA_NORM_ONE ? part.n : norm == OSLA_NORM_INF ? part.m : 2;
  double *sums = calloc((size_t)count + 1, sizeof *sums);
  osla_err err = OSLA_OK;
  if (!sums) err = osla_error_set(OSLA_ERR_MEM, "%" PRId64 " sums", count);
  OSLA_TRY(osla_agree(t, err));
  static visitor *const visitors[] = {
    [OSLA_NORM_ONE] = visit_column, [OSLA_NORM_INF] = visit_row, [OSLA_NORM_FRO] = visit_square};
  if (norm == OSLA_NORM_FRO) sums[1] = scale;
  if (norm == OSLA_NORM_MAX)
    err = local_max(&part, sums);
  else
    err = visit_all(&part, visitors[norm], sums);
  sums[count] =
    err != OSLA_OK; /* the sum or maximum over all ranks is positive if any rank failed */
  const osla_err failed = err;
  OSLA_TRY(
    osla_allreduce(t, sums, count + 1, MPI_DOUBLE, norm == OSLA_NORM_MAX ? MPI_MAX : MPI_SUM));
  if (sums[count] > 0) OSLA_TRY(osla_agree(t, failed));
  if (norm == OSLA_NORM_MAX)
    *value = sums[1] > 0.0 ? (double)NAN : sums[0];
  else if (norm == OSLA_NORM_FRO)
    *value = scale * sqrt(sums[0]);
  else
    *value = largest(sums, count);
cleanup:
  free(sums);
  return err;
}

osla_err osla_matrix_norm_part(osla_part part, osla_norm norm, double *value)
{
  OSLA_CALL(agree("osla_matrix_norm_part", &part, norm));
  return find_norm(part, norm, value);
}

osla_err osla_matrix_norm(const osla_matrix *a, osla_norm norm, double *value)
{
  const osla_part all = osla_whole((osla_matrix *)a);
  OSLA_CALL(agree("osla_matrix_norm", &all, norm));
  return find_norm(all, norm, value);
}
