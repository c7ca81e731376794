/* Station lists: SPECFEM STATIONS columns, CSV with a header, FDSN text (tomo_fdsn.c) or StationXML
 * (tomo_stationxml.c); tomo_io.h describes the formats.
 *
 * Source of the columns: SPECFEM3D_GLOBE manual, "STATIONS" (name, network, latitude, longitude,
 * elevation, burial).
 */
#include <stdlib.h>
#include <string.h>

#include "apps/tomography/readers/tomo_text.h"
#include "apps/tomography/readers/tomo_xml.h"

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

/* Are the third and the fourth word numbers, as in SPECFEM's columns and in no header? */
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
  if (text_find_fdsn(reader->text)) return text_read_fdsn(reader, list);
  const bool table = strpbrk(reader->text, ",;\t|") && !has_position(reader->text);
  return table ? read_csv(reader, list) : read_columns(reader, list);
}

osla_err text_read_stations(const char *file, site_list *list)
{
  return text_read_sites(file, "station", read_list, xml_read_stations, list);
}

osla_err tomo_read_stations(const char *file, tomo_site **sites, int64_t *count)
{
  site_list list = {0};
  osla_err err = text_read_stations(file, &list);
  if (err == OSLA_OK && list.epochs) err = tomo_merge_stations(list.site, &list.count);
  return site_list_release(&list, err, sites, count);
}
