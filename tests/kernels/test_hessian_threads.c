/* Tests in which several threads of each rank update one accumulator at the same time: OpenMP
 * threads, plain threads that start and end, and threads beside the transport's progress thread. */
#include "tests/hessian_reference.h"

#include <inttypes.h>
#include <mpi.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 5, UPDATES = 8, N = 48 };

static osla_hessian_options tight(void)
{
  osla_hessian_options o = {0};
  o.nb = 8;
  o.piece_bytes = 4096;
  o.ring_bytes = 1;
  return o;
}

/* A thread that makes updates first .. last - 1 of a stream. */
typedef struct producer {
  osla_hessian *h;
  uint64_t seed;
  int first, last;
  osla_dtype dtype;
  osla_err err;
  char text[512];
} producer;

static void *produce(void *arg)
{
  producer *p = arg;
  for (int i = p->first; i < p->last && p->err == OSLA_OK; i++)
    p->err = update_push(p->h, update_random(p->seed, i, N, N, p->dtype));
  if (p->err != OSLA_OK) (void)strncpy(p->text, osla_error_text(), sizeof p->text - 1);
  return NULL;
}

static producer producer_of(osla_hessian *h, uint64_t seed, int thread, osla_dtype dtype)
{
  int first = (osla_test_rank() * THREADS + thread) * UPDATES;
  return (producer){.h = h, .seed = seed, .first = first, .last = first + UPDATES, .dtype = dtype};
}

static void sum_of_all(serial_sum *sum, uint64_t seed, osla_dtype dtype)
{
  for (int i = 0; i < osla_test_size() * THREADS * UPDATES; i++)
    sum_add(sum, update_random(seed, i, N, N, dtype), 1.0);
}

static void check_producer(const producer *p)
{
  OSLA_ASSERT_MSG(p->err == OSLA_OK, "thread from update %d: %s", p->first, p->text);
}

static void test_openmp(void)
{
  osla_transport *t = NULL;
  const osla_transport_options with = {.threads_per_rank = THREADS};
  OSLA_ASSERT_OK(osla_transport_create(MPI_COMM_WORLD, &with, &t));
  osla_grid *grid = hessian_grid(t, 0);
  osla_hessian_options o = tight();
  o.single = true;
  osla_hessian *h = hessian_create_or_end(grid, N, &o);
  serial_sum sum = sum_create(N, o.uplo);
  producer producers[THREADS];
  for (int i = 0; i < THREADS; i++)
    producers[i] = producer_of(h, 1, i, type_of(&o));
#pragma omp parallel for num_threads(THREADS) schedule(static, 1)
  for (int i = 0; i < THREADS; i++)
    (void)produce(&producers[i]);
  for (int i = 0; i < THREADS; i++)
    check_producer(&producers[i]);
  sum_of_all(&sum, 1, type_of(&o));
  sum_assert(&sum, h, "OpenMP threads");
  osla_hessian_destroy(&h);
  sum_free(&sum);
  osla_grid_destroy(&grid);
  osla_transport_destroy(&t);
}

static void run_threads(osla_hessian *h, uint64_t seed, osla_dtype dtype)
{
  pthread_t threads[THREADS];
  producer producers[THREADS];
  for (int i = 0; i < THREADS; i++) {
    producers[i] = producer_of(h, seed, i, dtype);
    CU_ASSERT(pthread_create(&threads[i], NULL, produce, &producers[i]) == 0);
  }
  for (int i = 0; i < THREADS; i++) {
    (void)pthread_join(threads[i], NULL);
    check_producer(&producers[i]);
  }
}

/* Threads end before the commit, and new threads begin after a commit and a reset. The statistics
 * include the updates of all threads. */
