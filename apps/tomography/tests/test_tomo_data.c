/* Tests of tables of measurements, good and bad, and of the sets that paths share. No
 * communication. */
#include "config.h"

#include "tests/osla_test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef HAVE_HDF5
#include "tests/lzf_filter.h"
#include <fcntl.h>
#endif

#include "apps/tomography/earth/tomo_reference.h"
#include "apps/tomography/earth/tomo_sphere.h"
#include "apps/tomography/readers/tomo_data.h"
#include "apps/tomography/tests/list_help.h"

static char path[64];

/* Lists of four stations and three events; two stations have equal codes, and one event has a
 * number as id. */
static const tomo_site stations[] = {{.latitude = 0, .longitude = 0, .id = "IU.AAA"},
                                     {.latitude = 10, .longitude = 40, .id = "IU.BBB"},
                                     {.latitude = -20, .longitude = 90, .id = "II.BBB"},
                                     {.latitude = 5, .longitude = 130, .id = "CCC"}};
static const tomo_site events[] = {{.latitude = 0, .longitude = 60, .id = "one"},
                                   {.latitude = 30, .longitude = 100, .id = "2"},
                                   {.latitude = 0, .longitude = 180, .id = "three, \"3\""}};
static const tomo_data_lists lists = {.stations = stations,
                                      .n_stations = 4,
                                      .events = events,
                                      .n_events = 3,
                                      .sigma_fraction = 0.05,
                                      .max_distance = 180.0};

static bool read_good(const char *content, const tomo_data_lists *of, tomo_data *data,
                      tomo_data_notes *notes)
{
  *data = (tomo_data){0};
  list_write(content, path);
  const bool read = OSLA_ASSERT_OK(tomo_data_read(path, NULL, of, data, notes));
  unlink(path);
  return read;
}

/* Asserts that the table is rejected with a message of the file's name and `expected`. */
static void refuse(const char *content, const char *expected)
{
  tomo_data data;
  tomo_data_notes notes;
  char text[600];
  list_write(content, path);
  const osla_err err = tomo_data_read(path, NULL, &lists, &data, &notes);
  CU_ASSERT(err == OSLA_ERR_IO || err == OSLA_ERR_ARG);
  snprintf(text, sizeof text, "%s%s", path, expected);
  OSLA_ASSERT_MSG(strcmp(osla_error_text(), text) == 0, "got \"%s\", not \"%s\"", osla_error_text(),
                  text);
  CU_ASSERT(data.path_id == NULL && data.n_paths == 0);
  unlink(path);
  tomo_data_free(&data);
}

static double distance_km(const tomo_site *a, const tomo_site *b)
{
  double u[3], v[3];
  tomo_unit_vector(a->latitude, a->longitude, u);
  tomo_unit_vector(b->latitude, b->longitude, v);
  return tomo_distance(u, v) * TOMO_EARTH_RADIUS_KM;
}

/* Reads tables with columns in another order and case, with quotes, comments and CR LF, and with
 * unsorted rows. */
