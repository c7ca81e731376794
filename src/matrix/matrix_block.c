/* One-sided access to any rectangle of a distributed matrix.
 *
 * The rows of a range that one process owns are contiguous in its local row numbering, and so are
 * the columns: each owner's part of the range is one rectangle of its local array. On the same node
 * the rectangle is accessed in place. On another node it passes through a staging buffer, unless it
 * is the whole range and the caller's buffer is dense. There is one contiguous transfer for each
 * column (one in all if whole local columns are requested), never a strided datatype.
 */
#include "osla_index.h"
#include "osla_matrix.h"
#include "src/blas/move.h"
#include "src/matrix/local_transpose.h"
#include "src/matrix/part_local.h"
#include "src/matrix/part_view.h"
#include "src/matrix/stored.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* One owner's part of the range that is accessed: local rows [row, row + rows) and local columns
 * [col, col + cols). */
typedef struct owner_part {
  int rank, prow, pcol;
  int64_t row, rows, col, cols;
} owner_part;

typedef struct range {
  int64_t i, j, m, n;
} range;

static owner_part owner_part_of(const osla_matrix *a, const range *r, int prow, int pcol)
{
  osla_layout l = osla_matrix_layout(a);
  owner_part s = {.prow = prow, .pcol = pcol};
  s.rank = osla_grid_rank_at(osla_matrix_grid(a), prow, pcol);
  s.row = osla_index_count(r->i, l.mb, prow, l.nprow);
  s.rows = osla_index_count(r->i + r->m, l.mb, prow, l.nprow) - s.row;
  s.col = osla_index_count(r->j, l.nb, pcol, l.npcol);
  s.cols = osla_index_count(r->j + r->n, l.nb, pcol, l.npcol) - s.col;
  return s;
}

typedef enum direction { TO_BUFFER, FROM_BUFFER } direction;

/* Copies block by block between the caller's buffer and one owner's part, which lies in the array
 * `local` with leading dimension lld and begins with the part's first element. In host memory a
 * block is copied column by column. If one array lies on a device, a block is copied at once, which
 * is much faster there than a copy of each column. */
static void copy_owner_part(const osla_matrix *a, const range *r, const owner_part *s,
                            direction way, unsigned char *local, int64_t lld, unsigned char *buffer,
                            int64_t ld)
{
  const osla_layout l = osla_matrix_layout(a);
  const size_t e = osla_dtype_size(osla_matrix_dtype(a));
  const bool on_device = osli_on_device(local, buffer, NULL);
  for (int64_t c = 0, cols; c < s->cols; c += cols) {
    int64_t gj = osla_index_global(s->col + c, l.nb, s->pcol, l.npcol);
    cols = on_device ? adjacent_indices(gj, r->j + r->n, l.nb, l.npcol) : 1;
    for (int64_t row = 0, rows; row < s->rows; row += rows) {
      int64_t gi = osla_index_global(s->row + row, l.mb, s->prow, l.nprow);
      rows = adjacent_indices(gi, r->i + r->m, l.mb, l.nprow);
      unsigned char *there = local + (size_t)(row + c * lld) * e;
      unsigned char *here = buffer + (size_t)((gi - r->i) + (gj - r->j) * ld) * e;
      unsigned char *from = way == TO_BUFFER ? there : here, *to = way == TO_BUFFER ? here : there;
      if (on_device)
        osli_move_columns(e, rows, cols, from, way == TO_BUFFER ? lld : ld, to,
                          way == TO_BUFFER ? ld : lld);
      else
        osli_move_bytes(to, from, (size_t)rows * e);
    }
  }
}

enum { BATCH = 64 };

/* Transfers one owner's part between the owner and a dense staging buffer (leading dimension
 * s->rows). */
