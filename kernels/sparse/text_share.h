/* Distributes the lines of a text file over the ranks (private). */
#ifndef TEXT_SHARE_H
#define TEXT_SHARE_H

#include "osla_transport.h"
#include <stdio.h>

/* Opens a regular file for reading. Local. Errors: IO. */
osla_err osli_text_open(const char *file, FILE **out);

typedef struct text_share {
  const char *file;
  char *text, *next; /* whole lines of this rank; start of the next line */
  int64_t line;      /* number of the line that was returned last; counted in the file, from 1 */
  int64_t lines;     /* number of lines of text on this rank */
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

/* Reads the next word of a line as a number, and moves *at behind the word. Local. Errors: IO (the
 * text names file and line). */
osla_err osli_text_integer(const text_share *share, char **at, int64_t *value);
/* reads a decimal number, which must be finite */
osla_err osli_text_real(const text_share *share, char **at, double *value);
/* returns whether the line has another word */
bool osli_text_more(char **at);

/* *before becomes the sum of `mine` over all lower ranks; *all becomes the sum over all ranks.
 * Collective. */
osla_err osli_sum_before(osla_transport *transport, int64_t mine, int64_t *before, int64_t *all);

#endif
