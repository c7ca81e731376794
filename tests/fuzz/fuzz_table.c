/* Tables of measurements (doc/measurements.md): makes correct and damaged tables, calls the reader,
 * and parses them independently, from the description. The lists of stations and earthquakes and
 * the reference Earth are fixed. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "apps/tomography/earth/tomo_sphere.h"
#include "apps/tomography/readers/tomo_data.h"
#include "tests/fuzz/fuzz_parse.h"

static const tomo_site stations[] = {
  {.latitude = 34.9, .longitude = -106.5, .id = "IU.ANMO"},
  {.latitude = 42.6, .longitude = 74.5, .id = "II.AAK"},
  {.latitude = -20.0, .longitude = 130.0, .id = "XX.ANMO"},
  {.latitude = 34.8, .longitude = -106.4, .id = "SOLO"},
  {.latitude = -34.9, .longitude = 73.5, .id = "G.ANTI"} /* antipode of the first station */};
static const tomo_site events[] = {{.latitude = 10.0, .longitude = 20.0, .id = "e1"},
                                   {.latitude = -30.0, .longitude = -70.0, .id = "C2005"},
                                   {.latitude = 50.0, .longitude = 160.0, .id = "3"}};
enum { STATIONS = 5, EVENTS = 3, ROWS = 4096 };

static const char earth[] = "osla-reference 1\ntitle t\nmapping m\ndepth_km 0 100 400\n"
                            "mode rayleigh 0 20 3.5 3.1\ndlnc 1e-3 2e-3 0\ndlnU 1e-3 2e-3 0\n"
                            "mode rayleigh 0 200 4.5 3.7\ndlnc 1e-3 2e-3 0\ndlnU 1e-3 2e-3 0\n"
                            "mode rayleigh 1 20 5\ndlnc 1e-3 2e-3 0\n"
                            "mode rayleigh 1 90 6\ndlnc 1e-3 2e-3 0\n"
                            "mode love 0 30 4.2 4\ndlnc 2e-3 1e-3 0\ndlnU 2e-3 1e-3 0\n"
                            "mode love 0 150 4.9 4.4\ndlnc 2e-3 1e-3 0\ndlnU 2e-3 1e-3 0\n";

static tomo_data_lists make_lists(tomo_reference **reference)
{
  fuzz_require(tomo_reference_parse("fixed", earth, sizeof earth - 1, reference) == OSLA_OK,
               "the reference");
  return (tomo_data_lists){.stations = stations,
                           .events = events,
                           .n_stations = STATIONS,
                           .n_events = EVENTS,
                           .reference = *reference,
                           .sigma_fraction = 0.05,
                           .min_distance = 5.0,
                           .max_distance = 179.0};
}

/* ---- making of input tables ---- */

static const char *pick(fuzz_random *random, const char *const *words, int n)
{
  return words[fuzz_below(random, n)];
}
#define PICK(random, words) pick(random, words, (int)(sizeof(words) / sizeof *(words)))

static void make_row(fuzz_random *random, fuzz_bytes *b, bool noise, bool percent, int64_t row)
{
  static const char *const event[] = {"e1", "C2005", "3", "\"e1\"", "nobody"};
  static const char *const codes[] = {"IU,ANMO", "II,AAK",   "XX,ANMO", ",SOLO",
                                      ",AAK",    ",IU.ANMO", "ZZ,NONE", ",ANMO"};
  static const char *const waves[] = {"rayleigh", "R", "", "Rayleigh"};
  const bool love = fuzz_one_in(random, 3), pair = noise && fuzz_one_in(random, 2);
  fuzz_print(b, "%s,%s,", pair ? "" : PICK(random, event), PICK(random, codes));
  if (noise) fuzz_print(b, "%s,", pair ? PICK(random, codes) : ",");
  fuzz_print(b, "%s,%s,%s,%g,", love ? "love" : PICK(random, waves),
             fuzz_one_in(random, 3) ? "group" : "phase", fuzz_one_in(random, 2) ? "0" : "",
             30.0 + (double)row);
  fuzz_print(b, "%s,%.3f,%s,%s\n", fuzz_one_in(random, 3) ? (love ? "G2" : "R2") : "minor",
             (percent ? 0.1 : 1.0) * ((double)fuzz_below(random, 4000) / 100.0 - 20.0),
             fuzz_one_in(random, 2) ? "1.5" : "", fuzz_one_in(random, 4) ? "-0.5" : "");
}

