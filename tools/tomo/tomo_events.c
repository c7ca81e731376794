/* Earthquake lists: CSV with a header, or GCMT NDK; see tomo_io.h.
 *
 * NDK, five lines of 80 columns per event (www.ldeo.columbia.edu/~gcmt, "allorder.ndk_explained"):
 *   1  columns 6-15 date yyyy/mm/dd, 57-80 region
 *   2  inversion; not used
 *   3  "CENTROID:" time, its error, latitude, its error, longitude, its error, depth, its error
 *   4  columns 1-2 exponent e of the moment in dyn cm; the tensor
 *   5  columns 50-56 scalar moment M0 in units of 10^e
 * Mw = 2/3 log10(M0) - 10.7 (Hanks & Kanamori 1979, J. Geophys. Res. 84, 2348-2350). */
#include <ctype.h>
#include <math.h>
#include <string.h>

#include "tomo_text.h"

static const double depth_low = -10.0, depth_high = 800.0;

/* A name without control characters, without blanks at the ends and, when cut, without half a UTF-8
 * character. */
static void set_place(tomo_site *site, const char *place)
{
  place += strspn(place, " \t");
  size_t n = strlen(place);
  if (n > sizeof site->name - 1) {
    n = sizeof site->name - 1;
    while (n > 0 && ((unsigned char)place[n] & 0xc0) == 0x80)
      n--;
  }
  for (size_t i = 0; i < n; i++)
    site->name[i] = iscntrl((unsigned char)place[i]) ? ' ' : place[i];
  while (n > 0 && site->name[n - 1] == ' ')
    n--;
  memset(site->name + n, 0, sizeof site->name - n);
}

static osla_err read_csv(text_reader *reader, site_list *list)
{
  enum { LATITUDE, LONGITUDE, DEPTH, MAGNITUDE, PLACE, KEYS };
  static const char *const keys[KEYS] = {"latitude|lat", "longitude|lon|long|lng", "depth_km|depth",
                                         "mag|magnitude|mw", "place|region|name"};
  char *field[TEXT_FIELDS_MAX];
  int column[KEYS], count;
  bool more;
  OSLA_CALL(text_read_content(reader, &more));
  OSLA_CALL(text_header(reader, keys, KEYS, 3, column, &count));
  for (;;) {
    tomo_site *site;
    OSLA_CALL(text_read_content(reader, &more));
    if (!more) return OSLA_OK;
    OSLA_CALL(text_row(reader, field, count));
    OSLA_CALL(site_list_add(list, &site));
    OSLA_CALL(text_position(reader, field[column[LATITUDE]], field[column[LONGITUDE]], site));
    OSLA_CALL(
      text_number(reader, "depth", field[column[DEPTH]], depth_low, depth_high, &site->depth_km));
    const char *magnitude = column[MAGNITUDE] >= 0 ? field[column[MAGNITUDE]] : "";
    if (*magnitude)
      OSLA_CALL(text_number(reader, "magnitude", magnitude, -5.0, 11.0, &site->magnitude));
    if (column[PLACE] >= 0) set_place(site, field[column[PLACE]]);
  }
}

/* Does the line begin like the first line of an NDK event: "PDE  2005/01/01 ..."? */
static bool is_ndk(const char *line)
{
  static const char pattern[] = "0000/00/00";
  if (strlen(line) < 15) return false;
  for (int i = 0; i < 10; i++) {
    char c = line[5 + i];
    if (pattern[i] == '0' ? !isdigit((unsigned char)c) : c != '/') return false;
  }
  return true;
}

static osla_err ndk_centroid(text_reader *reader, tomo_site *site)
{
  static const char keyword[] = "CENTROID:";
  char *field[TEXT_FIELDS_MAX];
  int count;
  OSLA_CHECK(strncmp(reader->text, keyword, sizeof keyword - 1) == 0, OSLA_ERR_IO,
             "%s:%lld: line 3 of an NDK event must begin with %s", reader->file,
             (long long)reader->line, keyword);
  OSLA_CALL(text_split_blanks(reader, reader->text + sizeof keyword - 1, field, &count));
  OSLA_CHECK(count >= 7, OSLA_ERR_IO, "%s:%lld: %d numbers after %s; 8 are needed", reader->file,
             (long long)reader->line, count, keyword);
  OSLA_CALL(text_position(reader, field[2], field[4], site));
  return text_number(reader, "depth", field[6], depth_low, depth_high, &site->depth_km);
}

/* Reads lines 2 to 5 of the event whose line 1 is in the reader. */
static osla_err ndk_event(text_reader *reader, site_list *list)
{
  int64_t first = reader->line;
  tomo_site *site;
  char part[9] = "";
  double exponent = 0.0, moment = 0.0;
  OSLA_CHECK(is_ndk(reader->text), OSLA_ERR_IO,
             "%s:%lld: line 1 of an NDK event must have a date yyyy/mm/dd in columns 6-15",
             reader->file, (long long)reader->line);
  OSLA_CALL(site_list_add(list, &site));
  set_place(site, strlen(reader->text) > 56 ? reader->text + 56 : "");
  for (int i = 2; i <= 5; i++) {
    bool more;
    OSLA_CALL(text_read(reader, &more));
    OSLA_CHECK(more, OSLA_ERR_IO, "%s:%lld: the file ends after %d of the 5 lines of an NDK event",
               reader->file, (long long)first, i - 1);
    if (i == 3) OSLA_CALL(ndk_centroid(reader, site));
    if (i == 4) {
      snprintf(part, sizeof part, "%.2s", reader->text);
      OSLA_CALL(text_number(reader, "exponent of the moment", part, 0.0, 40.0, &exponent));
    }
    if (i == 5) {
      OSLA_CHECK(strlen(reader->text) >= 56, OSLA_ERR_IO,
                 "%s:%lld: line 5 of an NDK event has %zu columns; 56 are needed", reader->file,
                 (long long)reader->line, strlen(reader->text));
      snprintf(part, sizeof part, "%.7s", reader->text + 49);
      OSLA_CALL(text_number(reader, "scalar moment", part + strspn(part, " "), 0.0, 1e6, &moment));
    }
  }
  if (moment > 0.0) site->magnitude = 2.0 / 3.0 * (log10(moment) + exponent) - 10.7;
  return OSLA_OK;
}

static osla_err read_ndk(text_reader *reader, site_list *list)
{
  bool more;
  for (;;) {
    OSLA_CALL(text_read_content(reader, &more));
    if (!more) return OSLA_OK;
    OSLA_CALL(ndk_event(reader, list));
  }
}

static osla_err read_list(text_reader *reader, site_list *list)
{
  return is_ndk(reader->text) ? read_ndk(reader, list) : read_csv(reader, list);
}

osla_err tomo_read_events(const char *file, tomo_site **sites, int64_t *count)
{
  return text_read_sites(file, "event", read_list, sites, count);
}
