/* Tests of star forests with every type of unit and every combination that the type allows, in
 * broadcasts, reductions and fetches, with several numbers in a vertex and gaps between vertices.
 */
#include "kernels/forest/forest_units.h"
#include "tests/kernels/forest_model.h"

#include <string.h>

enum { POOL = 400000 };

/* Graphs are of kind MODEL_EVEN, in which a root has at most three leaves, so that products are
 * exact. */

static void run_unit(model_case *c, osla_unit unit, osla_forest_combine combine, int place,
                     uint64_t seed)
{
  const bool by_order = combine == OSLA_SUM_ARRIVAL || combine == OSLA_SUM_EXACT;
  for (int op = 0; op < (by_order ? MODEL_FETCH : MODEL_OPS); op++)
    model_run((model_trial){.graph = &c->g,
                            .forest = c->forest,
                            .op = (model_op)op,
                            .unit = unit,
                            .combine = combine,
                            .place = (place + op) % MODEL_PLACES,
                            .seed = 3 * seed + (uint64_t)op},
              &c->memory);
}

/* Bytes from the start of one vertex to the next, with a gap between vertices that keeps the type
 * aligned. */
static int64_t with_gap(osla_unit_type type, int count)
{
  return (int64_t)(model_size(type) * (size_t)count + 3 * model_align(type));
}

/* Runs all allowed combinations of the unit types `first` to `last`. */
static void run_types(osla_unit_type first, osla_unit_type last)
{
  model_case c = model_case_open(MODEL_EVEN, POOL);
  uint64_t seed = 10000 * (uint64_t)first;
  for (int type = (int)first; type <= (int)last; type++)
    for (int combine = 0; combine < OSLA_COMBINES; combine++) {
      osla_unit_type u = (osla_unit_type)type;
      osla_forest_combine by = (osla_forest_combine)combine;
      if (!model_allows(u, by)) continue;
      seed++;
      run_unit(&c, (osla_unit){u, 1, 0}, by, combine, seed);
      run_unit(&c, (osla_unit){u, 3, with_gap(u, 3)}, by, combine + 1, seed + 500);
      if (osla_test_size() > FEW_RANKS) continue;
      run_unit(&c, (osla_unit){u, 7, 0}, by, combine + 2, seed + 1000);
      run_unit(&c, (osla_unit){u, 1, with_gap(u, 1)}, by, combine + 3, seed + 1500);
    }
  model_case_close(&c);
}

static void test_bytes(void)
{
  static const osla_unit units[] = {
    {OSLA_UNIT_BYTES, 1, 0},  {OSLA_UNIT_BYTES, 1, 5},  {OSLA_UNIT_BYTES, 3, 0},
    {OSLA_UNIT_BYTES, 3, 3},  {OSLA_UNIT_BYTES, 3, 4},  {OSLA_UNIT_BYTES, 8, 9},
    {OSLA_UNIT_BYTES, 13, 0}, {OSLA_UNIT_BYTES, 65, 0}, {OSLA_UNIT_BYTES, 200, 333},
  };
  model_case c = model_case_open(MODEL_EVEN, POOL);
  for (int i = 0; i < 9; i++)
    for (int place = 0; place < MODEL_PLACES; place++)
      run_unit(&c, units[i], OSLA_REPLACE, place, 10 * (uint64_t)i + (uint64_t)place);
  model_case_close(&c);
}

static void test_signed(void)
{
  run_types(OSLA_UNIT_INT8, OSLA_UNIT_INT64);
}

static void test_unsigned(void)
{
  run_types(OSLA_UNIT_UINT8, OSLA_UNIT_UINT64);
}

static void test_reals(void)
{
  run_types(OSLA_UNIT_FLOAT, OSLA_UNIT_LONG_DOUBLE);
}

static void test_complex(void)
{
  run_types(OSLA_UNIT_COMPLEX_FLOAT, OSLA_UNIT_COMPLEX_DOUBLE);
}

static void test_placed(void)
{
  run_types(OSLA_UNIT_FLOAT_AT, OSLA_UNIT_INT64_AT);
}

/* Between nodes, the values of roots that form a block are packed row by row: once in one message,
 * and once in several messages that end within a row or a vertex. */