static bool make(uint64_t seed, const char *path)
{
  fuzz_random random = fuzz_begin(seed);
  fuzz_bytes b = {NULL, 0};
  const bool damaged = !fuzz_one_in(&random, 12), noise = fuzz_one_in(&random, 2);
  const bool percent = fuzz_one_in(&random, 3);
  if (fuzz_one_in(&random, 3)) fuzz_print(&b, "# measured\n\n");
  fuzz_print(&b, "%s,network,Station,%swave,observable,branch,%s,arc,%s,%s,correction_s\n",
             fuzz_one_in(&random, 2) ? "event" : "EVENT", noise ? "network2,station2," : "",
             fuzz_one_in(&random, 2) ? "period_s" : "period",
             percent ? "anomaly_percent" : "delay_s",
             fuzz_one_in(&random, 2) ? "sigma" : "sigma_s");
  /* a row that is always usable; its period differs from those of all other rows */
  fuzz_print(&b, noise ? "e1,IU,ANMO,,,rayleigh,phase,0,25,minor,1,2,\n"
                       : "e1,IU,ANMO,rayleigh,phase,0,25,minor,1,2,\n");
  for (int64_t row = fuzz_below(&random, 6); row > 0; row--)
    make_row(&random, &b, noise, percent, row);
  const char separator = ",,;\t|"[fuzz_below(&random, 5)];
  for (char *c = b.at; *c; c++)
    if (*c == ',') *c = separator;
  for (int64_t n = damaged ? 1 + fuzz_below(&random, 3) : 0; n > 0; n--)
    fuzz_damage_text(&random, &b);
  fuzz_save(path, b);
  free(b.at);
  return damaged;
}

/* ---- the digest of a table ---- */

typedef struct found {
  int64_t path;
  tomo_measure measure;
  double delay, sigma;
} found;

static uint64_t hash_found(uint64_t hash, const found *f)
{
  const int64_t values[7] = {f->path,
                             (int64_t)f->measure.wave,
                             (int64_t)f->measure.observable,
                             f->measure.branch,
                             llround(f->measure.period_s * 1e6),
                             llround(f->delay * 1e5),
                             llround(f->sigma * 1e5)};
  return fuzz_hash(hash, values, sizeof values);
}

static void finish_digest(fuzz_result *result, int64_t rows, int64_t unmatched, int64_t distant,
                          int64_t without_sigma)
{
  const int64_t counts[4] = {rows, unmatched, distant, without_sigma};
  result->digest = fuzz_hash(result->digest, counts, sizeof counts);
  result->state = FUZZ_ACCEPTED;
}

static void read_ours(const char *path, fuzz_result *result)
{
  tomo_reference *reference;
  tomo_data data;
  tomo_data_notes notes;
  const tomo_data_lists lists = make_lists(&reference);
  const osla_err err = tomo_data_read(path, NULL, &lists, &data, &notes);
  tomo_reference_destroy(&reference);
  if (err != OSLA_OK) {
    fuzz_reject(result, "%s", osla_error_text());
    if (data.n_paths || data.delay) strcpy(result->text, "data in spite of an error");
    return;
  }
  for (int64_t p = 0; p < data.n_paths; p++) {
    const tomo_set set = tomo_data_set(&data, p);
    for (int i = 0; i < set.count; i++) {
      const found f = {data.path_id[p], data.measure[set.measure[i]],
                       data.delay[tomo_data_first(&data, p) + i], set.sigma[i]};
      result->digest = hash_found(result->digest, &f);
    }
  }
  finish_digest(result, notes.rows, notes.unmatched, notes.distant, notes.sigma_missing);
  tomo_data_free(&data);
}

/* ---- the independent parser of tables ---- */

enum column {
  EVENT,
  STATION,
  NETWORK,
  STATION2,
  NETWORK2,
  PERIOD,
  BRANCH,
  WAVE,
  OBSERVABLE,
  DELAY,
  ANOMALY,
  SIGMA,
  ARC,
  CORRECTION,
  COLUMNS
};

typedef struct second {
  fuzz_text t;
  int at[COLUMNS]; /* column index of each key; -1 if the table lacks it */
  char separator, *field[FUZZ_FIELDS];
  bool sigma_percent;
  tomo_reference *reference;
  found row[ROWS];
  int n;
  int64_t rows, unmatched, distant, without_sigma;
} second;

