/* Earthquake lists: CSV with a header, or GCMT NDK (tomo_ndk.c); see tomo_io.h. */
#include "tomo_text.h"

static osla_err read_csv(text_reader *reader, site_list *list)
{
  enum { LATITUDE, LONGITUDE, DEPTH, MAGNITUDE, PLACE, KEYS };
  static const char *const keys[KEYS] = {"latitude|lat", "longitude|lon|long|lng", "depth_km|depth",
                                         "mag|magnitude|mw", "place|region|name"};
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
  }
}

static osla_err read_list(text_reader *reader, site_list *list)
{
  return text_is_ndk(reader->text) ? text_read_ndk(reader, list) : read_csv(reader, list);
}

osla_err tomo_read_events(const char *file, tomo_site **sites, int64_t *count)
{
  return text_read_sites(file, "event", read_list, sites, count);
}
