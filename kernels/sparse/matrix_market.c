/* Reads files in Matrix Market format: Boisvert, Pozo, Remington, NISTIR 5935 (1996). */
#include <stdio.h>

#include "kernels/sparse/entries.h"
#include "kernels/sparse/sparse_file.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* indices in the array sparse_head.kind */
enum { KIND_ARRAY, KIND_PATTERN, KIND_SYMMETRY, KIND_INTEGER };
enum { GENERAL, SYMMETRIC, SKEW };

/* ---- head of the file ---- */

static int index_of_word(const char *word, const char *const *words, int n)
{
  for (int i = 0; i < n; i++)
    if (strcasecmp(word, words[i]) == 0) return i;
  return -1;
}

static osla_err read_banner(const char *file, const char *line, sparse_head *head)
{
  static const char *const formats[] = {"coordinate", "array"};
  static const char *const fields[] = {"real", "integer", "pattern", "complex"};
  static const char *const symmetries[] = {"general", "symmetric", "skew-symmetric", "hermitian"};
  char object[32] = "", format[32] = "", field[32] = "", symmetry[32] = "";
  static const char mark[] = "%%MatrixMarket";
  int words = 0;
  if (strncasecmp(line, mark, sizeof mark - 1) == 0)
    words = sscanf(line + sizeof mark - 1, " %31s %31s %31s %31s", object, format, field, symmetry);
  OSLA_CHECK(words == 4 && strcasecmp(object, "matrix") == 0, OSLA_ERR_IO,
             "%.200s:1: does not begin with '%%%%MatrixMarket matrix FORMAT FIELD SYMMETRY'", file);
  const int a = index_of_word(format, formats, 2), b = index_of_word(field, fields, 4);
  const int c = index_of_word(symmetry, symmetries, 4);
  OSLA_CHECK(a >= 0, OSLA_ERR_IO, "%.200s:1: unknown format '%s'", file, format);
  OSLA_CHECK(b >= 0, OSLA_ERR_IO, "%.200s:1: unknown field '%s'", file, field);
  OSLA_CHECK(c >= 0, OSLA_ERR_IO, "%.200s:1: unknown symmetry '%s'", file, symmetry);
  OSLA_CHECK(b < 3 && c < 3, OSLA_ERR_UNSUPPORTED, "%.200s:1: complex matrices are not read", file);
  head->kind[KIND_ARRAY] = a;
  head->kind[KIND_INTEGER] = b == 1;
  head->kind[KIND_PATTERN] = b == 2;
  head->kind[KIND_SYMMETRY] = c;
  return OSLA_OK;
}

static osla_err read_sizes(const char *file, char *line, sparse_head *head)
{
  const text_share at_line = {.file = file, .line = head->lines};
  char *at = line;
  OSLA_CALL(osli_text_integer(&at_line, &at, &head->rows));
  OSLA_CALL(osli_text_integer(&at_line, &at, &head->columns));
  head->entries = head->rows;
  if (!head->kind[KIND_ARRAY]) OSLA_CALL(osli_text_integer(&at_line, &at, &head->entries));
  OSLA_CHECK(!osli_text_more(&at), OSLA_ERR_IO, "%.200s:%" PRId64 ": '%.40s' after the sizes", file,
             head->lines, at);
  OSLA_CHECK(head->rows >= 0 && head->columns >= 0 && head->entries >= 0, OSLA_ERR_IO,
             "%.200s:%" PRId64 ": a size is negative", file, head->lines);
  OSLA_CHECK(head->kind[KIND_SYMMETRY] == GENERAL || head->rows == head->columns, OSLA_ERR_IO,
             "%.200s:%" PRId64 ": a symmetric matrix is not square: %" PRId64 " x %" PRId64, file,
             head->lines, head->rows, head->columns);
  return OSLA_OK;
}

static osla_err read_head(const char *file, FILE *f, sparse_head *head)
{
  char line[FIRST_LINES];
  if (!fgets(line, sizeof line, f)) return osla_error_set(OSLA_ERR_IO, "%.200s: is empty", file);
  head->lines = 1;
  line[strcspn(line, "\r\n")] = '\0';
  OSLA_CALL(read_banner(file, line, head));
  OSLA_CALL(osli_sparse_head_line(file, f, line, head));
  return read_sizes(file, line, head);
}

/* ---- entries ---- */

static osla_err check_index(const text_share *s, const char *what, int64_t index, int64_t n)
{
  OSLA_CHECK(index >= 1 && index <= n, OSLA_ERR_IO,
             "%.200s:%" PRId64 ": %s %" PRId64 " is outside 1 to %" PRId64, s->file, s->line, what,
             index, n);
  return OSLA_OK;
}

/* Reads the next word of a line as a number, of the type that the head of the file announces. */
static osla_err read_value(const text_share *s, const sparse_head *head, char **at, double *value)
{
  int64_t integer;
  if (!head->kind[KIND_INTEGER]) return osli_text_real(s, at, value);
  OSLA_CALL(osli_text_integer(s, at, &integer));
  *value = (double)integer;
  return OSLA_OK;
}

/* Adds the entry that a line describes. For a symmetric or skew-symmetric matrix, adds its mirror
 * as well. */
