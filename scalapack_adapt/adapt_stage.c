/* Copies between the caller's memory and memory that every rank can access.
 *
 * A copy begins with the block that holds the sub-matrix's first element, on a grid that begins
 * with that block's process. Its local array then corresponds to a rectangle of the caller's local
 * array, and whole columns are copied. Memory per rank: the local part of the sub-matrix, and less
 * than one block more in each direction.
 */
#include "scalapack_adapt/adapt.h"

#include "osla_clock.h"
#include "osla_index.h"
#include "src/device/device.h"

#include <string.h>

adapt_rectangle adapt_rectangle_of(const adapt_sub *sub, const osla_matrix *matrix)
{
  osla_layout l = osla_matrix_layout(matrix);
  int prow = osla_grid_prow(sub->grid), pcol = osla_grid_pcol(sub->grid);
  return (adapt_rectangle){
    .layout = l,
    .prow = prow,
    .pcol = pcol,
    .row = osla_index_count(sub->row, l.mb, prow, l.nprow),
    .col = osla_index_count(sub->col, l.nb, pcol, l.npcol),
    .rows = osla_matrix_local_rows(matrix),
    .cols = osla_matrix_local_cols(matrix),
    .lld = osla_matrix_local_rows(matrix) > 1 ? osla_matrix_local_rows(matrix) : 1};
}

/* Copies the elements of a shape; returns the number of bytes. */
static double copy(const adapt_sub *sub, const osla_matrix *matrix, adapt_shape shape, bool back)
{
  adapt_rectangle r = adapt_rectangle_of(sub, matrix);
  size_t e = osla_dtype_size(osla_matrix_dtype(matrix));
  unsigned char *local = osla_matrix_local(matrix);
  double bytes = 0;
  for (int64_t c = r.col; c < r.cols; c++) {
    int64_t from = r.row, to = r.rows;
    int64_t diagonal =
      osla_index_global(c, r.layout.nb, r.pcol, r.layout.npcol) - sub->col + sub->row;
    if (shape == ADAPT_LOWER)
      from = osla_index_count(diagonal, r.layout.mb, r.prow, r.layout.nprow);
    if (shape == ADAPT_UPPER)
      to = osla_index_count(diagonal + 1, r.layout.mb, r.prow, r.layout.nprow);
    if (from >= to) continue;
    unsigned char *here = local + (size_t)(from + c * r.lld) * e;
    unsigned char *callers = sub->local + (size_t)(from + c * sub->lld) * e;
    size_t count = (size_t)(to - from) * e;
    memcpy(back ? callers : here, back ? here : callers, count);
    bytes += (double)count;
  }
  return bytes;
}

static void set_one(osla_dtype dtype, unsigned char *at)
{
  static const float one_s = 1;
  static const double one_d = 1;
  bool single = dtype == OSLA_FLOAT || dtype == OSLA_COMPLEX_FLOAT;
  memcpy(at, single ? (const void *)&one_s : (const void *)&one_d,
         single ? sizeof one_s : sizeof one_d);
}

static void fill_border(const adapt_sub *sub, const osla_matrix *matrix, bool identity)
{
  adapt_rectangle r = adapt_rectangle_of(sub, matrix);
  osla_dtype dtype = osla_matrix_dtype(matrix);
  size_t e = osla_dtype_size(dtype);
  unsigned char *local = osla_matrix_local(matrix);
  for (int64_t c = 0; c < r.cols; c++)
    memset(local + (size_t)(c * r.lld) * e, 0, (size_t)(c < r.col ? r.rows : r.row) * e);
  for (int64_t d = 0; identity && d < r.row && d < r.col; d++)
    set_one(dtype, local + (size_t)(d + d * r.lld) * e);
}

static osla_err stage_on_host(adapt_call *call, const adapt_sub *sub, adapt_shape shape,
                              adapt_border border, adapt_staged *out)
{
  double since = osla_clock();
  osla_transport *t = adapt_context_transport(call->context);
  osla_layout layout = {sub->row + sub->m, sub->col + sub->n,          sub->mb,
                        sub->nb,           osla_grid_nprow(sub->grid), osla_grid_npcol(sub->grid)};
  *out = (adapt_staged){.sub = sub};
  osla_err err;
  OSLA_TRY(
    adapt_buffer_acquire(call->context, osla_matrix_bytes(&layout, call->dtype), &out->buffer));
  OSLA_TRY(
    osla_agree(t, osla_matrix_create_in(out->buffer->segment, sub->grid, call->dtype, layout.m,
                                        layout.n, layout.mb, layout.nb, &out->matrix)));
  if (border != ADAPT_UNDEFINED) fill_border(sub, out->matrix, border == ADAPT_IDENTITY);
  if (shape != ADAPT_NOTHING) call->bytes += copy(sub, out->matrix, shape, false);
cleanup:
  call->staging += osla_clock() - since;
  return err;
}