static void test_blocks(void)
{
  static const struct {
    osla_unit unit;
    osla_forest_combine combine;
  } what[] = {
    {{OSLA_UNIT_DOUBLE, 1, 0}, OSLA_REPLACE},   {{OSLA_UNIT_DOUBLE, 1, 24}, OSLA_SUM},
    {{OSLA_UNIT_BYTES, 13, 0}, OSLA_REPLACE},   {{OSLA_UNIT_FLOAT, 7, 0}, OSLA_SUM},
    {{OSLA_UNIT_INT64_AT, 3, 64}, OSLA_MAXLOC}, {{OSLA_UNIT_DOUBLE, 600, 0}, OSLA_SUM},
    {{OSLA_UNIT_DOUBLE, 2, 0}, OSLA_SUM_EXACT}, {{OSLA_UNIT_INT32, 5, 0}, OSLA_SUM_ARRIVAL},
  };
  model_case c = model_case_open(MODEL_BLOCKS, 16000000);
  for (int i = 0; i < 8; i++)
    for (int place = 0; place < 2; place++)
      run_unit(&c, what[i].unit, what[i].combine, 3 * place + i,
               7000 + 10 * (uint64_t)i + (uint64_t)place);
  model_case_close(&c);
}

/* Checks whether osli_block_find recognises the block of n[0] x n[1] x n[2] indices first + i s[0]
 * + j s[1] + k s[2]. If `spoiled`, the last index is wrong. */
static void expect_block(const int64_t n[3], const int64_t s[3], int64_t first, bool spoiled,
                         bool expected)
{
  uint32_t list[1000];
  const int64_t all = n[0] * n[1] * n[2];
  vertex_block b = {.n = {0}};
  int64_t bad = 0, low = INT64_MAX, high = -1;
  for (int64_t e = 0; e < all; e++) {
    list[e] = (uint32_t)(first + e % n[0] * s[0] + e / n[0] % n[1] * s[1] + e / n[0] / n[1] * s[2]);
    if (list[e] < low) low = list[e];
    if (list[e] > high) high = list[e];
  }
  list[all - 1] += spoiled;
  const bool found = osli_block_find(list, all, &b);
  OSLA_ASSERT_MSG(found == expected, "%d x %d x %d: found %d", (int)n[0], (int)n[1], (int)n[2],
                  (int)found);
  for (int64_t e = 0; found && e < all; e++)
    bad += osli_block_index(&b, e) != list[e];
  int64_t found_low = 0, found_high = 0;
  if (found) osli_block_range(&b, &found_low, &found_high);
  CU_ASSERT(bad == 0 && (!found || (found_low == low && found_high == high)));
}

static void test_blocks_found(void)
{
  static const int64_t sizes[][3] = {{8, 1, 1}, {9, 4, 1}, {8, 4, 3}, {100, 2, 5}, {10, 10, 10}};
  static const int64_t steps[][3] = {
    {1, 20, 200}, {2, 300, 4000}, {-1, 50, -700}, {1, 0, 0}, {3, -40, 500}};
  for (int i = 0; i < 5; i++)
    for (int k = 0; k < 5; k++) {
      expect_block(sizes[i], steps[k], 1 << 20, false, true);
      expect_block(sizes[i], steps[k], 1 << 20, true, false);
    }
  /* the rows are too short to form a block */
  expect_block((const int64_t[]){7, 10, 1}, steps[0], 0, false, false);
  expect_block((const int64_t[]){1, 1, 1}, steps[0], 5, false, false);
}

/* Transfers with units whose stride equals their size, with units of many numbers, and with strides
 * far larger than the unit. */
static void test_sizes(void)
{
  static const struct {
    osla_unit_type type;
    int count;
    int64_t stride;
    osla_forest_combine combine;
  } units[] = {
    {OSLA_UNIT_DOUBLE, 1, 8, OSLA_SUM},         {OSLA_UNIT_INT16, 5, 10, OSLA_MAX},
    {OSLA_UNIT_DOUBLE, 600, 0, OSLA_SUM},       {OSLA_UNIT_UINT8, 1001, 0, OSLA_BITS_XOR},
    {OSLA_UNIT_DOUBLE_AT, 100, 0, OSLA_MINLOC}, {OSLA_UNIT_INT32, 1, 4096, OSLA_SUM},
    {OSLA_UNIT_FLOAT, 300, 4096, OSLA_MIN},     {OSLA_UNIT_COMPLEX_DOUBLE, 65, 0, OSLA_PROD},
  };
  model_case c = model_case_open(MODEL_EVEN, 8000000);
  for (int i = 0; i < 8; i++) {
    osla_unit unit = {units[i].type, units[i].count, units[i].stride};
    int places = osla_test_size() > FEW_RANKS ? 2 : MODEL_PLACES;
    for (int place = 0; place < places; place++)
      run_unit(&c, unit, units[i].combine, place + i, 100 * (uint64_t)i + (uint64_t)place);
  }
  model_case_close(&c);
}

