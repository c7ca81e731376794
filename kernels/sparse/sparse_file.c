/* Reads sparse files: their heads, the distribution of their rows, and their lines. The bytes of a
 * file are divided among the ranks, and a line belongs to the rank in whose bytes it begins. Each
 * rank determines its line numbers from the number of lines on lower ranks. */
#include "kernels/sparse/sparse_file.h"
#include "kernels/common/lists.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "src/base/parse_real.h"

static osla_err io_error(const char *file)
{
  return osla_error_set(OSLA_ERR_IO, "%.200s: %s", file, errno ? strerror(errno) : "ends early");
}

/* Refuses a pipe, because opening it may wait and it cannot be read in parts. */
static osla_err open_file(const char *file, FILE **out)
{
  struct stat found;
  errno = 0;
  *out = NULL;
  if (stat(file, &found) != 0) return io_error(file);
  OSLA_CHECK(S_ISREG(found.st_mode), OSLA_ERR_IO, "%.200s: is not a regular file", file);
  *out = fopen(file, "rb");
  return *out ? OSLA_OK : io_error(file);
}

/* ---- heads and blocks ---- */

osla_err osli_sparse_head_line(const char *file, FILE *f, char *line, sparse_head *head)
{
  for (;;) {
    if (!fgets(line, FIRST_LINES, f))
      return osla_error_set(OSLA_ERR_IO, "%.200s: ends after line %" PRId64 ", before its sizes",
                            file, head->lines);
    head->lines++;
    const size_t length = strlen(line);
    OSLA_CHECK(length + 1 < FIRST_LINES, OSLA_ERR_IO, "%.200s:%" PRId64 ": longer than %d bytes",
               file, head->lines, FIRST_LINES);
    const bool blank = strspn(line, " \t\r\n") == length;
    line[strcspn(line, "\r\n")] = '\0';
    if (!blank && line[0] != '%') break;
  }
  head->from = (int64_t)ftello(f);
  return OSLA_OK;
}

static osla_err read_head(const char *file, sparse_head_reader *read, sparse_head *head)
{
  FILE *f = NULL;
  OSLA_CALL(open_file(file, &f));
  osla_err err = read(file, f, head);
  (void)fclose(f);
  return err;
}

osla_err osli_sparse_head(osla_transport *t, const char *file, sparse_head_reader *read,
                          sparse_head *head)
{
  *head = (sparse_head){0};
  osla_err err = OSLA_OK;
  if (osla_transport_rank(t) == 0) err = read_head(file, read, head);
  OSLA_CALL(osla_agree(t, err));
  return osla_bcast(t, head, (int64_t)(sizeof *head / sizeof(int64_t)), MPI_INT64_T, 0);
}

osla_err osli_sparse_blocks(const char *file, const char *what, int size, const int64_t *given,
                            int64_t n, int64_t **start)
{
  *start = malloc(((size_t)size + 1) * sizeof **start);
  OSLA_CHECK(*start, OSLA_ERR_MEM, "no memory for blocks of %s", what);
  if (!given) {
    osla_even_blocks(n, size, *start);
    return OSLA_OK;
  }
  memcpy(*start, given, ((size_t)size + 1) * sizeof **start);
  for (int p = 0; p < size; p++)
    OSLA_CHECK(given[0] == 0 && given[p + 1] >= given[p], OSLA_ERR_ARG,
               "blocks of %s do not ascend from 0", what);
  OSLA_CHECK(given[size] == n, OSLA_ERR_ARG,
             "%.200s: has %" PRId64 " %s, but the blocks end with %" PRId64, file, n, what,
             given[size]);
  return OSLA_OK;
}

osla_err osli_sparse_room(osla_transport *t, const char *file, int64_t rows, int64_t columns)
{
  const int64_t ranks = osla_transport_size(t);
  OSLA_CHECK(rows / ranks < INT32_MAX && columns / ranks < INT32_MAX, OSLA_ERR_RANGE,
             "%.200s: %" PRId64 " rows and %" PRId64 " columns on %" PRId64
             " ranks: 2^31 or more on one",
             file, rows, columns, ranks);
  const uint64_t share = (uint64_t)(rows / ranks + columns / ranks) + 2;
  if (osla_memory_check(t, 32 * share) == OSLA_OK) return OSLA_OK;
  char text[300];
  (void)snprintf(text, sizeof text, "%s", osla_error_text());
  return osla_error_set(OSLA_ERR_MEM, "%.200s: %" PRId64 " rows and %" PRId64 " columns: %s", file,
                        rows, columns, text);
}

