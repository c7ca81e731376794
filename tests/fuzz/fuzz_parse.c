/* An independent parser of the text formats, written from their description
 * (apps/tomography/readers/tomo_io.h) and sharing no code with the readers. In doubt it rejects. */
#include "tests/fuzz/fuzz_parse.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { LINE = FUZZ_LINE, FIELDS = FUZZ_FIELDS, SITES = 4096 };
typedef fuzz_text text;

/* Index of the column that has one of the names; -1 if there is none. A second such column is an
 * error if the column is needed, or if both columns have the same name. */
static int column(text *t, char **field, int n, const char *const *names, bool needed)
{
  int found = -1;
  for (int i = 0; i < n; i++)
    for (const char *const *name = names; *name; name++) {
      if (strcasecmp(field[i], *name) != 0) continue;
      if (found >= 0 && (needed || strcasecmp(field[i], field[found]) == 0))
        (void)fuzz_text_reject(t, "a column twice");
      if (found < 0) found = i;
    }
  if (found < 0 && needed) (void)fuzz_text_reject(t, "a column is missing");
  return found;
}

static const char *const names[2][3][8] = {
  {{"latitude", "lat", "station_latitude_deg"},
   {"longitude", "lon", "long", "lng", "station_longitude_deg"},
   {NULL}},
  {{"latitude", "lat", "source_latitude", "source_latitude_deg"},
   {"longitude", "lon", "long", "lng", "source_longitude", "source_longitude_deg"},
   {"depth_km", "depth", "dep", "depth/km", "depth (km)", "focal depth (km)", "source_depth_km"}}};
static const char *const fixed_depth[] = {"depfix", NULL};
static const char *const magnitude[] = {"mag", "magnitude", "mw", "source_magnitude", NULL};
enum { DATE = 6, TIME, ID, WHEN }; /* indices of the columns that follow the six parts of a time */
static const char *const when[WHEN][8] = {
  {"year", "yr", "years"},
  {"month", "mon", "mo", "months"},
  {"day", "dy", "days"},
  {"hour", "hr", "hours"},
  {"minute", "minu", "min", "mn", "minutes", "mins"},
  {"second", "sec", "seconds", "secs"},
  {"date"},
  {"time", "origin_time", "origintime", "source_origin_time"},
  {"id", "event", "event_id", "eventid", "evid", "source_id"}};
static const char *const station[] = {"station", "sta", "code", "station_code", NULL};
static const char *const network[] = {"network", "net", "station_network_code", NULL};
static const char *const elevations[] = {"elevation", "elev", NULL};
static const char *const called[] = {"name", NULL};
static const char *const plain[][2] = {
  {"latitude", NULL}, {"longitude", NULL}, {"network", NULL}, {"station", NULL}};

typedef struct table {
  bool events, isc;
  int separator, n, lat, lon, deep, mag, when[WHEN];
} table;

/* Rejects lists of stations, depths with an unknown name, and parts of a time without an earlier
 * part. */
static void suspect(text *t, char **field, const table *h)
{
  bool knows = h->mag >= 0, lacks = false;
  const int *w = h->when;
  for (int i = 0; i < WHEN; i++)
    knows = knows || (w[i] >= 0 && (i == 0 || i >= DATE));
  const bool is_high = column(t, field, h->n, elevations, false) >= 0;
  const bool coded =
    column(t, field, h->n, station, false) >= 0 || column(t, field, h->n, network, false) >= 0;
  if (!knows && (is_high || (coded && h->deep < 0))) (void)fuzz_text_reject(t, "stations");
  for (int i = 0; i < h->n && h->deep < 0; i++)
    for (const char *c = field[i]; *c; c++)
      if (strncasecmp(c, "dep", 3) == 0) (void)fuzz_text_reject(t, "an unknown depth");
  for (int i = w[DATE] < 0 ? 0 : 3; i < 6 && w[TIME] < 0; i++) {
    if (w[i] >= 0 && lacks) (void)fuzz_text_reject(t, "a part without an earlier one");
    lacks = lacks || w[i] < 0;
  }
}

