/* The plan of a multiplication: segments of k in this rank's order, joined into tasks, and the
 * loads that the tasks need (Krishnan et al., section III.A, steps 1 to 3).
 *
 * Segments are ordered by three criteria. Segments that this rank can read in place come first, so
 * that loads of the other segments are transferred meanwhile. Both groups of segments are ordered
 * by owner. The ranks of a process row or column begin with different owners, so that they do not
 * ask the same owner at the same time. Segments of one owner are ordered by k. Segments with only
 * one operand in place get no priority: otherwise all nodes of a process row would begin at the
 * same owner, which halved the rate on 128 simulated nodes. */
#include "kernels/gemm/gemm.h"
#include "src/device/device.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum {
  /* Width of the panels that are copied at once. It is large enough for BLAS to run near its peak,
   * and so small that panels need little memory beside the operands. */
  PANEL = 256,
  /* Least width of blocks that are multiplied one by one. Narrower blocks that are not contiguous
   * are packed together; for wider blocks, packing takes longer than separate products. */
  PACK_BELOW = 64
};
/* Buffers below this number of bytes may exceed 2.5 local blocks of the operands. */
static const uint64_t SMALL = 1 << 20;

/* --- buffers --- */

/* Largest number of elements in one column of a load from process group g. */
static int64_t widest_ld(const gemm_operand *x, int g, int64_t rows)
{
  int64_t most = 0;
  for (int owner = 0; owner < x->inner.nprocs; owner++) {
    int64_t ld = gemm_buffer_ld(x, gemm_rank(x, g, owner), rows);
    if (x->far[owner] && ld > most) most = ld;
  }
  return most;
}

/* Returns the length of the longest of the ranges of local indices lo .. hi - 1 in x->owners. */
static int64_t most_inner(const gemm_operand *x)
{
  int64_t most = 0;
  for (int owner = 0; owner < x->inner.nprocs; owner++) {
    const int64_t count = x->owners[owner].hi - x->owners[owner].lo;
    if (count > most) most = count;
  }
  return most;
}

/* Sets the offsets in a load's buffer for panels of width w->width. */
static void lay_out(gemm_operand *x, const gemm_work *w)
{
  int64_t at = 0;
  if (x->panel) {
    for (int g = 0; g < x->n_groups; g++) {
      x->groups[g].base = at;
      at += widest_ld(x, g, x->groups[g].hi - x->groups[g].lo);
    }
    at *= w->width;
  } else {
    int64_t rows = most_inner(x);
    if (!x->whole && w->width < rows) rows = w->width;
    for (int64_t p = 0; p < x->n_pieces; p++) {
      x->pieces[p].base = at;
      at += x->pieces[p].size * widest_ld(x, x->pieces[p].group, rows);
    }
  }
  x->load_bytes = x->any_far ? (uint64_t)at * x->v.element : 0;
}

static uint64_t buffers_needed(gemm_work *w)
{
  uint64_t bytes = 0, slots = (uint64_t)gemm_n_slots(w);
  for (int i = 0; i < 2; i++) {
    gemm_operand *x = &w->x[i];
    lay_out(x, w);
    bytes += slots * x->load_bytes;
    if (x->may_pack) bytes += (uint64_t)(gemm_outer_count(x) * w->width) * w->element;
  }
  return bytes;
}

/* Limit of the buffers' bytes: 2.5 local blocks of the operands, whose size in bytes is
 * `blocks`. */
static uint64_t most_memory(double blocks)
{
  return 2.5 * blocks < (double)SMALL ? SMALL : (uint64_t)(2.5 * blocks);
}

/* Limit of the buffers' bytes if the operands were distributed evenly. With layers, a rank needs
 * the blocks of several process rows and columns at once. */
static uint64_t usual_memory(const gemm_work *w)
{
  double bytes = 0;
  for (int i = 0; i < 2; i++) {
    const gemm_operand *x = &w->x[i];
    bytes += x->n_shares * (double)x->outer.n * (double)x->inner.n * (double)w->element /
             ((double)x->outer.nprocs * x->inner.nprocs);
  }
  return most_memory(bytes);
}

/* Halves w->width from `widest` until the buffers fit into `most` bytes, but not below `least`.
 * Returns whether they fit. */
