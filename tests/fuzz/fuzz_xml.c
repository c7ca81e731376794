/* StationXML and QuakeML: makes correct and damaged files, and parses them independently, from a
 * tree of the whole file in which elements are found from the root downwards. */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif
#include "tests/fuzz/fuzz_parse.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef HAVE_LIBXML2

#include <libxml/parser.h>
#include <libxml/tree.h>

static const char station_space[] = "http://www.fdsn.org/xml/station/1";
static const char event_space[] = "http://quakeml.org/xmlns/bed/1.2";
static const char root_space[] = "http://quakeml.org/xmlns/quakeml/1.2";

/* --- making of input files --- */

static void make_stations(fuzz_random *random, fuzz_bytes *b)
{
  fuzz_print(b,
             "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<FDSNStationXML xmlns=\"%s\" "
             "xmlns:x=\"http://example.org\" schemaVersion=\"1.1\">\n<Source>a &amp; b</Source>\n",
             station_space);
  for (int64_t n = 1 + fuzz_below(random, 3); n > 0; n--) {
    fuzz_print(b, "<Network code=\"N%d\" startDate=\"1990-01-01T00:00:00\">\n", (int)n);
    for (int64_t i = 1 + fuzz_below(random, 3); i > 0; i--) {
      fuzz_print(b, "<Station code=\"S%d\" startDate=\"200%d-02-03T04:05:06Z\">\n",
                 (int)fuzz_below(random, 3), (int)i);
      if (fuzz_one_in(random, 3)) fuzz_print(b, "<x:Latitude>5</x:Latitude>\n");
      fuzz_print(b, "<Latitude unit=\"DEGREES\"> %.4f </Latitude>\n<Longitude>%.4f</Longitude>\n",
                 fuzz_between(random, -90, 90), fuzz_between(random, -180, 180));
      fuzz_print(b, "<Elevation>%.1f</Elevation>\n", fuzz_between(random, 0, 5000));
      if (fuzz_one_in(random, 2))
        fuzz_print(b, "<Channel code=\"BHZ\">\n<Latitude>1</Latitude>\n</Channel>\n");
      fuzz_print(b, "</Station>\n");
    }
    fuzz_print(b, "</Network>\n");
  }
  fuzz_print(b, "</FDSNStationXML>\n");
}

static void make_events(fuzz_random *random, fuzz_bytes *b)
{
  fuzz_print(b, "<q:quakeml xmlns:q=\"%s\" xmlns=\"%s\">\n<eventParameters publicID=\"a\">\n",
             root_space, event_space);
  for (int64_t n = 1 + fuzz_below(random, 3); n > 0; n--) {
    const int origins = 1 + (int)fuzz_below(random, 3), without = (int)fuzz_below(random, 6);
    if (fuzz_one_in(random, 8)) fuzz_print(b, "<event publicID=\"smi:a/none\"/>\n");
    fuzz_print(b, "<event publicID=\"smi:a/%d?b&amp;c\">\n", (int)n);
    if (fuzz_one_in(random, 2))
      fuzz_print(b, "<preferredOriginID>o&amp;%d</preferredOriginID>\n", origins - 1);
    for (int i = 0; i < origins; i++) {
      fuzz_print(b,
                 "<origin publicID=\"o&amp;%d\">\n<time> <value>2012-04-11T08:38:36.7Z</value> "
                 "</time>\n",
                 i);
      if (i == without && origins > 1)
        fuzz_print(b, "<latitude> <value>%s</value> </latitude>\n", n > 1 ? "" : "NaN");
      else
        fuzz_print(b, "<latitude> <value>%.4f</value> </latitude>\n",
                   fuzz_between(random, -90, 90));
      fuzz_print(b, "<longitude> <value>%.4f</value> </longitude>\n",
                 fuzz_between(random, -180, 180));
      if (fuzz_one_in(random, 2))
        fuzz_print(b, "<depth> <value>%.1f</value> </depth>\n", fuzz_between(random, 0, 7e5));
      fuzz_print(b, "</origin>\n");
    }
    for (int i = 0; i < 2; i++)
      fuzz_print(b, "<magnitude publicID=\"m%d\"> <mag> <value>%.1f</value> </mag> </magnitude>\n",
                 i, fuzz_between(random, 3, 9));
    if (fuzz_one_in(random, 2)) fuzz_print(b, "<preferredMagnitudeID>m1</preferredMagnitudeID>\n");
    fuzz_print(b, "</event>\n");
  }
  fuzz_print(b, "</eventParameters>\n</q:quakeml>\n");
}

