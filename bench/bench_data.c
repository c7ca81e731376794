/* Private memory, products of a matrix and a vector, and norms for checks. See bench.h. */
#include "bench/bench.h"
#include "osla_index.h"
#include "osla_random.h"
#include "src/blas/work.h"
#include "src/device/device.h"

#include <complex.h>
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* malloc.h is not included in a simulation, because malloc is then a macro of SMPI. */
#if defined __GLIBC__ && !defined malloc
#define HAS_MALLOPT
#include <malloc.h>
#endif

osla_err bench_memory_check(bench_job *job, uint64_t bytes)
{
  uint64_t shared = 0, available = 0, need = bytes;
  osla_err err = OSLA_OK;
  if (osli_work_modelled) return OSLA_OK; /* modelled work needs no memory for data */
  uint64_t *share = calloc((size_t)job->size, sizeof *share);
  if (!share) err = osla_error_set(OSLA_ERR_MEM, "table of %d ranks", job->size);
  OSLA_TRY(osla_agree(job->transport, err));
  share[job->rank] = bytes;
  OSLA_TRY(osla_allreduce(job->transport, share, job->size, MPI_UINT64_T, MPI_SUM));
  osla_memory_available(&shared, &available);
  for (int rank = 0; rank < job->size; rank++)
    if (rank != job->rank && osla_transport_same_node(job->transport, rank)) need += share[rank];
  if (need > available)
    err = osla_error_set(
      OSLA_ERR_MEM, "private memory: %" PRIu64 " bytes needed on a node, %" PRIu64 " available",
      need, available);
  OSLA_TRY(osla_agree(job->transport, err));
cleanup:
  free(share);
  return err;
}

osla_err bench_alloc(bench_job *job, uint64_t bytes, void **out)
{
  osla_err err = OSLA_OK;
  *out = NULL;
  OSLA_CALL(bench_memory_check(job, bytes));
  *out = calloc(bytes ? (size_t)bytes : 1, 1);
  if (!*out) err = osla_error_set(OSLA_ERR_MEM, "%" PRIu64 " bytes cannot be allocated", bytes);
  err = osla_agree(job->transport, err);
  if (err != OSLA_OK) {
    free(*out);
    *out = NULL;
  }
  return err;
}

double bench_eps(osla_dtype dtype)
{
  return dtype == OSLA_FLOAT || dtype == OSLA_COMPLEX_FLOAT ? (double)FLT_EPSILON : DBL_EPSILON;
}

/* Defines a function that computes y += op(A) x for one element type, with sums in osla_complex.
 * `letter` is the BLAS's letter for the type. */
#define DEFINE_APPLY(letter, type, conjugate)                                                      \
  static void apply_##letter(osla_trans trans, int64_t m, int64_t n, const type *a, int64_t ld,    \
                             const osla_complex *x, osla_complex *y)                               \
  {                                                                                                \
    for (int64_t j = 0; j < n; j++, a += ld) {                                                     \
      osla_complex sum = 0;                                                                        \
      if (trans == OSLA_NOTRANS)                                                                   \
        for (int64_t i = 0; i < m; i++)                                                            \
          y[i] += a[i] * x[j];                                                                     \
      else if (trans == OSLA_TRANS)                                                                \
        for (int64_t i = 0; i < m; i++)                                                            \
          sum += a[i] * x[i];                                                                      \
      else                                                                                         \
        for (int64_t i = 0; i < m; i++)                                                            \
          sum += conjugate(a[i]) * x[i];                                                           \
      if (trans != OSLA_NOTRANS) y[j] += sum;                                                      \
    }                                                                                              \
  }
DEFINE_APPLY(s, float, (double))
DEFINE_APPLY(d, double, )
DEFINE_APPLY(c, float _Complex, conj)
DEFINE_APPLY(z, double _Complex, conj)

void bench_apply_local(osla_dtype dtype, osla_trans trans, int64_t m, int64_t n, const void *a,
                       int64_t ld, const osla_complex *x, osla_complex *y)
{
  switch (dtype) {
    case OSLA_FLOAT: apply_s(trans, m, n, a, ld, x, y); break;
    case OSLA_DOUBLE: apply_d(trans, m, n, a, ld, x, y); break;
    case OSLA_COMPLEX_FLOAT: apply_c(trans, m, n, a, ld, x, y); break;
    case OSLA_COMPLEX_DOUBLE: apply_z(trans, m, n, a, ld, x, y); break;
  }
}

void bench_fill_vector(osla_dtype dtype, osla_complex *x, int64_t n, uint64_t seed)
{
  bool real = dtype == OSLA_FLOAT || dtype == OSLA_DOUBLE;
  for (int64_t i = 0; i < n; i++) {
    x[i] = osla_random_uniform(seed, (uint64_t)i, 0);
    if (!real) x[i] += osla_random_uniform(seed, (uint64_t)i, 1) * (osla_complex)I;
  }
}

/* In global column j, finds the range [first, end) of local rows of process row `prow` that belong
 * to the part `part` of the matrix. */
static void part_rows(bench_part part, const osla_layout *l, int prow, int64_t j, int64_t *first,
                      int64_t *end)
{
  int64_t before = osla_index_count(j, l->mb, prow, l->nprow);
  int64_t with = osla_index_count(j + 1, l->mb, prow, l->nprow);
  *first = part == BENCH_LOWER ? before : part == BENCH_UNIT_LOWER ? with : 0;
  *end = part == BENCH_UPPER ? with : osla_index_count(l->m, l->mb, prow, l->nprow);
}

