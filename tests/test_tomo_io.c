/* Tomography: station and event lists, good and bad. No communication. */
#include "osla_test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tomo_io.h"

typedef osla_err reader(const char *file, tomo_site **sites, int64_t *count);

static char path[64];

static bool write_file(const char *content, size_t size)
{
  strcpy(path, "/tmp/osla-test-XXXXXX");
  int fd = mkstemp(path);
  bool done = fd >= 0 && write(fd, content, size) == (ssize_t)size;
  if (fd >= 0) close(fd);
  CU_ASSERT(done);
  return done;
}

/* Reads the content; the caller frees *sites. */
static int64_t read_good(reader *read, const char *content, tomo_site **sites)
{
  int64_t count = 0;
  *sites = NULL;
  if (!write_file(content, strlen(content))) return 0;
  OSLA_ASSERT_OK(read(path, sites, &count));
  unlink(path);
  return count;
}

/* The content is refused with "PATH" followed by `expected`, on one line. */
static void refuse_bytes(reader *read, const char *content, size_t size, const char *expected)
{
  tomo_site *sites = NULL;
  int64_t count = 1;
  char text[512];
  if (!write_file(content, size)) return;
  OSLA_ASSERT_ERR(read(path, &sites, &count), OSLA_ERR_IO);
  CU_ASSERT(sites == NULL && count == 0);
  snprintf(text, sizeof text, "%s%s", path, expected);
  OSLA_ASSERT_MSG(strcmp(osla_error_text(), text) == 0, "got \"%s\", not \"%s\"", osla_error_text(),
                  text);
  unlink(path);
}

static void refuse(reader *read, const char *content, const char *expected)
{
  refuse_bytes(read, content, strlen(content), expected);
}

