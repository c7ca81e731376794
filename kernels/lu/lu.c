/* Right-looking LU on a block-cyclic matrix, driven by notify (Krishnan et al., section III.B).
 *
 * In step k the ranks of the panel's process column factor the panel (lu_panel.c) and publish it
 * along their process rows. Every rank that has received the panel exchanges rows, solves for its
 * part of U(k,:) and updates its part of the trailing matrix. With look-ahead the next panels are
 * updated, factored and published before the rest of the trailing matrix is updated. A rank waits
 * only for panels that it needs and for exchanges within its process column; the loop contains no
 * collective operation. A published panel stays unchanged until the end of the loop, so node
 * neighbours read it in place.
 *
 * Memory per rank: see osla_lu.h. Messages per step and rank, on p process rows and q process
 * columns: a panel to each of q - 1 ranks; rows and a share of U to each of p - 1 process rows,
 * where a node group (lu_node_group.h) gets only one message. Rows and shares are sent twice if the
 * columns are split into two parts (lu_update.c). Partial pivoting over process columns that span
 * nodes also sends nb records to each of p - 1 ranks, or exchanges them in log2 p rounds
 * (lu_column.h). */
#include "kernels/common/local_view.h"
#include "kernels/common/pipeline.h"
#include "kernels/lu/lu_memory.h"
#include "kernels/lu/lu_node_group.h"
#include "kernels/lu/lu_panel.h"
#include "kernels/lu/lu_parts.h"
#include "kernels/lu/lu_publish.h"
#include "kernels/lu/lu_state.h"
#include "osla_device.h"
#include "src/base/reserved.h"
#include "src/blas/move.h"
#include "src/matrix/memory_kind.h"
#include "src/transport/transport_ops.h"

#include <complex.h>
#include <float.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Largest block size. The number of bytes of a square block of this size fits into 64
 * bits. */
enum { WIDEST = 1 << 29 };

/* ---- the loop ---- */

/* True if a pivot is NaN or infinite, or if L is divided by a pivot that has no finite
 * reciprocal. */
static bool is_unsafe_pivot(osla_dtype dtype, osla_complex pivot, bool divides)
{
  double size = fabs(creal(pivot)) + fabs(cimag(pivot));
  bool narrow = dtype == OSLA_FLOAT || dtype == OSLA_COMPLEX_FLOAT;
  if (!isfinite(size)) return true;
  return divides && size > 0 && 1 / size > (narrow ? (double)FLT_MAX : DBL_MAX);
}

/* Receives panel k, records its pivots, and updates the block columns [from, to) with it (member
 * `apply` of osla_pipeline). */
static osla_err apply(void *kernel, int64_t k, int64_t from, int64_t to)
{
  lu *f = kernel;
  const local_view *v = &f->v;
  lu_step step = osli_lu_step_make(f, k), *s = &step;
  lu_panel panel = osli_lu_receive(f, s);
  memcpy(f->pivots + s->start, panel.pivots, (size_t)s->size * sizeof *f->pivots);
  if (panel.head->info > 0 && f->info == 0) f->info = panel.head->info;
  for (int64_t i = 0; i < s->size; i++) {
    const unsigned char *pivot = panel.top.at + (size_t)(i + i * panel.top.ld) * v->element;
    bool divides = s->start + i < v->m - 1; /* true if rows exist below this pivot */
    if (is_unsafe_pivot(v->dtype, osli_lu_value(v->dtype, pivot), divides))
      f->has_unsafe_pivot = true;
  }
  return osli_lu_update(f, s, &panel, from, to);
}

/* Waits until all messages of this rank have arrived. */
static osla_err finish_all_posts(lu *f)
{
  if (f->v.prow < 0) return OSLA_OK;
  for (uint64_t set = 0; set < 2; set++) {
    OSLA_CALL(osli_lu_finish_posts(f, f->row_posts, set));
    OSLA_CALL(osli_lu_finish_posts(f, f->down_posts, set));
    OSLA_CALL(osli_lu_finish_posts(f, f->u_posts, set));
    OSLA_CALL(osli_lu_finish_posts(f, f->column_posts, set));
  }
  return OSLA_OK;
}

static bool owns(const void *kernel, int64_t k)
{
  const lu *f = kernel;
  return f->v.pcol == k % f->v.q;
}