static table header(text *t, bool events)
{
  char *field[FIELDS];
  table h = {.events = events, .deep = -1, .mag = -1};
  if (fuzz_text_is_fdsn(t->line)) {
    if (strchr("nN", *strpbrk(t->line, "nNeE"))) (void)fuzz_text_reject(t, "FDSN text of stations");
    *strchr(t->line, '#') = ' ';
  }
  h.separator = fuzz_text_separator(t);
  h.n = fuzz_text_split(t, (char)h.separator, field);
  h.lat = column(t, field, h.n, names[events][0], true);
  h.lon = column(t, field, h.n, names[events][1], true);
  if (!events) {
    if (column(t, field, h.n, magnitude, false) >= 0 && column(t, field, h.n, station, false) < 0 &&
        column(t, field, h.n, called, false) < 0)
      (void)fuzz_text_reject(t, "earthquakes");
    return h;
  }
  for (int i = 0; i < WHEN; i++)
    h.when[i] = column(t, field, h.n, when[i], false);
  h.deep = column(t, field, h.n, names[1][2], false);
  for (int i = 0, depths = 0; i < h.n; i++)
    for (const char *const *name = names[1][2]; *name; name++) {
      depths += strcasecmp(field[i], *name) == 0;
      if (depths > 1) (void)fuzz_text_reject(t, "two depths");
    }
  h.mag = column(t, field, h.n, magnitude, false);
  const int fix = column(t, field, h.n, fixed_depth, false);
  suspect(t, field, &h);
  h.isc = fix >= 0 && fix == h.n - 4 && h.mag == h.n - 1;
  return h;
}

/* Returns the first magnitude in a row of the ISC, whose magnitudes have three fields each; NaN if
 * there is none. */
static double first_magnitude(text *t, const table *h, char **field, int n)
{
  double first = NAN, m = NAN;
  if (n > h->n - 3 && (n - h->n + 3) % 3 == 1 && !*field[n - 1]) n--;
  if (n < h->n - 3 || (n - h->n + 3) % 3 != 0) (void)fuzz_text_reject(t, "parts of a magnitude");
  for (int i = h->n - 1; i < n; i += 3)
    if (fuzz_is_given(field[i]) && fuzz_text_number(t, field[i], -5, 11, &m) && isnan(first))
      first = m;
  return first;
}

static void row(text *t, const table *h, fuzz_result *result)
{
  char *field[FIELDS];
  double y = 0, x = 0, z = 0, m = NAN;
  const int n = fuzz_text_split(t, (char)h->separator, field);
  if (n != h->n && !h->isc) (void)fuzz_text_reject(t, "another number of fields");
  if (t->wrong) return;
  if (h->isc) m = first_magnitude(t, h, field, n);
  if (h->lat >= n || h->lon >= n) (void)fuzz_text_reject(t, "a short row");
  if (t->wrong) return;
  const bool has_y = !h->events || fuzz_is_given(field[h->lat]); /* an event may lack coordinates */
  const bool has_x = !h->events || fuzz_is_given(field[h->lon]);
  if (has_y) (void)fuzz_text_number(t, field[h->lat], -90, 90, &y);
  if (has_x) (void)fuzz_text_number(t, field[h->lon], -180, 360, &x);
  if (h->deep >= 0 && h->deep < n && fuzz_is_given(field[h->deep]))
    (void)fuzz_text_number(t, field[h->deep], -10, 800, &z);
  if (!h->isc && h->mag >= 0 && fuzz_is_given(field[h->mag]))
    (void)fuzz_text_number(t, field[h->mag], -5, 11, &m);
  const char *given[WHEN];
  for (int i = 0; i < WHEN; i++)
    given[i] = h->events && h->when[i] >= 0 && h->when[i] < n ? field[h->when[i]] : "";
  const double time = fuzz_columns_time(t, given[DATE], given[TIME], given,
                                        h->events && (h->when[DATE] >= 0 || h->when[0] >= 0));
  if (!has_y || !has_x) return;
  result->digest =
    fuzz_hash_site(result->digest, y, x, z, m, time, fuzz_is_given(given[ID]) ? given[ID] : "");
  result->high++;
}

