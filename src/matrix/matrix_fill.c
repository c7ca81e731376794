/* Filling of matrices by a rule or from a seed, independent of the distribution. */
#include "osla_random.h"
#include "src/blas/work.h"
#include "src/matrix/part_checks.h"
#include "src/matrix/part_stage.h"

#include <stdbool.h>

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

/* Fills the stored elements of a part. The elements on the diagonal of a triangular matrix become
 * real, since the matrix is Hermitian. */
static osla_err fill(const osla_part *part, osla_element *re, osla_element *im, void *arg)
{
  part_stage stage;
  OSLA_CALL(osli_part_stage_open(part, true, &stage));
  const part_local p = stage.p;
  const osla_dtype dtype = osla_matrix_dtype(part->matrix);
  const bool complex_type = dtype == OSLA_COMPLEX_FLOAT || dtype == OSLA_COMPLEX_DOUBLE;
  for (int64_t c = 0; c < p.cols; c++) {
    const int64_t j = part_col(&p, c);
    const stored_columns s = osli_part_stage_columns(&stage, c);
    for (int64_t r = part_first_row(&p, c); r < p.rows; r++) {
      const int64_t i = part_row(&p, r);
      const bool real = !complex_type || !im || (p.lower && i == j);
      set_element(stage.base, dtype, stored_index(&s, r, c), re(i, j, arg),
                  real ? 0.0 : im(i, j, arg));
    }
  }
  osli_part_stage_close(&stage);
  return OSLA_OK;
}

osla_err osla_matrix_fill_with(osla_matrix *a, osla_element *f, void *arg)
{
  const osla_part all = osla_whole(a);
  return osla_agree(osla_grid_transport(osla_matrix_grid(a)), fill(&all, f, NULL, arg));
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

static osla_err fill_by_rule(const osla_part *a, osla_fill rule, uint64_t seed)
{
  OSLA_CALL(osli_part_check_stored("fill", a, "A"));
  if (osli_work_modelled) return OSLA_OK;
  seeded arg = {seed, (double)(a->m > a->n ? a->m : a->n)};
  switch (rule) {
    case OSLA_FILL_ZERO: return fill(a, zero, NULL, &arg);
    case OSLA_FILL_IDENTITY: return fill(a, identity, NULL, &arg);
    case OSLA_FILL_UNIFORM: return fill(a, uniform, uniform_imaginary, &arg);
    case OSLA_FILL_DOMINANT: return fill(a, dominant, uniform_imaginary, &arg);
    case OSLA_FILL_SPD: return fill(a, symmetric, NULL, &arg);
    case OSLA_FILL_INTEGER: return fill(a, integer, NULL, &arg);
    default: return osla_error_set(OSLA_ERR_ARG, "fill = %d is not known", (int)rule);
  }
}

static osla_err fill_and_agree(const char *call, osla_part part, osla_fill rule, uint64_t seed)
{
  const bool by_seed = rule != OSLA_FILL_ZERO && rule != OSLA_FILL_IDENTITY;
  const osla_argument same[] = {
    {"fill", (int)rule}, {"seed", by_seed ? (int64_t)seed : 0}, OSLA_PART_ARGUMENTS("part", part)};
  return osla_agree_same(osla_grid_transport(osla_matrix_grid(part.matrix)),
                         fill_by_rule(&part, rule, seed), call, same,
                         (int)(sizeof same / sizeof *same)); /* osla_agree_same is also a barrier */
}

osla_err osla_matrix_fill_part(osla_part part, osla_fill rule, uint64_t seed)
{
  return fill_and_agree("osla_matrix_fill_part", part, rule, seed);
}

osla_err osla_matrix_fill(osla_matrix *a, osla_fill rule, uint64_t seed)
{
  return fill_and_agree("osla_matrix_fill", osla_whole(a), rule, seed);
}
