/* Tests of station and event lists, good and bad. No communication. */
#include "tests/osla_test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "apps/tomography/tests/list_help.h"

static void test_stations(void)
{
  tomo_site *s;
  int64_t n = list_read(list_read_stations,
                        "\xef\xbb\xbf# list\r\n\r\nAAE   IU    9.0292    38.7656 2442.0    0.0\r\n"
                        "  SPA IU -90 360\n",
                        &s);
  CU_ASSERT(n == 2);
  if (n == 2) {
    CU_ASSERT(strcmp(s[0].name, "IU.AAE") == 0 && strcmp(s[1].name, "IU.SPA") == 0);
    CU_ASSERT(s[0].latitude == 9.0292 && s[0].longitude == 38.7656 && s[0].depth_km == 0.0);
    CU_ASSERT(s[1].latitude == -90.0 && s[1].longitude == 360.0);
  }
  free(s);
  n = list_read(list_read_stations,
                "Network,\"Station\",place,LONGITUDE,Latitude\n"
                "II, AAK ,\"Ala Archa, \"\"Kyrgyzstan\"\"\",74.5,42.6",
                &s);
  CU_ASSERT(n == 1);
  if (n == 1) {
    CU_ASSERT(strcmp(s[0].name, "II.AAK") == 0);
    CU_ASSERT(s[0].latitude == 42.6 && s[0].longitude == 74.5 && isnan(s[0].magnitude));
    CU_ASSERT(strcmp(s[0].id, "II.AAK") == 0);
  }
  free(s);
  n = list_read(list_read_stations, "lat,lon\n1,2\n3,4\n", &s);
  CU_ASSERT(n == 2 && s[0].name[0] == '\0');
  free(s);
}

static void test_bad_stations(void)
{
  char overlong[TOMO_LINE_MAX + 10];
  list_reader *read = list_read_stations;
  list_refuse(read, "", ": no station in this file");
  list_refuse(read, "# nothing\n\n", ": no station in this file");
  list_refuse(read, "latitude,longitude\n", ": no station in this file");
  list_refuse(read, "A IU 95.2 0 0 0\n", ":1: latitude 95.2 is outside -90 to 90");
  list_refuse(read, "A IU 5 0 0 0\nB IU 5 -180.5\n", ":2: longitude -180.5 is outside -180 to 360");
  list_refuse(read, "A IU 5\n",
              ":1: 3 columns; station, network, latitude and longitude are needed");
  list_refuse(read, "#\n\nA IU 5x 4\n", ":3: latitude \"5x\" is not a number");
  list_refuse(read, "latitude,longitude\n\v5,4\n", ":2: latitude \"?5\" is not a number");
  list_refuse(read, "A IU nan 4\n", ":1: latitude nan is not finite");
  list_refuse(read, "A IU 0x5 4\n", ":1: latitude \"0x5\" is not a number");
  list_refuse(read, "A IU 5 1e999\n", ":1: longitude 1e999 is not finite");
  list_refuse(read, "A IU 5 4 high\n", ":1: elevation \"high\" is not a number");
  list_refuse(read, "a,b,c\n1,2,3\n", ":1: the header has no column latitude");
  list_refuse(read, "latitude,longitude,Lat\n",
              ":1: the header has two columns for latitude: latitude and Lat");
  list_refuse(read, "latitude,longitude\n1,2,3\n", ":2: 3 fields, but the header has 2");
  list_refuse(read, "latitude,longitude\n1,\n", ":2: longitude is empty");
  list_refuse(read, "latitude,longitude\n\"1,2\n", ":2: a quote is not closed");
  list_refuse(read, "latitude,longitude\n\"1\"x,2\n", ":2: 'x' follows a closing quote");
  list_refuse_bytes(read, "A IU 5\0 4\n", 10, ":1: the line contains a zero byte; is this text?");
  list_refuse_bytes(read, "A IU 5 4\rB IU 6 4\r", 18,
                    ":1: the line ends in CR alone, as on old Macs; lines must end in LF or CR LF");
  memset(overlong, 'x', sizeof overlong);
  list_refuse_bytes(read, overlong, sizeof overlong, ":1: the line is longer than 4095 bytes");
}

