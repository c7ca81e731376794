/* Runs a plan: steps 4 and 5 of SRUMMA (Krishnan et al., section III.A).
 *
 * While the products use one load of an operand, the next load is transferred into the other
 * buffer. Operands that can be read in place are not loaded. Operands that one local product cannot
 * read directly are packed first. Loads that several ranks of a node need are transferred by one of
 * them (gemm_sharing.c). Memory: two load buffers and one buffer for packing, for each operand that
 * needs them. */
#include "kernels/gemm/gemm.h"
#include "kernels/gemm/gemm_sharing.h"
#include "osla_blas.h"
#include "osla_trace.h"
#include "src/blas/move.h"
#include "src/matrix/part_view.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* The gets that fill one buffer of this rank. */
typedef struct slot {
  osla_transfer *transfers;
  int64_t n_transfers, n_complete;
} slot;

/* Progress of an operand's loads. Loads are numbered from 0. If n ranks share the loads, each of
 * them transfers every n-th load. */
typedef struct gemm_source {
  const gemm_work *w;
  const gemm_operand *x;
  int which;
  slot slots[2];
  int64_t started;   /* number of the next load that this rank starts */
  int64_t published; /* number of the next load of this rank whose arrival is published */
  int64_t finished;  /* number of loads (of all sharers) that no later task of this rank needs */
  unsigned char *packed;
} source;

static osla_err count_get(void *arg, int rank, size_t offset, size_t to, size_t bytes)
{
  int64_t *count = arg;
  (void)rank, (void)offset, (void)to, (void)bytes;
  (*count)++;
  return OSLA_OK;
}

/* Largest number of gets of one load. */
static osla_err most_gets(const gemm_work *w, int which, int64_t *most)
{
  const gemm_operand *x = &w->x[which];
  *most = 0;
  for (int64_t l = 0; l < x->n_loads; l++) {
    int64_t count = 0;
    OSLA_CALL(osli_gemm_load_walk(w, which, &x->loads[l], count_get, &count));
    if (count > *most) *most = count;
  }
  return OSLA_OK;
}

static osla_err source_open(source *s, const gemm_work *w, int which)
{
  const gemm_operand *x = &w->x[which];
  int64_t gets;
  *s = (source){.w = w, .x = x, .which = which};
  OSLA_CALL(most_gets(w, which, &gets));
  for (int i = 0; i < gemm_n_slots(w); i++) {
    s->slots[i].transfers = malloc((size_t)gets * sizeof *s->slots[i].transfers + 1);
    OSLA_CHECK(s->slots[i].transfers, OSLA_ERR_MEM, "%s: %" PRId64 " transfers for operand %c",
               w->call, gets, "AB"[which]);
  }
  if (x->packed_bytes > 0) {
    s->packed = osli_alloc_like(x->v.local, x->packed_bytes);
    if (!s->packed) return gemm_lacks(w, x->v.local, x->packed_bytes, "packed operand");
  }
  return OSLA_OK;
}

osla_err osli_gemm_run_open(gemm_work *w)
{
  w->sources = calloc(2, sizeof *w->sources);
  OSLA_CHECK(w->sources, OSLA_ERR_MEM, "%s: operands", w->call);
  for (int i = 0; i < 2; i++)
    OSLA_CALL(source_open(&w->sources[i], w, i));
  return OSLA_OK;
}

void osli_gemm_run_close(gemm_work *w)
{
  for (int i = 0; w->sources && i < 2; i++) {
    source *s = &w->sources[i];
    for (int k = 0; k < gemm_n_slots(w); k++)
      free(s->slots[k].transfers);
    osli_free_like(s->packed);
  }
  free(w->sources);
  w->sources = NULL;
}

/* --- loads --- */

/* Returns the buffer of a load that this rank transfers. */
static slot *slot_of(source *s, int64_t load)
{
  return &s->slots[load / s->x->sharers.n % gemm_n_slots(s->w)];
}

/* Tests whether all gets of the slot are complete. With `needed` waits for them. */
static osla_err test_gets(source *s, slot *l, bool needed, bool *done)
{
  osla_segment *segment = osla_matrix_segment(s->x->v.matrix);
  for (*done = true; l->n_complete < l->n_transfers; l->n_complete++) {
    osla_transfer *transfer = &l->transfers[l->n_complete];
    if (needed)
      OSLA_CALL(osla_transfer_wait(segment, transfer));
    else
      OSLA_CALL(osla_transfer_test(segment, transfer, done));
    if (!*done) break;
  }
  return OSLA_OK;
}

