/* Station lists as FDSN text (tomo_io.h).
 *
 * Source of the columns: FDSN Web Service Specifications, fdsnws-station, "Text". A line is an
 * epoch of a station or of a channel, so a station may have many lines. A code may have several
 * stations, because temporary networks use codes again.
 */
#include <string.h>

#include "apps/tomography/readers/tomo_text.h"

/* Columns that are read; those from ELEVATION on are optional. */
enum { LATITUDE, LONGITUDE, STATION, NETWORK, ELEVATION, START, END, KEYS };
static const char *const keys[KEYS] = {"latitude",  "longitude", "station", "network",
                                       "elevation", "starttime", "endtime"};

static osla_err read_row(text_reader *reader, const int *column, int count, site_list *list)
{
  char *field[TEXT_FIELDS_MAX];
  tomo_site *site;
  double metres;
  OSLA_CALL(text_split_row(reader, '|', field, count));
  const char *station = field[column[STATION]], *network = field[column[NETWORK]];
  const char *elevation = column[ELEVATION] >= 0 ? field[column[ELEVATION]] : "";
  const char *start = column[START] >= 0 ? field[column[START]] : "";
  const char *end = column[END] >= 0 ? field[column[END]] : "";
  OSLA_CALL(text_check_code(reader, "network", network));
  OSLA_CALL(text_check_code(reader, "station", station));
  OSLA_CALL(site_list_add(list, &site));
  OSLA_CALL(text_parse_position(reader, field[column[LATITUDE]], field[column[LONGITUDE]], site));
  if (*elevation)
    OSLA_CALL(text_parse_number(reader, "elevation", elevation, -12e3, 12e3, &metres));
  OSLA_CALL(text_parse_time(reader, "StartTime", start, &site->time_s));
  OSLA_CALL(text_parse_time(reader, "EndTime", end, &site->end_s));
  text_set_codes(site, network, station);
  return OSLA_OK;
}

osla_err text_read_fdsn(text_reader *reader, site_list *list)
{
  int column[KEYS], count = 0;
  bool more;
  list->epochs = true;
  for (;;) {
    OSLA_CALL(text_read_content(reader, &more));
    if (!more) return OSLA_OK;
    const text_fdsn kind = text_find_fdsn(reader->text);
    if (kind == TEXT_FDSN_EVENTS) return text_wrong_list_error(reader, "earthquakes", "stations");
    if (kind == TEXT_FDSN_STATIONS) {
      *strchr(reader->text, '#') = ' ';
      OSLA_CALL(text_parse_header(reader, '|', keys, KEYS, ELEVATION, ELEVATION, column, &count));
    } else {
      OSLA_CALL(read_row(reader, column, count, list));
    }
  }
}