static bool width_fits(gemm_work *w, uint64_t most, int64_t widest, int64_t least)
{
  w->width = widest;
  while (buffers_needed(w) > most && w->width > least)
    w->width = (w->width + 1) / 2;
  return buffers_needed(w) <= most;
}

/* Chooses the panel width, and whether strips are loaded whole, so that the buffers fit into
 * memory. */
static void fit_memory(gemm_work *w)
{
  gemm_operand *a = &w->x[GEMM_A], *b = &w->x[GEMM_B];
  uint64_t most = w->options.memory > 0 ? w->options.memory - w->sum_bytes : usual_memory(w);
  int64_t widest = w->options.panel > 0 ? w->options.panel : PANEL;
  for (int i = 0; i < 2; i++) {
    gemm_operand *x = &w->x[i];
    int64_t inner = most_inner(x);
    x->whole = !x->panel;
    x->may_pack = !x->contiguous || (x->inner.nb < PACK_BELOW && x->inner.nprocs > 1);
    if (widest > inner) widest = inner > 0 ? inner : 1;
  }
  if (width_fits(w, most, widest, PACK_BELOW)) return;
  if (a->whole && b->whole) {
    *(a->load_bytes > b->load_bytes ? &a->whole : &b->whole) = false;
    if (width_fits(w, most, widest, PACK_BELOW)) return;
  }
  a->whole = b->whole = false;
  (void)width_fits(w, most, widest, 1);
}

/* --- segments --- */

/* Returns the index k at position `at` of the order of all k (osli_gemm_layers_order). */
static int64_t k_at(const gemm_work *w, int64_t at)
{
  const gemm_axis *order = osli_gemm_layers_order(w);
  int owner = 0;
  if (!order) return at;
  for (int64_t count; (count = axis_owned(order, owner)) <= at; owner++)
    at -= count;
  const int64_t local = axis_below(order, 0, owner) + at;
  return osla_index_global(local, order->nb, owner, order->nprocs) - order->first;
}

/* Returns the longest segment that begins at position `at` of the order of all k: at most `widest`
 * indices k that follow one another and of which each operand has one owner. Such indices also
 * follow one another in the order of all k. */
static gemm_segment segment_at(const gemm_work *w, int64_t at, int64_t widest)
{
  const int64_t k = k_at(w, at);
  gemm_segment s = {.start = k, .size = w->k_to - at};
  for (int i = 0; i < 2; i++) {
    int64_t run = axis_run(&w->x[i].inner, k);
    if (run < s.size) s.size = run;
    s.owner[i] = axis_owner(&w->x[i].inner, k);
    s.local[i] = axis_local(&w->x[i].inner, k);
  }
  if (s.size > widest) s.size = widest;
  return s;
}

/* Sets lo and hi of each owner of both operands. */
static void set_ranges(gemm_work *w)
{
  if (w->c.rows == 0 || w->c.cols == 0) return;
  for (int64_t at = w->k_from; at < w->k_to;) {
    const gemm_segment s = segment_at(w, at, INT64_MAX);
    for (int i = 0; i < 2; i++) {
      gemm_owner *owner = &w->x[i].owners[s.owner[i]];
      if (owner->hi == 0 || s.local[i] < owner->lo) owner->lo = s.local[i];
      if (s.local[i] + s.size > owner->hi) owner->hi = s.local[i] + s.size;
    }
    at += s.size;
  }
}

static osla_err make_segments(gemm_work *w)
{
  const int64_t widest = w->limited ? w->width : INT64_MAX;
  int64_t count = 0;
  if (w->c.rows == 0 || w->c.cols == 0) return OSLA_OK;
  for (int64_t at = w->k_from; at < w->k_to; count++)
    at += segment_at(w, at, widest).size;
  w->segments = malloc((size_t)count * sizeof *w->segments + 1);
  w->tasks = malloc((size_t)count * sizeof *w->tasks + 1);
  OSLA_CHECK(w->segments && w->tasks, OSLA_ERR_MEM, "%s: list of %" PRId64 " segments", w->call,
             count);
  for (int64_t at = w->k_from; at < w->k_to; at += w->segments[w->n_segments++].size)
    w->segments[w->n_segments] = segment_at(w, at, widest);
  return OSLA_OK;
}

/* --- order --- */

typedef struct keyed {
  int outside, turn_major, turn_minor;
  gemm_segment segment;
} keyed;

