/* Redistribution and mirroring. The owner of the destination fetches its data one-sided.
 *
 * For a copy each rank goes through its own columns of the destination. From each source column the
 * rank copies the runs of rows that are contiguous in both distributions. If at least one of the
 * two matrices lies on a device, the rank copies such runs of several adjacent columns at once. A
 * column of another rank of the node is read in place. Columns of other nodes are fetched whole, in
 * batches of at most 64 columns, and then copied from the staging memory, which holds one batch. A
 * rank makes one get for each source column on another node and each process row.
 *
 * If one of the matrices is triangular, the rank copies runs of adjacent columns. From a full
 * source, all rows are copied as described above. From a triangular source, only the rows below the
 * run's square on the diagonal are; the other rows that the destination stores are read by
 * osla_matrix_get_block, which transposes elements from below the diagonal.
 */
#include "src/blas/move.h"
#include "src/matrix/local_transpose.h"
#include "src/matrix/memory_kind.h"
#include "src/matrix/part_checks.h"
#include "src/matrix/part_local.h"
#include "src/matrix/part_view.h"
#include "src/matrix/stored.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { BATCH = 64 };

/* State of the copy of this rank's columns from one process row of the source. */
typedef struct copying {
  osla_part source, dest;
  osla_layout from; /* layout of the source's matrix */
  int rank;         /* this rank */
  int src_prow;     /* process row of the source from which elements are copied */
  /* local index on that process row of the first row that belongs to the part */
  int64_t src_row;
  int64_t src_rows;       /* number of local rows on that process row that belong to the part */
  part_local to;          /* this rank's share of dest */
  stored_columns stored;  /* run of dest's local columns that are being copied */
  unsigned char *staging; /* columns fetched from other nodes */
  int64_t stride;         /* leading dimension of `staging`, in elements */
} copying;

/* Address of the element in local row r and local column c of dest. */
static unsigned char *dest_at(const copying *w, int64_t r, int64_t c)
{
  const part_local *p = &w->to;
  return osli_stored_at(p->local, &w->stored, p->row + r, p->col + c, p->element);
}

/* Copies rows of this rank's local columns [c, c + cols), namely the rows that process row
 * w->src_prow of the source owns. `from` holds these rows of the source, with leading dimension
 * `ld`. If cols > 1, the columns must be adjacent in both matrices, and one of the arrays must lie
 * on a device, where one copy of a rectangle is much faster than a copy of each column. */
static void copy_rows(const copying *w, const unsigned char *from, int64_t ld, int64_t c,
                      int64_t cols)
{
  const osla_layout *l = &w->to.layout, *ls = &w->from;
  const size_t e = w->to.element;
  for (int64_t r = 0, run; r < w->to.rows; r += run) {
    int64_t i = part_row(&w->to, r), there = w->source.i + i;
    int64_t src_run = adjacent_indices(there, ls->m, ls->mb, ls->nprow);
    run = adjacent_indices(w->to.i + i, l->m, l->mb, l->nprow);
    if (run > w->to.rows - r) run = w->to.rows - r;
    if (src_run < run) run = src_run;
    if (osla_index_owner(there, ls->mb, ls->nprow) != w->src_prow) continue;
    const unsigned char *first =
      from + (size_t)(osla_index_local(there, ls->mb, ls->nprow) - w->src_row) * e;
    if (cols == 1)
      osli_move_bytes(dest_at(w, r, c), first, (size_t)run * e);
    else
      osli_move_columns(e, run, cols, first, ld, dest_at(w, r, c), w->stored.ld);
  }
}

/* Returns the number of columns of a matrix, from global column j on, that their owner stores one
 * after another with one leading dimension. */
static int64_t adjacent_in(const osla_matrix *a, int64_t j)
{
  const osla_layout l = osla_matrix_layout(a);
  return osla_matrix_is_triangle(a) ? osla_index_run(j, l.n, l.nb)
                                    : adjacent_indices(j, l.n, l.nb, l.npcol);
}

/* Returns how many of this rank's columns, from local column c on, are adjacent in both matrices.
 * The result is at most `most`. */
static int64_t adjacent_columns(const copying *w, int64_t c, int64_t most)
{
  const int64_t j = part_col(&w->to, c);
  const int64_t run = adjacent_in(w->dest.matrix, w->dest.j + j);
  const int64_t src_run = adjacent_in(w->source.matrix, w->source.j + j);
  if (run < most) most = run;
  return src_run < most ? src_run : most;
}

/* The rows of one source column that one process row of the source owns. */
typedef struct source_column {
  const unsigned char *rows; /* the first of these rows */
  int64_t ld;                /* leading dimension of the array in which the rows lie */
} source_column;

