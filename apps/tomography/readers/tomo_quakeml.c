/* Earthquake lists as QuakeML 1.2 (tomo_io.h).
 *
 * Source: QuakeML-BED 1.2 (quake.ethz.ch/quakeml), which gives depths in m. The references to the
 * preferred origin and magnitude may come before or after the elements that they refer to, so an
 * event's origins and magnitudes are stored until the event ends.
 */
#include "apps/tomography/readers/tomo_xml.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NAMES_MAX = 256, SOLUTIONS_MAX = 65536 };

/* An origin or a magnitude of an event (a solution). */
typedef struct solution {
  char name[NAMES_MAX]; /* publicID */
  /* values of the solution; NaN if missing */
  double latitude, longitude, depth_m, time_s, magnitude;
} solution;

typedef struct solutions {
  solution *at;
  int64_t count, capacity;
} solutions;

/* State of the reader: the current event. */
typedef struct events {
  char name[NAMES_MAX], place[XML_TEXT_MAX], place_type[TEXT_SHOWN];
  char preferred_origin[NAMES_MAX], preferred_magnitude[NAMES_MAX];
  char description[XML_TEXT_MAX];
  solutions origins, magnitudes;
} events;

/* The last part of a public ID: the text between eventid= and the next &, else the text after the
 * last slash. */
static void last_part(const char *name, char part[NAMES_MAX])
{
  const char *query = strstr(name, "eventid="), *slash = strrchr(name, '/');
  const char *from = query ? query + 8 : slash ? slash + 1 : name;
  (void)snprintf(part, NAMES_MAX, "%.*s", (int)strcspn(from, "&"), from);
}

static void set_id(tomo_site *site, const char *name)
{
  char part[NAMES_MAX];
  text_set_id(site, name);
  if (site->id[0] != '\0') return;
  last_part(name, part);
  text_set_id(site, part);
}

static osla_err add_solution(xml_reader *reader, solutions *s)
{
  TEXT_CHECK(reader->where, s->count < SOLUTIONS_MAX,
             "more than %d origins or magnitudes of an event", SOLUTIONS_MAX);
  if (s->count == s->capacity) {
    const int64_t capacity = s->capacity ? 2 * s->capacity : 8;
    solution *grown = realloc(s->at, (size_t)capacity * sizeof *grown);
    OSLA_CHECK(grown, OSLA_ERR_MEM, "no memory for %lld origins", (long long)capacity);
    s->at = grown;
    s->capacity = capacity;
  }
  solution *new = &s->at[s->count++];
  *new = (solution){"", NAN, NAN, NAN, NAN, NAN};
  (void)xml_attribute(reader, "publicID", new->name, NAMES_MAX);
  return OSLA_OK;
}

static osla_err begin_element(xml_reader *reader, const char *path)
{
  events *e = reader->state;
  static const char event[] = "eventParameters/event";
  if (strncmp(path, event, sizeof event - 1) != 0) return OSLA_OK;
  path += sizeof event - 1;
  if (strcmp(path, "/origin") == 0) return add_solution(reader, &e->origins);
  if (strcmp(path, "/magnitude") == 0) return add_solution(reader, &e->magnitudes);
  if (strcmp(path, "/description") == 0) e->description[0] = e->place_type[0] = '\0';
  if (*path != '\0') return OSLA_OK;
  e->origins.count = e->magnitudes.count = 0;
  e->place[0] = e->preferred_origin[0] = e->preferred_magnitude[0] = '\0';
  (void)xml_attribute(reader, "publicID", e->name, NAMES_MAX);
  return OSLA_OK;
}

static bool has_coordinates(const solution *s)
{
  return !isnan(s->latitude) && !isnan(s->longitude);
}

static bool has_magnitude(const solution *s)
{
  return !isnan(s->magnitude);
}

/* Considers only solutions that have the needed value. Returns the preferred solution if it is one
 * of them, else the first one, or NULL if no solution has the value. */
static const solution *choose_solution(const solutions *s, const char *preferred,
                                       bool has_needed(const solution *))
{
  const solution *first = NULL;
  for (int64_t i = 0; i < s->count; i++) {
    if (!has_needed(&s->at[i])) continue;
    if (*preferred && strcmp(s->at[i].name, preferred) == 0) return &s->at[i];
    if (!first) first = &s->at[i];
  }
  return first;
}

