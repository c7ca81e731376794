/* Tests of reductions by functions of the caller. The functions do not commute, so that only the
 * documented order of leaves gives the expected values, which each rank computes from the whole
 * graph. */
#include "tests/kernels/forest_model.h"

#include <stdlib.h>

/* The map x -> a x + b modulo PRIME, in 24 bytes. */
typedef struct map {
  int64_t a, b, gap;
} map;
enum { PRIME = 1000003, UNSET = -7 };
static const osla_unit map_unit = {OSLA_UNIT_INT64, 2, sizeof(map)};

typedef struct call_counts {
  int64_t calls, wrong; /* numbers of all calls, and of calls with another count than `count` */
  int64_t count;
} call_counts;

static void count_call(int64_t count, void *context)
{
  call_counts *counts = context;
  counts->calls++;
  counts->wrong += count != counts->count;
}

/* Composes two maps: the result applies inout first. */
static void compose(int64_t count, void *inout, const void *in, void *context)
{
  int64_t *x = inout;
  const int64_t *y = in;
  count_call(count, context);
  x[0] = y[0] * x[0] % PRIME;
  x[1] = (y[0] * x[1] + y[1]) % PRIME;
}

/* Composes two maps: the result applies inout last. */
static void compose_reversed(int64_t count, void *inout, const void *in, void *context)
{
  int64_t *x = inout;
  const int64_t *y = in;
  count_call(count, context);
  x[1] = (x[0] * y[1] + x[1]) % PRIME;
  x[0] = y[0] * x[0] % PRIME;
}

static map map_of(int64_t rank, int64_t index)
{
  return (map){(17 * rank + 5 * index + 2) % PRIME, (29 * rank + 11 * index + 3) % PRIME, UNSET};
}

static map *maps(int64_t rank, int64_t n)
{
  map *m = osla_test_allocate((size_t)n + 1, sizeof *m);
  for (int64_t i = 0; i <= n; i++)
    m[i] = map_of(rank, i);
  return m;
}

/* Applies a function to the roots of this rank in the documented order. Returns the number of
 * calls. */
static int64_t serial(const model_graph *g, osla_forest_function *function, map *roots)
{
  call_counts counts = {0, 0, 2};
  for (int q = 0; q < g->size; q++)
    for (int64_t e = 0; e < g->of[q].n_edges; e++) {
      const map leaf = map_of(q, g->of[q].leaf[e]);
      const osla_root *r = &g->of[q].root[e];
      if (r->rank == osla_test_rank()) function(2, &roots[r->index], &leaf, &counts);
    }
  return counts.calls;
}

static void reduce_by(const model_graph *g, osla_forest *f, osla_forest_function *function,
                      const map *leaves, map *roots)
{
  const int64_t n = model_mine(g)->n_roots;
  map *expected = maps(-osla_test_rank(), n);
  call_counts counts = {0, 0, 2};
  for (int64_t j = 0; j <= n; j++)
    roots[j] = expected[j];
  const int64_t calls = serial(g, function, expected);
  OSLA_ASSERT_OK(osla_forest_reduce_with(f, map_unit, leaves, roots, function, &counts));
  int64_t bad = 0;
  for (int64_t j = 0; j <= n; j++)
    bad += roots[j].a != expected[j].a || roots[j].b != expected[j].b || roots[j].gap != UNSET;
  OSLA_ASSERT_MSG(bad == 0, "graph \"%s\": %d of %d roots are wrong", g->name, (int)bad, (int)n);
  OSLA_ASSERT_MSG(counts.calls == calls && counts.wrong == 0,
                  "%d calls, not %d, %d with a wrong count", (int)counts.calls, (int)calls,
                  (int)counts.wrong);
  free(expected);
}

/* The second function has the arguments of the first one, so that it shows whether the library
 * takes the first transfer for the same one. */
