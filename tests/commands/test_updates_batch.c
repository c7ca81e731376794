/* Tests that layouts of updates from a damaged process are rejected
 * (tools/assemble/updates_batch.h). */
#include "osla_random.h"
#include "tests/osla_test_help.h"
#include "tools/assemble/updates_batch.h"

#include <stdlib.h>
#include <string.h>

/* layout of two panels with k = 2 data: the first has three indices, the second one index */
static const updates_layout panels = {
  .count = 2, .k = 2, .indices = 4, .values = 8, .element = 4, .w = true, .g = true};
static const int64_t panel_offsets[] = {5, 8, 9};
/* layout of two blocks: the first has two indices, the second three */
static const updates_layout blocks = {.count = 2, .indices = 5, .values = 13, .element = 8};
static const int64_t block_offsets[] = {0, 2, 5};

static void test_place(void)
{
  static int64_t words[19];
  updates_batch b = {.memory = {.start = words, .room = sizeof words}};
  const int64_t bytes = updates_layout_bytes(&panels);
  /* offset, ix, g, w in 8 bytes each, G in single precision */
  CU_ASSERT(bytes == 8 * (3 + 4 + 4 + 4) + 8 * 4);
  CU_ASSERT(bytes == (int64_t)sizeof words);
  updates_layout_assign(&panels, &b);
  CU_ASSERT(b.count == 2 && b.k == 2 && !b.r);
  CU_ASSERT(b.offset == words && b.ix == words + 3 && b.g == (double *)words + 7);
  CU_ASSERT(b.w == (double *)words + 11 && b.values == words + 15);
  CU_ASSERT(updates_layout_bytes(&blocks) == 8 * (3 + 5 + 13));
}

static void test_room(void)
{
  const int64_t bytes = updates_layout_bytes(&panels);
  CU_ASSERT(updates_layout_fits(&panels, 2, 4, bytes));
  CU_ASSERT(updates_layout_fits(&panels, 9, 4, bytes + 1));
  /* the layout has more updates than requested */
  CU_ASSERT(!updates_layout_fits(&panels, 1, 4, bytes));
  CU_ASSERT(!updates_layout_fits(&panels, 2, 8, bytes));
  CU_ASSERT(!updates_layout_fits(&panels, 2, 4, bytes - 1));
  CU_ASSERT(updates_layout_fits(&blocks, 2, 8, updates_layout_bytes(&blocks)));
}

/* Replaces each number of the layout in turn by a hostile value; the checks must reject it. */
static void test_hostile_sizes(void)
{
  static const int64_t hostile[] = {
    -1,        0,         INT64_MIN,       INT64_MAX, INT64_MAX / 2, INT64_MAX / 8,
    1LL << 62, 1LL << 61, (1LL << 61) + 1, 1LL << 32, 1LL << 31,     -(1LL << 61)};
  const int64_t bytes = updates_layout_bytes(&panels);
  for (size_t i = 0; i < sizeof hostile / sizeof *hostile; i++) {
    for (int which = 0; which < 4; which++) {
      updates_layout l = panels;
      int64_t *number[] = {&l.count, &l.k, &l.indices, &l.values};
      *number[which] = hostile[i];
      bool taken =
        updates_layout_fits(&l, INT64_MAX, 4, bytes) && updates_layout_agrees(&l, panel_offsets);
      OSLA_ASSERT_MSG(!taken, "number %d is %lld, and it is taken", which, (long long)hostile[i]);
    }
    CU_ASSERT(hostile[i] >= bytes || !updates_layout_fits(&panels, 2, 4, hostile[i]));
  }
}

/* Tests a hostile k in a layout without indices, because k also determines the size of w and r. */
static void test_hostile_rows(void)
{
  const int64_t offset[] = {7, 7};
  updates_layout l = {.count = 1, .k = 3, .element = 8};
  CU_ASSERT(updates_layout_fits(&l, 1, 8, 64) && updates_layout_agrees(&l, offset));
  l.k = INT64_C(1) << 61;
  CU_ASSERT(!updates_layout_fits(&l, 1, 8, 64));
  l.k = 3;
  l.g = 2;
  CU_ASSERT(!updates_layout_fits(&l, 1, 8, 64));
}

static void refuse_offsets(const updates_layout *l, int64_t a, int64_t b, int64_t c)
{
  const int64_t offset[] = {a, b, c};
  OSLA_ASSERT_MSG(!updates_layout_agrees(l, offset), "%lld %lld %lld are taken", (long long)a,
                  (long long)b, (long long)c);
}

static void test_hostile_offsets(void)
{
  CU_ASSERT(updates_layout_agrees(&panels, panel_offsets));
  CU_ASSERT(updates_layout_agrees(&blocks, block_offsets));
  refuse_offsets(&panels, -1, 2, 3);
  refuse_offsets(&panels, 5, 4, 9);
  refuse_offsets(&panels, 5, 10, 9);
  refuse_offsets(&panels, 5, 8, 10);
  refuse_offsets(&panels, 5, INT64_MAX, 9);
  refuse_offsets(&blocks, 0, 1, 5); /* these blocks have 1 + 16 elements, but the layout says 13 */
  refuse_offsets(&blocks, 0, 1LL << 32, 5);
  refuse_offsets(&blocks, 0, INT64_MAX, INT64_MAX);
}

/* Tests that the arrays of every random layout that passes the checks lie in the memory of the
 * batch. */
static void test_random(void)
{
  int taken = 0;
  for (uint64_t i = 0; i < 20000; i++) {
    int64_t number[5];
    for (uint64_t n = 0; n < 5; n++)
      number[n] = (int64_t)(osla_random_bits(7, i, n) % 7);
    const updates_layout l = {.count = number[0],
                              .k = number[1],
                              .indices = number[2],
                              .values = number[3],
                              .element = 8,
                              .r = i & 1};
    int64_t room = 64 * number[4], *memory = calloc((size_t)room + 8, 1);
    updates_batch b = {.memory = {.start = memory, .room = room}};
    if (memory && updates_layout_fits(&l, 6, 8, room)) {
      updates_layout_assign(&l, &b);
      memset(b.offset, 0, (size_t)(l.count + 1) * 8);
      memset(b.ix, 0, (size_t)l.indices * 8);
      if (b.r) memset(b.r, 0, (size_t)(l.count * l.k) * 8);
      memset(b.values, 0, (size_t)l.values * 8);
      taken++;
      CU_ASSERT((char *)b.values + l.values * 8 <= (char *)memory + room);
    }
    free(memory);
  }
  CU_ASSERT(taken > 1000);
}

static const osla_test_case cases[] = {{"place", test_place},
                                       {"room", test_room},
                                       {"hostile_sizes", test_hostile_sizes},
                                       {"hostile_rows", test_hostile_rows},
                                       {"hostile_offsets", test_hostile_offsets},
                                       {"random", test_random},
                                       {NULL, NULL}};
OSLA_TEST_SUITE(test_updates_batch, cases);
