/* Adds a piece (a rectangle of an update) to an owner's array. Rows are cut into chunks. Each chunk
 * is added column by column. Within a column, runs of consecutive rows are added as a whole if they
 * are long enough; otherwise elements are added one by one. */
#include "kernels/hessian/hessian.h"
#include "kernels/hessian/hessian_device.h"
#include "kernels/hessian/hessian_exact.h"
#include "kernels/hessian/hessian_split.h"
#include "kernels/hessian/hessian_update.h"
#include "osla_trace.h"
#include "src/blas/work.h"
#include "src/memory/segment.h"

#include <inttypes.h>
#include <stdlib.h>

/* A chunk ends at CHUNK_ROWS rows or at the end of the piece. If the runs of consecutive rows in a
 * chunk have fewer than RUN_LEAST rows on average, the chunk is added element by element, because a
 * call for each run would cost more. */
enum { CHUNK_ROWS = 4096, RUN_LEAST = 8, RUNS_MOST = CHUNK_ROWS / RUN_LEAST };

typedef struct chunk {
  /* the chunk has the rows at positions first .. past - 1 of the row list of a `piece` */
  int64_t first;
  int64_t past;
  int n_runs; /* number of runs; 0: rows are added one by one */
  /* positions in the row list at which the runs begin; run[n_runs] = past */
  int64_t run[RUNS_MOST + 1];
} chunk;

/* Tests whether row number r of the list directly follows row number r - 1, both in H and among the
 * values. */
static bool follows(const piece *p, int64_t r)
{
  return p->row[r] == p->row[r - 1] + 1 &&
         (!p->row_position || p->row_position[r] == p->row_position[r - 1] + 1);
}

static void find_runs(const piece *p, int64_t first, chunk *s)
{
  s->first = first;
  s->past = p->rows - first < CHUNK_ROWS ? p->rows : first + CHUNK_ROWS;
  int64_t most = (s->past - first) / RUN_LEAST + 1;
  if (most > RUNS_MOST) most = RUNS_MOST;
  s->n_runs = 0;
  s->run[s->n_runs++] = first;
  for (int64_t r = first + 1; r < s->past; r++) {
    if (follows(p, r)) continue;
    if (s->n_runs == most) {
      s->n_runs = 0;
      return;
    }
    s->run[s->n_runs++] = r;
  }
  s->run[s->n_runs] = s->past;
}

/* Adds rows [begin, end) of one column, element by element. `column`: index of the column's value
 * in row 0. That value need not exist: a packed column starts with row p->begin. */
static bool add_scattered(const osla_hessian *h, const piece *p, int64_t begin, int64_t end,
                          int64_t column, unsigned char *dest, int64_t ahead)
{
  const int64_t *position = p->row_position ? p->row_position + begin : NULL;
  int64_t at = position ? column : column + begin;
  return h->combine.column(&h->combine, end - begin, p->row + begin, position,
                           p->values + (size_t)at * h->element, dest, ahead);
}

static bool add_runs(const osla_hessian *h, const piece *p, const chunk *s, int64_t begin,
                     int64_t end, int64_t column, unsigned char *dest, int64_t ahead)
{
  bool good = true;
  for (int k = 0; k < s->n_runs && s->run[k] < end; k++) {
    int64_t from = s->run[k] > begin ? s->run[k] : begin;
    int64_t past = s->run[k + 1] < end ? s->run[k + 1] : end;
    if (from >= past) continue;
    int64_t at = column + (p->row_position ? p->row_position[from] : from);
    good &=
      h->combine.column(&h->combine, past - from, NULL, NULL, p->values + (size_t)at * h->element,
                        dest + (size_t)p->row[from] * h->v.element, ahead);
  }
  return good;
}

static int64_t add_chunk(const osla_hessian *h, const piece *p, const chunk *s,
                         const owner_array *a)
{
  stored_columns run = {0};
  int64_t added = 0, packed = 0, next = p->cols > 0 ? array_column(a, &run, p->col[0]) : 0;
  for (int64_t c = 0; c < p->cols; c++) {
    int64_t begin = p->begin[c] > s->first ? p->begin[c] : s->first;
    int64_t end = p->end[c] < s->past ? p->end[c] : s->past;
    int64_t column = piece_column_start(p, c, packed);
    const int64_t index = next;
    packed += p->end[c] - p->begin[c];
    if (c + 1 < p->cols) next = array_column(a, &run, p->col[c + 1]);
    if (begin >= end) continue;
    unsigned char *dest = array_at(a, index, h->v.element);
    const int64_t ahead = next - index;
    added += end - begin;
    bool good = s->n_runs > 0 ? add_runs(h, p, s, begin, end, column, dest, ahead)
                              : add_scattered(h, p, begin, end, column, dest, ahead);
    if (!good)
      osli_exact_record_refused(h, p, c, begin, end, p->values, column, a->owner,
                                (const int64_t *)(const void *)dest);
  }
  return added;
}

