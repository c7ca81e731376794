#include "tests/kernels/kernel_reference.h"

#include "osla_index.h"
#include "osla_random.h"
#include "src/matrix/stored.h"
#include "tests/complex_help.h"
#include "tests/osla_test_help.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <mpi.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* byte that fills the padding between columns; a huge number in every type */
enum { GUARD = 0x7F };

/* ---- process grids ---- */

typedef enum places { ROW_MAJOR, PERMUTED, FIRST_IDLE } places;

static osla_grid *grid_of(osla_transport *t, int nprow, int npcol, places how)
{
  osla_grid *grid = NULL;
  int size = osla_transport_size(t), rank = osla_transport_rank(t);
  if (how == ROW_MAJOR) {
    OSLA_ASSERT_OK(osla_grid_create(t, nprow, npcol, &grid));
    return grid;
  }
  int place = how == PERMUTED ? size - 1 - rank : rank - 1;
  bool member = place >= 0 && place < nprow * npcol;
  OSLA_ASSERT_OK(osla_grid_create_at(t, nprow, npcol, member ? place % nprow : -1,
                                     member ? place / nprow : -1, &grid));
  return grid;
}

osla_grid *kernel_grid(osla_transport *t, int which)
{
  int size = osla_transport_size(t), n = 0;
  for (places how = ROW_MAJOR; how <= PERMUTED && (how == ROW_MAJOR || size > 1); how++)
    for (int p = 1; p <= size; p++)
      if (size % p == 0 && which == n++) return grid_of(t, p, size / p, how);
  if (size > 1 && which == n++) return grid_of(t, size - 1, 1, FIRST_IDLE);
  if (size > 4 && which == n++) return grid_of(t, 2, 2, FIRST_IDLE);
  if (size > 2 && which == n++) return grid_of(t, 1, 2, ROW_MAJOR);
  return NULL;
}

int kernel_n_grids(osla_transport *t)
{
  int n = 0;
  for (osla_grid *grid; (grid = kernel_grid(t, n)) != NULL; n++)
    osla_grid_destroy(&grid);
  return n;
}

/* ---- distributed matrices ---- */

osla_forward kernel_forward(int which)
{
  static const osla_forward ways[] = {OSLA_FORWARD_RING, OSLA_FORWARD_TREE, OSLA_FORWARD_CHOSEN,
                                      OSLA_FORWARD_FLAT};
  return ways[(which % 4 + 4) % 4];
}