osla_err bench_apply(bench_part part, osla_trans trans, osla_matrix *a, const osla_complex *x,
                     osla_complex *y)
{
  osla_layout l = osla_matrix_layout(a);
  osla_grid *grid = osla_matrix_grid(a);
  osla_transport *t = osla_grid_transport(grid);
  osla_dtype dtype = osla_matrix_dtype(a);
  int64_t rows = osla_matrix_local_rows(a), cols = osla_matrix_local_cols(a), first, end;
  int64_t lld = osla_matrix_lld(a, osla_transport_rank(t));
  int prow = osla_grid_prow(grid), pcol = osla_grid_pcol(grid);
  /* length of y, and of the sum over the ranks */
  int64_t length = trans == OSLA_NOTRANS ? l.m : l.n;
  const size_t size = osla_dtype_size(dtype);
  /* If the matrix is on a device, `wide` columns at a time are copied to host memory. */
  const bool on_device = osla_matrix_device(a) != NULL;
  const int64_t wide = 64;
  osla_err err = OSLA_OK;
  osla_complex *by_row = calloc((size_t)(rows + cols + 1), sizeof *by_row);
  unsigned char *columns = on_device ? malloc((size_t)(rows * wide) * size + 1) : NULL;
  /* Local parts of the vectors. For OSLA_NOTRANS by_row belongs to y and by_col to x; otherwise
   * by_row belongs to x and by_col to y. */
  osla_complex *by_col = by_row + rows;
  if (!by_row || (on_device && !columns))
    err = osla_error_set(OSLA_ERR_MEM, "%" PRId64 " elements", rows + cols);
  OSLA_TRY(osla_agree(t, err));
  memset(y, 0, (size_t)length * sizeof *y);
  for (int64_t i = 0; i < rows && trans != OSLA_NOTRANS; i++)
    by_row[i] = x[osla_index_global(i, l.mb, prow, l.nprow)];
  for (int64_t j = 0; j < cols; j++) {
    int64_t column = osla_index_global(j, l.nb, pcol, l.npcol);
    part_rows(part, &l, prow, column, &first, &end);
    const unsigned char *local = osla_matrix_local(a),
                        *at = local + (size_t)(j * lld + first) * size;
    if (on_device) {
      if (j % wide == 0) { /* copy the next columns' rows that belong to the part */
        const int64_t last = (cols - j < wide ? cols : j + wide) - 1;
        int64_t from, to, unused;
        part_rows(part, &l, prow, column, &from, &unused);
        part_rows(part, &l, prow, osla_index_global(last, l.nb, pcol, l.npcol), &unused, &to);
        osli_device_copy(size, to - from, last - j + 1, local + (size_t)(j * lld + from) * size,
                         lld, columns + (size_t)from * size, rows);
      }
      at = columns + (size_t)(j % wide * rows + first) * size;
    }
    if (trans == OSLA_NOTRANS) {
      bench_apply_local(dtype, trans, end - first, 1, at, lld, &x[column], by_row + first);
    } else {
      bench_apply_local(dtype, trans, end - first, 1, at, lld, by_row + first, by_col + j);
      y[column] = by_col[j];
    }
  }
  for (int64_t i = 0; i < rows && trans == OSLA_NOTRANS; i++)
    y[osla_index_global(i, l.mb, prow, l.nprow)] = by_row[i];
  err = osla_allreduce(t, y, 2 * length, MPI_DOUBLE, MPI_SUM);
  for (int64_t i = 0; i < length && part == BENCH_UNIT_LOWER; i++)
    y[i] += x[i];
cleanup:
  free(columns);
  free(by_row);
  return err;
}

osla_err bench_apply_symmetric(osla_trans trans, osla_matrix *a, const osla_complex *x,
                               osla_complex *y, osla_complex *scratch)
{
  OSLA_CALL(bench_apply(BENCH_LOWER, OSLA_NOTRANS, a, x, y));
  OSLA_CALL(bench_apply(BENCH_UNIT_LOWER, trans, a, x, scratch));
  for (int64_t i = 0; i < osla_matrix_layout(a).n; i++)
    y[i] += scratch[i] - x[i];
  return OSLA_OK;
}

double bench_max(const osla_complex *u, int64_t n)
{
  double largest = 0;
  for (int64_t i = 0; i < n; i++)
    if (!(cabs(u[i]) <= largest)) largest = cabs(u[i]);
  return largest;
}

double bench_max_difference(const osla_complex *u, const osla_complex *v, int64_t n)
{
  double largest = 0;
  for (int64_t i = 0; i < n; i++) {
    double d = cabs(u[i] - v[i]);
    if (isnan(d)) return d;
    if (d > largest) largest = d;
  }
  return largest;
}

double bench_residual(osla_dtype dtype, const osla_complex *y, const osla_complex *expected,
                      int64_t n, int64_t terms)
{
  return bench_max_difference(y, expected, n) /
         (bench_eps(dtype) * sqrt((double)terms) * bench_max(expected, n));
}

void bench_keep_freed_memory(void)
{
#ifdef HAS_MALLOPT
  (void)mallopt(M_MMAP_MAX, 0);
  (void)mallopt(M_TRIM_THRESHOLD, -1);
#endif
}
