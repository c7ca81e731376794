/* Splittings of a dense matrix. Each rank reads a range of rows by one-sided gets, from any owners.
 * If a symmetric matrix stores one triangle, elements of the other triangle are read as columns and
 * transposed. Every rank needs all of x. */
#include "kernels/iterate/splitting.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "osla_blas.h"
#include "src/matrix/memory_kind.h"

enum { STRIP = 128 }; /* number of rows that are transposed together */

static int64_t columns_of(const osla_splitting *s)
{
  return s->n + s->n_ghosts;
}

static void residual(const osla_splitting *s, const double *x)
{
  const int64_t n = s->n, columns = columns_of(s);
  if (n == 0) return;
  memcpy(s->residual, s->b, (size_t)n * sizeof *s->b);
  (void)osla_blas_gemm(OSLA_DOUBLE, OSLA_NOTRANS, OSLA_NOTRANS, n, 1, columns, -1.0, s->dense, n, x,
                       /* cannot fail, because the sizes were checked */
                       columns, 1.0, s->residual, n);
}

static void absolute(const osla_splitting *s, int64_t block, const double *x)
{
  for (int64_t i = 0; i < s->n; i++)
    s->step[i] = 0.0;
  for (int64_t j = 0; s->n > 0 && j < columns_of(s); j++) {
    const split_range left_out = splitting_block_of(s, j < s->n ? block : 0, j);
    for (int64_t i = 0; i < s->n; i++)
      if (i < left_out.from || i >= left_out.to) s->step[i] += fabs(s->dense[i + j * s->n] * x[j]);
  }
}

static void copy_block(const osla_splitting *s, int64_t from, int64_t m, double *to)
{
  for (int64_t j = 0; j < m; j++)
    memcpy(to + j * m, s->dense + from + (from + j) * s->n, (size_t)m * sizeof *to);
}

/* ---- reading rows ---- */

/* Sets to [s->n x count] to the transpose of A's rows first .. first + count - 1, restricted to
 * this rank's columns. */
static osla_err read_transposed(const osla_splitting *s, const osla_matrix *a, int64_t first,
                                int64_t count, double *to)
{
  const int64_t most = count < STRIP ? count : STRIP;
  double *strip = malloc((size_t)s->n * (size_t)most * sizeof *strip + 1);
  OSLA_CHECK(strip, OSLA_ERR_MEM, "splitting: no memory for %" PRId64 " columns to transpose",
             s->n);
  osla_err err = OSLA_OK;
  for (int64_t done = 0; err == OSLA_OK && done < count; done += most) {
    const int64_t rows = count - done < most ? count - done : most;
    err = osla_matrix_get_block(a, first + done, s->first_row, rows, s->n, strip, rows);
    for (int64_t k = 0; err == OSLA_OK && k < rows; k++)
      for (int64_t i = 0; i < s->n; i++)
        to[i + (done + k) * s->n] = strip[k + i * rows];
  }
  free(strip);
  return err;
}

/* Sets to [s->n x count] to this rank's rows of A in `count` columns, which all lie before or all
 * after this rank's own columns. */
static osla_err read_columns(const osla_splitting *s, const osla_matrix *a, osla_uplo uplo,
                             int64_t first, int64_t count, double *to)
{
  const osla_uplo lies_in = first < s->first_row ? OSLA_LOWER : OSLA_UPPER;
  if (uplo != OSLA_GENERAL && uplo != lies_in) return read_transposed(s, a, first, count, to);
  return osla_matrix_get_block(a, s->first_row, first, s->n, count, to, s->n);
}

static void mirror(osla_uplo from, int64_t n, double *block)
{
  for (int64_t j = 0; j < n; j++)
    for (int64_t i = j + 1; i < n; i++)
      if (from == OSLA_LOWER)
        block[j + i * n] = block[i + j * n];
      else
        block[i + j * n] = block[j + i * n];
}

/* Reads this rank's rows of A in the column order of a state: own columns, then the columns before
 * the own ones, then the columns after them. */
