/* Lines, fields, numbers and the growing list of sites (private to the readers). Local, thread-safe
 * (one reader per thread). Every function that can fail sets an error of one line, "FILE:LINE:
 * ...". */
#ifndef TOMO_TEXT_H
#define TOMO_TEXT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "apps/tomography/readers/tomo_io.h"

enum { TEXT_FIELDS_MAX = 256, TEXT_SHOWN = 44, TEXT_AHEAD = 64 };

/* Range of depths of earthquakes in km. */
#define TEXT_DEPTH_LOW  (-10.0)
#define TEXT_DEPTH_HIGH 800.0

/* Column names that distinguish tables of stations from tables of earthquakes. */
#define TEXT_STATION_NAMES   "station|sta|code|station_code"
#define TEXT_NETWORK_NAMES   "network|net|station_network_code"
#define TEXT_MAGNITUDE_NAMES "mag|magnitude|mw|source_magnitude"

typedef struct text_reader {
  const char *file; /* name for messages: the last 200 bytes of the path */
  FILE *stream;
  /* first bytes of the file, which were read to detect its format; text_read_bytes and
   * text_read_line have not yet returned the bytes from index `taken` on */
  char ahead[TEXT_AHEAD];
  size_t n_ahead, taken;
  int64_t line;             /* number of the line in `text`, from 1 */
  bool repeat_line;         /* if true, the next text_read_line returns the current line again */
  char text[TOMO_LINE_MAX]; /* the current line without its end */
} text_reader;

typedef struct site_list {
  tomo_site *site;
  int64_t count, capacity;
  /* true if an entry is an epoch or a channel of a station, so that a station may have several
   * entries */
  bool epochs;
  tomo_unlocated placeless; /* the first events without coordinates (their latitude is NaN) */
} site_list;

/* Sets and returns the error IO "FILE:LINE: message" for the current line. */
osla_err text_error(const text_reader *reader, const char *format, ...)
  __attribute__((format(printf, 2, 3)));
/* Returns text_error from the calling function if the condition is false. */
#define TEXT_CHECK(reader, condition, ...)                                                         \
  do {                                                                                             \
    if (!(condition)) return text_error(reader, __VA_ARGS__);                                      \
  } while (0)

/* Opens the file. The caller must call text_close, also after an error. */
osla_err text_open(text_reader *reader, const char *file);
void text_close(text_reader *reader);

/* True if the file begins with <, after blanks and a byte order mark, and is not a web page
 * (HTML). */
bool text_is_xml(const text_reader *reader);
bool text_is_html(const text_reader *reader);

/* Reads the next bytes of the file without splitting lines. Returns their number, 0 at the end. */
size_t text_read_bytes(text_reader *reader, char *bytes, size_t most);

/* Reads the next line; *more = false at the end of the file. */
osla_err text_read_line(text_reader *reader, bool *more);

/* Reads the next line that is neither empty nor a comment. Comments begin with #, except for the
 * header of FDSN text. */
osla_err text_read_content(text_reader *reader, bool *more);

/* Returns the separator of a table's fields: comma, semicolon, tab or |, whichever is most frequent
 * in the header outside quotes. Of equally frequent ones the first in this order is returned, and a
 * comma if no separator occurs. */
char text_separator(const char *header);

/* Splits the current line in place at the separator. Fields may be quoted as in CSV, unless the
 * separator is |. Pointers to the fields go to field[TEXT_FIELDS_MAX]. */
osla_err text_split(text_reader *reader, char separator, char **field, int *count);
osla_err text_split_blanks(text_reader *reader, char **field, int *count);

/* Kind of list whose header in FDSN text begins like the line: "#Network |" for stations, "#EventID
 * |" for events. */
typedef enum text_fdsn { TEXT_FDSN_NONE, TEXT_FDSN_STATIONS, TEXT_FDSN_EVENTS } text_fdsn;
text_fdsn text_find_fdsn(const char *line);

/* Returns the error for a list of the wrong kind. `is` names the kind of the list, `not` the kind
 * that was expected: "stations" or "earthquakes". */
osla_err text_wrong_list_error(const text_reader *reader, const char *is, const char * not );

/* Copies a field for a message: printable characters, cut to fit. */
void text_printable(const char *field, char shown[TEXT_SHOWN]);

/* Parses a finite decimal number between low and high; `what` names it in the message. */
osla_err text_parse_number(const text_reader *reader, const char *what, const char *field,
                           double low, double high, double *value);

/* Parses latitude and longitude into the site. */
osla_err text_parse_position(const text_reader *reader, const char *latitude, const char *longitude,
                             tomo_site *site);

/* Sets the site's name without control characters and outer blanks; a cut does not split a UTF-8
 * character. */
void text_set_name(tomo_site *site, const char *name);

/* Sets name and id of a station to "NETWORK.STATION". */
void text_set_codes(tomo_site *site, const char *network, const char *station);

/* Sets the site's id without outer blanks. An id that is too long becomes empty, so that no data
 * can refer to it. */
void text_set_id(tomo_site *site, const char *id);

/* True if the field is empty or NaN, which programs write for a missing value. */
bool text_is_missing(const char *field);

/* Parses a time to seconds since 1970; `what` names the time in error messages. The result is NaN
 * for an empty field. */
osla_err text_parse_time(const text_reader *reader, const char *what, const char *field,
                         double *time_s);

/* Parses an event's time to seconds. The result is NaN for an empty field, for "NaN" and for a year
 * before 1, as in -2150-01-31. */
