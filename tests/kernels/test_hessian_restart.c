/* Tests of ids, checkpoint and restart of the accumulator. Every datum counts once on any grid,
 * also if checkpoints are taken while threads update. All values are integers, so sums are exact.
 */
#include "tests/file_help.h"
#include "tests/hessian_reference.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { DATA = 24, MOST = 40 };

/* Id of datum `number`. The ids have equal low bits, and one of them is 0. */
static uint64_t id_of(int64_t number)
{
  return (uint64_t)number << 40;
}

static test_update datum(int64_t number, int64_t n, osla_dtype dtype)
{
  if (n == 0) return update_ones(0, 1, dtype);
  return update_random(3, number, n, n < MOST ? n : MOST, dtype);
}

/* Returns process grid number `which`, or the first one if there are fewer. */
static osla_grid *some_grid(osla_transport *t, int which)
{
  osla_grid *grid = hessian_grid(t, which);
  return grid ? grid : hessian_grid(t, 0);
}

/* Adds data first .. last - 1, each on one rank that depends on `turn`. Returns how many of them
 * were skipped on all ranks because their ids were known. */
static int64_t push_range(osla_transport *t, osla_hessian *h, int64_t n, osla_dtype dtype,
                          int64_t first, int64_t last, int turn)
{
  int64_t skips = 0;
  for (int64_t i = first; i < last; i++) {
    if ((i + turn) % osla_test_size() != osla_test_rank()) continue;
    bool skipped = false, has = osla_hessian_has_id(h, id_of(i));
    OSLA_ASSERT_OK(update_push_once(h, datum(i, n, dtype), id_of(i), &skipped));
    OSLA_ASSERT_MSG(has == skipped, "id %" PRIu64 ": has %d", id_of(i), has);
    CU_ASSERT(osla_hessian_has_id(h, id_of(i)));
    skips += skipped;
  }
  /* OSLA's own call, because MPI_Allreduce would make no progress for ranks that still wait in OSLA
   */
  OSLA_ASSERT_OK(osla_allreduce(t, &skips, 1, MPI_INT64_T, MPI_SUM));
  return skips;
}

static void sum_range(serial_sum *sum, osla_dtype dtype, int64_t last)
{
  int64_t n = sum->n;
  for (int64_t i = 0; i < last; i++)
    sum_add(sum, datum(i, n, dtype), 1.0);
}

/* Takes a checkpoint after half of the data. The run continues with the same accumulator, and then
 * with a restored one on another grid. */
static void restart(osla_transport *t, int64_t n, osla_hessian_options o, int from, int to)
{
  osla_grid *first = some_grid(t, from), *second = some_grid(t, to);
  const char *path = scratch_path("c.h5");
  osla_hessian *h = hessian_create_or_end(first, n, &o);
  serial_sum sum = sum_create(n, o.uplo);
  CU_ASSERT(push_range(t, h, n, type_of(&o), 0, DATA / 2, 0) == 0);
  CU_ASSERT(push_range(t, h, n, type_of(&o), 3, 7, 0) == 4);
  if (from > 0) /* now the gradient has committed and uncommitted parts */
    OSLA_ASSERT_OK(osla_hessian_commit(h));
  CU_ASSERT(push_range(t, h, n, type_of(&o), DATA / 2, DATA / 2 + 2, 0) == 0);
  OSLA_ASSERT_OK(osla_hessian_checkpoint(h, path, "job"));
  CU_ASSERT(push_range(t, h, n, type_of(&o), 0, DATA, 0) == DATA / 2 + 2);
  sum_range(&sum, type_of(&o), DATA);
  sum_assert(&sum, h, "goes on after a checkpoint, n = %" PRId64, n);
  osla_hessian_destroy(&h);

  o.nb = o.nb == 8 ? 11 : 8;
  h = hessian_create_or_end(second, n, &o);
  for (int again = 0; again < 2; again++) {
    osla_matrix *a = NULL;
    OSLA_ASSERT_OK(osla_hessian_restore(h, path, "job"));
    OSLA_ASSERT_ERR(osla_hessian_matrix(h, &a), OSLA_ERR_STATE);
    CU_ASSERT(osla_hessian_get_stats(h).ids_restored == DATA / 2 + 2 + 3 * again);
    CU_ASSERT(push_range(t, h, n, type_of(&o), 0, DATA / 2 + 5, 1) == DATA / 2 + 2 + 3 * again);
    if (again == 0) { /* this checkpoint contains both restored and new ids */
      OSLA_ASSERT_OK(osla_hessian_checkpoint(h, path, "job"));
      OSLA_ASSERT_OK(osla_hessian_commit(h));
      OSLA_ASSERT_OK(osla_hessian_reset(h));
      CU_ASSERT(!osla_hessian_has_id(h, id_of(0)));
    }
  }
  CU_ASSERT(push_range(t, h, n, type_of(&o), 0, DATA, 1) == DATA / 2 + 5);
  sum_assert(&sum, h, "restored, n = %" PRId64 ", grids %d, %d", n, from, to);
  osla_hessian_destroy(&h);
  sum_free(&sum);
  osla_grid_destroy(&first);
  osla_grid_destroy(&second);
}

