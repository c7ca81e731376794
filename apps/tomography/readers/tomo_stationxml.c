/* Station lists as FDSN StationXML 1.0 to 1.2 (tomo_io.h).
 *
 * Source: the schema of the FDSN, docs.fdsn.org/projects/stationxml. A Station element is an epoch
 * of a station, within an epoch of its network; the station operates while both last.
 */
#include "apps/tomography/readers/tomo_xml.h"

#include <math.h>
#include <string.h>

enum { CODE_MAX = 64, TIME_MAX = 64 };

typedef struct epoch {
  double start_s, /* begin of the epoch, seconds since 1970; NaN: no begin is given */
    end_s;        /* end of the epoch, seconds since 1970; NaN: no end is given */
} epoch;

/* State of the reader: the current network and station. */
typedef struct stations {
  char network[CODE_MAX], station[CODE_MAX];
  epoch of_network, of_station;
  tomo_site place;
  bool has_latitude, has_longitude;
} stations;

static osla_err read_epoch(xml_reader *reader, char code[CODE_MAX], const char *what, epoch *e)
{
  char start[TIME_MAX], end[TIME_MAX];
  (void)xml_attribute(reader, "code", code, CODE_MAX);
  (void)xml_attribute(reader, "startDate", start, TIME_MAX);
  (void)xml_attribute(reader, "endDate", end, TIME_MAX);
  OSLA_CALL(text_check_code(reader->where, what, code));
  OSLA_CALL(text_parse_time(reader->where, "startDate", start, &e->start_s));
  return text_parse_time(reader->where, "endDate", end, &e->end_s);
}

static osla_err check_unit(xml_reader *reader, const char *what, const char *unit)
{
  char given[TEXT_SHOWN], shown[TEXT_SHOWN];
  if (!xml_attribute(reader, "unit", given, TEXT_SHOWN)) return OSLA_OK;
  text_printable(given, shown);
  TEXT_CHECK(reader->where, strcmp(given, unit) == 0, "unit \"%s\" of the %s is not %s", shown,
             what, unit);
  return OSLA_OK;
}

static osla_err begin_element(xml_reader *reader, const char *path)
{
  stations *s = reader->state;
  if (strcmp(path, "Network") == 0)
    return read_epoch(reader, s->network, "network", &s->of_network);
  if (strcmp(path, "Network/Station/Latitude") == 0)
    return check_unit(reader, "latitude", "DEGREES");
  if (strcmp(path, "Network/Station/Longitude") == 0)
    return check_unit(reader, "longitude", "DEGREES");
  if (strcmp(path, "Network/Station/Elevation") == 0)
    return check_unit(reader, "elevation", "METERS");
  if (strcmp(path, "Network/Station") != 0) return OSLA_OK;
  s->has_latitude = s->has_longitude = false;
  return read_epoch(reader, s->station, "station", &s->of_station);
}

static osla_err add_station(xml_reader *reader)
{
  stations *s = reader->state;
  tomo_site *site;
  TEXT_CHECK(reader->where, s->has_latitude && s->has_longitude, "station %s.%s has no %s",
             s->network, s->station, s->has_latitude ? "Longitude" : "Latitude");
  OSLA_CALL(site_list_add(reader->list, &site));
  site->latitude = s->place.latitude;
  site->longitude = s->place.longitude;
  /* intersection of the network's and the station's epoch; fmax and fmin ignore NaN */
  site->time_s = fmax(s->of_network.start_s, s->of_station.start_s);
  site->end_s = fmin(s->of_network.end_s, s->of_station.end_s);
  text_set_codes(site, s->network, s->station);
  return OSLA_OK;
}

static osla_err end(xml_reader *reader, const char *path, const char *text)
{
  stations *s = reader->state;
  double metres;
  if (strcmp(path, "Network/Station") == 0) return add_station(reader);
  if (strcmp(path, "Network/Station/Latitude") == 0) {
    s->has_latitude = true;
    return text_parse_number(reader->where, "latitude", text, -90.0, 90.0, &s->place.latitude);
  }
  if (strcmp(path, "Network/Station/Longitude") == 0) {
    s->has_longitude = true;
    return text_parse_number(reader->where, "longitude", text, -180.0, 360.0, &s->place.longitude);
  }
  if (strcmp(path, "Network/Station/Elevation") == 0)
    return text_parse_number(reader->where, "elevation", text, -12e3, 12e3, &metres);
  return OSLA_OK;
}

osla_err xml_read_stations(text_reader *where, site_list *list)
{
  static const xml_format format = {"FDSNStationXML",
                                    "http://www.fdsn.org/xml/station/1",
                                    "http://www.fdsn.org/xml/station/1",
                                    "FDSN StationXML 1",
                                    begin_element,
                                    end};
  stations state = {.has_latitude = false};
  list->epochs = true;
  return xml_read(where, &format, &state, list);
}