static osla_err factor(void *kernel, int64_t k)
{
  lu *f = kernel;
  lu_step s = osli_lu_step_make(f, k);
  OSLA_CALL(osli_lu_factor_panel(f, &s));
  return osli_lu_publish(f, &s);
}

static osla_err run_steps(lu *f)
{
  osla_pipeline p = {.name = "osla_getrf",
                     .steps = f->steps,
                     .look_ahead = f->look_ahead,
                     .panels = f->panels,
                     .queue = f->v.p == 1 ? osli_device_of(f->v.local) : NULL,
                     .kernel = f,
                     .owns = owns,
                     .apply = apply,
                     .factor = factor};
  if (f->v.prow < 0) return OSLA_OK;
  return osli_pipeline_run(&p);
}

/* ---- memory ---- */

/* Sets column_readable, has_own_cores and gathers_panels to one value on all ranks. Collective. */
static osla_err choose_gathers_panels(lu *f)
{
  const local_view *v = &f->v;
  struct {
    int column_readable, has_own_cores;
  } all = {1, !osla_transport_oversubscribed(v->t)};
  for (int prow = 0; v->pcol >= 0 && prow < v->p; prow++)
    if (!in_place(v, rank_at(v, prow, v->pcol))) all.column_readable = 0;
  OSLA_CALL(osla_allreduce(v->t, &all, 2, MPI_INT, MPI_MIN));
  const bool partial = f->pivoting == OSLA_PIVOT_PARTIAL,
             device = osla_matrix_device(v->matrix) != NULL;
  f->column_readable = all.column_readable;
  f->has_own_cores = all.has_own_cores;
  /* LAPACK's int must be able to count the rows of a whole panel */
  f->gathers_panels =
    partial && v->m <= INT_MAX &&
    osli_lu_gathers_panels(v->p, all.column_readable, all.has_own_cores && !device);
  OSLA_CHECK(!device || v->p == 1 || f->gathers_panels, OSLA_ERR_UNSUPPORTED,
             "osla_getrf: on device memory the ranks of a process column must be on one node: use "
             "one process row instead of %d",
             v->p);
  return OSLA_OK;
}

/* Allocates f->on_device, the buffers in device memory for rows and for U. */
static osla_err allocate_on_device(lu *f, const lu_sizes *z)
{
  const size_t sets = 2 * (f->u_set + f->rows_set);
  void *memory = NULL;
  if (f->v.p == 1 || !osla_matrix_device(f->v.matrix)) return OSLA_OK;
  device_queue *device = osli_device_of(osla_segment_local(osla_matrix_segment(f->v.matrix)));
  OSLA_CALL(osli_device_alloc(device, sets + z->scratch, false, &memory));
  f->on_device = memory;
  free(f->scratch);
  f->scratch = f->on_device + sets;
  return OSLA_OK;
}

static osla_err allocate(lu *f)
{
  local_view *v = &f->v;
  OSLA_CALL(choose_gathers_panels(f));
  OSLA_CALL(osli_view_neighbours_readable(v, &f->readable));
  lu_sizes z = osli_lu_sizes(f);
  f->pivots = calloc(z.pivots, sizeof *f->pivots);
  f->moves = calloc(z.moves, sizeof *f->moves);
  f->rows = calloc(z.rows, sizeof *f->rows);
  f->candidates = calloc(z.candidates, sizeof *f->candidates);
  f->shares = calloc(z.shares, sizeof *f->shares);
  f->permutation = malloc(z.permutation * sizeof *f->permutation + 1);
  f->scratch = malloc(z.scratch + 1);
  f->leaders = calloc(z.leaders, sizeof *f->leaders);
  f->row_posts = calloc(z.posts, sizeof *f->row_posts);
  f->down_posts = calloc(z.posts, sizeof *f->down_posts);
  f->u_posts = calloc(z.posts, sizeof *f->u_posts);
  f->my_offer = malloc(f->record_bytes + 1);
  f->head_copy = malloc(osla_matrix_device(v->matrix) ? f->head_bytes : 1);
  f->column_posts = calloc(z.posts, sizeof *f->column_posts);
  osla_notifiers group = osla_grid_notifiers(v->grid);
  OSLA_CALL(osla_segment_create_for(v->t, z.store, LU_PURPOSES, &group, &f->store));
  OSLA_CALL(osli_lu_panels_create(f));
  osla_err err = OSLA_OK;
  if (!f->pivots || !f->moves || !f->rows || !f->candidates || !f->shares || !f->permutation ||
      !f->scratch || !f->my_offer || !f->head_copy || !f->row_posts || !f->down_posts ||
      !f->u_posts || !f->column_posts || !f->leaders)
    err = osla_error_set(OSLA_ERR_MEM, "LU: buffers of %zu bytes", z.scratch);
  if (err == OSLA_OK) err = allocate_on_device(f, &z);
  if (err == OSLA_OK) osli_lu_leaders_choose(f);
  return osla_agree(v->t, err);
}