static void test_other_grid(void)
{
  osla_transport *t = osla_test_transport();
  osla_hessian_options o = {0};
  o.ring_bytes = 1;
  o.piece_bytes = 4096;
  o.nb = 8;
  scratch_create();
  restart(t, 53, o, 0, 1);
  o.uplo = OSLA_UPPER;
  o.checkpoint_holds = true;
  restart(t, 53, o, 2, 0);
  o.single = true;
  o.nb = 70;
  o.node_sums = true;
  restart(t, 30, o, 1, 3);
  o.node_sums = false;
  o.single = false;
  o.order_independent = true;
  o.bound = o.gradient_bound = 1e6;
  restart(t, 53, o, 4, 0);
  o.checkpoint_holds = false;
  restart(t, 53, o, 3, 1);
  o.order_independent = false;
  restart(t, 1, o, 0, 5);
  restart(t, 0, o, 4, 0);
  scratch_remove(1);
  osla_transport_destroy(&t);
}

/* ---- equal bits after a restart ---- */

enum { BITS_N = 37 };

/* Adds multiples of 0.1, which no binary number represents exactly. */
static void push_tenths(osla_hessian *h, int64_t first, int64_t last, int turn)
{
  for (int64_t i = first; i < last; i++) {
    if ((i + turn) % osla_test_size() != osla_test_rank()) continue;
    test_update u = update_random(5, i, BITS_N, BITS_N, OSLA_DOUBLE);
    for (int64_t at = 0; at < u.ld * u.cols; at++)
      ((double *)u.values)[at] *= 0.1;
    for (int64_t at = 0; at < u.rows; at++)
      u.gradient[at] *= 0.1;
    OSLA_ASSERT_OK(update_push_once(h, u, id_of(i), NULL));
  }
}

/* Commits and returns the stored triangle of the matrix, followed by the gradient: [n * n + n]. */
static double *take_bits(osla_hessian *h)
{
  osla_matrix *a = NULL;
  double *all = osla_test_allocate(BITS_N * BITS_N + BITS_N, sizeof *all);
  OSLA_ASSERT_OK(osla_hessian_commit(h));
  if (!OSLA_ASSERT_OK(osla_hessian_matrix(h, &a))) return all;
  OSLA_ASSERT_OK(osla_matrix_get_block(a, 0, 0, BITS_N, BITS_N, all, BITS_N));
  for (int64_t j = 0; j < BITS_N; j++)
    for (int64_t i = 0; i < j; i++)
      all[i + j * BITS_N] = 0.0;
  memcpy(all + BITS_N * BITS_N, osla_hessian_gradient(h), BITS_N * sizeof *all);
  OSLA_ASSERT_OK(osla_barrier(osla_grid_transport(osla_matrix_grid(a))));
  return all;
}

