/* Earthquake lists: CSV with a header, GCMT NDK (tomo_ndk.c) or QuakeML (tomo_quakeml.c); see
 * tomo_io.h. */
#include <string.h>

#include "tomo_text.h"
#include "tomo_xml.h"

/* A time; or a day and a time of day in columns of their own, as the ISC has them. */
static osla_err read_time(const text_reader *reader, const char *date, const char *time,
                          double *time_s)
{
  char both[128];
  const bool apart = *date && strlen(time) > 2 && time[2] == ':';
  if (!apart) return text_time(reader, "time", *time ? time : date, time_s);
  const int length = snprintf(both, sizeof both, "%sT%s", date, time);
  return text_time(reader, "time", length < (int)sizeof both ? both : date, time_s);
}

static osla_err read_csv(text_reader *reader, site_list *list)
{
  enum { LATITUDE, LONGITUDE, DEPTH, MAGNITUDE, PLACE, ID, TIME, DATE, KEYS };
  static const char *const keys[KEYS] = {"latitude|lat",
                                         "longitude|lon|long|lng",
                                         "depth_km|depth",
                                         "mag|magnitude|mw",
                                         "place|region|name",
                                         "id|event|event_id|eventid|evid",
                                         "time|origin_time|origintime",
                                         "date"};
  char *field[TEXT_FIELDS_MAX];
  int column[KEYS], count;
  bool more;
  OSLA_CALL(text_read_content(reader, &more));
  OSLA_CALL(text_header(reader, ',', keys, KEYS, 3, column, &count));
  for (;;) {
    tomo_site *site;
    OSLA_CALL(text_read_content(reader, &more));
    if (!more) return OSLA_OK;
    OSLA_CALL(text_row(reader, ',', field, count));
    OSLA_CALL(site_list_add(list, &site));
    OSLA_CALL(text_position(reader, field[column[LATITUDE]], field[column[LONGITUDE]], site));
    OSLA_CALL(text_number(reader, "depth", field[column[DEPTH]], TEXT_DEPTH_LOW, TEXT_DEPTH_HIGH,
                          &site->depth_km));
    const char *magnitude = column[MAGNITUDE] >= 0 ? field[column[MAGNITUDE]] : "";
    if (*magnitude)
      OSLA_CALL(text_number(reader, "magnitude", magnitude, -5.0, 11.0, &site->magnitude));
    if (column[PLACE] >= 0) text_set_name(site, field[column[PLACE]]);
    if (column[ID] >= 0) text_set_id(site, field[column[ID]]);
    OSLA_CALL(read_time(reader, column[DATE] >= 0 ? field[column[DATE]] : "",
                        column[TIME] >= 0 ? field[column[TIME]] : "", &site->time_s));
  }
}

static osla_err read_list(text_reader *reader, site_list *list)
{
  return text_is_ndk(reader->text) ? text_read_ndk(reader, list) : read_csv(reader, list);
}

osla_err text_read_events(const char *file, site_list *list)
{
  return text_read_sites(file, "event", read_list, xml_read_events, list);
}

osla_err tomo_read_events(const char *file, tomo_site **sites, int64_t *count)
{
  site_list list = {0};
  return text_give(&list, text_read_events(file, &list), sites, count);
}
