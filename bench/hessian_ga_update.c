/* Three ways to add an update to an array of Global Arrays. The element scatter passes single
 * elements to NGA_Scatter_acc_flat64. The patches are added by NGA_NbAcc64, one for each pair of a
 * run of consecutive rows and a run of consecutive columns. The vectors are added by ARMCI_NbAccV,
 * one call for each owner; a segment is a run of consecutive rows in a column.
 *
 * The indices of an update are distinct and ascending, so no call contains an element twice, which
 * MPI forbids in the underlying accumulate. */
#include "config.h"

#ifdef HAVE_GA

#include "bench/hessian_ga.h"

#include <string.h>

static const float one_float = 1;
static const double one_double = 1;

static void *factor(const hessian_data *d)
{
  /* GA's prototypes lack const */
  const void *one =
    d->updates.dtype == OSLA_FLOAT ? (const void *)&one_float : (const void *)&one_double;
  return (void *)(uintptr_t)one;
}

/* --- ga-scatter --- */

static void scatter_collected(hessian_data *d)
{
  hessian_ga_buffers *b = d->current_ga->buffers;
  if (b->n_collected > 0)
    NGA_Scatter_acc_flat64(d->current_ga->array, b->values, b->pairs[0], b->n_collected, factor(d));
  b->n_collected = 0;
}

/* Adds the rows of a column that are in the triangle. `values` has an element for each row. */
static void scatter_column(hessian_data *d, const int64_t *ix, int64_t column, const char *values)
{
  hessian_ga_buffers *b = d->current_ga->buffers;
  const size_t size = osla_dtype_size(d->updates.dtype);
  int64_t begin, end;
  hessian_rows(d->job->settings->uplo, d->updates.count, column, &begin, &end);
  while (begin < end) {
    int64_t room = HESSIAN_GA_CALL - b->n_collected, some = end - begin < room ? end - begin : room;
    memcpy(b->values + (size_t)b->n_collected * size, values + (size_t)begin * size,
           (size_t)some * size);
    for (int64_t a = 0; a < some; a++) { /* indices in the order of GA's C interface */
      b->pairs[b->n_collected + a][0] = ix[column];
      b->pairs[b->n_collected + a][1] = ix[begin + a];
    }
    b->n_collected += some;
    begin += some;
    if (b->n_collected == HESSIAN_GA_CALL) scatter_collected(d);
  }
}

static void scatter_strip(hessian_data *d, int64_t k, int thread, const hessian_strip *strip)
{
  const size_t column_bytes = (size_t)d->updates.count * osla_dtype_size(d->updates.dtype);
  (void)thread;
  for (int64_t c = 0; c < strip->columns; c++)
    scatter_column(d, updates_indices(&d->updates, k), strip->column + c,
                   (const char *)strip->values + (size_t)c * column_bytes);
}

osla_err hessian_ga_scatter(hessian_data *d, int64_t k, int thread)
{
  osla_err err = hessian_strips(d, k, thread, scatter_strip);
  scatter_collected(d);
  return err;
}

/* --- ga-patch --- */

/* Starts the addition of a patch of `block`, whose columns are `ld` elements apart. */
static void add_patch(hessian_data *d, const int64_t *ix, index_run rows, index_run columns,
                      const char *block, int64_t ld)
{
  hessian_ga_buffers *b = d->current_ga->buffers;
  ga_nbhdl_t *handle = &b->handles[b->n_patches % HESSIAN_GA_PATCHES];
  int64_t low[2] = {ix[columns.begin], ix[rows.begin]},
          high[2] = {ix[columns.end - 1], ix[rows.end - 1]};
  if (b->n_patches >= HESSIAN_GA_PATCHES) NGA_NbWait(handle);
  b->n_patches++;
  NGA_NbAcc64(d->current_ga->array, low, high, (void *)(uintptr_t)block, &ld, factor(d), handle);
}

/* Copies the triangle of a square on the diagonal of `block` to `to`, with zeros elsewhere. */
static void copy_square(const hessian_data *d, index_run run, const char *block, char *to)
{
  const size_t size = osla_dtype_size(d->updates.dtype);
  const int64_t order = run.end - run.begin;
  memset(to, 0, (size_t)(order * order) * size);
  for (int64_t b = 0; b < order; b++) {
    int64_t begin, end;
    hessian_rows(d->job->settings->uplo, order, b, &begin, &end);
    memcpy(to + (size_t)(begin + b * order) * size,
           block + (size_t)(run.begin + begin + (run.begin + b) * d->updates.count) * size,
           (size_t)(end - begin) * size);
  }
}

static int64_t find_runs(const updates *u, const int64_t *ix, index_run *runs)
{
  int64_t n_runs = 0;
  for (int64_t a = 0; a < u->count; a++) {
    if (a == 0 || ix[a] != ix[a - 1] + 1) runs[n_runs++].begin = a;
    runs[n_runs - 1].end = a + 1;
  }
  return n_runs;
}

