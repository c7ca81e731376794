/* Scaling of a matrix, and sums of matrices with one distribution, also of different precision. All
 * work is local. */
#include "osla_blas.h"
#include "src/base/double_bits.h"
#include "src/device/device.h"
#include "src/matrix/memory_kind.h"
#include "src/matrix/part_checks.h"
#include "src/matrix/part_local.h"

#include <complex.h>
#include <inttypes.h>
#include <string.h>

static bool is_complex(osla_dtype dtype)
{
  return dtype == OSLA_COMPLEX_FLOAT || dtype == OSLA_COMPLEX_DOUBLE;
}

static bool is_single(osla_dtype dtype)
{
  return dtype == OSLA_FLOAT || dtype == OSLA_COMPLEX_FLOAT;
}

/* Computes y := alpha x + beta y for n real numbers. */
static void add_column(int64_t n, double alpha, const void *x, bool x_single, double beta, void *y,
                       bool y_single)
{
  for (int64_t i = 0; i < n; i++) {
    double sum = 0.0;
    if (alpha != 0.0)
      sum = alpha * (x_single ? (double)((const float *)x)[i] : ((const double *)x)[i]);
    if (beta != 0.0)
      sum += beta * (y_single ? (double)((const float *)y)[i] : ((const double *)y)[i]);
    if (y_single)
      ((float *)y)[i] = (float)sum;
    else
      ((double *)y)[i] = sum;
  }
}

osla_err osla_matrix_scale_part(osla_complex alpha, osla_part part)
{
  const osla_dtype dtype = osla_matrix_dtype(part.matrix);
  OSLA_CALL(osli_part_check_stored("scale", &part, "A"));
  const part_local p = part_local_of(&part);
  if (!is_complex(dtype)) alpha = creal(alpha);
  OSLA_CHECK(!p.lower || cimag(alpha) == 0, OSLA_ERR_ARG,
             "scale: alpha = %g%+gi is not real, but a triangular matrix is Hermitian: pass a real "
             "alpha, or copy the matrix to a full one (osla_matrix_copy)",
             creal(alpha), cimag(alpha));
  if (osla_matrix_device(part.matrix)) {
    if (p.rows > 0) /* with k = 0 gemm computes C := alpha C */
      OSLA_CALL(osla_blas_gemm(dtype, OSLA_NOTRANS, OSLA_NOTRANS, p.rows, p.cols, 0, 0, NULL,
                               p.rows, NULL, 1, alpha, part_at(&p, 0, 0), p.lld));
    return osli_device_settle(SETTLE_COLLECTIVE);
  }
  for (int64_t c = 0; c < p.cols; c++) {
    const stored_columns s = part_columns(&part, &p, c);
    const int64_t first = part_first_row(&p, c), rows = p.rows - first;
    if (rows == 0) continue;
    unsigned char *column = osli_stored_at(p.local, &s, first, c, p.element);
    if (alpha == 0)
      memset(column, 0, (size_t)rows * p.element);
    else
      OSLA_CALL(osla_blas_scal(dtype, rows, alpha, column));
  }
  return OSLA_OK;
}

osla_err osla_matrix_scale(osla_complex alpha, osla_matrix *matrix)
{
  return osla_matrix_scale_part(alpha, osla_whole(matrix));
}

static osla_err check_add(const osla_matrix *source, const osla_matrix *dest)
{
  osla_layout ls = osla_matrix_layout(source), ld = osla_matrix_layout(dest);
  osla_dtype ts = osla_matrix_dtype(source), td = osla_matrix_dtype(dest);
  OSLA_CHECK(ls.m == ld.m && ls.n == ld.n && ls.mb == ld.mb && ls.nb == ld.nb, OSLA_ERR_ARG,
             "add: source is %" PRId64 " x %" PRId64 " in %" PRId64 " x %" PRId64
             ", destination %" PRId64 " x %" PRId64 " in %" PRId64 " x %" PRId64,
             ls.m, ls.n, ls.mb, ls.nb, ld.m, ld.n, ld.mb, ld.nb);
  OSLA_CHECK(osla_matrix_is_triangle(source) == osla_matrix_is_triangle(dest), OSLA_ERR_UNSUPPORTED,
             "add: the %s is triangular and the %s is not: copy one of them to the layout of the "
             "other (osla_matrix_copy)",
             osla_matrix_is_triangle(source) ? "source" : "destination",
             osla_matrix_is_triangle(source) ? "destination" : "source");
  OSLA_CHECK(is_complex(ts) == is_complex(td), OSLA_ERR_ARG, "add: type '%c' to '%c'",
             osla_dtype_letter(ts), osla_dtype_letter(td));
  OSLA_CHECK(osla_grid_same(osla_matrix_grid(source), osla_matrix_grid(dest)), OSLA_ERR_ARG,
             "add: source (%d x %d) and destination (%d x %d) lie on different processes", ls.nprow,
             ls.npcol, ld.nprow, ld.npcol);
  return OSLA_OK;
}

osla_err osla_matrix_add(double alpha, const osla_matrix *source, double beta, osla_matrix *dest)
{
  osla_dtype ts = osla_matrix_dtype(source), td = osla_matrix_dtype(dest);
  OSLA_NEEDS_HOST("osla_matrix_add", source, dest);
  const osla_argument same[] = {{"alpha (bits)", double_bits(alpha)},
                                {"beta (bits)", double_bits(beta)},
                                {"m", osla_matrix_layout(dest).m},
                                {"n", osla_matrix_layout(dest).n},
                                {"layout of dest (1: triangular)", osla_matrix_is_triangle(dest)}};
  OSLA_CALL(osla_agree_same(osla_grid_transport(osla_matrix_grid(dest)), check_add(source, dest),
                            "osla_matrix_add", same, (int)(sizeof same / sizeof *same)));
  int rank = osla_transport_rank(osla_grid_transport(osla_matrix_grid(dest)));
  const int64_t rows = osla_matrix_local_rows(dest);
  for (int64_t c = 0; c < osla_matrix_local_cols(dest); c++) {
    const stored_columns x = osli_stored_columns(source, rank, c);
    const stored_columns y = osli_stored_columns(dest, rank, c);
    const int64_t first = y.first_row;
    if (first == rows) continue;
    add_column((rows - first) * (is_complex(td) ? 2 : 1), alpha,
               osli_stored_at(osla_matrix_local(source), &x, first, c, osla_dtype_size(ts)),
               is_single(ts), beta,
               osli_stored_at(osla_matrix_local(dest), &y, first, c, osla_dtype_size(td)),
               is_single(td));
  }
  /* after this barrier all ranks' parts of dest are complete */
  return osla_barrier(osla_grid_transport(osla_matrix_grid(dest)));
}