/* Inserts markup that is special in XML. */
static void put_markup(fuzz_random *random, fuzz_bytes *b)
{
  static const char *const odd[] = {"<!DOCTYPE a [<!ENTITY b \"c\">]>",
                                    "<!DOCTYPE a SYSTEM \"/etc/passwd\">",
                                    "&b;",
                                    "&amp;",
                                    "&#49;",
                                    "&#0;",
                                    "]]>",
                                    "<![CDATA[1]]>",
                                    "<![CDATA[",
                                    "<!-- 1 -->",
                                    "<!--",
                                    "<?a b?>",
                                    "<x:y>",
                                    "<a xmlns=\"\"/>",
                                    "</a>",
                                    "<Latitude/>",
                                    "xmlns=\"http://a\" ",
                                    "\xff",
                                    "\xc3\xa9",
                                    "<",
                                    ">",
                                    "\""};
  const char *put = odd[fuzz_below(random, (int64_t)(sizeof odd / sizeof *odd))];
  fuzz_splice(b, (size_t)fuzz_below(random, (int64_t)b->size + 1), 0, put, strlen(put));
}

static bool make(uint64_t seed, const char *path, void (*maker)(fuzz_random *, fuzz_bytes *))
{
  fuzz_random random = fuzz_begin(seed);
  fuzz_bytes b = {NULL, 0};
  const bool damaged = !fuzz_one_in(&random, 12);
  maker(&random, &b);
  for (int64_t n = damaged ? 1 + fuzz_below(&random, 3) : 0; n > 0; n--)
    if (fuzz_one_in(&random, 2))
      put_markup(&random, &b);
    else
      fuzz_damage_text(&random, &b);
  fuzz_save(path, b);
  free(b.at);
  return damaged;
}

static bool make_station_file(uint64_t seed, const char *path)
{
  return make(seed, path, make_stations);
}

static bool make_event_file(uint64_t seed, const char *path)
{
  return make(seed, path, make_events);
}

/* --- the independent parser of XML files --- */

static bool is(const xmlNode *node, const char *name, const char *space)
{
  return node->type == XML_ELEMENT_NODE && strcmp((const char *)node->name, name) == 0 &&
         node->ns && strcmp((const char *)node->ns->href, space) == 0;
}

/* The text after the last child element, without outer blanks. */
static void text_in(const xmlNode *node, char text[1024])
{
  size_t n = 0;
  for (const xmlNode *c = node->children; c; c = c->next) {
    if (c->type == XML_ELEMENT_NODE) n = 0;
    if (c->type != XML_TEXT_NODE && c->type != XML_CDATA_SECTION_NODE) continue;
    for (const char *from = (const char *)c->content; *from && n < 1023; from++)
      text[n++] = *from;
  }
  while (n > 0 && strchr(" \t\r\n", text[n - 1]))
    n--;
  text[n] = '\0';
  memmove(text, text + strspn(text, " \t\r\n"), strlen(text + strspn(text, " \t\r\n")) + 1);
}

static void number_in(const xmlNode *node, double low, double high, double *value,
                      fuzz_result *result)
{
  char text[1024], *end;
  text_in(node, text);
  const double x = strtod(text, &end);
  if (end == text || *end || isspace((unsigned char)text[0]) || strpbrk(text, "xX") ||
      !(x >= low && x <= high))
    fuzz_reject(result, "a number");
  *value = x;
}

static void attribute(const xmlNode *node, const char *name, char value[256])
{
  xmlChar *text = xmlGetNoNsProp(node, (const xmlChar *)name);
  (void)snprintf(value, 256, "%s", text ? (const char *)text : "");
  xmlFree(text);
}

