#include "tests/kernels/lu_reference.h"

#include "osla_blas.h"
#include "osla_index.h"
#include "osla_random.h"
#include "tests/complex_help.h"
#include "tests/osla_test_help.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int64_t lu_order(int64_t m, int64_t n)
{
  return m < n ? m : n;
}

bool lu_turn(osla_transport *t, int grid, int variant)
{
  bool few = osla_test_size() <= 2 || osla_transport_n_nodes(t) == 1;
  /* on several nodes with more than four ranks, one variant in twenty is run for each grid */
  if (!few && osla_test_size() > 4) return (7 * grid + variant) % 20 == 0;
  return kernel_turn(grid, variant) && (few || (grid + 2 * variant) % 3 == 0);
}

int lu_look_ahead(int which)
{
  static const int depth[] = {-1, 1, 2, 0};
  return depth[which % 4];
}

static osla_complex value_at(const dense *d, int64_t i, int64_t j)
{
  const double *x = dense_at(d, i, j);
  return CMPLX(x[0], d->parts == 2 ? x[1] : 0.0);
}

static void set(const dense *d, int64_t i, int64_t j, osla_complex value)
{
  double *x = dense_at(d, i, j);
  x[0] = creal(value);
  if (d->parts == 2) x[1] = cimag(value);
}

double lu_largest(const dense *d, bool upper)
{
  double value = 0.0;
  for (int64_t j = 0; j < d->n; j++)
    for (int64_t i = 0; i < d->m && (!upper || i <= j); i++) {
      double x = cabs(value_at(d, i, j));
      /* a NaN replaces any number, and no number replaces a NaN */
      if (!(x <= value) && !isnan(value)) value = x;
    }
  return value;
}

/* ---- matrices with known factors ---- */

static uint64_t bits_of(uint64_t seed, int64_t i, int64_t j)
{
  return osla_random_bits(seed, (uint64_t)i, (uint64_t)j);
}

static osla_complex unit(uint64_t bits, int parts)
{
  static const double re[] = {1, -1, 0, 0}, im[] = {0, 0, 1, -1};
  int which = (int)(bits % (parts == 2 ? 4 : 2));
  return CMPLX(re[which], im[which]);
}

/* A multiplier below the pivot: 0 or half a unit, or also one unit if the multiplier may be as
 * large as the pivot. */
static osla_complex multiplier(uint64_t bits, int parts, bool may_tie)
{
  uint64_t size = bits / 8 % (may_tie ? 4 : 2);
  return unit(bits, parts) * (size == 0 ? 0.0 : size == 1 ? 0.5 : 1.0);
}

static osla_complex upper_element(uint64_t seed, int64_t i, int64_t j, int64_t zero, int parts)
{
  uint64_t bits = bits_of(seed, i, j);
  if (i == j) return i == zero ? 0.0 : unit(bits, parts) * (bits & 16 ? 2.0 : 1.0);
  /* column `zero` is twice the column before it, so that pivot `zero` is 0 */
  if (j == zero && zero > 0 && i < zero) {
    return 2.0 * upper_element(seed, i, zero - 1, -1, parts);
  }
  return CMPLX((double)(bits / 8 % 5) - 2.0, parts == 2 ? (double)(bits / 64 % 5) - 2.0 : 0.0);
}

/* Makes L with each row at its position in A, and the pivots. rows[i] [out] is the row index in A
 * of row i of L. */
static dense make_lower(int64_t m, int64_t order, int parts, uint64_t seed, int64_t zero,
                        bool moves, int64_t *pivots, int64_t *rows)
{
  dense l = dense_make(m, order, parts);
  for (int64_t i = 0; i < m; i++)
    rows[i] = i;
  for (int64_t j = 0; j < order; j++) {
    /* in one step of four the rows are not interchanged */
    bool stays = !moves || j == zero || bits_of(seed + 2, j, 0) % 4 == 0;
    int64_t pivot = stays ? j : j + (int64_t)(bits_of(seed + 2, j, 1) % (uint64_t)(m - j));
    for (int64_t i = j; i < m; i++) {
      uint64_t bits = bits_of(seed + 1, i, j);
      if (j == zero && i != pivot) continue; /* column `zero` is zero except for the pivot's row */
      set(&l, rows[i], j, i == pivot ? 1.0 : multiplier(bits, parts, i > pivot));
    }
    pivots[j] = pivot;
    int64_t row = rows[j];
    rows[j] = rows[pivot];
    rows[pivot] = row;
  }
  return l;
}

