/* Functions that the readers of sparse files share (private). */
#ifndef SPARSE_FILE_H
#define SPARSE_FILE_H

#include "osla_sparse_file.h"

enum { FIRST_LINES = 4096 }; /* largest length of a line in the head of a file, in bytes */

/* Head of a file; rank 0 reads it and sends it to all ranks. */
typedef struct sparse_head {
  int64_t rows, columns, entries; /* numbers of rows, columns and entries that the head announces */
  int64_t from, lines;            /* offset of the data in bytes; number of lines before the data */
  int64_t kind[4];                /* details of the format, whose meaning depends on the reader */
} sparse_head;

/* Reads the head of a file on rank 0 by calling `read`, and sends it to all ranks. Collective. */
typedef osla_err sparse_head_reader(const char *file, FILE *f, sparse_head *head);
osla_err osli_sparse_head(osla_transport *transport, const char *file, sparse_head_reader *read,
                          sparse_head *head);

/* Reads, into a buffer of FIRST_LINES bytes, the next line of the head that is not blank and does
 * not begin with %. */
osla_err osli_sparse_head_line(const char *file, FILE *f, char *line, sparse_head *head);

/* *start becomes a copy of the block boundaries `given`, which must end with n. If `given` is NULL,
 * *start holds the boundaries of blocks of n elements of nearly equal length. The caller frees
 * *start. Local. */
osla_err osli_sparse_blocks(const char *file, const char *what, int size, const int64_t *given,
                            int64_t n, int64_t **start);

/* Checks, before any data are read, that there is memory for a matrix with these sizes. Collective.
 * Errors, on all ranks together: RANGE, MEM. */
osla_err osli_sparse_room(osla_transport *transport, const char *file, int64_t rows,
                          int64_t columns);

#endif