static osla_err read_rows(osla_splitting *s, const osla_matrix *a, osla_uplo uplo)
{
  const int64_t n = s->n, columns = columns_of(s), before = s->first_row;
  OSLA_CHECK((uint64_t)columns <= SIZE_MAX / sizeof(double) / ((uint64_t)n + 1), OSLA_ERR_MEM,
             "splitting: no memory for %" PRId64 " rows of %" PRId64 " columns", n, columns);
  s->dense = malloc((size_t)n * (size_t)columns * sizeof *s->dense + 1);
  OSLA_CHECK(s->dense, OSLA_ERR_MEM,
             "splitting: no memory for %" PRId64 " rows of %" PRId64 " columns", n, columns);
  if (n == 0) return OSLA_OK;
  OSLA_CALL(osla_matrix_get_block(a, before, before, n, n, s->dense, n));
  if (uplo != OSLA_GENERAL) mirror(uplo, n, s->dense);
  OSLA_CALL(read_columns(s, a, uplo, 0, before, s->dense + n * n));
  return read_columns(s, a, uplo, before + n, columns - n - before, s->dense + (n + before) * n);
}

/* ---- create ---- */

static osla_err find_halos(osla_splitting *s, const int64_t *start)
{
  const int size = osla_transport_size(s->t), rank = osla_transport_rank(s->t);
  OSLA_CALL(osli_splitting_make_halos(s, size, s->n));
  for (int64_t i = 0; i < s->n; i++)
    s->memory[i] = (int32_t)i;
  for (int p = 0; p < size; p++) {
    const int64_t rows = start[p + 1] - start[p];
    if (p == rank || rows == 0 || s->n == 0) continue;
    s->halos[s->n_halos] = (osla_halo){.peer = p, .send = s->n, .recv = rows};
    s->sent[s->n_halos] = s->memory;
    s->received[s->n_halos++] = p < rank ? start[p] : start[p] - s->n;
  }
  return OSLA_OK;
}

static osla_err prepare(osla_splitting *s, const osla_matrix *a, osla_uplo uplo,
                        const osla_splitting_options *o)
{
  const int size = osla_transport_size(s->t), rank = osla_transport_rank(s->t);
  const int64_t n = osla_matrix_layout(a).n;
  int64_t *start = malloc(((size_t)size + 1) * sizeof *start);
  OSLA_CHECK(start, OSLA_ERR_MEM, "splitting: no memory for %d ranks", size);
  osla_even_blocks(n, size, start);
  s->first_row = start[rank];
  s->n = start[rank + 1] - start[rank];
  s->n_ghosts = s->n > 0 ? n - s->n : 0;
  s->row_terms = (int)n;
  osla_err err = find_halos(s, start);
  free(start);
  if (err == OSLA_OK) err = read_rows(s, a, uplo);
  return err == OSLA_OK ? osli_splitting_factor_blocks(s, o, NULL) : err;
}

static osla_err check(const osla_matrix *a, osla_uplo uplo)
{
  const osla_layout l = osla_matrix_layout(a);
  OSLA_CHECK(l.m == l.n, OSLA_ERR_ARG,
             "splitting: the matrix is not square: %" PRId64 " x %" PRId64, l.m, l.n);
  OSLA_CHECK(osla_matrix_dtype(a) == OSLA_DOUBLE, OSLA_ERR_ARG,
             "splitting: the matrix has type %c, d is needed",
             osla_dtype_letter(osla_matrix_dtype(a)));
  OSLA_CHECK(uplo == OSLA_LOWER || uplo == OSLA_UPPER || uplo == OSLA_GENERAL, OSLA_ERR_ARG,
             "splitting: uplo = %d is not an osla_uplo", (int)uplo);
  OSLA_CHECK(l.n < INT32_MAX, OSLA_ERR_RANGE, "splitting: %" PRId64 " rows: 2^31 or more", l.n);
  return OSLA_OK;
}

osla_err osla_splitting_create_dense(osla_uplo uplo, const osla_matrix *a, const double *b,
                                     const osla_splitting_options *options, osla_splitting **out)
{
  static const split_kind kind = {residual, absolute, copy_block};
  osla_transport *t = osla_grid_transport(osla_matrix_grid(a));
  const osla_splitting_options o = options ? *options : (osla_splitting_options){0};
  *out = NULL;
  OSLA_NEEDS_HOST("osla_splitting_create_dense", a);
  OSLA_NEEDS_FULL("osla_splitting_create_dense", a);
  /* waits until all ranks have written A */
  OSLA_CALL(osli_splitting_open(t, check(a, uplo), &kind, uplo, b, &o, out));
  /* waits until all ranks have read A */
  const osla_err err = osla_agree(t, prepare(*out, a, uplo, &o));
  if (err != OSLA_OK) osla_splitting_destroy(out);
  return err;
}