static void test_stations(void)
{
  tomo_site *s;
  int64_t n = read_good(tomo_read_stations,
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
  n = read_good(tomo_read_stations,
                "Network,\"Station\",place,LONGITUDE,Latitude\n"
                "II, AAK ,\"Ala Archa, \"\"Kyrgyzstan\"\"\",74.5,42.6",
                &s);
  CU_ASSERT(n == 1);
  if (n == 1) {
    CU_ASSERT(strcmp(s[0].name, "II.AAK") == 0);
    CU_ASSERT(s[0].latitude == 42.6 && s[0].longitude == 74.5 && isnan(s[0].magnitude));
  }
  free(s);
  n = read_good(tomo_read_stations, "lat,lon\n1,2\n3,4\n", &s);
  CU_ASSERT(n == 2 && s[0].name[0] == '\0');
  free(s);
}

static void test_bad_stations(void)
{
  char overlong[TOMO_LINE_MAX + 10];
  reader *read = tomo_read_stations;
  refuse(read, "", ": no station in this file");
  refuse(read, "# nothing\n\n", ": no station in this file");
  refuse(read, "latitude,longitude\n", ": no station in this file");
  refuse(read, "A IU 95.2 0 0 0\n", ":1: latitude 95.2 is outside -90 to 90");
  refuse(read, "A IU 5 0 0 0\nB IU 5 -180.5\n", ":2: longitude -180.5 is outside -180 to 360");
  refuse(read, "A IU 5\n", ":1: 3 columns; station, network, latitude and longitude are needed");
  refuse(read, "#\n\nA IU 5x 4\n", ":3: latitude \"5x\" is not a number");
  refuse(read, "A IU nan 4\n", ":1: latitude nan is not finite");
  refuse(read, "A IU 0x5 4\n", ":1: latitude \"0x5\" is not a number");
  refuse(read, "A IU 5 1e999\n", ":1: longitude 1e999 is not finite");
  refuse(read, "A IU 5 4 high\n", ":1: elevation \"high\" is not a number");
  refuse(read, "a,b,c\n1,2,3\n", ":1: the header has no column latitude");
  refuse(read, "latitude,longitude,Lat\n",
         ":1: the header has two columns for latitude: latitude and Lat");
  refuse(read, "latitude,longitude\n1,2,3\n", ":2: 3 fields, but the header has 2");
  refuse(read, "latitude,longitude\n1,\n", ":2: longitude is empty");
  refuse(read, "latitude,longitude\n\"1,2\n", ":2: a quote is not closed");
  refuse(read, "latitude,longitude\n\"1\"x,2\n", ":2: 'x' follows a closing quote");
  refuse_bytes(read, "A IU 5\0 4\n", 10, ":1: the line contains a zero byte; is this text?");
  memset(overlong, 'x', sizeof overlong);
  refuse_bytes(read, overlong, sizeof overlong, ":1: the line is longer than 4095 bytes");
}

static void test_files(void)
{
  tomo_site *sites = NULL;
  int64_t count;
  char name[300] = "/tmp/";
  OSLA_ASSERT_ERR(tomo_read_stations("/tmp/osla-absent", &sites, &count), OSLA_ERR_IO);
  CU_ASSERT(strcmp(osla_error_text(), "/tmp/osla-absent: No such file or directory") == 0);
  OSLA_ASSERT_ERR(tomo_read_events("/tmp", &sites, &count), OSLA_ERR_IO);
  CU_ASSERT(strcmp(osla_error_text(), "/tmp: Is a directory") == 0);
  memset(name + 5, 'n', sizeof name - 6);
  name[sizeof name - 1] = '\0';
  OSLA_ASSERT_ERR(tomo_read_events(name, &sites, &count), OSLA_ERR_IO);
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
  int64_t n = read_good(tomo_read_events,
                        "time,latitude,longitude,depth,mag,place\n"
                        "2018-01-31T02:00:31.800Z,-7.8628,118.7906,15.18,5.3,\"50km NNW of X, Y\"\n"
                        "x,1,2,-1.5,,a very long name of a place that does not fit\n",
                        &s);
  CU_ASSERT(n == 2);
  if (n == 2) {
    CU_ASSERT(s[0].latitude == -7.8628 && s[0].longitude == 118.7906 && s[0].depth_km == 15.18);
    CU_ASSERT(s[0].magnitude == 5.3 && strcmp(s[0].name, "50km NNW of X, Y") == 0);
    CU_ASSERT(isnan(s[1].magnitude) && strlen(s[1].name) == TOMO_NAME_MAX - 1);
  }
  free(s);
  snprintf(two, sizeof two, "%s%s", ndk_event, ndk_event);
  n = read_good(tomo_read_events, two, &s);
  CU_ASSERT(n == 2);
  if (n == 2) {
    CU_ASSERT(s[1].latitude == 13.76 && s[1].longitude == -89.08 && s[1].depth_km == 162.8);
    OSLA_ASSERT_CLOSE(s[1].magnitude, 2.0 / 3.0 * (23.0 + log10(1.312)) - 10.7, 1e-12);
    CU_ASSERT(strcmp(s[1].name, "EL SALVADOR") == 0);
  }
  free(s);
}

static void test_bad_events(void)
{
  char text[1024];
  reader *read = tomo_read_events;
  refuse(read, "\n", ": no event in this file");
  refuse(read, "latitude,longitude\n1,2\n", ":1: the header has no column depth_km");
  refuse(read, "latitude,longitude,depth,depth_km\n",
         ":1: the header has two columns for depth_km: depth and depth_km");
  refuse(read, "latitude,longitude,depth_km\n1,2,801\n", ":2: depth 801 is outside -10 to 800");
  refuse(read, "latitude,longitude,depth_km\n1,2,NaN\n", ":2: depth NaN is not finite");
  refuse(read, "latitude,longitude,depth_km,mag\n1,2,3,big\n",
         ":2: magnitude \"big\" is not a number");
  refuse(read, "latitude,longitude,depth_km,mag,mag\n",
         ":1: the header has two columns for mag: mag and mag");
  snprintf(text, sizeof text, "%s%.243s", ndk_event, ndk_event);
  refuse(read, text, ":6: the file ends after 3 of the 5 lines of an NDK event");
  snprintf(text, sizeof text, "%sgarbage\n", ndk_event);
  refuse(read, text, ":6: line 1 of an NDK event must have a date yyyy/mm/dd in columns 6-15");
  snprintf(text, sizeof text, "%s", ndk_event);
  memcpy(strstr(text, "  13.76 0.06"), "  93.76 0.06", 12);
  refuse(read, text, ":3: latitude 93.76 is outside -90 to 90");
  snprintf(text, sizeof text, "%s", ndk_event);
  memcpy(strstr(text, "CENTROID"), "CENTRAID", 8);
  refuse(read, text, ":3: line 3 of an NDK event must begin with CENTROID:");
}

/* The shipped samples, when the test runs in the source tree. */
static void test_samples(void)
{
  tomo_site *sites = NULL;
  int64_t count = 0;
  const char *source = getenv("SRCDIR");
  char name[512];
  CU_ASSERT(true);
  snprintf(name, sizeof name, "%s/data/sample_stations.csv", source ? source : ".");
  if (access(name, R_OK) != 0) return;
  OSLA_ASSERT_OK(tomo_read_stations(name, &sites, &count));
  CU_ASSERT(count == 40);
  free(sites);
  snprintf(name, sizeof name, "%s/data/sample_events.csv", source ? source : ".");
  OSLA_ASSERT_OK(tomo_read_events(name, &sites, &count));
  CU_ASSERT(count == 40);
  free(sites);
}

int main(int argc, char **argv)
{
  static const osla_test_case cases[] = {{"stations", test_stations},
                                         {"bad_stations", test_bad_stations},
                                         {"files", test_files},
                                         {"events", test_events},
                                         {"bad_events", test_bad_events},
                                         {"samples", test_samples},
                                         {NULL, NULL}};
  return osla_test_main(argc, argv, cases);
}