/* ---- lines ---- */

osla_err osli_sum_before(osla_transport *t, int64_t mine, int64_t *before, int64_t *all)
{
  int64_t *start = NULL;
  const osla_err err = osli_rank_starts(t, mine, &start);
  *before = err == OSLA_OK ? start[osla_transport_rank(t)] : 0;
  *all = err == OSLA_OK ? start[osla_transport_size(t)] : 0;
  free(start);
  return err;
}

/* Reads the bytes from `begin` to `end`, and further bytes to the end of the last line. */
static osla_err read_bytes(FILE *f, const char *file, bool first, int64_t begin, int64_t end,
                           char **text, size_t *size)
{
  size_t n = (size_t)(end - begin), room = n + 4096;
  char *bytes = malloc(room + 1);
  *text = bytes;
  *size = 0;
  OSLA_CHECK(bytes, OSLA_ERR_MEM, "%.200s: no memory for %zu bytes of it", file, n);
  errno = 0;
  if (fseeko(f, (off_t)begin, SEEK_SET) != 0) return io_error(file);
  n = fread(bytes, 1, n, f);
  const bool begins = first || memchr(bytes, '\n', n);
  if (!begins) n = 0; /* no line begins here, because all bytes belong to a line of a lower rank */
  for (int c; n > 0 && bytes[n - 1] != '\n' && (c = getc(f)) != EOF;) {
    if (n == room) {
      room *= 2;
      char *moved = realloc(bytes, room + 1);
      OSLA_CHECK(moved, OSLA_ERR_MEM, "%.200s: no memory for a line of %zu bytes", file, room);
      *text = bytes = moved;
    }
    bytes[n++] = (char)c;
  }
  if (ferror(f)) return io_error(file);
  OSLA_CHECK(!memchr(bytes, '\0', n), OSLA_ERR_IO,
             "%.200s: contains a zero byte, so it is not a text file", file);
  bytes[n] = '\0';
  *size = n;
  return OSLA_OK;
}

/* Keeps only the lines that begin at an offset of at least `skip` and less than `keep`. */
static void cut(text_share *s, size_t size, size_t skip, size_t keep)
{
  size_t at = 0, lines_end;
  while (at < size && at < skip) { /* skip is 0 or 1; if it is 1, the byte at offset 0 shows whether
                                      a line begins at offset 1 */
    const char *end = memchr(s->text + at, '\n', size - at);
    at = end ? (size_t)(end - s->text) + 1 : size;
  }
  for (lines_end = at; lines_end < size && lines_end < keep; s->lines++) {
    const char *end = memchr(s->text + lines_end, '\n', size - lines_end);
    lines_end = end ? (size_t)(end - s->text) + 1 : size;
  }
  memmove(s->text, s->text + at, lines_end - at);
  s->text[lines_end - at] = '\0';
}

static osla_err read_share(osla_transport *t, int64_t from, text_share *s)
{
  const int64_t size = osla_transport_size(t), rank = osla_transport_rank(t);
  char *text = NULL;
  size_t n = 0;
  FILE *f;
  OSLA_CALL(open_file(s->file, &f));
  if (fseeko(f, 0, SEEK_END) != 0) {
    (void)fclose(f);
    return io_error(s->file);
  }
  const int64_t bytes = (int64_t)ftello(f) > from ? (int64_t)ftello(f) - from : 0;
  const int64_t begin = from + bytes / size * rank, before = rank > 0;
  const int64_t end = rank == size - 1 ? from + bytes : begin + bytes / size;
  osla_err err = OSLA_OK;
  if (end > begin) err = read_bytes(f, s->file, before == 0, begin - before, end, &text, &n);
  (void)fclose(f);
  s->text = text ? text : calloc(1, 1);
  if (err != OSLA_OK || n == 0) return err;
  cut(s, n, (size_t)before, (size_t)(end - begin + before));
  return OSLA_OK;
}

