/* Turns the rows of a table into data: finds stations and events by id, numbers the measures, and
 * converts velocity anomalies to delays (contract: tomo_table.h). */
#include "apps/tomography/readers/tomo_table.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apps/tomography/earth/tomo_reference.h"
#include "apps/tomography/earth/tomo_sphere.h"
#include "apps/tomography/readers/tomo_io.h"

/* ---- measures ---- */

static uint32_t hash_measure(const tomo_measure *m)
{
  uint64_t bits;
  memcpy(&bits, &m->period_s, sizeof bits);
  bits ^= (uint64_t)m->branch << 8 ^ (uint64_t)m->wave << 4 ^ (uint64_t)m->observable;
  bits *= 0x9e3779b97f4a7c15u;
  return (uint32_t)(bits >> 32);
}

static int32_t *find_slot(const datum_list *in, const tomo_measure *m)
{
  uint32_t at = hash_measure(m) & (in->slots - 1);
  while (in->slot[at] >= 0 && tomo_measure_compare(&in->measure[in->slot[at]], m) != 0)
    at = (at + 1) & (in->slots - 1);
  return &in->slot[at];
}

static osla_err grow_measures(datum_list *in)
{
  const int32_t capacity = in->measures_capacity ? 2 * in->measures_capacity : 256;
  tomo_measure *grown = realloc(in->measure, (size_t)capacity * sizeof *grown);
  if (grown) in->measure = grown;
  free(in->slot);
  in->slots = 4 * (uint32_t)capacity;
  in->slot = malloc(in->slots * sizeof *in->slot);
  OSLA_CHECK(grown && in->slot, OSLA_ERR_MEM, "no memory for %d measures", (int)capacity);
  in->measures_capacity = capacity;
  memset(in->slot, 0xff, in->slots * sizeof *in->slot);
  for (int32_t i = 0; i < in->n_measures; i++)
    *find_slot(in, &in->measure[i]) = i;
  return OSLA_OK;
}

/* Sets *number to the measure's index in the list. A new measure is added if the reference covers
 * it. */
static osla_err number_measure(datum_list *in, const table_line *line, const tomo_measure *m,
                               int32_t *number)
{
  enum { MOST = 1 << 22 };
  char location[TABLE_LOCATION], text[200];
  if (in->n_measures == in->measures_capacity) OSLA_CALL(grow_measures(in));
  int32_t *slot = find_slot(in, m);
  if (*slot < 0) {
    if (tomo_measure_check(in->lists->reference, m) != OSLA_OK) {
      (void)snprintf(text, sizeof text, "%s", osla_error_text());
      return osla_error_set(OSLA_ERR_ARG, "%s: %s", table_location(line, KEY_PERIOD, location),
                            text);
    }
    OSLA_CHECK(in->n_measures < MOST, OSLA_ERR_RANGE,
               "%s: more than %d measures that differ in period, branch or kind",
               table_location(line, KEY_PERIOD, location), MOST);
    *slot = in->n_measures;
    in->measure[in->n_measures++] = *m;
  }
  *number = *slot;
  return OSLA_OK;
}

/* ---- paths ---- */

static void add_note(datum_list *in, int64_t place, const char *what, const char *id,
                     const char *why)
{
  tomo_data_notes *n = in->notes;
  char shown[TEXT_SHOWN];
  text_printable(id, shown);
  n->unmatched++;
  if (n->listed == TOMO_NOTES_MAX) return;
  n->place[n->listed] = place;
  (void)snprintf(n->note[n->listed++], TOMO_NOTE_TEXT, "%s %s %s", what, shown, why);
}

/* Joins network and station to "NET.STA". */
static void join_codes(const char *network, const char *station, char id[TEXT_SHOWN])
{
  (void)snprintf(id, TEXT_SHOWN, "%.20s%s%.20s", network, *network ? "." : "", station);
}

/* Returns the station's index. If the list does not have exactly one such station, returns a
 * negative number and adds a note for the user. */
