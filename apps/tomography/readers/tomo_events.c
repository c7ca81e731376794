/* Earthquake lists: tables with a header (CSV, FDSN text, the ISC's catalogue), GCMT NDK
 * (tomo_ndk.c) or QuakeML (tomo_quakeml.c); tomo_io.h describes the formats.
 *
 * Sources of the columns: FDSN Web Service Specifications, fdsnws-event, "Text"; and "CSV event
 * catalogue output" of the ISC (www.isc.ac.uk/iscbulletin/search/catalogue/csvoutput).
 */
#include <ctype.h>
#include <math.h>
#include <string.h>
#include <strings.h>

#include "apps/tomography/readers/tomo_text.h"
#include "apps/tomography/readers/tomo_xml.h"

enum {
  LATITUDE,
  LONGITUDE,
  DEPTH,
  MAGNITUDE,
  PLACE,
  ID,
  TIME,
  DATE,
  FIXED,
  STATION,
  NETWORK,
  ELEVATION, /* a column that only lists of stations have */
  YEAR
};
enum { KEYS = YEAR + EVENT_TIME_PARTS };
static const char *const keys[KEYS] = {
  "latitude|lat|source_latitude|source_latitude_deg",
  "longitude|lon|long|lng|source_longitude|source_longitude_deg",
  "depth_km|depth|dep|depth/km|depth (km)|focal depth (km)|source_depth_km",
  TEXT_MAGNITUDE_NAMES,
  "place|region|name|eventlocationname",
  "id|event|event_id|eventid|evid|source_id",
  "time|origin_time|origintime|source_origin_time",
  "date",
  "depfix",
  TEXT_STATION_NAMES,
  TEXT_NETWORK_NAMES,
  "elevation|elev",
  "year|yr|years",
  "month|mon|mo|months",
  "day|dy|days",
  "hour|hr|hours",
  "minute|minu|min|mn|minutes|mins",
  "second|sec|seconds|secs"};

/* Layout of a table of events. */
typedef struct table {
  char separator;
  int column[KEYS], count;
  /* true for a catalogue of the ISC: a row ends with any number of magnitudes, of MAGNITUDE_FIELDS
   * fields each, and the line STOP ends the table */
  bool isc;
  /* true for a page of the ISC: lines precede the header, and the line STOP is required */
  bool page;
} table;

enum { MAGNITUDE_FIELDS = 3 }; /* fields of a magnitude: author, type and value */

/* Adds the event of a row. field[key] is the text of the field for each key, or "" if the row has
 * no such field. */
static osla_err add_event(const text_reader *reader, const char *const field[KEYS], bool has_day,
                          site_list *list)
{
  tomo_site *site;
  OSLA_CALL(site_list_add(list, &site));
  const bool no_latitude = text_is_missing(field[LATITUDE]);
  const bool no_longitude = text_is_missing(field[LONGITUDE]);
  if (!no_latitude)
    OSLA_CALL(text_parse_number(reader, "latitude", field[LATITUDE], -90.0, 90.0, &site->latitude));
  if (!no_longitude)
    OSLA_CALL(
      text_parse_number(reader, "longitude", field[LONGITUDE], -180.0, 360.0, &site->longitude));
  if (!text_is_missing(field[DEPTH]))
    OSLA_CALL(text_parse_number(reader, "depth", field[DEPTH], TEXT_DEPTH_LOW, TEXT_DEPTH_HIGH,
                                &site->depth_km));
  if (!text_is_missing(field[MAGNITUDE]))
    OSLA_CALL(
      text_parse_number(reader, "magnitude", field[MAGNITUDE], -5.0, 11.0, &site->magnitude));
  text_set_name(site, field[PLACE]);
  if (!text_is_missing(field[ID])) text_set_id(site, field[ID]);
  const event_time time = {field[DATE], field[TIME], field + YEAR, has_day};
  OSLA_CALL(event_time_read(reader, &time, &site->time_s));
  if (no_latitude || no_longitude)
    site_list_mark_unlocated(
      list, reader, no_latitude ? "the event has no latitude" : "the event has no longitude");
  return OSLA_OK;
}

