/* Stations, events, NDK and FDSN text: makes correct and damaged files, and calls the readers. */
#include "tests/fuzz/fuzz.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apps/tomography/tests/list_read.h"

static void code(fuzz_random *random, char text[8])
{
  int n = 2 + (int)fuzz_below(random, 4);
  for (int i = 0; i < n; i++)
    text[i] = (char)('A' + fuzz_below(random, 26));
  text[n] = '\0';
}

static void set_separator(fuzz_bytes *b, char separator)
{
  for (char *c = b->at; *c; c++)
    if (*c == ',') *c = separator;
}

static void make_stations(fuzz_random *random, fuzz_bytes *b, int64_t rows)
{
  char network[8], station[8];
  bool csv = fuzz_one_in(random, 2), swapped = fuzz_one_in(random, 2);
  if (fuzz_one_in(random, 4)) fuzz_print(b, "# stations\n\n");
  if (csv)
    fuzz_print(b,
               swapped ? "place,Longitude,lat,sta,NET\n" : "network,station,latitude,longitude\n");
  for (int64_t i = 0; i < rows; i++) {
    double latitude = fuzz_between(random, -90, 90), longitude = fuzz_between(random, -180, 360);
    code(random, network);
    code(random, station);
    if (csv && swapped)
      fuzz_print(b, "\"a \"\"place\"\", near\",%.4f, %.3f ,\"%s\",%s\n", longitude, latitude,
                 station, network);
    else if (csv)
      fuzz_print(b, "%s,%s,%.4f,%.4f\n", network, station, latitude, longitude);
    else
      fuzz_print(b, "%-6s %-4s %9.4f %10.4f %7.1f %5.1f%s\n", station, network, latitude, longitude,
                 fuzz_between(random, -5000, 5000), fuzz_between(random, 0, 100),
                 swapped ? " Albuquerque, New Mexico" : "");
  }
  if (csv && !swapped) set_separator(b, ",;\t|"[fuzz_below(random, 4)]);
}

static void make_fdsn(fuzz_random *random, fuzz_bytes *b, int64_t rows)
{
  static const char *const header[] = {
    "#Network | Station | Latitude | Longitude | Elevation | SiteName | StartTime | EndTime\n",
    "#Network|Station|Location|Channel|Latitude|Longitude|Elevation|Depth|Azimuth|Dip|"
    "SensorDescription|Scale|ScaleFreq|ScaleUnits|SampleRate|StartTime|EndTime\n"};
  bool channels = fuzz_one_in(random, 2);
  char network[8], station[8];
  fuzz_print(b, "%s", header[channels]);
  for (int64_t i = 0; i < rows; i++) {
    double latitude = fuzz_between(random, -90, 90), longitude = fuzz_between(random, -180, 180);
    code(random, network);
    code(random, station);
    for (int64_t epoch = fuzz_below(random, 3); epoch >= 0; epoch--)
      if (channels)
        fuzz_print(b,
                   "%s|%s|00|BH%c|%.5f|%.5f|%.1f|0.0|0.0|-90.0|STS-2|6.0E8|1.0|M/S|20.0|"
                   "2010-01-01T00:00:00|\n",
                   network, station, "ZNE"[epoch], latitude, longitude,
                   fuzz_between(random, 0, 5000));
      else
        fuzz_print(b, "%s|%s|%.4f|%.4f|%.1f|A site, \"here\"|200%d-09-19T00:00:00|\n", network,
                   station, latitude, longitude, fuzz_between(random, 0, 5000), (int)epoch);
  }
}