lu_known lu_known_make(int64_t m, int64_t n, int parts, uint64_t seed, int64_t zero, bool moves)
{
  int64_t order = lu_order(m, n);
  lu_known k = {dense_make(m, n, parts), dense_make(m, n, parts),
                osla_test_allocate(1, (size_t)order * sizeof *k.pivots)};
  int64_t *rows = osla_test_allocate(1, (size_t)m * sizeof *rows);
  dense u = dense_make(order, n, parts);
  dense l = make_lower(m, order, parts, seed, zero, moves, k.pivots, rows);
  for (int64_t j = 0; j < n; j++)
    for (int64_t i = 0; i <= j && i < order; i++)
      set(&u, i, j, upper_element(seed, i, j, zero, parts));
  dense_multiply(1.0, &l, &u, &k.a, 0, 1);
  for (int64_t j = 0; j < n; j++)
    for (int64_t i = 0; i < m; i++)
      set(&k.lu, i, j, i <= j ? value_at(&u, i, j) : value_at(&l, rows[i], j));
  dense_free(&l), dense_free(&u), free(rows);
  return k;
}

void lu_known_free(lu_known *k)
{
  dense_free(&k->a), dense_free(&k->lu);
  free(k->pivots);
}

/* ---- matrices without known factors ---- */

osla_complex lu_uniform(int64_t i, int64_t j, uint64_t seed)
{
  return CMPLX(osla_random_uniform(seed, (uint64_t)i, (uint64_t)j),
               osla_random_uniform(seed + 1000, (uint64_t)i, (uint64_t)j));
}

dense lu_make(int64_t m, int64_t n, osla_dtype dtype, lu_element *f, uint64_t seed)
{
  dense d = dense_make(m, n, dtype >= OSLA_COMPLEX_FLOAT ? 2 : 1);
  for (int64_t j = 0; j < n; j++)
    for (int64_t i = 0; i < m; i++) {
      double one[2];
      osla_test_store(dtype, one, 0, f(i, j, seed));
      set(&d, i, j, osla_test_load(dtype, one, 0));
    }
  return d;
}

static double magnitude(osla_complex x)
{
  return fabs(creal(x)) + fabs(cimag(x)); /* LAPACK's IxAMAX compares elements by this norm */
}

/* True if in each column every candidate l_ij u_jj is smaller than the pivot u_jj by more than
 * rounding errors. */
static bool is_clear(osla_dtype dtype, const void *lu, int64_t m, int64_t n, double largest)
{
  for (int64_t j = 0; j < lu_order(m, n); j++) {
    osla_complex pivot = osla_test_load(dtype, lu, j + j * m);
    double limit = magnitude(pivot) - 16 * kernel_eps(dtype) * largest;
    for (int64_t i = j + 1; i < m; i++)
      if (!(magnitude(osla_test_load(dtype, lu, i + j * m) * pivot) < limit)) return false;
  }
  return true;
}

lu_lapack lu_lapack_make(const dense *a, osla_dtype dtype)
{
  int64_t count = a->m * a->n;
  lu_lapack l = {.pivots = osla_test_allocate(1, (size_t)lu_order(a->m, a->n) * sizeof *l.pivots)};
  unsigned char *lu = osla_test_allocate(1, (size_t)count * osla_dtype_size(dtype));
  double largest = 0.0;
  for (int64_t i = 0; i < count; i++)
    osla_test_store(dtype, lu, i, value_at(a, i % a->m, i / a->m));
  OSLA_ASSERT_OK(osla_lapack_getrf(dtype, a->m, a->n, lu, a->m > 1 ? a->m : 1, l.pivots, &l.info));
  for (int64_t i = 0; i < count; i++)
    if (i % a->m <= i / a->m) largest = fmax(largest, magnitude(osla_test_load(dtype, lu, i)));
  l.clear = is_clear(dtype, lu, a->m, a->n, largest);
  free(lu);
  return l;
}