/* Waits for all gets of the slot that are under way, also if some of them fail. */
static osla_err wait_for_gets(source *s, slot *l)
{
  osla_err err = OSLA_OK;
  for (; l->n_complete < l->n_transfers; l->n_complete++) {
    osla_err one =
      osla_transfer_wait(osla_matrix_segment(s->x->v.matrix), &l->transfers[l->n_complete]);
    if (err == OSLA_OK) err = one;
  }
  return err;
}

/* Notifies the sharers of this rank's loads that have arrived, in order. Waits for loads up to
 * number `needed`. Tests later loads only if ranks share loads, because with the ARMCI transport a
 * test waits for the transfer. */
static osla_err publish_loads(source *s, int64_t needed)
{
  for (; s->published < s->started && (s->published <= needed || s->w->sharing);
       s->published += s->x->sharers.n) {
    bool done;
    OSLA_CALL(test_gets(s, slot_of(s, s->published), s->published <= needed, &done));
    if (!done) break;
    OSLA_CALL(osli_gemm_load_publish(s->w, s->which, s->published));
  }
  return OSLA_OK;
}

typedef struct filling {
  source *s;
  slot *l;
  unsigned char *buffer;
} filling;

static osla_err start_get(void *arg, int rank, size_t offset, size_t to, size_t bytes)
{
  filling *f = arg;
  slot *l = f->l;
  const osla_matrix *x = f->s->x->v.matrix;
  OSLA_CALL(osla_segment_get(osla_matrix_segment(x), rank, osli_matrix_start(x, rank) + offset,
                             f->buffer + to, bytes, &l->transfers[l->n_transfers]));
  l->n_transfers++;
  return OSLA_OK;
}

/* True if the buffer of a load of this rank is free: neither this rank nor the sharers need the
 * previous load in it. With `needed` waits for the sharers; this rank has finished the previous
 * load by then. */
static bool is_free(const source *s, int64_t load, bool needed)
{
  int64_t before = load - (int64_t)gemm_n_slots(s->w) * s->x->sharers.n;
  if (before < 0) return true;
  return before < s->finished && osli_gemm_load_is_released(s->w, s->which, before, needed);
}

/* Starts loads of this rank while buffers are free, up to load `last`. Waits for free buffers up to
 * load `needed`. */
static osla_err start_loads(source *s, int64_t last, int64_t needed)
{
  const gemm_operand *x = s->x;
  for (; s->started < x->n_loads && s->started <= last; s->started += x->sharers.n) {
    if (!is_free(s, s->started, s->started <= needed)) break;
    filling f = {s, slot_of(s, s->started), osli_gemm_load_buffer(s->w, s->which, s->started)};
    f.l->n_transfers = f.l->n_complete = 0;
    OSLA_CALL(osli_gemm_load_walk(s->w, s->which, &x->loads[s->started], start_get, &f));
  }
  return OSLA_OK;
}

/* Prepares task t: releases loads that no later task needs, and starts loads. In a product with
 * layers, starts only loads up to the first one that the task needs (start_next_load has the
 * reason). */
static osla_err advance_loads(source *s, int64_t t)
{
  const gemm_operand *x = s->x;
  int64_t mine = s->w->tasks[t].load[s->which];
  while (s->finished + 1 < x->n_loads && x->loads[s->finished + 1].task <= t)
    OSLA_CALL(osli_gemm_load_release(s->w, s->which, s->finished++));
  return start_loads(s, s->w->ablation.blocking || s->w->layers.n > 1 ? mine : x->n_loads, -1);
}

/* In a product with layers, starts loads up to the one after the load in use. Called when the
 * operands of a task are available. Such a product needs few loads. If the ranks of a node
 * filled all their buffers at once, as they do without layers, the first task would wait until
 * half of all data have arrived. */
static osla_err start_next_load(source *s)
{
  if (s->w->ablation.blocking || s->w->layers.n == 1) return OSLA_OK;
  return start_loads(s, s->finished + 1, -1);
}

/* Waits until the load of a task has arrived. */
static osla_err wait_for_load(source *s, int64_t load)
{
  if (load < 0) return OSLA_OK;
  if (gemm_is_my_load(s->x, load)) {
    OSLA_CALL(start_loads(s, load, load));
    return publish_loads(s, load);
  }
  osli_gemm_load_wait(s->w, s->which, load);
  return OSLA_OK;
}

/* --- addresses and packing of operands --- */

/* Address of the first element of a segment for a piece. `koff` is the number of indices k of the
 * task that precede the segment. */
