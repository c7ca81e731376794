/* Private to tomo_io: lines, fields, numbers and the growing list of sites. Local, thread-safe (one
 * reader per thread). Every function that can fail records one line "FILE:LINE: ..." */
#ifndef TOMO_TEXT_H
#define TOMO_TEXT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "apps/tomography/readers/tomo_io.h"

enum { TEXT_FIELDS_MAX = 256, TEXT_SHOWN = 44, TEXT_AHEAD = 64 };

/* Depths of earthquakes in km. */
#define TEXT_DEPTH_LOW  (-10.0)
#define TEXT_DEPTH_HIGH 800.0

/* Names of columns by which a table of stations and one of earthquakes are told apart. */
#define TEXT_STATION_NAMES   "station|sta|code|station_code"
#define TEXT_NETWORK_NAMES   "network|net|station_network_code"
#define TEXT_MAGNITUDE_NAMES "mag|magnitude|mw|source_magnitude"

typedef struct text_reader {
  const char *file; /* the name for messages: the path's last 200 bytes */
  FILE *stream;
  char ahead[TEXT_AHEAD]; /* the file's first bytes, from `taken` on to be read before the rest */
  size_t n_ahead, taken;
  int64_t line;             /* number of the line in `text`, from 1 */
  bool held;                /* the next text_read returns the same line again */
  char text[TOMO_LINE_MAX]; /* without its end */
} text_reader;

typedef struct site_list {
  tomo_site *site;
  int64_t count, capacity;
  bool epochs;              /* of stations: an entry is an epoch or a channel, not a station */
  tomo_placeless placeless; /* of the events whose latitude is NaN */
} site_list;

/* Opens the file; the caller calls text_close whatever happens. */
osla_err text_open(text_reader *reader, const char *file);
void text_close(text_reader *reader);

/* Begins the file with XML: a < behind blanks and a byte order mark? A web page (HTML) is no XML.
 */
bool text_is_xml(const text_reader *reader);
bool text_is_html(const text_reader *reader);

/* The next bytes as they are, for a reader of its own; returns their number, 0 at the end. */
size_t text_bytes(text_reader *reader, char *bytes, size_t most);

/* Next line, as it is; *more = false at the end of the file. */
osla_err text_read(text_reader *reader, bool *more);

/* Next line with content: neither empty nor a comment, which begins with #. The header of FDSN text
 * does, too, and is content. */
osla_err text_read_content(text_reader *reader, bool *more);

/* Returns the separator of a table's fields: of comma, semicolon, tab and |, in this order, the one
 * that occurs most often in the header outside quotes; a comma if none occurs. */
char text_separator(const char *header);

/* Splits `text` in place at a separator of text_separator; quotes are those of CSV, but not with |.
 * Pointers to the parts go to field[TEXT_FIELDS_MAX]. */
osla_err text_split(text_reader *reader, char separator, char **field, int *count);
osla_err text_split_blanks(text_reader *reader, char *from, char **field, int *count);

/* What the line announces if it begins as a header of FDSN text: "#Network |", "#EventID |". */
typedef enum text_fdsn { TEXT_FDSN_NONE, TEXT_FDSN_STATIONS, TEXT_FDSN_EVENTS } text_fdsn;
text_fdsn text_find_fdsn(const char *line);

/* The error for a list of the other kind: `is` and `not` are "stations" and "earthquakes". */
osla_err text_refuse_kind(const text_reader *reader, const char *is, const char * not );

/* Printable copy of a field for a message, cut to fit. */
void text_show(const char *field, char shown[TEXT_SHOWN]);

/* A finite decimal number between low and high; `what` names it in the message. */
osla_err text_number(const text_reader *reader, const char *what, const char *field, double low,
                     double high, double *value);

/* Latitude, longitude. */
osla_err text_position(const text_reader *reader, const char *latitude, const char *longitude,
                       tomo_site *site);

/* The name, without control characters, without blanks at the ends and, when cut, without half a
 * UTF-8 character. */
void text_set_name(tomo_site *site, const char *name);

/* Name and id of a station: "NETWORK.STATION". */
void text_set_codes(tomo_site *site, const char *network, const char *station);

/* The id, without blanks at the ends; one that does not fit is none, so that no data get it. */
void text_set_id(tomo_site *site, const char *id);

/* Is the field empty, or NaN, as programs write a missing value? */
bool text_is_missing(const char *field);

/* A time (tomo_time.h) in seconds; `what` names it in the message. An empty field is NaN. */
osla_err text_time(const text_reader *reader, const char *what, const char *field, double *time_s);

/* The same of an event: NaN also for a field that says NaN, and for a year before 1, as
 * -2150-01-31, which is no time of tomo_time.h. */
osla_err text_event_time(const text_reader *reader, const char *what, const char *field,
                         double *time_s);

/* A code of a network or station, which is never cut, because what is one station is found by it.
 */
osla_err text_code(const text_reader *reader, const char *what, const char *code);

/* Appends a zeroed site (name empty, magnitude and times NaN); *site is valid until the next call.
 */
osla_err site_list_add(site_list *list, tomo_site **site);

/* Marks the event that was added last as one without a place: its latitude becomes NaN. It counts
 * for the numbers of the events behind it, and is left out after reading. `what` says what is
 * missing; the first such events are noted with the reader's line. */
void site_list_mark_placeless(site_list *list, const text_reader *where, const char *what);

/* The error for a list whose events, `count` of them, have no place. */
osla_err site_list_refuse_placeless(const site_list *list, int64_t count);

/* Refuses a header of one field with blanks, in which no separator was found. */
osla_err text_check_header(const text_reader *reader, char *const *field, int count);

/* Column numbers of the fields of a header. Each key is a list of accepted names "latitude|lat";
 * column[i] is -1 where an optional key is absent. The first `required` keys must be there, and of
 * the first `unique` ones no two names may be there. */
osla_err text_find_columns(const text_reader *reader, char *const *field, int count,
                           const char *const *keys, int n_keys, int required, int unique,
                           int *column);

/* Splits and checks the header in the current line, and finds the columns. */
osla_err text_header(text_reader *reader, char separator, const char *const *keys, int n_keys,
                     int required, int unique, int *column, int *count);

/* Splits the current line, which must have `count` fields. */
osla_err text_row(text_reader *reader, char separator, char **field, int count);

/* Appends what is in a file: `read` finds its first line of content held; of XML `read_xml` finds
 * nothing read yet. `what` names an entry ("station") for a file that has none. Errors as in
 * tomo_io.h. */
typedef osla_err site_reader(text_reader *reader, site_list *list);
osla_err text_read_sites(const char *file, const char *what, site_reader *read,
                         site_reader *read_xml, site_list *list);

/* Appends the entries of a file, those of one station and events without a place, too. */
osla_err text_read_stations(const char *file, site_list *list);
osla_err text_read_events(const char *file, site_list *list);

/* Gives the list away if err is OSLA_OK, else frees it; returns err. */
osla_err text_give(site_list *list, osla_err err, tomo_site **sites, int64_t *count);

/* tomo_fdsn.c and tomo_ndk.c: site_readers. */
osla_err text_read_fdsn(text_reader *reader, site_list *list);
bool text_is_ndk(const char *line);
osla_err text_read_ndk(text_reader *reader, site_list *list);

#endif
