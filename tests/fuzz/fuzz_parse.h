/* Functions shared by the independent parsers of text: lines, fields and numbers (fuzz_lines.c). */
#ifndef FUZZ_PARSE_H
#define FUZZ_PARSE_H

#include "tests/fuzz/fuzz.h"

enum { FUZZ_LINE = 4096, FUZZ_FIELDS = 256 };

typedef struct fuzz_text {
  fuzz_bytes all;
  size_t at;
  char line[FUZZ_LINE];
  const char *wrong; /* reason for which the text was first rejected; NULL if it was not */
} fuzz_text;

/* Records why the text is rejected, unless a reason is recorded already. Returns false. */
bool fuzz_text_reject(fuzz_text *t, const char *why);
/* Copies the next line of the text to t->line, without its end. Returns false if no line is left,
 * or if the line is rejected (too long, or with a zero byte). */
bool fuzz_text_next_raw(fuzz_text *t);
/* Is the line the header of FDSN text (stations or events)? */
bool fuzz_text_is_fdsn(const char *line);
/* Reads the next line that is neither blank nor a comment, as fuzz_text_next_raw does. */
bool fuzz_text_next(fuzz_text *t);
/* Parses a decimal number within a range: sign, digits with a point, exponent, nothing else. */
bool fuzz_text_number(fuzz_text *t, const char *s, double low, double high, double *value);
/* Returns the separator between the fields of the current line, which is a header. */
char fuzz_text_separator(const fuzz_text *t);
/* Splits the current line. Fields may be quoted unless the separator is |. Returns the number of
 * fields, or -1 if the line is invalid. */
int fuzz_text_split(fuzz_text *t, char separator, char **field);

typedef struct fuzz_site {
  char code[600]; /* NETWORK.STATION */
  double y, x;    /* latitude and longitude, degrees */
} fuzz_site;

/* Is the station already in the list: equal codes within 0.1 degree? */
bool fuzz_is_known(const fuzz_site *list, int count, const fuzz_site *new);

/* Removes outer blanks and tabs, in place. */
char *fuzz_strip_blanks(char *s);

/* Returns the time of an earthquake from the fields of a row ("" if missing), or NaN if no time is
 * given. `has_day` is true if the table has a column for the date or the year (fuzz_times.c). */
double fuzz_columns_time(fuzz_text *t, const char *date, const char *time,
                         const char *const field[6], bool has_day);

#endif