static void threads_life(bool progress_thread, osla_uplo uplo)
{
  osla_transport *t = NULL;
  const osla_transport_options with = {.threads_per_rank = THREADS,
                                       .progress_thread = progress_thread};
  OSLA_ASSERT_OK(osla_transport_create(MPI_COMM_WORLD, &with, &t));
  osla_grid *grid = hessian_grid(t, 0);
  osla_hessian_options o = tight();
  o.uplo = uplo;
  osla_hessian *h = hessian_create_or_end(grid, N, &o);
  serial_sum sum = sum_create(N, uplo);
  for (uint64_t phase = 0; phase < 2; phase++) {
    run_threads(h, 10 + phase, type_of(&o));
    sum_of_all(&sum, 10 + phase, type_of(&o));
    sum_assert(&sum, h, "threads, progress thread %d, phase %" PRIu64, progress_thread, phase);
  }
  int64_t elements = osla_hessian_get_stats(h).elements;
  MPI_Allreduce(MPI_IN_PLACE, &elements, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
  CU_ASSERT(elements == sum.elements);
  OSLA_ASSERT_OK(osla_hessian_reset(h));
  sum_clear(&sum);
  run_threads(h, 20, type_of(&o));
  sum_of_all(&sum, 20, type_of(&o));
  sum_assert(&sum, h, "threads after reset");
  osla_hessian_destroy(&h);
  sum_free(&sum);
  osla_grid_destroy(&grid);
  osla_transport_destroy(&t);
}

static void test_threads(void)
{
  threads_life(false, OSLA_LOWER);
}

static void test_threads_and_progress_thread(void)
{
  if (!osla_test_multiple("a progress thread")) return;
  threads_life(true, OSLA_UPPER);
}

/* All threads of all ranks add ones to the same elements at the same time. */
typedef struct adder {
  osla_hessian *h;
  int times;
  _Atomic int failures;
} adder;

static void *add_ones(void *arg)
{
  adder *a = arg;
  for (int i = 0; i < a->times; i++)
    if (update_push(a->h, update_ones(24, 1, OSLA_DOUBLE)) != OSLA_OK) a->failures++;
  return NULL;
}

static void test_no_update_is_lost(void)
{
  osla_transport *t = osla_test_transport();
  osla_grid *grid = hessian_grid(t, 0);
  osla_hessian_options o = tight();
  osla_hessian *h = hessian_create_or_end(grid, 24, &o);
  serial_sum sum = sum_create(24, o.uplo);
  adder a = {.h = h, .times = osla_transport_n_nodes(t) > 1 ? 10 : 200};
  pthread_t threads[THREADS];
  OSLA_ASSERT_OK(osla_barrier(t));
  for (int i = 0; i < THREADS; i++)
    CU_ASSERT(pthread_create(&threads[i], NULL, add_ones, &a) == 0);
  for (int i = 0; i < THREADS; i++)
    (void)pthread_join(threads[i], NULL);
  CU_ASSERT(a.failures == 0);
  sum_add(&sum, update_ones(24, 1, type_of(&o)), (double)(a.times * THREADS * osla_test_size()));
  sum_assert(&sum, h, "ones from all threads");
  osla_hessian_destroy(&h);
  sum_free(&sum);
  osla_grid_destroy(&grid);
  osla_transport_destroy(&t);
}

/* An error is reported to the thread whose call was wrong, and the updates of other threads
 * succeed. */
static void *wrong_update(void *arg)
{
  producer *p = arg;
  const int64_t ix = N + p->first;
  const double one = 1.0;
  p->err = osla_hessian_update(p->h, 1, &ix, 1, &one, 1);
  (void)strncpy(p->text, osla_error_text(), sizeof p->text - 1);
  return NULL;
}

static void test_errors_of_threads(void)
{
  osla_transport *t = osla_test_transport();
  osla_grid *grid = hessian_grid(t, 0);
  osla_hessian_options o = tight();
  osla_hessian *h = hessian_create_or_end(grid, N, &o);
  serial_sum sum = sum_create(N, o.uplo);
  producer wrong[THREADS];
  pthread_t threads[THREADS];
  for (int i = 0; i < THREADS; i++) {
    wrong[i] = (producer){.h = h, .first = i};
    CU_ASSERT(pthread_create(&threads[i], NULL, wrong_update, &wrong[i]) == 0);
  }
  OSLA_ASSERT_OK(update_push(h, update_ones(N, 1, type_of(&o))));
  for (int i = 0; i < THREADS; i++) {
    char expected[64];
    (void)pthread_join(threads[i], NULL);
    (void)snprintf(expected, sizeof expected, "ix[0] = %d is outside", N + i);
    OSLA_ASSERT_MSG(wrong[i].err == OSLA_ERR_ARG && strstr(wrong[i].text, expected) != NULL,
                    "thread %d: \"%s\"", i, wrong[i].text);
  }
  sum_add(&sum, update_ones(N, 1, type_of(&o)), (double)osla_test_size());
  sum_assert(&sum, h, "beside wrong updates");
  osla_hessian_destroy(&h);
  sum_free(&sum);
  osla_grid_destroy(&grid);
  osla_transport_destroy(&t);
}

static const osla_test_case cases[] = {
  {"openmp", test_openmp},
  {"threads", test_threads},
  {"threads_and_progress_thread", test_threads_and_progress_thread},
  {"no_update_is_lost", test_no_update_is_lost},
  {"errors_of_threads", test_errors_of_threads},
  {NULL, NULL},
};
OSLA_TEST_SUITE(test_hessian_threads, cases);