static void free_all(lu *f)
{
  osli_panels_destroy(&f->panels);
  osla_segment_destroy(&f->store);
  free(f->pivots);
  free(f->moves);
  free(f->rows);
  free(f->candidates);
  free(f->shares);
  free(f->permutation);
  if (!f->on_device) free(f->scratch);
  osli_device_free(f->on_device);
  free(f->my_offer);
  free(f->head_copy);
  free(f->leaders);
  free(f->row_posts);
  free(f->down_posts);
  free(f->u_posts);
  free(f->column_posts);
}

/* ---- the result ---- */

/* Growth factor: the largest |u_ij|, i <= j, divided by the largest |a_ij| before the
 * factorisation. Collective. */
static osla_err agree_growth(const lu *f, double largest_before, double *growth)
{
  const local_view *v = &f->v;
  /* pair[0] is the largest element; pair[1] is 1 if there is a NaN, otherwise 0. pair[1] is needed
   * because MPI_MAX may drop a NaN. */
  double pair[2] = {0, 0};
  for (int64_t c = 0; c < v->cols; c++) {
    int64_t j = osla_index_global(c, v->nb, v->pcol, v->q);
    double x;
    OSLA_CALL(osla_blas_max(v->dtype, rows_below(v, j + 1), local_at(v, 0, c), &x));
    if (isnan(x)) pair[1] = 1;
    if (x > pair[0]) pair[0] = x;
  }
  OSLA_CALL(osla_allreduce(f->v.t, pair, 2, MPI_DOUBLE, MPI_MAX));
  /* U may be finite although A contains an infinity or NaN, because such an element may have
   * changed only L. */
  bool sound = pair[1] == 0.0 && isfinite(largest_before);
  *growth = !sound ? (double)NAN : largest_before > 0.0 ? pair[0] / largest_before : 1.0;
  return OSLA_OK;
}

/* Fills the result with the lowest info of all ranks, and ipiv with ScaLAPACK's IPIV.
 * Collective. */
static osla_err agree_result(const lu *f, double largest_before, int64_t *ipiv,
                             osla_lu_result *result)
{
  const local_view *v = &f->v;
  int64_t least[2] = {f->info > 0 ? f->info : INT64_MAX, f->has_unsafe_pivot ? 0 : 1};
  /* this call is also a barrier: after it no rank reads panels */
  OSLA_CALL(osli_agree_least(v->t, OSLA_OK, least, 2));
  result->info = least[0] == INT64_MAX ? 0 : least[0];
  result->growth = 0;
  if (f->pivoting != OSLA_PIVOT_PARTIAL)
    OSLA_CALL(agree_growth(f, largest_before, &result->growth));
  result->trusted = result->info == 0 && least[1] == 1 && result->growth <= 1e6;
  for (int64_t l = 0; ipiv && l < v->rows; l++) {
    int64_t i = osla_index_global(l, v->mb, v->prow, v->p);
    if (i < f->order) ipiv[l] = f->pivots[i] + 1;
  }
  return OSLA_OK;
}

