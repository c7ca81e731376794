/* Tests of every error that osla_forest.h names. Collective calls return one code on all ranks, and
 * after each error the forest still works. */
#include "tests/kernels/forest_model.h"

#include <inttypes.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { POOL = 100000 };

/* ---- errors when a forest is created ---- */

/* Checks that all ranks get the expected error code and the same text, and that no forest is
 * created. */
static void expect_code(osla_err err, osla_err expected, osla_forest *forest, const char *what)
{
  OSLA_ASSERT_MSG(err == expected, "%s: %s (%s), not %s", what, osla_err_name(err),
                  osla_error_text(), osla_err_name(expected));
  OSLA_ASSERT_SAME_TEXT();
  CU_ASSERT(forest == NULL);
  if (forest) OSLA_ASSERT_OK(osla_forest_destroy(&forest));
}

/* The arguments of the last rank are wrong, and those of all other ranks are right. Rank 0 has 4003
 * roots. */
static void test_wrong_graphs(void)
{
  static const int64_t far = (int64_t)1 << 32;
  enum { SIZE = 1000 }; /* in the table, this value stands for the number of ranks */
  static const struct {
    const char *what;
    int64_t n_roots, n_edges, leaf[2];
    osla_root root;
    osla_err err;
  } wrong[] = {
    {"negative roots", -1, 2, {4, 9}, {0, 0}, OSLA_ERR_ARG},
    {"negative edges", 9, -1, {4, 9}, {0, 0}, OSLA_ERR_ARG},
    {"negative leaf", 9, 2, {-1, 9}, {0, 0}, OSLA_ERR_ARG},
    {"leaf twice", 9, 2, {9, 9}, {0, 0}, OSLA_ERR_ARG},
    {"rank -1", 9, 2, {4, 9}, {-1, 0}, OSLA_ERR_ARG},
    {"rank after the last", 9, 2, {4, 9}, {SIZE, 0}, OSLA_ERR_ARG},
    {"root -1", 9, 2, {4, 9}, {0, -1}, OSLA_ERR_ARG},
    {"root after the last", 4003, 2, {4, 9}, {0, 4003}, OSLA_ERR_ARG},
    {"root far after the last", 4003, 2, {4, 9}, {0, 70001}, OSLA_ERR_ARG},
    {"leaf of 2^32", 9, 2, {4, far}, {0, 0}, OSLA_ERR_RANGE},
  };
  osla_transport *t = osla_test_transport();
  int rank = osla_test_rank(), last = osla_test_size() - 1;
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    osla_root root[2] = {{last, 1}, {0, 2}};
    int64_t leaf[2] = {8, 5}, n_roots = 4003, n_edges = 2;
    osla_forest *forest = NULL;
    if (rank == last) {
      n_roots = rank == 0 && wrong[i].n_roots > 0 ? 4003 : wrong[i].n_roots;
      n_edges = wrong[i].n_edges;
      memcpy(leaf, wrong[i].leaf, sizeof leaf);
      root[1] = wrong[i].root;
      if (root[1].rank == SIZE) root[1].rank = last + 1;
    }
    expect_code(osla_forest_create(t, n_roots, n_edges, leaf, root, &forest), wrong[i].err, forest,
                wrong[i].what);
    if (wrong[i].root.index < 4003) continue;
    char index[32];
    (void)snprintf(index, sizeof index, "%" PRId64, wrong[i].root.index);
    OSLA_ASSERT_TEXT(index);
    OSLA_ASSERT_TEXT("4003");
    OSLA_ASSERT_TEXT("rank 0");
  }
  osla_transport_destroy(&t);
}

/* Two ranks pass different wrong arguments, and all ranks must get one code. Further cases: a root
 * index beyond the limit of 2^32, although its owner has so many roots; a leaf index that is
 * repeated at the end of a long list. */
