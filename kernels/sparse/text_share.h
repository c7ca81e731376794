/* Distributes the lines of a text file over the ranks (private). */
#ifndef TEXT_SHARE_H
#define TEXT_SHARE_H

#include "osla_transport.h"
#include <stdio.h>

/* Opens a regular file for reading. Local. Errors: IO. */
osla_err osli_text_open(const char *file, FILE **out);

typedef struct text_share {
  const char *file;
  char *text, *next; /* whole lines, and where the next one begins */
  int64_t line;      /* number in the file of the line returned last, from 1 */
  int64_t lines;     /* number of lines on this rank */
} text_share;

/* Reads the lines that begin in this rank's part of the bytes from offset `from` on, where line
 * lines_before + 1 begins. Collective; close the share also after an error. Errors, on all ranks
 * together: IO, MEM. */
osla_err osli_text_share_open(osla_transport *transport, const char *file, int64_t from,
                              int64_t lines_before, text_share *out);
void osli_text_share_close(text_share *share);

/* Returns the next line without its end, or NULL after the last one. Local. */
char *osli_text_share_next(text_share *share);

/* Counts the lines that do not begin with %, before any line was returned; blank lines count only
 * if `blank` is set. Local. */
int64_t osli_text_share_count(const text_share *share, bool blank);

/* Reads the next word of a line as a number and moves *at behind it. Local. Errors: IO with file
 * and line. */
osla_err osli_text_integer(const text_share *share, char **at, int64_t *value);
osla_err osli_text_real(const text_share *share, char **at, double *value); /* decimal, finite */
/* Returns whether another word follows. */
bool osli_text_more(char **at);

/* *before := sum of `mine` over the lower ranks; *all := sum over all ranks. Collective. */
osla_err osli_sum_before(osla_transport *transport, int64_t mine, int64_t *before, int64_t *all);

#endif
