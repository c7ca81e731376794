/* Layers: k is divided among groups of ranks (the 2.5D algorithm of Solomonik and Demmel, Euro-Par
 * 2011, with replicas of C only).
 *
 * The process grid of C is cut into groups of r x s ranks; there are r s layers. Each rank of a
 * group multiplies its share of k for all elements of C that the group owns. So it needs 1 / (r s)
 * of the columns of r process rows of op(A), and of the rows of s process columns of op(B), which
 * it reads where they are. Then it sends each rank of the group the partial sum of the elements
 * that this rank owns. The owner adds the partial sums in the order of the layers, so the result is
 * the same in every run.
 *
 * If each node owns a rectangle of the grid of C, and the grid can be cut into groups of r x s such
 * rectangles, a group has at most one rank of a node, and the ranks of a node are in one layer. So
 * they share loads as without layers (gemm_sharing.c), and the node, too, needs fewer elements of A
 * and B. Otherwise the process rows and columns of a group are adjacent.
 *
 * Memory of a rank: its elements of C for each other layer twice, once to compute partial sums and
 * once to receive them. */
#include "kernels/gemm/gemm.h"
#include "osla_device.h"
#include "osla_trace.h"
#include "src/blas/move.h"

#include <inttypes.h>
#include <stdlib.h>

/* --- groups --- */

/* Position of a rank in its group of layers.rows x layers.cols ranks, and number of its group. */
typedef struct membership {
  int layer, group_row, group_col;
} membership;

static membership membership_of(const gemm_layers *l, int prow, int pcol)
{
  const int row = prow / l->row_step, col = pcol / l->col_step;
  return (membership){
    .layer = row % l->rows * l->cols + col % l->cols,
    .group_row = row / l->rows * l->row_step + prow % l->row_step,
    .group_col = col / l->cols * l->col_step + pcol % l->col_step,
  };
}

/* Process rows of a group of `rows` process rows at a distance of `step` that contains `prow`; used
 * for columns as well. */
static gemm_procs procs_of(int prow, int rows, int step)
{
  return (gemm_procs){rows, prow / (rows * step) * rows * step + prow % step, step};
}

/* Transport rank of layer `layer` in this rank's group. */
static int rank_of(const gemm_work *w, int layer)
{
  const gemm_layers *l = &w->layers;
  return osla_grid_rank_at(w->grid, w->c.prows.first + layer / l->cols * l->row_step,
                           w->c.pcols.first + layer % l->cols * l->col_step);
}

/* Index of an origin among the notifiers of its target: its layer, if both are in one group. */
static int notifier_index(const void *arg, int origin, int target)
{
  const gemm_layers *l = arg;
  const int prows[] = {osla_grid_prow_of(l->grid, origin), osla_grid_prow_of(l->grid, target)};
  const int pcols[] = {osla_grid_pcol_of(l->grid, origin), osla_grid_pcol_of(l->grid, target)};
  if (prows[0] < 0 || prows[1] < 0) return -1;
  const membership from = membership_of(l, prows[0], pcols[0]);
  const membership to = membership_of(l, prows[1], pcols[1]);
  return from.group_row == to.group_row && from.group_col == to.group_col ? from.layer : -1;
}

/* Sets *rows and *cols to the size of the rectangle of the process grid of C that the ranks of
 * one node form. If the nodes do not form equal rectangles, sets both to 1. */
static void node_rectangle(const osla_grid *grid, int *rows, int *cols)
{
  const osla_transport *t = osla_grid_transport(grid);
  const int p = osla_grid_nprow(grid), q = osla_grid_npcol(grid);
  const int first = osla_transport_node_of(t, osla_grid_rank_at(grid, 0, 0));
  int r = 1, s = 1;
  while (r < p && osla_transport_node_of(t, osla_grid_rank_at(grid, r, 0)) == first)
    r++;
  while (s < q && osla_transport_node_of(t, osla_grid_rank_at(grid, 0, s)) == first)
    s++;
  *rows = r, *cols = s;
  for (int i = 0; i < p; i++)
    for (int j = 0; j < q; j++) {
      const int rank = osla_grid_rank_at(grid, i, j);
      const int corner = osla_grid_rank_at(grid, i - i % r, j - j % s);
      if (osla_transport_node_of(t, rank) != osla_transport_node_of(t, corner)) *rows = *cols = 1;
    }
}

/* --- number of layers --- */

/* A product, as the choice of layers sees it. */
typedef struct problem {
  const osla_part *c;
  int64_t k;
  int p, q; /* process grid of C */
  int node_rows, node_cols;
} problem;

static problem problem_of(const osla_part *c, int64_t k)
{
  const osla_grid *grid = osla_matrix_grid(c->matrix);
  problem x = {.c = c, .k = k, .p = osla_grid_nprow(grid), .q = osla_grid_npcol(grid)};
  node_rectangle(grid, &x.node_rows, &x.node_cols);
  return x;
}

