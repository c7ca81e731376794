/* Tests of star forests under load. Several transfers are under way, and each rank ends them in
 * another order. Ranks sleep at random, or wait in other calls. */
#include "osla_random.h"
#include "tests/kernels/forest_model.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { POOL = 400000, MOST = 8 };

static model_trial begun(model_case *c, model_op op, int place, uint64_t seed)
{
  model_trial trial = model_case_trial(c, op, place, seed);
  model_fill(&trial, &c->memory);
  model_start(&trial);
  return trial;
}

/* Ends the transfers of the trials in a random order that differs by rank. */
static void end_all(model_trial **trials, int n, uint64_t seed)
{
  for (; n > 0; n--) {
    int i = (int)(osla_random_bits(seed, (uint64_t)n, (uint64_t)osla_test_rank()) % (uint64_t)n);
    model_nap(seed, (uint64_t)n);
    OSLA_ASSERT_OK(osla_forest_end(&trials[i]->run));
    trials[i] = trials[n - 1];
  }
}

/* ---- several transfers under way ---- */

static void test_in_flight(void)
{
  model_case c = model_case_open(MODEL_RANDOM, POOL);
  for (int round = 0; round < (osla_test_size() > FEW_RANKS ? 6 : 12); round++) {
    model_trial trials[MOST], *order[MOST];
    int n = round < 4 ? MOST : 2 + round % 7;
    for (int i = 0; i < n; i++) {
      uint64_t seed = 100 * (uint64_t)round + (uint64_t)i;
      trials[i] = begun(&c, (model_op)((i + round) % MODEL_OPS), (i + round) % MODEL_PLACES, seed);
      order[i] = &trials[i];
    }
    end_all(order, n, (uint64_t)round);
    model_check_all(trials, n);
    c.memory.used = 0;
  }
  model_case_close(&c);
}

/* Even ranks end transfer A and then B, odd ranks B and then A. Each end waits for the values that
 * the rank needs and for the ranks that read its values. */
static void test_crossing(void)
{
  static const model_kind kinds[] = {MODEL_RING, MODEL_ONE_ROOT, MODEL_GATHERED};
  for (int k = 0; k < 3; k++) {
    model_case c = model_case_open(kinds[k], POOL);
    for (int i = 0; i < MODEL_OPS * MODEL_OPS * MODEL_PLACES; i++) {
      model_op ops[2] = {(model_op)(i % 3), (model_op)(i / 3 % 3)};
      model_trial trials[2];
      int odd = osla_test_rank() % 2;
      for (int j = 0; j < 2; j++)
        trials[j] = begun(&c, ops[j], (i / 9 + j) % MODEL_PLACES, 2 * (uint64_t)i + (uint64_t)j);
      OSLA_ASSERT_OK(osla_forest_end(&trials[odd].run));
      OSLA_ASSERT_OK(osla_forest_end(&trials[!odd].run));
      model_check_all(trials, 2);
      c.memory.used = 0;
    }
    model_case_close(&c);
  }
}

/* Two or three transfers read the same array at the same time. */
static void test_same_arrays(void)
{
  model_case c = model_case_open(MODEL_RANDOM, POOL);
  for (int i = 0; i < MODEL_OPS * MODEL_PLACES; i++) {
    model_trial trials[3], *order[3];
    trials[0] = begun(&c, (model_op)(i % MODEL_OPS), i / MODEL_OPS, 7 * (uint64_t)i);
    order[0] = &trials[0];
    for (int j = 1; j < 3; j++) {
      trials[j] =
        model_case_trial(&c, trials[0].op, (i + j) % MODEL_PLACES, 7 * (uint64_t)(i + 100 * j));
      trials[j].combine = trials[0].combine;
      model_fill_from(&trials[j], &c.memory, &trials[0]);
      model_start(&trials[j]);
      order[j] = &trials[j];
    }
    end_all(order, 3, (uint64_t)i);
    model_check_all(trials, 3);
    c.memory.used = 0;
  }
  model_case_close(&c);
}