static void test_delays(void)
{
  tomo_data d;
  tomo_data_notes notes;
  if (!read_good("\xef\xbb\xbf# delays\r\n"
                 "Period,DELAY_S,Station,Network,sigma,Event,branch,arc\r\n"
                 "50,-1.5,AAA,IU,0.5,one,0,minor\r\n"
                 "40, 2.5 ,AAA,,,one,,\r\n"
                 "# a comment\r\n"
                 "\r\n"
                 "40,1e1,BBB,II,2,\"three, \"\"3\"\"\",1,R2\r\n"
                 "50,3,CCC,,0.5,2,0,major\r\n"
                 "50,4,CCC,XX,0.5,2,0,R1",
                 &lists, &d, &notes))
    return;
  CU_ASSERT(notes.rows == 5 && notes.unmatched == 0 && notes.sigma_missing == 1);
  CU_ASSERT(d.n_measures == 3 && d.n_paths == 4 && d.first[4] == 5);
  CU_ASSERT(d.path_id[0] == 0 && d.path_id[1] == (4 + 3) * 2 && d.path_id[2] == (4 + 3) * 2 + 1 &&
            d.path_id[3] == (8 + 2) * 2 + 1);
  const tomo_set set = tomo_data_set(&d, 0);
  CU_ASSERT(set.count == 2 && set.measure[0] == 0 && set.measure[1] == 1);
  CU_ASSERT(d.measure[0].period_s == 40.0 && d.measure[1].period_s == 50.0);
  CU_ASSERT(d.measure[2].branch == 1);
  OSLA_ASSERT_CLOSE(set.sigma[0], 2.0, 1e-15);
  CU_ASSERT(set.sigma[1] == 0.5 && d.delay[0] == 2.5 && d.delay[1] == -1.5);
  CU_ASSERT(d.path_set[1] == d.path_set[2] && d.path_set[0] != d.path_set[1]);
  CU_ASSERT(d.delay[2] == 4.0 && d.delay[3] == 3.0 && d.delay[4] == 10.0);
  tomo_data_free(&d);
}

/* A positive velocity anomaly in percent becomes a negative delay; sigma may be in s or percent;
 * the column correction_s is subtracted. */
static void test_anomalies(void)
{
  const tomo_measure m = {TOMO_RAYLEIGH, TOMO_PHASE, 0, 100.0};
  const double km = distance_km(&events[0], &stations[0]);
  const double percent = 0.01 * km / tomo_measure_velocity(NULL, &m);
  const char *const rows[] = {"event,station,period_s,anomaly_percent,sigma,correction_s\n"
                              "one,IU.AAA,100,1.5,0.2,0.75\n",
                              "event,station,period_s,anomaly_percent,sigma_s,correction_s\n"
                              "one,IU.AAA,100,1.5,0.2,0.75\n",
                              "event,station,period_s,delay_s,sigma_percent\n"
                              "one,IU.AAA,100,1.5,0.2\n"};
  for (int i = 0; i < 3; i++) {
    tomo_data d;
    tomo_data_notes notes;
    if (!read_good(rows[i], &lists, &d, &notes)) return;
    OSLA_ASSERT_CLOSE(d.delay[0], i < 2 ? -1.5 * percent - 0.75 : 1.5, 1e-12 * percent);
    OSLA_ASSERT_CLOSE(d.set_sigma[0], i == 1 ? 0.2 : 0.2 * percent, 1e-12 * percent);
    tomo_data_free(&d);
  }
}

/* The two directions between two stations are one path. */
static void test_ambient_noise(void)
{
  tomo_data d;
  tomo_data_notes notes;
  refuse("station2,network2,station,network,period,delay,event\n"
         "AAA,IU,BBB,II,20,1,\n"
         "BBB,II,AAA,IU,25,2,\n"
         "BBB,II,AAA,IU,20,3,\n",
         ":4: the same datum as line 2 (rayleigh phase, branch 0, 20 s)");
  if (!read_good("station2,network2,station,network,period,delay,event\n"
                 "AAA,IU,BBB,II,20,1,\n"
                 "BBB,II,AAA,IU,25,2,\n"
                 ",,AAA,IU,25,3,one\n",
                 &lists, &d, &notes))
    return;
  CU_ASSERT(d.n_paths == 2 && d.path_id[0] == 0 && d.path_id[1] == ((3 + 0) * 4 + 2) * 2);
  CU_ASSERT(d.delay[0] == 3.0 && d.delay[1] == 1.0 && d.delay[2] == 2.0);
  tomo_data_free(&d);
}

/* Rows that name no entry of the lists are counted, and the first ten are listed with their lines.
 */