/* ---- refused elements of a matrix H in device memory ---- */

/* Copies column c of a piece from device memory to host memory, and records the column's refused
 * elements. The caller provides the host memory: `sums` for the numbers of the column of the array,
 * up to the last row of the piece, `values` for the values of the column. */
static osla_err record_column(const osla_hessian *h, const piece *p, int64_t c, int64_t packed,
                              const owner_array *a, int64_t *sums, unsigned char *values)
{
  const int64_t begin = p->begin[c], end = p->end[c];
  stored_columns run = {0};
  int64_t low = INT64_MAX, high = -1;
  for (int64_t r = begin; r < end; r++) {
    const int64_t at = p->row_position ? p->row_position[r] : r;
    if (at < low) low = at;
    if (at > high) high = at;
  }
  if (high < low) return OSLA_OK;
  const int64_t first = piece_column_start(p, c, packed) + low;
  OSLA_CALL(osli_queue_copy((size_t)(p->row[end - 1] + 1) * sizeof *sums,
                            array_at(a, array_column(a, &run, p->col[c]), sizeof *sums), sums));
  OSLA_CALL(osli_queue_copy((size_t)(high - low + 1) * h->element,
                            p->values + (size_t)first * h->element, values));
  osli_exact_record_refused(h, p, c, begin, end, values, -low, a->owner, sums);
  return OSLA_OK;
}

/* If elements of a piece were refused when it was added to the local array in device memory,
 * records the first of them as an offence. */
static osla_err record_refused(const osla_hessian *h, const piece *p, const owner_array *a)
{
  int64_t most = p->rows;
  for (int64_t r = 0; p->row_position && r < p->rows; r++)
    if (p->row_position[r] >= most) most = p->row_position[r] + 1;
  const int64_t rows = p->row[p->rows - 1] + 1;
  int64_t *sums = malloc((size_t)rows * sizeof *sums);
  unsigned char *values = malloc((size_t)most * h->element);
  osla_err err =
    sums && values
      ? OSLA_OK
      : osla_error_set(OSLA_ERR_MEM, "no memory for a column of %" PRId64 " elements", rows);
  for (int64_t c = 0, packed = 0; c < p->cols && err == OSLA_OK; c++) {
    err = record_column(h, p, c, packed, a, sums, values);
    packed += p->end[c] - p->begin[c];
  }
  free(sums);
  free(values);
  return err;
}

static osla_err add_on_device(const osla_hessian *h, const piece *p, const owner_array *a)
{
  int64_t refused;
  OSLA_CALL(osli_queue_piece(h, p, a, &refused));
  return refused > 0 ? record_refused(h, p, a) : OSLA_OK;
}

/* ---- additions of pieces ---- */

osla_err osli_piece_add(const osla_hessian *h, const piece *p, const owner_array *a)
{
  double since = osla_trace_now(h->v.t);
  const bool on_device = osli_is_on_device(h, a->at);
  int64_t added = 0;
  chunk s;
  if (h->exact) OSLA_CALL(osli_exact_prepare(h, p, a));
  if (on_device) OSLA_CALL(add_on_device(h, p, a));
  if (osli_work_modelled || on_device) added = osli_piece_elements(p);
  for (int64_t first = 0; first < p->rows && !osli_work_modelled && !on_device; first = s.past) {
    find_runs(p, first, &s);
    added += add_chunk(h, p, &s, a);
  }
  work_charge(OSLA_WORK_ADD, h->v.dtype, 1, added, 1);
  osla_trace_add(h->v.t, OSLA_TRACE_UPDATE, since, (double)added);
  return OSLA_OK;
}

osla_err osli_piece_unlock(const osla_hessian *h, osla_stripes *lock, uint64_t stripes)
{
  if (!h->device) {
    osla_stripes_release(h->v.t, lock, stripes);
    return OSLA_OK;
  }
  osla_err err = osli_device_finish(h->device);
  osli_stripes_drop(h->v.t, lock, stripes);
  return err;
}
