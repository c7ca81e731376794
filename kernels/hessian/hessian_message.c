/* Packs and unpacks messages to owners of H. No communication. */
#include "kernels/hessian/hessian_message.h"
#include "src/blas/move.h"

#include <string.h>

static size_t padded(size_t bytes)
{
  return (bytes + MESSAGE_PAD - 1) / MESSAGE_PAD * MESSAGE_PAD;
}

/* Returns the bytes of a message before its values: head, index lists and padding. */
static size_t front_bytes(int64_t rows, int64_t cols, bool wide)
{
  size_t index = wide ? sizeof(int64_t) : sizeof(uint32_t);
  return padded(sizeof(message_head) + (size_t)(rows + cols) * index +
                (size_t)cols * sizeof(uint32_t));
}

/* The lists ascend, so their last entries are the largest ones. */
bool osli_message_is_wide(const piece *p)
{
  int64_t row = p->rows > 0 ? p->row[p->rows - 1] : 0;
  int64_t col = p->cols > 0 ? p->col[p->cols - 1] : 0;
  return row > UINT32_MAX || col > UINT32_MAX;
}

/* Finds the range of rows that at least one column uses. The bounds of columns never decrease. */
static void row_range(const piece *p, int64_t *low, int64_t *high)
{
  *low = p->cols > 0 ? p->begin[0] : 0;
  *high = p->cols > 0 ? p->end[p->cols - 1] : 0;
}

size_t osli_message_size(const piece *p, int64_t k, size_t element)
{
  int64_t low, high;
  row_range(p, &low, &high);
  const int64_t elements = k > 0 ? (high - low + p->cols) * k : osli_piece_elements(p);
  if (high - low > INT32_MAX || p->cols > INT32_MAX || k > INT32_MAX || elements > INT32_MAX)
    return SIZE_MAX;
  return padded(front_bytes(high - low, p->cols, osli_message_is_wide(p)) +
                (size_t)elements * element);
}

/* ---- writing ---- */

typedef struct sink {
  message_write *write;
  void *arg;
  size_t bytes;
} sink;

static void append(sink *s, const void *bytes, size_t count)
{
  if (count > 0) s->write(s->arg, bytes, count);
  s->bytes += count;
}

/* Appends values, or columns of G, to the message. */
static void append_bulk(sink *s, const unsigned char *from, size_t bytes)
{
  append(s, osli_work_modelled ? NULL : from, bytes);
}

static void append_padding(sink *s)
{
  static const unsigned char zeros[MESSAGE_PAD];
  append(s, osli_work_modelled ? NULL : zeros, padded(s->bytes) - s->bytes);
}

static void append_narrow(sink *s, int64_t count, const int64_t *list, int64_t less)
{
  enum { BATCH = 256 };
  uint32_t narrow[BATCH];
  for (int64_t i = 0; i < count; i += BATCH) {
    int64_t n = count - i < BATCH ? count - i : BATCH;
    for (int64_t j = 0; j < n; j++)
      narrow[j] = (uint32_t)(list[i + j] - less);
    append(s, narrow, (size_t)n * sizeof *narrow);
  }
}

static void append_indices(sink *s, int64_t count, const int64_t *list, bool wide)
{
  if (wide)
    append(s, list, (size_t)count * sizeof *list);
  else
    append_narrow(s, count, list, 0);
}

/* Returns whether the message holds only the number of its values, because the time of work is only
 * modelled. */
static bool only_counts(const message_head *head)
{
  return osli_work_modelled && head->k == 0;
}

/* Appends head, index lists and padding. In the lower triangle each column extends to the end of
 * the row list; in the upper triangle each column begins at the start of the row list. */
static void append_front(sink *s, const piece *p, message_head head, int64_t low, int64_t high,
                         osla_uplo uplo)
{
  bool wide = head.flags & MESSAGE_WIDE;
  head.rows = (uint32_t)(high - low);
  head.cols = (uint32_t)p->cols;
  append(s, &head, sizeof head);
  if (only_counts(&head)) {
    append(s, NULL, front_bytes(high - low, p->cols, wide) - sizeof head);
    return;
  }
  append_indices(s, high - low, p->row + low, wide);
  append_indices(s, p->cols, p->col, wide);
  append_narrow(s, p->cols, uplo == OSLA_LOWER ? p->begin : p->end, low);
  append_padding(s);
}