static bool reject(second *s, const char *why)
{
  return fuzz_text_reject(&s->t, why);
}

static void read_header(second *s)
{
  static const char *const names[COLUMNS][6] = {{"event", "event_id", "eventid", "evid", "id"},
                                                {"station", "sta", "code", "receiver"},
                                                {"network", "net"},
                                                {"station2", "sta2", "source_station"},
                                                {"network2", "net2", "source_network"},
                                                {"period", "period_s"},
                                                {"branch", "overtone"},
                                                {"wave"},
                                                {"observable"},
                                                {"delay", "delay_s"},
                                                {"anomaly_percent"},
                                                {"sigma", "sigma_s", "sigma_percent"},
                                                {"arc", "orbit"},
                                                {"correction", "correction_s"}};
  s->separator = fuzz_text_separator(&s->t);
  const int n = fuzz_text_split(&s->t, s->separator, s->field);
  for (int c = 0; c < COLUMNS; c++)
    s->at[c] = -1;
  for (int i = 0; i < n; i++) {
    bool known = false;
    for (int c = 0; c < COLUMNS; c++)
      for (int k = 0; k < 6 && names[c][k]; k++) {
        if (strcasecmp(s->field[i], names[c][k]) != 0) continue;
        known = true;
        if (s->at[c] >= 0) (void)reject(s, "a column twice");
        s->at[c] = i;
        if (c == SIGMA) s->sigma_percent = k == 2 || (k == 0 && s->sigma_percent);
      }
    if (!known) (void)reject(s, "an unknown column");
  }
  if (s->at[STATION] < 0 || s->at[PERIOD] < 0 || (s->at[EVENT] < 0 && s->at[STATION2] < 0) ||
      (s->at[DELAY] < 0) == (s->at[ANOMALY] < 0))
    (void)reject(s, "a column is missing, or two say the same");
  if (s->t.wrong || s->at[SIGMA] < 0) return;
  const char *sigma = s->field[s->at[SIGMA]];
  s->sigma_percent = strcasecmp(sigma, "sigma_percent") == 0 ||
                     (strcasecmp(sigma, "sigma") == 0 && s->at[ANOMALY] >= 0);
}

static const char *cell(const second *s, enum column c)
{
  return s->at[c] < 0 ? "" : s->field[s->at[c]];
}

static double value_of(second *s, enum column c, double otherwise)
{
  double x = otherwise;
  if (*cell(s, c))
    (void)fuzz_text_number(&s->t, cell(s, c), -1.7e308, 1.7e308, &x);
  else if (isnan(otherwise))
    (void)reject(s, "an empty cell");
  return x;
}

/* Index of the word in a cell: 0 for `first` or an empty cell, 1 for `other`. */
static int word_of(second *s, enum column c, const char *first, const char *other)
{
  const char *text = cell(s, c);
  for (int i = 0; i < 2; i++) {
    const char *word = i ? other : first;
    if (strcasecmp(text, word) == 0 || (strlen(text) == 1 && strncasecmp(text, word, 1) == 0))
      return i;
  }
  if (*text) (void)reject(s, "another word");
  return 0;
}

/* Index of a station; -1 if it is not in the list or not unique. */
static int find_station(const char *network, const char *code)
{
  int last = -1, count = 0;
  char whole[FUZZ_LINE];
  (void)snprintf(whole, sizeof whole, "%s%s%s", network, *network ? "." : "", code);
  for (int i = 0; i < STATIONS; i++)
    if (strcmp(stations[i].id, whole) == 0) return i;
  for (int i = 0; i < STATIONS; i++) {
    const char *point = strchr(stations[i].id, '.');
    if (*network ? point != NULL : false)
      continue; /* the cell of the network names another network */
    if (strcmp(point ? point + 1 : stations[i].id, code) != 0) continue;
    last = i;
    count++;
  }
  return count == 1 ? last : -1;
}