/* Returns true if the header has columns of stations, and no column that only earthquakes have. A
 * depth beside an elevation is the depth of an instrument. */
static bool is_of_stations(const int column[KEYS])
{
  static const int events[] = {MAGNITUDE, ID, TIME, DATE, YEAR};
  for (size_t i = 0; i < sizeof events / sizeof *events; i++)
    if (column[events[i]] >= 0) return false;
  if (column[ELEVATION] >= 0) return true;
  return column[DEPTH] < 0 && (column[STATION] >= 0 || column[NETWORK] >= 0);
}

/* Returns error IO if the name of an unknown column contains "dep" and no column is known as a
 * depth. Otherwise all earthquakes would be placed at 0 km. */
static osla_err check_depth(const text_reader *reader, char *const *field, const table *t)
{
  char shown[TEXT_SHOWN];
  for (int i = 0; i < t->count && t->column[DEPTH] < 0; i++)
    for (const char *at = field[i]; *at; at++) {
      if (strncasecmp(at, "dep", 3) != 0) continue;
      text_printable(field[i], shown);
      return text_error(reader,
                        "the column \"%s\" is not known; a depth in km has one of the "
                        "names %s",
                        shown, keys[DEPTH]);
    }
  return OSLA_OK;
}

static osla_err read_header(text_reader *reader, table *t)
{
  char *field[TEXT_FIELDS_MAX];
  const text_fdsn kind = text_find_fdsn(reader->text);
  if (kind == TEXT_FDSN_STATIONS) return text_wrong_list_error(reader, "stations", "earthquakes");
  if (kind == TEXT_FDSN_EVENTS) *strchr(reader->text, '#') = ' ';
  t->separator = text_separator(reader->text);
  OSLA_CALL(text_split(reader, t->separator, field, &t->count));
  OSLA_CALL(text_check_header(reader, field, t->count));
  OSLA_CALL(text_find_columns(reader, field, t->count, keys, KEYS, DEPTH, DEPTH + 1, t->column));
  if (is_of_stations(t->column)) return text_wrong_list_error(reader, "stations", "earthquakes");
  OSLA_CALL(check_depth(reader, field, t));
  OSLA_CALL(
    event_time_check_header(reader, t->column[DATE] >= 0, t->column[TIME] >= 0, t->column + YEAR));
  t->isc = t->column[FIXED] >= 0 && t->column[MAGNITUDE] == t->count - 1 &&
           t->column[FIXED] == t->count - 1 - MAGNITUDE_FIELDS;
  return OSLA_OK;
}

/* Splits a row of the ISC. *magnitude gets the first magnitude that is not empty, or "" if all are
 * empty. */
static osla_err split_isc(text_reader *reader, const table *t, char **field, int *found,
                          const char **magnitude)
{
  const int fewest = t->count - MAGNITUDE_FIELDS;
  double value;
  OSLA_CALL(text_split(reader, t->separator, field, found));
  if (*found > fewest && (*found - fewest) % MAGNITUDE_FIELDS == 1 && !*field[*found - 1]) --*found;
  TEXT_CHECK(reader, *found >= fewest && (*found - fewest) % MAGNITUDE_FIELDS == 0,
             "%d fields, which are not %d and %d for each magnitude", *found, fewest,
             MAGNITUDE_FIELDS);
  *magnitude = "";
  for (int i = t->count - 1; i < *found; i += MAGNITUDE_FIELDS) {
    if (text_is_missing(field[i])) continue;
    OSLA_CALL(text_parse_number(reader, "magnitude", field[i], -5.0, 11.0, &value));
    if (!**magnitude) *magnitude = field[i];
  }
  return OSLA_OK;
}