/* --- device memory --- */

/* Copies this rank's elements of `shape` from the host to the device, or with `back` from the
 * device to the host. The copy is complete on return. A triangle is copied by block columns, each
 * of which includes its whole diagonal block. This is correct in both directions because no kernel
 * changes the other triangle of the block. */
static osla_err move_elements(adapt_call *call, const adapt_staged *s, adapt_shape shape, bool back)
{
  const adapt_sub *sub = s->sub;
  const adapt_rectangle r = adapt_rectangle_of(sub, s->host);
  const osla_layout *l = &r.layout;
  const size_t e = osla_dtype_size(call->dtype);
  const int rank = osla_transport_rank(adapt_context_transport(call->context));
  const int64_t lld = osla_matrix_lld(s->host, rank), there = osla_matrix_lld(s->matrix, rank);
  unsigned char *host = osla_matrix_local(s->host), *device = osla_matrix_local(s->matrix);
  if (shape == ADAPT_NOTHING) return OSLA_OK;
  for (int64_t c = r.col, end; c < r.cols; c = end) {
    int64_t from = r.row, to = r.rows;
    end =
      shape == ADAPT_WHOLE || (c / l->nb + 1) * l->nb > r.cols ? r.cols : (c / l->nb + 1) * l->nb;
    /* matrix rows of the diagonal elements of local columns c (`first`) and end - 1 (`last`) */
    const int64_t first = osla_index_global(c, l->nb, r.pcol, l->npcol) - sub->col + sub->row;
    const int64_t last = osla_index_global(end - 1, l->nb, r.pcol, l->npcol) - sub->col + sub->row;
    if (shape == ADAPT_LOWER) from = osla_index_count(first, l->mb, r.prow, l->nprow);
    if (shape == ADAPT_UPPER) to = osla_index_count(last + 1, l->mb, r.prow, l->nprow);
    if (from >= to) continue;
    unsigned char *h = host + (size_t)(from + c * lld) * e;
    unsigned char *d = device + (size_t)(from + c * there) * e;
    osli_device_copy(e, to - from, end - c, back ? d : h, back ? there : lld, back ? h : d,
                     back ? lld : there);
    call->bytes += (double)(to - from) * (double)(end - c) * (double)e;
  }
  return osli_device_settle(SETTLE_COPY);
}

/* Replaces staged->matrix, which is in host memory, by a matrix on the call's device, and copies
 * the elements of `shape` to it. Does nothing if the call runs on the host. Collective. Errors, on
 * all ranks together: MEM, MPI. */
static osla_err lift(adapt_call *call, adapt_staged *staged, adapt_shape shape)
{
  if (!call->device) return OSLA_OK;
  const double since = osla_clock();
  const osla_layout l = osla_matrix_layout(staged->matrix);
  osla_matrix *copy = NULL;
  osla_err err;
  OSLA_TRY(osla_matrix_create_on(call->device, staged->sub->grid, call->dtype, l.m, l.n, l.mb, l.nb,
                                 &copy));
  staged->host = staged->matrix;
  staged->matrix = copy;
  err =
    osla_agree(adapt_context_transport(call->context), move_elements(call, staged, shape, false));
cleanup:
  call->staging += osla_clock() - since;
  return err;
}

/* Copies the elements of `shape` from the device back to the matrix in host memory, and destroys
 * the matrix on the device. Does nothing if the call ran on the host. A failure ends all ranks.
 * Collective. */
static void lower(adapt_call *call, adapt_staged *staged, adapt_shape shape)
{
  if (!staged->host) return;
  const double since = osla_clock();
  osla_err err = move_elements(call, staged, shape, true);
  if (err != OSLA_OK) osla_transport_abort(adapt_context_transport(call->context), err);
  osla_matrix_destroy(&staged->matrix);
  staged->matrix = staged->host;
  staged->host = NULL;
  call->staging += osla_clock() - since;
}

/* --- copies for kernels --- */

osla_err adapt_stage(adapt_call *call, const adapt_sub *sub, adapt_shape shape, adapt_border border,
                     adapt_staged *out)
{
  if (!call->device) return stage_on_host(call, sub, shape, border, out);
  *out = (adapt_staged){.sub = sub};
  OSLA_CALL(adapt_wrap(call, sub, &out->matrix));
  return lift(call, out, shape);
}