/* Excludes the latest event, because no origin has coordinates. */
static void mark_unlocated(xml_reader *reader)
{
  const events *e = reader->state;
  char shown[TEXT_SHOWN], what[2 * TEXT_SHOWN];
  text_printable(e->name, shown);
  (void)snprintf(what, sizeof what,
                 e->origins.count == 0 ? "event \"%s\" has no origin"
                                       : "event \"%s\" has no origin with a place",
                 shown);
  site_list_mark_unlocated(reader->list, reader->where, what);
}

static osla_err add_event(xml_reader *reader)
{
  events *e = reader->state;
  const solution *origin = choose_solution(&e->origins, e->preferred_origin, has_coordinates);
  const solution *magnitude =
    choose_solution(&e->magnitudes, e->preferred_magnitude, has_magnitude);
  tomo_site *site;
  OSLA_CALL(site_list_add(reader->list, &site));
  text_set_name(site, e->place);
  set_id(site, e->name);
  if (magnitude) site->magnitude = magnitude->magnitude;
  if (!origin) {
    mark_unlocated(reader);
    return OSLA_OK;
  }
  site->latitude = origin->latitude;
  site->longitude = origin->longitude;
  site->depth_km = isnan(origin->depth_m) ? 0.0 : origin->depth_m / 1000.0;
  site->time_s = origin->time_s;
  return OSLA_OK;
}

static osla_err read_origin(text_reader *where, const char *path, const char *text, solution *s)
{
  if (text_is_missing(text)) return OSLA_OK;
  if (strcmp(path, "latitude/value") == 0)
    return text_parse_number(where, "latitude", text, -90.0, 90.0, &s->latitude);
  if (strcmp(path, "longitude/value") == 0)
    return text_parse_number(where, "longitude", text, -180.0, 360.0, &s->longitude);
  if (strcmp(path, "depth/value") == 0)
    return text_parse_number(where, "depth in m", text, 1000.0 * TEXT_DEPTH_LOW,
                             1000.0 * TEXT_DEPTH_HIGH, &s->depth_m);
  if (strcmp(path, "time/value") == 0)
    return text_parse_event_time(where, "time", text, &s->time_s);
  return OSLA_OK;
}

/* Uses the description that names the region, else the first description. */
static void choose_region_name(events *e)
{
  const bool region =
    strcmp(e->place_type, "region name") == 0 || strcmp(e->place_type, "Flinn-Engdahl region") == 0;
  if (region || e->place[0] == '\0') strcpy(e->place, e->description);
}

static osla_err end_element(xml_reader *reader, const char *path, const char *text)
{
  events *e = reader->state;
  static const char event[] = "eventParameters/event", origin[] = "/origin/";
  if (strncmp(path, event, sizeof event - 1) != 0) return OSLA_OK;
  path += sizeof event - 1;
  if (*path == '\0') return add_event(reader);
  if (strncmp(path, origin, sizeof origin - 1) == 0)
    return read_origin(reader->where, path + sizeof origin - 1, text,
                       &e->origins.at[e->origins.count - 1]);
  if (strcmp(path, "/magnitude/mag/value") == 0 && !text_is_missing(text))
    return text_parse_number(reader->where, "magnitude", text, -5.0, 11.0,
                             &e->magnitudes.at[e->magnitudes.count - 1].magnitude);
  if (strcmp(path, "/preferredOriginID") == 0)
    (void)snprintf(e->preferred_origin, NAMES_MAX, "%s", text);
  if (strcmp(path, "/preferredMagnitudeID") == 0)
    (void)snprintf(e->preferred_magnitude, NAMES_MAX, "%s", text);
  if (strcmp(path, "/description/text") == 0)
    (void)snprintf(e->description, sizeof e->description, "%s", text);
  if (strcmp(path, "/description/type") == 0)
    (void)snprintf(e->place_type, sizeof e->place_type, "%s", text);
  if (strcmp(path, "/description") == 0) choose_region_name(e);
  return OSLA_OK;
}

osla_err xml_read_events(text_reader *where, site_list *list)
{
  static const xml_format format = {"quakeml",
                                    "http://quakeml.org/xmlns/quakeml/1.2",
                                    "http://quakeml.org/xmlns/bed/1.2",
                                    "QuakeML 1.2",
                                    begin_element,
                                    end_element};
  events *state = calloc(1, sizeof *state);
  OSLA_CHECK(state, OSLA_ERR_MEM, "%s: no memory", where->file);
  osla_err err = xml_read(where, &format, state, list);
  free(state->origins.at);
  free(state->magnitudes.at);
  free(state);
  return err;
}