static void test_kinds(void)
{
  for (int kind = 0; kind < MODEL_KINDS; kind++) {
    model_case c = model_case_open((model_kind)kind, 0);
    map *leaves = maps(osla_test_rank(), model_mine(&c.g)->leaf_space);
    map *roots = maps(0, model_mine(&c.g)->n_roots);
    reduce_by(&c.g, c.forest, compose, leaves, roots);
    reduce_by(&c.g, c.forest, compose_reversed, leaves, roots);
    reduce_by(&c.g, c.forest, compose, leaves, roots);
    free(leaves);
    free(roots);
    model_case_close(&c);
  }
}

/* Another transfer begins and ends while a reduction by a function is under way. */
static void test_interleaved(void)
{
  model_case c = model_case_open(MODEL_RANDOM, 0);
  const model_share *mine = model_mine(&c.g);
  map *leaves = maps(osla_test_rank(), mine->leaf_space),
      *roots = maps(-osla_test_rank(), mine->n_roots);
  map *expected = maps(-osla_test_rank(), mine->n_roots);
  int64_t *ones = osla_test_allocate((size_t)mine->leaf_space + 1, sizeof *ones), bad = 0;
  int64_t *degrees = osla_test_allocate((size_t)mine->n_roots + 1, sizeof *degrees);
  int64_t *sums = osla_test_allocate((size_t)mine->n_roots + 1, sizeof *sums);
  call_counts counts = {0, 0, 2};
  osla_forest_run run;
  for (int64_t i = 0; i < mine->leaf_space; i++)
    ones[i] = 1;
  (void)serial(&c.g, compose, expected);
  OSLA_ASSERT_OK(
    osla_forest_reduce_with_begin(c.forest, map_unit, leaves, roots, compose, &counts, &run));
  OSLA_ASSERT_OK(osla_forest_reduce(c.forest, OSLA_ONE_INT64, ones, sums, OSLA_SUM));
  OSLA_ASSERT_OK(osla_forest_end(&run));
  osla_forest_degrees(c.forest, degrees);
  for (int64_t j = 0; j < mine->n_roots; j++)
    bad += sums[j] != degrees[j] || roots[j].a != expected[j].a || roots[j].b != expected[j].b;
  CU_ASSERT(bad == 0);
  free(leaves);
  free(roots);
  free(expected);
  free(ones);
  free(degrees);
  free(sums);
  model_case_close(&c);
}

/* So many leaves of each root on every rank that other reductions of integers send one value for
 * all leaves of a node. */
static void test_all_to_all(void)
{
  enum { ROOTS = 200 };
  osla_transport *t = osla_test_transport();
  const int size = osla_test_size();
  osla_forest *f = NULL;
  OSLA_ASSERT_OK(osla_forest_allgather(t, ROOTS, &f));
  map *leaves = maps(osla_test_rank(), (int64_t)ROOTS * size), *roots = maps(0, ROOTS);
  map *expected = maps(0, ROOTS);
  call_counts counts = {0, 0, 2};
  for (int64_t j = 0; j < ROOTS; j++)
    for (int q = 0; q < size; q++) {
      const map leaf = map_of(q, (int64_t)ROOTS * osla_test_rank() + j);
      compose(2, &expected[j], &leaf, &counts);
    }
  OSLA_ASSERT_OK(osla_forest_reduce_with(f, map_unit, leaves, roots, compose, &counts));
  int64_t bad = 0;
  for (int64_t j = 0; j <= ROOTS; j++)
    bad += roots[j].a != expected[j].a || roots[j].b != expected[j].b;
  OSLA_ASSERT_MSG(bad == 0, "%d of %d roots are wrong", (int)bad, ROOTS);
  CU_ASSERT(counts.calls == (int64_t)2 * ROOTS * size && counts.wrong == 0);
  free(leaves);
  free(roots);
  free(expected);
  OSLA_ASSERT_OK(osla_forest_destroy(&f));
  osla_transport_destroy(&t);
}