/* A rank tests several transfers in turn until all have ended. */
static void test_polled(void)
{
  model_case c = model_case_open(MODEL_RANDOM, POOL);
  for (int round = 0; round < 6; round++) {
    model_trial trials[4];
    bool done[4] = {false};
    int left = 4;
    for (int i = 0; i < 4; i++)
      trials[i] = begun(&c, (model_op)(i % MODEL_OPS), (i + round) % MODEL_PLACES,
                        10 * (uint64_t)round + (uint64_t)i);
    model_nap(1, (uint64_t)round);
    while (left > 0)
      for (int i = 0; i < 4; i++) {
        if (done[i]) continue;
        if (!OSLA_ASSERT_OK(osla_forest_test(&trials[i].run, &done[i]))) done[i] = true;
        left -= done[i];
        if (left > 0) usleep(20);
      }
    model_check_all(trials, 4);
    c.memory.used = 0;
  }
  model_case_close(&c);
}

/* When osla_forest_writable returns, a rank may overwrite the values that its transfers read, even
 * if other ranks use the results later. Before that call, several transfers are ended by
 * osla_forest_end_read. */
static void test_writable(void)
{
  model_case c = model_case_open(MODEL_RANDOM, POOL);
  for (int round = 0; round < 3 * MODEL_PLACES; round++) {
    model_trial trials[3];
    for (int i = 0; i < 3; i++)
      trials[i] = begun(&c, (model_op)((i + round) % MODEL_OPS), round % MODEL_PLACES,
                        10 * (uint64_t)round + (uint64_t)i);
    if ((osla_test_rank() + round) % 3 == 0) usleep(2000);
    for (int i = 2; i >= 0; i--)
      OSLA_ASSERT_OK(osla_forest_end_read(&trials[i].run));
    for (int i = 0; round % 2 && i < 3; i++)
      (void)model_check(&trials[i]);
    OSLA_ASSERT_OK(osla_forest_writable(c.forest));
    for (int i = 0; i < 3; i++)
      model_spoil(&trials[i]);
    model_check_all(trials, 3);
    c.memory.used = 0;
  }
  /* for this transfer, the forest is destroyed without a call of osla_forest_writable */
  model_trial left = begun(&c, MODEL_BCAST, MODEL_ALL_IN, 1);
  OSLA_ASSERT_OK(osla_forest_end_read(&left.run));
  (void)model_check(&left);
  OSLA_ASSERT_OK(osla_forest_destroy(&c.forest));
  model_drop(&left);
  model_case_close(&c);
}

/* Eight transfers are under way on each of two forests. They are begun and ended in interleaved
 * orders. */
static void test_two_forests(void)
{
  model_case c = model_case_open(MODEL_RANDOM, POOL);
  model_graph g = model_graph_make(MODEL_RING, 1);
  osla_forest *forests[2] = {c.forest, model_forest(c.t, &g)};
  for (int round = 0; round < 4; round++) {
    model_trial trials[2 * MOST], *order[2 * MOST];
    for (int i = 0; i < 2 * MOST; i++) {
      int which = (i / MOST + osla_test_rank()) % 2, number = i % MOST;
      trials[i] =
        model_case_trial(&c, (model_op)(number % MODEL_OPS), (number + round) % MODEL_PLACES,
                         (uint64_t)(100 * round + 10 * which + number));
      trials[i].forest = forests[which];
      if (which == 1) trials[i].graph = &g;
      model_fill(&trials[i], &c.memory);
      model_start(&trials[i]);
      order[i] = &trials[i];
    }
    end_all(order, 2 * MOST, (uint64_t)round);
    model_check_all(trials, 2 * MOST);
    c.memory.used = 0;
  }
  OSLA_ASSERT_OK(osla_forest_destroy(&forests[1]));
  model_graph_free(&g);
  model_case_close(&c);
}

/* ---- slow ranks ---- */

/* A rank that has begun a transfer waits in osla_barrier. The other ranks still get its values, end
 * the transfer, and only then enter the barrier. */