static void test_wrong_together(void)
{
  enum { MANY = 3000 };
  osla_transport *t = osla_test_transport();
  int rank = osla_test_rank(), size = osla_test_size();
  osla_root root[MANY] = {{0, 0}};
  int64_t leaf[MANY], far = (int64_t)1 << 32;
  osla_forest *forest = NULL;
  for (int i = 0; i < MANY; i++)
    leaf[i] = 2 * i;
  if (rank == 0) leaf[0] = far;
  if (rank == size - 1) root[1].rank = -1;
  int code = (int)osla_forest_create(t, 1, 2, leaf, root, &forest), first = code;
  MPI_Bcast(&first, 1, MPI_INT, 0, MPI_COMM_WORLD);
  CU_ASSERT(code == first && (code == OSLA_ERR_ARG || code == OSLA_ERR_RANGE));
  leaf[0] = 0;
  root[1] = (osla_root){0, far};
  expect_code(osla_forest_create(t, 2 * far, 2, leaf, root, &forest), OSLA_ERR_RANGE, forest,
              "root of 2^32");
  root[1] = (osla_root){0, 0};
  leaf[MANY - 1] = rank == size - 1 ? leaf[7] : leaf[MANY - 1];
  expect_code(osla_forest_create(t, 1, MANY, leaf, root, &forest), OSLA_ERR_ARG, forest,
              "leaf twice, far apart");
  osla_transport_destroy(&t);
}

static void test_wrong_starts(void)
{
  osla_transport *t = osla_test_transport();
  int size = osla_test_size(), last = size - 1;
  int64_t *start = osla_test_allocate((size_t)size + 1, sizeof *start), leaf[2] = {3, 1};
  for (int wrong = 0; wrong < 7; wrong++) {
    static const char *const what[] = {"start falls", "start is not from 0", "root after the last",
                                       "root -1",     "leaf twice",          "negative edges",
                                       "no start"};
    bool here = osla_test_rank() == last;
    int64_t root[2] = {0, 5};
    osla_forest *forest = NULL;
    for (int p = 0; p <= size; p++)
      start[p] = wrong == 1 ? 6 * p + 1 : 6 * p;
    if (wrong == 0) start[size] = start[size - 1] - 1;
    if (wrong == 2 && here) root[1] = 6 * size;
    if (wrong == 3 && here) root[0] = -1;
    leaf[1] = wrong == 4 && here ? 3 : 1;
    int64_t n_edges = wrong == 5 && here ? -2 : 2;
    const int64_t *given = wrong == 6 && here ? NULL : start;
    expect_code(osla_forest_create_global(t, given, n_edges, leaf, root, &forest), OSLA_ERR_ARG,
                forest, what[wrong]);
  }
  /* on the last rank the inner values of start[] differ from those of the other ranks */
  for (int p = 0; p <= size; p++)
    start[p] = 6 * p + (osla_test_rank() == last && p > 0 && p < size);
  if (size > 1)
    expect_code(osla_forest_create_global(t, start, 0, NULL, NULL, &(osla_forest *){NULL}),
                OSLA_ERR_ARG, NULL, "other starts");
  free(start);
  osla_transport_destroy(&t);
}

/* ---- errors of transfers ---- */

/* Runs a transfer that must succeed. */
static void run_good(model_case *c, uint64_t seed)
{
  for (int op = 0; op < MODEL_OPS; op++)
    model_run((model_trial){.graph = &c->g,
                            .forest = c->forest,
                            .op = (model_op)op,
                            .unit = OSLA_ONE_INT64,
                            .combine = OSLA_SUM,
                            .place = (int)(seed % MODEL_PLACES),
                            .seed = seed},
              &c->memory);
}

/* Checks that this rank refuses a broadcast, a reduction and a fetch with this unit. The arrays are
 * large enough for any of the units. */