enum { STATIONS = 1024 };

static void judge_stations(const xmlNode *root, fuzz_result *result)
{
  static fuzz_site list[STATIONS];
  int count = 0;
  for (const xmlNode *net = root->children; net; net = net->next) {
    char code[256], station[256];
    if (!is(net, "Network", station_space)) continue;
    attribute(net, "code", code);
    for (const xmlNode *s = net->children; s && count < STATIONS; s = s->next) {
      if (!is(s, "Station", station_space)) continue;
      fuzz_site *new = &list[count];
      double metres;
      new->y = new->x = NAN;
      attribute(s, "code", station);
      if (!*code || !*station) fuzz_reject(result, "no code");
      (void)snprintf(new->code, sizeof new->code, "%s.%s", code, station);
      for (const xmlNode *part = s->children; part; part = part->next) {
        if (is(part, "Latitude", station_space)) number_in(part, -90, 90, &new->y, result);
        if (is(part, "Longitude", station_space)) number_in(part, -180, 360, &new->x, result);
        if (is(part, "Elevation", station_space)) number_in(part, -12e3, 12e3, &metres, result);
      }
      if (isnan(new->y) || isnan(new->x)) fuzz_reject(result, "no place");
      if (fuzz_is_known(list, count, new)) continue;
      result->digest = fuzz_hash_site(result->digest, new->y, new->x, 0, NAN, NAN, "");
      count++;
    }
  }
  if (count == 0) fuzz_reject(result, "no station");
}

/* Reads the number in the element parent / name / value. If there are several such elements that
 * are not empty, the last one counts. */
static void value_of(const xmlNode *parent, const char *name, double low, double high,
                     double *value, fuzz_result *result)
{
  for (const xmlNode *c = parent->children; c; c = c->next)
    for (const xmlNode *v = is(c, name, event_space) ? c->children : NULL; v; v = v->next) {
      char text[1024] = "";
      if (is(v, "value", event_space)) text_in(v, text);
      if (fuzz_is_given(text)) number_in(v, low, high, value, result);
    }
}

/* Reads the time in the element parent / time / value. If there are several such elements that are
 * not empty, the last one counts. */
static void time_of(const xmlNode *parent, double *time_s, fuzz_result *result)
{
  for (const xmlNode *c = parent->children; c; c = c->next)
    for (const xmlNode *v = is(c, "time", event_space) ? c->children : NULL; v; v = v->next) {
      char text[1024] = "";
      if (is(v, "value", event_space)) text_in(v, text);
      if (fuzz_is_given(text) && !fuzz_event_time(text, time_s)) fuzz_reject(result, "a time");
    }
}

/* Values of an origin (latitude, longitude, depth, time) or a magnitude; NaN if missing. */
static void solution_of(const xmlNode *node, double value[4], fuzz_result *result)
{
  value[0] = value[1] = value[2] = value[3] = NAN;
  if (is(node, "magnitude", event_space)) {
    value_of(node, "mag", -5, 11, &value[0], result);
    value[1] = 0;
  } else {
    value_of(node, "latitude", -90, 90, &value[0], result);
    value_of(node, "longitude", -180, 360, &value[1], result);
    value_of(node, "depth", -1e4, 8e5, &value[2], result);
    time_of(node, &value[3], result);
  }
}

/* Among the child elements `name` whose first two values exist, chooses the one with the given ID,
 * or the first one if none has this ID. Returns false if there is no such element. */
static bool choose(const xmlNode *event, const char *name, const char *id, double value[4],
                   fuzz_result *result)
{
  bool found = false;
  for (const xmlNode *c = event->children; c; c = c->next) {
    char own[256];
    double all[4];
    if (!is(c, name, event_space)) continue;
    attribute(c, "publicID", own);
    solution_of(c, all, result);
    const bool wanted = *id && strcmp(own, id) == 0;
    if (isnan(all[0]) || isnan(all[1]) || (found && !wanted)) continue;
    memcpy(value, all, sizeof all);
    found = true;
    if (wanted) return true;
  }
  return found;
}