static int64_t find_station(datum_list *in, int64_t place, const char *network, const char *station)
{
  char id[TEXT_SHOWN];
  const int64_t found = tomo_ids_station(in->stations, network, station);
  join_codes(network, station, id);
  if (found < 0)
    add_note(in, place, "station", id,
             found == TOMO_IDS_NONE ? "is not on the list" : "is not unique in the list");
  return found;
}

static int64_t find_source(datum_list *in, int64_t place, const table_row *row)
{
  if (!*row->event) {
    const int64_t station = find_station(in, place, row->network2, row->station2);
    return station < 0 ? station : in->lists->n_events + station;
  }
  const int64_t found = tomo_ids_event(in->events, row->event);
  if (found < 0)
    add_note(in, place, "event", row->event,
             found == TOMO_IDS_NONE ? "is not on the list" : "is not unique in the list");
  return found;
}

static const tomo_site *source_site(const tomo_data_lists *lists, int64_t source)
{
  return source < lists->n_events ? &lists->events[source]
                                  : &lists->stations[source - lists->n_events];
}

/* Finds the number and length of a row's path. *id is negative if the row is excluded; the reason
 * is then counted. The two directions between two stations are one path. */
static void find_path(datum_list *in, int64_t place, const table_row *row, int64_t *id, double *km)
{
  const tomo_data_lists *lists = in->lists;
  double from[3], to[3];
  tomo_arc arc;
  *id = -1;
  int64_t source = find_source(in, place, row);
  int64_t station = source < 0 ? -1 : find_station(in, place, row->network, row->station);
  if (station < 0) return;
  if (source >= lists->n_events && source - lists->n_events > station) {
    const int64_t other = source - lists->n_events;
    source = lists->n_events + station;
    station = other;
  }
  const tomo_site *a = source_site(lists, source), *b = &lists->stations[station];
  tomo_unit_vector(a->latitude, a->longitude, from);
  tomo_unit_vector(b->latitude, b->longitude, to);
  const double degrees = tomo_distance(from, to) * 57.29577951308232;
  if (tomo_arc_make(from, to, row->arc, &arc) != TOMO_ARC_OK) {
    add_note(in, place, "station", b->id,
             degrees < 90.0 ? "is at the source" : "is antipodal to the source");
    return;
  }
  if (degrees < lists->min_distance || degrees > lists->max_distance) {
    in->notes->distant++;
    return;
  }
  *km = arc.angle * TOMO_EARTH_RADIUS_KM;
  *id = tomo_path_id(source, station, lists->n_stations, row->arc);
}

/* ---- rows ---- */

static osla_err append_datum(datum_list *in, const datum *d)
{
  if (in->count == in->capacity) {
    const int64_t capacity = in->capacity ? 2 * in->capacity : 4096;
    datum *grown = realloc(in->datum, (size_t)capacity * sizeof *grown);
    OSLA_CHECK(grown, OSLA_ERR_MEM, "no memory for %" PRId64 " data", capacity);
    in->datum = grown;
    in->capacity = capacity;
  }
  in->datum[in->count++] = *d;
  return OSLA_OK;
}

/* Returns an error for a delay or deviation that is so large or small that later sums could
 * overflow. */
static osla_err check_size(const table_line *line, const datum *d)
{
  char location[TABLE_LOCATION];
  const bool *has = line->header->has_column;
  OSLA_CHECK(fabs(d->delay) <= 1e6, OSLA_ERR_IO, "%s: a delay of %g s is beyond 1e+06 s",
             table_location(line, has[KEY_ANOMALY] ? KEY_ANOMALY : KEY_DELAY, location), d->delay);
  OSLA_CHECK(d->sigma >= 1e-6 && d->sigma <= 1e6, OSLA_ERR_IO,
             "%s: a deviation of %g s is outside 1e-06 to 1e+06 s",
             table_location(line, has[KEY_SIGMA] ? KEY_SIGMA : KEY_PERIOD, location), d->sigma);
  return OSLA_OK;
}