static const unsigned char *find_operand(const source *s, const gemm_task *task,
                                         const gemm_segment *seg, const gemm_piece *piece,
                                         int64_t koff, int64_t *ld)
{
  const gemm_operand *x = s->x;
  int owner = seg->owner[s->which], rank = gemm_rank(x, piece->group, owner);
  int64_t local = seg->local[s->which], at;
  if (task->load[s->which] < 0) {
    *ld = osla_matrix_lld(x->v.matrix, rank);
    return x->panel ? peer_at(&x->v, rank, piece->local, local)
                    : peer_at(&x->v, rank, local, piece->local);
  }
  const gemm_load *load = &x->loads[task->load[s->which]];
  const gemm_group *group = &x->groups[piece->group];
  if (x->panel) {
    *ld = gemm_buffer_ld(x, rank, group->hi - group->lo);
    at = group->base * s->w->width + koff * *ld + piece->local - group->lo;
  } else {
    *ld = gemm_buffer_ld(x, rank, load->hi - load->lo);
    at = piece->base + local - load->lo;
  }
  return osli_gemm_load_buffer(s->w, s->which, task->load[s->which]) + (size_t)at * x->v.element;
}

/* Packs a task's part of a panel operand into an outer x width array. */
static void pack_panel(const source *s, const gemm_task *task, const gemm_piece *piece, int64_t ld)
{
  size_t e = s->x->v.element;
  int64_t koff = 0, from_ld;
  for (int64_t i = task->first; i < task->first + task->count; i++) {
    const gemm_segment *seg = &s->w->segments[i];
    const unsigned char *from = find_operand(s, task, seg, piece, koff, &from_ld);
    osli_move_columns(e, piece->size, seg->size, from, from_ld,
                      s->packed + (size_t)(piece->at + koff * ld) * e, ld);
    koff += seg->size;
  }
}

/* Packs a task's part of a strip operand into a width x outer array. All segments of a column are
 * near one another in memory. */
static void pack_strip(const source *s, const gemm_task *task, const gemm_piece *piece, int64_t ld)
{
  const gemm_segment *first = &s->w->segments[task->first];
  size_t e = s->x->v.element;
  int64_t from_ld;
  const unsigned char *from = find_operand(s, task, first, piece, 0, &from_ld);
  if (osli_device_of(from)) {
    unsigned char *to = s->packed + (size_t)(piece->at * ld) * e;
    for (const gemm_segment *seg = first; seg < first + task->count; seg++) {
      int64_t ahead = seg->local[s->which] - first->local[s->which];
      osli_move_columns(e, seg->size, piece->size, from + (size_t)ahead * e, from_ld, to, ld);
      to += (size_t)seg->size * e;
    }
    return;
  }
  for (int64_t c = 0; c < piece->size && !osli_work_modelled; c++) {
    const unsigned char *column = from + (size_t)(c * from_ld) * e;
    unsigned char *to = s->packed + (size_t)((piece->at + c) * ld) * e;
    for (const gemm_segment *seg = first; seg < first + task->count; seg++) {
      size_t bytes = (size_t)seg->size * e;
      memcpy(to, column + (seg->local[s->which] - first->local[s->which]) * (int64_t)e, bytes);
      to += bytes;
    }
  }
  osli_move_charge((size_t)task->width * e, piece->size);
}

static void pack_operand(const source *s, const gemm_task *task)
{
  const gemm_operand *x = s->x;
  int64_t outer = gemm_outer_count(x), ld = x->panel ? outer : task->width;
  int owner = s->w->segments[task->first].owner[s->which];
  bool foreign = false; /* true if data of another rank are copied directly, without a get */
  double since = osla_trace_now(s->w->t);
  for (int64_t p = 0; p < x->n_pieces; p++) {
    const gemm_piece *piece = &x->pieces[p];
    foreign |= gemm_rank(x, piece->group, owner) != osla_transport_rank(s->w->t);
    if (x->panel)
      pack_panel(s, task, piece, ld);
    else
      pack_strip(s, task, piece, ld);
  }
  foreign &= task->load[s->which] < 0;
  osla_trace_add(s->w->t, foreign ? OSLA_TRACE_COPY : OSLA_TRACE_PACK, since,
                 (double)(outer * task->width) * (double)x->v.element);
}

/* Makes a task's part of an operand available to BLAS: waits for its load and packs it if
 * necessary. */
static osla_err prepare_operand(source *s, const gemm_task *task)
{
  OSLA_CALL(wait_for_load(s, task->load[s->which]));
  if (!task->direct[s->which]) pack_operand(s, task);
  return OSLA_OK;
}

/* Share number i, which is not empty, of a task's part of an operand. */
static gemm_array operand_share(const source *s, const gemm_task *task, int i)
{
  const gemm_operand *x = s->x;
  const gemm_share *share = &x->shares[i];
  gemm_array out = {.trans = x->trans};
  if (task->direct[s->which]) {
    out.at =
      find_operand(s, task, &s->w->segments[task->first], &x->pieces[share->n_below], 0, &out.ld);
    return out;
  }
  out.ld = x->panel ? gemm_outer_count(x) : task->width;
  out.at = s->packed + (size_t)(share->at * (x->panel ? 1 : out.ld)) * x->v.element;
  return out;
}

