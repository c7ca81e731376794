/* Sweeps of the diffusion problem x := M x + c, compared with a series of sines that gives each
 * iterate and its residual without iterating. The products of sin(pi m_d (i_d + 1) / (n_d + 1))
 * over the dimensions d are eigenvectors of M with eigenvalue lambda = (1/3) sum of cos(pi m_d /
 * (n_d + 1)). If x_0 and c are expanded in these eigenvectors, each coefficient of x_k is lambda^k
 * x_0 + (1 + lambda + ... + lambda^(k-1)) c. */
#include "kernels/iterate/iterate.h"
#include "osla_trace.h"
#include "tests/osla_test_help.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double PI = 3.14159265358979323846;

typedef struct grid {
  int64_t n[3], points;
} grid;

/* Sine transform of f along dimension d. Applied twice, it multiplies f by (n + 1) / 2. */
static void transform_along(const grid *g, int d, double scale, double *f)
{
  const int64_t n = g->n[d], stride = d == 0 ? 1 : d == 1 ? g->n[0] : g->n[0] * g->n[1];
  double *line = osla_test_allocate((size_t)n, sizeof *line);
  for (int64_t at = 0; at < g->points; at++) {
    if (at / stride % n != 0) continue; /* only the first point of each grid line in dimension d */
    for (int64_t m = 0; m < n; m++) {
      line[m] = 0.0;
      for (int64_t i = 0; i < n; i++)
        line[m] +=
          f[at + i * stride] * sin(PI * (double)((m + 1) * (i + 1)) / (double)(n + 1)) * scale;
    }
    for (int64_t m = 0; m < n; m++)
      f[at + m * stride] = line[m];
  }
  free(line);
}

static void transform(const grid *g, bool back, double *f)
{
  for (int d = 0; d < 3; d++)
    transform_along(g, d, back ? 1.0 : 2.0 / (double)(g->n[d] + 1), f);
}

static double eigenvalue(const grid *g, int64_t at)
{
  const int64_t m[] = {at % g->n[0], at / g->n[0] % g->n[1], at / g->n[0] / g->n[1]};
  double sum = 0.0;
  for (int d = 0; d < 3; d++)
    sum += cos(PI * (double)(m[d] + 1) / (double)(g->n[d] + 1));
  return sum / 3.0;
}

/* Computes the sine coefficients of the initial x and of c from the whole grid with its boundary
 * values. */
static void expand(const grid *g, const osla_diffusion_options *o, double *start, double *c)
{
  osla_diffusion *whole;
  OSLA_ASSERT_OK(osli_diffusion_create_part(o, 0, 1, &whole));
  const int64_t length = osla_diffusion_problem(whole).length;
  double *x = osla_test_allocate((size_t)length, sizeof *x);
  osla_diffusion_fill(whole, x);
  const int64_t row = g->n[0] + 2, plane = row * (g->n[1] + 2);
  for (int64_t at = 0; at < g->points; at++) {
    const int64_t i[] = {at % g->n[0], at / g->n[0] % g->n[1], at / g->n[0] / g->n[1]};
    const int64_t step[] = {1, row, plane},
                  here = (i[0] + 1) + (i[1] + 1) * row + (i[2] + 1) * plane;
    start[at] = x[here];
    c[at] = 0.0;
    for (int d = 0; d < 3; d++) {
      if (i[d] == 0) c[at] += x[here - step[d]] / 6.0;
      if (i[d] == g->n[d] - 1) c[at] += x[here + step[d]] / 6.0;
    }
  }
  transform(g, false, start);
  transform(g, false, c);
  free(x);
  osla_diffusion_destroy(&whole);
}

/* Sets x to the iterate x_k. Returns the norm |b - A x_k|; the residual is six times the change
 * that sweep k + 1 makes. */
static double sum_series(const grid *g, const double *start, const double *c, int64_t k, double *x)
{
  double *change = osla_test_allocate((size_t)g->points, sizeof *change), sum = 0.0;
  for (int64_t at = 0; at < g->points; at++) {
    const double lambda = eigenvalue(g, at), power = pow(lambda, (double)k);
    x[at] = power * start[at] + (1.0 - power) / (1.0 - lambda) * c[at];
    change[at] = power * (c[at] - (1.0 - lambda) * start[at]);
  }
  transform(g, true, x);
  transform(g, true, change);
  for (int64_t at = 0; at < g->points; at++)
    sum += 36.0 * change[at] * change[at];
  free(change);
  return sqrt(sum);
}