static void expect_refused(model_case *c, osla_unit unit, osla_forest_combine combine, size_t shift)
{
  static _Alignas(64) char memory[3][POOL];
  char *roots = memory[0] + shift, *leaves = memory[1] + shift, *before = memory[2] + shift;
  osla_forest_run run;
  osla_err err[3] = {
    osla_forest_bcast_begin(c->forest, unit, roots, leaves, combine, &run),
    osla_forest_reduce_begin(c->forest, unit, leaves, roots, combine, &run),
    osla_forest_fetch_begin(c->forest, unit, roots, leaves, before, combine, &run),
  };
  for (int op = 0; op < MODEL_OPS; op++)
    OSLA_ASSERT_MSG(err[op] == OSLA_ERR_ARG && osla_error_text()[0],
                    "op %d, type %d x %d, stride %" PRId64 ", combination %d, shift %zu: \"%s\"",
                    op, (int)unit.type, unit.count, unit.stride, (int)combine, shift,
                    osla_err_name(err[op]));
}

static void test_no_such_combination(void)
{
  model_case c = model_case_open(MODEL_SELF, POOL);
  for (int type = 0; type < OSLA_UNIT_TYPES; type++)
    for (int combine = 0; combine < OSLA_COMBINES; combine++)
      if (!model_allows((osla_unit_type)type, (osla_forest_combine)combine))
        expect_refused(&c, (osla_unit){(osla_unit_type)type, 1, 0}, (osla_forest_combine)combine,
                       0);
  osla_unit unit = OSLA_ONE_DOUBLE;
  expect_refused(&c, unit, OSLA_COMBINES, 0);
  expect_refused(&c, unit, (osla_forest_combine)-1, 0);
  unit.type = OSLA_UNIT_TYPES;
  expect_refused(&c, unit, OSLA_REPLACE, 0);
  unit.type = (osla_unit_type)-1;
  expect_refused(&c, unit, OSLA_REPLACE, 0);
  run_good(&c, 1);
  model_case_close(&c);
}

/* Units with counts, strides or addresses that are not allowed for their type. */
static void test_wrong_units(void)
{
  model_case c = model_case_open(MODEL_SELF, POOL);
  for (int i = 0; i < OSLA_UNIT_TYPES; i++) {
    osla_unit_type type = (osla_unit_type)i;
    int64_t size = (int64_t)model_size(type), align = (int64_t)model_align(type);
    expect_refused(&c, (osla_unit){type, 0, 0}, OSLA_REPLACE, 0);
    expect_refused(&c, (osla_unit){type, -1, 0}, OSLA_REPLACE, 0);
    expect_refused(&c, (osla_unit){type, 1, -size}, OSLA_REPLACE, 0);
    expect_refused(&c, (osla_unit){type, 3, 2 * size}, OSLA_REPLACE, 0);
    expect_refused(&c, (osla_unit){type, 3, 3 * size - align}, OSLA_REPLACE, 0);
    if (align == 1) continue;
    expect_refused(&c, (osla_unit){type, 1, size + 1}, OSLA_REPLACE, 0);
    expect_refused(&c, (osla_unit){type, 1, size + align / 2}, OSLA_REPLACE, 0);
    expect_refused(&c, (osla_unit){type, 1, 0}, OSLA_REPLACE, 1);
    expect_refused(&c, (osla_unit){type, 1, 0}, OSLA_REPLACE, (size_t)align / 2);
  }
  run_good(&c, 2);
  model_case_close(&c);
}

/* Transfers in which the values to be read overlap the values to be written, in all numbers or in
 * only one. */