/* Makes a table of events with the time in several columns; rows may lack the last parts. */
static void make_times(fuzz_random *random, fuzz_bytes *b, int64_t rows)
{
  static const char *const header[] = {"year,month,day,hour,minute,second",
                                       "Year,Mo,Dy,Hr,Mn,Sec",
                                       "date,hour,min,sec",
                                       "date,time",
                                       "year,mon,day,time",
                                       "time"};
  const int form = (int)fuzz_below(random, 6);
  fuzz_print(b, "event_id,%s,lat,lon,Focal Depth (km)\n", header[form]);
  for (int64_t i = 0; i < rows; i++) {
    const int year = 1900 + (int)fuzz_below(random, 130), month = 1 + (int)fuzz_below(random, 12);
    const int day = 1 + (int)fuzz_below(random, 28), hour = (int)fuzz_below(random, 24);
    const int minute = (int)fuzz_below(random, 60), second = (int)fuzz_below(random, 60);
    const int given = form < 2 && fuzz_one_in(random, 3) ? (int)fuzz_below(random, 7) : 6;
    const int part[6] = {fuzz_one_in(random, 8) ? -year : year, month, day, hour, minute, second};
    fuzz_print(b, "e%d,", (int)i);
    if (form < 2)
      for (int k = 0; k < 6; k++)
        k < given ? fuzz_print(b, k < 5 ? "%d," : "%d.25,", part[k]) : fuzz_print(b, ",");
    else
      fuzz_print(b,
                 form == 5   ? "%d-%02d-%02dT"
                 : form == 4 ? "%d,%02d,%02d,"
                             : "%d-%02d-%02d,",
                 year, month, day);
    if (form == 2)
      fuzz_print(b, "%d,%d,%d.5,", hour, minute, second);
    else if (form > 2)
      fuzz_print(b, "%02d:%02d:%02d.75,", hour, minute, second);
    fuzz_print(b, "%.3f,%.3f,%.1f\n", fuzz_between(random, -90, 90),
               fuzz_between(random, -180, 180), fuzz_between(random, 0, 700));
  }
}

static void make_events(fuzz_random *random, fuzz_bytes *b, int64_t rows)
{
  bool long_form = fuzz_one_in(random, 2);
  if (fuzz_one_in(random, 2)) {
    make_times(random, b, rows);
    return;
  }
  fuzz_print(b, long_form ? "time,latitude,longitude,depth,mag,place\n" : "Depth_km, lon ,lat\n");
  for (int64_t i = 0; i < rows; i++) {
    double latitude = fuzz_between(random, -90, 90), longitude = fuzz_between(random, -180, 360);
    double depth = fuzz_between(random, -10, 800);
    if (long_form)
      fuzz_print(b, "2018-01-31T02:00:31.800Z,%.4f,%.4f,%.2f,%.1f,\"50km NNW of X, Y\"\n", latitude,
                 longitude, depth, fuzz_between(random, 3, 9));
    else if (rows > 1 && fuzz_one_in(random, 8))
      fuzz_print(b, i == 0 ? "nan,%.3f,%.3f\n" : ",NaN,%.3f\n", latitude, latitude);
    else
      fuzz_print(b, "%.3f,%.3f,%.3f\n", depth, longitude, latitude);
  }
}

