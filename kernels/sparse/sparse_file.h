/* Common parts of the readers of sparse files (private). */
#ifndef SPARSE_FILE_H
#define SPARSE_FILE_H

#include "osla_sparse_file.h"

enum { FIRST_LINES = 4096 }; /* largest line of a header, in bytes */

/* Head of a file, read by rank 0 and equal on all ranks. */
typedef struct sparse_head {
  int64_t rows, columns, entries; /* numbers that the file announces */
  int64_t from, lines;            /* offset of the data in bytes, and number of lines before it */
  int64_t kind[4];                /* format details of each reader */
} sparse_head;

/* Reads the head on rank 0 with `read` and sends it to all ranks. Collective. */
typedef osla_err sparse_head_reader(const char *file, FILE *f, sparse_head *head);
osla_err osli_sparse_head(osla_transport *transport, const char *file, sparse_head_reader *read,
                          sparse_head *head);

/* Reads the next line of the head that is not blank and does not begin with %, into a buffer of
 * FIRST_LINES bytes. */
osla_err osli_sparse_head_line(const char *file, FILE *f, char *line, sparse_head *head);

/* *start := copy of the given block boundaries, or even blocks of n if `given` is NULL; the caller
 * frees it. Given boundaries must end with n. Local. */
osla_err osli_sparse_blocks(const char *file, const char *what, int size, const int64_t *given,
                            int64_t n, int64_t **start);

/* Checks before reading any data that there is memory for a matrix of these sizes. Collective.
 * Errors, on all ranks together: RANGE, MEM. */
osla_err osli_sparse_room(osla_transport *transport, const char *file, int64_t rows,
                          int64_t columns);

#endif
