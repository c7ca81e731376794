/* Each rank's share of the lines of a text file. Not for programs. */
#ifndef TEXT_SHARE_H
#define TEXT_SHARE_H

#include "osla_transport.h"
#include <stdio.h>

/* Opens a file for reading. Local. Errors: IO (also where it is no regular file). */
osla_err osli_text_open(const char *file, FILE **out);

typedef struct text_share {
  const char *file;
  char *text, *next; /* whole lines, and where the next one begins */
  int64_t line;      /* number of the line that came last, from 1 */
  int64_t lines;     /* in this share */
} text_share;

/* Reads the lines that begin in this rank's part of the bytes from `from` on, which is where line
 * lines_before + 1 begins. Collective; the share is to be closed, also after a failure. Errors, on
 * all ranks together: IO, MEM. */
osla_err osli_text_share_open(osla_transport *transport, const char *file, int64_t from,
                              int64_t lines_before, text_share *out);
void osli_text_share_close(text_share *share);

/* The next line, without its end; NULL: there is none. Local. */
char *osli_text_share_next(text_share *share);

/* Lines that do not begin with %, before any is taken; `blank`: also those of blanks alone. Local.
 */
int64_t osli_text_share_count(const text_share *share, bool blank);

/* The next word of a line as a number; *at moves behind it. Local. Errors: IO with file and line.
 */
osla_err osli_text_integer(const text_share *share, char **at, int64_t *value);
osla_err osli_text_real(const text_share *share, char **at, double *value); /* decimal, finite */
/* Is there another word? */
bool osli_text_more(char **at);

/* before := the sum of `mine` over the lower ranks, all := over all. Collective. */
osla_err osli_sum_before(osla_transport *transport, int64_t mine, int64_t *before, int64_t *all);

#endif