void lu_lapack_free(lu_lapack *l)
{
  free(l->pivots);
}

/* ---- a factorisation with all its results ---- */

enum { GUARD = -77 };

/* Gathers the pivots of all ranks. The maxima of p and of -p over the ranks that hold a pivot p
 * show whether these ranks agree. */
static void gather_pivots(lu_run *r, const int64_t *ipiv)
{
  osla_layout l = osla_matrix_layout(r->a);
  osla_grid *grid = osla_matrix_grid(r->a);
  int64_t rows = osla_matrix_local_rows(r->a), wrong = 0, order = r->order;
  int64_t *both = osla_test_allocate(1, (size_t)(2 * order + 1) * sizeof *both);
  for (int64_t i = 0; i < 2 * order; i++)
    both[i] = INT64_MIN;
  for (int64_t i = 0; i < rows; i++) {
    int64_t global = osla_index_global(i, l.mb, osla_grid_prow(grid), l.nprow);
    if (global >= order)
      wrong += ipiv[i] != GUARD;
    else
      both[global] = ipiv[i] - 1, both[order + global] = 1 - ipiv[i];
  }
  OSLA_ASSERT_MSG(wrong == 0 && ipiv[rows] == GUARD, "%s: ipiv was written behind row %" PRId64,
                  r->label, order - 1);
  OSLA_ASSERT_OK(osla_allreduce(osla_grid_transport(grid), both, 2 * order, MPI_INT64_T, MPI_MAX));
  for (int64_t i = 0; i < order; i++) {
    r->pivots[i] = both[i];
    if (both[i] != -both[order + i] || both[i] < i || both[i] >= l.m)
      OSLA_ASSERT_MSG(wrong++ > 0, "%s: ipiv %" PRId64 " (%" PRId64 " elsewhere) of row %" PRId64,
                      r->label, both[i] + 1, 1 - both[order + i], i);
  }
  free(both);
}

static void same_result(const lu_run *r)
{
  const osla_lu_result *x = &r->result;
  double mine[8] = {(double)x->info, isnan(x->growth) ? -1.0 : x->growth, x->trusted}, most[8];
  for (int i = 0; i < 4; i++)
    mine[4 + i] = -mine[i];
  memcpy(most, mine, sizeof most);
  osla_transport *t = osla_grid_transport(osla_matrix_grid(r->a));
  OSLA_ASSERT_OK(osla_allreduce(t, most, 8, MPI_DOUBLE, MPI_MAX));
  OSLA_ASSERT_MSG(memcmp(mine, most, sizeof most) == 0, "%s: another result elsewhere", r->label);
}

lu_run lu_run_make(kernel_matrix *a, const dense *content, osla_pivoting pivoting, int look_ahead,
                   const char *name)
{
  static const char *const pivots[] = {"partial", "tournament", "none"};
  osla_layout l = osla_matrix_layout(a->a);
  osla_lu_options options = {.pivoting = pivoting,
                             .look_ahead = look_ahead,
                             .forward = kernel_forward((int)l.m + look_ahead)};
  lu_run r = {.a = a->a,
              .dtype = osla_matrix_dtype(a->a),
              .pivoting = pivoting,
              .order = lu_order(l.m, l.n),
              .result = {-1, -1.0, false}};
  int64_t rows = osla_matrix_local_rows(a->a);
  int64_t *ipiv = osla_test_allocate(1, (size_t)(rows + 1) * sizeof *ipiv);
  (void)snprintf(r.label, sizeof r.label, "%s, pivoting %s, look-ahead %d, %s", name,
                 pivots[pivoting], look_ahead, kernel_label(a->a, a->memory != NULL));
  r.pivots = osla_test_allocate(1, (size_t)r.order * sizeof *r.pivots);
  for (int64_t i = 0; i <= rows; i++)
    ipiv[i] = GUARD;
  dense_scatter(content, a->a);
  r.before = dense_make(l.m, l.n, content->parts);
  memcpy(r.before.at, content->at, (size_t)(l.m * l.n * content->parts) * sizeof(double));
  if (!OSLA_ASSERT_OK(osla_getrf(a->a, ipiv, &options, &r.result)))
    fprintf(stderr, "test: that was %s\n", r.label);
  same_result(&r);
  gather_pivots(&r, ipiv);
  r.after = dense_gather(a->a);
  free(ipiv);
  return r;
}