static int compare(const void *a, const void *b)
{
  const keyed *x = a, *y = b;
  if (x->outside != y->outside) return x->outside - y->outside;
  if (x->turn_major != y->turn_major) return x->turn_major - y->turn_major;
  if (x->turn_minor != y->turn_minor) return x->turn_minor - y->turn_minor;
  return x->segment.start < y->segment.start ? -1 : x->segment.start > y->segment.start;
}

/* Sets the order in which this rank visits the owners of the indices k that it multiplies. */
static void set_turns(gemm_work *w, int which)
{
  const int shift = w->ablation.unshifted && w->c.pcol >= 0 ? w->c.pcol : w->diagonal;
  gemm_operand *x = &w->x[which];
  const int nprocs = x->inner.nprocs, first = w->n_segments > 0 ? w->segments[0].owner[which] : 0;
  int n_owners = 0;
  for (int i = 0; i < nprocs; i++)
    n_owners += x->owners[i].lo < x->owners[i].hi;
  for (int i = 0, at = 0; i < nprocs; i++) {
    gemm_owner *owner = &x->owners[(first + i) % nprocs];
    if (owner->lo == owner->hi) continue;
    const int mine = w->ablation.unordered ? 0 : shift % n_owners;
    owner->turn = (at++ - mine + n_owners) % n_owners;
  }
}

static osla_err sort_segments(gemm_work *w)
{
  keyed *list = malloc((size_t)w->n_segments * sizeof *list + 1);
  OSLA_CHECK(list, OSLA_ERR_MEM, "%s: %" PRId64 " keys", w->call, w->n_segments);
  /* Loads of whole strips are large, so all tasks that need the same load are consecutive. */
  int major = w->x[GEMM_B].panel && !w->x[GEMM_A].panel ? GEMM_A : GEMM_B, minor = 1 - major;
  for (int64_t i = 0; i < w->n_segments; i++) {
    const gemm_segment *s = &w->segments[i];
    bool outside[2] = {w->x[GEMM_A].outside[s->owner[GEMM_A]],
                       w->x[GEMM_B].outside[s->owner[GEMM_B]]};
    list[i] = (keyed){.outside = outside[GEMM_A] || outside[GEMM_B],
                      .turn_major = w->x[major].owners[s->owner[major]].turn,
                      .turn_minor = w->x[minor].owners[s->owner[minor]].turn,
                      .segment = *s};
  }
  qsort(list, (size_t)w->n_segments, sizeof *list, compare);
  for (int64_t i = 0; i < w->n_segments; i++)
    w->segments[i] = list[i].segment;
  free(list);
  return OSLA_OK;
}

/* --- tasks and loads --- */

/* Adds the segment to the task if one local product can take both. Returns whether it did. */
static bool join_segment(const gemm_work *w, gemm_task *task, const gemm_segment *s)
{
  const gemm_segment *last = &w->segments[task->first + task->count - 1];
  bool direct[2];
  if (w->ablation.narrow) return false;
  for (int i = 0; i < 2; i++) {
    const gemm_operand *x = &w->x[i];
    bool continues = last->local[i] + last->size == s->local[i];
    bool loaded = x->far[s->owner[i]];
    if (s->owner[i] != last->owner[i]) return false;
    /* a load of a strip is a single range of rows */
    if (loaded && !x->panel && !x->whole && !continues) return false;
    direct[i] = task->direct[i] && (continues || (loaded && x->panel));
    if (task->direct[i] && !direct[i] && (!x->may_pack || task->width >= PACK_BELOW)) return false;
  }
  bool bounded = w->limited || !direct[GEMM_A] || !direct[GEMM_B];
  if (bounded && task->width + s->size > w->width) return false;
  task->count++;
  task->width += s->size;
  memcpy(task->direct, direct, sizeof direct);
  return true;
}

static void make_tasks(gemm_work *w)
{
  for (int64_t i = 0; i < w->n_segments; i++) {
    const gemm_segment *s = &w->segments[i];
    if (w->n_tasks > 0 && join_segment(w, &w->tasks[w->n_tasks - 1], s)) continue;
    gemm_task *task = &w->tasks[w->n_tasks++];
    *task = (gemm_task){.first = i, .count = 1, .width = s->size, .load = {-1, -1}};
    for (int x = 0; x < 2; x++)
      task->direct[x] = w->x[x].contiguous;
  }
}

