/* Sends large panels (kernels/common/panels.h) from one rank to all others of its process row, on
 * the flat, ring and tree routes, and reports the number of copies that leave the root's node and
 * the time. OSLA_TEST_LINE may be set on hosts whose links are slower than memory; the ring must
 * then be twice as fast as the flat route. Functions of this file with names of MPI functions count
 * the calls.
 */
#include "kernels/common/panels.h"
#include "osla_clock.h"
#include "tests/kernels/kernel_reference.h"
#include "tests/osla_test_help.h"

#include <mpi.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS = 8, PANEL_BYTES = 4 << 20 };

static _Atomic long long bytes_sent;

int MPI_Isend(const void *buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
              MPI_Request *request)
{
  atomic_fetch_add(&bytes_sent, type == MPI_BYTE ? count : 0);
  return PMPI_Isend(buffer, count, type, to, tag, comm, request);
}

int MPI_Rput(const void *source, int count, MPI_Datatype type, int target, MPI_Aint disp,
             int target_count, MPI_Datatype target_type, MPI_Win win, MPI_Request *request)
{
  atomic_fetch_add(&bytes_sent, count);
  return PMPI_Rput(source, count, type, target, disp, target_count, target_type, win, request);
}

typedef struct player {
  int me, length;
  _Atomic int64_t there; /* number of steps for which this rank's panel is ready to be sent */
  unsigned char *own;
} player;

static size_t bytes_of(const void *kernel, panel_kind kind, int64_t step, int root)
{
  const player *x = kernel;
  (void)kind;
  return root == step % x->length ? PANEL_BYTES : 0;
}

static bool ready(void *kernel, panel_kind kind, int64_t step, void *room)
{
  const player *x = kernel;
  (void)kind;
  if (atomic_load(&x->there) <= step) return false;
  if (room) memcpy(room, x->own, PANEL_BYTES);
  return true;
}

/* Number of panels that left the root's node in one step, and seconds until all ranks had received
 * the panel; both are means over the steps. */
typedef struct result {
  double panels, seconds;
} result;

static bool take_step(osla_panels *panels, player *x, int64_t step, result *sum)
{
  osla_transport *t = osli_panels_transport(panels);
  int root = (int)(step % x->length);
  OSLA_ASSERT_OK(osla_barrier(t));
  long long before = bytes_sent;
  double start = osla_clock();
  if (x->me == root) {
    memset(x->own, (int)step + 1, PANEL_BYTES);
    atomic_store(&x->there, step + 1);
    osli_panels_progress(panels);
  }
  const unsigned char *at =
    x->me == root ? x->own : osli_panels_wait(panels, PANEL_ROWS, step, root);
  bool right = at && at[0] == step + 1 && at[PANEL_BYTES - 1] == step + 1;
  OSLA_ASSERT_OK(osla_barrier(t));
  double mine[2] = {osla_clock() - start, x->me == root ? (double)(bytes_sent - before) : 0};
  OSLA_ASSERT_OK(osla_allreduce(t, mine, 2, MPI_DOUBLE, MPI_MAX));
  sum->seconds += mine[0] / STEPS;
  sum->panels += mine[1] / PANEL_BYTES / STEPS;
  osli_panels_finish(panels, step);
  return right;
}

static result publish(osla_grid *grid, osla_forward forward)
{
  player x = {.me = osla_grid_pcol(grid), .length = osla_grid_npcol(grid)};
  osla_panels_plan plan = {.steps = STEPS,
                           .forward = forward,
                           .readable = false,
                           .kernel = &x,
                           .bytes = bytes_of,
                           .ready = ready};
  plan.kind[PANEL_ROWS] = (osla_panels_kind){.used = true, .room = PANEL_BYTES};
  osla_panels *panels = NULL;
  result sum = {0, 0};
  int wrong = 0;
  x.own = osla_test_allocate(1, PANEL_BYTES);
  if (OSLA_ASSERT_OK(osli_panels_create(grid, &plan, &panels)))
    for (int64_t step = 0; step < STEPS; step++) {
      if (x.me != step % x.length) x.there = step + 1;
      wrong += !take_step(panels, &x, step, &sum);
    }
  if (panels) osli_panels_drain(panels);
  OSLA_ASSERT_MSG(wrong == 0, "way %d: %d panels are wrong", (int)forward, wrong);
  osli_panels_destroy(&panels);
  free(x.own);
  return sum;
}

static void test_what_leaves(void)
{
  osla_transport *t = osla_test_transport();
  osla_grid *grid = NULL;
  int size = osla_test_size(), nodes = osla_transport_n_nodes(t);
  if (!OSLA_ASSERT_OK(osla_grid_create(t, 1, size, &grid))) return;
  result flat = publish(grid, OSLA_FORWARD_FLAT), ring = publish(grid, OSLA_FORWARD_RING);
  result tree = publish(grid, OSLA_FORWARD_TREE), chosen = publish(grid, OSLA_FORWARD_CHOSEN);
  if (osla_test_rank() == 0)
    (void)printf("panels of 4 MiB, %d nodes: flat %.2f leave in %.1f ms, ring %.2f in %.1f, tree "
                 "%.2f in %.1f, chosen %.2f in %.1f\n",
                 nodes, flat.panels, 1e3 * flat.seconds, ring.panels, 1e3 * ring.seconds,
                 tree.panels, 1e3 * tree.seconds, chosen.panels, 1e3 * chosen.seconds);
  double others = nodes - 1, few = nodes > 1 ? 1.3 : 0.01;
  OSLA_ASSERT_MSG(flat.panels < 1.05 * others + 0.01, "%g panels leave", flat.panels);
  OSLA_ASSERT_MSG(ring.panels < few, "%g panels leave in a ring", ring.panels);
  OSLA_ASSERT_MSG(chosen.panels < few, "%g panels leave as is chosen", chosen.panels);
  if (getenv("OSLA_TEST_LINE") && nodes > 3)
    OSLA_ASSERT_MSG(2 * chosen.seconds < flat.seconds, "%g s as is chosen, %g flat", chosen.seconds,
                    flat.seconds);
  osla_grid_destroy(&grid);
  osla_transport_destroy(&t);
}

static const osla_test_case cases[] = {{"what leaves a node", test_what_leaves}, {NULL, NULL}};
OSLA_TEST_SUITE(test_forward, cases);
