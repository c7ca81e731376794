/* The array of a matrix in a file, column-major or packed by columns, is divided into contiguous
 * ranges, one for each rank. A rank moves its range in pieces between the file and the distributed
 * matrix, with one-sided get and put, whichever ranks own the elements. Each file access is
 * contiguous. Ranges begin at multiples of the page size, so no two ranks touch one page, because
 * file systems that cache pages on each host, such as NFS, require this.
 *
 * Pieces have at most 4 MiB. If both triangles of a triangular matrix are written, the elements
 * above the diagonal are read from rows of other block columns, and a piece with few columns of a
 * block column would read few elements by each transfer. Therefore a piece then consists of whole
 * block columns, or it is one block column of up to 64 MiB or an equal part of a larger one. Pieces
 * at the ends of a rank's range and of a block column may be smaller. */
#include "src/file/file.h"

#include <inttypes.h>
#include <stdlib.h>

enum { PIECE_BYTES = 4 << 20, MOST_BYTES = 64 << 20, PAGE_BYTES = 4096 };

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

/* Rules by which the array of a file item is cut into ranges of ranks and pieces. */
typedef struct cutting {
  int64_t unit;  /* number of elements; the range of each rank begins at a multiple */
  int64_t piece; /* largest number of elements in a piece */
  /* numbers of columns. If `group` is positive, pieces also end at each multiple of `group`
   * columns of the matrix and, within a group, after each `width` columns. A group is one block
   * column or several */
  int64_t group, width;
} cutting;

static cutting cutting_of(const file_item *item, const osla_matrix *a, file_direction way)
{
  const int64_t e = (int64_t)osli_file_type_size((file_type)item->type);
  cutting cut = {.unit = PIECE_BYTES / e, .piece = PIECE_BYTES / e};
  if (way == FROM_FILE || item->packed || !osla_matrix_is_triangle(a) || item->n == 0) return cut;
  const int64_t nb = osla_matrix_layout(a).nb < item->n ? osla_matrix_layout(a).nb : item->n;
  const int64_t bytes = nb * item->m * e; /* bytes of a block column */
  if (bytes <= PIECE_BYTES) {
    cut.group = cut.width = PIECE_BYTES / bytes * nb;
    return cut;
  }
  const int64_t fit = MOST_BYTES / (item->m * e) > 1 ? MOST_BYTES / (item->m * e) : 1;
  const int64_t parts = (nb + fit - 1) / fit, width = (nb + parts - 1) / parts;
  return (cutting){.unit = (bytes + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES / e,
                   .piece = width * item->m < MOST_BYTES / e ? width * item->m : MOST_BYTES / e,
                   .group = nb,
                   .width = width};
}

/* Returns the end (index of the first element after it) of the piece that begins with element
 * `first`, in a range of a rank that ends at `last`. */
static int64_t piece_end(const file_item *item, const cutting *cut, int64_t first, int64_t last)
{
  int64_t end = first + cut->piece;
  if (cut->group > 0) {
    const int64_t j = first / item->m, start = j / cut->group * cut->group;
    int64_t column = j + cut->width - (j - start) % cut->width;
    if (column > start + cut->group) column = start + cut->group;
    if (column * item->m < end) end = column * item->m;
  }
  return end < last ? end : last;
}

osla_err osli_file_move_pieces(const osla_file *file, const file_item *item, osla_matrix *a,
                               file_direction way, uint64_t *sum)
{
  const int64_t elements = file_elements(item);
  const cutting cut = cutting_of(item, a, way);
  const int64_t units = elements / cut.unit + (elements % cut.unit > 0);
  int rank = osla_transport_rank(file->t), size = osla_transport_size(file->t);
  /* The array has `units` units of cut.unit elements. Each rank moves `each` units, and the
   * first `more` ranks move one unit more. */
  const int64_t each = units / size, more = units % size;
  const int64_t begin = each * rank + (rank < more ? rank : more);
  const int64_t end = begin + each + (rank < more);
  const int64_t last = end < units ? end * cut.unit : elements;
  *sum = 0;
  if (begin == end) return OSLA_OK;
  const int64_t bytes = cut.piece * (int64_t)osli_file_type_size((file_type)item->type);
  unsigned char *buffer = malloc((size_t)bytes);
  OSLA_CHECK(buffer, OSLA_ERR_MEM, "buffer of %" PRId64 " bytes between a matrix and its file",
             bytes);
  osla_err err = OSLA_OK;
  for (int64_t first = begin * cut.unit, next; first < last && err == OSLA_OK; first = next) {
    next = piece_end(item, &cut, first, last);
    err = move_piece(file, item, a, first, next, buffer, way, sum);
    osla_progress(file->t);
  }
  free(buffer);
  return err;
}