static void test_files(void)
{
  tomo_site *sites = NULL;
  int64_t count;
  char name[300] = "/tmp/";
  OSLA_ASSERT_ERR(list_read_stations("/tmp/osla-absent", &sites, &count), OSLA_ERR_IO);
  CU_ASSERT(strcmp(osla_error_text(), "/tmp/osla-absent: No such file or directory") == 0);
  OSLA_ASSERT_ERR(list_read_events("/tmp", &sites, &count), OSLA_ERR_IO);
  CU_ASSERT(strcmp(osla_error_text(), "/tmp: Is a directory") == 0);
  memset(name + 5, 'n', sizeof name - 6);
  name[sizeof name - 1] = '\0';
  OSLA_ASSERT_ERR(list_read_events(name, &sites, &count), OSLA_ERR_IO);
}

static const char *const ndk_event =
  "PDE  2005/01/01 01:20:05.4  13.78  -88.78 193.1 5.0 0.0 EL SALVADOR             \n"
  "C200501010120A   B:  4    4  40 S: 27   33  50 M:  0    0   0 CMT: 1 TRIHD:  0.6\n"
  "CENTROID:     -0.3 0.9  13.76 0.06  -89.08 0.09 162.8 12.5 FREE S-20050322125201\n"
  "23  0.838 0.201 -0.005 0.231 -0.833 0.270  1.050 0.121 -0.369 0.161  0.044 0.240\n"
  "V10   1.581 56  12  -0.537 23 140  -1.044 24 241   1.312   9 29  142 133 72   66\n";

static void test_events(void)
{
  tomo_site *s;
  char two[1024];
  int64_t n = list_read(list_read_events,
                        "time,latitude,longitude,depth,mag,place\n"
                        "2018-01-31T02:00:31.800Z,-7.8628,118.7906,15.18,5.3,\"50km NNW of X, Y\"\n"
                        ",1,2,-1.5,,a very long name of a place that does not fit\n",
                        &s);
  CU_ASSERT(n == 2);
  if (n == 2) {
    CU_ASSERT(s[0].latitude == -7.8628 && s[0].longitude == 118.7906 && s[0].depth_km == 15.18);
    CU_ASSERT(s[0].magnitude == 5.3 && strcmp(s[0].name, "50km NNW of X, Y") == 0);
    CU_ASSERT(isnan(s[1].magnitude) && strlen(s[1].name) == TOMO_NAME_MAX - 1);
    OSLA_ASSERT_CLOSE(s[0].time_s, 1517364031.8, 1e-5);
    CU_ASSERT(isnan(s[1].time_s));
  }
  free(s);
  snprintf(two, sizeof two, "%s%s", ndk_event, ndk_event);
  n = list_read(list_read_events, two, &s);
  CU_ASSERT(n == 2);
  if (n == 2) {
    CU_ASSERT(s[1].latitude == 13.76 && s[1].longitude == -89.08 && s[1].depth_km == 162.8);
    OSLA_ASSERT_CLOSE(s[1].magnitude, 2.0 / 3.0 * (23.0 + log10(1.312)) - 10.7, 1e-12);
    /* the time of the centroid, not that of line 1 */
    OSLA_ASSERT_CLOSE(s[1].time_s, 1104542405.4 - 0.3, 1e-5);
    CU_ASSERT(strcmp(s[1].name, "EL SALVADOR") == 0 && strcmp(s[1].id, "C200501010120A") == 0);
  }
  free(s);
}

/* An event without coordinates is excluded; an event without a depth is at 0 km. */
static void test_incomplete_events(void)
{
  tomo_site *s;
  int64_t n = list_read(list_read_events,
                        "lat,lon,depth,mag,id\n1,2,,,a\n,3,10,5,b\n4, ,10,5,c\n5,6,7,8,d\n", &s);
  CU_ASSERT(n == 2);
  if (n == 2) {
    CU_ASSERT(strcmp(s[0].id, "a") == 0 && s[0].depth_km == 0.0 && isnan(s[0].magnitude));
    CU_ASSERT(strcmp(s[1].id, "d") == 0 && s[1].depth_km == 7.0 && s[1].magnitude == 8.0);
  }
  free(s);
  n = list_read(list_read_events, "latitude,longitude\n1,2\n", &s);
  CU_ASSERT(n == 1 && s[0].depth_km == 0.0);
  free(s);
}