static osla_err transfer_owner_part(const osla_matrix *a, const owner_part *s, direction way,
                                    unsigned char *staging)
{
  size_t e = osla_dtype_size(osla_matrix_dtype(a));
  const stored_columns stored = osli_stored_columns(a, s->rank, s->col);
  osla_segment *segment = osla_matrix_segment(a);
  size_t start = osli_matrix_start(a, s->rank);
  bool whole_columns = s->rows == stored.ld;
  int64_t pieces = whole_columns ? 1 : s->cols;
  size_t bytes = (size_t)(whole_columns ? s->rows * s->cols : s->rows) * e;
  osla_transfer transfers[BATCH];
  osla_err err = OSLA_OK;
  for (int64_t first = 0; first < pieces && err == OSLA_OK; first += BATCH) {
    int count = (int)(pieces - first < BATCH ? pieces - first : BATCH), started = 0;
    for (; started < count && err == OSLA_OK; started++) {
      int64_t c = first + started;
      size_t offset = start + (size_t)stored_index(&stored, s->row, s->col + c) * e;
      unsigned char *p = staging + (size_t)(c * s->rows) * e;
      err = way == TO_BUFFER
              ? osla_segment_get(segment, s->rank, offset, p, bytes, &transfers[started])
              : osla_segment_put(segment, s->rank, offset, p, bytes, &transfers[started]);
    }
    for (int k = 0; k < started; k++) {
      osla_err waited = osla_transfer_wait(segment, &transfers[k]);
      if (err == OSLA_OK) err = waited;
    }
  }
  if (err == OSLA_OK && way == FROM_BUFFER) err = osla_segment_flush(segment, s->rank);
  return err;
}

/* Moves one owner's part: in place if this rank can map the owner's memory, and otherwise by
 * transfers. */
static osla_err move_owner_part(const osla_matrix *a, const range *r, const owner_part *s,
                                direction way, unsigned char *buffer, int64_t ld)
{
  size_t e = osla_dtype_size(osla_matrix_dtype(a));
  unsigned char *peer = osla_matrix_peer(a, s->rank);
  if (peer) {
    const stored_columns stored = osli_stored_columns(a, s->rank, s->col);
    unsigned char *first = osli_stored_at(peer, &stored, s->row, s->col, e);
    copy_owner_part(a, r, s, way, first, stored.ld, buffer, ld);
    return osli_device_of(peer) ? osli_device_settle(SETTLE_COPY) : OSLA_OK;
  }
  OSLA_CHECK(osla_matrix_segment(a), OSLA_ERR_ARG,
             "elements of rank %d are not accessible: the matrix was made by osla_matrix_wrap_own",
             s->rank);
  if (s->rows == r->m && s->cols == r->n && ld == r->m)
    return transfer_owner_part(a, s, way, buffer);
  unsigned char *staging = malloc((size_t)(s->rows * s->cols) * e);
  OSLA_CHECK(staging, OSLA_ERR_MEM, "staging of %" PRId64 " x %" PRId64 " elements", s->rows,
             s->cols);
  if (way == FROM_BUFFER) copy_owner_part(a, r, s, FROM_BUFFER, staging, s->rows, buffer, ld);
  osla_err err = transfer_owner_part(a, s, way, staging);
  if (err == OSLA_OK && way == TO_BUFFER)
    copy_owner_part(a, r, s, TO_BUFFER, staging, s->rows, buffer, ld);
  free(staging);
  return err;
}

/* Returns how many processes of a grid row or column with `size` processes own at least one of the
 * indices [first, first + count). These processes follow one another cyclically, beginning with the
 * owner of index `first`. */
static int count_owners(int64_t first, int64_t count, int64_t block, int size)
{
  if (count == 0) return 0;
  int64_t blocks = (first + count - 1) / block - first / block + 1;
  return blocks < size ? (int)blocks : size;
}

/* Moves a range whose elements are all stored. In a triangular matrix the range must lie in one
 * block column. */
static osla_err move_range(const osla_matrix *a, const range *r, direction way,
                           unsigned char *buffer, int64_t ld)
{
  osla_layout l = osla_matrix_layout(a);
  int rows = count_owners(r->i, r->m, l.mb, l.nprow),
      cols = count_owners(r->j, r->n, l.nb, l.npcol);
  int prow = osla_index_owner(r->i, l.mb, l.nprow), pcol = osla_index_owner(r->j, l.nb, l.npcol);
  for (int i = 0; i < rows; i++)
    for (int j = 0; j < cols; j++) {
      owner_part s = owner_part_of(a, r, (prow + i) % l.nprow, (pcol + j) % l.npcol);
      OSLA_CALL(move_owner_part(a, r, &s, way, buffer, ld));
    }
  return OSLA_OK;
}

/* ---- triangular matrices ---- */