static void find_measure(second *s, found *f, bool *major)
{
  const char *arc = cell(s, ARC);
  double branch;
  f->measure.period_s = value_of(s, PERIOD, NAN);
  branch = value_of(s, BRANCH, 0.0);
  if (s->t.wrong || f->measure.period_s <= 0.0 || branch < 0.0 || branch > 1.0 ||
      branch != floor(branch)) {
    (void)reject(s, "period or branch");
    return;
  }
  f->measure.branch = (int)branch;
  f->measure.wave = word_of(s, WAVE, "rayleigh", "love") ? TOMO_LOVE : TOMO_RAYLEIGH;
  f->measure.observable = word_of(s, OBSERVABLE, "phase", "group") ? TOMO_GROUP : TOMO_PHASE;
  *major = strcasecmp(arc, "major") == 0;
  if (*arc && !*major && strcasecmp(arc, "minor") != 0) {
    const bool love = strchr("gG", arc[0]) != NULL;
    if (strlen(arc) != 2 || !strchr("rRgG", arc[0]) || !strchr("12", arc[1]))
      (void)reject(s, "the arc");
    else if (*cell(s, WAVE) && love != (f->measure.wave == TOMO_LOVE))
      (void)reject(s, "the arc of another wave");
    f->measure.wave = love ? TOMO_LOVE : TOMO_RAYLEIGH;
    *major = arc[0] && arc[1] == '2';
  }
  const bool love = f->measure.wave == TOMO_LOVE, higher = f->measure.branch == 1;
  const double low = love ? 30.0 : 20.0, high = love ? 150.0 : higher ? 90.0 : 200.0;
  if (f->measure.period_s < low * (1.0 - 1e-9) || f->measure.period_s > high * (1.0 + 1e-9) ||
      (higher && (love || f->measure.observable == TOMO_GROUP)))
    (void)reject(s, "the reference does not cover it");
}

/* Finds the path and its length; returns false if the row is not used. */
static bool find_path(second *s, bool major, found *f, double *km)
{
  int source = -1, station = -1;
  double from[3], to[3];
  for (int i = 0; *cell(s, EVENT) && i < EVENTS; i++)
    if (strcmp(events[i].id, cell(s, EVENT)) == 0) source = i;
  if (!*cell(s, EVENT)) {
    source = find_station(cell(s, NETWORK2), cell(s, STATION2));
    if (source >= 0) source += EVENTS;
  }
  if (source >= 0) station = find_station(cell(s, NETWORK), cell(s, STATION));
  if (station < 0) return s->unmatched++, false;
  if (source >= EVENTS && source - EVENTS > station) {
    const int other = source - EVENTS;
    source = EVENTS + station;
    station = other;
  }
  const tomo_site *a = source < EVENTS ? &events[source] : &stations[source - EVENTS];
  tomo_unit_vector(a->latitude, a->longitude, from);
  tomo_unit_vector(stations[station].latitude, stations[station].longitude, to);
  const double angle = tomo_distance(from, to), pi = acos(-1.0);
  tomo_arc arc;
  if (tomo_arc_make(from, to, TOMO_ARC_MINOR, &arc) != TOMO_ARC_OK) return s->unmatched++, false;
  if (angle < 5.0 * pi / 180.0 || angle > 179.0 * pi / 180.0) return s->distant++, false;
  *km = TOMO_EARTH_RADIUS_KM * (major ? 2.0 * pi - angle : angle);
  f->path = 2 * ((int64_t)source * STATIONS + station) + major;
  return true;
}

static void read_row(second *s)
{
  found f = {.path = -1};
  bool major = false;
  double km = 0.0;
  if (!*cell(s, STATION) || (*cell(s, EVENT) != '\0') == (*cell(s, STATION2) != '\0'))
    (void)reject(s, "the ends of the path");
  find_measure(s, &f, &major);
  const bool percent = s->at[ANOMALY] >= 0;
  const double value = value_of(s, percent ? ANOMALY : DELAY, NAN);
  const double correction = value_of(s, CORRECTION, 0.0), sigma = value_of(s, SIGMA, 1.0);
  if (!(sigma > 0.0)) (void)reject(s, "sigma is not positive");
  if (s->t.wrong) return;
  s->rows++;
  if (!find_path(s, major, &f, &km)) return;
  const double unit = 0.01 * km / tomo_measure_velocity(s->reference, &f.measure);
  f.delay = (percent ? -unit * value : value) - correction;
  f.sigma = s->sigma_percent ? sigma * unit : sigma;
  if (!*cell(s, SIGMA)) {
    f.sigma = 0.05 * f.measure.period_s;
    s->without_sigma++;
  }
  if (!(fabs(f.delay) <= 1e6 && f.sigma >= 1e-6 && f.sigma <= 1e6)) (void)reject(s, "a size");
  if (s->n == ROWS) (void)reject(s, "many rows");
  if (!s->t.wrong) s->row[s->n++] = f;
}

