/* Tomography: times, several lists at once, and what of them is used. No communication. */
#include "list_help.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tomo_choice.h"
#include "tomo_time.h"

static void test_times(void)
{
  static const struct {
    const char *text;
    double seconds;
  } good[] = {{"1970", 0.0},
              {"1970-01-02", 86400.0},
              {"2000-02-29T23:59:59", 951868799.0},
              {"2016-12-31T23:59:60Z", 1483228800.0},
              {"1969-12-31 23:59:59.5", -0.5},
              {"2018-01-31T02:00+02:00", 1517356800.0},
              {"2018-01-31T02:00:00-0530", 1517383800.0},
              {"0001-01-01", -62135596800.0},
              {"2018-01-31T24:00:00", 1517443200.0}, /* ends of a day, a leap month, a year */
              {"2016-02-29T24:00:00.000Z", 1456790400.0},
              {"2018-12-31T24:00+01:00", 1546297200.0},
              {"9999-12-31 24:00:00", 253402300800.0},
              {"2599-12-31T23:59:59.999999Z", 19880899200.0}};
  static const char *const bad[] = {"",
                                    "18",
                                    "2018-1-31",
                                    "2018-02-29",
                                    "1900-02-29",
                                    "2018-13",
                                    "2018-00-01",
                                    "2018-01-31T24:00:01",
                                    "2018-01-31T24:00:00.001",
                                    "2018-01-31T24:01:00",
                                    "2018-01-31T24:00:60",
                                    "2018-01-31T25:00:00",
                                    "2018-02-29T24:00:00",
                                    "2018-01-31T02",
                                    "2018-01-31T02:00:61",
                                    "2018-01-31T02:00:31.",
                                    "2018-01-31T02:00:31.8x",
                                    "2018-01-31T02:00:31+24:00",
                                    "0000-01-01",
                                    " 2018",
                                    "2018-01-31T",
                                    "-2018",
                                    "nan"};
  double seconds;
  for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
    OSLA_ASSERT_MSG(tomo_time_read(good[i].text, &seconds), "%s", good[i].text);
    OSLA_ASSERT_CLOSE(seconds, good[i].seconds, 1e-5);
  }
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
    OSLA_ASSERT_MSG(!tomo_time_read(bad[i], &seconds), "%s", bad[i]);
}

static void refuse(osla_err err, const char *expected)
{
  CU_ASSERT(err == OSLA_ERR_ARG);
  OSLA_ASSERT_MSG(strcmp(osla_error_text(), expected) == 0, "got \"%s\"", osla_error_text());
}

static void test_words(void)
{
  tomo_choice c = tomo_choice_all();
  OSLA_ASSERT_OK(tomo_choice_time(&c, "--time", "2010/2011-06"));
  CU_ASSERT(c.time_given && c.from_s == 1262304000.0 && c.until_s == 1306886400.0);
  OSLA_ASSERT_OK(tomo_choice_magnitude(&c, "--magnitude", "6.5/"));
  CU_ASSERT(c.magnitude_least == 6.5 && c.magnitude_most == INFINITY);
  OSLA_ASSERT_OK(tomo_choice_region(&c.events, "--region", "150/-120/-60/10.5"));
  CU_ASSERT(c.events.given && c.events.east == -120.0 && c.events.north == 10.5);
  refuse(tomo_choice_time(&c, "--time", "2010"), "--time: '2010' is not of the form FROM/UNTIL");
  refuse(tomo_choice_time(&c, "--time", "2010/2011/2012"),
         "--time: '2010/2011/2012' is not of the form FROM/UNTIL");
  refuse(tomo_choice_time(&c, "--time", "2010/soon"),
         "--time: 'soon' is not a time of ISO 8601, such as 2018-01-31T02:00:31.8");
  refuse(tomo_choice_time(&c, "--time", "2010/2010"), "--time: 2010 is not before 2010");
  refuse(tomo_choice_magnitude(&c, "--magnitude", "7/6"), "--magnitude: 7 is larger than 6");
  refuse(tomo_choice_magnitude(&c, "--magnitude", "x/6"), "--magnitude: 'x' is not a number");
  refuse(tomo_choice_region(&c.events, "--region", "1/2/3"),
         "--region: '1/2/3' is not of the form W/E/S/N");
  refuse(tomo_choice_region(&c.events, "--region", "1/2/30/3"), "--region: 30 is north of 3");
  refuse(tomo_choice_region(&c.events, "--region", "1/400/3/30"),
         "--region: 400 is outside -360 to 360");
}