/* Finds the source of this rank's local column c in process row w->src_prow. If this rank can map
 * the source, the rows are used in place. Otherwise the function starts a transfer of the rows into
 * slot k of the staging memory. */
static osla_err locate_column(const copying *w, int64_t c, int k, source_column *column,
                              osla_transfer *transfer)
{
  const osla_matrix *a = w->source.matrix;
  const size_t e = w->to.element;
  const int64_t j = w->source.j + part_col(&w->to, c);
  const int src_pcol = osla_index_owner(j, w->from.nb, w->from.npcol);
  const int rank = osla_grid_rank_at(osla_matrix_grid(a), w->src_prow, src_pcol);
  const int64_t col = osla_index_local(j, w->from.nb, w->from.npcol);
  const stored_columns stored = osli_stored_columns(a, rank, col);
  const size_t at = (size_t)stored_index(&stored, w->src_row, col) * e;
  const unsigned char *peer = osla_matrix_peer(a, rank);
  *transfer = OSLA_TRANSFER_NONE;
  *column = peer ? (source_column){peer + at, stored.ld}
                 : (source_column){w->staging + (size_t)(k * w->stride) * e, w->stride};
  if (peer) return OSLA_OK;
  OSLA_CHECK(osla_matrix_segment(a), OSLA_ERR_ARG,
             "elements of rank %d are not accessible: the source was made by osla_matrix_wrap_own",
             rank);
  return osla_segment_get(osla_matrix_segment(a), rank, osli_matrix_start(a, rank) + at,
                          w->staging + (size_t)(k * w->stride) * e, (size_t)w->src_rows * e,
                          transfer);
}

/* Copies this rank's columns [first, first + count) from one process row of the source. */
static osla_err copy_columns(const copying *w, int64_t first, int count)
{
  osla_segment *segment = osla_matrix_segment(w->source.matrix);
  source_column columns[BATCH];
  osla_transfer transfers[BATCH];
  osla_err err = OSLA_OK;
  int started = 0;
  for (; started < count && err == OSLA_OK; started++)
    err = locate_column(w, first + started, started, &columns[started], &transfers[started]);
  for (int k = 0; k < started && segment; k++) {
    osla_err waited = osla_transfer_wait(segment, &transfers[k]);
    if (err == OSLA_OK) err = waited;
  }
  for (int64_t k = 0, cols; k < count && err == OSLA_OK; k += cols) {
    const bool on_device = osli_on_device(columns[k].rows, w->to.local, NULL);
    cols = on_device ? adjacent_columns(w, first + k, count - k) : 1;
    copy_rows(w, columns[k].rows, columns[k].ld, first + k, cols);
  }
  return err;
}

static osla_err check_copy(const osla_part *source, const osla_part *dest)
{
  osla_dtype ts = osla_matrix_dtype(source->matrix), td = osla_matrix_dtype(dest->matrix);
  OSLA_CALL(osli_part_inside("copy", source, "source"));
  OSLA_CALL(osli_part_check_stored("copy", dest, "destination"));
  OSLA_CHECK(source->m == dest->m && source->n == dest->n, OSLA_ERR_ARG,
             "source is %" PRId64 " x %" PRId64 ", destination %" PRId64 " x %" PRId64, source->m,
             source->n, dest->m, dest->n);
  OSLA_CHECK(ts == td, OSLA_ERR_ARG, "source has type '%c', destination '%c'",
             osla_dtype_letter(ts), osla_dtype_letter(td));
  OSLA_CHECK(osla_grid_transport(osla_matrix_grid(source->matrix)) ==
               osla_grid_transport(osla_matrix_grid(dest->matrix)),
             OSLA_ERR_ARG, "source and destination belong to different transports");
  OSLA_CHECK(!osli_parts_overlap(source, dest), OSLA_ERR_ARG, "source and destination overlap%s",
             source->matrix == dest->matrix ? " in one matrix" : "");
  return OSLA_OK;
}

/* Copies those rows of this rank's columns [c, c + cols) whose index in the part is at least
 * `first`, from all process rows that own them in the source. */
static osla_err copy_rows_from(const copying *whole, int64_t first, int64_t c, int64_t cols)
{
  copying w = *whole;
  const osla_layout *l = &w.from;
  const int64_t i = w.source.i + first, end = w.source.i + w.source.m;
  const int64_t row =
    osla_index_count(w.to.i + first, w.to.layout.mb, w.to.prow, w.to.layout.nprow);
  w.to.rows -= row - w.to.row;
  w.to.row = row;
  for (w.src_prow = 0; w.src_prow < l->nprow && w.to.rows > 0; w.src_prow++) {
    w.src_row = osla_index_count(i, l->mb, w.src_prow, l->nprow);
    w.src_rows = osla_index_count(end, l->mb, w.src_prow, l->nprow) - w.src_row;
    for (int64_t k = 0; k < cols && w.src_rows > 0; k += BATCH)
      OSLA_CALL(copy_columns(&w, c + k, (int)(cols - k < BATCH ? cols - k : BATCH)));
  }
  return OSLA_OK;
}

