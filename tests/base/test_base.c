/* Tests of error macros, random numbers, clock, value types and version. */
#include "config.h"
#include "osla_clock.h"
#include "osla_error.h"
#include "osla_log.h"
#include "osla_random.h"
#include "osla_types.h"
#include "osla_version.h"
#include "tests/osla_test.h"

#include <inttypes.h>
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static osla_err check_positive(int64_t n)
{
  OSLA_CHECK(n > 0, OSLA_ERR_ARG, "n = %" PRId64 " is not positive", n);
  return OSLA_OK;
}

static osla_err call_twice(int64_t n, int *reached)
{
  OSLA_CALL(check_positive(1));
  *reached = 1;
  OSLA_CALL(check_positive(n));
  *reached = 2;
  return OSLA_OK;
}

static osla_err try_with_cleanup(int64_t n, int *cleaned)
{
  osla_err err = OSLA_OK;
  OSLA_TRY(check_positive(n));
cleanup:
  *cleaned = 1;
  return err;
}

static osla_err wrap_mpi(MPI_Comm comm)
{
  int size = 0;
  OSLA_MPI(MPI_Comm_size(comm, &size));
  return OSLA_OK;
}

static void test_error_macros(void)
{
  int reached = 0, cleaned = 0;
  OSLA_ASSERT_OK(call_twice(1, &reached));
  CU_ASSERT(reached == 2);
  OSLA_ASSERT_ERR(call_twice(-7, &reached), OSLA_ERR_ARG);
  CU_ASSERT(reached == 1);
  CU_ASSERT(strcmp(osla_error_text(), "n = -7 is not positive") == 0);

  OSLA_ASSERT_ERR(try_with_cleanup(0, &cleaned), OSLA_ERR_ARG);
  CU_ASSERT(cleaned == 1);
  cleaned = 0;
  OSLA_ASSERT_OK(try_with_cleanup(5, &cleaned));
  CU_ASSERT(cleaned == 1);
}

static void test_error_mpi(void)
{
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(
    MPI_COMM_WORLD,
    /* MPI reports errors of a null communicator to the handler of MPI_COMM_WORLD */
    MPI_ERRORS_RETURN);
  OSLA_ASSERT_OK(wrap_mpi(comm));
  OSLA_ASSERT_ERR(wrap_mpi(MPI_COMM_NULL), OSLA_ERR_MPI);
  CU_ASSERT(strncmp(osla_error_text(), "MPI_Comm_size(comm, &size): ", 28) == 0);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
  MPI_Comm_free(&comm);
}

static void test_error_names(void)
{
  for (int i = OSLA_OK; i <= OSLA_ERR_UNSUPPORTED; i++) {
    CU_ASSERT(strlen(osla_err_name((osla_err)i)) > 0);
    for (int j = OSLA_OK; j < i; j++)
      CU_ASSERT(strcmp(osla_err_name((osla_err)i), osla_err_name((osla_err)j)) != 0);
  }
}

static void test_error_text_is_cut(void)
{
  char longer[1000];
  memset(longer, 'x', sizeof longer);
  longer[sizeof longer - 1] = '\0';
  CU_ASSERT(osla_error_set(OSLA_ERR_IO, "%s", longer) == OSLA_ERR_IO);
  CU_ASSERT(strlen(osla_error_text()) == 511);
}

/* Expected values of the SplitMix64 finaliser, computed in Python. */
static void test_random_known_values(void)
{
  CU_ASSERT(osla_random_bits(0, 0, 0) == UINT64_C(0x238275bc38fcbe91));
  CU_ASSERT(osla_random_bits(1, 2, 3) == UINT64_C(0x8568f7c4e53b5a35));
  CU_ASSERT(osla_random_bits(UINT64_MAX, UINT64_MAX, 1) == UINT64_C(0x2c4e71ff4df252d1));
  OSLA_ASSERT_CLOSE(osla_random_uniform(1, 2, 3), 0.021132932253050796, 0.0);
  OSLA_ASSERT_CLOSE(osla_random_normal(1, 2, 3), 0.4799296020003301, 1e-14);
}

/* Every rank draws the same random numbers: their minima and maxima over the ranks are equal. */
static void test_random_same_on_all_ranks(void)
{
  for (uint64_t i = 0; i < 16; i++) {
    uint64_t mine = osla_random_bits(42, i, 7), least = 0, most = 0;
    MPI_Allreduce(&mine, &least, 1, MPI_UINT64_T, MPI_MIN, MPI_COMM_WORLD);
    MPI_Allreduce(&mine, &most, 1, MPI_UINT64_T, MPI_MAX, MPI_COMM_WORLD);
    CU_ASSERT(least == most);
  }
}

