/* Work on a matrix H in device memory. The kernels of a device read lists (src/device/combine.h).
 * The functions of this file describe by such lists: additions of pieces, copies in the order of an
 * index list, and conversions of stripes. */
#include "kernels/hessian/hessian_device.h"
#include "kernels/hessian/hessian.h"
#include "src/memory/segment.h"

#include <inttypes.h>
#include <stdlib.h>

bool osli_is_on_device(const osla_hessian *h, const void *address)
{
  return h->device && osli_device_of(address);
}

osla_err osli_target_check_device(const osla_matrix *a, const osla_hessian_options *o)
{
  OSLA_CHECK(o->combine != OSLA_COMBINE_USER, OSLA_ERR_UNSUPPORTED,
             "OSLA_COMBINE_USER calls a function of the host, and the matrix lies on a device: "
             "use another operation, or a matrix in host memory");
  const device_queue *q = osli_device_queue(osla_matrix_device(a));
  /* this work has no columns, so it changes nothing; a plug-in without kernels refuses it */
  return q->ops->submit(q->state, &(device_work){.kind = DEVICE_COMBINE, .dtype = OSLA_DOUBLE});
}

osla_err osli_queue_copy(size_t bytes, const void *from, void *to)
{
  if (bytes == 0) return OSLA_OK;
  return osli_device_submit(&(device_work){
    .kind = DEVICE_COPY, .element = 1, .m = (int64_t)bytes, .n = 1, .a = from, .c = to});
}

osla_err osli_queue_panel(const osla_hessian *h, int64_t k, int64_t count, const void *from,
                          int64_t ld, void *to)
{
  return osli_device_submit(&(device_work){.kind = DEVICE_COPY,
                                           .element = h->element,
                                           .m = k,
                                           .n = count,
                                           .a = from,
                                           .lda = ld,
                                           .c = to,
                                           .ldc = k});
}

/* Start addresses of the arrays of combine_loop, which lie one after another in one allocation. */
typedef struct work_lists {
  int64_t *target, *start, *begin, *end, *row, *position;
} work_lists;

/* Allocates the lists for the w->n columns of the work w, and for its w->m rows if `with_rows` is
 * true. */
static osla_err make_lists(device_work *w, bool with_rows, work_lists *out)
{
  w->n_lists = 4 * w->n + (with_rows ? 2 * w->m : 0);
  int64_t *at = malloc((size_t)w->n_lists * sizeof *at + 1);
  OSLA_CHECK(at, OSLA_ERR_MEM, "no memory for lists of %" PRId64 " numbers", w->n_lists);
  w->lists = at;
  int64_t *rows = at + 4 * w->n;
  *out = (work_lists){at, at + w->n, at + 2 * w->n, at + 3 * w->n, rows, rows + w->m};
  return OSLA_OK;
}

/* Queues the work and frees its lists. */
static osla_err submit(const device_work *w, const work_lists *l)
{
  osla_err err = osli_device_submit(w);
  free(l->target);
  return err;
}

static device_work work_on(const osla_hessian *h, combine_operation operation, int64_t rows,
                           int64_t cols, const void *values, void *elements)
{
  return (device_work){.kind = DEVICE_COMBINE,
                       .dtype = h->v.dtype,
                       .dtype_a = h->combine.update_dtype,
                       .operation = operation,
                       .fixed = h->combine.fixed,
                       .m = rows,
                       .n = cols,
                       .a = values,
                       .c = elements};
}

/* Sets those lists that describe where the values of a piece lie. */
static void list_values(const piece *p, const work_lists *l)
{
  for (int64_t c = 0, packed = 0; c < p->cols; c++) {
    l->start[c] = piece_column_start(p, c, packed);
    l->begin[c] = p->begin[c];
    l->end[c] = p->end[c];
    packed += p->end[c] - p->begin[c];
  }
  for (int64_t r = 0; r < p->rows; r++)
    l->position[r] = p->row_position ? p->row_position[r] : r;
}

osla_err osli_queue_piece(const osla_hessian *h, const piece *p, const owner_array *a,
                          int64_t *refused)
{
  static const combine_operation operations[] = {[OSLA_COMBINE_SUM] = COMBINE_SUM,
                                                 [OSLA_COMBINE_MIN] = COMBINE_MIN,
                                                 [OSLA_COMBINE_MAX] = COMBINE_MAX};
  const combine_operation operation = h->exact ? COMBINE_FIXED_SUM : operations[h->options.combine];
  device_work w = work_on(h, operation, p->rows, p->cols, p->values, a->at);
  stored_columns run = {0};
  work_lists l;
  *refused = 0;
  if (osli_piece_elements(p) == 0) return OSLA_OK;
  OSLA_CALL(make_lists(&w, true, &l));
  list_values(p, &l);
  for (int64_t c = 0; c < p->cols; c++)
    l.target[c] = array_column(a, &run, p->col[c]);
  for (int64_t r = 0; r < p->rows; r++)
    l.row[r] = p->row[r];
  if (h->exact) w.info = refused;
  return submit(&w, &l);
}

osla_err osli_queue_gather(const osla_hessian *h, const piece *p, int64_t ld, unsigned char *values)
{
  device_work w = work_on(h, COMBINE_SET, p->rows, p->cols, p->values, values);
  work_lists l;
  w.dtype = w.dtype_a;
  OSLA_CALL(make_lists(&w, true, &l));
  list_values(p, &l);
  for (int64_t c = 0; c < p->cols; c++)
    l.target[c] = c * ld;
  for (int64_t r = 0; r < p->rows; r++)
    l.row[r] = r;
  return submit(&w, &l);
}

osla_err osli_queue_columns(const osla_hessian *h, int64_t k, int64_t count,
                            const int64_t *position, const unsigned char *from, int64_t ld,
                            unsigned char *to)
{
  device_work w = work_on(h, COMBINE_SET, k, count, from, to);
  work_lists l;
  w.dtype = w.dtype_a;
  OSLA_CALL(make_lists(&w, false, &l));
  for (int64_t c = 0; c < count; c++) {
    l.target[c] = c * k;
    l.start[c] = position[c] * ld;
    l.begin[c] = 0;
    l.end[c] = k;
  }
  return submit(&w, &l);
}

osla_err osli_queue_stripes(const osla_hessian *h, combine_operation operation, double constant,
                            uint64_t stripes, const owner_array *a, int64_t *refused)
{
  const int64_t nb = h->options.nb;
  const int prow = osla_grid_prow_of(h->v.grid, a->owner);
  const int pcol = osla_grid_pcol_of(h->v.grid, a->owner);
  const int64_t cols = osla_index_count(h->n, nb, pcol, h->v.q);
  device_work w = work_on(h, operation, osla_index_count(h->n, nb, prow, h->v.p), 0, NULL, a->at);
  stored_columns run = {0};
  work_lists l;
  if (refused) *refused = 0;
  for (int64_t c = 0; c < cols; c++)
    w.n += (column_stripe(c, nb) & stripes) != 0;
  if (w.m == 0 || w.n == 0) return OSLA_OK;
  w.alpha = constant;
  w.info = refused;
  OSLA_CALL(make_lists(&w, false, &l));
  for (int64_t c = 0, at = 0; c < cols; c++) {
    if (!(column_stripe(c, nb) & stripes)) continue;
    const row_range r = stored_rows(h, prow, osla_index_global(c, nb, pcol, h->v.q));
    l.target[at] = array_column(a, &run, c);
    l.start[at] = 0;
    l.begin[at] = r.from;
    l.end[at++] = r.past;
  }
  return submit(&w, &l);
}