static osla_err check(lu *f, const int64_t *ipiv, const osla_lu_options *options)
{
  const local_view *v = &f->v;
  OSLA_CALL(OSLA_RESERVED(osla_lu_options, options));
  OSLA_NEEDS_FULL("osla_getrf", v->matrix);
  OSLA_CHECK(v->mb == v->nb, OSLA_ERR_ARG, "LU: blocks must be square, not %" PRId64 " x %" PRId64,
             v->mb, v->nb);
  OSLA_CHECK(
    !osla_matrix_device(v->matrix) || f->pivoting == OSLA_PIVOT_PARTIAL, OSLA_ERR_UNSUPPORTED,
    "osla_getrf: works on device memory with OSLA_PIVOT_PARTIAL only, not with pivoting = %d",
    (int)f->pivoting);
  OSLA_CHECK(v->p == 1 || is_shared(v->matrix), OSLA_ERR_ARG,
             "LU: A was made by osla_matrix_wrap_own, which is possible with one process row only, "
             "not with %d",
             v->p);
  OSLA_CALL(
    osli_check_panel_options("LU", options ? options->look_ahead : 0, f->forward, &f->look_ahead));
  OSLA_CHECK(f->pivoting >= OSLA_PIVOT_PARTIAL && f->pivoting <= OSLA_PIVOT_NONE, OSLA_ERR_ARG,
             "LU: pivoting = %d is not an osla_pivoting", (int)f->pivoting);
  OSLA_CHECK(f->pivoting == OSLA_PIVOT_NONE || ipiv || v->rows == 0, OSLA_ERR_ARG,
             "LU: ipiv is NULL, which is possible with OSLA_PIVOT_NONE only");
  OSLA_CHECK(!osli_work_modelled || osli_lu_index_bytes(v->nb) <= OSLA_STEERING,
             OSLA_ERR_UNSUPPORTED,
             "LU: with modelled work the pivots of a block of %" PRId64 " take %zu bytes, but "
             "messages carry at most %d: use smaller blocks",
             v->nb, osli_lu_index_bytes(v->nb), OSLA_STEERING);
  OSLA_CHECK(v->nb <= WIDEST || v->n <= WIDEST, OSLA_ERR_RANGE,
             "LU: block size %" PRId64 " exceeds %d", v->nb, WIDEST);
  return osli_view_check_blas(v->matrix);
}

static osla_err agree(const lu *f, const osla_lu_options *options, osla_err local)
{
  const osla_argument same[] = {{"m", f->v.m},
                                {"n", f->v.n},
                                {"nb", f->v.nb},
                                {"pivoting", (int)f->pivoting},
                                {"look_ahead", options ? options->look_ahead : 0},
                                {"forward", (int)f->forward}};
  return osla_agree_same(f->v.t, local, "osla_getrf", same, (int)(sizeof same / sizeof *same));
}

osla_err osla_getrf(osla_matrix *a, int64_t *ipiv, const osla_lu_options *options,
                    osla_lu_result *result)
{
  lu f = {.v = view_of(a)};
  const local_view *v = &f.v;
  double largest = 0;
  osla_err err;
  f.pivoting = options ? options->pivoting : OSLA_PIVOT_PARTIAL;
  f.forward = options ? options->forward : OSLA_FORWARD_CHOSEN;
  /* this call is also a barrier: after it A is complete on all ranks */
  OSLA_CALL(agree(&f, options, check(&f, ipiv, options)));
  f.order = v->m < v->n ? v->m : v->n;
  trim_blocks(&f.v);
  if (v->p == 1 && v->q == 1 && v->nb > f.order && f.order > 0)
    /* a single process may choose any block size; nb = order saves memory, because top blocks are
     * nb x nb */
    f.v.nb = f.order;
  f.steps = (f.order + v->nb - 1) / v->nb;
  if (f.pivoting != OSLA_PIVOT_PARTIAL) OSLA_TRY(osla_matrix_norm(a, OSLA_NORM_MAX, &largest));
  OSLA_TRY(allocate(&f));
  err = run_steps(&f);
  /* The error must end all ranks, because some of them wait for panels of this rank. */
  if (err != OSLA_OK) osla_transport_abort(v->t, err);
  /* wait until no rank reads this rank's part of L any more */
  OSLA_TRY(osli_matrix_barrier(v->matrix));
  err = osli_lu_permute_left(&f);
  if (err == OSLA_OK) err = finish_all_posts(&f);
  if (err != OSLA_OK) osla_transport_abort(v->t, err);
  err = agree_result(&f, largest, ipiv, result);
cleanup:
  free_all(&f);
  return err;
}