/* Appends FDSN text, or the ISC's catalogue with varying numbers of magnitudes. */
static void put_service(fuzz_random *random, fuzz_bytes *b, int64_t rows, bool isc, bool page)
{
  if (isc && page) fuzz_print(b, "DATA_TYPE EVENT_CATALOGUE\nISC Bulletin\n--EVENT--|---...\n");
  fuzz_print(
    b, isc ? "  EVENTID,TYPE,AUTHOR   ,DATE      ,TIME       ,LAT     ,LON      ,DEPTH,DEPFIX,"
             "AUTHOR   ,TYPE  ,MAG \n"
           : "#EventID | Time | Latitude | Longitude | Depth/km | MagType | Magnitude\n");
  for (int64_t i = 0; i < rows; i++) {
    double latitude = fuzz_between(random, -90, 90), longitude = fuzz_between(random, -180, 180);
    double depth = fuzz_between(random, 0, 700);
    if (!isc) {
      fuzz_print(b, "a%d|2012-04-11T08:38:37|%.4f|%.4f|", (int)i, latitude, longitude);
      if (fuzz_one_in(random, 2)) fuzz_print(b, "%.1f", depth);
      fuzz_print(b, "|mb|");
      if (fuzz_one_in(random, 2)) fuzz_print(b, "%.1f", fuzz_between(random, 3, 9));
      fuzz_print(b, "\n");
      continue;
    }
    fuzz_print(b, "%9d,ke,ISC      ,1990-01-01,14:49:00.39,%8.4f,%9.4f,", (int)i, latitude,
               longitude);
    if (fuzz_one_in(random, 2)) fuzz_print(b, "%5.1f", depth);
    fuzz_print(b, ",TRUE  ");
    for (int64_t n = fuzz_below(random, 4); n > 0; n--) {
      fuzz_print(b, ",BJI      ,mb    ,");
      if (fuzz_one_in(random, 2)) fuzz_print(b, "%4.1f", fuzz_between(random, 3, 9));
    }
    fuzz_print(b, "\n");
  }
  if (isc && page) fuzz_print(b, "\nSTOP\n");
}

/* Makes a file of an event service with one list of events, or sometimes with a second list. */
static void make_services(fuzz_random *random, fuzz_bytes *b, int64_t rows)
{
  const bool isc = fuzz_one_in(random, 2), page = fuzz_one_in(random, 2);
  put_service(random, b, rows, isc, page);
  if ((page || !isc) && fuzz_one_in(random, 4)) put_service(random, b, rows, isc, page);
}

static void make_ndk(fuzz_random *random, fuzz_bytes *b, int64_t rows)
{
  for (int64_t i = 0; i < rows; i++) {
    double latitude = fuzz_between(random, -90, 90), longitude = fuzz_between(random, -180, 180);
    double depth = fuzz_between(random, 0, 700);
    fuzz_print(b, "%-4s 20%02d/%02d/%02d 01:20:05.4 %6.2f%8.2f%6.1f 5.0 0.0 %-24s\n",
               fuzz_one_in(random, 2) ? "PDE" : "SWEQ", (int)fuzz_below(random, 25),
               1 + (int)fuzz_below(random, 12), 1 + (int)fuzz_below(random, 28), latitude,
               longitude, depth, "SOUTH OF FIJI ISLANDS");
    fuzz_print(b,
               "C200501010120A   B:%3d    4  40 S: 27   33  50 M:  0    0   0 CMT: 1 TRIHD:%5.1f\n",
               (int)fuzz_below(random, 200), fuzz_between(random, 0.5, 20));
    fuzz_print(b, "CENTROID:%9.1f%4.1f%7.2f%5.2f%8.2f%5.2f%6.1f%5.1f %-4s S-20050322125201\n",
               fuzz_between(random, -9, 90), fuzz_between(random, 0, 99), latitude,
               fuzz_between(random, 0, 12), longitude, fuzz_between(random, 0, 12), depth,
               fuzz_between(random, 0, 30), fuzz_one_in(random, 2) ? "FREE" : "BDY");
    fuzz_print(b, "%2d", 22 + (int)fuzz_below(random, 8));
    for (int j = 0; j < 6; j++)
      fuzz_print(b, "%7.3f%6.3f", fuzz_between(random, -9, 9), fuzz_between(random, 0, 9));
    fuzz_print(b, "\nV10");
    for (int j = 0; j < 3; j++)
      fuzz_print(b, "%8.3f%3d%4d", fuzz_between(random, -99, 99), (int)fuzz_below(random, 90),
                 (int)fuzz_below(random, 360));
    fuzz_print(b, "%8.3f%4d%3d%5d%4d%3d%5d\n", fuzz_between(random, 1, 99), 9, 29, 142, 133, 72,
               66);
  }
}

typedef void maker(fuzz_random *random, fuzz_bytes *b, int64_t rows);

