/* Tests of panels (kernels/common/panels.h) without a kernel. Two kinds of panels of random size
 * are sent in pieces, on every grid and every route. All arriving bytes are checked, which detects
 * a rank that overwrites a panel while another rank still reads it. */
#include "kernels/common/panels.h"
#include "osla_random.h"
#include "src/base/futex.h"
#include "tests/kernels/kernel_reference.h"
#include "tests/osla_test_help.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS = 24, MOST_BYTES = 5000, PIECE = 700, HASTY_STEPS = 5 };

typedef struct player {
  osla_grid *grid;
  osla_panels *panels;
  int stride; /* step from one root to the next for panels along process columns */
  bool readable;
  /* true if position 0 begins late and the other positions do not wait for its first panels */
  bool hasty;
  uint64_t seed;
  _Atomic int64_t there; /* number of steps for which this rank's panels are ready */
  /* [STEPS][2][MOST_BYTES] panels that this rank publishes: in each step one along its row, one
   * along its column */
  unsigned char *own;
} player;

/* Number of this rank's process row or process column, whichever the panels of this kind go
 * along. */
static int line_of(const player *x, panel_kind kind)
{
  return kind == PANEL_ROWS ? osla_grid_prow(x->grid) : 100 + osla_grid_pcol(x->grid);
}

static size_t bytes_of(const void *kernel, panel_kind kind, int64_t step, int root)
{
  const player *x = kernel;
  int length = kind == PANEL_ROWS ? osla_grid_npcol(x->grid) : osla_grid_nprow(x->grid);
  uint64_t bits = osla_random_bits(x->seed + (uint64_t)line_of(x, kind), (uint64_t)step,
                                   (uint64_t)(root + 1000 * (int)kind));
  bool publishes = kind == PANEL_ROWS ? root == step % length : root % x->stride == 0;
  if (x->hasty) return publishes ? MOST_BYTES : 0;
  if (!publishes || bits % 7 == 0) return 0;
  return 1 + (size_t)(bits >> 8) % MOST_BYTES;
}

static unsigned char byte_of(const player *x, panel_kind kind, int64_t step, int root, size_t i)
{
  uint64_t turn = (uint64_t)step * 64 + (uint64_t)root;
  return (unsigned char)osla_random_bits(x->seed ^ (uint64_t)line_of(x, kind), turn, i / 16);
}

static int position(const player *x, panel_kind kind)
{
  return kind == PANEL_ROWS ? osla_grid_pcol(x->grid) : osla_grid_prow(x->grid);
}

static unsigned char *own_at(const player *x, panel_kind kind, int64_t step)
{
  return x->own + (size_t)(2 * step + (kind == PANEL_COLS)) * MOST_BYTES;
}

static bool ready(void *kernel, panel_kind kind, int64_t step, void *room)
{
  const player *x = kernel;
  if (atomic_load(&x->there) <= step) return false;
  if (room) memcpy(room, own_at(x, kind, step), bytes_of(x, kind, step, position(x, kind)));
  return true;
}

static void make_own(player *x, int64_t step)
{
  for (int kind = PANEL_ROWS; kind <= PANEL_COLS; kind++) {
    int me = position(x, (panel_kind)kind);
    size_t bytes = bytes_of(x, (panel_kind)kind, step, me);
    for (size_t i = 0; i < bytes; i++)
      own_at(x, (panel_kind)kind, step)[i] = byte_of(x, (panel_kind)kind, step, me, i);
  }
  atomic_store(&x->there, step + 1);
  osli_panels_progress(x->panels);
}

/* Number of wrong bytes in the panel that this rank got from a root. */
static int64_t compare(player *x, panel_kind kind, int64_t step, int root)
{
  size_t bytes = bytes_of(x, kind, step, root);
  int64_t wrong = 0;
  if (bytes == 0 || root == position(x, kind)) return 0;
  if (x->hasty && step < HASTY_STEPS && position(x, kind) > 0) return 0;
  const unsigned char *at = osli_panels_wait(x->panels, kind, step, root);
  /* NULL is right, because kernels read this panel in the root's memory */
  if (!at) return !x->readable || kind == PANEL_COLS;
  for (size_t i = 0; i < bytes; i++)
    wrong += at[i] != byte_of(x, kind, step, root, i);
  return wrong;
}

