#include "tests/hessian_reference.h"

#include "osla_index.h"
#include "src/matrix/stored.h"

#include <inttypes.h>
#include <math.h>
#include <mpi.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int hessian_rounds(int usual)
{
  const char *text = getenv("OSLA_TEST_ROUNDS");
  int rounds = text ? atoi(text) : 0;
  return rounds > 0 ? rounds : usual;
}

osla_grid *hessian_grid(osla_transport *t, int which)
{
  int size = osla_transport_size(t), back = size - 1 - osla_transport_rank(t), n = 0;
  osla_grid *square = osla_test_square_grid(t), *grid = NULL;
  if (which == n++) return square;
  int nprow = osla_grid_nprow(square), npcol = osla_grid_npcol(square);
  osla_grid_destroy(&square);
  if (size > 1 && which == n++)
    OSLA_ASSERT_OK(osla_grid_create_at(t, nprow, npcol, back / npcol, back % npcol, &grid));
  if (size > 1 && which == n++) OSLA_ASSERT_OK(osla_grid_create(t, size, 1, &grid));
  if (size > 3 && which == n++) OSLA_ASSERT_OK(osla_grid_create(t, 1, size, &grid));
  if (size > 2 && which == n++) OSLA_ASSERT_OK(osla_grid_create(t, 1, 2, &grid));
  if (size > 4 && which == n++) OSLA_ASSERT_OK(osla_grid_create(t, 2, 2, &grid));
  if (size > 1 && which == n++) OSLA_ASSERT_OK(osla_grid_create(t, 1, 1, &grid));
  return grid;
}

/* ---- updates of the accumulator ---- */

static void set_value(const test_update *u, int64_t at, double value)
{
  if (u->dtype == OSLA_FLOAT)
    ((float *)u->values)[at] = (float)value;
  else
    ((double *)u->values)[at] = value;
}

/* Allocates the arrays of an update, and fills them with NaN. */
static void allocate(test_update *u)
{
  int64_t count = u->ld * u->cols;
  u->ix = osla_test_allocate((size_t)u->rows, sizeof *u->ix);
  u->gradient = osla_test_allocate((size_t)u->rows, sizeof *u->gradient);
  if (u->k < 0) u->jx = osla_test_allocate((size_t)u->cols, sizeof *u->jx);
  u->values = osla_test_allocate((size_t)count, osla_dtype_size(u->dtype));
  for (int64_t at = 0; at < count; at++)
    set_value(u, at, (double)NAN);
}

static int64_t pick_count(uint64_t seed, int64_t number, int64_t most)
{
  switch (osla_test_choose(seed, number, 8)) {
    case 0: return 0;
    case 1: return 1;
    case 2: return most;
    default: return osla_test_choose(seed + 1, number, most + 1);
  }
}

static int compare_indices(const void *x, const void *y)
{
  int64_t a = *(const int64_t *)x, b = *(const int64_t *)y;
  return (a > b) - (a < b);
}

/* Chooses indices below n: sorted with repetitions, unsorted with repetitions, or descending (which
 * repeats none of the first n). */
static void pick_indices(uint64_t seed, int64_t n, int64_t count, int64_t *ix)
{
  int64_t how = osla_test_choose(seed, -1, 3), from = osla_test_choose(seed, -2, n);
  for (int64_t i = 0; i < count; i++)
    ix[i] = how == 2 ? (from + n - i % n) % n : osla_test_choose(seed, i, n);
  if (how == 0) qsort(ix, (size_t)count, sizeof *ix, compare_indices);
}

