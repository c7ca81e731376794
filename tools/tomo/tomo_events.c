/* Earthquake lists: CSV with a header, GCMT NDK (tomo_ndk.c) or QuakeML (tomo_quakeml.c); see
 * tomo_io.h. */
#include <math.h>
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

enum { LATITUDE, LONGITUDE, DEPTH, MAGNITUDE, PLACE, ID, TIME, DATE, KEYS };

/* The event of a row, whose fields are in the order of the keys; "": the row has no such field. */
static osla_err add_event(const text_reader *reader, const char *const field[KEYS], site_list *list)
{
  tomo_site *site;
  OSLA_CALL(site_list_add(list, &site));
  const bool no_latitude = text_is_missing(field[LATITUDE]);
  const bool no_longitude = text_is_missing(field[LONGITUDE]);
  if (!no_latitude)
    OSLA_CALL(text_number(reader, "latitude", field[LATITUDE], -90.0, 90.0, &site->latitude));
  if (!no_longitude)
    OSLA_CALL(text_number(reader, "longitude", field[LONGITUDE], -180.0, 360.0, &site->longitude));
  if (!text_is_missing(field[DEPTH]))
    OSLA_CALL(
      text_number(reader, "depth", field[DEPTH], TEXT_DEPTH_LOW, TEXT_DEPTH_HIGH, &site->depth_km));
  if (!text_is_missing(field[MAGNITUDE]))
    OSLA_CALL(text_number(reader, "magnitude", field[MAGNITUDE], -5.0, 11.0, &site->magnitude));
  text_set_name(site, field[PLACE]);
  text_set_id(site, field[ID]);
  OSLA_CALL(read_time(reader, field[DATE], field[TIME], &site->time_s));
  if (no_latitude || no_longitude)
    site_list_mark_placeless(
      list, reader, no_latitude ? "the event has no latitude" : "the event has no longitude");
  return OSLA_OK;
}

static osla_err read_csv(text_reader *reader, site_list *list)
{
  static const char *const keys[KEYS] = {"latitude|lat",
                                         "longitude|lon|long|lng",
                                         "depth_km|depth",
                                         "mag|magnitude|mw",
                                         "place|region|name",
                                         "id|event|event_id|eventid|evid",
                                         "time|origin_time|origintime",
                                         "date"};
  char *field[TEXT_FIELDS_MAX];
  const char *of_key[KEYS];
  int column[KEYS], count;
  bool more;
  OSLA_CALL(text_read_content(reader, &more));
  OSLA_CALL(text_header(reader, ',', keys, KEYS, DEPTH, DEPTH + 1, column, &count));
  for (;;) {
    OSLA_CALL(text_read_content(reader, &more));
    if (!more) return OSLA_OK;
    OSLA_CALL(text_row(reader, ',', field, count));
    for (int i = 0; i < KEYS; i++)
      of_key[i] = column[i] >= 0 ? field[column[i]] : "";
    OSLA_CALL(add_event(reader, of_key, list));
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
  osla_err err = text_read_events(file, &list);
  const int64_t read = list.count;
  list.count = 0;
  for (int64_t i = 0; i < read; i++)
    if (!isnan(list.site[i].latitude)) list.site[list.count++] = list.site[i];
  if (err == OSLA_OK && list.count == 0) err = site_list_refuse_placeless(&list, read);
  return text_give(&list, err, sites, count);
}