kernel_matrix kernel_make(osla_grid *grid, osla_dtype dtype, int64_t m, int64_t n, int64_t mb,
                          int64_t nb, bool wrapped)
{
  kernel_matrix made = {0};
  osla_err err;
  if (wrapped) {
    size_t e = osla_dtype_size(dtype);
    int64_t rows = osla_index_count(m, mb, osla_grid_prow(grid), osla_grid_nprow(grid));
    int64_t cols = osla_index_count(n, nb, osla_grid_pcol(grid), osla_grid_npcol(grid));
    int64_t lld = rows + 1 + osla_test_rank() % 3;
    made.shift = e;
    made.bytes = (size_t)(lld * cols) * e + made.shift;
    made.memory = osla_test_allocate(1, made.bytes);
    memset(made.memory, GUARD, made.bytes);
    void *local = rows * cols > 0 ? made.memory + made.shift : NULL;
    err = osla_matrix_wrap(grid, dtype, m, n, mb, nb, local, lld, &made.a);
  } else {
    err = osla_matrix_create(grid, dtype, m, n, mb, nb, &made.a);
  }
  if (err != OSLA_OK) {
    fprintf(stderr, "test: no matrix: %s\n", osla_error_text());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  return made;
}

kernel_matrix kernel_make_triangle(osla_grid *grid, osla_dtype dtype, int64_t n, int64_t nb)
{
  kernel_matrix made = {0};
  if (osla_matrix_create_triangle(grid, dtype, n, nb, &made.a) != OSLA_OK) {
    fprintf(stderr, "test: no triangular matrix: %s\n", osla_error_text());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  return made;
}

static int64_t count_overwritten(const kernel_matrix *matrix)
{
  size_t e = osla_dtype_size(osla_matrix_dtype(matrix->a));
  int64_t rows = osla_matrix_local_rows(matrix->a), cols = osla_matrix_local_cols(matrix->a);
  size_t column = (size_t)osla_matrix_lld(matrix->a, osla_test_rank()) * e;
  int64_t overwritten = 0;
  for (size_t i = 0; i < matrix->shift; i++)
    overwritten += matrix->memory[i] != GUARD;
  for (int64_t c = 0; c < cols; c++)
    for (size_t i = (size_t)rows * e; i < column; i++)
      overwritten += matrix->memory[matrix->shift + (size_t)c * column + i] != GUARD;
  return overwritten;
}

void kernel_free(kernel_matrix *matrix)
{
  if (matrix->memory)
    OSLA_ASSERT_MSG(count_overwritten(matrix) == 0, "padding of a wrapped array was written");
  osla_matrix_destroy(&matrix->a);
  free(matrix->memory);
  *matrix = (kernel_matrix){0};
}

const char *kernel_label(const osla_matrix *a, bool wrapped)
{
  static char text[128];
  osla_layout l = osla_matrix_layout(a);
  (void)snprintf(text, sizeof text,
                 "%d x %d grid, %" PRId64 " x %" PRId64 " in %" PRId64 " x %" PRId64 ", type %c%s",
                 l.nprow, l.npcol, l.m, l.n, l.mb, l.nb, osla_dtype_letter(osla_matrix_dtype(a)),
                 osla_matrix_is_triangle(a) ? ", triangle"
                 : wrapped                  ? ", wrapped"
                                            : "");
  return text;
}

double kernel_eps(osla_dtype dtype)
{
  return dtype == OSLA_FLOAT || dtype == OSLA_COMPLEX_FLOAT ? FLT_EPSILON : DBL_EPSILON;
}

/* ---- serial copies of matrices ---- */

dense dense_make(int64_t m, int64_t n, int parts)
{
  return (dense){m, n, parts, osla_test_allocate(1, (size_t)(m * n * parts) * sizeof(double))};
}

void dense_free(dense *d)
{
  free(d->at);
  d->at = NULL;
}

dense dense_gather(const osla_matrix *a)
{
  osla_layout l = osla_matrix_layout(a);
  osla_dtype dtype = osla_matrix_dtype(a);
  osla_transport *t = osla_grid_transport(osla_matrix_grid(a));
  bool is_float = dtype == OSLA_FLOAT || dtype == OSLA_COMPLEX_FLOAT;
  dense d = dense_make(l.m, l.n, dtype >= OSLA_COMPLEX_FLOAT ? 2 : 1);
  OSLA_ASSERT_OK(osla_barrier(t)); /* after this barrier the matrix is complete on all ranks */
  OSLA_ASSERT_OK(osla_matrix_get_block(a, 0, 0, l.m, l.n, d.at, l.m > 1 ? l.m : 1));
  OSLA_ASSERT_OK(osla_barrier(t)); /* after this barrier no rank reads the matrix */
  if (is_float) /* floats are expanded to doubles in place, from the last element to the first */
    for (int64_t i = l.m * l.n * d.parts - 1; i >= 0; i--) {
      float narrow;
      memcpy(&narrow, (unsigned char *)d.at + (size_t)i * sizeof narrow, sizeof narrow);
      d.at[i] = (double)narrow;
    }
  return d;
}

void dense_scatter(const dense *d, osla_matrix *a)
{
  osla_layout l = osla_matrix_layout(a);
  osla_grid *grid = osla_matrix_grid(a);
  osla_transport *t = osla_grid_transport(grid);
  for (int64_t c = 0; c < osla_matrix_local_cols(a); c++) {
    const stored_columns s = osli_stored_columns(a, osla_transport_rank(t), c);
    for (int64_t r = s.first_row; r < osla_matrix_local_rows(a); r++) {
      const double *x = dense_at(d, osla_index_global(r, l.mb, osla_grid_prow(grid), l.nprow),
                                 osla_index_global(c, l.nb, osla_grid_pcol(grid), l.npcol));
      osla_test_store(osla_matrix_dtype(a), osla_matrix_local(a), stored_index(&s, r, c),
                      CMPLX(x[0], d->parts == 2 ? x[1] : 0.0));
    }
  }
  OSLA_ASSERT_OK(osla_barrier(t));
}

void dense_multiply(double alpha, const dense *a, const dense *b, dense *c, int64_t first,
                    int64_t stride)
{
  for (int64_t j = first; j < c->n; j += stride)
    for (int64_t k = 0; k < a->n; k++) {
      const double *x = dense_at(b, k, j), *column = dense_at(a, 0, k);
      double *y = dense_at(c, 0, j), re = alpha * x[0];
      if (c->parts == 1) {
        for (int64_t i = 0; i < c->m; i++)
          y[i] += column[i] * re;
        continue;
      }
      double im = alpha * x[1];
      for (int64_t i = 0; i < c->m; i++) {
        y[2 * i] += column[2 * i] * re - column[2 * i + 1] * im;
        y[2 * i + 1] += column[2 * i] * im + column[2 * i + 1] * re;
      }
    }
}

dense dense_transpose(const dense *d)
{
  dense t = dense_make(d->n, d->m, 1);
  for (int64_t j = 0; j < d->n; j++)
    for (int64_t i = 0; i < d->m; i++)
      *dense_at(&t, j, i) = *dense_at(d, i, j);
  return t;
}

/* Returns the matrix of |re| + |im| of each element, which bounds products of complex numbers. */
dense dense_absolute(const dense *d)
{
  dense r = dense_make(d->m, d->n, 1);
  for (int64_t i = 0; i < d->m * d->n; i++) {
    r.at[i] = fabs(d->at[i * d->parts]);
    if (d->parts == 2) r.at[i] += fabs(d->at[2 * i + 1]);
  }
  return r;
}

double dense_norm_one(const dense *d, int64_t first, int64_t stride)
{
  double largest = 0.0;
  for (int64_t j = first; j < d->n; j += stride) {
    double sum = 0.0;
    for (int64_t i = 0; i < d->m; i++)
      sum += fabs(*dense_at(d, i, j));
    if (isnan(sum)) return sum;
    if (sum > largest) largest = sum;
  }
  return largest;
}

dense dense_product(const dense *a, const dense *b)
{
  dense c = dense_make(a->m, b->n, 1);
  dense_multiply(1.0, a, b, &c, 0, 1);
  return c;
}

/* ---- matrices with exact factors ---- */

static double whole(uint64_t seed, int64_t i, int64_t j, int reach)
{
  uint64_t span = 2 * (uint64_t)reach + 1;
  return (double)(osla_random_bits(seed, (uint64_t)i, (uint64_t)j) % span) - reach;
}

static double power(uint64_t seed, int64_t i, bool with_sign)
{
  uint64_t bits = osla_random_bits(seed, (uint64_t)i, UINT64_MAX);
  double value = bits & 1 ? 2.0 : 1.0;
  return with_sign && (bits & 2) ? -value : value;
}

dense exact_unit_lower(int64_t n, uint64_t seed)
{
  dense d = dense_make(n, n, 1);
  for (int64_t j = 0; j < n; j++)
    for (int64_t i = j; i < n; i++)
      *dense_at(&d, i, j) = i == j ? 1.0 : whole(seed, i, j, 1);
  return d;
}

dense exact_upper(int64_t n, uint64_t seed)
{
  dense d = dense_make(n, n, 1);
  for (int64_t j = 0; j < n; j++)
    for (int64_t i = 0; i <= j; i++)
      *dense_at(&d, i, j) = i == j ? power(seed, i, true) : whole(seed, i, j, 2);
  return d;
}

dense exact_lower(int64_t n, uint64_t seed)
{
  dense d = exact_unit_lower(n, seed);
  for (int64_t i = 0; i < n; i++)
    *dense_at(&d, i, i) = power(seed, i, false);
  return d;
}

dense exact_whole(int64_t m, int64_t n, uint64_t seed)
{
  dense d = dense_make(m, n, 1);
  for (int64_t j = 0; j < n; j++)
    for (int64_t i = 0; i < m; i++)
      *dense_at(&d, i, j) = whole(seed, i, j, 4);
  return d;
}

/* ---- checks of results ---- */

bool kernel_expect(const osla_matrix *a, const dense *expected, const char *format, ...)
{
  char text[256];
  va_list args;
  va_start(args, format);
  (void)vsnprintf(text, sizeof text, format, args);
  va_end(args);
  dense got = dense_gather(a);
  int64_t count = got.m * got.n * got.parts, wrong = 0, first = 0;
  for (int64_t i = 0; i < count; i++) {
    double x = got.at[i], y = expected->at[i];
    if (x == y || (isnan(x) && isnan(y))) continue;
    if (wrong++ == 0) first = i;
  }
  int64_t element = first / got.parts, m = got.m > 0 ? got.m : 1;
  bool held = osla_test_check(wrong == 0, __FILE__, __LINE__,
                              "%s: %" PRId64 " of %" PRId64 " values differ, first at (%" PRId64
                              ", %" PRId64 "): %.17g, not %.17g",
                              text, wrong, count, element % m, element / m,
                              wrong ? got.at[first] : 0.0, wrong ? expected->at[first] : 0.0);
  dense_free(&got);
  return held;
}

bool kernel_backward(const char *what, const dense *a, const dense *f, const dense *g,
                     osla_dtype dtype)
{
  int64_t first = osla_test_rank(), stride = osla_test_size();
  dense r = dense_make(a->m, a->n, 1);
  memcpy(r.at, a->at, (size_t)(a->m * a->n) * sizeof(double));
  dense_multiply(-1.0, f, g, &r, first, stride);
  double difference = dense_norm_one(&r, first, stride), norm = dense_norm_one(a, 0, 1);
  double ratio = difference == 0.0 ? 0.0 : difference / ((double)a->n * kernel_eps(dtype) * norm);
  dense_free(&r);
  return osla_test_check(ratio < 16.0, __FILE__, __LINE__,
                         "%s: |A - F G|_1 / (n eps |A|_1) = %.3g / (%" PRId64 " * %.2g * %.3g) = "
                         "%.3g, not below 16",
                         what, difference, a->n, kernel_eps(dtype), norm, ratio);
}

/* ---- delays in progress steps ---- */

static void delay(void *arg)
{
  delays *d = arg;
  uint64_t bits = osla_random_bits(d->seed, (uint64_t)osla_test_rank(), d->calls++);
  if (bits % 4 == 0) (void)usleep((useconds_t)(bits / 4 % 300));
}

void delays_begin(delays *d, osla_transport *t, uint64_t seed)
{
  *d = (delays){t, seed, 0};
  OSLA_ASSERT_OK(osla_progress_add(t, delay, d));
}

void delays_end(delays *d)
{
  osla_progress_remove(d->t, delay, d);
}

bool kernel_turn(int grid, int variant)
{
  int one_in = osla_test_size() <= 2 ? 1 : osla_test_size() <= 4 ? 5 : 9;
  return (grid + variant) % one_in == 0;
}

int kernel_rounds(int usual)
{
  const char *text = getenv("OSLA_TEST_ROUNDS");
  int rounds = text ? atoi(text) : 0;
  if (rounds > 0) return rounds;
  return osla_test_size() > 2 ? usual / 2 : usual;
}