/* Ids are read unchanged; an id that is too long is dropped. */
static void test_ids(void)
{
  tomo_site *s;
  char text[400], most[TOMO_ID_MAX] = "";
  memset(most, 'x', sizeof most - 1);
  snprintf(text, sizeof text,
           "lat,lon,depth,Event_ID\n1,2,3, \"us 2018,a\" \n1,2,3,%s\n1,2,3,%sy\n1,2,3,\n", most,
           most);
  int64_t n = list_read(list_read_events, text, &s);
  CU_ASSERT(n == 4);
  if (n == 4) {
    CU_ASSERT(strcmp(s[0].id, "us 2018,a") == 0 && strcmp(s[1].id, most) == 0);
    CU_ASSERT(s[2].id[0] == '\0' && s[3].id[0] == '\0');
  }
  free(s);
  snprintf(text, sizeof text, "lat,lon,sta,net\n1,2,ANMO,\n1,2,%s,IU\n1,2,%s,\n", most, most);
  n = list_read(list_read_stations, text, &s);
  CU_ASSERT(n == 3);
  if (n == 3)
    CU_ASSERT(strcmp(s[0].id, "ANMO") == 0 && s[1].id[0] == '\0' && strcmp(s[2].id, most) == 0);
  free(s);
}

static void test_bad_events(void)
{
  char text[1024];
  list_reader *read = list_read_events;
  list_refuse(read, "\n", ": no event in this file");
  list_refuse(read, "latitude,depth\n1,2\n", ":1: the header has no column longitude");
  list_refuse(read, "latitude,longitude,depth,depth_km\n",
              ":1: the header has two columns for depth_km: depth and depth_km");
  list_refuse(read, "latitude,longitude,depth_km\n1,2,801\n",
              ":2: depth 801 is outside -10 to 800");
  list_refuse(read, "latitude,longitude,depth_km\n1,2,inf\n", ":2: depth inf is not finite");
  list_refuse(read, "latitude,longitude,depth_km,mag\n1,2,3,big\n",
              ":2: magnitude \"big\" is not a number");
  list_refuse(read, "latitude,longitude,depth_km\n,2,3\n1,,3\n",
              ":2: the event has no latitude; none of 2 events has a place");
  list_refuse(read, "latitude,longitude,depth_km\n1,2,3\n,2x,3\n",
              ":3: longitude \"2x\" is not a number");
  list_refuse(read, "latitude,longitude,depth_km,mag,mag\n",
              ":1: the header has two columns for mag: mag and mag");
  snprintf(text, sizeof text, "%s%.243s", ndk_event, ndk_event);
  list_refuse(read, text, ":6: the file ends after 3 of the 5 lines of an NDK event");
  snprintf(text, sizeof text, "%sgarbage\n", ndk_event);
  list_refuse(
    read, text,
    ":6: columns 6-15 of line 1 of an NDK event are \"ge\", and have the form \"0000/00/00\"");
}

/* Returns the text of the NDK event with `from` replaced by `to`. */
static void change(char text[512], const char *from, const char *to)
{
  const char *at = strstr(ndk_event, from);
  (void)snprintf(text, 512, "%.*s%s%s", (int)(at - ndk_event), ndk_event, to, at + strlen(from));
}

static void refuse_ndk(const char *from, const char *to, const char *expected)
{
  char text[512];
  change(text, from, to);
  list_refuse(list_read_events, text, expected);
}

/* Fields in fixed columns may touch; missing or shifted fields are rejected. */
static void test_ndk_columns(void)
{
  char text[512];
  tomo_site *s;
  change(text, " -0.3 0.9  13.76 0.06  -89.08 0.09 162.8 12.5",
         " -0.399.9 -13.7610.06-1179.0811.09 162.8112.5");
  list_refuse(list_read_events, text,
              ":3: columns 35-42, longitude -1179.08 is outside -180 to 360");
  change(text, " -0.3 0.9  13.76 0.06  -89.08 0.09 162.8 12.5",
         " -0.399.9 -13.7610.06 -179.0812.34 162.8112.5");
  if (list_read(list_read_events, text, &s) == 1)
    CU_ASSERT(s->latitude == -13.76 && s->longitude == -179.08 && s->depth_km == 162.8);
  free(s);
  refuse_ndk(" 0.9  13.76", "  13.76",
             ":3: columns 23-29, latitude \".76 0.0\" is not a number with 2 decimals that ends in "
             "column 29");
  refuse_ndk(" 0.9  13.76", "      13.76",
             ":3: columns 19-22, error of the time \"\" is not a number with 1 decimals that ends "
             "in column 22");
  refuse_ndk("13.76 0.06", "93.76 0.06", ":3: columns 23-29, latitude 93.76 is outside -90 to 90");
  refuse_ndk("162.8", "862.8", ":3: columns 48-53, depth 862.8 is outside -10 to 800");
  refuse_ndk("CENTROID", "CENTRAID",
             ":3: columns 1-9 of line 3 of an NDK event are \"CENTRAID:\", and have the form "
             "\"CENTROID:\"");
  refuse_ndk("FREE", "FREI",
             ":3: columns 60-63, type of depth \"FREI\" is neither FREE, FIX nor BDY");
  refuse_ndk("23  0.838", "2x  0.838",
             ":4: columns 1-2, exponent of the moment \"2x\" is not a number with 0 decimals that "
             "ends in column 2");
  refuse_ndk("1.312", "1,312",
             ":5: columns 49-56, scalar moment \"1,312\" is not a number with 3 decimals that ends "
             "in column 56");
  refuse_ndk("1.312", "    1",
             ":5: columns 49-56, scalar moment \"1\" is not a number with 3 decimals that ends in "
             "column 56");
  refuse_ndk("CMT: 1 TRIHD", "CMU: 1 TRIHD",
             ":2: columns 62-66 of line 2 of an NDK event are \"CMU:\", and have the form "
             "\" CMT:\"");
  refuse_ndk("20:05.4", "20:0x1F", ":1: columns 6-26, time \"2005/01/01 01:20:0x1F\" is not valid");
  refuse_ndk("2005/01/01", "2005/13/01", ":1: columns 11-12, month 13 is outside 1 to 12");
  refuse_ndk("72   66", "72   66 x", ":5: columns 81-82, \" x\", are after the 80 of an NDK event");
}