static void compare(const grid *g, const osla_diffusion_options *o, int64_t sweeps,
                    const double *series, double residual)
{
  osla_transport *t = osla_test_transport();
  osla_iterate_options how = {0};
  osla_iterate_result r = {.residual = NAN};
  osla_diffusion *d;
  osla_iteration *it;
  int64_t first[3], n[3];
  double worst = 0.0;
  OSLA_ASSERT_OK(osla_diffusion_create(t, o, &d));
  const osla_fixed_point p = osla_diffusion_problem(d);
  double *x = osla_test_allocate((size_t)p.length + 1, sizeof *x);
  osla_diffusion_fill(d, x);
  how.mode = OSLA_ITERATE_SYNC;
  how.tolerance = -1;
  how.sweeps = sweeps > 0 ? sweeps : -1;
  OSLA_ASSERT_OK(osla_iteration_create(t, &p, &how, &it));
  OSLA_ASSERT_OK(osla_iterate(it, x, &r));
  osla_diffusion_own(d, first, n);
  for (int64_t k = 0; k < n[2]; k++)
    for (int64_t j = 0; j < n[1]; j++)
      for (int64_t i = 0; i < n[0]; i++) {
        const int64_t at = (first[0] + i) + g->n[0] * ((first[1] + j) + g->n[1] * (first[2] + k));
        const double mine = x[(i + 1) + (n[0] + 2) * ((j + 1) + (n[1] + 2) * (k + 1))];
        worst = fmax(worst, fabs(mine - series[at]));
      }
  OSLA_ASSERT_MSG(worst <= 1e-12, "%lld sweeps: %g from the series", (long long)sweeps, worst);
  OSLA_ASSERT_CLOSE(r.residual, residual, 1e-11);
  osla_iteration_destroy(&it);
  free(x);
  osla_diffusion_destroy(&d);
  osla_transport_destroy(&t);
}

static void test_series(void)
{
  static const int64_t points[][3] = {{9, 8, 7}, {4, 11, 6}}, sweeps[] = {0, 1, 37, 120};
  for (int i = 0; i < 2; i++) {
    const grid g = {{points[i][0], points[i][1], points[i][2]},
                    points[i][0] * points[i][1] * points[i][2]};
    osla_diffusion_options o = {.points = {g.n[0], g.n[1], g.n[2]}, .radius = 0.25};
    double *start = osla_test_allocate((size_t)g.points, sizeof *start);
    double *c = osla_test_allocate((size_t)g.points, sizeof *c);
    double *x = osla_test_allocate((size_t)g.points, sizeof *x);
    o.offset = i;
    /* with offset 1 as in the paper's runs; with offset 0, solutions have exact zeros */
    o.no_offset = i == 0;
    expand(&g, &o, start, c);
    for (int k = 0; k < 4; k++) {
      const double residual = sum_series(&g, start, c, sweeps[k], x);
      CU_ASSERT(residual > 1e-9);
      compare(&g, &o, sweeps[k], x, residual);
    }
    free(start);
    free(c);
    free(x);
  }
}

static void test_part(void)
{
  osla_diffusion_options o = {.points = {4, 4, 4}};
  osla_diffusion *d;
  OSLA_ASSERT_ERR(osli_diffusion_create_part(&o, 3, 3, &d), OSLA_ERR_ARG);
  CU_ASSERT(d == NULL);
  OSLA_ASSERT_TEXT("no rank 3 of 3 ranks");
  o.points[1] = 0;
  OSLA_ASSERT_ERR(osli_diffusion_create_part(&o, 0, 3, &d), OSLA_ERR_ARG);
}

/* If some ranks split their sweep into two parts (sweep_rest is set) and others do not, the problem
 * is refused, because in SYNC mode ranks would send different numbers of halos. */
