/* Of the independent reading of text (fuzz_parse.c): lines, fields, numbers (fuzz_lines.c). */
#ifndef FUZZ_PARSE_H
#define FUZZ_PARSE_H

#include "tests/fuzz/fuzz.h"

enum { FUZZ_LINE = 4096, FUZZ_FIELDS = 256 };

typedef struct fuzz_text {
  fuzz_bytes all;
  size_t at;
  char line[FUZZ_LINE];
  const char *wrong; /* NULL: right so far */
} fuzz_text;

bool fuzz_text_refuse(fuzz_text *t, const char *why); /* false */
bool fuzz_text_next_raw(fuzz_text *t);                /* the next line */
bool fuzz_text_is_fdsn(const char *line);             /* the header of FDSN text */
bool fuzz_text_next(fuzz_text *t);                    /* the next line that counts */
/* Sign, digits with a point, exponent: nothing else; and in the range. */
bool fuzz_text_number(fuzz_text *t, const char *s, double low, double high, double *value);
/* What separates the fields of the header in the line. */
char fuzz_text_separator(const fuzz_text *t);
/* Quotes count, but not with |. Returns the number of fields, -1 if the line is wrong. */
int fuzz_text_split(fuzz_text *t, char separator, char **field);

/* fuzz_times.c: the time of an earthquake by the fields of a row, "" where there is none; NaN: not
 * given. has_day: the table has a column for the date or the year. */
double fuzz_columns_time(fuzz_text *t, const char *date, const char *time,
                         const char *const field[6], bool has_day);

#endif