/* In NDK, a value of the centroid whose columns are blank is missing, like an empty field in other
 * formats. */
static void test_ndk_missing(void)
{
  char text[512], all[1536];
  tomo_site *s;
  change(text, "  13.76 0.06", "        0.06");
  list_refuse(list_read_events, text,
              ":3: the event has no latitude; none of 1 events has a place");
  change(text, "  -89.08 0.09", "     NaN 0.09");
  list_refuse(list_read_events, text,
              ":3: the event has no longitude; none of 1 events has a place");
  (void)snprintf(all, sizeof all, "%s%s", text, ndk_event);
  CU_ASSERT(list_read(list_read_events, all, &s) == 1);
  free(s);
  change(text, " 162.8 12.5", "       12.5");
  if (list_read(list_read_events, text, &s) == 1)
    CU_ASSERT(s->depth_km == 0.0 && s->latitude == 13.76 && s->magnitude > 4.0);
  free(s);
  change(text, "   1.312", "        ");
  if (list_read(list_read_events, text, &s) == 1)
    CU_ASSERT(isnan(s->magnitude) && s->depth_km == 162.8);
  free(s);
  change(text, "     -0.3", "         ");
  if (list_read(list_read_events, text, &s) == 1) CU_ASSERT(isnan(s->time_s));
  free(s);
  refuse_ndk("   1.312   9 29  142 133 72   66", "",
             ":5: columns 49-56, scalar moment \"\" is not a number with 3 decimals that ends in "
             "column 56");
}

/* Inserts, removes or changes a character at each position of an NDK event. The reader returns the
 * same values, or an error of one line that names line and columns. (A changed digit may give
 * another valid number.) */
static void test_ndk_mutated(void)
{
  const int size = (int)strlen(ndk_event);
  for (int i = 0; i < size; i++) {
    for (int kind = 0; kind < 4; kind++) {
      static const char *const put[] = {"", "x", " %c", "1%c"};
      char text[512], piece[4], path[64];
      tomo_site *s = NULL;
      int64_t count = 0;
      snprintf(piece, sizeof piece, put[kind], ndk_event[i]);
      snprintf(text, sizeof text, "%.*s%s%s", i, ndk_event, piece, ndk_event + i + 1);
      list_write(text, path);
      osla_err err = list_read_events(path, &s, &count);
      unlink(path);
      bool same = err == OSLA_OK && count == 1 && s->latitude == 13.76 && s->longitude == -89.08 &&
                  s->depth_km == 162.8 &&
                  fabs(s->magnitude - (2.0 / 3.0 * (23.0 + log10(1.312)) - 10.7)) < 1e-12;
      bool told = err == OSLA_ERR_IO && strchr(osla_error_text(), '\n') == NULL &&
                  strncmp(osla_error_text(), path, strlen(path)) == 0;
      OSLA_ASSERT_MSG(same || told, "column %d, change %d: %s", i % 81 + 1, kind,
                      err == OSLA_OK ? "other values" : osla_error_text());
      free(s);
    }
  }
}