static bool starts(const char *line, const char *word)
{
  while (*line == ' ' || *line == '\t')
    line++;
  return strncmp(line, word, strlen(word)) == 0;
}

static bool has_date(const char *line)
{
  static const char form[] = "dddd/dd/dd";
  for (int i = 0; i < 5; i++)
    if (!line[i]) return false;
  for (int i = 0; form[i]; i++)
    if (form[i] == 'd' ? !isdigit((unsigned char)line[5 + i]) : line[5 + i] != form[i])
      return false;
  return true;
}

/* True for the title of a page: the line begins with the word and contains no separators. */
static bool is_title(const char *line, const char *word)
{
  const char *behind = strstr(line, word);
  return starts(line, word) && !strpbrk(line, ",;\t|") &&
         !isalnum((unsigned char)behind[strlen(word)]) && behind[strlen(word)] != '_';
}

/* Skips the lines after a catalogue's STOP up to the header of the next catalogue. Returns false if
 * the file has no other catalogue. */
static bool next_catalogue(text *t, const table *h)
{
  while (!t->wrong && fuzz_text_next(t)) {
    const char *c = t->line;
    int separators = 0;
    if (starts(c, "EVENTID")) return true;
    for (; *c; c++)
      separators += *c == h->separator;
    c = t->line + strspn(t->line, " \t");
    if (separators > 4 || (separators > 1 && isdigit((unsigned char)*c)) || has_date(t->line) ||
        fuzz_text_is_fdsn(t->line))
      (void)fuzz_text_reject(t, "a row behind STOP");
  }
  return false;
}

/* Parses CSV of stations or events, FDSN text of events, and the ISC's catalogue. The first line
 * has been read. */
static void csv(text *t, bool events, fuzz_result *result)
{
  const bool page = events && (is_title(t->line, "DATA_TYPE") || is_title(t->line, "ISC") ||
                               is_title(t->line, "International Seismological Centre"));
  bool stopped = false;
  while (page && !starts(t->line, "EVENTID"))
    if (!fuzz_text_next(t)) {
      (void)fuzz_text_reject(t, "no header");
      return;
    }
  table h = header(t, events);
  while (!t->wrong && !stopped && fuzz_text_next(t)) {
    const bool again = events && fuzz_text_is_fdsn(t->line);
    stopped = h.isc && starts(t->line, "STOP") && !next_catalogue(t, &h);
    if (stopped) break;
    if (again || (h.isc && starts(t->line, "EVENTID")))
      h = header(t, events);
    else
      row(t, &h, result);
  }
  if (page && !stopped) (void)fuzz_text_reject(t, "cut off");
}

/* True if words 3 and 4 of the line are numbers (latitude and longitude), so that the line is not a
 * header. */
static bool has_position(const char *line)
{
  static char copy[LINE];
  text unused = {.wrong = NULL};
  char *rest = NULL, *word = strtok_r(strcpy(copy, line), " \t", &rest);
  double value;
  for (int i = 1; i <= 4; i++, word = strtok_r(NULL, " \t", &rest))
    if (!word || (i > 2 && !fuzz_text_number(&unused, word, -HUGE_VAL, HUGE_VAL, &value)))
      return false;
  return true;
}

/* Parses lines of name, network, latitude and longitude between blanks. The first line has been
 * read. */