static void test_rank_in_barrier(void)
{
  static const struct {
    model_kind kind;
    model_op op;
  } what[] = {{MODEL_FROM_LAST, MODEL_BCAST}, {MODEL_TO_FIRST, MODEL_REDUCE}};
  for (int k = 0; k < 2; k++) {
    model_case c = model_case_open(what[k].kind, POOL);
    int owner = k == 0 ? osla_test_size() - 1 : 0; /* rank that owns all roots */
    bool early = (osla_test_rank() == owner) == (k == 0);
    for (int place = 0; place < MODEL_PLACES; place++) {
      model_trial trial = model_case_trial(&c, what[k].op, place, 1 + (uint64_t)place);
      trial.unit = (osla_unit){OSLA_UNIT_DOUBLE, place % 2 ? 500 : 1, 0};
      model_fill(&trial, &c.memory);
      model_start(&trial);
      if (!early) OSLA_ASSERT_OK(osla_forest_end(&trial.run));
      if (!early) (void)model_check(&trial);
      OSLA_ASSERT_OK(osla_barrier(c.t));
      if (early) OSLA_ASSERT_OK(osla_forest_end(&trial.run));
      if (early) (void)model_check(&trial);
      model_drop(&trial);
      c.memory.used = 0;
    }
    model_case_close(&c);
  }
}

/* Neither the begin nor a test of a transfer waits for a rank that has not begun this transfer yet.
 */
static void test_late_begin(void)
{
  for (int k = 0; k < 2; k++) {
    bool bcast = k == 0;
    model_case c = model_case_open(bcast ? MODEL_FROM_LAST : MODEL_TO_FIRST, POOL);
    bool owner = osla_test_rank() == (bcast ? osla_test_size() - 1 : 0), late = owner == bcast;
    for (int place = 0; place < MODEL_PLACES; place++) {
      bool done = false;
      model_trial trial = model_case_trial(&c, bcast ? MODEL_BCAST : MODEL_REDUCE, place, 5);
      model_fill(&trial, &c.memory);
      if (late) OSLA_ASSERT_OK(osla_barrier(c.t));
      model_start(&trial);
      for (int i = 0; i < 20 && !late && !done; i++)
        OSLA_ASSERT_OK(osla_forest_test(&trial.run, &done));
      if (!late) CU_ASSERT(!done || osla_test_size() == 1);
      if (!late) OSLA_ASSERT_OK(osla_barrier(c.t));
      if (!done) OSLA_ASSERT_OK(osla_forest_end(&trial.run));
      model_check_all(&trial, 1);
      c.memory.used = 0;
    }
    model_case_close(&c);
  }
}

/* Only ranks 0 and 1 are joined by edges. They end a transfer before the other ranks begin it. */
static void test_only_those_joined(void)
{
  osla_transport *t = osla_test_transport();
  int rank = osla_test_rank();
  const osla_root root = {osla_test_size() > 1, 2};
  double roots[3] = {10 * rank, 20 * rank, 30 * rank + 1}, leaf = -1;
  osla_forest *forest = NULL;
  osla_forest_run run;
  OSLA_ASSERT_OK(osla_forest_create(t, 3, rank == 0, NULL, &root, &forest));
  for (int i = 0; i < 3; i++) {
    if (rank > 1) OSLA_ASSERT_OK(osla_barrier(t));
    OSLA_ASSERT_OK(
      osla_forest_bcast_begin(forest, OSLA_ONE_DOUBLE, roots, &leaf, OSLA_REPLACE, &run));
    OSLA_ASSERT_OK(osla_forest_end(&run));
    if (rank <= 1) OSLA_ASSERT_OK(osla_barrier(t));
    CU_ASSERT(leaf == (rank > 0 ? -1 : 30 * root.rank + 1));
  }
  OSLA_ASSERT_OK(osla_forest_destroy(&forest));
  osla_transport_destroy(&t);
}

/* Ranks whose values are only read can begin later transfers while a reader sleeps. There are
 * twelve transfers in sequence with each kind of memory, and the reader sends no values back. */