static void test_overlaps(void)
{
  enum { N = 10, HALF = 60 };
  static const int shifts[] = {0, 1, 2, 4, -1, -3, 3 * N - 2, 2 - 3 * N};
  /* units of two numbers, with a gap of one number between units */
  const osla_unit pairs = {OSLA_UNIT_INT32, 2, 12};
  osla_transport *t = osla_test_transport();
  osla_root root[N];
  osla_forest *f = NULL;
  osla_forest_run run;
  for (int i = 0; i < N; i++)
    root[i] = (osla_root){osla_test_rank(), i};
  OSLA_ASSERT_OK(osla_forest_create(t, N, N, NULL, root, &f));
  void *vertices = NULL;
  int32_t plain[3 * HALF] = {0};
  OSLA_ASSERT_OK(osla_vertices_create(t, sizeof plain, &vertices));
  for (int i = 0; i < 16; i++) {
    int32_t *x = i < 8 ? plain : vertices, *a = x + HALF, *b = a + shifts[i % 8], *c = a + HALF;
    if (shifts[i % 8] > 2) c = x;
    OSLA_ASSERT_ERR(osla_forest_bcast_begin(f, pairs, a, b, OSLA_REPLACE, &run), OSLA_ERR_ARG);
    OSLA_ASSERT_ERR(osla_forest_reduce_begin(f, pairs, a, b, OSLA_SUM, &run), OSLA_ERR_ARG);
    OSLA_ASSERT_ERR(osla_forest_fetch_begin(f, pairs, a, b, c, OSLA_SUM, &run), OSLA_ERR_ARG);
    OSLA_ASSERT_ERR(osla_forest_fetch_begin(f, pairs, c, a, b, OSLA_SUM, &run), OSLA_ERR_ARG);
    OSLA_ASSERT_ERR(osla_forest_fetch_begin(f, pairs, a, c, b, OSLA_SUM, &run), OSLA_ERR_ARG);
  }
  /* the address ranges of arrays a and b overlap by one number, which is in a gap */
  int32_t *a = plain + 1, *b = a + 3 * N - 1;
  for (int i = 0; i < N; i++)
    a[3 * i] = i, a[3 * i + 1] = -i;
  OSLA_ASSERT_OK(osla_forest_bcast_begin(f, pairs, a, b, OSLA_REPLACE, &run));
  OSLA_ASSERT_OK(osla_forest_end(&run));
  for (int i = 0; i < N; i++)
    CU_ASSERT(b[3 * i] == i && b[3 * i + 1] == -i && a[3 * i] == i && a[3 * i + 1] == -i);
  OSLA_ASSERT_OK(osla_vertices_free(t, &vertices));
  OSLA_ASSERT_OK(osla_forest_destroy(&f));
  osla_transport_destroy(&t);
}

/* ---- calls in the wrong order ---- */

/* Checks that a transfer that has already ended, or was never begun, cannot be ended or tested. */
static void expect_over(osla_forest_run run)
{
  osla_forest_run copies[4] = {run, run, run, run};
  bool done = false;
  OSLA_ASSERT_ERR(osla_forest_end(&copies[0]), OSLA_ERR_STATE);
  OSLA_ASSERT_ERR(osla_forest_end_read(&copies[1]), OSLA_ERR_STATE);
  OSLA_ASSERT_ERR(osla_forest_test(&copies[2], &done), OSLA_ERR_STATE);
  OSLA_ASSERT_ERR(osla_forest_end(&copies[3]), OSLA_ERR_STATE);
}

static void test_ended_twice(void)
{
  model_case c = model_case_open(MODEL_SELF, POOL);
  osla_forest_run old[3];
  for (int i = 0; i < 3; i++) {
    model_trial trial = {.graph = &c.g,
                         .forest = c.forest,
                         .unit = OSLA_ONE_DOUBLE,
                         .combine = OSLA_SUM,
                         .place = 2 * i,
                         .seed = (uint64_t)i};
    bool done = false;
    model_fill(&trial, &c.memory);
    model_start(&trial);
    CU_ASSERT(trial.run.forest == c.forest);
    CU_ASSERT(trial.run.number == (uint64_t)i + 1);
    old[i] = trial.run;
    old[i].number += 1;
    expect_over(old[i]); /* the next run number, for which no transfer was begun */
    old[i].number -= 1;
    if (i == 0) OSLA_ASSERT_OK(osla_forest_end(&trial.run));
    if (i == 1) OSLA_ASSERT_OK(osla_forest_end_read(&trial.run));
    if (i == 1) OSLA_ASSERT_OK(osla_forest_writable(c.forest));
    while (i == 2 && !done && osla_forest_test(&trial.run, &done) == OSLA_OK)
      osla_progress(c.t);
    CU_ASSERT(i < 2 || done);
    (void)model_check(&trial);
    OSLA_ASSERT_ERR(osla_forest_end(&trial.run),
                    OSLA_ERR_STATE); /* this transfer was already ended through a copy of its run */
    expect_over(old[i]);
    model_drop(&trial);
    c.memory.used = 0;
  }
  for (int i = 0; i < 4; i++)
    run_good(&c, (uint64_t)i);
  for (int i = 0; i < 3; i++)
    expect_over(old[i]);
  expect_over((osla_forest_run){.forest = c.forest, .number = 0});
  /* returns at once, because no transfer is under way */
  OSLA_ASSERT_OK(osla_forest_writable(c.forest));
  model_case_close(&c);
}