enum { TILE = 64 }; /* largest side of a tile of mirrored elements */

/* State of a read from a triangular matrix into an array in host memory. Mirrored elements are
 * elements above the diagonal, which are read from below it. */
typedef struct mirror {
  const osla_matrix *a;
  osla_dtype dtype;
  int64_t i, j;         /* global indices of the array's first element */
  unsigned char *array; /* the caller's buffer, or a staging buffer */
  int64_t ld;           /* leading dimension of the array */
  unsigned char *tile;  /* room for TILE x TILE elements */
} mirror;

static int64_t smaller(int64_t x, int64_t y)
{
  return x < y ? x : y;
}

static int64_t larger(int64_t x, int64_t y)
{
  return x > y ? x : y;
}

/* Address in the array of the element with global indices (i, j). */
static unsigned char *array_at(const mirror *w, int64_t i, int64_t j)
{
  return w->array + (size_t)((i - w->i) + (j - w->j) * w->ld) * osla_dtype_size(w->dtype);
}

/* Reads the rows [from, to) of columns [j, j + n), which lie in one block column and whose diagonal
 * elements lie in rows at or after `to`. */
static osla_err read_above(const mirror *w, int64_t from, int64_t to, int64_t j, int64_t n)
{
  const int64_t nb = osla_matrix_layout(w->a).nb;
  const size_t e = osla_dtype_size(w->dtype);
  for (int64_t i = from, m; i < to; i += m) {
    m = smaller(osla_index_run(i, to, nb), TILE);
    const range r = {j, i, n, m};
    OSLA_CALL(move_range(w->a, &r, TO_BUFFER, w->tile, n));
    local_transpose(e, m, n, w->tile, n, array_at(w, i, j), w->ld);
    local_conjugate(w->dtype, m, n, array_at(w, i, j), w->ld);
  }
  return OSLA_OK;
}

/* Reads the rows [from, to) of columns [j, j + n), where j <= from <= to <= j + n: a part of a
 * square on the diagonal. */
static osla_err read_square(const mirror *w, int64_t from, int64_t to, int64_t j, int64_t n)
{
  const size_t e = osla_dtype_size(w->dtype);
  const range r = {j, j, n, n};
  if (from >= to) return OSLA_OK;
  OSLA_CALL(move_range(w->a, &r, TO_BUFFER, w->tile, n));
  for (int64_t c = 0; c < n; c++)
    for (int64_t i = from; i < to; i++) {
      const int64_t low = larger(i - j, c), high = smaller(i - j, c);
      unsigned char *element = array_at(w, i, j + c);
      memcpy(element, w->tile + (size_t)(low + high * n) * e, e);
      if (i - j < c) local_conjugate(w->dtype, 1, 1, element, 1);
    }
  return OSLA_OK;
}

/* Reads the rows [from, end) of columns [j, j + n): first the rows above the columns' square on the
 * diagonal, then rows of the square. The columns lie in one block column, and end <= j + n. */
static osla_err read_mirrored(const mirror *w, int64_t from, int64_t end, int64_t j, int64_t n)
{
  OSLA_CALL(read_above(w, from, smaller(end, j), j, n));
  return read_square(w, larger(from, j), end, j, n);
}

/* Reads a range of a triangular matrix by groups of at most TILE columns. In each group,
 * read_mirrored reads the rows above and in the columns' square on the diagonal; the rows below the
 * square are read as from a full matrix. If the buffer lies on a device, rows of read_mirrored are
 * staged in host memory, where this rank can transpose them. */