/* Reads one row. A velocity anomaly of p percent becomes a delay of -p / 100 * length /
 * velocity. */
static osla_err add_row(void *arg, const table_line *line)
{
  datum_list *in = arg;
  table_row row;
  datum d = {.place = line->place};
  double km = 0.0;
  in->file = line->header->file;
  in->elements = line->elements;
  in->notes->rows++;
  OSLA_CALL(table_parse(line, &row));
  OSLA_CALL(number_measure(in, line, &row.measure, &d.measure));
  find_path(in, line->place, &row, &d.path_id, &km);
  if (d.path_id < 0) return OSLA_OK;
  const double percent = 0.01 * km / tomo_measure_velocity(in->lists->reference, &row.measure);
  d.delay = (row.percent ? -percent * row.value : row.value) - row.correction_s;
  d.sigma = row.sigma_percent ? percent * row.sigma : row.sigma;
  if (row.sigma <= 0.0) {
    in->notes->sigma_missing++;
    d.sigma = in->lists->sigma_fraction * row.measure.period_s;
  }
  OSLA_CALL(check_size(line, &d));
  return append_datum(in, &d);
}

static osla_err read_hdf5(datum_list *in, const char *file, tomo_data_reader *reader)
{
  tomo_data_reader *own = NULL;
  if (!reader) OSLA_CALL(tomo_data_reader_start(file, &own));
  OSLA_CHECK(reader || own, OSLA_ERR_IO, "%.200s: was changed while it was read", file);
  osla_err err = table_read_hdf5(reader ? reader : own, add_row, in);
  tomo_data_reader_stop(&own);
  return err;
}

static osla_err read_rows(datum_list *in, const char *file, tomo_data_reader *reader)
{
  const tomo_data_lists *l = in->lists;
  OSLA_CALL(tomo_file_check(file));
  OSLA_CALL(tomo_ids_create(l->stations, l->n_stations, 1, &in->stations));
  OSLA_CALL(tomo_ids_create(l->events, l->n_events, 0, &in->events));
  OSLA_CALL(reader || tomo_file_is_hdf5(file) ? read_hdf5(in, file, reader)
                                              : table_read_csv(file, add_row, in));
  OSLA_CHECK(in->notes->rows > 0, OSLA_ERR_IO, "%.200s: no measurement in this file", file);
  return OSLA_OK;
}

/* Returns the error for a table whose rows are all excluded. The message names the first row with
 * an unknown station or event, or, without such a row, the limits of distance.
 */
static osla_err refuse_empty(const datum_list *in, const char *file)
{
  const tomo_data_notes *n = in->notes;
  OSLA_CHECK(n->unmatched > 0, OSLA_ERR_ARG,
             "%.200s: none of %" PRId64
             " measurements is of a pair between %g and %g degrees apart",
             file, n->rows, in->lists->min_distance, in->lists->max_distance);
  return osla_error_set(OSLA_ERR_ARG,
                        "%.200s: none of %" PRId64
                        " measurements can be used; the first, %s %" PRId64 ": %s",
                        file, n->rows, in->elements ? "element" : "line", n->place[0], n->note[0]);
}

osla_err tomo_data_read(const char *file, tomo_data_reader *reader, const tomo_data_lists *lists,
                        tomo_data *data, tomo_data_notes *notes)
{
  *data = (tomo_data){0};
  *notes = (tomo_data_notes){0};
  datum_list in = {.lists = lists, .notes = notes};
  osla_err err = read_rows(&in, file, reader);
  if (err == OSLA_OK) err = in.count > 0 ? datum_list_to_table(&in, data) : refuse_empty(&in, file);
  tomo_ids_destroy(&in.stations);
  tomo_ids_destroy(&in.events);
  free(in.datum);
  free(in.measure);
  free(in.slot);
  if (err != OSLA_OK) tomo_data_free(data);
  return err;
}