/* At most eight transfers of a forest may be under way, and a ninth is refused. After one has
 * ended, another one can begin. */
static void test_too_many(void)
{
  enum { MOST = 8, ALL = MOST + MODEL_OPS };
  model_case c = model_case_open(MODEL_SELF, POOL);
  model_trial trials[ALL];
  for (int i = 0; i < ALL; i++) {
    trials[i] = (model_trial){.graph = &c.g,
                              .forest = c.forest,
                              .op = (model_op)(i % MODEL_OPS),
                              .unit = OSLA_ONE_INT64,
                              .combine = OSLA_SUM,
                              .place = i % MODEL_PLACES,
                              .seed = 50 + (uint64_t)i};
    model_fill(&trials[i], &c.memory);
    if (i < MOST) {
      model_start(&trials[i]);
      continue;
    }
    OSLA_ASSERT_ERR(model_begin(&trials[i]), OSLA_ERR_STATE);
    OSLA_ASSERT_OK(osla_forest_end(&trials[i - MOST].run));
    model_start(&trials[i]);
  }
  for (int i = ALL - 1; i >= ALL - MOST; i--)
    OSLA_ASSERT_OK(osla_forest_end(&trials[i].run));
  for (int i = 0; i < ALL; i++) {
    (void)model_check(&trials[i]);
    model_drop(&trials[i]);
  }
  c.memory.used = 0;
  run_good(&c, 3);
  model_case_close(&c);
}

/* While some ranks have a transfer under way, a program destroys the forest, or frees the memory of
 * the values. All ranks get OSLA_ERR_STATE, no rank waits for ever, and nothing is lost. The
 * transfers that have ended were ended by osla_forest_end_read, which does not wait for readers. */
static void test_destroy_under_way(void)
{
  osla_transport *t = osla_test_transport();
  model_graph g = model_graph_make(MODEL_RANDOM, 3);
  osla_forest *forest = model_forest(t, &g), *same = forest;
  model_memory memory = model_memory_make(t, POOL);
  void *vertices = memory.vertices;
  int last = osla_test_size() - 1;
  for (int i = 0; i < 6; i++) {
    bool late = i % 3 == 0 || osla_test_rank() == (i % 3 == 1 ? last : 0);
    model_trial trial = {.graph = &g,
                         .forest = forest,
                         .op = i % 2 ? MODEL_REDUCE : MODEL_BCAST,
                         .unit = OSLA_ONE_INT64,
                         .combine = OSLA_SUM,
                         .place = i < 3    ? MODEL_ALL_IN
                                  : i == 5 ? MODEL_PLAIN
                                           : MODEL_MIXED,
                         .seed = 70 + (uint64_t)i};
    model_fill(&trial, &memory);
    model_start(&trial);
    if (!late) OSLA_ASSERT_OK(osla_forest_end_read(&trial.run));
    OSLA_ASSERT_ERR(osla_forest_destroy(&forest), OSLA_ERR_STATE);
    OSLA_ASSERT_SAME_TEXT();
    CU_ASSERT(forest == same);
    /* osla_vertices_free is refused, although the transfer does not use this memory */
    OSLA_ASSERT_ERR(osla_vertices_free(t, &memory.vertices), OSLA_ERR_STATE);
    OSLA_ASSERT_SAME_TEXT();
    CU_ASSERT(memory.vertices == vertices);
    if (late) OSLA_ASSERT_OK(osla_forest_end(&trial.run));
    if (!late) OSLA_ASSERT_OK(osla_forest_writable(forest));
    (void)model_check(&trial);
    model_drop(&trial);
    memory.used = 0;
  }
  OSLA_ASSERT_OK(osla_forest_destroy(&forest));
  CU_ASSERT(forest == NULL);
  model_memory_free(&memory);
  model_graph_free(&g);
  osla_transport_destroy(&t);
}