static bool same_bits(const double *a, const double *b)
{
  return memcmp(a, b, (BITS_N * BITS_N + BITS_N) * sizeof *a) == 0;
}

/* Takes a checkpoint directly after a commit, when H is stored as doubles. H must stay unchanged.
 */
static void checkpoint_committed(osla_hessian *h, const char *path)
{
  double *before = take_bits(h);
  OSLA_ASSERT_OK(osla_hessian_checkpoint(h, path, NULL));
  double *after = take_bits(h);
  CU_ASSERT(same_bits(before, after));
  free(before);
  free(after);
}

/* Compares a run without interruption with a run in three parts, which are on different grids and
 * have a commit between them. */
static void test_same_bits(void)
{
  osla_transport *t = osla_test_transport();
  osla_hessian_options o = {0};
  o.order_independent = true;
  o.bound = o.gradient_bound = 3000.0;
  o.initial = 0.25; /* H is stored as doubles at first */
  o.nb = 5;
  osla_grid *grid = some_grid(t, 0);
  osla_hessian *h = hessian_create_or_end(grid, BITS_N, &o);
  scratch_create();
  const char *path = scratch_path("c.h5");
  push_tenths(h, 0, DATA, 0);
  double *expected = take_bits(h), *seen = NULL;
  for (int part = 0; part < 3; part++) {
    osla_hessian_destroy(&h);
    osla_grid_destroy(&grid);
    grid = some_grid(t, 2 - part);
    o.nb = 4 + 3 * part;
    o.checkpoint_holds = part == 1;
    h = hessian_create_or_end(grid, BITS_N, &o);
    if (part > 0) OSLA_ASSERT_OK(osla_hessian_restore(h, path, NULL));
    push_tenths(h, 0, (part + 1) * DATA / 4, part);
    if (part > 0) OSLA_ASSERT_OK(osla_hessian_commit(h));
    push_tenths(h, 0, (part + 2) * DATA / 4, part);
    if (part < 2)
      checkpoint_committed(h, path);
    else
      OSLA_ASSERT_OK(osla_hessian_checkpoint(h, path, NULL));
  }
  OSLA_ASSERT_OK(osla_hessian_commit(h));
  OSLA_ASSERT_OK(osla_hessian_reset(h));
  OSLA_ASSERT_OK(osla_hessian_restore(h, path, NULL));
  seen = take_bits(h);
  CU_ASSERT(same_bits(seen, expected));
  free(seen);
  free(expected);
  scratch_remove(1);
  osla_hessian_destroy(&h);
  osla_grid_destroy(&grid);
  osla_transport_destroy(&t);
}

/* ---- checkpoints while threads update ---- */

enum { THREADS = 3, LEAST = 6, CAP = 60, N_THREADS_TEST = 40 };

typedef struct producer {
  osla_hessian *h;
  atomic_bool *stop;
  int64_t first, done;
  osla_err err;
} producer;

static test_update thread_update(int64_t number)
{
  return update_random(9, number, N_THREADS_TEST, 20, OSLA_DOUBLE);
}

static void *produce(void *arg)
{
  producer *p = arg;
  const struct timespec nap = {0, 200000};
  while (p->done < CAP && p->err == OSLA_OK && (p->done < LEAST || !atomic_load(p->stop))) {
    int64_t number = p->first + p->done;
    p->err = update_push_once(p->h, thread_update(number), id_of(number), NULL);
    p->done++;
    (void)nanosleep(&nap, NULL);
  }
  return NULL;
}

/* Makes the same table on all ranks: 1 for each datum that any thread of any rank has added. */
static void share_table(osla_transport *t, const producer *p, int32_t *table, int size)
{
  for (int i = 0; i < THREADS; i++)
    for (int64_t d = 0; d < p[i].done; d++)
      table[p[i].first + d] = 1;
  OSLA_ASSERT_OK(osla_allreduce(t, table, size, MPI_INT32_T, MPI_SUM));
}