/* Elements that the ranks of a node receive: of A, of B, and partial sums of C. The ranks of a node
 * that are in one process row and one layer receive elements of A together. */
static double node_elements(const problem *x, const gemm_layers *l)
{
  const double rows = (double)x->c->m / x->p, cols = (double)x->c->n / x->q;
  const double k = (double)x->k / l->n;
  const bool together = l->row_step == x->node_rows && l->col_step == x->node_cols;
  const int each = together ? 1 : x->node_rows * x->node_cols;
  const double a = (together ? x->node_rows : each) * rows * l->rows * k;
  const double b = (together ? x->node_cols : each) * cols * l->cols * k;
  return a + b + x->node_rows * x->node_cols * rows * cols * (l->n - 1);
}

/* Finds the shape of the groups for `n` layers with which a node receives the fewest elements. The
 * ranks of a group are on different nodes if the grid can be cut so. Returns false if the grid
 * cannot be cut into groups of n ranks. */
static bool best_shape(const problem *x, int n, gemm_layers *best, double *least)
{
  bool found = false;
  for (int rows = 1; rows <= n; rows++) {
    const int cols = n / rows;
    if (n % rows != 0 || x->p % rows != 0 || x->q % cols != 0) continue;
    const bool apart = x->p % (rows * x->node_rows) == 0 && x->q % (cols * x->node_cols) == 0;
    const gemm_layers l = {.n = n,
                           .rows = rows,
                           .cols = cols,
                           .row_step = apart ? x->node_rows : 1,
                           .col_step = apart ? x->node_cols : 1};
    const double elements = node_elements(x, &l);
    if (!found || elements < *least) *best = l, *least = elements;
    found = true;
  }
  return found;
}

/* Bytes of partial sums on a rank with n layers. */
static uint64_t sum_bytes(const osla_part *c, int n)
{
  const osla_layout l = osla_matrix_layout(c->matrix);
  const gemm_axis rows = {.n = c->m, .first = c->i, .nb = l.mb, .nprocs = l.nprow};
  const gemm_axis cols = {.n = c->n, .first = c->j, .nb = l.nb, .nprocs = l.npcol};
  return 2 * (uint64_t)(n - 1) * (uint64_t)axis_largest(&rows) * (uint64_t)axis_largest(&cols) *
         osla_dtype_size(osla_matrix_dtype(c->matrix));
}

osla_err osli_gemm_layers_check(const char *call, const osla_part *c, bool is_whole,
                                const osla_gemm_options *options)
{
  const osla_layout l = osla_matrix_layout(c->matrix);
  const int size = l.nprow * l.npcol;
  const int64_t n = options ? options->layers : 0;
  OSLA_CHECK(n >= 0, OSLA_ERR_ARG, "%s: layers = %" PRId64 " is negative", call, n);
  if (n <= 1) return OSLA_OK;
  OSLA_CHECK(is_whole, OSLA_ERR_UNSUPPORTED,
             "%s: layers = %" PRId64 ", but only osla_gemm has layers: set layers to 0", call, n);
  OSLA_CHECK(!osla_matrix_device(c->matrix), OSLA_ERR_UNSUPPORTED,
             "%s: layers = %" PRId64 ", but C lies in device memory: set layers to 0", call, n);
  OSLA_CHECK(n <= size, OSLA_ERR_ARG,
             "%s: layers = %" PRId64 " exceeds the %d ranks of the process grid of C", call, n,
             size);
  const problem x = problem_of(c, 0);
  gemm_layers layers;
  double elements;
  int possible = (int)n; /* the grid is one group if possible == size */
  while (!best_shape(&x, possible, &layers, &elements))
    possible++;
  OSLA_CHECK(possible == n, OSLA_ERR_ARG,
             "%s: layers = %" PRId64
             " is not a product of a divisor of %d and a divisor of %d, the "
             "sides of the process grid of C: use 0, or for example %d",
             call, n, l.nprow, l.npcol, possible);
  const uint64_t bytes = sum_bytes(c, (int)n);
  OSLA_CHECK(options->memory == 0 || bytes < options->memory, OSLA_ERR_MEM,
             "%s: the option memory is %" PRIu64 ", but with %" PRId64
             " layers it must exceed the %" PRIu64 " bytes of partial sums",
             call, options->memory, n, bytes);
  return OSLA_OK;
}

/* --- assignment --- */

/* Number of rows or columns of C on these process rows or columns. */
static int64_t count_of(const gemm_axis *axis, const gemm_procs *procs)
{
  int64_t count = 0;
  for (int i = 0; i < procs->n; i++) {
    const int proc = procs->first + i * procs->step;
    count += axis_owned(axis, proc);
  }
  return count;
}