/* Copies those rows of this rank's adjacent columns [c, c + cols) whose index in the part is in
 * [first, end), from a triangular source. */
static osla_err copy_mirrored(const copying *w, int64_t first, int64_t end, int64_t c, int64_t cols)
{
  const part_local *p = &w->to;
  const osla_layout *l = &p->layout;
  const int64_t j = w->source.j + part_col(p, c);
  int64_t r = osla_index_count(p->i + first, l->mb, p->prow, l->nprow) - p->row;
  for (int64_t m; r < p->rows; r += m) {
    const int64_t i = part_row(p, r);
    if (i >= end) break;
    m = adjacent_indices(p->i + i, p->i + end, l->mb, l->nprow);
    OSLA_CALL(osla_matrix_get_block(w->source.matrix, w->source.i + i, j, m, cols, dest_at(w, r, c),
                                    w->stored.ld));
  }
  return OSLA_OK;
}

/* Copies to or from a triangular matrix. */
static osla_err copy_triangle(copying *w)
{
  const osla_part *from = &w->source;
  const bool from_triangle = osla_matrix_is_triangle(from->matrix);
  for (int64_t c = 0, cols; c < w->to.cols; c += cols) {
    const int64_t j = part_col(&w->to, c);
    const int64_t first = w->to.lower ? j : 0;
    cols = w->to.cols - c < BATCH ? w->to.cols - c : BATCH;
    const int64_t adjacent = adjacent_in(w->dest.matrix, w->dest.j + j);
    if (adjacent < cols) cols = adjacent;
    w->stored = osli_stored_columns(w->dest.matrix, w->rank, w->to.col + c);
    /* From row `below` of the part on, the source stores all elements of the columns. */
    int64_t below = from_triangle ? from->j + j + cols - from->i : first;
    if (below < first) below = first;
    if (below > from->m) below = from->m;
    OSLA_CALL(copy_mirrored(w, first, below, c, cols));
    OSLA_CALL(copy_rows_from(w, below, c, cols));
  }
  return OSLA_OK;
}

/* Copies this rank's elements of dest. */
static osla_err copy_all(copying *w)
{
  if (w->to.rows == 0) return OSLA_OK;
  if (osla_matrix_is_triangle(w->source.matrix) || osla_matrix_is_triangle(w->dest.matrix))
    return copy_triangle(w);
  w->stored = osli_stored_columns(w->dest.matrix, w->rank, w->to.col);
  return copy_rows_from(w, 0, 0, w->to.cols);
}

static osla_err agree(const char *call, const osla_part *source, const osla_part *dest,
                      osla_err local)
{
  const osla_argument same[] = {OSLA_PART_ARGUMENTS("source", *source),
                                OSLA_PART_ARGUMENTS("dest", *dest)};
  return osla_agree_same(osla_grid_transport(osla_matrix_grid(dest->matrix)), local, call, same,
                         (int)(sizeof same / sizeof *same));
}

static osla_err copy(const char *call, osla_part source, osla_part dest)
{
  osla_transport *t = osla_grid_transport(osla_matrix_grid(dest.matrix));
  copying w = {.source = source,
               .dest = dest,
               .from = osla_matrix_layout(source.matrix),
               .rank = osla_transport_rank(t)};
  osla_err err = check_copy(&source, &dest);
  if (err == OSLA_OK) {
    w.to = part_local_of(&dest);
    /* largest number of rows that one process row of the source owns, but at most the rows of the
     * part */
    w.stride = osla_index_count(w.from.m, w.from.mb, 0, w.from.nprow);
    if (source.m < w.stride) w.stride = source.m;
    size_t bytes = (size_t)(w.stride * BATCH) * w.to.element;
    w.staging = malloc(bytes + 1);
    if (!w.staging) err = osla_error_set(OSLA_ERR_MEM, "%zu bytes of staging", bytes);
  }
  /* this call is also a barrier: after it the source is complete on all ranks */
  OSLA_TRY(agree(call, &source, &dest, err));
  err = osla_agree(t, copy_all(&w));
cleanup:
  free(w.staging);
  return err;
}

osla_err osla_matrix_copy_part(osla_part source, osla_part dest)
{
  return copy("osla_matrix_copy_part", source, dest);
}