static void test_parts(void)
{
  osla_transport *t = osla_test_transport();
  osla_diffusion_options o = {.points = {6, 7, 8}};
  osla_diffusion *d;
  osla_iteration *it;
  OSLA_ASSERT_OK(osla_diffusion_create(t, &o, &d));
  osla_fixed_point p = osla_diffusion_problem(d);
  if (osla_test_rank() == 1) p.sweep_rest = NULL;
  if (osla_test_size() > 1) {
    OSLA_ASSERT_ERR(osla_iteration_create(t, &p, NULL, &it), OSLA_ERR_ARG);
    OSLA_ASSERT_TEXT("a sweep in two parts is 1 on rank 0, but 0 on rank 1");
  } else {
    OSLA_ASSERT_OK(osla_iteration_create(t, &p, NULL, &it));
    osla_iteration_destroy(&it);
  }
  osla_diffusion_destroy(&d);
  if (osla_test_rank() == 1) o.offset = 2.0; /* rank 1 has boundary values of another problem */
  if (osla_test_size() > 1) {
    OSLA_ASSERT_ERR(osla_diffusion_create(t, &o, &d), OSLA_ERR_ARG);
    OSLA_ASSERT_TEXT("osla_diffusion_create: offset is 0 on rank 0, but 2 on rank 1");
  }
  osla_transport_destroy(&t);
}

/* After a run without sweeps and residual checks nothing is known of the accuracy of x. */
static void test_no_sweep(void)
{
  osla_transport *t = osla_test_transport();
  osla_diffusion_options o = {.points = {4, 5, 6}};
  osla_iterate_options how = {0};
  osla_iterate_result r;
  osla_diffusion *d;
  osla_iteration *it;
  OSLA_ASSERT_OK(osla_diffusion_create(t, &o, &d));
  const osla_fixed_point p = osla_diffusion_problem(d);
  double *x = osla_test_allocate((size_t)p.length + 1, sizeof *x);
  how.uncertified = true;
  how.sweeps = -1;
  OSLA_ASSERT_OK(osla_iteration_create(t, &p, &how, &it));
  OSLA_ASSERT_OK(osla_iterate(it, x, &r));
  CU_ASSERT(r.end == OSLA_ITERATE_SWEEPS && isnan(r.residual) && r.most == 0);
  osla_iteration_destroy(&it);
  free(x);
  osla_diffusion_destroy(&d);
  osla_transport_destroy(&t);
}

/* The trace counts each element once in each sweep: in a sweep in two parts, and in the sweep
 * before the first check. In mode SYNC the residual of the last x takes one more sweep. */
static void test_trace(void)
{
  static const struct {
    osla_iterate_mode mode;
    bool uncertified;
    int sweeps;
  } list[] = {{OSLA_ITERATE_SYNC, true, 7},
              {OSLA_ITERATE_SYNC, false, 8},
              {OSLA_ITERATE_ASYNC, true, 7},
              {OSLA_ITERATE_ASYNC, false, 7}};
  osla_transport *t = osla_test_transport();
  osla_diffusion_options o = {.points = {6, 5, 14}};
  osla_diffusion *d;
  OSLA_ASSERT_OK(osla_diffusion_create(t, &o, &d));
  const osla_fixed_point p = osla_diffusion_problem(d);
  double *x = osla_test_allocate((size_t)p.length + 1, sizeof *x), elements = (double)p.length;
  OSLA_ASSERT_OK(osla_allreduce(t, &elements, 1, MPI_DOUBLE, MPI_SUM));
  for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
    osla_iterate_options how = {0};
    osla_iteration *it;
    osla_iterate_result r;
    osla_trace_summary s;
    how.mode = list[i].mode;
    how.uncertified = list[i].uncertified;
    how.tolerance = -1;
    how.sweeps = 7;
    osla_diffusion_fill(d, x);
    OSLA_ASSERT_OK(osla_iteration_create(t, &p, &how, &it));
    OSLA_ASSERT_OK(osla_trace_start(t));
    OSLA_ASSERT_OK(osla_iterate(it, x, &r));
    OSLA_ASSERT_OK(osla_trace_summarise(t, &s));
    CU_ASSERT(r.least == 7 && r.most == 7);
    OSLA_ASSERT_CLOSE(s.kind[OSLA_TRACE_SWEEP].amount, list[i].sweeps * elements, 0.0);
    osla_iteration_destroy(&it);
  }
  free(x);
  osla_diffusion_destroy(&d);
  osla_transport_destroy(&t);
}

static const osla_test_case cases[] = {{"series", test_series}, {"part", test_part},
                                       {"parts", test_parts},   {"no_sweep", test_no_sweep},
                                       {"trace", test_trace},   {NULL, NULL}};
OSLA_TEST_SUITE(test_diffusion, cases);