void lu_run_free(lu_run *r)
{
  dense_free(&r->before), dense_free(&r->after);
  free(r->pivots);
}

void lu_back_to_back(const lu_known *known, osla_pivoting pivoting)
{
  enum { NB = 4, ROUNDS = 3 };
  int64_t m = known->a.m, n = known->a.n;
  int64_t *memory = osla_test_allocate(1, (size_t)m * sizeof *memory);
  int64_t *ipiv = pivoting == OSLA_PIVOT_NONE ? NULL : memory;
  int size = osla_test_size(), step = size > 4 ? 5 : size > 2 ? 4 : 1;
  grid_set set = grids_open();
  /* on six ranks only the grids 2 x 3 and 3 x 2 */
  for (int g = size > 4 ? 1 : 0; g < set.n; g += step) {
    osla_lu_result result;
    delays d;
    kernel_matrix a = kernel_make(set.at[g], OSLA_DOUBLE, m, n, NB, NB, false);
    kernel_matrix b = kernel_make(set.at[g], OSLA_FLOAT, m, n, NB, NB, g % 2);
    delays_begin(&d, set.t, (uint64_t)g);
    for (int i = 0; i < ROUNDS; i++) {
      osla_lu_options options = {
        .pivoting = pivoting, .look_ahead = lu_look_ahead(i), .forward = kernel_forward(i)};
      dense_scatter(&known->a, a.a);
      dense_scatter(&known->a, b.a);
      OSLA_ASSERT_OK(osla_getrf(a.a, ipiv, &options, &result));
      OSLA_ASSERT_OK(osla_getrf(b.a, ipiv, &options, &result));
    }
    delays_end(&d);
    kernel_expect(a.a, &known->lu, "first of two, %s", kernel_label(a.a, false));
    kernel_expect(b.a, &known->lu, "second of two, %s", kernel_label(b.a, g % 2));
    kernel_free(&a), kernel_free(&b);
  }
  grids_close(&set);
  free(memory);
}

/* ---- checks of results ---- */

/* Returns the index of the row of A that the interchanges move to row i, for each i. */
static int64_t *permutation(const lu_run *r)
{
  int64_t *from = osla_test_allocate(1, (size_t)r->before.m * sizeof *from);
  for (int64_t i = 0; i < r->before.m; i++)
    from[i] = i;
  for (int64_t i = 0; i < r->order; i++) {
    int64_t other = from[i];
    from[i] = from[r->pivots[i]];
    from[r->pivots[i]] = other;
  }
  return from;
}

/* Computes |P A - L U| and |L| |U| at element (i, j). */
static void residual_at(const lu_run *r, const int64_t *from, int64_t i, int64_t j, double *error,
                        double *bound)
{
  osla_complex sum = value_at(&r->before, from[i], j);
  *bound = 0.0;
  for (int64_t k = 0; k <= i && k <= j && k < r->order; k++) {
    osla_complex l = k == i ? 1.0 : value_at(&r->after, i, k), u = value_at(&r->after, k, j);
    sum -= l * u;
    *bound += cabs(l) * cabs(u);
  }
  *error = cabs(sum);
}