osla_err osla_matrix_copy(const osla_matrix *source, osla_matrix *dest)
{
  return copy("osla_matrix_copy", osla_whole((osla_matrix *)source), osla_whole(dest));
}

/* Sets an m x n block of this rank, whose first element has the global indices (i, j), to the
 * transpose of the n x m block at (j, i), which another rank may own. `local` is the address of the
 * block, and `buffer` has room for one block. */
static osla_err mirror_block(osla_matrix *a, int64_t i, int64_t j, int64_t m, int64_t n,
                             unsigned char *local, int64_t lld, unsigned char *buffer)
{
  size_t e = osla_dtype_size(osla_matrix_dtype(a));
  OSLA_CALL(osla_matrix_get_block(a, j, i, n, m, buffer, n));
  local_transpose(e, m, n, buffer, n, local, lld);
  return OSLA_OK;
}

/* Mirrors a diagonal block within itself. */
static void mirror_diagonal(unsigned char *local, int64_t lld, int64_t n, size_t e, osla_uplo from)
{
  for (int64_t c = 0; c < n; c++)
    for (int64_t r = c + 1; r < n; r++) {
      unsigned char *low = local + (size_t)(r + c * lld) * e;
      unsigned char *high = local + (size_t)(c + r * lld) * e;
      memcpy(from == OSLA_LOWER ? high : low, from == OSLA_LOWER ? low : high, e);
    }
}

static osla_err mirror_blocks(osla_matrix *a, osla_uplo from)
{
  osla_layout l = osla_matrix_layout(a);
  osla_grid *grid = osla_matrix_grid(a);
  size_t e = osla_dtype_size(osla_matrix_dtype(a));
  int64_t lld = osla_matrix_lld(a, osla_transport_rank(osla_grid_transport(grid)));
  const bool is_whole = l.m <= l.mb; /* the matrix consists of a single block, on the diagonal */
  const bool is_idle = osla_matrix_local_rows(a) == 0 || osla_matrix_local_cols(a) == 0;
  const size_t bytes = is_whole || is_idle ? 0 : (size_t)(l.mb * l.mb) * e;
  unsigned char *buffer = malloc(bytes + 1);
  OSLA_CHECK(buffer, OSLA_ERR_MEM, "block of %" PRId64 " x %" PRId64, l.mb, l.mb);
  osla_err err = OSLA_OK;
  for (int64_t c = 0; c < osla_matrix_local_cols(a); c += l.nb) {
    int64_t j = osla_index_global(c, l.nb, osla_grid_pcol(grid), l.npcol);
    int64_t n = osla_index_run(j, l.n, l.nb);
    for (int64_t r = 0; r < osla_matrix_local_rows(a) && err == OSLA_OK; r += l.mb) {
      int64_t i = osla_index_global(r, l.mb, osla_grid_prow(grid), l.nprow);
      unsigned char *local = (unsigned char *)osla_matrix_local(a) + (size_t)(r + c * lld) * e;
      if (i == j)
        mirror_diagonal(local, lld, n, e, from);
      else if ((i < j) == (from == OSLA_LOWER))
        err = mirror_block(a, i, j, osla_index_run(i, l.m, l.mb), n, local, lld, buffer);
    }
  }
  free(buffer);
  return err;
}

static osla_err check_mirror(const osla_matrix *a, osla_uplo from)
{
  osla_layout l = osla_matrix_layout(a);
  OSLA_CHECK(l.m == l.n && l.mb == l.nb, OSLA_ERR_ARG,
             "mirror needs a square matrix and square blocks: %" PRId64 " x %" PRId64
             " in blocks of %" PRId64 " x %" PRId64,
             l.m, l.n, l.mb, l.nb);
  OSLA_CHECK(from == OSLA_LOWER || from == OSLA_UPPER, OSLA_ERR_ARG, "mirror of uplo = %d",
             (int)from);
  return OSLA_OK;
}

osla_err osla_matrix_mirror(osla_matrix *a, osla_uplo from)
{
  osla_transport *t = osla_grid_transport(osla_matrix_grid(a));
  OSLA_NEEDS_HOST("osla_matrix_mirror", a);
  OSLA_NEEDS_FULL("osla_matrix_mirror", a);
  const osla_argument same[] = {{"from", (int)from}, {"order", osla_matrix_layout(a).n}};
  /* This call is also a barrier: after it the triangle is complete on all ranks. */
  OSLA_CALL(osla_agree_same(t, check_mirror(a, from), "osla_matrix_mirror", same, 2));
  return osla_agree(t, mirror_blocks(a, from));
}
