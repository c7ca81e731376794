/* Reads the heads of files of sparse matrices, and determines the distribution of the rows. */
#include <stdio.h>

#include "kernels/sparse/sparse_file.h"
#include "kernels/sparse/text_share.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

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
  OSLA_CALL(osli_text_open(file, &f));
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
