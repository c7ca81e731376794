#include "tests/device/sparse_system.h"
#include "src/device/device.h"
#include "src/memory/segment.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void put(const double *from, int64_t n, double *on_device)
{
  osli_device_copy_bytes((size_t)n * sizeof *from, from, on_device);
}

void peek(const double *on_device, int64_t n, double *to)
{
  const device_queue *q = osli_device_find(on_device);
  OSLA_ASSERT_OK(q->ops->copy_now(q->state, on_device, to, (size_t)n * sizeof *to));
}

/* Returns whether the device can multiply a matrix that is distributed over the ranks of the job.
 * If not, checks that osla_csr_to_device refuses the matrix. */
static bool serves_ranks(sparse_system *s)
{
  if (osla_test_size() == 1 || osli_device_queue(s->bench.device)->ops->has_kernels) return true;
  OSLA_ASSERT_ERR(osla_csr_to_device(s->a, s->bench.device), OSLA_ERR_UNSUPPORTED);
  OSLA_ASSERT_TEXT("without kernels");
  return false;
}

bool open_system(sparse_system *s, bool early, sparse_kind kind, int64_t m, int64_t n,
                 double factor)
{
  void *x = NULL;
  *s = (sparse_system){0};
  if (!bench_open(&s->bench, early)) return false;
  s->m = sparse_model_make(kind, m, n, false);
  for (int64_t e = 0; e < s->m.first[s->m.m]; e++)
    s->m.value[e] *= factor;
  s->a = sparse_model_matrix(s->bench.t, &s->m);
  s->op = osla_csr_operator(s->a);
  s->rows = s->op.rows;
  s->columns = s->op.columns;
  OSLA_ASSERT_OK(osla_segment_create_on(
    s->bench.device, (size_t)(s->rows + s->columns) * sizeof(double), 0, &s->segment));
  OSLA_ASSERT_OK(osla_vertices_create_on(s->bench.device, (size_t)s->columns * sizeof(double), &x));
  s->b_on = osla_segment_local(s->segment);
  s->x_apart = s->b_on + s->rows;
  s->x_on = x;
  s->b = osla_test_allocate((size_t)s->rows + 1, sizeof *s->b);
  s->x = osla_test_allocate((size_t)s->columns + 1, sizeof *s->x);
  CU_ASSERT(osla_csr_device(s->a) == NULL);
  const bool serves = serves_ranks(s);
  if (!serves) close_system(s);
  return serves;
}

void to_device(sparse_system *s)
{
  OSLA_ASSERT_OK(osla_csr_to_device(s->a, s->bench.device));
  CU_ASSERT(osla_csr_device(s->a) == s->bench.device);
}

void close_system(sparse_system *s)
{
  void *x = s->x_on;
  free(s->b);
  free(s->x);
  OSLA_ASSERT_OK(osla_csr_destroy(&s->a));
  OSLA_ASSERT_OK(osla_vertices_free(s->bench.t, &x));
  osla_segment_destroy(&s->segment);
  sparse_model_free(&s->m);
  bench_close(&s->bench);
}

void fill_vectors(sparse_system *s)
{
  double *b = sparse_model_vector(s->m.m, 3);
  const int64_t first = s->m.row_start[osla_test_rank()];
  memcpy(s->b, b + first, (size_t)s->rows * sizeof *b);
  for (int64_t i = 0; i < s->columns; i++)
    s->x[i] = 0.25 * (double)((first + i) % 5);
  free(b);
}

osla_krylov_result solve_on_device(sparse_system *s, const osla_krylov_options *options,
                                   double *out)
{
  osla_krylov_result r;
  put(s->b, s->rows, s->b_on);
  put(s->x, s->columns, s->x_on);
  OSLA_ASSERT_OK(osla_cg(&s->op, NULL, s->b_on, s->x_on, options, &r));
  peek(s->x_on, s->columns, out ? out : s->x);
  return r;
}

double distance(int64_t n, const double *x, const double *y)
{
  double most = 0.0;
  for (int64_t i = 0; i < n; i++)
    if (!(fabs(x[i] - y[i]) <= most)) most = fabs(x[i] - y[i]);
  return most;
}