static osla_err read_triangle(const osla_matrix *a, const range *r, unsigned char *buffer,
                              int64_t ld)
{
  const int64_t nb = osla_matrix_layout(a).nb, end = r->i + r->m, end_j = r->j + r->n;
  const bool on_device = osli_device_of(buffer);
  mirror w = {a, osla_matrix_dtype(a), r->i, r->j, buffer, ld, NULL};
  const size_t e = osla_dtype_size(w.dtype);
  const size_t bytes = (size_t)(TILE * TILE + (on_device ? r->m * TILE : 0)) * e;
  osla_err err = OSLA_OK;
  w.tile = malloc(bytes);
  OSLA_CHECK(w.tile, OSLA_ERR_MEM, "osla_matrix_get_block: %zu bytes for mirrored elements", bytes);
  if (on_device) {
    w.array = w.tile + (size_t)(TILE * TILE) * e;
    w.ld = r->m;
  }
  for (int64_t j = r->j, n; j < end_j && err == OSLA_OK; j += n) {
    n = smaller(osla_index_run(j, end_j, nb), TILE);
    const int64_t above = smaller(end, j + n), below = larger(r->i, j + n);
    const range lower = {below, j, end - below, n};
    unsigned char *column = buffer + (size_t)((j - r->j) * ld) * e;
    if (on_device) w.j = j;
    err = read_mirrored(&w, r->i, above, j, n);
    if (err == OSLA_OK && on_device && above > r->i)
      osli_move_columns(e, above - r->i, n, w.array, w.ld, column, ld);
    if (err == OSLA_OK && below < end)
      err = move_range(a, &lower, TO_BUFFER, column + (size_t)(below - r->i) * e, ld);
  }
  free(w.tile);
  return err;
}

/* True if all elements of a range of a triangular matrix are stored, in one block column. A range
 * of this kind is read without tiles, for example a column from the diagonal down, as files of
 * packed triangles hold it. */
static bool is_stored(const osla_matrix *a, const range *r)
{
  const osla_layout l = osla_matrix_layout(a);
  return r->i >= r->j + r->n - 1 && r->n <= osla_index_run(r->j, l.n, l.nb);
}

/* Writes the elements of a range that are stored. In a diagonal block these include some above the
 * diagonal, which have no meaning. */
static osla_err write_triangle(const osla_matrix *a, const range *r, unsigned char *buffer,
                               int64_t ld)
{
  const int64_t nb = osla_matrix_layout(a).nb, end = r->i + r->m, end_j = r->j + r->n;
  const size_t e = osla_dtype_size(osla_matrix_dtype(a));
  for (int64_t j = r->j, n; j < end_j; j += n) {
    n = osla_index_run(j, end_j, nb);
    const int64_t first = larger(r->i, j);
    const range lower = {first, j, end - first, n};
    if (first >= end) break;
    unsigned char *from = buffer + (size_t)((first - r->i) + (j - r->j) * ld) * e;
    OSLA_CALL(move_range(a, &lower, FROM_BUFFER, from, ld));
  }
  return OSLA_OK;
}

/* ---- the calls ---- */

static osla_err check_range(const osla_matrix *a, const range *r, const void *buffer, int64_t ld)
{
  osla_layout l = osla_matrix_layout(a);
  OSLA_CHECK(r->m >= 0 && r->n >= 0 && r->i >= 0 && r->j >= 0 && r->i <= l.m - r->m &&
               r->j <= l.n - r->n,
             OSLA_ERR_ARG,
             "block of %" PRId64 " x %" PRId64 " at (%" PRId64 ", %" PRId64
             ") is not inside the %" PRId64 " x %" PRId64 " matrix",
             r->m, r->n, r->i, r->j, l.m, l.n);
  OSLA_CHECK(buffer || r->m * r->n == 0, OSLA_ERR_ARG, "buffer is NULL");
  OSLA_CHECK(ld >= r->m && ld >= 1, OSLA_ERR_ARG, "ld = %" PRId64 " is below m = %" PRId64, ld,
             r->m);
  return OSLA_OK;
}

osla_err osla_matrix_get_block(const osla_matrix *a, int64_t i, int64_t j, int64_t m, int64_t n,
                               void *buffer, int64_t ld)
{
  range r = {i, j, m, n};
  OSLA_CALL(check_range(a, &r, buffer, ld));
  if (osla_matrix_is_triangle(a) && !is_stored(a, &r)) return read_triangle(a, &r, buffer, ld);
  return move_range(a, &r, TO_BUFFER, buffer, ld);
}

osla_err osla_matrix_put_block(osla_matrix *a, int64_t i, int64_t j, int64_t m, int64_t n,
                               const void *buffer, int64_t ld)
{
  range r = {i, j, m, n};
  OSLA_CALL(check_range(a, &r, buffer, ld));
  unsigned char *from = (unsigned char *)(uintptr_t)buffer; /* move_range reads the buffer only */
  if (osla_matrix_is_triangle(a)) return write_triangle(a, &r, from, ld);
  return move_range(a, &r, FROM_BUFFER, from, ld);
}