/* The names of the entries that are used, one after the other. */
static void names_of(const tomo_site *sites, int64_t count, char text[200])
{
  text[0] = '\0';
  for (int64_t i = 0; i < count; i++)
    snprintf(text + strlen(text), 200 - strlen(text), "%s%s", i ? " " : "", sites[i].name);
}

typedef osla_err chooser(char *const *files, int n, const tomo_choice *choice, tomo_site **sites,
                         tomo_counts *counts);

static tomo_counts choose(chooser *choose_sites, char *const *files, int n, const tomo_choice *c,
                          const char *expected)
{
  tomo_site *sites = NULL;
  tomo_counts counts = {0};
  char text[200];
  if (!OSLA_ASSERT_OK(choose_sites(files, n, c, &sites, &counts))) return counts;
  names_of(sites, counts.used, text);
  OSLA_ASSERT_MSG(strcmp(text, expected) == 0, "used \"%s\", not \"%s\"", text, expected);
  CU_ASSERT(counts.read == counts.used + counts.no_place + counts.time + counts.no_time +
                             counts.magnitude + counts.no_magnitude + counts.region + counts.same);
  free(sites);
  return counts;
}

static void test_events(void)
{
  char a[64], b[64];
  list_write("id,time,lat,lon,depth,mag,place\n"
             "1,2010-01-01T00:00:00,10,175,10,6.0,A\n"
             "2,2010-06-01,10,-175,10,7.0,B\n"
             "3,,10,-175,10,7.0,C\n"
             ",2010-07-01,10,170,10,,D\n"
             "5,2011-01-01T00:00:00Z,10,190,10,6.5,E\n",
             a);
  list_write("id,date,time,lat,lon,depth,mag,place\n"
             "2,2010-06-01,00:00:01,10,-175,10,7.0,F\n"
             ",2010-06-01,00:00:02,-10,20,10,7.0,G\n",
             b);
  char *files[2] = {a, b};
  tomo_choice c = tomo_choice_all();
  tomo_counts k = choose(tomo_choose_events, files, 2, &c, "A B C D E G");
  CU_ASSERT(k.read == 7 && k.same == 1);
  OSLA_ASSERT_OK(tomo_choice_time(&c, "--time", "2010/2011"));
  k = choose(tomo_choose_events, files, 2, &c, "A B D G");
  CU_ASSERT(k.time == 1 && k.no_time == 1);
  OSLA_ASSERT_OK(tomo_choice_region(&c.events, "--region", "172/-170/0/90"));
  k = choose(tomo_choose_events, files, 2, &c, "A B");
  CU_ASSERT(k.region == 2);
  OSLA_ASSERT_OK(tomo_choice_magnitude(&c, "--magnitude", "6.5/7"));
  k = choose(tomo_choose_events, files, 2, &c, "B");
  CU_ASSERT(k.magnitude == 1 && k.no_magnitude == 1 && k.region == 1 && k.same == 1);
  c = tomo_choice_all();
  OSLA_ASSERT_OK(tomo_choice_region(&c.events, "--region", "-180/180/-90/90"));
  k = choose(tomo_choose_events, files, 2, &c, "A B C D E G");
  CU_ASSERT(k.region == 0);
  tomo_site *sites = NULL;
  OSLA_ASSERT_OK(tomo_choice_magnitude(&c, "--magnitude", "9/"));
  refuse(tomo_choose_events(files, 2, &c, &sites, &k),
         "--time, --magnitude and the regions leave none of 7 earthquakes");
  CU_ASSERT(sites == NULL);
  unlink(b);
  list_write("id,date,time,lat,lon,depth,mag,place\n"
             "2,2010-06-011,00:00:01,10,-175,10,7.0,F\n",
             b);
  OSLA_ASSERT_ERR(tomo_choose_events((char *[]){b}, 1, &c, &sites, &k), OSLA_ERR_IO);
  OSLA_ASSERT_MSG(strstr(osla_error_text(), "time \"2010-06-011T00:00:01\" is not a time of"),
                  "got \"%s\"", osla_error_text());
  unlink(a);
  unlink(b);
}

/* Events without a place: counted first, noted with their lines, and counted for the numbers of
 * events without an id. */