/* --- products --- */

/* Multiplies for the elements of C that the rank of layer `layer` in this rank's group owns. */
static osla_err multiply(const gemm_work *w, int layer, osla_complex alpha, gemm_array a,
                         gemm_array b, int64_t k, osla_complex beta)
{
  int64_t rows, cols;
  if (w->triangle >= 0) return osli_gemm_triangle(w, alpha, a, b, k, beta);
  const operand c = osli_gemm_layers_target(w, layer, &rows, &cols);
  const double since = osla_trace_now(w->t);
  OSLA_CALL(osla_blas_gemm(w->dtype, a.trans, b.trans, rows, cols, k, alpha, a.at, a.ld, b.at, b.ld,
                           beta, c.at, c.ld));
  osla_trace_add(w->t, OSLA_TRACE_GEMM, since, gemm_flops(w, rows, cols, k));
  return OSLA_OK;
}

/* Runs task t, whose operands are available, for the elements of C of all ranks of this rank's
 * group. The last task completes the partial sums, which are sent one by one; this rank's own
 * elements come last. */
static osla_err run_task(source *s, int64_t t, osla_complex alpha, osla_complex beta)
{
  const gemm_work *w = s->w;
  const gemm_layers *l = &w->layers;
  const gemm_task *task = &w->tasks[t];
  for (int i = 1; i <= l->n; i++) {
    const int layer = (l->me + i) % l->n, row = layer / l->cols, col = layer % l->cols;
    const bool mine = layer == l->me;
    if (s[GEMM_A].x->shares[row].size == 0 || s[GEMM_B].x->shares[col].size == 0) continue;
    OSLA_CALL(multiply(w, layer, alpha, operand_share(&s[GEMM_A], task, row),
                       operand_share(&s[GEMM_B], task, col), task->width,
                       t > 0  ? 1
                       : mine ? beta
                              : 0));
    if (t + 1 == w->n_tasks && !mine) OSLA_CALL(osli_gemm_layers_send(w, layer));
  }
  return OSLA_OK;
}

static osla_err run_tasks(source *s, osla_complex alpha, osla_complex beta)
{
  const gemm_work *w = s->w;
  const gemm_array nothing = {OSLA_NOTRANS, w->c.at, w->c.rows > 0 ? w->c.rows : 1};
  if (w->n_tasks == 0) /* without tasks C is only scaled: C := beta C */
    return multiply(w, w->layers.me, alpha, nothing, nothing, 0, beta);
  for (int64_t t = 0; t < w->n_tasks; t++) {
    const gemm_task *task = &w->tasks[t];
    osla_at_step(w->t, w->call, t);
    OSLA_CALL(advance_loads(&s[GEMM_A], t));
    OSLA_CALL(advance_loads(&s[GEMM_B], t));
    OSLA_CALL(prepare_operand(&s[GEMM_A], task));
    OSLA_CALL(prepare_operand(&s[GEMM_B], task));
    OSLA_CALL(start_next_load(&s[GEMM_A]));
    OSLA_CALL(start_next_load(&s[GEMM_B]));
    for (int i = 0; i < 2; i++) /* publishes loads that have arrived, before this rank computes */
      if (s[i].x->sharers.n > 1) OSLA_CALL(publish_loads(&s[i], -1));
    OSLA_CALL(run_task(s, t, alpha, beta));
    osla_progress(w->t); /* a step of progress, which serves gets of other nodes from this rank */
  }
  return OSLA_OK;
}

osla_err osli_gemm_run(const gemm_work *w, osla_complex alpha, osla_complex beta)
{
  source *s = w->sources;
  if (w->c.rows == 0 || w->c.cols == 0) return OSLA_OK;
  for (int i = 0; i < 2; i++)
    s[i].started = s[i].published = s[i].x->sharers.me;
  osla_err err = run_tasks(s, alpha, beta);
  const bool others_wait =
    w->x[GEMM_A].sharers.n > 1 || w->x[GEMM_B].sharers.n > 1 || w->layers.n > 1;
  if (err != OSLA_OK && others_wait) osla_transport_abort(w->t, err);
  for (int i = 0; i < 2;
       i++) /* no task may have waited for a get, and such a get may still write to its buffer */
    for (int k = 0; k < gemm_n_slots(w); k++) {
      osla_err waited = wait_for_gets(&s[i], &s[i].slots[k]);
      if (err == OSLA_OK) err = waited;
    }
  return err == OSLA_OK ? osli_gemm_layers_add(w) : err;
}