static void test_run_ahead(void)
{
  enum { EACH = 12 };
  for (int k = 0; k < 2; k++) {
    bool bcast = k == 0;
    model_case c = model_case_open(bcast ? MODEL_FROM_LAST : MODEL_TO_FIRST, POOL);
    bool owner = osla_test_rank() == (bcast ? osla_test_size() - 1 : 0), reads = owner != bcast;
    for (int i = 0; i < EACH * MODEL_PLACES; i++) {
      model_trial trial =
        begun(&c, bcast ? MODEL_BCAST : MODEL_REDUCE, i / EACH, (uint64_t)(100 * k + i));
      if (reads && i % EACH == 0) usleep(10000);
      OSLA_ASSERT_OK(osla_forest_end(&trial.run));
      model_check_all(&trial, 1);
      c.memory.used = 0;
    }
    model_case_close(&c);
  }
}

/* The owner of the roots ends transfers by osla_forest_end_read, which does not wait for readers,
 * and so is ahead of a sleeping reader. The values of the roots do not change. */
static void test_run_ahead_of_readers(void)
{
  model_case c = model_case_open(MODEL_FROM_LAST, POOL);
  bool owner = osla_test_rank() == osla_test_size() - 1;
  const model_share *mine = model_mine(&c.g);
  int64_t *leaves = osla_test_allocate((size_t)mine->leaf_space, sizeof *leaves), plain[20],
          bad = 0;
  for (int i = 0; i < 60; i++) {
    int64_t *roots = i < 30 ? plain : c.memory.vertices;
    osla_forest_run run;
    for (int k = 0; k < 20 && i % 30 == 0; k++)
      roots[k] = 5 * k;
    OSLA_ASSERT_OK(
      osla_forest_bcast_begin(c.forest, OSLA_ONE_INT64, roots, leaves, OSLA_REPLACE, &run));
    if (!owner && i % 10 == 0) usleep(10000);
    OSLA_ASSERT_OK(osla_forest_end_read(&run));
    for (int64_t e = 0; e < mine->n_edges; e++) {
      bad += leaves[mine->leaf[e]] != 5 * mine->root[e].index;
      leaves[mine->leaf[e]] = -1;
    }
  }
  OSLA_ASSERT_MSG(bad == 0, "%" PRId64 " values differ", bad);
  OSLA_ASSERT_OK(osla_forest_writable(c.forest));
  free(leaves);
  model_case_close(&c);
}

/* Values are broadcast, increased and reduced repeatedly, with random pauses and without a barrier.
 */
static void test_to_and_fro(void)
{
  model_case c = model_case_open(MODEL_RING, POOL);
  double *in = c.memory.vertices, plain[16] = {0};
  for (int which = 0; which < 3; which++) {
    double *roots = which == 0 ? plain : in, *leaves = which == 2 ? in + 8 : plain + 8, home = 1;
    int64_t bad = 0;
    for (int i = 0; i < 8; i++)
      roots[i] = 1;
    for (int step = 1; step <= 20; step++) {
      osla_forest_run run;
      OSLA_ASSERT_OK(
        osla_forest_bcast_begin(c.forest, OSLA_ONE_DOUBLE, roots, leaves, OSLA_REPLACE, &run));
      model_nap(6, (uint64_t)step);
      OSLA_ASSERT_OK(osla_forest_end(&run));
      for (int i = 0; i < 8; i++) {
        bad += !(leaves[i] == home);
        leaves[i] += step;
      }
      OSLA_ASSERT_OK(
        osla_forest_reduce_begin(c.forest, OSLA_ONE_DOUBLE, leaves, roots, OSLA_SUM, &run));
      OSLA_ASSERT_OK(osla_forest_end(&run));
      home = 2 * home + step;
      for (int i = 0; i < 8; i++)
        bad += !(roots[i] == home);
    }
    OSLA_ASSERT_MSG(bad == 0, "%" PRId64 " values differ, memory %d", bad, which);
  }
  model_case_close(&c);
}