static osla_err read_row(text_reader *reader, const table *t, site_list *list)
{
  char *field[TEXT_FIELDS_MAX];
  const char *of_key[KEYS], *magnitude = "";
  int found = t->count;
  if (t->isc)
    OSLA_CALL(split_isc(reader, t, field, &found, &magnitude));
  else
    OSLA_CALL(text_split_row(reader, t->separator, field, t->count));
  for (int i = 0; i < KEYS; i++)
    of_key[i] = t->column[i] >= 0 && t->column[i] < found ? field[t->column[i]] : "";
  if (t->isc) of_key[MAGNITUDE] = magnitude;
  return add_event(reader, of_key, t->column[DATE] >= 0 || t->column[YEAR] >= 0, list);
}

static bool begins(const char *line, const char *word)
{
  return strncmp(line + strspn(line, " \t"), word, strlen(word)) == 0;
}

/* Returns true if the line begins with the word and contains no separators, like the title of a
 * page. */
static bool is_title(const char *line, const char *word)
{
  const char *behind = line + strspn(line, " \t") + strlen(word);
  return begins(line, word) && !strpbrk(line, ",;\t|") && !isalnum((unsigned char)*behind) &&
         *behind != '_';
}

/* If the file is a page of the ISC (text or HTML), skips the lines before the table's header. */
static osla_err find_header(text_reader *reader, table *t)
{
  bool more = true;
  t->page = text_is_html(reader) || is_title(reader->text, "DATA_TYPE") ||
            is_title(reader->text, "ISC") ||
            is_title(reader->text, "International Seismological Centre");
  while (t->page && more && !begins(reader->text, "EVENTID"))
    OSLA_CALL(text_read_content(reader, &more));
  OSLA_CHECK(more, OSLA_ERR_IO,
             "%s: no line begins with EVENTID, as the header of a catalogue of the ISC does",
             reader->file);
  return OSLA_OK;
}

/* Returns true if the line looks like the row of a table. Citations and the scripts of a web page
 * also contain commas, but do not begin with a digit. */
static bool is_row(const text_reader *reader, const table *t)
{
  int separators = 0;
  const char *line = reader->text + strspn(reader->text, " \t");
  for (const char *c = line; *c; c++)
    separators += *c == t->separator;
  return isdigit((unsigned char)*line) ? separators >= 2 : separators >= 5 && !text_is_html(reader);
}

/* Skips the lines after a catalogue's STOP up to the header of the next catalogue in the file.
 * *more is false if there is no further catalogue. */
static osla_err skip_to_header(text_reader *reader, const table *t, bool *more)
{
  for (;;) {
    OSLA_CALL(text_read_content(reader, more));
    if (!*more || begins(reader->text, "EVENTID")) return OSLA_OK;
    TEXT_CHECK(reader,
               !is_row(reader, t) && !text_find_fdsn(reader->text) && !text_is_ndk(reader->text),
               "a row after STOP, and no header EVENTID between them");
  }
}

/* Reads a table with fields between commas, semicolons, tabs or |; also FDSN text and the ISC's
 * catalogue. */
static osla_err read_table(text_reader *reader, site_list *list)
{
  table t = {.page = false};
  bool more;
  OSLA_CALL(text_read_content(reader, &more));
  OSLA_CALL(find_header(reader, &t));
  OSLA_CALL(read_header(reader, &t));
  for (;;) {
    OSLA_CALL(text_read_content(reader, &more));
    OSLA_CHECK(more || !t.page, OSLA_ERR_IO,
               "%s: the catalogue of the ISC ends without its line STOP: it is cut off",
               reader->file);
    const bool stops = more && t.isc && begins(reader->text, "STOP");
    if (stops) OSLA_CALL(skip_to_header(reader, &t, &more));
    if (!more) return OSLA_OK;
    OSLA_CALL(stops || text_find_fdsn(reader->text) ? read_header(reader, &t)
                                                    : read_row(reader, &t, list));
  }
}

static osla_err read_list(text_reader *reader, site_list *list)
{
  return text_is_ndk(reader->text) ? text_read_ndk(reader, list) : read_table(reader, list);
}

osla_err text_read_events(const char *file, site_list *list)
{
  return text_read_sites(file, "event", read_list, xml_read_events, list);
}