test_update update_random(uint64_t seed, int64_t number, int64_t n, int64_t most, osla_dtype dtype)
{
  static const int64_t depths[] = {-1, -1, -1, 0, 1, 2, 5, 130};
  uint64_t s = seed * 1000003 + (uint64_t)number * 1009;
  test_update u = {.dtype = dtype, .k = depths[osla_test_choose(s, 1, 8)]};
  u.rows = pick_count(s + 1, 2, most);
  u.cols = u.k < 0 ? pick_count(s + 2, 3, most) : u.rows;
  u.ld = (u.k < 0 ? u.rows : u.k) + osla_test_choose(s, 4, 3);
  if (u.ld < 1) u.ld = 1;
  allocate(&u);
  pick_indices(s + 3, n, u.rows, u.ix);
  if (u.jx) pick_indices(s + 4, n, u.cols, u.jx);
  int64_t filled = u.k < 0 ? u.rows : u.k;
  for (int64_t c = 0; c < u.cols; c++)
    for (int64_t r = 0; r < filled; r++)
      set_value(&u, r + c * u.ld, (double)(osla_test_choose(s + 5, r * 1000 + c, 7) - 3));
  for (int64_t r = 0; r < u.rows; r++)
    u.gradient[r] = (double)(r % 17 - 5);
  return u;
}

test_update update_ones(int64_t n, int64_t k, osla_dtype dtype)
{
  test_update u = {.dtype = dtype, .rows = n, .cols = n, .k = k, .ld = k};
  allocate(&u);
  for (int64_t i = 0; i < n; i++) {
    u.ix[i] = n - 1 - i;
    u.gradient[i] = 1.0;
    for (int64_t r = 0; r < k; r++)
      set_value(&u, r + i * k, 1.0);
  }
  return u;
}

void update_free(test_update *u)
{
  free(u->ix);
  free(u->jx);
  free(u->values);
  free(u->gradient);
}

osla_err update_push(osla_hessian *h, test_update u)
{
  osla_err err = u.k < 0 ? osla_hessian_update_block(h, u.rows, u.ix, u.cols, u.jx, u.values, u.ld)
                         : osla_hessian_update(h, u.rows, u.ix, u.k, u.values, u.ld);
  if (err == OSLA_OK) err = osla_hessian_update_gradient(h, u.rows, u.ix, u.gradient);
  for (int64_t at = 0; at < u.ld * u.cols; at++)
    set_value(&u, at, 1e6);
  memset(u.ix, 0x55, (size_t)u.rows * sizeof *u.ix);
  if (u.jx) memset(u.jx, 0x55, (size_t)u.cols * sizeof *u.jx);
  update_free(&u);
  return err;
}

osla_err update_push_once(osla_hessian *h, test_update u, uint64_t id, bool *skipped)
{
  osla_hessian_datum d = {.id = id, .count = u.rows, .ix = u.ix, .gradient = u.gradient};
  if (u.k < 0) {
    d.cols = u.cols;
    d.jx = u.jx;
    d.u = u.values;
    d.ldu = u.ld;
  } else {
    d.k = u.k;
    d.g = u.values;
    d.ldg = u.ld;
  }
  osla_err err = osla_hessian_update_once(h, &d, skipped);
  memset(u.ix, 0x55, (size_t)u.rows * sizeof *u.ix);
  update_free(&u);
  return err;
}

/* ---- the serial sum ---- */

serial_sum sum_create(int64_t n, osla_uplo uplo)
{
  return (serial_sum){.n = n,
                      .uplo = uplo,
                      .h = osla_test_allocate((size_t)(n * n), sizeof(double)),
                      .gradient = osla_test_allocate((size_t)n, sizeof(double))};
}

void sum_clear(serial_sum *sum)
{
  memset(sum->h, 0, (size_t)(sum->n * sum->n) * sizeof *sum->h);
  memset(sum->gradient, 0, (size_t)sum->n * sizeof *sum->gradient);
  sum->elements = 0;
}

void sum_fill(serial_sum *sum, double initial)
{
  sum_clear(sum);
  for (int64_t at = 0; at < sum->n * sum->n; at++)
    sum->h[at] = initial;
}

void sum_free(serial_sum *sum)
{
  free(sum->h);
  free(sum->gradient);
}