static void test_unmatched(void)
{
  tomo_data d;
  tomo_data_notes notes;
  tomo_data_lists near = lists;
  char text[2000] = "event,station,network,period,delay\none,AAA,IU,50,1\none,BBB,,50,1\n"
                    "four,AAA,IU,50,1\none,AAA,II,50,1\nthree,AAA,IU,50,1\n1,AAA,IU,50,1\n";
  for (int i = 0; i < 8; i++)
    strcat(text, "nobody,AAA,IU,50,1\n");
  strcat(text, "\"three, \"\"3\"\"\",CCC,,50,1\n2,AAA,IU,50,1\n");
  near.max_distance = 70.0;
  if (!read_good(text, &near, &d, &notes)) return;
  CU_ASSERT(d.n_paths == 2 && notes.rows == 16 && notes.distant == 1);
  CU_ASSERT(notes.unmatched == 13 && notes.listed == TOMO_NOTES_MAX);
  CU_ASSERT(notes.place[0] == 3 &&
            strcmp(notes.note[0], "station BBB is not unique in the list") == 0);
  CU_ASSERT(notes.place[1] == 4 && strcmp(notes.note[1], "event four is not on the list") == 0);
  CU_ASSERT(notes.place[2] == 5 && strcmp(notes.note[2], "station II.AAA is not on the list") == 0);
  CU_ASSERT(notes.place[9] == 12);
  tomo_data_free(&d);
}

static void test_bad_tables(void)
{
  refuse("", ": no measurement in this file");
  refuse("event,station,period,delay\n", ": no measurement in this file");
  refuse("event,station,delay\n", ":1: column period_s is missing");
  refuse("event,period,delay\n", ":1: column station is missing");
  refuse("station,period,delay\n", ":1: column event, or station2, is missing");
  refuse("event,station,period\n", ":1: column delay_s, or anomaly_percent, is missing");
  refuse("event,station,period,delay,Weight\n",
         ":1: column Weight is not known (event, station, network, station2, network2, period_s, "
         "branch, wave, observable, delay_s, anomaly_percent, sigma, arc, correction_s)");
  refuse("event,station,period,delay_ms\n",
         ":1: column delay_ms: unit \"ms\" is not known, it is s");
  refuse("event,station,period_Hz,delay\n",
         ":1: column period_Hz: unit \"Hz\" is not known, it is s");
  refuse("event,station,period,anomaly\n",
         ":1: column anomaly: unit \"\" is not known, it is percent");
  refuse("event,station,period,delay,Delay_S\n", ":1: column Delay_S: repeats delay");
  refuse("event,station,period,delay,anomaly_percent\n",
         ":1: column anomaly_percent: given together with delay; give one of them");
  refuse("event,station,,period,delay\n", ":1: column without a name");
}