/* Returns the public ID. Of an ID of 64 bytes or more it returns only the text behind "eventid=",
 * or, without this word, the text behind the last slash; this text ends before an "&". */
static const char *id_of(char *name)
{
  char *id = fuzz_strip_blanks(name), *slash = strrchr(name, '/'),
       *query = strstr(name, "eventid=");
  if (strlen(id) < 64) return id;
  id = query ? query + 8 : slash ? slash + 1 : id;
  id[strcspn(id, "&")] = '\0';
  return fuzz_strip_blanks(id);
}

static void judge_event(const xmlNode *event, fuzz_result *result)
{
  char origin_id[1024] = "", magnitude_id[1024] = "";
  char name[256];
  double at[4], m[4] = {NAN};
  for (const xmlNode *c = event->children; c; c = c->next) {
    if (is(c, "preferredOriginID", event_space)) text_in(c, origin_id);
    if (is(c, "preferredMagnitudeID", event_space)) text_in(c, magnitude_id);
  }
  origin_id[255] = magnitude_id[255] = '\0';
  (void)choose(event, "magnitude", magnitude_id, m, result);
  if (!choose(event, "origin", origin_id, at, result)) return;
  attribute(event, "publicID", name);
  result->digest = fuzz_hash_site(result->digest, at[0], at[1], isnan(at[2]) ? 0 : at[2] / 1000,
                                  m[0], at[3], id_of(name));
  result->high++;
}

static void judge_events(const xmlNode *root, fuzz_result *result)
{
  for (const xmlNode *all = root->children; all; all = all->next)
    for (const xmlNode *e = is(all, "eventParameters", event_space) ? all->children : NULL; e;
         e = e->next)
      if (is(e, "event", event_space)) judge_event(e, result);
  if (result->high == 0) fuzz_reject(result, "no event");
}

/* A file that does not begin like XML goes to the parser of plain text. */
static void judge(const char *path, bool events, fuzz_result *result)
{
  fuzz_bytes b = fuzz_load(path);
  size_t at = b.size >= 3 && memcmp(b.at, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
  while (at < b.size && isspace((unsigned char)b.at[at]))
    at++;
  if (at < b.size && b.at[at] == '<') {
    xmlDoc *doc = xmlReadMemory(b.at, (int)b.size, NULL, NULL,
                                XML_PARSE_NONET | XML_PARSE_NOERROR | XML_PARSE_NOWARNING);
    xmlNode *root = doc ? xmlDocGetRootElement(doc) : NULL;
    result->state = FUZZ_ACCEPTED;
    if (!root || doc->intSubset)
      fuzz_reject(result, "no XML, or with a DTD");
    else if (events && is(root, "quakeml", root_space))
      judge_events(root, result);
    else if (!events && is(root, "FDSNStationXML", station_space))
      judge_stations(root, result);
    else
      fuzz_reject(result, "another root");
    xmlFreeDoc(doc);
  } else if (events) {
    fuzz_judge_events(path, result);
  } else {
    fuzz_judge_stations(path, result);
  }
  free(b.at);
}

static void judge_station_file(const char *path, fuzz_result *result)
{
  judge(path, false, result);
}

static void judge_event_file(const char *path, fuzz_result *result)
{
  judge(path, true, result);
}

const fuzz_kind fuzz_stationxml = {.name = "stationxml",
                                   .batch = FUZZ_BATCH,
                                   .make = make_station_file,
                                   .read = fuzz_read_stations,
                                   .judge = judge_station_file,
                                   .command = fuzz_command_stations};
const fuzz_kind fuzz_quakeml = {.name = "quakeml",
                                .batch = FUZZ_BATCH,
                                .make = make_event_file,
                                .read = fuzz_read_events,
                                .judge = judge_event_file,
                                .command = fuzz_command_events};

#else

static bool cannot(const char *scratch)
{
  (void)scratch;
  return false;
}

const fuzz_kind fuzz_stationxml = {.name = "stationxml", .batch = FUZZ_BATCH, .prepare = cannot};
const fuzz_kind fuzz_quakeml = {.name = "quakeml", .batch = FUZZ_BATCH, .prepare = cannot};

#endif