/* ---- the serial sum of the updates ---- */
static double element_of(const test_update *u, int64_t a, int64_t b)
{
  if (u->k < 0) return osla_test_real(u->dtype, u->values, a + b * u->ld);
  double sum = 0.0;
  for (int64_t r = 0; r < u->k; r++)
    sum += osla_test_real(u->dtype, u->values, r + a * u->ld) *
           osla_test_real(u->dtype, u->values, r + b * u->ld);
  return sum;
}

void sum_add(serial_sum *sum, test_update u, double times)
{
  const int64_t *jx = u.jx ? u.jx : u.ix;
  for (int64_t b = 0; b < u.cols; b++)
    for (int64_t a = 0; a < u.rows; a++) {
      bool stored = sum->uplo == OSLA_LOWER ? u.ix[a] >= jx[b] : u.ix[a] <= jx[b];
      if (!stored && sum->uplo != OSLA_GENERAL) continue;
      double *element = &sum->h[u.ix[a] + jx[b] * sum->n], value = element_of(&u, a, b);
      if (!sum->combine)
        *element += times * value;
      else if (u.k != 0)
        *element = sum->combine(*element, value);
      /* an update by a G without rows adds nothing */
      if (u.k != 0) sum->elements += (int64_t)times;
    }
  for (int64_t a = 0; a < u.rows; a++)
    sum->gradient[u.ix[a]] += times * u.gradient[a];
  update_free(&u);
}

/* ---- comparison of the matrix with the serial sum ---- */

/* True if array element `at` has exactly the bits of `expected`, rounded to the array's type. */
static bool same_bits(osla_dtype dtype, const void *array, int64_t at, double expected)
{
  if (dtype == OSLA_DOUBLE) return memcmp((const double *)array + at, &expected, 8) == 0;
  float narrow = (float)expected;
  return memcmp((const float *)array + at, &narrow, 4) == 0;
}

/* Number of elements that differ; position and value of the first one, for the failure message. */
typedef struct difference {
  int64_t count, i, j;
  double seen;
} difference;

static void note(difference *d, osla_dtype dtype, const void *array, int64_t at,
                 const serial_sum *sum, int64_t i, int64_t j)
{
  if (same_bits(dtype, array, at, sum->h[i + j * sum->n])) return;
  if (d->count++ > 0) return;
  d->i = i;
  d->j = j;
  d->seen = osla_test_real(dtype, array, at);
}

/* Compares the elements that this rank stores of the matrix with the sum. Elements of a device
 * matrix are first copied to host memory. */
static difference differ_in_place(const serial_sum *sum, osla_matrix *a)
{
  difference d = {0};
  osla_matrix *copy = NULL;
  if (osla_matrix_device(a)) {
    const osla_layout whole = osla_matrix_layout(a);
    OSLA_ASSERT_OK(osla_matrix_create(osla_matrix_grid(a), osla_matrix_dtype(a), whole.m, whole.n,
                                      whole.mb, whole.nb, &copy));
    OSLA_ASSERT_OK(osla_matrix_copy(a, copy));
    a = copy;
  }
  osla_layout l = osla_matrix_layout(a);
  osla_grid *grid = osla_matrix_grid(a);
  for (int64_t c = 0; c < osla_matrix_local_cols(a); c++) {
    const stored_columns s = osli_stored_columns(a, osla_test_rank(), c);
    for (int64_t r = s.first_row; r < osla_matrix_local_rows(a); r++)
      note(&d, osla_matrix_dtype(a), osla_matrix_local(a), stored_index(&s, r, c), sum,
           osla_index_global(r, l.mb, osla_grid_prow(grid), l.nprow),
           osla_index_global(c, l.nb, osla_grid_pcol(grid), l.npcol));
  }
  osla_matrix_destroy(&copy);
  return d;
}

