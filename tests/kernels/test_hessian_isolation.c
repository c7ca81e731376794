/* Tests of the option isolation: a rank that holds the owner's locks sees an update's contribution
 * to this owner completely or not at all. Without isolation, no addition is lost either. */
#include "kernels/hessian/hessian.h"
#include "osla_clock.h"
#include "osla_index.h"
#include "tests/hessian_reference.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

enum { N = 96, THREADS = 2 };

/* Options with pieces of 4 KiB and messages of 16 KiB, so that each owner's part of an update takes
 * several pieces. */
static osla_hessian_options tight(void)
{
  osla_hessian_options o = {0};
  o.nb = 8;
  o.piece_bytes = 4096;
  o.ring_bytes = 1;
  return o;
}

/* Every update adds the same value to all elements, so all elements of an owner are equal while its
 * locks are held. Returns the number of elements that differ from the first one. */
static int64_t count_torn(osla_hessian *h, int prow, int pcol)
{
  const local_view *v = &h->v;
  int owner = rank_at(v, prow, pcol);
  osla_stripes *lock = osli_hessian_lock(h, owner);
  if (!lock) return 0;
  const double *local = osla_matrix_peer(h->matrix, owner);
  int64_t rows = osla_index_count(h->n, v->mb, prow, v->p);
  int64_t cols = osla_index_count(h->n, v->nb, pcol, v->q), torn = 0;
  bool any = false;
  double first = 0;
  osla_stripes_take(v->t, lock, UINT64_MAX);
  for (int64_t c = 0; c < cols; c++) {
    const stored_columns s = osli_stored_columns(h->matrix, owner, c);
    for (int64_t r = s.first_row; r < rows; r++) {
      int64_t i = osla_index_global(r, v->mb, prow, v->p);
      int64_t j = osla_index_global(c, v->nb, pcol, v->q);
      if (h->options.uplo == OSLA_LOWER ? i < j : i > j) continue;
      const double seen = local[stored_index(&s, r, c)];
      if (!any) first = seen;
      any = true;
      if (seen != first) torn++;
    }
  }
  osla_stripes_release(v->t, lock, UINT64_MAX);
  return torn;
}

typedef struct job {
  osla_hessian *h;
  int times;
  bool block, checks;
  int64_t torn;
  osla_err err;
} job;

/* Makes an update by a block U of ones for all elements. */
static osla_err push_block(osla_hessian *h)
{
  int64_t *ix = osla_test_allocate(N, sizeof *ix);
  double *ones = osla_test_allocate((size_t)N * N, sizeof *ones);
  for (int64_t i = 0; i < N * N; i++)
    ones[i] = 1.0;
  for (int64_t i = 0; i < N; i++)
    ix[i] = i;
  osla_err err = osla_hessian_update_block(h, N, ix, N, ix, ones, N);
  free(ix);
  free(ones);
  return err;
}

static osla_err push_product(osla_hessian *h)
{
  test_update u = update_ones(N, 1, OSLA_DOUBLE);
  osla_err err = osla_hessian_update(h, u.rows, u.ix, u.k, u.values, u.ld);
  update_free(&u);
  return err;
}

static void *work(void *arg)
{
  job *j = arg;
  for (int i = 0; i < j->times && j->err == OSLA_OK; i++) {
    j->err = j->block ? push_block(j->h) : push_product(j->h);
    for (int at = 0; j->checks && at < j->h->v.p * j->h->v.q; at++)
      j->torn += count_torn(j->h, at / j->h->v.q, at % j->h->v.q);
  }
  return NULL;
}

/* All threads of all ranks make updates at the same time. If `checks` is true, each thread checks
 * between its updates that the elements of each owner on its node are equal. At the end every
 * element must equal the number of updates. */
static void run_jobs(osla_hessian_options o, bool checks)
{
  osla_transport *t = NULL;
  const osla_transport_options with = {.threads_per_rank = THREADS};
  OSLA_ASSERT_OK(osla_transport_create(MPI_COMM_WORLD, &with, &t));
  osla_grid *grid = hessian_grid(t, 0);
  osla_hessian *h = hessian_create_or_end(grid, N, &o);
  job jobs[THREADS];
  pthread_t threads[THREADS];
  const int times = osla_transport_n_nodes(t) > 1 ? 8 : 40;
  OSLA_ASSERT_OK(osla_barrier(t));
  for (int i = 0; i < THREADS; i++) {
    jobs[i] = (job){.h = h, .times = times, .block = i % 2 == 0, .checks = checks};
    CU_ASSERT(pthread_create(&threads[i], NULL, work, &jobs[i]) == 0);
  }
  for (int i = 0; i < THREADS; i++) {
    (void)pthread_join(threads[i], NULL);
    CU_ASSERT(jobs[i].err == OSLA_OK);
    OSLA_ASSERT_MSG(jobs[i].torn == 0, "%" PRId64 " elements of half an update", jobs[i].torn);
  }
  serial_sum sum = sum_create(N, o.uplo);
  for (int64_t i = 0; i < N * N; i++)
    if (o.uplo == OSLA_LOWER ? i % N >= i / N : i % N <= i / N)
      sum.h[i] = (double)times * THREADS * osla_test_size();
  sum_assert(&sum, h, "isolation %d", (int)o.isolation);
  osla_hessian_destroy(&h);
  sum_free(&sum);
  osla_grid_destroy(&grid);
  osla_transport_destroy(&t);
}

static void test_whole_updates(void)
{
  osla_hessian_options o = tight();
  run_jobs(o, true);
}

/* A case in which each owner's part of an update fits one piece, the update is sent as columns of
 * G, and the matrix is an upper triangle. */