void osli_gemm_layers_assign(gemm_work *w, const osla_part *c)
{
  gemm_layers *l = &w->layers;
  gemm_target *target = &w->c;
  double elements;
  if (w->options.layers <= 1 || w->k_to == 0) return;
  const problem x = problem_of(c, w->k_to);
  (void)best_shape(&x, (int)w->options.layers, l, &elements);
  l->grid = w->grid;
  l->k = w->k_to;
  if (target->prow < 0) return;
  const membership me = membership_of(l, target->prow, target->pcol);
  l->me = me.layer;
  w->diagonal = me.group_row / l->row_step + me.group_col / l->col_step;
  target->prows = procs_of(target->prow, l->rows, l->row_step);
  target->pcols = procs_of(target->pcol, l->cols, l->col_step);
  target->rows = count_of(&target->rows_of, &target->prows);
  target->cols = count_of(&target->cols_of, &target->pcols);
}

/* --- division of k --- */

/* If k runs along the rows of an operand's matrix, the share of a layer should be whole local
 * columns of few processes. In the order of the indices it would be a part of each local column of
 * every process, and gets would also transfer most of the elements between these parts. */
const gemm_axis *osli_gemm_layers_order(const gemm_work *w)
{
  if (w->layers.n == 1) return NULL;
  if (!w->x[GEMM_B].panel) return &w->x[GEMM_B].inner;
  return w->x[GEMM_A].panel ? NULL : &w->x[GEMM_A].inner;
}

/* Returns the position, in the order of all k, at which the share of a layer begins; for layer n,
 * it is the number of all k. Shares are equal, but if the indices of a process begin within 1/16 of
 * a share from that position, the share begins with this process. Otherwise a layer could need a
 * few rows of many columns of a process, and would fetch each column's rows by a get of its own. */
static int64_t share_begin(const gemm_work *w, int layer)
{
  const gemm_layers *l = &w->layers;
  const gemm_axis *order = osli_gemm_layers_order(w);
  int64_t equal, next, best = -1, at = 0;
  gemm_range(l->k, layer, l->n, &equal, &next);
  if (!order || layer == 0 || layer == l->n) return equal;
  for (int owner = 0; owner < order->nprocs; owner++) {
    at += axis_owned(order, owner);
    if (best < 0 || llabs(at - equal) < llabs(best - equal)) best = at;
  }
  return llabs(best - equal) <= l->k / l->n / 16 ? best : equal;
}

void osli_gemm_layers_divide(gemm_work *w)
{
  const gemm_layers *l = &w->layers;
  if (l->n == 1) return;
  w->k_from = share_begin(w, l->me);
  w->k_to = share_begin(w, l->me + 1);
}

/* --- partial sums --- */

uint64_t osli_gemm_layers_bytes(const gemm_work *w, const osla_part *c)
{
  return w->layers.n > 1 ? sum_bytes(c, w->layers.n) : 0;
}

/* Numbers of rows and columns of C that the rank of a layer in this rank's group owns. */
static int64_t rows_of(const gemm_work *w, int layer)
{
  return w->x[GEMM_A].shares[layer / w->layers.cols].size;
}
static int64_t cols_of(const gemm_work *w, int layer)
{
  return w->x[GEMM_B].shares[layer % w->layers.cols].size;
}

static size_t part_bytes(const gemm_work *w, int layer)
{
  return (size_t)(rows_of(w, layer) * cols_of(w, layer)) * w->element;
}

/* Bytes of the partial sums that this rank computes for the other layers. */
static size_t computed_bytes(const gemm_work *w)
{
  const size_t group = (size_t)(w->c.rows * w->c.cols) * w->element;
  return w->c.prow < 0 ? 0 : group - part_bytes(w, w->layers.me);
}

osla_err osli_gemm_layers_allocate(gemm_work *w)
{
  gemm_layers *l = &w->layers;
  if (l->n == 1) return OSLA_OK;
  const size_t bytes = computed_bytes(w);
  w->private = malloc(bytes + 1);
  l->posted = calloc((size_t)l->n, sizeof *l->posted);
  OSLA_CHECK(w->private && l->posted, OSLA_ERR_MEM, "%s: %zu bytes for partial sums of %d layers",
             w->call, bytes, l->n);
  return OSLA_OK;
}

/* Offset in the data area of the rank of layer `to` for the partial sum that the rank of layer
 * `from` sends. */
static size_t sum_offset(const gemm_work *w, int from, int to)
{
  return (size_t)(from < to ? from : from - 1) * part_bytes(w, to);
}