/* Reductions with OSLA_MINLOC and OSLA_MAXLOC of equal values return the smallest position, no
 * matter whether a leaf or the root has it. Each rank has three leaves of one root. */
static void test_ties(void)
{
  osla_transport *t = osla_test_transport();
  int rank = osla_test_rank(), size = osla_test_size();
  const osla_root root[3] = {{0, 0}, {0, 0}, {0, 0}};
  const osla_unit unit = {OSLA_UNIT_DOUBLE_AT, 1, 0};
  osla_forest *forest = NULL;
  OSLA_ASSERT_OK(osla_forest_create(t, rank == 0, 3, NULL, root, &forest));
  for (int i = 0; i < 2 * size + 4; i++) {
    osla_forest_combine combine = i % 2 ? OSLA_MAXLOC : OSLA_MINLOC;
    /* rank with the smallest position; the value `size` means that the root has it */
    int winner = i / 2 % (size + 1);
    osla_double_at value = {1.5, winner == size ? -7 : 1000}, leaf[3];
    osla_forest_run run;
    for (int k = 0; k < 3; k++)
      leaf[k] = (osla_double_at){1.5, rank == winner && k == 1 ? -3 : 10 + k};
    OSLA_ASSERT_OK(osla_forest_reduce_begin(forest, unit, leaf, &value, combine, &run));
    OSLA_ASSERT_OK(osla_forest_end(&run));
    int64_t place = winner == size ? -7 : -3;
    if (rank == 0) CU_ASSERT(value.value == 1.5 && value.at == place);
    for (int k = 0; k < 3; k++)
      leaf[k].at = k == 0 ? -100 : 100;
    OSLA_ASSERT_OK(osla_forest_bcast_begin(forest, unit, &value, leaf, combine, &run));
    OSLA_ASSERT_OK(osla_forest_end(&run));
    CU_ASSERT(leaf[0].at == -100 && leaf[1].at == place && leaf[2].at == place);
  }
  OSLA_ASSERT_OK(osla_forest_destroy(&forest));
  osla_transport_destroy(&t);
}

/* Logical combinations give 0 or 1 for any values, also if a broadcast combines them. */
static void test_logical(void)
{
  osla_transport *t = osla_test_transport();
  const osla_root root = {osla_test_size() - 1, 0};
  const osla_unit unit = {OSLA_UNIT_INT32, 4, 0};
  osla_forest *forest = NULL;
  osla_forest_run run;
  OSLA_ASSERT_OK(osla_forest_create(t, 1, 1, NULL, &root, &forest));
  for (int combine = OSLA_LOGICAL_AND; combine <= OSLA_LOGICAL_XOR; combine++) {
    int32_t roots[4] = {0, 0, 256, -5}, leaves[4] = {0, 1 << 20, 0, 77}, expected[4];
    for (int k = 0; k < 4; k++)
      expected[k] = combine == OSLA_LOGICAL_AND  ? leaves[k] && roots[k]
                    : combine == OSLA_LOGICAL_OR ? leaves[k] || roots[k]
                                                 : !leaves[k] != !roots[k];
    OSLA_ASSERT_OK(
      osla_forest_bcast_begin(forest, unit, roots, leaves, (osla_forest_combine)combine, &run));
    OSLA_ASSERT_OK(osla_forest_end(&run));
    CU_ASSERT(memcmp(leaves, expected, sizeof expected) == 0);
    for (int k = 0; k < 4; k++)
      leaves[k] = k % 2 ? -(1 << k) : 0;
    OSLA_ASSERT_OK(
      osla_forest_reduce_begin(forest, unit, leaves, roots, (osla_forest_combine)combine, &run));
    OSLA_ASSERT_OK(osla_forest_end(&run));
    int64_t wide = 0;
    for (int k = 0; k < 4; k++)
      wide += roots[k] != 0 && roots[k] != 1;
    CU_ASSERT(wide == 0 || osla_test_rank() != root.rank);
  }
  OSLA_ASSERT_OK(osla_forest_destroy(&forest));
  osla_transport_destroy(&t);
}

static const osla_test_case cases[] = {
  {"bytes", test_bytes},       {"signed", test_signed},
  {"unsigned", test_unsigned}, {"reals", test_reals},
  {"complex", test_complex},   {"placed", test_placed},
  {"blocks", test_blocks},     {"blocks_found", test_blocks_found},
  {"sizes", test_sizes},       {"ties", test_ties},
  {"logical", test_logical},   {NULL, NULL},
};
OSLA_TEST_SUITE(test_forest_units, cases);