/* Returns the load of task t: the latest load if it contains the task's data, otherwise a new
 * one. */
static int64_t load_of(const gemm_work *w, gemm_operand *x, int which, int64_t t)
{
  const gemm_task *task = &w->tasks[t];
  const gemm_segment *first = &w->segments[task->first];
  const gemm_segment *last = &w->segments[task->first + task->count - 1];
  int owner = first->owner[which];
  if (!x->far[owner]) return -1;
  gemm_load load = {.task = t, .owner = owner};
  if (!x->panel && x->whole) {
    load.lo = x->owners[owner].lo;
    load.hi = x->owners[owner].hi;
    if (x->n_loads > 0 && x->loads[x->n_loads - 1].owner == owner) return x->n_loads - 1;
  } else if (!x->panel) {
    load.lo = first->local[which];
    load.hi = last->local[which] + last->size;
  }
  x->loads[x->n_loads] = load;
  return x->n_loads++;
}

static osla_err make_loads(gemm_work *w)
{
  for (int i = 0; i < 2; i++) {
    gemm_operand *x = &w->x[i];
    x->loads = malloc((size_t)w->n_tasks * sizeof *x->loads + 1);
    OSLA_CHECK(x->loads, OSLA_ERR_MEM, "%s: %" PRId64 " loads", w->call, w->n_tasks);
    for (int64_t t = 0; t < w->n_tasks; t++) {
      gemm_task *task = &w->tasks[t];
      task->load[i] = load_of(w, x, i, t);
      uint64_t bytes = (uint64_t)(task->width * gemm_outer_count(x)) * w->element;
      if (!task->direct[i] && bytes > x->packed_bytes) x->packed_bytes = bytes;
    }
    if (x->n_loads == 0) x->load_bytes = 0;
  }
  return OSLA_OK;
}

osla_err osli_gemm_plan_make(gemm_work *w)
{
  const gemm_operand *a = &w->x[GEMM_A], *b = &w->x[GEMM_B];
  set_ranges(w);
  fit_memory(w);
  w->limited = a->any_far || b->any_far || !a->contiguous || !b->contiguous ||
               w->options.panel > 0 || osla_transport_n_nodes(w->t) > 1 ||
               w->k_to - w->k_from > INT_MAX; /* BLAS takes at most INT_MAX indices at once */
  OSLA_CALL(make_segments(w));
  set_turns(w, GEMM_A);
  set_turns(w, GEMM_B);
  OSLA_CALL(sort_segments(w));
  make_tasks(w);
  return make_loads(w);
}

void osli_gemm_plan_free(gemm_work *w)
{
  osli_gemm_run_close(w);
  osli_gemm_operand_free(&w->x[GEMM_A]);
  osli_gemm_operand_free(&w->x[GEMM_B]);
  free(w->segments);
  free(w->tasks);
  free(w->private);
  osli_free_like(w->square);
  w->segments = NULL;
  w->tasks = NULL;
  w->private = NULL;
  w->square = NULL;
}

/* --- memory from sizes alone --- */

/* Bytes of the buffers that C := A B needs. A is loaded in panels of a process's columns, B in
 * whole local blocks of a process; each operand has two buffers. Narrow blocks are also packed.
 * Only data of other nodes are loaded. */
uint64_t osla_gemm_memory(const osla_shape *s)
{
  uint64_t rows = (uint64_t)s->rows, cols = (uint64_t)s->cols, width = cols < PANEL ? cols : PANEL;
  uint64_t elements = 0, pieces = 2 * (uint64_t)(s->n / s->nb + 1);
  if (!s->rows_near) elements += 2 * rows * width;
  if (!s->columns_near) elements += 2 * rows * cols;
  if (s->nb < PACK_BELOW && s->npcol > 1) elements += rows * width;
  if (s->nb < PACK_BELOW && s->nprow > 1) elements += cols * width;
  uint64_t bytes = elements * s->element;
  uint64_t most = most_memory(2.0 * (double)s->n * (double)s->n * (double)s->element /
                              ((double)s->nprow * s->npcol));
  return (bytes < most ? bytes : most) +
         pieces * (sizeof(gemm_segment) + sizeof(gemm_task) + 2 * sizeof(gemm_load));
}
