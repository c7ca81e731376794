/* Tests of the accumulator's ids, which prevent that a datum is added twice, of checkpoints that
 * osla_hessian_restore must refuse, and of a full disk. */
#include "tests/file_help.h"
#include "tests/hessian_reference.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

enum { THREADS = 3 };

typedef struct pusher {
  osla_hessian *h;
  int64_t first, done;
  osla_err err;
} pusher;

/* Function of a thread that adds the same data as every other thread, with equal ids. */
static void *push_same(void *arg)
{
  pusher *p = arg;
  for (int64_t i = 0; i < 50 && p->err == OSLA_OK; i++) {
    bool skipped;
    p->err =
      update_push_once(p->h, update_ones(6, 1, OSLA_DOUBLE), (uint64_t)(p->first + i), &skipped);
    p->done += !skipped;
  }
  return NULL;
}

static void test_ids(void)
{
  osla_transport *t = osla_test_transport();
  osla_grid *grid = hessian_grid(t, 0);
  osla_hessian *h = hessian_create_or_end(grid, 6, NULL);
  serial_sum sum = sum_create(6, OSLA_LOWER);
  pthread_t threads[THREADS];
  pusher p[THREADS];
  int64_t done = 0, wrong = -1, first = osla_test_rank() * 50;
  for (int i = 0; i < THREADS; i++) {
    p[i] = (pusher){.h = h, .first = first};
    CU_ASSERT(pthread_create(&threads[i], NULL, push_same, &p[i]) == 0);
  }
  for (int i = 0; i < THREADS; i++) {
    (void)pthread_join(threads[i], NULL);
    CU_ASSERT(p[i].err == OSLA_OK);
    done += p[i].done;
  }
  CU_ASSERT(done == 50);
  CU_ASSERT(osla_hessian_get_stats(h).ids_skipped == (THREADS - 1) * 50);
  sum_add(&sum, update_ones(6, 1, OSLA_DOUBLE), 50.0 * osla_test_size());

  /* The id of a datum with wrong arguments is not recorded, but the id of a datum that adds nothing
   * is. */
  osla_hessian_datum d = {.id = UINT64_MAX, .count = 1, .ix = &wrong};
  OSLA_ASSERT_ERR(osla_hessian_update_once(h, &d, NULL), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("ix[0] = -1 is outside");
  CU_ASSERT(!osla_hessian_has_id(h, UINT64_MAX));
  int64_t errors = 0, good = 0;
  for (uint64_t i = 0; i < 5000; i++) {
    d = (osla_hessian_datum){.id = UINT64_MAX - i};
    errors += osla_hessian_update_once(h, &d, NULL) != OSLA_OK;
  }
  for (uint64_t i = 0; i < 5000; i++)
    good += osla_hessian_has_id(h, UINT64_MAX - i);
  CU_ASSERT(errors == 0 && good == 5000);
  CU_ASSERT(!osla_hessian_has_id(h, UINT64_MAX - 5000));
  sum_assert(&sum, h, "the same data from all threads");

  /* A datum that has a G, a block U and a gradient. */
  const int64_t ix[] = {4, 1}, jx[] = {1};
  const double g[] = {1.0, 2.0}, u[] = {5.0, 7.0}, gradient[] = {3.0, -1.0};
  OSLA_ASSERT_OK(osla_hessian_reset(h));
  sum_clear(&sum);
  d = (osla_hessian_datum){.id = 1,
                           .count = 2,
                           .ix = ix,
                           .k = 1,
                           .g = g,
                           .ldg = 1,
                           .cols = 1,
                           .jx = jx,
                           .u = u,
                           .ldu = 2,
                           .gradient = gradient};
  if (osla_test_rank() == 0)
    for (int i = 0; i < 2; i++)
      OSLA_ASSERT_OK(osla_hessian_update_once(h, &d, NULL));
  sum.h[4 + 4 * 6] = 1.0;
  sum.h[4 + 1 * 6] = 2.0 + 5.0;
  sum.h[1 + 1 * 6] = 4.0 + 7.0;
  sum.gradient[4] = 3.0;
  sum.gradient[1] = -1.0;
  sum_assert(&sum, h, "G, U and gradient in one");
  osla_hessian_destroy(&h);
  sum_free(&sum);
  osla_grid_destroy(&grid);
  osla_transport_destroy(&t);
}

/* ---- checkpoint files that are refused ---- */

/* Asserts that osla_hessian_restore fails with this code and text on all ranks and leaves the
 * accumulator empty. */
static void refuse(osla_hessian *h, const char *path, const char *job, osla_err code,
                   const char *text)
{
  OSLA_ASSERT_ERR(osla_hessian_restore(h, path, job), code);
  OSLA_ASSERT_TEXT(text);
  OSLA_ASSERT_SAME_TEXT();
  CU_ASSERT(osla_hessian_get_stats(h).ids_restored == 0);
  CU_ASSERT(!osla_hessian_has_id(h, 0));
}

static void refuse_other(osla_grid *grid, const char *path, int64_t n,
                         const osla_hessian_options *o, const char *text)
{
  osla_hessian *h = hessian_create_or_end(grid, n, o);
  refuse(h, path, "mine", OSLA_ERR_IO, text);
  osla_hessian_destroy(&h);
}

static void refuse_others(osla_grid *grid, const char *path)
{
  osla_hessian_options o = {0};
  refuse_other(grid, path, 10, &o, "has order 9, the accumulator has order 10");
  o.single = true;
  refuse_other(grid, path, 9, &o, "has type 'd', the accumulator has type 's'");
  o.single = false;
  o.uplo = OSLA_UPPER;
  refuse_other(grid, path, 9, &o,
               "holds the lower triangle of H, the accumulator the upper triangle");
  o.uplo = OSLA_GENERAL;
  refuse_other(grid, path, 9, &o, "holds the lower triangle of H, the accumulator the whole");
  o.uplo = OSLA_LOWER;
  o.initial = 2.0;
  refuse_other(grid, path, 9, &o, "has initial = 0, the accumulator has 2");
  o.initial = 0.0;
  o.combine = OSLA_COMBINE_MAX;
  refuse_other(grid, path, 9, &o, "has combine = 0, the accumulator has 2");
  o.combine = OSLA_COMBINE_SUM;
  o.order_independent = true;
  o.bound = 8.0;
  refuse_other(grid, path, 9, &o, "has order_independent = 0, the accumulator has 1");
}

/* In order-independent mode, restoring with another bound is refused, and so is a checkpoint whose
 * sums are beyond the bound. */
static void refuse_bounds(osla_grid *grid, const char *path)
{
  osla_hessian_options o = {0};
  o.order_independent = true;
  o.bound = 8.0;
  osla_hessian *h = hessian_create_or_end(grid, 9, &o);
  OSLA_ASSERT_OK(osla_hessian_checkpoint(h, path, "mine"));
  o.bound = 9.0;
  refuse_other(grid, path, 9, &o, "has bounds 8 and 0, the accumulator has 9 and 0");
  const int64_t ix = 3;
  const double large = 8.5;
  if (osla_test_rank() == 0)
    OSLA_ASSERT_OK(osla_hessian_update_block(h, 1, &ix, 1, &ix, &large, 1));
  OSLA_ASSERT_ERR(osla_hessian_checkpoint(h, path, "mine"), OSLA_ERR_RANGE);
  OSLA_ASSERT_TEXT("an update of H[3, 3] by 8.5 is not within the bound 8");
  OSLA_ASSERT_SAME_TEXT();
  osla_hessian_destroy(&h);
}

/* After a refused checkpoint and further updates, osla_hessian_reset empties the accumulator. */
static void reset_refused(osla_grid *grid, const char *path)
{
  osla_hessian_options o = {0};
  o.order_independent = true;
  o.bound = o.gradient_bound = 8.0;
  osla_hessian *h = hessian_create_or_end(grid, 9, &o);
  const int64_t ix = 3;
  const double one = 1.0, large = 8.5;
  osla_matrix *a = NULL;
  double element = 0.0;
  OSLA_ASSERT_OK(osla_hessian_update_gradient(h, 1, &ix, &one));
  if (osla_test_rank() == 0)
    OSLA_ASSERT_OK(osla_hessian_update_block(h, 1, &ix, 1, &ix, &large, 1));
  OSLA_ASSERT_ERR(osla_hessian_checkpoint(h, path, "mine"), OSLA_ERR_RANGE);
  OSLA_ASSERT_OK(osla_hessian_update_gradient(h, 1, &ix, &one));
  for (int64_t i = 0; i < 9; i++)
    OSLA_ASSERT_OK(osla_hessian_update_block(h, 1, &i, 1, &i, &one, 1));
  OSLA_ASSERT_OK(osla_hessian_reset(h));
  if (osla_test_rank() == 0) {
    OSLA_ASSERT_OK(osla_hessian_update_gradient(h, 1, &ix, &one));
    OSLA_ASSERT_OK(osla_hessian_update_block(h, 1, &ix, 1, &ix, &one, 1));
  }
  OSLA_ASSERT_OK(osla_hessian_commit(h));
  CU_ASSERT(osla_hessian_gradient(h)[3] == 1.0);
  OSLA_ASSERT_OK(osla_hessian_matrix(h, &a));
  for (int64_t i = 0; i < 9; i++) {
    OSLA_ASSERT_OK(osla_matrix_get_block(a, i, i, 1, 1, &element, 1));
    OSLA_ASSERT_MSG(element == (i == 3), "H[%d, %d] = %g", (int)i, (int)i, element);
  }
  osla_hessian_destroy(&h);
}

/* Changes the first 8 bytes of the file that hold this double. */
static void change_value(const char *path, double value)
{
  size_t size;
  unsigned char *bytes = scratch_read(path, &size);
  size_t at = 0;
  while (at + 8 <= size && memcmp(bytes + at, &value, 8) != 0)
    at++;
  CU_ASSERT(at + 8 <= size);
  bytes[at] ^= 1;
  scratch_write(path, bytes, size);
  free(bytes);
}

/* Writes a checkpoint with H[2, 1] = 12345 and gradient[2] = 54321. */
static void write_sample(osla_grid *grid, const char *path, const char *job)
{
  const int64_t ix = 2, jx = 1;
  const double u = 12345.0, gradient = 54321.0;
  osla_hessian *h = hessian_create_or_end(grid, 9, NULL);
  osla_hessian_datum d = {
    .id = 0, .count = 1, .ix = &ix, .cols = 1, .jx = &jx, .u = &u, .ldu = 1, .gradient = &gradient};
  if (osla_test_rank() == 0) OSLA_ASSERT_OK(osla_hessian_update_once(h, &d, NULL));
  OSLA_ASSERT_OK(osla_hessian_checkpoint(h, path, job));
  osla_hessian_destroy(&h);
}

static void test_refused(void)
{
  osla_transport *t = osla_test_transport();
  osla_grid *grid = hessian_grid(t, 0);
  scratch_create();
  const char *path = scratch_path("c.h5"), *other = scratch_path("other.h5");
  write_sample(grid, path, "mine");
  refuse_others(grid, path);
  refuse_bounds(grid, other);
  reset_refused(grid, other);

  osla_hessian *h = hessian_create_or_end(grid, 9, NULL);
  osla_matrix *a = NULL;
  refuse(h, path, "yours", OSLA_ERR_IO, "was written for job \"mine\", not for job \"yours\"");
  refuse(h, path, NULL, OSLA_ERR_IO, "was written for job \"mine\", not for job \"\"");
  refuse(h, scratch_path("none"), "mine", OSLA_ERR_IO, "No such file");
  refuse(h, NULL, "mine", OSLA_ERR_ARG, "path is NULL");
  OSLA_ASSERT_OK(osla_hessian_commit(h));
  OSLA_ASSERT_OK(osla_hessian_matrix(h, &a));
  OSLA_ASSERT_OK(osla_matrix_save(a, other, NULL));
  refuse(h, other, "mine", OSLA_ERR_IO, "other.h5: is not a checkpoint of osla_hessian");

  size_t size;
  unsigned char *bytes = scratch_read(path, &size);
  for (size_t cut = 0; cut < size; cut += 1 + size / 5) {
    scratch_write(other, bytes, cut);
    refuse(h, other, "mine", OSLA_ERR_IO, "other.h5: ");
  }
  scratch_write(other, bytes, size);
  change_value(other, 54321.0);
  refuse(h, other, "mine", OSLA_ERR_IO, "checksum of gradient: the data were changed");
  scratch_write(other, bytes, size);
  change_value(other, 12345.0);
  refuse(h, other, "mine", OSLA_ERR_IO, "checksum of H: the data were changed");
  free(bytes);

  /* The accumulator is empty, as after a reset. */
  serial_sum sum = sum_create(9, OSLA_LOWER);
  sum_assert(&sum, h, "after a refused file");
  OSLA_ASSERT_OK(osla_hessian_restore(h, path, "mine"));
  sum.h[2 + 1 * 9] = 12345.0;
  sum.gradient[2] = 54321.0;
  sum_assert(&sum, h, "restored at last");
  OSLA_ASSERT_ERR(osla_hessian_restore(h, path, "mine"), OSLA_ERR_STATE);
  OSLA_ASSERT_TEXT("has had updates");
  sum_assert(&sum, h, "not restored twice");
  sum_free(&sum);
  osla_hessian_destroy(&h);
  scratch_remove(2);
  osla_grid_destroy(&grid);
  osla_transport_destroy(&t);
}

static void test_id_on_two_ranks(void)
{
  osla_transport *t = osla_test_transport();
  osla_grid *grid = hessian_grid(t, 0);
  osla_hessian *h = hessian_create_or_end(grid, 6, NULL);
  osla_hessian_datum d = {.id = 77};
  scratch_create();
  const char *path = scratch_path("c.h5");
  OSLA_ASSERT_OK(osla_hessian_update_once(h, &d, NULL));
  OSLA_ASSERT_OK(osla_hessian_checkpoint(h, path, NULL));
  OSLA_ASSERT_OK(osla_hessian_commit(h));
  OSLA_ASSERT_OK(osla_hessian_reset(h));
  if (osla_test_size() > 1)
    refuse(h, path, NULL, OSLA_ERR_IO, "two ranks added the id 77");
  else
    OSLA_ASSERT_OK(osla_hessian_restore(h, path, NULL));
  scratch_remove(1);
  osla_hessian_destroy(&h);
  osla_grid_destroy(&grid);
  osla_transport_destroy(&t);
}

/* Adds data 0 to last - 1, each on one rank, including data whose ids are already known. */
static void push_to(osla_hessian *h, int last)
{
  for (int i = osla_test_rank(); i < last; i += osla_test_size()) {
    test_update u = update_random(3, i, 200, 40, OSLA_DOUBLE);
    OSLA_ASSERT_OK(update_push_once(h, u, (uint64_t)i, NULL));
  }
}

/* On a full disk a checkpoint fails, the former checkpoint file stays, the accumulator can still be
 * used, and the next checkpoint succeeds. */
static void test_disk_full(void)
{
  osla_transport *t = osla_test_transport();
  osla_grid *grid = hessian_grid(t, 0);
  osla_hessian *h = hessian_create_or_end(grid, 200, NULL),
               *back = hessian_create_or_end(grid, 200, NULL);
  serial_sum sum = sum_create(200, OSLA_LOWER);
  struct rlimit before, limit;
  void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
  scratch_create();
  const char *path = scratch_path("c.h5");
  push_to(h, 3);
  OSLA_ASSERT_OK(osla_hessian_checkpoint(h, path, NULL));
  getrlimit(RLIMIT_FSIZE, &before);
  limit = before;
  limit.rlim_cur = 9000;
  if (osla_test_rank() == 0) setrlimit(RLIMIT_FSIZE, &limit);
  push_to(h, 6);
  OSLA_ASSERT_ERR(osla_hessian_checkpoint(h, path, NULL), OSLA_ERR_IO);
  OSLA_ASSERT_TEXT("File too large");
  OSLA_ASSERT_SAME_TEXT();
  setrlimit(RLIMIT_FSIZE, &before);
  OSLA_ASSERT_OK(osla_hessian_restore(back, path, NULL));
  CU_ASSERT(osla_hessian_get_stats(back).ids_restored == 3);
  push_to(h, 7);
  OSLA_ASSERT_OK(osla_hessian_checkpoint(h, path, NULL));
  for (int i = 0; i < 7; i++)
    sum_add(&sum, update_random(3, i, 200, 40, OSLA_DOUBLE), 1.0);
  sum_assert(&sum, h, "after a full disk");
  OSLA_ASSERT_OK(osla_hessian_commit(back));
  OSLA_ASSERT_OK(osla_hessian_reset(back));
  OSLA_ASSERT_OK(osla_hessian_restore(back, path, NULL));
  sum_assert(&sum, back, "the next checkpoint");
  (void)signal(SIGXFSZ, handler);
  scratch_remove(1);
  sum_free(&sum);
  osla_hessian_destroy(&h);
  osla_hessian_destroy(&back);
  osla_grid_destroy(&grid);
  osla_transport_destroy(&t);
}

static const osla_test_case cases[] = {
  {"ids", test_ids},
  {"refused", test_refused},
  {"id_on_two_ranks", test_id_on_two_ranks},
  {"disk_full", test_disk_full},
  {NULL, NULL},
};
OSLA_TEST_SUITE(test_hessian_ids, cases);
