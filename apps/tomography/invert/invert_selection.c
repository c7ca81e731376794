/* Numbers of stations and earthquakes read, used and rejected, for the text report and the JSON
 * report. */
#include "apps/tomography/invert/invert.h"
#include "tools/common/command.h"

#include <inttypes.h>
#include <stdio.h>

/* A reason for which entries of a list are rejected: number of these entries, name in the text
 * report, key in JSON. */
typedef struct reason {
  int64_t count;
  const char *phrase, *key;
} reason;

enum { REASONS = 7 };

static void list_reasons(const tomo_counts *c, reason list[REASONS])
{
  const reason all[REASONS] = {{c->no_place, "without a place", "without_place"},
                               {c->time, "outside --time", "outside_time"},
                               {c->no_time, "without a time", "without_time"},
                               {c->magnitude, "outside --magnitude", "outside_magnitude"},
                               {c->no_magnitude, "without a magnitude", "without_magnitude"},
                               {c->region, "outside the region", "outside_region"},
                               {c->same, "the same as another", "same"}};
  for (int i = 0; i < REASONS; i++)
    list[i] = all[i];
}

static void print_counts(const char *title, const char *what, const tomo_counts *c)
{
  reason list[REASONS];
  const char *before = "";
  if (c->used == c->read) return;
  (void)printf("%-10s %" PRId64 " of %" PRId64 " %s are used; ", title, c->used, c->read, what);
  list_reasons(c, list);
  for (int i = 0; i < REASONS; i++) {
    if (list[i].count == 0) continue;
    (void)printf("%s%" PRId64 " %s", before, list[i].count, list[i].phrase);
    before = ", ";
  }
  (void)printf("\n");
  for (int64_t i = 0; i < c->placeless.listed; i++)
    (void)printf("           %s\n", c->placeless.note[i]);
  if (c->no_place > c->placeless.listed)
    (void)printf("           (the first %" PRId64 " of %" PRId64 " without a place)\n",
                 c->placeless.listed, c->no_place);
}

void invert_print_selection(const invert_job *job)
{
  print_counts("Stations", "entries", &job->read_stations);
  print_counts("Events", "earthquakes", &job->read_events);
}

static json_t *placeless_json(const tomo_unlocated *p)
{
  json_t *array = json_array();
  for (int64_t i = 0; i < p->listed; i++)
    (void)json_array_append_new(array, command_string(p->note[i]));
  return array;
}

static json_t *counts_json(const tomo_counts *c)
{
  reason list[REASONS];
  json_t *object =
    json_pack("{s:I, s:I}", "read", (json_int_t)c->read, "used", (json_int_t)c->used);
  list_reasons(c, list);
  for (int i = 0; i < REASONS; i++)
    (void)json_object_set_new(object, list[i].key, json_integer((json_int_t)list[i].count));
  return object;
}

json_t *invert_selection_json(const invert_job *job)
{
  json_t *stations = counts_json(&job->read_stations), *events = counts_json(&job->read_events);
  /* this number is omitted: a station without a position is an error, so none is rejected for this
   * reason */
  (void)json_object_del(stations, "without_place");
  (void)json_object_set_new(events, "without_place_first",
                            placeless_json(&job->read_events.placeless));
  return json_pack("{s:{s:o, s:o}}", "selection", "stations", stations, "events", events);
}

json_t *invert_selection_settings(const invert_options *o)
{
  const invert_file_options *f = &o->files;
  return json_pack("{s:o, s:o, s:o, s:o, s:o, s:f}", "time", command_string(f->time), "magnitude",
                   command_string(f->magnitude), "region", command_string(f->region),
                   "station_region", command_string(f->station_region), "slices",
                   command_string(f->slices), "netcdf_step_degrees", f->step_degrees);
}
