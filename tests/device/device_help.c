#include "tests/device/device_help.h"
#include "src/device/device.h"

#include <float.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

bool bench_open(device_bench *b, bool early)
{
  const osla_device_options options = {.kind = "fake"};
  const char *fault = getenv("OSLA_TEST_DEVICE_FAULT");
  (void)setenv("OSLA_FAKE_DEVICE", early ? "early" : "late", 1);
  *b = (device_bench){.t = osla_test_transport()};
  if (osla_transport_n_nodes(b->t) > 1) {
    OSLA_ASSERT_ERR(osla_device_open(b->t, &options, &b->device), OSLA_ERR_UNSUPPORTED);
    OSLA_ASSERT_TEXT("one real node");
    osla_transport_destroy(&b->t);
    return false;
  }
  OSLA_ASSERT_OK(osla_device_open(b->t, &options, &b->device));
  osli_device_faults = fault ? atoi(fault) : 0;
  return b->device != NULL;
}

void bench_close(device_bench *b)
{
  osli_device_faults = 0;
  osla_device_close(&b->device);
  osla_transport_destroy(&b->t);
}

matrix_pair pair_make(const device_bench *b, osla_grid *grid, osla_dtype dtype, int64_t m,
                      int64_t n, int64_t mb, int64_t nb, osla_fill fill, uint64_t seed)
{
  matrix_pair p = {NULL, NULL};
  OSLA_ASSERT_OK(osla_matrix_create(grid, dtype, m, n, mb, nb, &p.host));
  OSLA_ASSERT_OK(osla_matrix_create_on(b->device, grid, dtype, m, n, mb, nb, &p.device));
  OSLA_ASSERT_OK(osla_matrix_fill(p.host, fill, seed));
  OSLA_ASSERT_OK(osla_matrix_fill(p.device, fill, seed));
  return p;
}

void pair_free(matrix_pair *p)
{
  osla_matrix_destroy(&p->host);
  osla_matrix_destroy(&p->device);
}

void pair_expect(const matrix_pair *p, double factor, const char *format, ...)
{
  const osla_layout l = osla_matrix_layout(p->host);
  const osla_dtype dtype = osla_matrix_dtype(p->host);
  const double eps = dtype == OSLA_FLOAT || dtype == OSLA_COMPLEX_FLOAT ? FLT_EPSILON : DBL_EPSILON;
  osla_matrix *copy = NULL;
  double largest = 0, difference = 0;
  char text[200];
  va_list args;
  va_start(args, format);
  (void)vsnprintf(text, sizeof text, format, args);
  va_end(args);
  OSLA_ASSERT_OK(osla_matrix_create(osla_matrix_grid(p->host), dtype, l.m, l.n, l.mb, l.nb, &copy));
  OSLA_ASSERT_OK(osla_matrix_copy(p->device, copy));
  OSLA_ASSERT_OK(osla_matrix_norm(p->host, OSLA_NORM_MAX, &largest));
  OSLA_ASSERT_OK(osla_matrix_add(-1, p->host, 1, copy));
  OSLA_ASSERT_OK(osla_matrix_norm(copy, OSLA_NORM_MAX, &difference));
  OSLA_ASSERT_MSG(difference <= factor * eps * largest, "%s: %g apart of %g on a %d x %d grid",
                  text, difference, largest, l.nprow, l.npcol);
  osla_matrix_destroy(&copy);
}