static difference differ_by_get(const serial_sum *sum, const osla_matrix *a)
{
  difference d = {0};
  int64_t n = sum->n;
  osla_dtype dtype = osla_matrix_dtype(a);
  void *all = osla_test_allocate((size_t)(n * n), osla_dtype_size(dtype));
  OSLA_ASSERT_OK(osla_matrix_get_block(a, 0, 0, n, n, all, n > 0 ? n : 1));
  for (int64_t j = 0; j < n; j++)
    for (int64_t i = osla_matrix_is_triangle(a) ? j : 0; i < n; i++)
      note(&d, dtype, all, i + j * n, sum, i, j);
  free(all);
  return d;
}

static bool report(const serial_sum *sum, const difference *d, const char *how, const char *what)
{
  return OSLA_ASSERT_MSG(
    d->count == 0,
    "%s: %" PRId64 " elements differ %s, first (%" PRId64 ", %" PRId64 "): %g, expected %g", what,
    d->count, how, d->i, d->j, d->seen, d->count > 0 ? sum->h[d->i + d->j * sum->n] : 0.0);
}

bool sum_assert(const serial_sum *sum, osla_hessian *h, const char *format, ...)
{
  char what[256];
  va_list list;
  va_start(list, format);
  (void)vsnprintf(what, sizeof what, format, list);
  va_end(list);

  osla_matrix *a = NULL;
  bool good = OSLA_ASSERT_OK(osla_hessian_commit(h));
  if (!OSLA_ASSERT_OK(osla_hessian_matrix(h, &a))) return false;
  difference d = differ_in_place(sum, a);
  good = report(sum, &d, "in place", what) && good;
  /* Between nodes osla_matrix_get_block is slow if blocks are small, so only one rank reads the
   * whole matrix then, and no rank mirrors a large triangle. */
  const bool large = osla_matrix_is_triangle(a) && sum->n > 500;
  if (osla_matrix_layout(a).nb > 8 || (!large && osla_test_rank() == sum->n % osla_test_size())) {
    d = differ_by_get(sum, a);
    good = report(sum, &d, "by get_block", what) && good;
  }
  const double *gradient = osla_hessian_gradient(h);
  good = OSLA_ASSERT_MSG(memcmp(gradient, sum->gradient, (size_t)sum->n * sizeof(double)) == 0,
                         "%s: the gradient differs", what) &&
         good;
  /* No rank may change the matrix while another rank still compares it. */
  OSLA_ASSERT_OK(osla_barrier(osla_grid_transport(osla_matrix_grid(a))));
  return good;
}

void hessian_read(const osla_matrix *a, void *all)
{
  const int64_t n = osla_matrix_layout(a).n;
  OSLA_ASSERT_OK(osla_matrix_get_block(a, 0, 0, n, n, all, n > 0 ? n : 1));
  for (int64_t at = 0; osla_matrix_is_triangle(a) && at < n * n; at++)
    if (at % n < at / n) osla_test_store(osla_matrix_dtype(a), all, at, 0.0);
}

/* ---- what several suites do ---- */

void push_ids(osla_hessian *h, serial_sum *sum, int first, int last)
{
  for (int i = first; i < last; i++) {
    sum_add(sum, update_random(4, i, sum->n, sum->n, OSLA_DOUBLE), 1.0);
    if (i % osla_test_size() == osla_test_rank())
      OSLA_ASSERT_OK(
        update_push_once(h, update_random(4, i, sum->n, sum->n, OSLA_DOUBLE), (uint64_t)i, NULL));
  }
}

/* A thread that passes updates first .. first + PRODUCER_UPDATES - 1 to an accumulator. */
typedef struct producer {
  osla_hessian *h;
  int64_t n;
  int first;
  osla_err err;
} producer;

static void *produce(void *arg)
{
  producer *p = arg;
  for (int i = 0; i < PRODUCER_UPDATES && p->err == OSLA_OK; i++)
    p->err = update_push(p->h, update_random(9, p->first + i, p->n, p->n, OSLA_DOUBLE));
  return NULL;
}