/* inout := 3 inout + in, for whole vertices of bytes. */
static void append(int64_t count, void *inout, const void *in, void *context)
{
  unsigned char *x = inout;
  const unsigned char *y = in;
  count_call(count, context);
  for (int64_t c = 0; c < count; c++)
    x[c] = (unsigned char)(3 * x[c] + y[c]);
}

/* Vertices larger than a part of a ring: the function gets all bytes of a vertex at once. */
static void test_whole_vertices(void)
{
  enum { BYTES = 150001 };
  const osla_unit unit = {OSLA_UNIT_BYTES, BYTES, 0};
  model_case c = model_case_open(MODEL_EVEN, 0);
  const model_share *mine = model_mine(&c.g);
  unsigned char *leaves = osla_test_allocate((size_t)mine->leaf_space + 1, BYTES);
  unsigned char *roots = osla_test_allocate((size_t)mine->n_roots + 1, BYTES);
  unsigned char *expected = osla_test_allocate((size_t)mine->n_roots + 1, 1);
  call_counts counts = {0, 0, BYTES};
  for (int64_t i = 0; i < mine->leaf_space * BYTES; i++)
    leaves[i] = (unsigned char)map_of(osla_test_rank(), i / BYTES).a;
  for (int q = 0; q < c.g.size; q++)
    for (int64_t e = 0; e < c.g.of[q].n_edges; e++) {
      const osla_root *r = &c.g.of[q].root[e];
      if (r->rank != osla_test_rank()) continue;
      expected[r->index] = (unsigned char)(3 * expected[r->index] + map_of(q, c.g.of[q].leaf[e]).a);
    }
  OSLA_ASSERT_OK(osla_forest_reduce_with(c.forest, unit, leaves, roots, append, &counts));
  int64_t bad = 0;
  for (int64_t i = 0; i < mine->n_roots * BYTES; i++)
    bad += roots[i] != expected[i / BYTES];
  OSLA_ASSERT_MSG(bad == 0, "%d bytes of %d are wrong", (int)bad, (int)mine->n_roots * BYTES);
  CU_ASSERT(counts.wrong == 0);
  free(leaves);
  free(roots);
  free(expected);
  model_case_close(&c);
}

/* Each wrong call is made by all ranks. */
static void test_errors(void)
{
  model_case c = model_case_open(MODEL_EVEN, 0);
  map *leaves = maps(osla_test_rank(), model_mine(&c.g)->leaf_space);
  map *roots = maps(0, model_mine(&c.g)->n_roots);
  call_counts counts = {0, 0, 2};
  osla_forest *f = c.forest;
  OSLA_ASSERT_ERR(osla_forest_reduce_with(f, map_unit, leaves, roots, NULL, NULL), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("function is NULL");
  OSLA_ASSERT_ERR(osla_forest_reduce_with(f, map_unit, NULL, roots, compose, &counts),
                  OSLA_ERR_ARG);
  OSLA_ASSERT_ERR(
    osla_forest_reduce_with(f, (osla_unit){OSLA_UNIT_INT64, 2, 8}, leaves, roots, compose, &counts),
    OSLA_ERR_ARG);
  OSLA_ASSERT_ERR(osla_forest_reduce_with(f, map_unit, leaves, leaves, compose, &counts),
                  OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("overlap");
  OSLA_ASSERT_ERR(osla_forest_reduce(f, map_unit, leaves, roots, OSLA_COMBINES), OSLA_ERR_ARG);
  OSLA_ASSERT_TEXT("is unknown");
  CU_ASSERT(counts.calls == 0);
  reduce_by(&c.g, f, compose, leaves, roots);
  free(leaves);
  free(roots);
  model_case_close(&c);
}

static const osla_test_case cases[] = {
  {"kinds", test_kinds},           {"interleaved", test_interleaved},
  {"all_to_all", test_all_to_all}, {"whole_vertices", test_whole_vertices},
  {"errors", test_errors},         {NULL, NULL}};
OSLA_TEST_SUITE(test_forest_function, cases);