static void restore_and_add(osla_grid *grid, const char *path, const int32_t *table, int size,
                            const serial_sum *sum)
{
  osla_transport *t = osla_grid_transport(grid);
  osla_hessian_options o = {0};
  o.nb = 7;
  osla_hessian *h = hessian_create_or_end(grid, N_THREADS_TEST, &o);
  OSLA_ASSERT_OK(osla_hessian_restore(h, path, NULL));
  int64_t restored = osla_hessian_get_stats(h).ids_restored;
  for (int i = osla_test_rank(); i < size; i += osla_test_size())
    if (table[i]) OSLA_ASSERT_OK(update_push_once(h, thread_update(i), id_of(i), NULL));
  int64_t skipped = osla_hessian_get_stats(h).ids_skipped;
  OSLA_ASSERT_OK(osla_allreduce(t, &skipped, 1, MPI_INT64_T, MPI_SUM));
  OSLA_ASSERT_MSG(restored == skipped, "%" PRId64 " restored, %" PRId64 " skipped", restored,
                  skipped);
  sum_assert(sum, h, "restored from a checkpoint beside updates");
  osla_hessian_destroy(&h);
}

static void beside_threads(bool holds)
{
  osla_transport *t = osla_test_transport();
  osla_grid *grid = hessian_grid(t, 0);
  osla_hessian_options o = {0};
  o.nb = 8;
  o.ring_bytes = 1;
  o.checkpoint_holds = holds;
  osla_hessian *h = hessian_create_or_end(grid, N_THREADS_TEST, &o);
  serial_sum sum = sum_create(N_THREADS_TEST, o.uplo);
  atomic_bool stop = false;
  pthread_t threads[THREADS];
  producer p[THREADS];
  scratch_create();
  const char *path[2] = {scratch_path("1.h5"), scratch_path("2.h5")};
  for (int i = 0; i < THREADS; i++) {
    p[i] = (producer){.h = h, .stop = &stop, .first = (osla_test_rank() * THREADS + i) * CAP};
    CU_ASSERT(pthread_create(&threads[i], NULL, produce, &p[i]) == 0);
  }
  for (int i = 0; i < 2; i++)
    OSLA_ASSERT_OK(osla_hessian_checkpoint(h, path[i], NULL));
  atomic_store(&stop, true);
  for (int i = 0; i < THREADS; i++) {
    (void)pthread_join(threads[i], NULL);
    CU_ASSERT(p[i].err == OSLA_OK);
  }
  int size = osla_test_size() * THREADS * CAP;
  int32_t *table = osla_test_allocate((size_t)size, sizeof *table);
  share_table(t, p, table, size);
  for (int i = 0; i < size; i++)
    if (table[i]) sum_add(&sum, thread_update(i), 1.0);
  sum_assert(&sum, h, "beside checkpoints");
  osla_hessian_destroy(&h);
  osla_grid *other = some_grid(t, 1);
  for (int i = 0; i < 2; i++)
    restore_and_add(other, path[i], table, size, &sum);
  free(table);
  sum_free(&sum);
  scratch_remove(2);
  osla_grid_destroy(&other);
  osla_grid_destroy(&grid);
  osla_transport_destroy(&t);
}

static void test_beside_threads(void)
{
  beside_threads(false);
}

static void test_beside_threads_without_copy(void)
{
  beside_threads(true);
}

static const osla_test_case cases[] = {
  {"other_grid", test_other_grid},
  {"same_bits", test_same_bits},
  {"beside_threads", test_beside_threads},
  {"beside_threads_without_copy", test_beside_threads_without_copy},
  {NULL, NULL},
};
OSLA_TEST_SUITE(test_hessian_restart, cases);