static void test_placeless(void)
{
  char a[64], b[64], note[100], text[400] = "lat,lon,place\n,1,A\n1,2,B\n";
  tomo_site *sites = NULL;
  tomo_counts k;
  const tomo_choice c = tomo_choice_all();
  list_write(text, a);
  for (int i = 0; i < 12; i++)
    strcat(text, "1,,C\n");
  list_write(text, b);
  OSLA_ASSERT_OK(tomo_choose_events((char *[]){a, b}, 2, &c, &sites, &k));
  CU_ASSERT(k.read == 16 && k.no_place == 14 && k.used == 2);
  CU_ASSERT(k.placeless.listed == TOMO_PLACELESS_MAX);
  snprintf(note, sizeof note, "%s:2: the event has no latitude", a);
  CU_ASSERT(strcmp(k.placeless.note[0], note) == 0);
  snprintf(note, sizeof note, "%s:4: the event has no longitude", b);
  CU_ASSERT(strcmp(k.placeless.note[2], note) == 0);
  if (sites) CU_ASSERT(strcmp(sites[0].id, "2") == 0 && strcmp(sites[1].id, "4") == 0);
  free(sites);
  unlink(a);
  list_write("lat,lon,place\n,1,A\n", a);
  OSLA_ASSERT_ERR(tomo_choose_events((char *[]){a}, 1, &c, &sites, &k), OSLA_ERR_IO);
  OSLA_ASSERT_MSG(strstr(osla_error_text(), ":2: the event has no latitude; none of 1 events has"),
                  "got \"%s\"", osla_error_text());
  CU_ASSERT(sites == NULL);
  unlink(a);
  unlink(b);
}

/* Epochs: one that does not reach into the time is left out, a station with another one stays. */
static void test_stations(void)
{
  char a[64], b[64];
  list_write("#Network|Station|Latitude|Longitude|Elevation|SiteName|StartTime|EndTime\n"
             "IU|ANMO|34.9|-106.4|1|a|1990-01-01T00:00:00|2000-01-01T00:00:00\n"
             "IU|ANMO|34.95|-106.4|1|a|2010-01-01T00:00:00|\n"
             "IU|OLD|1|2|1|a|1990-01-01T00:00:00|2000-01-01T00:00:00\n"
             "IU|MOVE|1|2|1|a|1990-01-01T00:00:00|2000-01-01T00:00:00\n"
             "IU|MOVE|3|2|1|a|2000-01-01T00:00:00|\n",
             a);
  list_write("lat,lon,sta,net\n34.91,-106.41,ANMO,IU\n5,6,,\n5,6,,\n", b);
  char *files[2] = {a, b};
  tomo_choice c = tomo_choice_all();
  tomo_counts k = choose(tomo_choose_stations, files, 2, &c, "IU.ANMO IU.OLD IU.MOVE IU.MOVE  ");
  CU_ASSERT(k.read == 8 && k.same == 2);
  OSLA_ASSERT_OK(tomo_choice_time(&c, "--time", "2000/2005"));
  k = choose(tomo_choose_stations, files, 1, &c, "IU.MOVE");
  CU_ASSERT(k.time == 4);
  k = choose(tomo_choose_stations, files, 2, &c, "IU.MOVE IU.ANMO  ");
  CU_ASSERT(k.time == 4 && k.same == 0); /* lists without epochs always run */
  OSLA_ASSERT_OK(tomo_choice_region(&c.stations, "--station-region", "-110/-100/0/40"));
  k = choose(tomo_choose_stations, files, 2, &c, "IU.ANMO");
  CU_ASSERT(k.region == 3);
  tomo_site *sites = NULL;
  char *absent[2] = {a, "/tmp/osla-absent"};
  OSLA_ASSERT_ERR(tomo_choose_stations(absent, 2, &c, &sites, &k), OSLA_ERR_IO);
  CU_ASSERT(sites == NULL && strstr(osla_error_text(), "osla-absent: ") != NULL);
  unlink(a);
  unlink(b);
}

int main(int argc, char **argv)
{
  static const osla_test_case cases[] = {{"times", test_times},       {"words", test_words},
                                         {"events", test_events},     {"placeless", test_placeless},
                                         {"stations", test_stations}, {NULL, NULL}};
  return osla_test_main(argc, argv, cases);
}