static void test_single_messages(void)
{
  osla_hessian_options o = tight();
  o.piece_bytes = (size_t)64 << 20;
  o.shipping = OSLA_SHIP_FACTORS;
  o.uplo = OSLA_UPPER;
  run_jobs(o, true);
}

static void test_elements(void)
{
  osla_hessian_options o = tight();
  o.isolation = OSLA_ISOLATE_ELEMENT;
  run_jobs(o, false);
}

/* ---- large updates from another node during small updates on the node ---- */

enum { STREAMS = 6, TURNS = 5, HOLD_US = 200 };
static const double stream_value = 2.0, longest_s = 6.0;

/* User function that adds. For a small update it sleeps, so that the lock of the stripe of columns
 * is held for long. */
static void add_slowly(int64_t count, void *inout, const void *in, void *context)
{
  const double *from = in;
  double *to = inout;
  (void)context;
  if (count > 0 && from[0] == stream_value) usleep(HOLD_US);
  for (int64_t i = 0; i < count; i++)
    to[i] += from[i];
}

typedef struct stream {
  osla_hessian *h;
  int64_t column, times;
  double end;
  atomic_bool *stop;
} stream;

/* Updates one column of the owner repeatedly, so that the lock of its stripe is held nearly all the
 * time. */
static void *push_columns(void *arg)
{
  stream *s = arg;
  int64_t ix[N];
  double values[N];
  for (int64_t i = 0; i < N; i++) {
    ix[i] = i;
    values[i] = stream_value;
  }
  while (!atomic_load(s->stop) && osla_clock() < s->end) {
    CU_ASSERT(osla_hessian_update_block(s->h, N, ix, 1, &s->column, values, N) == OSLA_OK);
    s->times++;
  }
  return NULL;
}

/* While one rank updates single columns, the other ranks update all columns. These updates together
 * exceed a message buffer. Returns the duration in seconds of the slowest update. */
static double push_all_columns(osla_transport *t, osla_hessian *h)
{
  double start = osla_clock(), seconds;
  for (int turn = 0; turn < TURNS && osla_test_rank() > 0; turn++)
    OSLA_ASSERT_OK(push_block(h));
  seconds = osla_clock() - start;
  OSLA_ASSERT_OK(osla_allreduce(t, &seconds, 1, MPI_DOUBLE, MPI_MAX));
  return seconds;
}

/* It never happens by chance that all stripes of an owner are unlocked at once. Updates of all
 * stripes must complete nevertheless, including those from another node. */
static void test_streams_hold_up_nobody(void)
{
  osla_transport *t = NULL;
  osla_grid *grid = NULL;
  const osla_transport_options with = {.threads_per_rank = STREAMS};
  OSLA_ASSERT_OK(osla_transport_create(MPI_COMM_WORLD, &with, &t));
  OSLA_ASSERT_OK(osla_grid_create(t, 1, 1, &grid));
  osla_hessian_options o = tight();
  o.combine = OSLA_COMBINE_USER;
  o.combine_function = add_slowly;
  osla_hessian *h = hessian_create_or_end(grid, N, &o);
  atomic_bool stop = false;
  stream streams[STREAMS];
  pthread_t threads[STREAMS];
  int64_t times[STREAMS] = {0};
  bool streams_here = osla_test_rank() == 0;
  for (int i = 0; i < STREAMS && streams_here; i++) {
    streams[i] = (stream){h, i * o.nb, 0, osla_clock() + longest_s, &stop};
    CU_ASSERT(pthread_create(&threads[i], NULL, push_columns, &streams[i]) == 0);
  }
  OSLA_ASSERT_OK(osla_barrier(t));
  double seconds = push_all_columns(t, h);
  OSLA_ASSERT_MSG(seconds < longest_s / 2, "%d updates took %g s", TURNS, seconds);
  atomic_store(&stop, true);
  for (int i = 0; i < STREAMS && streams_here; i++) {
    (void)pthread_join(threads[i], NULL);
    times[i] = streams[i].times;
  }
  OSLA_ASSERT_OK(osla_bcast(t, times, STREAMS, MPI_INT64_T, 0));
  serial_sum sum = sum_create(N, o.uplo);
  for (int64_t i = 0; i < N; i++)
    for (int64_t j = 0; j <= i; j++) {
      bool streamed = j % o.nb == 0 && j / o.nb < STREAMS;
      sum.h[i + j * N] = TURNS * (osla_test_size() - 1.0) +
                         (streamed ? stream_value * (double)times[j / o.nb] : 0.0);
    }
  sum_assert(&sum, h, "beside streams");
  osla_hessian_destroy(&h);
  sum_free(&sum);
  osla_grid_destroy(&grid);
  osla_transport_destroy(&t);
}

static void test_wrong_options(void)
{
  osla_transport *t = osla_test_transport();
  osla_grid *grid = hessian_grid(t, 0);
  osla_hessian *h = NULL;
  osla_hessian_options o = tight();
  o.isolation = (osla_isolation)7;
  OSLA_ASSERT_ERR(osla_hessian_create(grid, N, &o, &h), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("isolation = 7");
  o = tight();
  o.shipping = (osla_shipping)9;
  OSLA_ASSERT_ERR(osla_hessian_create(grid, N, &o, &h), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("shipping = 9");
  osla_grid_destroy(&grid);
  osla_transport_destroy(&t);
}

static const osla_test_case cases[] = {
  {"whole_updates", test_whole_updates}, {"single_messages", test_single_messages},
  {"elements", test_elements},           {"streams_hold_up_nobody", test_streams_hold_up_nobody},
  {"wrong_options", test_wrong_options}, {NULL, NULL},
};
OSLA_TEST_SUITE(test_hessian_isolation, cases);
