/* What the readers of sparse files share. Not for programs. */
#ifndef SPARSE_FILE_H
#define SPARSE_FILE_H

#include "osla_sparse_file.h"

enum { FIRST_LINES = 4096 }; /* bytes that the words of a header may take */

/* The head of a file, as rank 0 reads it; the same on all ranks. */
typedef struct sparse_head {
  int64_t rows, columns, entries; /* as announced */
  int64_t from, lines;            /* where the data begin, and how many lines come before */
  int64_t kind[4];                /* the reader's own */
} sparse_head;

/* Reads a head on rank 0 by `read` and sends to all ranks. Collective. */
typedef osla_err sparse_head_reader(const char *file, FILE *f, sparse_head *head);
osla_err osli_sparse_head(osla_transport *transport, const char *file, sparse_head_reader *read,
                          sparse_head *head);

/* The next line of a head that is neither blank nor begins with %; in a buffer of FIRST_LINES. */
osla_err osli_sparse_head_line(const char *file, FILE *f, char *line, sparse_head *head);

/* The blocks that were given, or even ones of n: of `start` a copy, the caller's to free. They must
 * end with n. Local. */
osla_err osli_sparse_blocks(const char *file, const char *what, int size, const int64_t *given,
                            int64_t n, int64_t **start);

/* Is there memory for what these sizes need, before a line is read? Collective. Errors, on all
 * ranks together: RANGE, MEM. */
osla_err osli_sparse_room(osla_transport *transport, const char *file, int64_t rows,
                          int64_t columns);

#endif
