/* Tests of messages of the accumulator to owners on other nodes. They check the format and the
 * number of bytes, small updates that are sent together, columns of G that are sent instead of
 * sums, and that memory stays below the cap. A soak test makes random runs. */
#include "kernels/hessian/hessian_message.h"
#include "osla_clock.h"
#include "tests/hessian_reference.h"

#include <inttypes.h>
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- format of messages, without communication ---- */

typedef struct bytes {
  unsigned char *at;
  size_t count;
} bytes;

static void keep(void *arg, const void *from, size_t count)
{
  bytes *b = arg;
  memcpy(b->at + b->count, from, count);
  b->count += count;
}

enum { ROWS = 13, COLS = 7, LD = ROWS + 2 };

/* A piece of an update whose columns form a staircase along the diagonal. In the piece, the first
 * rows (lower triangle) or the last rows (upper triangle) are used by no column. */
typedef struct sample {
  int64_t row[ROWS], col[COLS], begin[COLS], end[COLS];
  double values[LD * COLS];
  piece p;
} sample;

static void make_sample(sample *s, osla_uplo uplo, int64_t far)
{
  for (int64_t r = 0; r < ROWS; r++)
    s->row[r] = far + 3 * r;
  for (int64_t c = 0; c < COLS; c++) {
    s->col[c] = far + 5 * c;
    s->begin[c] = uplo == OSLA_LOWER ? 2 + c : 0;
    s->end[c] = uplo == OSLA_LOWER ? ROWS : 3 + c;
  }
  for (int i = 0; i < LD * COLS; i++)
    s->values[i] = i;
  s->p = (piece){.rows = ROWS,
                 .cols = COLS,
                 .row = s->row,
                 .col = s->col,
                 .begin = s->begin,
                 .end = s->end,
                 .values = (unsigned char *)s->values,
                 .ld = LD};
}

static void check_values(const sample *s, const message_view *m)
{
  const double *values = (const double *)(const void *)m->p.values;
  int64_t bad = 0, seen = 0;
  for (int64_t c = 0; c < COLS; c++) {
    if (m->p.col[c] != s->col[c]) bad++;
    if (m->p.end[c] - m->p.begin[c] != s->end[c] - s->begin[c]) bad++;
    for (int64_t r = s->begin[c]; r < s->end[c]; r++, seen++) {
      if (m->p.row[m->p.begin[c] + r - s->begin[c]] != s->row[r]) bad++;
      if (values[seen] != s->values[r + c * LD]) bad++;
    }
  }
  OSLA_ASSERT_MSG(bad == 0, "%" PRId64 " entries differ", bad);
  CU_ASSERT(m->p.rows < ROWS);
}

static void round_trip(osla_uplo uplo, int64_t far)
{
  sample s;
  int64_t lists[ROWS + 3 * COLS], room[200];
  bytes b = {(unsigned char *)room, 0};
  make_sample(&s, uplo, far);
  size_t announced = osli_message_size(&s.p, 0, sizeof(double));
  const message_panels none = {0};
  size_t wrote =
    osli_message_put(&s.p, 9, 77, MESSAGE_FIRST, &none, sizeof(double), uplo, keep, &b);
  OSLA_ASSERT_MSG(announced == wrote && wrote == b.count, "%zu, %zu, %zu", announced, wrote,
                  b.count);
  message_view m = osli_message_read(b.at, sizeof(double), uplo, lists);
  CU_ASSERT(wrote % MESSAGE_PAD == 0);
  CU_ASSERT(m.head.bytes == wrote && m.head.stripes == 77 && m.head.owner == 9 && m.head.k == 0);
  CU_ASSERT(m.head.flags ==
            (MESSAGE_FIRST | (s.row[ROWS - 1] > UINT32_MAX ? (uint32_t)MESSAGE_WIDE : 0)));
  check_values(&s, &m);
}