void push_by_threads(osla_hessian *h, serial_sum *sum)
{
  pthread_t threads[PRODUCERS];
  producer producers[PRODUCERS];
  for (int i = 0; i < PRODUCERS; i++) {
    const int first = (osla_test_rank() * PRODUCERS + i) * PRODUCER_UPDATES;
    producers[i] = (producer){.h = h, .n = sum->n, .first = first};
    CU_ASSERT(pthread_create(&threads[i], NULL, produce, &producers[i]) == 0);
  }
  for (int i = 0; i < PRODUCERS; i++) {
    (void)pthread_join(threads[i], NULL);
    OSLA_ASSERT_OK(producers[i].err);
  }
  for (int i = 0; i < osla_test_size() * PRODUCERS * PRODUCER_UPDATES; i++)
    sum_add(sum, update_random(9, i, sum->n, sum->n, OSLA_DOUBLE), 1.0);
}

void hessian_refused(osla_matrix *a, const osla_hessian_options *o, osla_err err, const char *text)
{
  osla_hessian *h = NULL;
  OSLA_ASSERT_ERR(osla_hessian_create_on(a, o, &h), err);
  OSLA_ASSERT_TEXT(text);
  OSLA_ASSERT_SAME_TEXT();
  CU_ASSERT(h == NULL);
}

/* ---- accumulators on devices ---- */

/* Number of accumulators on device matrices that can exist at the same time. */
enum { ON_DEVICE = 64 };

/* Accumulators on device matrices, each with the device and the matrix that were made for it. */
static struct on_device {
  osla_hessian *h;
  osla_device *device;
  osla_matrix *matrix;
} on_device[ON_DEVICE];

static double first_value(int64_t i, int64_t j, void *options)
{
  (void)i, (void)j;
  const osla_hessian_options *o = options;
  if (o->initial != 0.0 || o->from_zero || o->combine == OSLA_COMBINE_SUM) return o->initial;
  return o->combine == OSLA_COMBINE_MIN ? (double)INFINITY : -(double)INFINITY;
}

static osla_err create_on_device(osla_grid *grid, int64_t n, osla_hessian_options o,
                                 const char *kind, osla_hessian **out)
{
  const osla_device_options options = {.kind = kind};
  const int64_t nb = o.nb > 0 ? o.nb : OSLA_DEFAULT_BLOCK;
  struct on_device *d = on_device;
  while (d->h)
    d++;
  o.clear = true;
  OSLA_CALL(osla_device_open(osla_grid_transport(grid), &options, &d->device));
  OSLA_CALL(osla_matrix_create_on(d->device, grid, type_of(&o), n, n, nb, nb, &d->matrix));
  /* osla_hessian_create_on sets only the stored triangle, so the other one is set here */
  OSLA_CALL(osla_matrix_fill_with(d->matrix, first_value, &o));
  osla_err err = osla_hessian_create_on(d->matrix, &o, &d->h);
  *out = d->h;
  return err;
}

#undef osla_hessian_destroy
void hessian_destroy(osla_hessian **h)
{
  struct on_device *d = on_device;
  while (d < on_device + ON_DEVICE && (!h || !*h || d->h != *h))
    d++;
  osla_hessian_destroy(h);
  if (d == on_device + ON_DEVICE) return;
  osla_matrix_destroy(&d->matrix);
  osla_device_close(&d->device);
  d->h = NULL;
}

osla_hessian *hessian_create_or_end(osla_grid *grid, int64_t n, const osla_hessian_options *options)
{
  osla_hessian_options o = options ? *options : (osla_hessian_options){0};
  const char *kind = o.combine == OSLA_COMBINE_USER ? NULL : getenv("OSLA_TEST_HESSIAN_DEVICE");
  o.triangle = !kind && o.uplo == OSLA_LOWER && (o.triangle || getenv("OSLA_TEST_TRIANGLE"));
  osla_hessian *h = NULL;
  if ((kind ? create_on_device(grid, n, o, kind, &h) : osla_hessian_create(grid, n, &o, &h)) !=
      OSLA_OK) {
    fprintf(stderr, "test: no accumulator of order %" PRId64 ": %s\n", n, osla_error_text());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  return h;
}
