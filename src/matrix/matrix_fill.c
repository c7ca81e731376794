/* Contents from a rule or a seed, the same for every distribution. */
#include "osla_index.h"
#include "osla_matrix.h"
#include "osla_random.h"
#include "work.h"

static void set_element(void *array, osla_dtype dtype, int64_t at, double re, double im)
{
  switch (dtype) {
    case OSLA_FLOAT: ((float *)array)[at] = (float)re; break;
    case OSLA_DOUBLE: ((double *)array)[at] = re; break;
    case OSLA_COMPLEX_FLOAT:
      ((float *)array)[2 * at] = (float)re;
      ((float *)array)[2 * at + 1] = (float)im;
      break;
    case OSLA_COMPLEX_DOUBLE:
      ((double *)array)[2 * at] = re;
      ((double *)array)[2 * at + 1] = im;
      break;
  }
}

static void fill_parts(osla_matrix *a, osla_element *re, osla_element *im, void *arg)
{
  osla_layout l = osla_matrix_layout(a);
  osla_grid *grid = osla_matrix_grid(a);
  osla_dtype dtype = osla_matrix_dtype(a);
  osla_transport *t = osla_grid_transport(grid);
  int64_t lld = osla_matrix_lld(a, osla_transport_rank(t));
  bool complex_type = dtype == OSLA_COMPLEX_FLOAT || dtype == OSLA_COMPLEX_DOUBLE;
  for (int64_t c = 0; c < osla_matrix_local_cols(a); c++) {
    int64_t j = osla_index_global(c, l.nb, osla_grid_pcol(grid), l.npcol);
    for (int64_t r = 0; r < osla_matrix_local_rows(a); r++) {
      int64_t i = osla_index_global(r, l.mb, osla_grid_prow(grid), l.nprow);
      set_element(osla_matrix_local(a), dtype, r + c * lld, re(i, j, arg),
                  complex_type && im ? im(i, j, arg) : 0.0);
    }
  }
}

osla_err osla_matrix_fill_with(osla_matrix *a, osla_element *f, void *arg)
{
  fill_parts(a, f, NULL, arg);
  return osla_barrier(osla_grid_transport(osla_matrix_grid(a)));
}

typedef struct seeded {
  uint64_t seed;
  double diagonal;
} seeded;

static double zero(int64_t i, int64_t j, void *arg)
{
  (void)i, (void)j, (void)arg;
  return 0.0;
}

static double identity(int64_t i, int64_t j, void *arg)
{
  (void)arg;
  return i == j ? 1.0 : 0.0;
}

static double uniform(int64_t i, int64_t j, void *arg)
{
  return osla_random_uniform(((seeded *)arg)->seed, (uint64_t)i, (uint64_t)j);
}

static double uniform_imaginary(int64_t i, int64_t j, void *arg)
{
  return osla_random_uniform(~((seeded *)arg)->seed, (uint64_t)i, (uint64_t)j);
}

static double dominant(int64_t i, int64_t j, void *arg)
{
  return uniform(i, j, arg) + (i == j ? ((seeded *)arg)->diagonal : 0.0);
}

static double symmetric(int64_t i, int64_t j, void *arg)
{
  return i >= j ? dominant(i, j, arg) : dominant(j, i, arg);
}

static double integer(int64_t i, int64_t j, void *arg)
{
  return (double)(osla_random_bits(((seeded *)arg)->seed, (uint64_t)i, (uint64_t)j) % 17) - 8.0;
}

static osla_err fill_by_rule(osla_matrix *a, osla_fill fill, uint64_t seed)
{
  osla_layout l = osla_matrix_layout(a);
  if (osla_work_modelled) return OSLA_OK;
  seeded arg = {seed, (double)(l.m > l.n ? l.m : l.n)};
  switch (fill) {
    case OSLA_FILL_ZERO: fill_parts(a, zero, NULL, &arg); break;
    case OSLA_FILL_IDENTITY: fill_parts(a, identity, NULL, &arg); break;
    case OSLA_FILL_UNIFORM: fill_parts(a, uniform, uniform_imaginary, &arg); break;
    case OSLA_FILL_DOMINANT: fill_parts(a, dominant, uniform_imaginary, &arg); break;
    case OSLA_FILL_SPD: fill_parts(a, symmetric, NULL, &arg); break;
    case OSLA_FILL_INTEGER: fill_parts(a, integer, NULL, &arg); break;
    default: return osla_error_set(OSLA_ERR_ARG, "fill = %d is not known", (int)fill);
  }
  return OSLA_OK;
}

osla_err osla_matrix_fill(osla_matrix *a, osla_fill fill, uint64_t seed)
{
  osla_transport *t = osla_grid_transport(osla_matrix_grid(a));
  return osla_agree(t, fill_by_rule(a, fill, seed)); /* also a barrier */
}