/* Tables with one good row and then a bad one, which must be rejected. */
static void test_bad_rows(void)
{
  static const struct {
    const char *row, *expected;
  } bad[] = {
    {"one,AAA,0,1,1,0,,,,", "period_s: 0 is not positive"},
    {"one,AAA,-3,1,1,0,,,,", "period_s: -3 is not positive"},
    {"one,AAA,20000,1,1,0,,,,", "period_s: 20000 is more than 10000"},
    {"one,AAA,nan,1,1,0,,,,", "period_s: nan is not finite"},
    {"one,AAA,,1,1,0,,,,", "period_s: is empty"},
    {"one,AAA,5x,1,1,0,,,,", "period_s: \"5x\" is not a number"},
    {"one,AAA,0x10,1,1,0,,,,", "period_s: \"0x10\" is not a number"},
    {"one,AAA,50,,1,0,,,,", "delay_s: is empty"},
    {"one,AAA,50,NaN,1,0,,,,", "delay_s: nan is not finite"},
    {"one,AAA,50,1e999,1,0,,,,", "delay_s: inf is not finite"},
    {"one,AAA,50,1,0,0,,,,", "sigma: 0 is not positive"},
    {"one,AAA,50,1,-1,0,,,,", "sigma: -1 is not positive"},
    {"one,AAA,50,1,inf,0,,,,", "sigma: inf is not finite"},
    {"one,AAA,50,1,1,-1,,,,",
     "branch: -1 is not a whole number from 0 (the fundamental mode) to 100"},
    {"one,AAA,50,1,1,0.5,,,,",
     "branch: 0.5 is not a whole number from 0 (the fundamental mode) to 100"},
    {"one,AAA,50,1,1,0,P,,,", "wave: \"P\" is neither rayleigh nor love"},
    {"one,AAA,50,1,1,0,,speed,,", "observable: \"speed\" is neither phase nor group"},
    {"one,AAA,50,1,1,0,,,R3,", "arc: \"R3\" is none of minor, major, R1, R2, G1, G2"},
    {"one,AAA,50,1,1,0,R,,G1,", "arc: \"G1\" is not of a rayleigh wave"},
    {"one,AAA,50,1,1,0,,,,nan", "correction_s: nan is not finite"},
    {"one,,50,1,1,0,,,,", "station: is empty"},
    {",AAA,50,1,1,0,,,,", "event: is empty: the path has no source"},
    {"one,AAA,50,1,1,0,L,,,",
     "period_s: love phase, branch 0, 50 s: the stand-in formulas cover only phase delays "
     "of Rayleigh waves; give a --reference table"},
    {"one,AAA,50,1,1,0,,group,,",
     "period_s: rayleigh group, branch 0, 50 s: the stand-in formulas cover only phase delays "
     "of Rayleigh waves; give a --reference table"},
  };
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    char text[400], expected[400];
    snprintf(text, sizeof text,
             "event,station,period_s,delay_s,sigma,branch,wave,observable,arc,correction_s\n"
             "one,AAA,30,1,1,0,,,,\n\n%s\n",
             bad[i].row);
    snprintf(expected, sizeof expected, ":4: column %s", bad[i].expected);
    refuse(text, expected);
  }
  refuse("event,station,period,delay\none,AAA,30\n", ":2: 3 fields, but the header has 4");
  refuse("event,station,period,delay\none,AAA,30,1\ntwo,AAA,30,1\none,IU.AAA,40,1\none,AAA,30,2\n",
         ":5: the same datum as line 2 (rayleigh phase, branch 0, 30 s)");
  refuse("event,station,period,delay\nx,AAA,30,1\nx,AAA,40,1\n",
         ": none of 2 measurements can be used; the first, line 2: event x is not on the list");
}

/* A table of 200000 rows gives the correct numbers of paths, measures and sets in less than
 * quadratic time. Paths are then selected from it. */
static void test_many(void)
{
  enum { SITES = 300, ROWS = 200000 };
  tomo_site *many = calloc(SITES, sizeof *many);
  char *text = malloc((size_t)ROWS * 40 + 100), *at = text;
  tomo_data d;
  tomo_data_notes notes;
  for (int i = 0; i < SITES; i++) {
    many[i] = (tomo_site){.latitude = -80.0 + i * 0.5, .longitude = i * 1.1};
    snprintf(many[i].id, sizeof many[i].id, "X%d.S%d", i % 3, i);
  }
  tomo_data_lists of = lists;
  of.stations = of.events = many;
  of.n_stations = of.n_events = SITES;
  at += sprintf(at, "event,station,period,delay,sigma\n");
  for (int i = 0; i < ROWS; i++) {
    const int pair = i % (SITES * (SITES - 1)), event = pair % SITES;
    const int station = (event + 1 + pair / SITES) % SITES;
    at += sprintf(at, "X%d.S%d,S%d,%d,%d,%d\n", event % 3, event, station,
                  30 + i / (SITES * (SITES - 1)), i, 1 + station % 2);
  }
  if (read_good(text, &of, &d, &notes)) {
    CU_ASSERT(notes.unmatched == 0 && d.n_measures == 3 && d.n_paths == SITES * (SITES - 1));
    CU_ASSERT(d.n_sets == 4 && d.first[d.n_paths] == ROWS && tomo_data_max_count(&d) == 3);
    int64_t wrong = 0;
    for (int64_t p = 0; p < d.n_paths; p++) {
      const int64_t event = d.path_id[p] / 2 / SITES, station = d.path_id[p] / 2 % SITES;
      const tomo_set set = tomo_data_set(&d, p);
      for (int i = 0; i < set.count; i++) {
        const int64_t row = ((station - event - 1 + SITES) % SITES) * SITES + event +
                            set.measure[i] * (int64_t)(SITES * (SITES - 1));
        wrong += (int64_t)d.delay[d.first[p] + i] != row;
        wrong += (int)set.sigma[i] != 1 + station % 2;
      }
    }
    CU_ASSERT(wrong == 0);
    const int64_t kept[2] = {d.path_id[7], d.path_id[d.n_paths - 1]};
    const double first = d.delay[d.first[7]], last = d.delay[d.first[d.n_paths - 1]];
    tomo_data_keep_paths(&d, kept, 2);
    CU_ASSERT(d.n_paths == 2 && d.path_id[1] == kept[1]);
    CU_ASSERT(d.delay[d.first[0]] == first && d.delay[d.first[1]] == last);
    tomo_data_free(&d);
  }
  free(text);
  free(many);
}