/* Checks that there is memory for the lines of this rank. */
static osla_err check_size(osla_transport *t, const char *file)
{
  struct stat found = {0};
  osla_err err = OSLA_OK;
  if (osla_transport_rank(t) == 0 && stat(file, &found) != 0)
    err = osla_error_set(OSLA_ERR_IO, "%.200s: %s", file, strerror(errno));
  int64_t bytes = (int64_t)found.st_size;
  OSLA_CALL(osla_agree(t, err));
  OSLA_CALL(osla_bcast(t, &bytes, 1, MPI_INT64_T, 0));
  const uint64_t share = (uint64_t)bytes / (uint64_t)osla_transport_size(t) + 1;
  if (osla_memory_check(t, 2 * share) == OSLA_OK) return OSLA_OK;
  char why[300];
  (void)snprintf(why, sizeof why, "%s", osla_error_text());
  return osla_error_set(OSLA_ERR_MEM, "%.200s: %" PRId64 " bytes: %s", file, bytes, why);
}

osla_err osli_text_share_open(osla_transport *t, const char *file, int64_t from,
                              int64_t lines_before, text_share *out)
{
  int64_t before, all;
  *out = (text_share){.file = file};
  OSLA_CALL(check_size(t, file));
  osla_err err = read_share(t, from, out);
  if (err == OSLA_OK && !out->text)
    err = osla_error_set(OSLA_ERR_MEM, "%.200s: no memory for its lines", file);
  OSLA_CALL(osla_agree(t, err));
  OSLA_CALL(osli_sum_before(t, out->lines, &before, &all));
  out->line = lines_before + before;
  out->next = out->text;
  return OSLA_OK;
}

void osli_text_share_close(text_share *s)
{
  free(s->text);
  *s = (text_share){0};
}

char *osli_text_share_next(text_share *s)
{
  char *line = s->next;
  if (*line == '\0') return NULL;
  char *end = strchr(line, '\n');
  s->next = end ? end + 1 : line + strlen(line);
  if (end) *end = '\0';
  const size_t length = strlen(line);
  if (length > 0 && line[length - 1] == '\r') line[length - 1] = '\0';
  s->line++;
  return line;
}

static bool is_blank(const char *line, const char *end)
{
  while (line < end && (*line == ' ' || *line == '\t' || *line == '\r'))
    line++;
  return line == end;
}

int64_t osli_text_share_count(const text_share *s, bool blank)
{
  int64_t count = 0;
  for (const char *line = s->text; *line;) {
    const char *end = strchr(line, '\n');
    if (!end) end = line + strlen(line);
    count += *line != '%' && (blank || !is_blank(line, end));
    line = *end ? end + 1 : end;
  }
  return count;
}

/* ---- words ---- */

bool osli_text_more(char **at)
{
  while (**at == ' ' || **at == '\t')
    (*at)++;
  return **at != '\0';
}

/* Sets the error for a word that is not a number. `what`: "a number" or "an integer", for the text
 * of the error. */
static osla_err no_number(const text_share *s, const char *word, const char *what)
{
  int length = (int)strcspn(word, " \t");
  if (length == 0)
    return osla_error_set(OSLA_ERR_IO, "%.200s:%" PRId64 ": ends before its last number", s->file,
                          s->line);
  return osla_error_set(OSLA_ERR_IO, "%.200s:%" PRId64 ": '%.*s' is not %s in range", s->file,
                        s->line, length < 40 ? length : 40, word, what);
}

static bool ends_word(const char *end)
{
  return *end == '\0' || *end == ' ' || *end == '\t';
}

osla_err osli_text_integer(const text_share *s, char **at, int64_t *value)
{
  char *end;
  (void)osli_text_more(at);
  errno = 0;
  *value = strtoll(*at, &end, 10);
  if (end == *at || !ends_word(end) || errno == ERANGE) return no_number(s, *at, "an integer");
  *at = end;
  return OSLA_OK;
}

osla_err osli_text_real(const text_share *s, char **at, double *value)
{
  char *end;
  (void)osli_text_more(at);
  *value = osli_parse_real(*at, &end);
  if (end == *at || !ends_word(end) || !isfinite(*value)) return no_number(s, *at, "a number");
  *at = end;
  return OSLA_OK;
}
