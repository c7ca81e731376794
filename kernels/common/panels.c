#include "kernels/common/panels_state.h"
#include "src/memory/segment.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
  /* Number of sets of buffers in addition to the look_ahead + 1 sets that a rank needs for its own
   * steps, because a rank that forwards a panel, and other ranks of its node, may still use panels
   * of the two preceding steps. */
  BEHIND = 2,
  ALIGN = 64, /* alignment of panels in a set of buffers, in bytes */
  PIECE_BYTES = 256 << 10
};

/* ---- set-up ---- */

static bool make_lines(osla_panels *p, const osla_grid *grid)
{
  int nprow = osla_grid_nprow(grid), npcol = osla_grid_npcol(grid);
  int prow = osla_grid_prow(grid), pcol = osla_grid_pcol(grid), size = osla_transport_size(p->t);
  int rows = p->plan.column_rows > 0 ? p->plan.column_rows : nprow;
  int longest = nprow > npcol ? nprow : npcol;
  int *ranks = calloc((size_t)longest, sizeof *ranks);
  int *nodes = calloc((size_t)size, sizeof *nodes);
  bool complete = ranks && nodes;
  for (int rank = 0; complete && rank < size; rank++)
    nodes[rank] = osla_transport_node_of(p->t, rank);
  for (int i = 0; complete && i < npcol; i++)
    ranks[i] = osla_grid_rank_at(grid, prow, i);
  complete = complete && osli_line_make(&p->row, npcol, pcol, ranks, nodes);
  for (int i = 0; complete && i < rows; i++)
    ranks[i] = osla_grid_rank_at(grid, i, pcol);
  complete = complete && osli_line_make(&p->column, rows, prow, ranks, nodes);
  free(ranks);
  free(nodes);
  return complete;
}

/* Largest number of puts of one step that can be in flight: each piece of a panel, to each node
 * that receives it. */
static size_t most_posts(osla_panels *p)
{
  size_t most = 0;
  for (int kind = 0; kind < PANEL_KINDS; kind++) {
    const osla_panels_kind *k = &p->plan.kind[kind];
    const osla_line *line = panel_line(p, kind);
    size_t stations = line->nodes > 1 ? (size_t)line->nodes - 1 : 0;
    size_t roots = k->stride > 0 ? (size_t)((line->length + k->stride - 1) / k->stride) : 1;
    if (!k->used) continue;
    /* number of children of the root of a binomial tree; the root of a ring has one child */
    size_t deep = 0;
    while (((size_t)1 << deep) <= stations)
      deep++;
    osla_route forwarded = {.forward = OSLA_FORWARD_RING};
    size_t pieces = deep * (size_t)osli_panels_pieces(p, &forwarded, k->room);
    most += roots * (pieces > stations ? pieces : stations);
  }
  return most;
}

static osla_err make_work(osla_panels *p, const osla_grid *grid)
{
  bool complete = true;
  if (p->active) complete = make_lines(p, grid);
  for (int kind = 0; kind < PANEL_KINDS && p->active && complete; kind++) {
    int length = panel_line(p, kind)->length;
    p->cursor[kind].targets = calloc((size_t)length + 1, sizeof(int));
    complete = p->cursor[kind].targets;
  }
  if (p->active && complete && p->set > 0) {
    p->most = (int)most_posts(p);
    p->posted = calloc((size_t)p->depth * (size_t)p->most + 1, sizeof *p->posted);
    complete = p->posted;
  }
  p->n_posted = calloc((size_t)p->depth, sizeof *p->n_posted);
  complete = complete && p->n_posted;
  return complete ? OSLA_OK : osla_error_set(OSLA_ERR_MEM, "routes of panels");
}

/* Sets the offset of each kind of panel in a set of buffers. A set has the same size on all ranks,
 * because the roots of a kind of panel may be at any position of a process row or column. */
static void lay_out(osla_panels *p, int nprow, int npcol, bool far)
{
  for (int kind = 0; kind < PANEL_KINDS; kind++) {
    osla_panels_kind *k = &p->plan.kind[kind];
    int length = k->in_column ? nprow : npcol;
    size_t regions = k->stride > 0 ? (size_t)((length + k->stride - 1) / k->stride) : 1;
    if (!k->used || (!far && p->plan.readable && !k->in_buffer)) continue;
    k->room = (k->room + ALIGN - 1) / ALIGN * ALIGN;
    p->start[kind] = p->set;
    p->set += regions * k->room;
  }
}