osla_err text_parse_event_time(const text_reader *reader, const char *what, const char *field,
                               double *time_s);

/* Checks the code of a network or station. A code that is too long is an error, not cut, because
 * codes identify stations. */
osla_err text_check_code(const text_reader *reader, const char *what, const char *code);

/* Appends a site whose name is empty and whose magnitude and times are NaN. *site is valid until
 * the next call. */
osla_err site_list_add(site_list *list, tomo_site **site);

/* Marks the latest event as one without coordinates: its latitude becomes NaN. It is excluded after
 * reading, but counts for the indices of later events. `what` says what is missing; the first such
 * events are noted with file and line. */
void site_list_mark_unlocated(site_list *list, const text_reader *where, const char *what);

/* Returns the error for a list of `count` events without coordinates. */
osla_err site_list_unlocated_error(const site_list *list, int64_t count);

/* True if `name` is one of the words in a list such as "latitude|lat", in any case. */
bool text_is_one_of(const char *name, const char *words);

/* Returns error IO if a header contains blanks, but none of the separators. */
osla_err text_check_header(const text_reader *reader, char *const *field, int count);

/* Finds the columns of a header. keys[i] lists the accepted names of a column, as in
 * "latitude|lat"; column[i] is set to its position, or -1 if it is missing. The first `required`
 * keys must occur. The first `unique` keys must not occur twice. */
osla_err text_find_columns(const text_reader *reader, char *const *field, int count,
                           const char *const *keys, int n_keys, int required, int unique,
                           int *column);

/* Splits and checks the header in the current line, and finds the columns. */
osla_err text_parse_header(text_reader *reader, char separator, const char *const *keys, int n_keys,
                           int required, int unique, int *column, int *count);

/* Splits the current line, which must have `count` fields. */
osla_err text_split_row(text_reader *reader, char separator, char **field, int count);

/* Appends the entries of a file to the list. For a text it calls `read`, whose first text_read_line
 * returns the file's first line; for XML it calls `read_xml`. `what` ("station") is the word for an
 * entry in the error for a file without entries. Errors: tomo_io.h. */
typedef osla_err site_reader(text_reader *reader, site_list *list);
osla_err text_read_sites(const char *file, const char *what, site_reader *read,
                         site_reader *read_xml, site_list *list);

/* Appends the entries of a file, including duplicates and events without coordinates. */
osla_err text_read_stations(const char *file, site_list *list);
osla_err text_read_events(const char *file, site_list *list);

/* Removes duplicates; the first of equal entries stays. The order does not change, and *count is
 * reduced. Entries are equal under these conditions:
 *   stations  equal ids, and at most 0.1 degree apart: epochs, channels, lists of several data
 *             centres. Stations with equal ids that are farther apart are different, because
 *             temporary networks use codes again.
 *   events    equal ids
 * An entry without id is never a duplicate. Errors: MEM. */
osla_err tomo_merge_sites(tomo_site *sites, int64_t *count, bool stations);

/* Passes the list to the caller if err is OSLA_OK, else frees it; returns err. */
osla_err site_list_release(site_list *list, osla_err err, tomo_site **sites, int64_t *count);

enum { EVENT_TIME_PARTS = 6 }; /* a time has year, month, day, hour, minute and second */

/* Fields of a row; "" if the row or the table does not have the field. */
typedef struct event_time {
  const char *date; /* date in ISO 8601, without a time of day if `time` has one */
  /* a time of day, or a complete time in ISO 8601, which needs no other field */
  const char *time;
  const char *const *part; /* [EVENT_TIME_PARTS] */
  /* true if the table has a column for the date or year; a number in `time` is then not read as a
   * year */
  bool has_day;
} event_time;

/* Combines the fields of an event's time to seconds (tomo_text.h). The result is NaN if no field
 * is given, or if the year is before 1. Errors: a part that is not a number or not valid; a later
 * part without an earlier one; a time of day without a day; with a column for the date, a `time`
 * that is neither a time of day nor complete; two different days. */
osla_err event_time_read(const text_reader *reader, const event_time *fields, double *time_s);

/* Returns error IO if a table has a column for a later part of a time (such as the hour), no column
 * for an earlier part (such as the day), and no column for the whole time. */
osla_err event_time_check_header(const text_reader *reader, bool has_date, bool has_time,
                                 const int column[EVENT_TIME_PARTS]);

/* Reads earthquakes in the format NDK (tomo_ndk.c). */
bool text_is_ndk(const char *line);
osla_err text_read_ndk(text_reader *reader, site_list *list);

/* Times of catalogues: seconds of UTC since 1970, without leap seconds. Local, thread-safe. */
/* Parses ISO 8601, extended form, down to any precision: 2018, 2018-01, 2018-01-31,
 * 2018-01-31T02:00, 2018-01-31T02:00:31.8; a blank may replace T. A time of day may be followed by
 * Z (UTC), +hh:mm, +hhmm or +hh. Missing parts have their first value: 2018 is the begin of that
 * year. Years are 1 to 9999; second 60 is the first of the next minute, and 24:00:00 the begin of
 * the next day. Returns false for any other text. */
bool tomo_time_read(const char *text, double *seconds);

/* Converts a date and a time of day to seconds since 1970; returns false if they are invalid.
 * Seconds 0 <= s < 61; hour 24 is valid only with 0 minutes and 0 seconds. */
bool tomo_time_make(int year, int month, int day, int hour, int minute, double second,
                    double *seconds);

#endif