static int64_t play(player *x, int look_ahead)
{
  int64_t wrong = 0;
  int64_t made = 0;
  if (x->hasty && osla_grid_pcol(x->grid) == 0) osli_nap(30000);
  for (int64_t step = 0; step < STEPS; step++) {
    for (; made <= step + look_ahead && made < STEPS; made++)
      make_own(x, made);
    for (int root = 0; root < osla_grid_npcol(x->grid); root++)
      wrong += compare(x, PANEL_ROWS, step, root);
    for (int root = 0; root < osla_grid_nprow(x->grid); root++)
      wrong += compare(x, PANEL_COLS, step, root);
    osli_panels_finish(x->panels, step);
  }
  osli_panels_drain(x->panels);
  return wrong;
}

static void check(osla_grid *grid, osla_forward forward, int stride, int look_ahead, bool readable,
                  bool hasty)
{
  osla_transport *t = osla_grid_transport(grid);
  player x = {.grid = grid,
              .stride = stride,
              .readable = readable,
              .hasty = hasty,
              .seed = 11 + (uint64_t)stride};
  osla_panels_plan plan = {.steps = STEPS,
                           .look_ahead = look_ahead,
                           .forward = forward,
                           .piece = PIECE,
                           .readable = readable,
                           .kernel = &x,
                           .bytes = bytes_of,
                           .ready = ready};
  plan.kind[PANEL_ROWS] = (osla_panels_kind){.used = true, .room = MOST_BYTES};
  plan.kind[PANEL_COLS] = (osla_panels_kind){
    .used = true, .in_column = true, .in_buffer = true, .stride = stride, .room = MOST_BYTES};
  x.own = osla_test_allocate(1, (size_t)(2 * STEPS) * MOST_BYTES);
  int64_t wrong = 0;
  delays d;
  delays_begin(&d, t, x.seed);
  if (OSLA_ASSERT_OK(osli_panels_create(grid, &plan, &x.panels)) && osla_grid_prow(grid) >= 0)
    wrong = play(&x, look_ahead);
  delays_end(&d);
  OSLA_ASSERT_MSG(wrong == 0, "%" PRId64 " bytes, way %d, stride %d, look-ahead %d", wrong,
                  (int)forward, stride, look_ahead);
  OSLA_ASSERT_OK(osla_barrier(t)); /* after this barrier no rank reads panels of this rank */
  osli_panels_destroy(&x.panels);
  free(x.own);
}

static void test_every_route(void)
{
  osla_transport *t = osla_test_transport();
  osla_grid *grid;
  for (int g = 0; (grid = kernel_grid(t, g)) != NULL; g++) {
    for (int way = OSLA_FORWARD_CHOSEN; way <= OSLA_FORWARD_TREE; way++) {
      bool readable = (g + way) % 2 == 0;
      check(grid, (osla_forward)way, 1, (g + way) % 3, readable, false);
      check(grid, (osla_forward)way, 2, (g + way + 1) % 3, !readable, false);
    }
    osla_grid_destroy(&grid);
  }
  osla_transport_destroy(&t);
}

/* A rank that does not need a panel does not wait for it, and packs its own panel of a later step
 * into the same buffer. If the unneeded panel arrives late, it must not overwrite this buffer. */
static void test_unread(void)
{
  osla_transport *t = osla_test_transport();
  osla_grid *grid;
  OSLA_ASSERT_OK(osla_grid_create(t, 1, osla_test_size(), &grid));
  for (int look_ahead = 0; look_ahead <= 2; look_ahead++)
    for (int way = OSLA_FORWARD_CHOSEN; way <= OSLA_FORWARD_TREE; way++)
      check(grid, (osla_forward)way, 1, look_ahead, false, true);
  osla_grid_destroy(&grid);
  osla_transport_destroy(&t);
}

static const osla_test_case cases[] = {
  {"every_route", test_every_route}, {"unread", test_unread}, {NULL, NULL}};
OSLA_TEST_SUITE(test_panels, cases);