static int compare(const void *x, const void *y)
{
  const found *a = x, *b = y;
  if (a->path != b->path) return a->path < b->path ? -1 : 1;
  if (a->measure.wave != b->measure.wave) return a->measure.wave < b->measure.wave ? -1 : 1;
  if (a->measure.observable != b->measure.observable)
    return a->measure.observable < b->measure.observable ? -1 : 1;
  if (a->measure.branch != b->measure.branch) return a->measure.branch < b->measure.branch ? -1 : 1;
  return a->measure.period_s < b->measure.period_s ? -1 : a->measure.period_s > b->measure.period_s;
}

static void judge(const char *path, fuzz_result *result)
{
  static second s;
  memset(&s, 0, sizeof s);
  s.t.all = fuzz_load(path);
  (void)make_lists(&s.reference);
  if (fuzz_text_next(&s.t)) read_header(&s);
  int columns = 0;
  for (int c = 0; c < COLUMNS; c++)
    columns += s.at[c] >= 0;
  while (!s.t.wrong && fuzz_text_next(&s.t)) {
    if (fuzz_text_split(&s.t, s.separator, s.field) != columns) (void)reject(&s, "fields");
    if (!s.t.wrong) read_row(&s);
  }
  if (s.n == 0) (void)reject(&s, "nothing that is used");
  qsort(s.row, (size_t)s.n, sizeof *s.row, compare);
  for (int i = 0; i < s.n; i++) {
    if (i > 0 && compare(&s.row[i - 1], &s.row[i]) == 0) (void)reject(&s, "a datum twice");
    result->digest = hash_found(result->digest, &s.row[i]);
  }
  finish_digest(result, s.rows, s.unmatched, s.distant, s.without_sigma);
  if (s.t.wrong) fuzz_reject(result, "%s", s.t.wrong);
  tomo_reference_destroy(&s.reference);
  free(s.t.all.at);
}

/* ---- arguments of the command, with files of the fixed lists ---- */

static char station_file[200], event_file[200], earth_file[200];

static bool prepare(const char *scratch)
{
  fuzz_bytes b = {NULL, 0};
  (void)snprintf(station_file, sizeof station_file, "%s/stations.csv", scratch);
  (void)snprintf(event_file, sizeof event_file, "%s/events.csv", scratch);
  (void)snprintf(earth_file, sizeof earth_file, "%s/earth.txt", scratch);
  fuzz_print(&b, "network,station,latitude,longitude\n");
  for (int i = 0; i < STATIONS; i++) {
    const char *id = stations[i].id, *point = strchr(id, '.');
    fuzz_print(&b, "%.*s,%s,%g,%g\n", point ? (int)(point - id) : 0, id, point ? point + 1 : id,
               stations[i].latitude, stations[i].longitude);
  }
  fuzz_save(station_file, b);
  fuzz_splice(&b, 0, b.size, NULL, 0);
  fuzz_print(&b, "id,latitude,longitude,depth_km\n");
  for (int i = 0; i < EVENTS; i++)
    fuzz_print(&b, "%s,%g,%g,10\n", events[i].id, events[i].latitude, events[i].longitude);
  fuzz_save(event_file, b);
  fuzz_splice(&b, 0, b.size, earth, sizeof earth - 1);
  fuzz_save(earth_file, b);
  free(b.at);
  return true;
}

static void command(const char *path, const char *out, const char *argv[24])
{
  const char *const words[] = {
    "invert",   "--data",      path,       "--output",       out,          "--mesh",
    "2",        "--radial",    "2",        "--stations",     station_file, "--events",
    event_file, "--reference", earth_file, "--min-distance", "5",          "--max-distance",
    "179",      "--quiet",     NULL};
  memcpy(argv, words, sizeof words);
}

const fuzz_kind fuzz_measurements = {.name = "measurements",
                                     .batch = FUZZ_BATCH,
                                     .prepare = prepare,
                                     .make = make,
                                     .read = read_ours,
                                     .judge = judge,
                                     .command = command};