static void round_trip_of_g(osla_uplo uplo, int64_t far)
{
  enum { K = 3 };
  sample s;
  int64_t lists[ROWS + 3 * COLS], room[200];
  float row_panel[K * ROWS], col_panel[K * COLS];
  bytes b = {(unsigned char *)room, 0};
  make_sample(&s, uplo, far);
  for (int i = 0; i < K * ROWS; i++)
    row_panel[i] = (float)i;
  for (int i = 0; i < K * COLS; i++)
    col_panel[i] = (float)(1000 + i);
  size_t announced = osli_message_size(&s.p, K, sizeof(float));
  const message_panels g = {K, (unsigned char *)row_panel, (unsigned char *)col_panel};
  size_t wrote = osli_message_put(&s.p, 9, 5, MESSAGE_LAST, &g, sizeof(float), uplo, keep, &b);
  CU_ASSERT(announced == wrote && wrote == b.count);
  message_view m = osli_message_read(b.at, sizeof(float), uplo, lists);
  int64_t low = s.begin[0];
  CU_ASSERT(m.head.k == K && m.head.owner == 9 && m.p.values == NULL && m.p.row[0] == s.row[low]);
  CU_ASSERT(memcmp(m.row_panel, row_panel + K * low, (size_t)(K * m.p.rows) * sizeof(float)) == 0);
  CU_ASSERT(memcmp(m.col_panel, col_panel, sizeof col_panel) == 0);
}

static void test_messages(void)
{
  static const int64_t far[] = {0, 1000, (int64_t)UINT32_MAX - 36, (int64_t)UINT32_MAX - 35,
                                INT64_C(1) << 40};
  for (size_t i = 0; i < sizeof far / sizeof *far; i++) {
    round_trip(OSLA_LOWER, far[i]);
    round_trip(OSLA_UPPER, far[i]);
    round_trip_of_g(OSLA_LOWER, far[i]);
    round_trip_of_g(OSLA_UPPER, far[i]);
  }
  const int64_t zero = 0, most = INT64_C(1) << 32;
  const piece long_one = {.rows = most, .cols = 1, .begin = &zero, .end = &most};
  CU_ASSERT(osli_message_size(&long_one, 0, 8) == SIZE_MAX);
  CU_ASSERT(osli_message_size(&(piece){0}, most, 8) == SIZE_MAX);
}

/* ---- messages between nodes ---- */

static osla_hessian *make_at_rank_0(osla_transport *t, osla_grid **grid, int64_t n,
                                    const osla_hessian_options *o)
{
  OSLA_ASSERT_OK(osla_grid_create(t, 1, 1, grid));
  return hessian_create_or_end(*grid, n, o);
}

/* For an update by U or G with 400 indices, at most 1.1 elements are sent for each element that is
 * added. */