static void specfem(text *t, fuzz_result *result)
{
  do {
    char *field[LINE], *rest = NULL;
    double y = 0, x = 0, unused;
    int n = 0;
    for (char *word = strtok_r(t->line, " \t", &rest); word; word = strtok_r(NULL, " \t", &rest))
      field[n++] = word;
    if (n < 4 || n > FIELDS) (void)fuzz_text_reject(t, "columns");
    if (t->wrong) return;
    (void)fuzz_text_number(t, field[2], -90, 90, &y);
    (void)fuzz_text_number(t, field[3], -180, 360, &x);
    for (int i = 4; i < n && i < 6; i++)
      (void)fuzz_text_number(t, field[i], -12e3, 12e3, &unused);
    result->digest = fuzz_hash_site(result->digest, y, x, 0, NAN, NAN, "");
    result->high++;
  } while (fuzz_text_next(t));
}

static bool is_code(const char *s, size_t most)
{
  size_t n = strlen(s);
  for (size_t i = 0; i < n; i++)
    if (!isgraph((unsigned char)s[i])) return false;
  return n > 0 && n <= most;
}

static void fdsn(text *t, fuzz_result *result)
{
  static fuzz_site list[SITES];
  static const char *const elevation[] = {"elevation", NULL};
  char *field[FIELDS];
  int n = 0, at[4] = {0}, count = 0, high = -1;
  do {
    fuzz_site *new = &list[count];
    double unused;
    if (fuzz_text_is_fdsn(t->line)) {
      if (strchr("eE", *strpbrk(t->line, "nNeE"))) (void)fuzz_text_reject(t, "earthquakes");
      *strchr(t->line, '#') = ' ';
      n = fuzz_text_split(t, '|', field);
      for (int i = 0; i < 4; i++)
        at[i] = column(t, field, n, plain[i], true);
      high = column(t, field, n, elevation, false);
      if (t->wrong) return;
      continue;
    }
    if (fuzz_text_split(t, '|', field) != n) (void)fuzz_text_reject(t, "another number of fields");
    if (t->wrong) return;
    (void)fuzz_text_number(t, field[at[0]], -90, 90, &new->y);
    (void)fuzz_text_number(t, field[at[1]], -180, 360, &new->x);
    if (high >= 0 && *field[high]) (void)fuzz_text_number(t, field[high], -12e3, 12e3, &unused);
    if (!is_code(field[at[2]], 15) || !is_code(field[at[3]], 15))
      (void)fuzz_text_reject(t, "no code");
    if (t->wrong || count == SITES - 1) return;
    strcat(strcat(strcpy(new->code, field[at[2]]), "."), field[at[3]]);
    if (fuzz_is_known(list, count, new)) continue;
    result->digest = fuzz_hash_site(result->digest, new->y, new->x, 0, NAN, NAN, "");
    result->high++;
    count++;
  } while (fuzz_text_next(t));
}

/* Parses the number in the columns first .. last, counted from 1. The number must end at the last
 * column, and have a decimal point exactly if `point` is true. */
static double fixed(text *t, int first, int last, bool point, double low, double high)
{
  char s[16] = "";
  double value = 0;
  if (strlen(t->line) < (size_t)last) return fuzz_text_reject(t, "a short line");
  memcpy(s, t->line + first - 1, (size_t)(last - first + 1));
  char *c = s;
  while (*c == ' ')
    c++;
  if (strchr(c, 'e') || strchr(c, 'E') || (strchr(c, '.') != NULL) != point)
    (void)fuzz_text_reject(t, "not fixed");
  (void)fuzz_text_number(t, c, low, high, &value);
  return value;
}

/* Parses the number in fixed columns, or returns NaN if they are blank. */
static double fixed_or_nan(text *t, int first, int last, bool point, double low, double high)
{
  char s[16] = "";
  if (strlen(t->line) >= (size_t)last) memcpy(s, t->line + first - 1, (size_t)(last - first + 1));
  if (*s && !fuzz_is_given(s + strspn(s, " "))) return NAN;
  return fixed(t, first, last, point, low, high);
}