osla_err osli_gemm_layers_open(gemm_work *w)
{
  gemm_layers *l = &w->layers;
  if (l->n == 1) return OSLA_OK;
  const osla_notifiers group = {l->n, notifier_index, l};
  const size_t bytes = w->c.prow < 0 ? 0 : (size_t)(l->n - 1) * part_bytes(w, l->me);
  return osla_segment_create_for(w->t, bytes, 1, &group, &l->sums);
}

void osli_gemm_layers_close(gemm_work *w)
{
  osla_segment_destroy(&w->layers.sums);
  free(w->layers.posted);
  w->layers.posted = NULL;
}

operand osli_gemm_layers_target(const gemm_work *w, int layer, int64_t *rows, int64_t *cols)
{
  const gemm_layers *l = &w->layers;
  const operand own = {w->c.at, w->c.ld};
  if (l->n == 1) {
    *rows = w->c.rows, *cols = w->c.cols;
    return own;
  }
  const gemm_share *row = &w->x[GEMM_A].shares[layer / l->cols];
  const gemm_share *col = &w->x[GEMM_B].shares[layer % l->cols];
  *rows = row->size, *cols = col->size;
  if (layer == l->me) return own;
  /* elements of C of the layers before, of which this rank's own lie in C */
  const int64_t before = row->at * w->c.cols + row->size * col->at;
  const size_t own_bytes = layer > l->me ? part_bytes(w, l->me) : 0;
  return (operand){w->private + ((size_t)before * w->element - own_bytes), row->size};
}

osla_err osli_gemm_layers_send(const gemm_work *w, int layer)
{
  const gemm_layers *l = &w->layers;
  int64_t rows, cols;
  const operand sum = osli_gemm_layers_target(w, layer, &rows, &cols);
  return osla_put_notify_post(l->sums, rank_of(w, layer), sum_offset(w, l->me, layer), sum.at,
                              part_bytes(w, layer), 0, 1, &l->posted[layer]);
}

/* Adds n real numbers of 4 or 8 bytes. */
static void add_numbers(bool single, int64_t n, const unsigned char *from, unsigned char *to)
{
  if (single)
    for (int64_t i = 0; i < n; i++)
      ((float *)to)[i] += ((const float *)from)[i];
  else
    for (int64_t i = 0; i < n; i++)
      ((double *)to)[i] += ((const double *)from)[i];
}

/* Adds a partial sum to this rank's part of C. */
static void add_sum(const gemm_work *w, const unsigned char *sum)
{
  const int64_t rows = rows_of(w, w->layers.me), cols = cols_of(w, w->layers.me);
  const bool single = w->dtype == OSLA_FLOAT || w->dtype == OSLA_COMPLEX_FLOAT;
  const int64_t numbers = w->dtype == OSLA_FLOAT || w->dtype == OSLA_DOUBLE ? rows : 2 * rows;
  const double since = osla_trace_now(w->t);
  for (int64_t j = 0; j < cols && !osli_work_modelled; j++)
    add_numbers(single, numbers, sum + (size_t)(j * rows) * w->element,
                w->c.at + (size_t)(j * w->c.ld) * w->element);
  osli_move_charge((size_t)rows * w->element, cols);
  osla_trace_add(w->t, OSLA_TRACE_UPDATE, since, (double)rows * (double)cols);
}

osla_err osli_gemm_layers_add(const gemm_work *w)
{
  const gemm_layers *l = &w->layers;
  osla_err err = OSLA_OK;
  if (l->n == 1) return OSLA_OK;
  const unsigned char *sums = osla_segment_local(l->sums);
  for (int layer = 0; layer < l->n && part_bytes(w, l->me) > 0; layer++) {
    if (layer == l->me || share_begin(w, layer) == share_begin(w, layer + 1)) continue;
    osla_notify_wait(l->sums, rank_of(w, layer), 0, 1);
    add_sum(w, sums + sum_offset(w, layer, l->me));
  }
  for (int layer = 0; layer < l->n; layer++) {
    const osla_err one = osla_posted_wait(l->sums, &l->posted[layer]);
    if (err == OSLA_OK) err = one;
  }
  return err;
}

void osli_gemm_layers_describe(const gemm_work *w, osla_gemm_plan *plan)
{
  const gemm_layers *l = &w->layers;
  if (l->n == 1 || w->c.prow < 0) return;
  plan->buffers += computed_bytes(w);
  plan->buffers += (uint64_t)(l->n - 1) * part_bytes(w, l->me);
  for (int layer = 0; layer < l->n && w->n_tasks > 0; layer++) {
    const size_t bytes = part_bytes(w, layer);
    if (layer == l->me || bytes == 0) continue;
    if (osla_transport_same_node(w->t, rank_of(w, layer))) {
      plan->bytes_near += bytes;
    } else {
      plan->bytes_far += bytes;
      plan->gets++;
    }
  }
}
