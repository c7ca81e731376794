/* Functions that the readers of sparse files share (private). */
#ifndef SPARSE_FILE_H
#define SPARSE_FILE_H

#include "osla_sparse_file.h"

#include <stdio.h>

enum { FIRST_LINES = 4096 }; /* largest length of a line in the head of a file, in bytes */

/* Head of a file; rank 0 reads it and sends it to all ranks. */
typedef struct sparse_head {
  int64_t rows;    /* number of rows that the head announces */
  int64_t columns; /* number of columns that the head announces */
  int64_t entries; /* number of entries that the head announces */
  int64_t from;    /* offset of the data in the file, in bytes */
  int64_t lines;   /* number of lines before the data */
  int64_t kind[4]; /* details of the format, whose meaning depends on the reader */
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

/* ---- lines of a file, distributed over the ranks ---- */

typedef struct text_share {
  const char *file;
  char *text;    /* whole lines of this rank */
  char *next;    /* start of the next line in `text` */
  int64_t line;  /* number of the line that was returned last; counted in the file, from 1 */
  int64_t lines; /* number of lines of text on this rank */
} text_share;

/* Reads the lines that begin in this rank's part of the file. The part is a share of the bytes from
 * offset `from` on; line number lines_before + 1 begins at `from`. The share must be closed even
 * after an error. Collective. Errors, on all ranks together: IO, MEM. */
osla_err osli_text_share_open(osla_transport *transport, const char *file, int64_t from,
                              int64_t lines_before, text_share *out);
void osli_text_share_close(text_share *share);

/* Returns the next line, without its end-of-line character, or NULL after the last line. Local. */
char *osli_text_share_next(text_share *share);

/* Counts this rank's lines that do not begin with %. Blank lines count only if `blank` is set. Must
 * be called before any line is returned. Local. */
int64_t osli_text_share_count(const text_share *share, bool blank);

/* Reads the next word of a line as a number, and advances *at to the end of the word. Local.
 * Errors: IO (the text names file and line). */
osla_err osli_text_integer(const text_share *share, char **at, int64_t *value);
osla_err osli_text_real(const text_share *share, char **at,
                        double *value); /* reads a decimal number, which must be finite */
/* Returns true if the line has another word. */
bool osli_text_more(char **at);

/* *before becomes the sum of `mine` over all lower ranks; *all becomes the sum over all ranks.
 * Collective. */
osla_err osli_sum_before(osla_transport *transport, int64_t mine, int64_t *before, int64_t *all);

#endif
