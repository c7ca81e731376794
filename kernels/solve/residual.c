/* Scaled residual, column by column: one product and one reduction.
 *
 * For the reduction to maxima, the bits of doubles are interpreted as integers. For nonnegative
 * doubles, larger numbers have larger bits, and NaN has the largest bits. */
#include "kernels/solve/solve.h"

#include "kernels/common/local_view.h"
#include "osla_blas.h"
#include "osla_gemm.h"
#include "osla_products.h"
#include "src/matrix/memory_kind.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static double double_of_bits(int64_t bits)
{
  double value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

/* bits[j] becomes the largest |a_ij| in column j, over the rows i of this rank, as bits. */
static osla_err column_maxima(const osla_matrix *a, int64_t *bits)
{
  local_view v = view_of(without_const(a));
  for (int64_t c = 0; c < v.cols; c++) {
    double value;
    OSLA_CALL(osla_blas_max(v.dtype, v.rows, local_at(&v, 0, c), &value));
    value = fabs(value); /* clears also the sign of a NaN */
    memcpy(&bits[osla_index_global(c, v.nb, v.pcol, v.q)], &value, sizeof value);
  }
  return OSLA_OK;
}

/* Computes r / ((norm_a x + b) unit), with exponents separate from mantissas. Otherwise norm_a x
 * could exceed the range of double, and division by infinity would give a residual that is too
 * small. */
static double scaled_residual(double r, double x, double b, double norm_a, double unit)
{
  int of_r, of_x, of_b, of_a;
  if (!isfinite(r) || !isfinite(x) || !isfinite(b) || !isfinite(norm_a)) return (double)NAN;
  if (r == 0.0) return 0.0;
  double product = frexp(norm_a, &of_a) * frexp(x, &of_x);
  r = frexp(r, &of_r);
  b = frexp(b, &of_b);
  int of_product = of_a + of_x;
  int most = product == 0.0 || (b > 0.0 && of_b > of_product) ? of_b : of_product;
  double sum = ldexp(product, of_product - most) + ldexp(b, of_b - most);
  return ldexp(r / (sum * unit), of_r - most);
}

/* Returns the largest scaled residual of all columns, or NaN if a column contains a NaN. */
static double largest_residual(const int64_t *bits, int64_t nrhs, double norm_a, double unit)
{
  double value = 0.0;
  for (int64_t j = 0; j < nrhs; j++) {
    double r = double_of_bits(bits[j]), x = double_of_bits(bits[nrhs + j]),
           b = double_of_bits(bits[2 * nrhs + j]);
    double scaled = scaled_residual(r, x, b, norm_a, unit);
    if (!(scaled <= value) && !isnan(value)) value = scaled;
  }
  return value;
}

/* Computes R := R - A X. A triangular matrix A represents a symmetric matrix, or a Hermitian one
 * for complex types. */
static osla_err subtract_product(const osla_matrix *a, const osla_matrix *x, osla_matrix *r)
{
  const osla_part whole_a = osla_whole(without_const(a)), whole_x = osla_whole(without_const(x));
  if (osla_matrix_is_triangle(a) && osla_matrix_layout(x).n == 1)
    return osla_hemv(OSLA_LOWER, -1.0, whole_a, whole_x, 1.0, osla_whole(r)); /* reads A in place */
  if (osla_matrix_is_triangle(a))
    return osla_hemm(OSLA_LEFT, OSLA_LOWER, -1.0, whole_a, whole_x, 1.0, osla_whole(r), NULL);
  return osla_gemm(OSLA_NOTRANS, OSLA_NOTRANS, -1.0, whole_a, whole_x, 1.0, osla_whole(r), NULL);
}

osla_err osli_residual_compute(const osla_matrix *a, double norm_a, const osla_matrix *x,
                               const osla_matrix *b, osla_matrix *r, double *value, double *maxima,
                               int64_t *bits)
{
  osla_layout l = osla_matrix_layout(b);
  osla_dtype dtype = osla_matrix_dtype(b);
  osla_transport *t = osla_grid_transport(osla_matrix_grid(b));
  memset(bits, 0, (size_t)(OSLA_RESIDUAL_ROOM * l.n) * sizeof *bits);
  OSLA_CALL(osla_matrix_copy(b, r));
  OSLA_CALL(subtract_product(a, x, r));
  osla_err err = column_maxima(r, bits);
  if (err == OSLA_OK) err = column_maxima(x, bits + l.n);
  if (err == OSLA_OK) err = column_maxima(b, bits + 2 * l.n);
  OSLA_CALL(osla_agree(t, err));
  OSLA_CALL(osla_allreduce(t, bits, OSLA_RESIDUAL_ROOM * l.n, MPI_INT64_T, MPI_MAX));
  bool single = dtype == OSLA_FLOAT || dtype == OSLA_COMPLEX_FLOAT;
  *value = largest_residual(bits, l.n, norm_a,
                            (double)(l.m > 1 ? l.m : 1) * (single ? FLT_EPSILON : DBL_EPSILON));
  for (int64_t j = 0; j < l.n; j++)
    maxima[j] = double_of_bits(bits[j]);
  return OSLA_OK;
}

osla_err osla_residual(const osla_matrix *a, const osla_matrix *x, const osla_matrix *b,
                       double *value)
{
  OSLA_NEEDS_HOST("osla_residual", a, x, b);
  OSLA_NEEDS_FULL("osla_residual", x, b);
  osla_layout l = osla_matrix_layout(b);
  osla_matrix *r = NULL;
  double norm_a, *maxima = malloc((size_t)l.n * sizeof *maxima + 1);
  int64_t *room = malloc((size_t)(OSLA_RESIDUAL_ROOM * l.n) * sizeof *room + 1);
  osla_err err = maxima && room
                   ? OSLA_OK
                   : osla_error_set(OSLA_ERR_MEM, "residual: %" PRId64 " column maxima", l.n);
  OSLA_TRY(osla_agree(osla_grid_transport(osla_matrix_grid(b)), err));
  OSLA_TRY(osla_matrix_create(osla_matrix_grid(b), osla_matrix_dtype(b), l.m, l.n, l.mb, l.nb, &r));
  OSLA_TRY(osla_matrix_norm(a, OSLA_NORM_INF, &norm_a));
  OSLA_TRY(osli_residual_compute(a, norm_a, x, b, r, value, maxima, room));
cleanup:
  free(maxima);
  free(room);
  osla_matrix_destroy(&r);
  return err;
}