static void test_fdsn(void)
{
  tomo_site *s;
  int64_t n = list_read(list_read_stations,
                        "#Network | Station | Latitude | Longitude | Elevation | SiteName | "
                        "StartTime | EndTime\n"
                        "TA|A04A|48.7197|-122.707|23.0|Legoe \"Bay, Lummi|2004-09-19T00:00:00|\n"
                        "# a comment\n"
                        "XA|S1|10|179.99||first of the code||\n"
                        "TA|A04A|48.7201|-122.7063|13.0|a second epoch|2010-08-18T00:00:00|\n"
                        "XA|S1|10|-20|1|another experiment||\n"
                        "XA|S1|10.05|-179.98|1|a third epoch||\r\n"
                        "\n"
                        "#network|station|location|channel|latitude|longitude|elevation|Depth\n"
                        "TA|A04A||BHZ|48.72|-122.706|13.0|0\n"
                        "GE | KBS |10|BHZ|78.9154|11.9385|90|0\n",
                        &s);
  CU_ASSERT(n == 4);
  if (n == 4) {
    CU_ASSERT(strcmp(s[0].name, "TA.A04A") == 0 && strcmp(s[3].name, "GE.KBS") == 0);
    CU_ASSERT(s[0].latitude == 48.7197 && s[0].longitude == -122.707 && isnan(s[0].magnitude));
    CU_ASSERT(s[1].longitude == 179.99 && s[2].longitude == -20.0);
    CU_ASSERT(s[3].latitude == 78.9154 && s[3].longitude == 11.9385);
  }
  free(s);
}

static void test_bad_fdsn(void)
{
  list_reader *read = list_read_stations;
  list_refuse(read, "#Network|Station|Latitude|Longitude\n", ": no station in this file");
  list_refuse(read, "#Network|Description|StartTime|EndTime|TotalStations\nGE|a|b|c|1\n",
              ":1: the header has no column latitude");
  list_refuse(read, "#Network|Station|Latitude|Longitude\nGE|KBS|78.9|11.9|\n",
              ":2: 5 fields, but the header has 4");
  list_refuse(read, "#Network|Station|Latitude|Longitude\nGE||78.9|11.9\n",
              ":2: station \"\" is not a code of 1 to 15 letters and digits");
  list_refuse(read, "#Network|Station|Latitude|Longitude\nGE|KBS 1|78.9|11.9\n",
              ":2: station \"KBS 1\" is not a code of 1 to 15 letters and digits");
  list_refuse(read, "#Network|Station|Latitude|Longitude\nGE|KBS||11.9\n", ":2: latitude is empty");
  list_refuse(read, "#Network|Station|Latitude|Longitude\nGE|KBS|11.9|361\n",
              ":2: longitude 361 is outside -180 to 360");
  list_refuse(read, "#Network|Station|Latitude|Longitude|Elevation\nGE|KBS|11.9|0|high\n",
              ":2: elevation \"high\" is not a number");
  list_refuse(read, "#Network|Station|Latitude|Longitude|StartTime|EndTime\nGE|KBS|1|2|2010|NaN\n",
              ":2: EndTime \"NaN\" is not a time of ISO 8601, such as 2018-01-31T02:00:31.8");
  list_refuse(read, "#Network|Station|Latitude|Longitude|Latitude\nGE|KBS|11.9|0|1\n",
              ":1: the header has two columns for latitude: Latitude and Latitude");
}

/* Reads the shipped lists, if the test runs in the source tree. */
static void test_samples(void)
{
  tomo_site *sites = NULL;
  int64_t count = 0;
  const char *source = getenv("SRCDIR");
  char name[512];
  CU_ASSERT(true);
  snprintf(name, sizeof name, "%s/data/sample_stations.csv", source ? source : ".");
  if (access(name, R_OK) != 0) return;
  OSLA_ASSERT_OK(list_read_stations(name, &sites, &count));
  CU_ASSERT(count == 40);
  free(sites);
  snprintf(name, sizeof name, "%s/data/sample_events.csv", source ? source : ".");
  OSLA_ASSERT_OK(list_read_events(name, &sites, &count));
  CU_ASSERT(count == 40);
  free(sites);
}

static const osla_test_case cases[] = {{"stations", test_stations},
                                       {"bad_stations", test_bad_stations},
                                       {"files", test_files},
                                       {"events", test_events},
                                       {"incomplete_events", test_incomplete_events},
                                       {"ids", test_ids},
                                       {"bad_events", test_bad_events},
                                       {"ndk_columns", test_ndk_columns},
                                       {"ndk_missing", test_ndk_missing},
                                       {"ndk_mutated", test_ndk_mutated},
                                       {"fdsn", test_fdsn},
                                       {"bad_fdsn", test_bad_fdsn},
                                       {"samples", test_samples},
                                       {NULL, NULL}};
OSLA_TEST_SUITE(test_tomo_io, cases);
