/* Station lists: SPECFEM STATIONS columns, CSV with a header, FDSN text or StationXML
 * (tomo_stationxml.c); tomo_io.h describes the formats.
 *
 * Source of the columns: SPECFEM3D_GLOBE manual, "STATIONS" (name, network, latitude, longitude,
 * elevation, burial).
 */
#include <stdlib.h>
#include <string.h>

#include "apps/tomography/readers/tomo_text.h"
#include "apps/tomography/readers/tomo_xml.h"

/* FDSN text. Source of the columns: FDSN Web Service Specifications, fdsnws-station, "Text". A line
 * is an epoch of a station or of a channel, so a station may have many lines. Several stations may
 * have one code, because temporary networks use codes again. */

/* Columns that are read; those from FDSN_ELEVATION on are optional. */
enum {
  FDSN_LATITUDE,
  FDSN_LONGITUDE,
  FDSN_STATION,
  FDSN_NETWORK,
  FDSN_ELEVATION,
  FDSN_START,
  FDSN_END,
  FDSN_KEYS
};
static const char *const fdsn_keys[FDSN_KEYS] = {"latitude",  "longitude", "station", "network",
                                                 "elevation", "starttime", "endtime"};

static osla_err read_fdsn_row(text_reader *reader, const int *column, int count, site_list *list)
{
  char *field[TEXT_FIELDS_MAX];
  tomo_site *site;
  double metres;
  OSLA_CALL(text_split_row(reader, '|', field, count));
  const char *station = field[column[FDSN_STATION]], *network = field[column[FDSN_NETWORK]];
  const char *elevation = column[FDSN_ELEVATION] >= 0 ? field[column[FDSN_ELEVATION]] : "";
  const char *start = column[FDSN_START] >= 0 ? field[column[FDSN_START]] : "";
  const char *end = column[FDSN_END] >= 0 ? field[column[FDSN_END]] : "";
  OSLA_CALL(text_check_code(reader, "network", network));
  OSLA_CALL(text_check_code(reader, "station", station));
  OSLA_CALL(site_list_add(list, &site));
  OSLA_CALL(
    text_parse_position(reader, field[column[FDSN_LATITUDE]], field[column[FDSN_LONGITUDE]], site));
  if (*elevation)
    OSLA_CALL(text_parse_number(reader, "elevation", elevation, -12e3, 12e3, &metres));
  OSLA_CALL(text_parse_time(reader, "StartTime", start, &site->time_s));
  OSLA_CALL(text_parse_time(reader, "EndTime", end, &site->end_s));
  text_set_codes(site, network, station);
  return OSLA_OK;
}

static osla_err read_fdsn(text_reader *reader, site_list *list)
{
  int column[FDSN_KEYS], count = 0;
  bool more;
  list->epochs = true;
  for (;;) {
    OSLA_CALL(text_read_content(reader, &more));
    if (!more) return OSLA_OK;
    const text_fdsn kind = text_find_fdsn(reader->text);
    if (kind == TEXT_FDSN_EVENTS) return text_wrong_list_error(reader, "earthquakes", "stations");
    if (kind == TEXT_FDSN_STATIONS) {
      *strchr(reader->text, '#') = ' ';
      OSLA_CALL(text_parse_header(reader, '|', fdsn_keys, FDSN_KEYS, FDSN_ELEVATION, FDSN_ELEVATION,
                                  column, &count));
    } else {
      OSLA_CALL(read_fdsn_row(reader, column, count, list));
    }
  }
}

static osla_err read_columns(text_reader *reader, site_list *list)
{
  char *field[TEXT_FIELDS_MAX];
  int count;
  bool more;
  for (;;) {
    tomo_site *site;
    OSLA_CALL(text_read_content(reader, &more));
    if (!more) return OSLA_OK;
    OSLA_CALL(text_split_blanks(reader, field, &count));
    TEXT_CHECK(reader, count >= 4,
               "%d columns; station, network, latitude and longitude are needed", count);
    OSLA_CALL(site_list_add(list, &site));
    OSLA_CALL(text_parse_position(reader, field[2], field[3], site));
    double metres;
    if (count > 4)
      OSLA_CALL(text_parse_number(reader, "elevation", field[4], -12e3, 12e3, &metres));
    if (count > 5) OSLA_CALL(text_parse_number(reader, "burial", field[5], -12e3, 12e3, &metres));
    text_set_codes(site, field[1], field[0]);
  }
}

static osla_err read_csv(text_reader *reader, site_list *list)
{
  enum { LATITUDE, LONGITUDE, STATION, NETWORK, MAGNITUDE, KEYS };
  static const char *const keys[KEYS] = {
    "latitude|lat|station_latitude_deg", "longitude|lon|long|lng|station_longitude_deg",
    TEXT_STATION_NAMES "|name", TEXT_NETWORK_NAMES, TEXT_MAGNITUDE_NAMES};
  char *field[TEXT_FIELDS_MAX];
  int column[KEYS], count;
  bool more;
  OSLA_CALL(text_read_content(reader, &more));
  const char separator = text_separator(reader->text);
  OSLA_CALL(text_parse_header(reader, separator, keys, KEYS, 2, 2, column, &count));
  if (column[MAGNITUDE] >= 0 && column[STATION] < 0)
    return text_wrong_list_error(reader, "earthquakes", "stations");
  for (;;) {
    tomo_site *site;
    OSLA_CALL(text_read_content(reader, &more));
    if (!more) return OSLA_OK;
    if (text_find_fdsn(reader->text) == TEXT_FDSN_EVENTS)
      return text_wrong_list_error(reader, "earthquakes", "stations");
    OSLA_CALL(text_split_row(reader, separator, field, count));
    OSLA_CALL(site_list_add(list, &site));
    OSLA_CALL(text_parse_position(reader, field[column[LATITUDE]], field[column[LONGITUDE]], site));
    text_set_codes(site, column[NETWORK] >= 0 ? field[column[NETWORK]] : "",
                   column[STATION] >= 0 ? field[column[STATION]] : "");
  }
}

/* Returns true if the third and the fourth word are numbers, as in SPECFEM's columns and in no
 * header. */
static bool has_position(const char *line)
{
  for (int word = 0; word < 4; word++) {
    char *end = NULL;
    line += strspn(line, " \t");
    const size_t length = strcspn(line, " \t");
    if (word >= 2) (void)strtod(line, &end);
    if (length == 0 || (word >= 2 && end != line + length)) return false;
    line += length;
  }
  return true;
}

static osla_err read_list(text_reader *reader, site_list *list)
{
  OSLA_CHECK(!text_is_html(reader), OSLA_ERR_IO, "%s: is a web page (HTML), not a list of stations",
             reader->file);
  if (text_find_fdsn(reader->text)) return read_fdsn(reader, list);
  const bool table = strpbrk(reader->text, ",;\t|") && !has_position(reader->text);
  return table ? read_csv(reader, list) : read_columns(reader, list);
}

osla_err text_read_stations(const char *file, site_list *list)
{
  return text_read_sites(file, "station", read_list, xml_read_stations, list);
}
