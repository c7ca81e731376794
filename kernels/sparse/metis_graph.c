/* Reads graphs in METIS format, in which each line lists the neighbours of one vertex. */
#include <stdio.h>

#include "kernels/sparse/entries.h"
#include "kernels/sparse/sparse_file.h"

#include <inttypes.h>
#include <stdlib.h>

/* Indices of values in the array sparse_head.kind. */
enum {
  KIND_SKIP,   /* amount of numbers that precede the neighbours in a line */
  KIND_WEIGHTS /* other than 0 if edges have weights */
};
enum { MOST_WEIGHTS = 1000 };

static osla_err read_sizes(const char *file, char *line, sparse_head *head)
{
  const text_share at_line = {.file = file, .line = head->lines};
  int64_t format = 0, constraints = 1;
  char *at = line;
  OSLA_CALL(osli_text_integer(&at_line, &at, &head->rows));
  OSLA_CALL(osli_text_integer(&at_line, &at, &head->entries));
  if (osli_text_more(&at)) OSLA_CALL(osli_text_integer(&at_line, &at, &format));
  if (osli_text_more(&at)) OSLA_CALL(osli_text_integer(&at_line, &at, &constraints));
  OSLA_CHECK(!osli_text_more(&at), OSLA_ERR_IO, "%.200s:%" PRId64 ": '%.40s' after the sizes", file,
             head->lines, at);
  OSLA_CHECK(head->rows >= 0 && head->entries >= 0 && head->entries <= INT64_MAX / 2, OSLA_ERR_IO,
             "%.200s:%" PRId64 ": %" PRId64 " vertices and %" PRId64 " edges", file, head->lines,
             head->rows, head->entries);
  const bool digits = format >= 0 && format <= 111 && format % 10 <= 1 && format / 10 % 10 <= 1;
  OSLA_CHECK(digits && constraints >= 0 && constraints <= MOST_WEIGHTS, OSLA_ERR_IO,
             "%.200s:%" PRId64 ": format %" PRId64 " with %" PRId64
             " weights is not a METIS format",
             file, head->lines, format, constraints);
  head->columns = head->rows;
  head->kind[KIND_WEIGHTS] = format % 10;
  head->kind[KIND_SKIP] = format / 100 + (format / 10 % 10) * constraints;
  return OSLA_OK;
}

static osla_err read_head(const char *file, FILE *f, sparse_head *head)
{
  char line[FIRST_LINES];
  OSLA_CALL(osli_sparse_head_line(file, f, line, head));
  return read_sizes(file, line, head);
}

/* Adds the neighbours of a vertex. `vertex`: number of the vertex, from 0. */
static osla_err add_vertex(const text_share *s, const sparse_head *head, int64_t vertex, char *line,
                           csr_entries *e)
{
  int64_t number;
  for (int64_t i = 0; i < head->kind[KIND_SKIP]; i++)
    OSLA_CALL(osli_text_integer(s, &line, &number));
  while (osli_text_more(&line)) {
    int64_t weight = 1;
    OSLA_CALL(osli_text_integer(s, &line, &number));
    if (head->kind[KIND_WEIGHTS]) OSLA_CALL(osli_text_integer(s, &line, &weight));
    OSLA_CHECK(number >= 1 && number <= head->rows, OSLA_ERR_IO,
               "%.200s:%" PRId64 ": neighbour %" PRId64 " is outside 1 to %" PRId64, s->file,
               s->line, number, head->rows);
    OSLA_CALL(osli_entries_add(e, vertex, number - 1, (double)weight));
  }
  return OSLA_OK;
}

/* Reads the lines of the vertices. Lines after the last vertex must be blank. */
static osla_err add_vertices(text_share *s, const sparse_head *head, int64_t vertex, csr_entries *e)
{
  for (char *line; (line = osli_text_share_next(s));) {
    if (line[0] == '%') continue;
    if (vertex >= head->rows) {
      OSLA_CHECK(!osli_text_more(&line), OSLA_ERR_IO,
                 "%.200s:%" PRId64 ": '%.40s' after the last of %" PRId64 " vertices", s->file,
                 s->line, line, head->rows);
    } else {
      OSLA_CALL(add_vertex(s, head, vertex, line, e));
    }
    vertex++;
  }
  return OSLA_OK;
}

static osla_err check_counts(osla_transport *t, const char *file, const sparse_head *head,
                             int64_t vertices, int64_t neighbours)
{
  OSLA_CHECK(vertices >= head->rows, OSLA_ERR_IO,
             "%.200s: %" PRId64 " vertices are announced, but the file has %" PRId64, file,
             head->rows, vertices);
  OSLA_CALL(osla_allreduce(t, &neighbours, 1, MPI_INT64_T, MPI_SUM));
  OSLA_CHECK(neighbours == 2 * head->entries, OSLA_ERR_IO,
             "%.200s: %" PRId64
             " edges are announced, so twice as many neighbours, but the file has %" PRId64
             " neighbours",
             file, head->entries, neighbours);
  return OSLA_OK;
}

static osla_err read_vertices(osla_transport *t, const char *file, const sparse_head *head,
                              csr_entries *e)
{
  text_share s;
  int64_t before, all = 0;
  osla_err err = osli_text_share_open(t, file, head->from, head->lines, &s);
  if (err == OSLA_OK) err = osli_sum_before(t, osli_text_share_count(&s, true), &before, &all);
  if (err == OSLA_OK) err = osla_agree(t, add_vertices(&s, head, before, e));
  if (err == OSLA_OK) err = check_counts(t, file, head, all, e->n);
  osli_text_share_close(&s);
  return err;
}

osla_err osla_csr_read_metis(osla_transport *t, const char *file, const int64_t *row_start,
                             osla_csr **out)
{
  sparse_head head;
  csr_entries e = {0};
  int64_t *rows = NULL;
  *out = NULL;
  OSLA_CALL(osli_sparse_head(t, file, read_head, &head));
  OSLA_CALL(osli_sparse_room(t, file, head.rows, head.rows));
  osla_err err =
    osli_sparse_blocks(file, "vertices", osla_transport_size(t), row_start, head.rows, &rows);
  err = osla_agree(t, err);
  if (err == OSLA_OK) err = read_vertices(t, file, &head, &e);
  if (err == OSLA_OK) err = osli_entries_check_mirrored(t, file, rows, &e);
  if (err == OSLA_OK) err = osli_entries_to_csr(t, rows, rows, &e, out);
  osli_entries_free(&e);
  free(rows);
  return err;
}