static void append_values(sink *s, const piece *p, const message_head *head, size_t element)
{
  const size_t bytes = (size_t)osli_piece_elements(p) * element;
  if (only_counts(head)) append(s, NULL, bytes);
  for (int64_t c = 0; c < p->cols && !only_counts(head); c++)
    append_bulk(s, p->values + (size_t)(p->begin[c] + c * p->ld) * element,
                (size_t)(p->end[c] - p->begin[c]) * element);
  if (p->cols > 0) osli_move_charge(bytes / (size_t)p->cols, p->cols);
}

size_t osli_message_put(const piece *p, int owner, uint64_t stripes, uint32_t flags,
                        const message_panels *g, size_t element, osla_uplo uplo,
                        message_write *write, void *arg)
{
  sink s = {write, arg, 0};
  int64_t low, high;
  row_range(p, &low, &high);
  const size_t column = (size_t)g->k * element;
  const message_head head = {
    .stripes = stripes,
    .owner = (uint32_t)owner,
    .flags = flags | (osli_message_is_wide(p) ? MESSAGE_WIDE : 0),
    .k = (uint32_t)g->k,
    .bytes = (uint32_t)osli_message_size(p, g->k, element),
    .elements = g->k == 0 && osli_work_modelled ? (uint32_t)osli_piece_elements(p) : 0};
  append_front(&s, p, head, low, high, uplo);
  if (g->k > 0) {
    append_bulk(&s, g->rows + (size_t)low * column, (size_t)(high - low) * column);
    append_bulk(&s, g->cols, (size_t)p->cols * column);
    osli_move_charge(column, high - low + p->cols);
  } else {
    append_values(&s, p, &head, element);
  }
  append_padding(&s);
  return s.bytes;
}

/* ---- reading ---- */

static const unsigned char *read_list(const unsigned char *at, int64_t count, bool wide,
                                      int64_t *list)
{
  if (wide) {
    memcpy(list, at, (size_t)count * sizeof *list);
    return at + (size_t)count * sizeof *list;
  }
  const uint32_t *narrow = (const uint32_t *)(const void *)at;
  for (int64_t i = 0; i < count; i++)
    list[i] = narrow[i];
  return at + (size_t)count * sizeof *narrow;
}

message_view osli_message_read(const unsigned char *message, size_t element, osla_uplo uplo,
                               int64_t *lists)
{
  message_view m = {.head = *(const message_head *)(const void *)message};
  int64_t rows = m.head.rows, cols = m.head.cols;
  bool wide = m.head.flags & MESSAGE_WIDE;
  int64_t *row = lists, *col = row + rows, *begin = col + cols, *end = begin + cols;
  /* one column with `elements` rows stands for all values of the message */
  if (only_counts(&m.head)) {
    lists[0] = 0;
    lists[1] = m.head.elements;
    m.p = (piece){.rows = lists[1], .cols = 1, .begin = lists, .end = lists + 1};
    return m;
  }
  const unsigned char *at = message + sizeof m.head;
  at = read_list(at, rows, wide, row);
  at = read_list(at, cols, wide, col);
  (void)read_list(at, cols, false, uplo == OSLA_LOWER ? begin : end);
  for (int64_t c = 0; c < cols; c++)
    if (uplo == OSLA_LOWER)
      end[c] = rows;
    else
      begin[c] = 0;
  m.p = (piece){.rows = rows, .cols = cols, .row = row, .col = col, .begin = begin, .end = end};
  at = message + front_bytes(rows, cols, wide);
  if (m.head.k > 0) {
    m.row_panel = at;
    m.col_panel = at + (size_t)rows * m.head.k * element;
  } else {
    m.p.values = at;
  }
  return m;
}