static int64_t depth_of(const osla_panels_plan *plan)
{
  return plan->look_ahead + 1 + BEHIND;
}

static int smaller(int x, int y)
{
  return x < y ? x : y;
}

uint64_t osli_panels_memory(const osla_panels_plan *plan, const osla_shape *s)
{
  osla_panels p = {.plan = *plan,
                   .row = {.length = s->npcol, .nodes = smaller(s->npcol, s->nodes)},
                   .column = {.length = s->nprow, .nodes = smaller(s->nprow, s->nodes)}};
  if (plan->piece == 0) p.plan.piece = PIECE_BYTES;
  lay_out(&p, s->nprow, s->npcol, s->nodes > 1);
  uint64_t depth = (uint64_t)depth_of(plan), lines = (uint64_t)s->nprow + (uint64_t)s->npcol;
  uint64_t posts = p.set > 0 ? depth * most_posts(&p) : 0;
  int origins = s->nprow + s->npcol + s->per_node;
  return osla_segment_footprint(p.set * depth, PANEL_PURPOSES, origins) +
         posts * sizeof(osla_posted) + lines * 8 * sizeof(int);
}

osla_err osli_panels_create(osla_grid *grid, const osla_panels_plan *plan, osla_panels **out)
{
  osla_transport *t = osla_grid_transport(grid);
  osla_err err = OSLA_OK;
  void *memory;
  *out = NULL;
  OSLA_CALL(osli_agree_calloc(t, sizeof(osla_panels), "state of panels", &memory));
  osla_panels *p = *out = memory;
  p->plan = *plan;
  if (plan->piece == 0) p->plan.piece = PIECE_BYTES;
  p->t = t;
  p->active = osla_grid_prow(grid) >= 0 &&
              (plan->column_rows == 0 || osla_grid_prow(grid) < plan->column_rows);
  p->depth = depth_of(plan);
  (void)pthread_mutex_init(&p->routing, NULL);
  lay_out(p, osla_grid_nprow(grid), osla_grid_npcol(grid), osla_transport_n_nodes(t) > 1);
  OSLA_TRY(osla_agree(t, make_work(p, grid)));
  osla_notifiers mates = osla_grid_notifiers(grid);
  OSLA_TRY(osli_segment_create_on(t, p->set > 0 ? plan->device : NULL, p->set * (size_t)p->depth,
                                  PANEL_PURPOSES, &mates, &p->segment));
  if (p->set > 0) {
    err = osla_progress_add(t, osli_panels_step, p);
    p->hooked = err == OSLA_OK;
    OSLA_TRY(osla_agree(t, err));
  }
  return OSLA_OK;
cleanup:
  osli_panels_destroy(out);
  return err;
}

void osli_panels_destroy(osla_panels **handle)
{
  osla_panels *p = handle ? *handle : NULL;
  if (!p) return;
  if (p->hooked) osla_progress_remove(p->t, osli_panels_step, p);
  osla_segment_destroy(&p->segment);
  for (int kind = 0; kind < PANEL_KINDS; kind++)
    free(p->cursor[kind].targets);
  osli_line_free(&p->row);
  osli_line_free(&p->column);
  free(p->posted);
  free(p->n_posted);
  (void)pthread_mutex_destroy(&p->routing);
  free(p);
  *handle = NULL;
}

/* ---- functions that kernels call ---- */

osla_transport *osli_panels_transport(const osla_panels *p)
{
  return p->t;
}

bool osli_panels_forwards(const osla_panels *p)
{
  return p->hooked;
}

void osli_panels_progress(osla_panels *p)
{
  if (p->hooked)
    osla_progress(p->t);
  else
    osli_panels_step(p);
}

/* Notification by which this rank learns that the panel of a root has arrived: the rank that
 * sends it, and the expected value of that rank's notify slot. */
typedef struct arrival {
  int origin; /* rank that notifies this rank */
  uint64_t value;
  const void *at;
} arrival;

