/* The array of a matrix in a file, column-major or packed by columns, is cut into pieces of 4 MiB.
 * Each rank moves a contiguous range of pieces between the file and the distributed matrix, with
 * one-sided get and put, whichever ranks own the elements. Each file access is contiguous and
 * starts at a multiple of the page size. No two ranks touch one page, because file systems that
 * cache pages on each host, such as NFS, require this. */
#include "src/file/file.h"

#include <inttypes.h>
#include <stdlib.h>

enum { PIECE_BYTES = 4 << 20, PAGE_BYTES = 4096 };

/* Returns the column of the element with this index in the array. */
static int64_t column_of(const file_item *item, int64_t element)
{
  if (!item->packed) return element / item->m;
  int64_t low = 0, high = item->n; /* low <= column < high */
  while (high - low > 1) {
    const int64_t middle = low + (high - low) / 2;
    if (file_column_start(item, middle) <= element)
      low = middle;
    else
      high = middle;
  }
  return low;
}

/* Copies elements [first, last) of the array between matrix and buffer. Whole columns of a matrix
 * that is not packed are copied in one call, other columns and parts of columns in one call each.
 */
static osla_err copy_elements(const file_item *item, osla_matrix *a, int64_t first, int64_t last,
                              unsigned char *buffer, file_direction way)
{
  int64_t m = item->m;
  size_t e = osla_dtype_size(osla_matrix_dtype(a));
  while (first < last) {
    int64_t j = column_of(item, first), i = first - file_column_start(item, j);
    bool whole = i == 0 && last - first >= m && !item->packed;
    if (item->packed) i += j;
    int64_t rows = m - i < last - first ? m - i : last - first;
    int64_t cols = whole ? (last - first) / m : 1;
    if (way == TO_FILE)
      OSLA_CALL(osla_matrix_get_block(a, i, j, rows, cols, buffer, rows));
    else
      OSLA_CALL(osla_matrix_put_block(a, i, j, rows, cols, buffer, rows));
    buffer += (size_t)(rows * cols) * e;
    first += rows * cols;
  }
  return OSLA_OK;
}

/* Moves elements [first, last) of the array between file and matrix through the buffer, and adds
 * their checksum to *sum. */
static osla_err move_piece(const osla_file *file, const file_item *item, osla_matrix *a,
                           int64_t first, int64_t last, unsigned char *buffer, file_direction way,
                           uint64_t *sum)
{
  file_type type = (file_type)item->type;
  size_t e = osli_file_type_size(type), words = osli_file_word_count(type);
  size_t bytes = (size_t)(last - first) * e;
  uint64_t offset = item->offset + (uint64_t)first * e;
  if (way == TO_FILE)
    OSLA_CALL(copy_elements(item, a, first, last, buffer, way));
  else
    OSLA_CALL(osli_file_read_at(file->fd, file->path, buffer, bytes, offset));
  *sum += osli_file_sum(buffer, osli_file_word_size(type), (last - first) * (int64_t)words,
                        (uint64_t)first * words);
  if (way == TO_FILE) return osli_write_at(file->fd, file->path, buffer, bytes, offset);
  return copy_elements(item, a, first, last, buffer, way);
}

/* Returns the bytes of a piece, a multiple of the page size. A piece has at least about one block
 * column if a triangular matrix is written with both triangles. The elements above the diagonal are
 * then read from rows of other block columns, and with a narrower piece each transfer would move
 * only few of them. */
static int64_t piece_bytes(const file_item *item, const osla_matrix *a, file_direction way)
{
  if (way == FROM_FILE || item->packed || !osla_matrix_is_triangle(a)) return PIECE_BYTES;
  const int64_t nb = osla_matrix_layout(a).nb;
  const int64_t columns = nb < item->n ? nb : item->n;
  const int64_t bytes = columns * item->m * (int64_t)osli_file_type_size((file_type)item->type);
  return bytes < PIECE_BYTES ? PIECE_BYTES : (bytes + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
}

osla_err osli_file_move_pieces(const osla_file *file, const file_item *item, osla_matrix *a,
                               file_direction way, uint64_t *sum)
{
  int64_t elements = file_elements(item);
  const int64_t bytes = piece_bytes(item, a, way);
  int64_t length = bytes / (int64_t)osli_file_type_size((file_type)item->type);
  int64_t pieces = elements / length + (elements % length > 0);
  int rank = osla_transport_rank(file->t), size = osla_transport_size(file->t);
  /* each rank moves `each` pieces, and the first `more` ranks move one piece more */
  int64_t each = pieces / size, more = pieces % size;
  int64_t begin = each * rank + (rank < more ? rank : more);
  int64_t end = begin + each + (rank < more);
  *sum = 0;
  if (begin == end) return OSLA_OK;
  unsigned char *buffer = malloc((size_t)bytes);
  OSLA_CHECK(buffer, OSLA_ERR_MEM, "buffer of %" PRId64 " bytes between a matrix and its file",
             bytes);
  osla_err err = OSLA_OK;
  for (int64_t p = begin; p < end && err == OSLA_OK; p++) {
    int64_t first = p * length, last = p + 1 < pieces ? first + length : elements;
    err = move_piece(file, item, a, first, last, buffer, way, sum);
    osla_progress(file->t);
  }
  free(buffer);
  return err;
}