/* Returns the time on line 1 of an NDK event. */
static double ndk_time(text *t)
{
  char second[8];
  double part[6] = {0}, time = NAN;
  if (!has_date(t->line) || strlen(t->line) < 26) return fuzz_text_reject(t, "no time");
  (void)snprintf(second, sizeof second, "%.4s", t->line + 22);
  for (int i = 0; i < 5; i++)
    part[i] = atoi(t->line + (const int[]){5, 10, 13, 16, 19}[i]);
  (void)fuzz_text_number(t, second + strspn(second, " "), 0, 61, &part[5]);
  if (!fuzz_time_of(part, &time)) (void)fuzz_text_reject(t, "no time");
  return time;
}

static void ndk(text *t, fuzz_result *result)
{
  do {
    double y, x, z, moment, power, time, shift;
    char name[20];
    if (!has_date(t->line)) (void)fuzz_text_reject(t, "no date");
    time = ndk_time(t);
    (void)fixed(t, 28, 33, true, -90, 90);
    if (!fuzz_text_next_raw(t) || strlen(t->line) < 61 || strncmp(t->line + 16, " B:", 3) != 0)
      (void)fuzz_text_reject(t, "line 2");
    (void)snprintf(name, sizeof name, "%.16s", t->line);
    if (!fuzz_text_next_raw(t) || strncmp(t->line, "CENTROID:", 9) != 0)
      (void)fuzz_text_reject(t, "line 3");
    if (t->wrong) return;
    shift = fixed_or_nan(t, 10, 18, true, -1e9, 1e9);
    y = fixed_or_nan(t, 23, 29, true, -90, 90);
    x = fixed_or_nan(t, 35, 42, true, -180, 360);
    z = fixed_or_nan(t, 48, 53, true, -10, 800);
    if (t->wrong) return;
    const char *type = t->line + 58;
    if (strncmp(type, " FREE", 5) != 0 && strncmp(type, " FIX", 4) != 0 &&
        strncmp(type, " BDY", 4) != 0)
      (void)fuzz_text_reject(t, "type of depth");
    if (!fuzz_text_next_raw(t)) (void)fuzz_text_reject(t, "line 4");
    power = fixed_or_nan(t, 1, 2, false, 0, 40);
    (void)fixed(t, 3, 9, true, -1e6, 1e6);
    if (!fuzz_text_next_raw(t) || t->line[0] != 'V') (void)fuzz_text_reject(t, "line 5");
    moment = fixed_or_nan(t, 49, 56, true, 0, 1e6);
    if (isnan(y) || isnan(x)) continue;
    result->digest = fuzz_hash_site(result->digest, y, x, isnan(z) ? 0 : z,
                                    moment > 0 ? (log10(moment) + power) / 1.5 - 10.7 : NAN,
                                    time + shift, fuzz_strip_blanks(name));
    result->high++;
  } while (!t->wrong && fuzz_text_next(t));
}

static void judge(const char *path, bool events, fuzz_result *result)
{
  static text t;
  t = (text){.all = fuzz_load(path)};
  if (!fuzz_text_next(&t))
    (void)fuzz_text_reject(&t, "no content");
  else if (events)
    has_date(t.line) ? ndk(&t, result) : csv(&t, true, result);
  else if (fuzz_text_is_fdsn(t.line))
    fdsn(&t, result);
  else
    strpbrk(t.line, ",;\t|") && !has_position(t.line) ? csv(&t, false, result)
                                                      : specfem(&t, result);
  if (result->high == 0) (void)fuzz_text_reject(&t, "no entries");
  result->state = FUZZ_ACCEPTED;
  if (t.wrong) fuzz_reject(result, "%s", t.wrong);
  free(t.all.at);
}

void fuzz_judge_stations(const char *path, fuzz_result *result)
{
  judge(path, false, result);
}

void fuzz_judge_events(const char *path, fuzz_result *result)
{
  judge(path, true, result);
}