/* Rank 0 has begun one transfer more than the other ranks. osla_forest_destroy reports this on all
 * ranks without waiting for the transfer. */
static void test_destroy_too_early(void)
{
  osla_transport *t = osla_test_transport();
  const int rank = osla_test_rank();
  osla_forest *forest = NULL;
  const osla_root root = {0, 0};
  double value = rank, leaf = -1;
  OSLA_ASSERT_OK(osla_forest_create(t, 1, rank > 0, NULL, &root, &forest));
  if (rank == 0)
    OSLA_ASSERT_OK(osla_forest_bcast(forest, OSLA_ONE_DOUBLE, &value, &leaf, OSLA_REPLACE));
  if (osla_test_size() > 1) {
    OSLA_ASSERT_ERR(osla_forest_destroy(&forest), OSLA_ERR_ARG);
    OSLA_ASSERT_TEXT("transfers that were begun is 1 on rank 0, but 0 on rank 1");
    OSLA_ASSERT_SAME_TEXT();
  }
  if (rank > 0)
    OSLA_ASSERT_OK(osla_forest_bcast(forest, OSLA_ONE_DOUBLE, &value, &leaf, OSLA_REPLACE));
  CU_ASSERT(leaf == (rank > 0 ? 0 : -1));
  OSLA_ASSERT_OK(osla_forest_destroy(&forest));
  osla_transport_destroy(&t);
}

/* One rank frees memory that is not from osla_vertices_create. All ranks get OSLA_ERR_ARG, and all
 * memory stays valid. */
static void test_free_others_memory(void)
{
  osla_transport *t = osla_test_transport();
  char *all = NULL, other[64] = "";
  bool last = osla_test_rank() == osla_test_size() - 1;
  void *vertices = NULL;
  OSLA_ASSERT_OK(osla_vertices_create(t, 5000, &vertices));
  all = vertices;
  for (int i = 0; i < 2; i++) {
    void *wrong = i ? all + 64 : other;
    if (!last) wrong = vertices;
    OSLA_ASSERT_ERR(osla_vertices_free(t, &wrong), OSLA_ERR_ARG);
    OSLA_ASSERT_SAME_TEXT();
    CU_ASSERT(wrong != NULL);
    memset(all, i, 5000);
  }
  OSLA_ASSERT_OK(osla_vertices_free(t, &vertices));
  CU_ASSERT(vertices == NULL);
  osla_transport_destroy(&t);
}

static const osla_test_case cases[] = {
  {"wrong_graphs", test_wrong_graphs},
  {"wrong_together", test_wrong_together},
  {"wrong_starts", test_wrong_starts},
  {"no_such_combination", test_no_such_combination},
  {"wrong_units", test_wrong_units},
  {"overlaps", test_overlaps},
  {"ended_twice", test_ended_twice},
  {"too_many", test_too_many},
  {"destroy_under_way", test_destroy_under_way},
  {"destroy_too_early", test_destroy_too_early},
  {"free_others_memory", test_free_others_memory},
  {NULL, NULL},
};
OSLA_TEST_SUITE(test_forest_errors, cases);
