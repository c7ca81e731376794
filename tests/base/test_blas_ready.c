/* Tests of the checks that precede a thread's first BLAS call: whether OpenBLAS gets memory for its
 * buffer, and whether BLAS integers have 32 bits. Each case makes its calls in new threads. */
#include "osla_blas.h"
#include "tests/osla_test_help.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* Replaces the BLAS's dasum_, so that a case can simulate a library with 64-bit integers. */
double dasum_(const void *n, const double *x, const void *incx);
static bool has_64_bits;
double dasum_(const void *n, const double *x, const void *incx)
{
  int64_t count, step;
  double sum = 0;
  if (has_64_bits) {
    memcpy(&count, n, sizeof count);
    memcpy(&step, incx, sizeof step);
  } else {
    count = *(const int *)n;
    step = *(const int *)incx;
  }
  for (int64_t i = 0; i < count; i++)
    sum += fabs(x[i * step]);
  return sum;
}

/* A thread that makes one or two BLAS calls when it is signalled. */
typedef struct caller {
  pthread_t thread;
  pthread_barrier_t go;
  osla_err first, second;
  char text[512]; /* error text of the thread's first BLAS call */
  double c[4];
} caller;

static osla_err multiply(double c[4])
{
  const double a[4] = {1, 2, 3, 4};
  return osla_blas_gemm(OSLA_DOUBLE, OSLA_NOTRANS, OSLA_NOTRANS, 2, 2, 2, 1.0, a, 2, a, 2, 0.0, c,
                        2);
}

static void *call_twice(void *arg)
{
  caller *me = arg;
  (void)pthread_barrier_wait(&me->go);
  me->first = multiply(me->c);
  (void)snprintf(me->text, sizeof me->text, "%s", osla_error_text());
  (void)pthread_barrier_wait(&me->go);
  (void)pthread_barrier_wait(&me->go);
  me->second = multiply(me->c);
  return NULL;
}

static void start(caller *me)
{
  (void)pthread_barrier_init(&me->go, NULL, 2);
  CU_ASSERT_FATAL(pthread_create(&me->thread, NULL, call_twice, me) == 0);
}

/* The main thread lets a waiting thread make its first BLAS call while the fault is simulated, and
 * its second BLAS call after that. */
static void call_first(caller *me)
{
  (void)pthread_barrier_wait(&me->go);
  (void)pthread_barrier_wait(&me->go);
}
static void call_second(caller *me)
{
  (void)pthread_barrier_wait(&me->go);
  (void)pthread_join(me->thread, NULL);
  (void)pthread_barrier_destroy(&me->go);
}

static size_t address_space(void)
{
  size_t pages = 0;
  FILE *file = fopen("/proc/self/statm", "r");
  if (!file || fscanf(file, "%zu", &pages) != 1) pages = 0;
  if (file) (void)fclose(file);
  return pages * (size_t)sysconf(_SC_PAGESIZE);
}

static bool is_openblas(void)
{
  return strstr(osla_blas_describe(), "OpenBLAS") != NULL;
}

static void test_room(void)
{
  caller one = {.first = OSLA_OK};
  struct rlimit before, tight;
  start(&one);
  CU_ASSERT_FATAL(getrlimit(RLIMIT_AS, &before) == 0 && address_space() > 0);
  tight = before;
  tight.rlim_cur = address_space() + ((rlim_t)64 << 20);
  CU_ASSERT_FATAL(setrlimit(RLIMIT_AS, &tight) == 0);
  int threads = osla_blas_threads();
  call_first(&one);
  bool room = osla_blas_has_room(1), any = osla_blas_has_room(0);
  osla_blas_set_threads(threads + 1);
  int threads_then = osla_blas_threads();
  CU_ASSERT_FATAL(setrlimit(RLIMIT_AS, &before) == 0);
  call_second(&one);
  CU_ASSERT(any);
  CU_ASSERT(room == !is_openblas());
  CU_ASSERT(threads_then == threads);
  CU_ASSERT(one.first == (is_openblas() ? OSLA_ERR_MEM : OSLA_OK));
  OSLA_ASSERT_MSG(!is_openblas() || strstr(one.text, "OpenBLAS's buffer"), "\"%s\"", one.text);
  OSLA_ASSERT_OK(one.second);
  CU_ASSERT(one.c[0] == 7 && one.c[3] == 22);
}

static void test_integers(void)
{
  caller one = {.first = OSLA_OK};
  start(&one);
  has_64_bits = true;
  call_first(&one);
  has_64_bits = false;
  call_second(&one);
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
  CU_ASSERT(one.first == OSLA_ERR_UNSUPPORTED);
  OSLA_ASSERT_MSG(strstr(one.text, "ILP64") && strstr(one.text, osla_blas_describe()), "\"%s\"",
                  one.text);
#endif
  OSLA_ASSERT_OK(one.second);
  CU_ASSERT(one.c[0] == 7 && one.c[3] == 22);
}

static const osla_test_case cases[] = {
  {"room", test_room},
  {"integers", test_integers},
  {NULL, NULL},
};
OSLA_TEST_SUITE(test_blas_ready, cases);