/* Each rank puts its blocks into a matrix with other block sizes, or gets its blocks back. */
static osla_err redistribute(const adapt_sub *sub, osla_matrix *matrix, bool back)
{
  int p = osla_grid_nprow(sub->grid), q = osla_grid_npcol(sub->grid);
  int prow = osla_grid_prow(sub->grid), pcol = osla_grid_pcol(sub->grid);
  int64_t rows = osla_index_count(sub->row + sub->m, sub->mb, prow, p);
  int64_t cols = osla_index_count(sub->col + sub->n, sub->nb, pcol, q);
  int64_t height = p == 1 ? rows : sub->mb, width = q == 1 ? cols : sub->nb;
  size_t e = osla_dtype_size(osla_matrix_dtype(matrix));
  for (int64_t c = 0; c < cols; c += width)
    for (int64_t r = 0; r < rows; r += height) {
      int64_t i = osla_index_global(r, sub->mb, prow, p),
              j = osla_index_global(c, sub->nb, pcol, q);
      int64_t m = rows - r < height ? rows - r : height, n = cols - c < width ? cols - c : width;
      unsigned char *callers = sub->local + (size_t)(r + c * sub->lld) * e;
      OSLA_CALL(back ? osla_matrix_get_block(matrix, i, j, m, n, callers, sub->lld)
                     : osla_matrix_put_block(matrix, i, j, m, n, callers, sub->lld));
    }
  return OSLA_OK;
}

osla_err adapt_stage_redistributed(adapt_call *call, const adapt_sub *sub, const adapt_sub *wide,
                                   adapt_staged *out)
{
  OSLA_CALL(stage_on_host(call, wide, ADAPT_NOTHING, ADAPT_UNDEFINED, out));
  double since = osla_clock();
  osla_err err = redistribute(sub, out->matrix, false);
  call->bytes += (double)osla_segment_bytes(out->buffer->segment);
  call->staging += osla_clock() - since;
  OSLA_CALL(osla_agree(adapt_context_transport(call->context), err));
  return lift(call, out, ADAPT_WHOLE);
}

osla_err adapt_unstage_redistributed(adapt_call *call, const adapt_sub *sub, adapt_staged *staged)
{
  lower(call, staged, ADAPT_WHOLE);
  double since = osla_clock();
  osla_err err = redistribute(sub, staged->matrix, true);
  call->staging += osla_clock() - since;
  return osla_agree(adapt_context_transport(call->context), err);
}

void adapt_unstage(adapt_call *call, adapt_staged *staged, adapt_shape shape)
{
  lower(call, staged, shape);
  if (!staged->buffer) return; /* the matrix uses the caller's array itself */
  double since = osla_clock();
  call->bytes += copy(staged->sub, staged->matrix, shape, true);
  call->staging += osla_clock() - since;
}

void adapt_stage_free(adapt_call *call, adapt_staged *staged)
{
  double since = osla_clock();
  osla_matrix_destroy(&staged->matrix);
  osla_matrix_destroy(&staged->host);
  if (staged->buffer) adapt_buffer_release(call->context, staged->buffer);
  *staged = (adapt_staged){0};
  call->staging += osla_clock() - since;
}

bool adapt_same_rows(const adapt_sub *x, const adapt_sub *y)
{
  return x->mb == y->mb && x->prow == y->prow && x->row == y->row;
}

bool adapt_same_columns(const adapt_sub *x, const adapt_sub *y)
{
  return x->nb == y->nb && x->pcol == y->pcol && x->col == y->col;
}

osla_err adapt_wrap(adapt_call *call, const adapt_sub *sub, osla_matrix **out)
{
  osla_err err = osla_matrix_wrap_own(sub->grid, call->dtype, sub->row + sub->m, sub->col + sub->n,
                                      sub->mb, sub->nb, sub->local, sub->lld, out);
  return osla_agree(adapt_context_transport(call->context), err);
}

osla_err adapt_stage_input(adapt_call *call, const adapt_sub *sub, bool own, adapt_staged *out)
{
  if (call->device || (!call->alone && !own))
    return adapt_stage(call, sub, ADAPT_WHOLE, ADAPT_UNDEFINED, out);
  *out = (adapt_staged){.sub = sub};
  return adapt_wrap(call, sub, &out->matrix);
}

osla_err adapt_stage_result(adapt_call *call, const adapt_sub *sub, adapt_shape shape,
                            adapt_staged *out)
{
  if (call->device) return adapt_stage(call, sub, shape, ADAPT_UNDEFINED, out);
  *out = (adapt_staged){.sub = sub};
  return adapt_wrap(call, sub, &out->matrix);
}