/* The progress thread serves transfers while this rank begins and ends others. */
static void test_progress_thread(void)
{
  if (!osla_test_multiple("a progress thread")) return;
  osla_transport *t = NULL;
  const osla_transport_options with = {.progress_thread = true, .threads_per_rank = 1};
  OSLA_ASSERT_OK(osla_transport_create(MPI_COMM_WORLD, &with, &t));
  model_case c = model_case_on(t, MODEL_RANDOM, POOL);
  for (int round = 0; round < 10; round++) {
    model_trial trials[3], *order[3];
    for (int i = 0; i < 3; i++) {
      trials[i] =
        begun(&c, (model_op)i, (i + round) % MODEL_PLACES, 10 * (uint64_t)round + (uint64_t)i);
      order[i] = &trials[i];
    }
    model_nap(2, (uint64_t)round);
    end_all(order, 3, (uint64_t)round);
    model_check_all(trials, 3);
    c.memory.used = 0;
  }
  model_case_close(&c);
}

/* Roots are scattered over cache lines, with small and large units. Values are overwritten as soon
 * as a transfer has ended. */
static void test_scattered(void)
{
  enum { EDGES = 100, APART = 16, ROUNDS = 60, LARGE = 4 };
  osla_transport *t = osla_test_transport();
  const int me = osla_test_rank(), size = osla_test_size(), next = (me + 1) % size;
  osla_root *root = osla_test_allocate(EDGES, sizeof *root);
  void *memory;
  osla_forest *f;
  int64_t bad = 0;
  for (int i = 0; i < EDGES; i++)
    root[i] = (osla_root){next, (EDGES - 1 - i) * APART + 3};
  OSLA_ASSERT_OK(osla_forest_create(t, EDGES * APART, EDGES, NULL, root, &f));
  OSLA_ASSERT_OK(
    osla_vertices_create(t, (EDGES * APART + EDGES) * LARGE * sizeof(double), &memory));
  double *roots = memory, *leaves = roots + EDGES * APART * LARGE;
  for (int round = 0; round < ROUNDS; round++) {
    const int count = round % 3 == 2 ? LARGE : 1 + round % 2;
    const osla_unit unit = {OSLA_UNIT_DOUBLE, count, 0};
    osla_forest_run run;
    for (int i = 0; i < EDGES * APART * count; i++)
      roots[i] = 1e6 * me + 1e3 * round + i % 997;
    OSLA_ASSERT_OK(osla_forest_bcast_begin(f, unit, roots, leaves, OSLA_REPLACE, &run));
    if (round % 4 == 3) {
      OSLA_ASSERT_OK(osla_forest_end_read(&run));
      OSLA_ASSERT_OK(osla_forest_writable(f));
    } else {
      OSLA_ASSERT_OK(osla_forest_end(&run));
    }
    for (int i = 0; i < EDGES * count; i++) {
      const int64_t at = root[i / count].index * count + i % count;
      bad += !(leaves[i] == 1e6 * next + 1e3 * round + (double)(at % 997));
    }
    for (int i = 0; i < EDGES * count; i++)
      leaves[i] = round + i;
    OSLA_ASSERT_OK(osla_forest_reduce(f, unit, leaves, roots, OSLA_REPLACE));
    for (int i = 0; i < EDGES * count; i++)
      bad += !(roots[root[i / count].index * count + i % count] == round + i);
  }
  OSLA_ASSERT_MSG(bad == 0, "%d values are wrong", (int)bad);
  OSLA_ASSERT_OK(osla_forest_destroy(&f));
  OSLA_ASSERT_OK(osla_vertices_free(t, &memory));
  free(root);
  osla_transport_destroy(&t);
}

static const osla_test_case cases[] = {
  {"in_flight", test_in_flight},
  {"crossing", test_crossing},
  {"same_arrays", test_same_arrays},
  {"polled", test_polled},
  {"writable", test_writable},
  {"two_forests", test_two_forests},
  {"rank_in_barrier", test_rank_in_barrier},
  {"late_begin", test_late_begin},
  {"only_those_joined", test_only_those_joined},
  {"run_ahead", test_run_ahead},
  {"run_ahead_of_readers", test_run_ahead_of_readers},
  {"to_and_fro", test_to_and_fro},
  {"progress_thread", test_progress_thread},
  {"scattered", test_scattered},
  {NULL, NULL},
};
OSLA_TEST_SUITE(test_forest_flow, cases);