static arrival arrival_of(osla_panels *p, panel_kind kind, int64_t step, int root)
{
  const osla_panels_kind *k = &p->plan.kind[kind];
  const osla_line *line = panel_line(p, kind);
  size_t bytes = p->plan.bytes(p->plan.kernel, kind, step, root);
  osla_route route = osli_panels_route(p, kind, root, bytes, NULL);
  int notifier = route.reads == line->me ? route.writer : route.reads;
  bool in_place = route.reads == root && p->plan.readable && !k->in_buffer;
  arrival a = {.origin = line->ranks[notifier]};
  a.value = osli_panels_value(p, kind, step, root, notifier, PANEL_MOST_PIECES);
  if (!in_place)
    a.at = (unsigned char *)osla_segment_peer(p->segment, line->ranks[route.reads]) +
           osli_panels_offset(p, kind, step, root);
  return a;
}

const void *osli_panels_wait(osla_panels *p, panel_kind kind, int64_t step, int root)
{
  arrival a = arrival_of(p, kind, step, root);
  osla_notify_wait(p->segment, a.origin, (int)kind, a.value);
  return a.at;
}

bool osli_panels_has_arrived(osla_panels *p, panel_kind kind, int64_t step, int root,
                             const void **at)
{
  arrival a = arrival_of(p, kind, step, root);
  *at = a.at;
  return osla_notify_read(p->segment, a.origin, (int)kind) >= a.value;
}

typedef struct awaited_count {
  _Atomic int64_t *count;
  int64_t step;
} awaited_count;

static bool is_counted(void *arg)
{
  const awaited_count *c = arg;
  return atomic_load(c->count) > c->step;
}

void osli_panels_wait_count(osla_panels *p, _Atomic int64_t *count, int64_t step)
{
  awaited_count c = {count, step};
  osli_panels_progress(p);
  osla_segment_wait(p->segment, is_counted, &c);
}

void osli_panels_finish(osla_panels *p, int64_t step)
{
  /* complete queued work first: as soon as p->finished has changed, other ranks may overwrite
   * buffers that the work reads */
  if (p->set > 0) osli_device_settle_kept(SETTLE_NOTIFY);
  atomic_store(&p->finished, step + 1);
  osli_panels_progress(p);
}

static bool all_sent(void *panels)
{
  osla_panels *p = panels;
  return atomic_load(&p->all_sent);
}

void osli_panels_drain(osla_panels *p)
{
  osli_panels_progress(p);
  if (p->active) osla_segment_wait(p->segment, all_sent, p);
}

osla_err osli_panels_notify_rank(osla_panels *p, int64_t step, int rank)
{
  return osla_notify(p->segment, rank, PANEL_PURPOSE_RANK, (uint64_t)step + 1);
}

void osli_panels_wait_rank(osla_panels *p, int64_t step, int origin)
{
  osla_notify_wait(p->segment, origin, PANEL_PURPOSE_RANK, (uint64_t)step + 1);
}

bool osli_panels_rank_has_notified(const osla_panels *p, int64_t step, int origin)
{
  return osla_notify_read(p->segment, origin, PANEL_PURPOSE_RANK) >= (uint64_t)step + 1;
}

/* ---- tiles ---- */

/* Returns the side of a tile, which minimises the sum of two costs. While a rank computes a tile it
 * forwards no panel, so each node of a ring adds half a tile's time to a step, in proportion to
 * side^2. Smaller tiles make BLAS copy their operands more often, in proportion to 1 / side. The
 * minimum is at side^3 = TIMES * (elements of the product). Simulated LU on 16 to 256 ranks changes
 * by at most 1 % between TIMES = 20 and 80. */
static const double TIMES = 80;
enum { UNIT = 16, LEAST = 256 };

/* Returns the length of the parts, a multiple of UNIT, when `length` is divided into nearly equal
 * parts of about `most`. */
static int64_t divide_evenly(int64_t length, double most)
{
  double parts = ceil((double)length / most);
  return ((int64_t)((double)length / parts) + UNIT) / UNIT * UNIT;
}

osla_tile osli_tile_choose(const osla_panels *panels, int64_t rows, int64_t cols)
{
  double all = (double)rows * (double)cols, side = fmax(cbrt(TIMES * all), LEAST);
  if (!osli_panels_forwards(panels) || side * side >= all) return (osla_tile){rows, cols};
  if ((double)rows <= side)
    return (osla_tile){rows, divide_evenly(cols, side * side / (double)rows)};
  if ((double)cols <= side)
    return (osla_tile){divide_evenly(rows, side * side / (double)cols), cols};
  return (osla_tile){divide_evenly(rows, side), divide_evenly(cols, side)};
}