static bool make(maker *kind, uint64_t seed, const char *path)
{
  fuzz_random random = fuzz_begin(seed);
  fuzz_bytes b = {NULL, 0};
  bool damaged = !fuzz_one_in(&random, 12);
  kind(&random, &b, 1 + fuzz_below(&random, 5));
  for (int64_t n = damaged ? 1 + fuzz_below(&random, 3) : 0; n > 0; n--)
    fuzz_damage_text(&random, &b);
  fuzz_save(path, b);
  free(b.at);
  return damaged;
}

#define MAKE(kind)                                                                                 \
  static bool make_##kind##_file(uint64_t seed, const char *path)                                  \
  {                                                                                                \
    return make(make_##kind, seed, path);                                                          \
  }
MAKE(stations)
MAKE(fdsn)
MAKE(events)
MAKE(services)
MAKE(ndk)

typedef osla_err reader(const char *file, tomo_site **sites, int64_t *count);

static void read_sites(reader *read, bool events, const char *path, fuzz_result *result)
{
  tomo_site *sites = NULL;
  int64_t count = 0;
  if (read(path, &sites, &count) != OSLA_OK) {
    fuzz_reject(result, "%s", osla_error_text());
    if (sites || count) strcpy(result->text, "a list in spite of an error");
    return;
  }
  for (int64_t i = 0; i < count; i++) {
    const tomo_site *s = &sites[i];
    result->digest = fuzz_hash_site(result->digest, s->latitude, s->longitude, s->depth_km,
                                    s->magnitude, events ? s->time_s : NAN, events ? s->id : "");
    if (!memchr(s->name, '\0', sizeof s->name)) result->digest = 0;
  }
  free(sites);
  result->state = FUZZ_ACCEPTED;
}

void fuzz_read_stations(const char *path, fuzz_result *result)
{
  read_sites(list_read_stations, false, path, result);
}

void fuzz_read_events(const char *path, fuzz_result *result)
{
  read_sites(list_read_events, true, path, result);
}

static void invert(const char *path, const char *out, const char *option, const char *argv[24])
{
  const char *const words[] = {"invert", option,    path,       "--output", out,
                               "--mesh", "2",       "--radial", "2",        "--max-paths",
                               "20",     "--quiet", NULL};
  memcpy(argv, words, sizeof words);
}

void fuzz_command_stations(const char *path, const char *out, const char *argv[24])
{
  invert(path, out, "--stations", argv);
}

void fuzz_command_events(const char *path, const char *out, const char *argv[24])
{
  invert(path, out, "--events", argv);
}

const fuzz_kind fuzz_stations = {.name = "stations",
                                 .batch = FUZZ_BATCH,
                                 .make = make_stations_file,
                                 .read = fuzz_read_stations,
                                 .judge = fuzz_judge_stations,
                                 .command = fuzz_command_stations};
const fuzz_kind fuzz_fdsn = {.name = "fdsn",
                             .batch = FUZZ_BATCH,
                             .make = make_fdsn_file,
                             .read = fuzz_read_stations,
                             .judge = fuzz_judge_stations,
                             .command = fuzz_command_stations};
const fuzz_kind fuzz_events = {.name = "events",
                               .batch = FUZZ_BATCH,
                               .make = make_events_file,
                               .read = fuzz_read_events,
                               .judge = fuzz_judge_events,
                               .command = fuzz_command_events};
const fuzz_kind fuzz_services = {.name = "services",
                                 .batch = FUZZ_BATCH,
                                 .make = make_services_file,
                                 .read = fuzz_read_events,
                                 .judge = fuzz_judge_events,
                                 .command = fuzz_command_events};
const fuzz_kind fuzz_ndk = {.name = "ndk",
                            .batch = FUZZ_BATCH,
                            .make = make_ndk_file,
                            .read = fuzz_read_events,
                            .judge = fuzz_judge_events,
                            .command = fuzz_command_events};