#ifdef HAVE_HDF5

static const char *filtered = ""; /* name of the data set that is stored with lzf_filter.h */

static void put(hid_t file, const char *name, hid_t type, hsize_t count, const void *values)
{
  hid_t space = H5Screate_simple(1, &count, NULL), create = H5Pcreate(H5P_DATASET_CREATE);
  const bool filter = strcmp(name, filtered) == 0;
  if (filter) CU_ASSERT(H5Pset_chunk(create, 1, &count) >= 0 && lzf_begin(create));
  hid_t set = H5Dcreate2(file, name, type, space, H5P_DEFAULT, create, H5P_DEFAULT);
  CU_ASSERT(set >= 0 && H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
  H5Dclose(set);
  H5Pclose(create);
  H5Sclose(space);
  if (filter) CU_ASSERT(lzf_end());
}

static const char *third = "three, \"3\""; /* id of the event of the third row */

/* Writes an HDF5 table with three rows; `sigma` is the deviation of the third row. The data set
 * named `extra` gets one element too many. */
static void write_hdf5(double sigma, const char *extra)
{
  hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  hid_t variable = H5Tcopy(H5T_C_S1), fixed = H5Tcopy(H5T_C_S1);
  const char *const event[3] = {"one", "2", third};
  /* the strings fill their six bytes, so no byte is left for a final zero */
  const char station[3][6] = {"IU.AAA", "IU.AAA", "II.BBB"};
  const int period[4] = {50, 50, 60, 70};
  const double delay[3] = {1.0, 2.0, 3.0}, deviation[3] = {0.5, 0.5, sigma};
  H5Tset_size(variable, H5T_VARIABLE);
  H5Tset_size(fixed, 6);
  H5Tset_strpad(fixed, H5T_STR_NULLPAD);
  put(file, "event", variable, 3, event);
  put(file, "station", fixed, 3, station);
  put(file, "period_s", H5T_NATIVE_INT, 3, period);
  put(file, "delay_s", H5T_NATIVE_DOUBLE, 3, delay);
  put(file, "sigma", H5T_NATIVE_DOUBLE, 3, deviation);
  if (extra) put(file, extra, H5T_NATIVE_INT, 4, period);
  H5Tclose(variable);
  H5Tclose(fixed);
  H5Fclose(file);
}

static void refuse_hdf5(const char *expected)
{
  tomo_data d;
  tomo_data_notes notes;
  OSLA_ASSERT_ERR(tomo_data_read(path, NULL, &lists, &d, &notes),
                  filtered[0] ? OSLA_ERR_UNSUPPORTED : OSLA_ERR_IO);
  OSLA_ASSERT_MSG(strstr(osla_error_text(), expected) != NULL, "got \"%s\", not \"%s\"",
                  osla_error_text(), expected);
}

static void test_hdf5(void)
{
  tomo_data d;
  tomo_data_notes notes;
  list_write("", path);
  write_hdf5(0.25, NULL);
  if (OSLA_ASSERT_OK(tomo_data_read(path, NULL, &lists, &d, &notes))) {
    CU_ASSERT(notes.rows == 3 && d.n_paths == 3 && d.n_measures == 2 && d.n_sets == 2);
    CU_ASSERT(d.delay[0] == 1.0 && d.delay[1] == 2.0 && d.delay[2] == 3.0);
    CU_ASSERT(d.path_id[2] == (8 + 2) * 2 && d.set_sigma[1] == 0.25);
    tomo_data_free(&d);
  }
  write_hdf5(-0.25, NULL);
  refuse_hdf5(": sigma[2]: -0.25 is not positive");
  write_hdf5(NAN, NULL);
  refuse_hdf5(": sigma[2]: nan is not finite");
  write_hdf5(1.0, "branch");
  refuse_hdf5(": data set delay_s has 3 elements, and branch 4");
  write_hdf5(1.0, "colour");
  refuse_hdf5(": data set colour is not known");
  char longest[513] = "";
  memset(longest, 'x', sizeof longest - 1);
  third = longest;
  write_hdf5(1.0, NULL);
  refuse_hdf5(": event[2]: a text of 512 bytes or more");
  third = "three, \"3\"";
  write_hdf5(1.0, "delay_ms");
  refuse_hdf5(": data set delay_ms: unit \"ms\" is not known, it is s");
  filtered = "delay_s";
  write_hdf5(1.0, NULL);
  refuse_hdf5(": delay_s: is stored with filter 'lzf' (32000), which this HDF5 library lacks");
  filtered = "";
  OSLA_ASSERT_MSG(truncate(path, 900) == 0, "truncated");
  refuse_hdf5(": HDF5 cannot open this file");
  unlink(path);
}

/* Damages the heap in which HDF5 stores texts: sets the byte at this offset from the heap's
 * signature to 255, so that a size becomes huge. */
static void spoil_heap(int64_t byte)
{
  char bytes[16384];
  int fd = open(path, O_RDWR);
  const ssize_t size = read(fd, bytes, sizeof bytes);
  const char *heap = size > 0 ? memmem(bytes, (size_t)size, "GCOL", 4) : NULL;
  CU_ASSERT(heap && pwrite(fd, "\xff", 1, heap - bytes + byte) == 1);
  close(fd);
}

/* Reading damaged files on which HDF5 1.10.8 crashes returns an ordinary error. */
static void test_damaged_hdf5(void)
{
  /* offsets of the highest byte of the heap's size and of the first text's size */
  static const int64_t highest_byte[] = {15, 31};
  list_write("", path);
  for (int i = 0; i < 2; i++) {
    write_hdf5(0.25, NULL);
    spoil_heap(highest_byte[i]);
    refuse_hdf5(path);
  }
  unlink(path);
}

#else

static void test_damaged_hdf5(void)
{
  CU_ASSERT(true);
}

static void test_hdf5(void)
{
  CU_ASSERT(true);
  printf("skipped: this build has no HDF5\n");
}

#endif

static const osla_test_case cases[] = {{"delays", test_delays},
                                       {"anomalies", test_anomalies},
                                       {"ambient noise", test_ambient_noise},
                                       {"unmatched", test_unmatched},
                                       {"bad tables", test_bad_tables},
                                       {"bad rows", test_bad_rows},
                                       {"many", test_many},
                                       {"hdf5", test_hdf5},
                                       {"damaged hdf5", test_damaged_hdf5},
                                       {NULL, NULL}};
OSLA_TEST_SUITE(test_tomo_data, cases);