bool lu_expect_backward(const lu_run *r)
{
  int64_t *from = permutation(r), n = r->before.n, at[2] = {0, 0};
  bool single = r->dtype == OSLA_FLOAT || r->dtype == OSLA_COMPLEX_FLOAT;
  double factor = (double)(r->order + 4) * kernel_eps(r->dtype) * r->before.parts * 1.5;
  double tiny = (double)r->order * (single ? 0x1p-148 : 0x1p-1073), worst = 0.0;
  if (r->before.parts == 1) factor /= 1.5;
  for (int64_t j = osla_test_rank(); j < n; j += osla_test_size())
    for (int64_t i = 0; i < r->before.m; i++) {
      double error, bound;
      residual_at(r, from, i, j, &error, &bound);
      double ratio = error <= tiny ? 0.0 : error / (factor * bound);
      if (!(ratio <= worst) && !isnan(worst)) worst = ratio, at[0] = i, at[1] = j;
    }
  free(from);
  return osla_test_check(worst <= 1.0, __FILE__, __LINE__,
                         "%s: |P A - L U| / ((k + 4) eps c |L| |U|) = %g at (%" PRId64 ", %" PRId64
                         "), above 1",
                         r->label, worst, at[0], at[1]);
}

bool lu_expect_small(const lu_run *r)
{
  int64_t *from = permutation(r), m = r->before.m, n = r->before.n;
  double worst = 0.0, norm = lu_largest(&r->before, false);
  for (int64_t j = osla_test_rank(); j < n; j += osla_test_size())
    for (int64_t i = 0; i < m; i++) {
      double error, bound;
      residual_at(r, from, i, j, &error, &bound);
      if (!(error <= worst) && !isnan(worst)) worst = error;
    }
  free(from);
  double scale = (double)(m > n ? m : n) * kernel_eps(r->dtype) * norm;
  return osla_test_check(worst <= 16.0 * scale, __FILE__, __LINE__,
                         "%s: |P A - L U|_max / (max(m, n) eps |A|_max) = %.3g / %.3g = %.3g, "
                         "above 16",
                         r->label, worst, scale, worst / scale);
}

bool lu_expect_bounded(const lu_run *r)
{
  double limit = (r->before.parts == 2 ? sqrt(2.0) : 1.0) * (1 + 4 * kernel_eps(r->dtype));
  double worst = 0.0;
  for (int64_t j = 0; j < r->order; j++)
    for (int64_t i = j + 1; i < r->before.m; i++) {
      double x = cabs(value_at(&r->after, i, j));
      if (!(x <= worst) && !isnan(worst)) worst = x;
    }
  return osla_test_check(worst <= limit, __FILE__, __LINE__, "%s: max |l_ij| = %.17g", r->label,
                         worst);
}

bool lu_expect_pivots(const lu_run *r, const int64_t *pivots, const char *whose)
{
  int64_t i = 0;
  while (i < r->order && r->pivots[i] == pivots[i])
    i++;
  return osla_test_check(i == r->order, __FILE__, __LINE__,
                         "%s: pivot %" PRId64 " is row %" PRId64 ", %s row %" PRId64, r->label, i,
                         i < r->order ? r->pivots[i] : 0, whose, i < r->order ? pivots[i] : 0);
}

bool lu_expect_growth(const lu_run *r)
{
  double before = lu_largest(&r->before, false), after = lu_largest(&r->after, true);
  double expected = before > 0.0 ? after / before : 1.0;
  if (isnan(after) || !isfinite(before)) expected = (double)NAN;
  if (r->pivoting == OSLA_PIVOT_PARTIAL) expected = 0.0;
  double growth = r->result.growth, tolerance = 4 * kernel_eps(r->dtype) * expected;
  bool same = isnan(expected) ? isnan(growth) : fabs(growth - expected) <= tolerance;
  bool trusted = r->result.info == 0 && growth <= 1e6;
  return osla_test_check((same || growth == expected) && r->result.trusted == trusted, __FILE__,
                         __LINE__, "%s: info %" PRId64 ", growth %g, not %g, trusted %d", r->label,
                         r->result.info, growth, expected, r->result.trusted);
}