static void bytes_of(osla_dtype dtype, bool block)
{
  enum { N = 1000, COUNT = 400 };
  osla_transport *t = osla_test_transport();
  osla_grid *grid = hessian_grid(t, 0);
  osla_hessian_options o = {0};
  o.single = dtype == OSLA_FLOAT;
  o.nb = 16;
  o.shipping = OSLA_SHIP_VALUES;
  osla_hessian *h = hessian_create_or_end(grid, N, &o);
  serial_sum sum = sum_create(N, o.uplo);
  for (int rank = 0; rank < osla_test_size(); rank++) {
    test_update u = update_ones(COUNT, block ? COUNT : 2, dtype);
    if (block) { /* update by a block U of ones */
      u.k = -1;
      u.jx = osla_test_allocate(COUNT, sizeof *u.jx);
      memcpy(u.jx, u.ix, COUNT * sizeof *u.jx);
    }
    if (rank == osla_test_rank())
      OSLA_ASSERT_OK(update_push(h, u));
    else
      update_free(&u);
    u = update_ones(COUNT, block ? 1 : 2, dtype);
    sum_add(&sum, u, 1.0);
  }
  sum_assert(&sum, h, "bytes on the wire");
  osla_hessian_stats stats = osla_hessian_get_stats(h);
  double each = (double)stats.bytes_sent / (double)(stats.elements_sent + 1);
  OSLA_ASSERT_MSG(each <= 1.1 * (double)osla_dtype_size(dtype), "%g bytes for each element", each);
  CU_ASSERT((stats.elements_sent > 0) == (osla_transport_n_nodes(t) > 1));
  int64_t both[2] = {stats.bytes_sent, stats.bytes_received};
  MPI_Allreduce(MPI_IN_PLACE, both, 2, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
  CU_ASSERT(both[0] == both[1]);
  osla_hessian_destroy(&h);
  sum_free(&sum);
  osla_grid_destroy(&grid);
  osla_transport_destroy(&t);
}

static void test_bytes(void)
{
  bytes_of(OSLA_DOUBLE, true);
  bytes_of(OSLA_FLOAT, false);
}

/* While the ranks of the owner's node sleep, many small updates arrive; afterwards few transfers
 * fetch all of them. (With ARMCI, each update is announced separately.) */
static void test_small_updates_join(void)
{
  enum { TIMES = 200, COUNT = 20 };
  osla_transport *t = osla_test_transport();
  osla_grid *grid = NULL;
  osla_hessian_options o = {0};
  osla_hessian *h = make_at_rank_0(t, &grid, COUNT, &o);
  serial_sum sum = sum_create(COUNT, o.uplo);
  /* With Open MPI's osc pt2pt, the first access to a rank waits until that rank calls MPI. */
  if (osla_test_rank() > 0) OSLA_ASSERT_OK(update_push(h, update_ones(COUNT, 1, type_of(&o))));
  sum_add(&sum, update_ones(COUNT, 1, type_of(&o)), osla_test_size() - 1.0);
  sum_assert(&sum, h, "first updates");
  int64_t before = osla_hessian_get_stats(h).transfers;
  OSLA_ASSERT_OK(osla_barrier(t));
  bool near = osla_transport_same_node(t, 0);
  if (near) usleep(200000);
  for (int i = 0; i < TIMES && osla_test_rank() > 0; i++)
    OSLA_ASSERT_OK(update_push(h, update_ones(COUNT, 1, type_of(&o))));
  sum_add(&sum, update_ones(COUNT, 1, type_of(&o)), TIMES * (osla_test_size() - 1.0));
  sum_assert(&sum, h, "small updates");
  int far = osla_test_size() - osla_transport_node_size(t);
  /* each rank counts the transfers that it made for its node */
  int64_t transfers = osla_hessian_get_stats(h).transfers - before;
  if (!near) transfers = 0;
  MPI_Allreduce(MPI_IN_PLACE, &transfers, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
  if (osla_test_rank() == 0)
    OSLA_ASSERT_MSG(transfers >= far &&
                      transfers <= (osla_test_on_offered(t) ? far * TIMES : far * TIMES / 4),
                    "%" PRId64 " transfers for %d updates", transfers, far * TIMES);
  osla_hessian_destroy(&h);
  sum_free(&sum);
  osla_grid_destroy(&grid);
  osla_transport_destroy(&t);
}

/* The same updates are sent in three ways: as sums, as columns of G, and as whichever takes fewer
 * bytes. Each result must be exact, and the last two ways must take fewer bytes than the first. */
static void test_shipping(void)
{
  enum { N = 200, TIMES = 12 };
  int64_t sent[3];
  osla_transport *t = osla_test_transport();
  osla_grid *grid = hessian_grid(t, 0);
  for (int way = 0; way < 3; way++) {
    osla_hessian_options o = {0};
    o.nb = 8;
    o.single = way == 2;
    o.uplo = way == 1 ? OSLA_UPPER : OSLA_LOWER;
    o.shipping = way == 0 ? OSLA_SHIP_VALUES : way == 1 ? OSLA_SHIP_FACTORS : OSLA_SHIP_LESS;
    osla_hessian *h = hessian_create_or_end(grid, N, &o);
    serial_sum sum = sum_create(N, o.uplo);
    for (int i = 0; i < TIMES; i++) {
      sum_add(&sum, update_random(3, i, N, N, type_of(&o)), 1.0);
      if (i % osla_test_size() == osla_test_rank())
        OSLA_ASSERT_OK(update_push(h, update_random(3, i, N, N, type_of(&o))));
    }
    if (osla_test_rank() == 0) OSLA_ASSERT_OK(update_push(h, update_ones(N, 2, type_of(&o))));
    sum_add(&sum, update_ones(N, 2, type_of(&o)), 1.0);
    sum_assert(&sum, h, "shipping %d", way);
    sent[way] = osla_hessian_get_stats(h).bytes_sent;
    osla_hessian_destroy(&h);
    sum_free(&sum);
  }
  if (osla_test_rank() == 0 && osla_transport_n_nodes(t) > 1)
    OSLA_ASSERT_MSG(sent[1] < sent[0] && sent[2] < sent[0], "%" PRId64 " %" PRId64 " %" PRId64,
                    sent[0], sent[1], sent[2]);
  osla_grid_destroy(&grid);
  osla_transport_destroy(&t);
}

/* ---- memory below the cap ---- */

enum { CAPPED_N = 400, CAPPED_TIMES = 6, CAPPED_THREADS = 3 };

static void *push_many(void *arg)
{
  osla_err err = OSLA_OK;
  for (int i = 0; i < CAPPED_TIMES && err == OSLA_OK; i++)
    err = update_push(arg, update_ones(CAPPED_N, 3, OSLA_DOUBLE));
  return err == OSLA_OK ? NULL : arg;
}

/* While the owner is slow, threads of all other ranks make updates at the same time. Memory must
 * stay below the cap, although three simultaneous updates would exceed it. */
static void test_cap(void)
{
  osla_transport *t = NULL;
  const osla_transport_options with = {.threads_per_rank = CAPPED_THREADS};
  OSLA_ASSERT_OK(osla_transport_create(MPI_COMM_WORLD, &with, &t));
  osla_grid *grid = NULL;
  osla_hessian_options o = {0};
  /* each rank of another node needs memory for its message buffer */
  int nodes = osla_transport_n_nodes(t);
  o.memory_cap = (size_t)(nodes > 3 ? 900 : nodes > 1 ? 700 : 250) << 10;
  o.shipping = OSLA_SHIP_VALUES;
  osla_hessian *h = make_at_rank_0(t, &grid, CAPPED_N, &o);
  serial_sum sum = sum_create(CAPPED_N, o.uplo);
  pthread_t threads[CAPPED_THREADS];
  OSLA_ASSERT_OK(osla_barrier(t));
  bool slow = osla_test_rank() == 0 && osla_test_size() > 1;
  if (slow) usleep(100000);
  for (int i = 0; i < CAPPED_THREADS && !slow; i++)
    CU_ASSERT(pthread_create(&threads[i], NULL, push_many, h) == 0);
  for (int i = 0; i < CAPPED_THREADS && !slow; i++) {
    void *failed = h;
    (void)pthread_join(threads[i], &failed);
    CU_ASSERT(failed == NULL);
  }
  int producers = osla_test_size() > 1 ? osla_test_size() - 1 : 1;
  sum_add(&sum, update_ones(CAPPED_N, 3, type_of(&o)), producers * CAPPED_THREADS * CAPPED_TIMES);
  sum_assert(&sum, h, "under a cap");
  int64_t peak = osla_hessian_get_stats(h).bytes_peak;
  OSLA_ASSERT_MSG(peak <= (int64_t)o.memory_cap && (slow || peak > 50000), "peak %" PRId64, peak);
  OSLA_ASSERT_OK(osla_hessian_reset(h));
  sum_clear(&sum);
  if (osla_test_rank() == 0) {
    test_update u = update_ones(CAPPED_N, 400, type_of(&o));
    OSLA_ASSERT_ERR(osla_hessian_update(h, u.rows, u.ix, u.k, u.values, u.ld), OSLA_ERR_MEM);
    OSLA_ASSERT_TEXT("memory_cap must be at least");
    update_free(&u);
    OSLA_ASSERT_OK(update_push(h, update_ones(CAPPED_N, 1, type_of(&o))));
  }
  sum_add(&sum, update_ones(CAPPED_N, 1, type_of(&o)), 1.0);
  sum_assert(&sum, h, "after an update that was too large");
  osla_hessian_destroy(&h);
  sum_free(&sum);
  osla_grid_destroy(&grid);
  osla_transport_destroy(&t);
}

static void test_cap_too_small(void)
{
  osla_transport *t = osla_test_transport();
  osla_grid *grid = hessian_grid(t, 0);
  osla_hessian *h = NULL;
  osla_hessian_options o = {0};
  o.memory_cap = 100;
  OSLA_ASSERT_ERR(osla_hessian_create(grid, 10, &o, &h), OSLA_ERR_MEM);
  OSLA_ASSERT_TEXT("memory_cap = 100");
  OSLA_ASSERT_SAME_TEXT();
  CU_ASSERT(h == NULL);
  osla_grid_destroy(&grid);
  osla_transport_destroy(&t);
}

/* ---- soak test: random runs for a long time ---- */

static int64_t resident_bytes(void)
{
  long pages = 0, skipped = 0;
  FILE *f = fopen("/proc/self/statm", "r");
  if (!f) return 0;
  if (fscanf(f, "%ld %ld", &skipped, &pages) != 2) pages = 0;
  (void)fclose(f);
  return (int64_t)pages * sysconf(_SC_PAGESIZE);
}

/* Makes runs with random sizes, memory caps, message buffers, piece sizes and isolation. Each rank
 * makes its updates at its own speed. */
static void soak_round(osla_transport *t, uint64_t seed)
{
  static const size_t rings[] = {1, 300000, (size_t)8 << 20};
  static const size_t pieces[] = {4096, 50000, (size_t)64 << 20};
  static const int64_t blocks[] = {1, 4, 32, 128};
  osla_grid *grid = hessian_grid(t, (int)osla_test_choose(seed, 0, 2));
  if (!grid) grid = hessian_grid(t, 0);
  osla_hessian_options o = {0};
  o.nb = blocks[osla_test_choose(seed, 1, 4)];
  o.ring_bytes = rings[osla_test_choose(seed, 2, 3)];
  o.piece_bytes = pieces[osla_test_choose(seed, 3, 3)];
  o.isolation = osla_test_choose(seed, 4, 2) ? OSLA_ISOLATE_UPDATE : OSLA_ISOLATE_ELEMENT;
  o.shipping = (osla_shipping)osla_test_choose(seed, 5, 3);
  o.single = osla_test_choose(seed, 6, 2);
  o.memory_cap = osla_test_choose(seed, 7, 3) ? 0 : (size_t)6 << 20;
  int64_t n = 1 + osla_test_choose(seed, 8, o.nb < 4 ? 60 : 300);
  osla_hessian *h = hessian_create_or_end(grid, n, &o);
  serial_sum sum = sum_create(n, o.uplo);
  for (int i = 0; i < 6 * osla_test_size(); i++) {
    int updater = (int)osla_test_choose(seed + 1, i, osla_test_size());
    sum_add(&sum, update_random(seed, i, n, n, type_of(&o)), 1.0);
    if (updater != osla_test_rank()) continue;
    if (osla_test_choose(seed + 2, i, 4) == 0) usleep(500);
    OSLA_ASSERT_OK(update_push(h, update_random(seed, i, n, n, type_of(&o))));
  }
  sum_assert(&sum, h, "soak seed %" PRIu64, seed);
  CU_ASSERT(!o.memory_cap || osla_hessian_get_stats(h).bytes_peak <= (int64_t)o.memory_cap);
  osla_hessian_destroy(&h);
  sum_free(&sum);
  osla_grid_destroy(&grid);
}

/* Makes random runs for OSLA_TEST_SECONDS seconds (environment; set by `make soak`), or for 0.6
 * seconds. After the first runs, memory must not grow. */
static void test_soak(void)
{
  enum { WARM_UP = 60, GROWTH_MOST = 32 << 20 };
  const char *text = getenv("OSLA_TEST_SECONDS"), *first = getenv("OSLA_TEST_SEED");
  double seconds = text ? atof(text) : 0.6, start = osla_clock();
  uint64_t seed = first ? strtoull(first, NULL, 10) : 1;
  osla_transport *t = osla_test_transport();
  int64_t before = 0;
  int go_on = 1, rounds = 0;
  while (go_on) {
    soak_round(t, seed + (uint64_t)rounds++);
    if (rounds == WARM_UP) before = resident_bytes();
    go_on = osla_clock() - start < seconds;
    OSLA_ASSERT_OK(osla_bcast(t, &go_on, 1, MPI_INT, 0));
  }
  int64_t growth = before > 0 ? resident_bytes() - before : 0;
  OSLA_ASSERT_MSG(growth <= GROWTH_MOST, "memory grew by %" PRId64 " bytes in %d rounds", growth,
                  rounds - WARM_UP);
  if (text && osla_test_rank() == 0)
    printf("soak: %d rounds, growth %" PRId64 " bytes\n", rounds, growth);
  osla_transport_destroy(&t);
}

static const osla_test_case cases[] = {
  {"messages", test_messages},
  {"bytes", test_bytes},
  {"small_updates_join", test_small_updates_join},
  {"shipping", test_shipping},
  {"cap", test_cap},
  {"cap_too_small", test_cap_too_small},
  {"soak", test_soak},
  {NULL, NULL},
};
OSLA_TEST_SUITE(test_hessian_wire, cases);