osla_err hessian_ga_patch(hessian_data *d, int64_t k, int thread)
{
  const int64_t *ix = updates_indices(&d->updates, k), count = d->updates.count;
  hessian_ga_buffers *b = d->current_ga->buffers;
  const size_t size = osla_dtype_size(d->updates.dtype);
  const void *block;
  OSLA_CALL(hessian_block(d, k, thread, &block));
  char *square = b->diagonal;
  int64_t n_runs = find_runs(&d->updates, ix, b->runs);
  b->n_patches = 0;
  for (int64_t c = 0; c < n_runs; c++) {
    int64_t begin, end, order = b->runs[c].end - b->runs[c].begin;
    copy_square(d, b->runs[c], block, square);
    add_patch(d, ix, b->runs[c], b->runs[c], square, order);
    square += (size_t)(order * order) * size;
    hessian_rows(d->job->settings->uplo, n_runs, c, &begin, &end);
    for (int64_t r = begin; r < end; r++)
      if (r != c)
        add_patch(d, ix, b->runs[r], b->runs[c],
                  (const char *)block +
                    (size_t)(b->runs[r].begin + b->runs[c].begin * count) * size,
                  count);
  }
  for (int64_t p = 0; p < b->n_patches && p < HESSIAN_GA_PATCHES; p++)
    NGA_NbWait(&b->handles[p]);
  return OSLA_OK;
}

/* --- ga-vector --- */

/* Waits until ARMCI no longer reads the segments of the latest call. */
static void wait_for_segments(hessian_ga_buffers *b)
{
  if (b->in_flight) ARMCI_Wait(&b->vector_handle);
  b->in_flight = false;
}

/* Sorts the collected segments by length, because all pieces of an ARMCI vector (armci_giov_t) have
 * one length, and starts their addition (ARMCI_NbAccV). */
static void send_segments(hessian_data *d, int owner)
{
  hessian_ga_buffers *b = d->current_ga->buffers;
  const int type = d->updates.dtype == OSLA_FLOAT ? ARMCI_ACC_FLT : ARMCI_ACC_DBL;
  const int64_t size = (int64_t)osla_dtype_size(d->updates.dtype), longest = d->updates.count;
  int n_vectors = 0;
  if (b->n_collected == 0) return;
  wait_for_segments(b);
  memset(b->lengths, 0, (size_t)(longest + 1) * sizeof *b->lengths);
  for (int64_t s = 0; s < b->n_collected; s++)
    b->lengths[b->length[s]]++;
  for (int64_t length = 1, first = 0; length <= longest; length++) {
    int64_t number = b->lengths[length];
    b->lengths[length] = first;
    if (number > 0)
      b->vectors[n_vectors++] = (armci_giov_t){.src_ptr_array = b->sorted_source + first,
                                               .dst_ptr_array = b->sorted_target + first,
                                               .bytes = (int)(length * size),
                                               .ptr_array_len = (int)number};
    first += number;
  }
  for (int64_t s = 0; s < b->n_collected; s++) {
    int64_t to = b->lengths[b->length[s]]++;
    b->sorted_source[to] = b->source[s];
    b->sorted_target[to] = b->target[s];
  }
  ARMCI_INIT_HANDLE(&b->vector_handle);
  ARMCI_NbAccV(type, factor(d), b->vectors, n_vectors, owner, &b->vector_handle);
  b->in_flight = true;
  b->n_collected = 0;
}

/* First of the ascending indices that is not below `index`. */
static int64_t first_not_below(int64_t count, const int64_t *ix, int64_t index)
{
  int64_t low = 0, high = count;
  while (low < high) {
    int64_t middle = low + (high - low) / 2;
    if (ix[middle] < index)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/* Collects the segments of a column: runs among the rows [begin, end) of the update. */
static void collect_column(hessian_data *d, int rank, const int64_t *ix, int64_t column,
                           int64_t begin, int64_t end, const char *block)
{
  hessian_ga_buffers *b = d->current_ga->buffers;
  const ga_owner *o = &b->owners[rank];
  const int64_t size = (int64_t)osla_dtype_size(d->updates.dtype);
  for (int64_t a = begin, next; a < end; a = next) {
    for (next = a + 1; next < end && ix[next] == ix[next - 1] + 1;)
      next++;
    int64_t at = (ix[column] - o->column) * o->ld + ix[a] - o->row, s = b->n_collected++;
    b->source[s] = (void *)(uintptr_t)(block + (a + column * d->updates.count) * size);
    b->target[s] = (char *)o->memory + at * size;
    b->length[s] = next - a;
    if (b->n_collected == HESSIAN_GA_CALL) send_segments(d, rank);
  }
}

osla_err hessian_ga_vector(hessian_data *d, int64_t k, int thread)
{
  const int64_t *ix = updates_indices(&d->updates, k), count = d->updates.count;
  const void *block;
  OSLA_CALL(hessian_block(d, k, thread, &block));
  for (int i = 0; i < d->job->size; i++) {
    int rank = (d->job->rank + i) % d->job->size;
    const ga_owner *o = &d->current_ga->buffers->owners[rank];
    int64_t top = first_not_below(count, ix, o->row),
            bottom = first_not_below(count, ix, o->row + o->rows),
            right = first_not_below(count, ix, o->column + o->columns);
    for (int64_t c = first_not_below(count, ix, o->column); c < right; c++) {
      int64_t begin, end;
      hessian_rows(d->job->settings->uplo, count, c, &begin, &end);
      collect_column(d, rank, ix, c, begin > top ? begin : top, end < bottom ? end : bottom, block);
    }
    send_segments(d, rank);
  }
  wait_for_segments(d->current_ga->buffers);
  return OSLA_OK;
}

#endif