/* Mean, variance and range over n draws; tolerances are 6 standard errors. */
static void test_random_uniform_moments(void)
{
  const int n = 200000;
  double sum = 0.0, squares = 0.0, least = 1.0, most = -1.0;
  for (int i = 0; i < n; i++) {
    double x = osla_random_uniform(3, (uint64_t)(i / 500), (uint64_t)(i % 500));
    sum += x;
    squares += x * x;
    least = fmin(least, x);
    most = fmax(most, x);
  }
  OSLA_ASSERT_CLOSE(sum / n, 0.0, 6.0 * sqrt(1.0 / 12.0 / n));
  OSLA_ASSERT_CLOSE(squares / n, 1.0 / 12.0, 6.0 * sqrt((1.0 / 80.0 - 1.0 / 144.0) / n));
  CU_ASSERT(least >= -0.5 && least < -0.4999);
  CU_ASSERT(most < 0.5 && most > 0.4999);
}

static void test_random_normal_moments(void)
{
  const int n = 200000;
  double sum = 0.0, squares = 0.0, neighbours = 0.0, before = 0.0;
  for (int i = 0; i < n; i++) {
    double x = osla_random_normal(5, 0, (uint64_t)i);
    sum += x;
    squares += x * x;
    neighbours += x * before;
    before = x;
  }
  OSLA_ASSERT_CLOSE(sum / n, 0.0, 6.0 / sqrt(n));
  OSLA_ASSERT_CLOSE(squares / n, 1.0, 6.0 * sqrt(2.0 / n));
  OSLA_ASSERT_CLOSE(neighbours / n, 0.0, 6.0 / sqrt(n));
}

/* Random numbers differ if the seed or either of the two indices differs. */
static void test_random_arguments_matter(void)
{
  CU_ASSERT(osla_random_bits(1, 2, 3) != osla_random_bits(2, 2, 3));
  CU_ASSERT(osla_random_bits(1, 2, 3) != osla_random_bits(1, 3, 2));
  CU_ASSERT(osla_random_bits(1, 2, 3) != osla_random_bits(1, 2, 4));
  CU_ASSERT(osla_random_bits(1, 2, 3) != osla_random_bits(2, 1, 3));
}

static void test_clock(void)
{
  double start = osla_clock(), before = start;
  int backwards = 0;
  for (int i = 0; i < 100000; i++) {
    double now = osla_clock();
    if (!(now >= before)) backwards++;
    before = now;
  }
  CU_ASSERT(backwards == 0);
  CU_ASSERT(before > start);
}

static void test_types(void)
{
  CU_ASSERT(osla_dtype_size(OSLA_FLOAT) == sizeof(float));
  CU_ASSERT(osla_dtype_size(OSLA_DOUBLE) == sizeof(double));
  CU_ASSERT(osla_dtype_size(OSLA_COMPLEX_FLOAT) == 2 * sizeof(float));
  CU_ASSERT(osla_dtype_size(OSLA_COMPLEX_DOUBLE) == 2 * sizeof(double));
  CU_ASSERT(osla_dtype_letter(OSLA_FLOAT) == 's' && osla_dtype_letter(OSLA_DOUBLE) == 'd');
  CU_ASSERT(osla_dtype_letter(OSLA_COMPLEX_FLOAT) == 'c');
  CU_ASSERT(osla_dtype_letter(OSLA_COMPLEX_DOUBLE) == 'z');
}

static void test_version(void)
{
  CU_ASSERT(strcmp(osla_version_text(), PACKAGE_VERSION) == 0);
  CU_ASSERT(osla_version() == OSLA_VERSION);
  int major = -1, minor = -1, patch = -1;
  CU_ASSERT(sscanf(PACKAGE_VERSION, "%d.%d.%d", &major, &minor, &patch) == 3);
  CU_ASSERT(OSLA_VERSION == OSLA_VERSION_OF(major, minor, patch));
  CU_ASSERT(OSLA_VERSION_OF(0, 99, 99) < OSLA_VERSION_OF(1, 0, 0));
}

static const osla_test_case cases[] = {
  {"error_macros", test_error_macros},
  {"error_mpi", test_error_mpi},
  {"error_names", test_error_names},
  {"error_text_is_cut", test_error_text_is_cut},
  {"random_known_values", test_random_known_values},
  {"random_same_on_all_ranks", test_random_same_on_all_ranks},
  {"random_uniform_moments", test_random_uniform_moments},
  {"random_normal_moments", test_random_normal_moments},
  {"random_arguments_matter", test_random_arguments_matter},
  {"clock", test_clock},
  {"types", test_types},
  {"version", test_version},
  {NULL, NULL},
};
OSLA_TEST_SUITE(test_base, cases);