static osla_err add_entry(const text_share *s, const sparse_head *head, int64_t number, char *line,
                          csr_entries *e)
{
  (void)number;
  int64_t i, j;
  double value = 1.0;
  const int64_t symmetry = head->kind[KIND_SYMMETRY];
  OSLA_CALL(osli_text_integer(s, &line, &i));
  OSLA_CALL(osli_text_integer(s, &line, &j));
  if (!head->kind[KIND_PATTERN]) OSLA_CALL(read_value(s, head, &line, &value));
  OSLA_CHECK(!osli_text_more(&line), OSLA_ERR_IO, "%.200s:%" PRId64 ": '%.40s' after the entry",
             s->file, s->line, line);
  OSLA_CALL(check_index(s, "row", i, head->rows));
  OSLA_CALL(check_index(s, "column", j, head->columns));
  OSLA_CHECK(symmetry == GENERAL || j < i + (symmetry == SYMMETRIC), OSLA_ERR_IO,
             "%.200s:%" PRId64 ": entry %" PRId64 ", %" PRId64
             " is not below the diagonal of a %s matrix",
             s->file, s->line, i, j, symmetry == SKEW ? "skew-symmetric" : "symmetric");
  OSLA_CALL(osli_entries_add(e, i - 1, j - 1, value));
  if (symmetry == GENERAL || i == j) return OSLA_OK;
  return osli_entries_add(e, j - 1, i - 1, symmetry == SKEW ? -value : value);
}

/* Adds the data of one line. `number`: index of the line among all lines with data, from 0. */
typedef osla_err line_reader(const text_share *s, const sparse_head *head, int64_t number,
                             char *line, csr_entries *e);

static osla_err read_lines(text_share *s, const sparse_head *head, int64_t number, line_reader *add,
                           csr_entries *e)
{
  for (char *line; (line = osli_text_share_next(s));) {
    char *at = line;
    if (line[0] != '%' && osli_text_more(&at)) OSLA_CALL(add(s, head, number++, line, e));
  }
  return OSLA_OK;
}

/* Checks that the file contains as many entries as its head announces. */
static osla_err check_count(osla_transport *t, const text_share *s, const sparse_head *head,
                            int64_t *before)
{
  int64_t all;
  OSLA_CALL(osli_sum_before(t, osli_text_share_count(s, false), before, &all));
  OSLA_CHECK(all == head->entries, OSLA_ERR_IO,
             "%.200s: %" PRId64 " entries are announced, but the file has %" PRId64, s->file,
             head->entries, all);
  return OSLA_OK;
}

static osla_err read_entries(osla_transport *t, const char *file, const sparse_head *head,
                             line_reader *add, csr_entries *e)
{
  text_share s;
  int64_t before;
  osla_err err = osli_text_share_open(t, file, head->from, head->lines, &s);
  if (err == OSLA_OK) err = check_count(t, &s, head, &before);
  if (err == OSLA_OK) err = osla_agree(t, read_lines(&s, head, before, add, e));
  osli_text_share_close(&s);
  return err;
}

osla_err osla_csr_read_matrix_market(osla_transport *t, const char *file, const int64_t *row_start,
                                     const int64_t *column_start, osla_csr **out)
{
  const int size = osla_transport_size(t);
  sparse_head head;
  csr_entries e = {0};
  int64_t *rows = NULL, *columns = NULL;
  *out = NULL;
  OSLA_CALL(osli_sparse_head(t, file, read_head, &head));
  OSLA_CHECK(!head.kind[KIND_ARRAY], OSLA_ERR_UNSUPPORTED,
             "%.200s:1: a dense matrix (array), where a sparse one (coordinate) was expected",
             file);
  OSLA_CALL(osli_sparse_room(t, file, head.rows, head.columns));
  osla_err err = osli_sparse_blocks(file, "rows", size, row_start, head.rows, &rows);
  if (err == OSLA_OK)
    err = osli_sparse_blocks(file, "columns", size, column_start, head.columns, &columns);
  err = osla_agree(t, err);
  if (err == OSLA_OK) err = read_entries(t, file, &head, add_entry, &e);
  if (err == OSLA_OK) err = osli_entries_to_csr(t, rows, columns, &e, out);
  osli_entries_free(&e);
  free(rows);
  free(columns);
  return err;
}

/* ---- vectors ---- */

static osla_err add_value(const text_share *s, const sparse_head *head, int64_t number, char *line,
                          csr_entries *e)
{
  double value;
  OSLA_CALL(read_value(s, head, &line, &value));
  OSLA_CHECK(!osli_text_more(&line), OSLA_ERR_IO, "%.200s:%" PRId64 ": '%.40s' after the value",
             s->file, s->line, line);
  return osli_entries_add(e, number, 0, value);
}

osla_err osla_vector_read_matrix_market(osla_transport *t, const char *file, const int64_t *start,
                                        double *part)
{
  const int size = osla_transport_size(t);
  sparse_head head;
  csr_entries e = {0};
  int64_t *blocks = NULL;
  OSLA_CALL(osli_sparse_head(t, file, read_head, &head));
  OSLA_CHECK(head.kind[KIND_ARRAY] && head.kind[KIND_SYMMETRY] == GENERAL &&
               !head.kind[KIND_PATTERN] && head.columns == 1,
             OSLA_ERR_IO, "%.200s: a vector was expected: array, real, general, N x 1", file);
  OSLA_CALL(osli_sparse_room(t, file, head.rows, 0));
  osla_err err = osla_agree(t, osli_sparse_blocks(file, "values", size, start, head.rows, &blocks));
  if (err == OSLA_OK) err = read_entries(t, file, &head, add_value, &e);
  if (err == OSLA_OK) err = osli_entries_to_vector(t, blocks, &e, part);
  osli_entries_free(&e);
  free(blocks);
  return err;
}
