/* Tests of the fit of osla-calibrate: the fit recovers a known model, and fits other data as well
 * as a model with nonnegative coefficients can. */
#include "bench/calibrate.h"
#include "osla_random.h"
#include "tests/osla_test_help.h"

static const calibrate_kind product = {.name = "gemm", .monomials = {"mnk", "mn", "mk", "nk", "1"}};

static int make_shapes(calibrate_shape *shape)
{
  int count = 0;
  for (int64_t m = 16; m <= 2048; m *= 5)
    for (int64_t n = 16; n <= 2048; n *= 4)
      for (int64_t k = 16; k <= 512; k *= 4)
        shape[count++] = (calibrate_shape){m, n, k};
  return count;
}

static double model(const double *c, const calibrate_shape *s)
{
  double sum = 0;
  for (int j = 0; j < CALIBRATE_TERMS; j++)
    sum += c[j] * calibrate_monomial(product.monomials[j], s);
  return sum;
}

static double squares(int count, const calibrate_shape *shape, const double *seconds,
                      const double *c)
{
  double sum = 0;
  for (int i = 0; i < count; i++) {
    double e = model(c, &shape[i]) / seconds[i] - 1;
    sum += e * e;
  }
  return sum;
}

static void test_monomials(void)
{
  const calibrate_shape s = {2, 3, 5};
  OSLA_ASSERT_MSG(calibrate_monomial("mnk", &s) == 30 && calibrate_monomial("mmn", &s) == 12 &&
                    calibrate_monomial("1", &s) == 1,
                  "products of sizes");
}

static void test_found_again(void)
{
  static const double truth[][CALIBRATE_TERMS] = {
    {5e-11, 7e-10, 3e-10, 4e-10, 2e-6}, {5e-11, 0, 3e-10, 0, 0}, {0, 0, 0, 0, 1e-6}};
  calibrate_shape shape[CALIBRATE_SHAPES];
  double seconds[CALIBRATE_SHAPES];
  int count = make_shapes(shape);
  for (size_t t = 0; t < sizeof truth / sizeof *truth; t++) {
    calibrate_fit fit;
    for (int i = 0; i < count; i++)
      seconds[i] = model(truth[t], &shape[i]);
    if (!OSLA_ASSERT_OK(calibrate_fit_kind(&product, count, shape, seconds, &fit))) return;
    OSLA_ASSERT_MSG(fit.terms == 5 && fit.worst < 1e-6 && fit.median <= fit.worst,
                    "model %zu: errors %g, %g", t, fit.median, fit.worst);
    for (int j = 0; j < CALIBRATE_TERMS; j++)
      OSLA_ASSERT_MSG(fabs(fit.c[j] - truth[t][j]) <= 1e-3 * truth[t][j] + 1e-16,
                      "model %zu: %s is %g", t, product.monomials[j], fit.c[j]);
  }
}

/* Tests times that fall with a growing size: an exact fit would need a negative coefficient. */
static void test_best_of_positive(void)
{
  calibrate_shape shape[CALIBRATE_SHAPES];
  double seconds[CALIBRATE_SHAPES] = {0};
  int count = make_shapes(shape), worse = 0;
  calibrate_fit fit;
  for (int i = 0; i < count; i++) {
    const calibrate_shape *s = &shape[i];
    double volume = (double)s->m * (double)s->n * (double)s->k;
    seconds[i] = 5e-11 * volume / (1 + 20.0 / (double)s->k) + 1e-6 +
                 1e-6 * osla_random_uniform(7, (uint64_t)i, 0);
  }
  if (!OSLA_ASSERT_OK(calibrate_fit_kind(&product, count, shape, seconds, &fit))) return;
  double least = squares(count, shape, seconds, fit.c);
  for (int j = 0; j < CALIBRATE_TERMS; j++) {
    static const double typical[CALIBRATE_TERMS] = {5e-11, 1e-10, 1e-10, 1e-10, 1e-6};
    OSLA_ASSERT_MSG(fit.c[j] >= 0, "%s is negative", product.monomials[j]);
    for (int sign = -1; sign <= 1; sign += 2) {
      double c[CALIBRATE_TERMS];
      for (int l = 0; l < CALIBRATE_TERMS; l++)
        c[l] = fit.c[l];
      c[j] += sign * 1e-3 * typical[j];
      if (c[j] >= 0 && squares(count, shape, seconds, c) < least * (1 - 1e-9)) worse++;
    }
  }
  OSLA_ASSERT_MSG(worse == 0, "%d neighbours are better", worse);
}

static const osla_test_case cases[] = {{"monomials", test_monomials},
                                       {"found_again", test_found_again},
                                       {"best_of_positive", test_best_of_positive},
                                       {NULL, NULL}};
OSLA_TEST_SUITE(test_calibrate_fit, cases);
