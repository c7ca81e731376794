/* Tests of times, tables of earthquakes and stations, several lists at once, and the selection of
 * their entries. No communication. */
#include "apps/tomography/tests/list_columns.h"
#include "apps/tomography/tests/list_help.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "apps/tomography/readers/tomo_selection.h"
#include "apps/tomography/readers/tomo_text.h"

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
              /* times at the end of a day, of February in a leap year, and of a
               * year */
              {"2018-01-31T24:00:00", 1517443200.0},
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

/* Reads the text format of the web service fdsnws-event, also with a second header that has other
 * columns.
 */
static void test_event_text(void)
{
  tomo_site *s;
  int64_t n = list_read(
    list_read_events,
    "#EventID | Time | Latitude | Longitude | Depth/km | Author | Catalog | Contributor | "
    "ContributorID | MagType | Magnitude | MagAuthor | EventLocationName\n"
    "3337497|2012-04-11T08:38:37|2.2376|93.0144|26.3|ISC|ISC|ISC|600860404|MW|8.6|GCMT|OFF W, "
    "\"COAST\"\n"
    "20160508_0000129|2016-05-08 05:17:11.5|1|1||AZER|EMSC-RTS|AZER|505483|ml||AZER|CASPIAN\n"
    "# a comment\n"
    "a||||10||||||||\n"
    "#EventID|Time|Latitude|Longitude|Depth/Km|Author|Catalog|Contributor|ContributorID|MagType|"
    "Magnitude|MagAuthor|EventLocationName|EventType\n"
    "gfz2026|2018-01-31T24:00:00|-15.20|-72.40|35.0|GFZ||GFZ|gfz2026|mb|4.60||Peru|earthquake\n",
    &s);
  CU_ASSERT(n == 3);
  if (n == 3) {
    CU_ASSERT(strcmp(s[0].id, "3337497") == 0 && strcmp(s[0].name, "OFF W, \"COAST\"") == 0);
    CU_ASSERT(s[0].latitude == 2.2376 && s[0].longitude == 93.0144 && s[0].depth_km == 26.3);
    CU_ASSERT(s[0].magnitude == 8.6 && s[0].time_s == 1334133517.0);
    CU_ASSERT(s[1].depth_km == 0.0 && isnan(s[1].magnitude) && s[1].time_s == 1462684631.5);
    CU_ASSERT(s[2].magnitude == 4.6 && s[2].time_s == 1517443200.0);
  }
  free(s);
  list_refuse(list_read_events, "#EventID|Time|Latitude|Longitude\na|2010|1|2|3\n",
              ":2: 5 fields, but the header has 4");
  list_refuse(list_read_events, "#EventID|Time|Latitude|Longitude\na|2010|1x|2\n",
              ":2: latitude \"1x\" is not a number");
}

#define ISC_HEADER                                                                                 \
  "  EVENTID,TYPE,AUTHOR   ,DATE      ,TIME       ,LAT     ,LON      ,DEPTH,DEPFIX,AUTHOR   ,"     \
  "TYPE  ,MAG \n"

/* Reads the ISC's catalogue, whose rows have different numbers of magnitudes and may have blank
 * depths. */
static void test_isc(void)
{
  static const char rows[] =
    ISC_HEADER "   380100,ke,ISC      ,1990-01-01,14:49:00.39,-10.4982, 161.3621, 35.3,      ,"
               "BJI      ,mb    , 5.5,ISC      ,MS    , 5.7\n"
               "   380101,ke,ISC      ,1990-01-01,14:50:00   , 10.5   ,-161.3621,     ,TRUE  ,"
               "BJI      ,mb    ,    ,ISC      ,MS    , 4.1\n"
               "   380102,ke,ISC      ,1990-01-01,14:51:00.39, 11.5   , 161.3621, 10.0,TRUE  \n"
               "   380103,ke,ISC      ,1990-01-01,14:52:00.39,        ,         , 10.0,TRUE  ,"
               "BJI      ,mb    , 5.5,\n";
  char page[4096];
  tomo_site *s;
  for (int i = 0; i < 3; i++) {
    snprintf(page, sizeof page, "%s%s\nSTOP\n%s",
             i == 0   ? "<!DOCTYPE html>\n<title>ISC, a page</title><pre>\nDATA_TYPE\n"
             : i == 1 ? "DATA_TYPE EVENT_CATALOGUE\nISC Bulletin\n--EVENT--|---ORIGIN---|---...\n"
                      : "",
             rows, i == 0 ? "</pre>\n" : "");
    CU_ASSERT(list_read(list_read_events, page, &s) == 3);
    if (!s) continue;
    CU_ASSERT(strcmp(s[0].id, "380100") == 0 && s[0].latitude == -10.4982);
    CU_ASSERT(s[0].longitude == 161.3621 && s[0].depth_km == 35.3 && s[0].magnitude == 5.5);
    OSLA_ASSERT_CLOSE(s[0].time_s, 631205340.39, 1e-5);
    CU_ASSERT(s[1].depth_km == 0.0 && s[1].magnitude == 4.1 && isnan(s[2].magnitude));
    free(s);
  }
  /* two catalogues concatenated in one file */
  snprintf(
    page, sizeof page,
    "ISC Bulletin\n%s\nSTOP\nDATA_TYPE EVENT_CATALOGUE\nISC (2025), Bulletin, a, b\n%sSTOP\n", rows,
    rows);
  CU_ASSERT(list_read(list_read_events, page, &s) == 6);
  free(s);
  snprintf(page, sizeof page, "ISC Bulletin\n%sSTOP\nISC Bulletin\n%s", rows, rows);
  list_refuse(list_read_events, page,
              ": the catalogue of the ISC ends without its line STOP: it is cut off");
  snprintf(page, sizeof page, "%sSTOP\n\n%s", rows, strchr(rows, '\n') + 1);
  list_refuse(list_read_events, page, ":8: a row after STOP, and no header EVENTID between them");
  snprintf(page, sizeof page, "%sSTOP\nid,lat,lon,depth,mag,place\na,1,2,3,4,b\n", rows);
  list_refuse(list_read_events, page, ":7: a row after STOP, and no header EVENTID between them");
  snprintf(page, sizeof page, "<html>\n%sSTOP\n</pre>\n<script>f(a,b,c,d);</script>\n2018,1,2\n",
           rows);
  list_refuse(list_read_events, page, ":10: a row after STOP, and no header EVENTID between them");
  CU_ASSERT(list_read(list_read_events, "ISC_ID;latitude;longitude\n1;2;3\n", &s) == 1);
  free(s);
  CU_ASSERT(list_read(list_read_events, "ISC id|latitude|longitude\n1|2|3\n", &s) == 1);
  free(s);
  list_refuse(list_read_events, ISC_HEADER "1,ke,ISC,1990-01-01,14:49:00.39,1,2,3,,BJI,mb\n",
              ":2: 11 fields, which are not 9 and 3 for each magnitude");
  list_refuse(list_read_events, ISC_HEADER "1,ke,ISC,1990-01-01,14:49:00.39,1,2,3,,B,mb,5,B,MS,x\n",
              ":2: magnitude \"x\" is not a number");
  list_refuse(list_read_events, "DATA_TYPE EVENT_CATALOGUE\nNo events were found.\nSTOP\n",
              ": no line begins with EVENTID, as the header of a catalogue of the ISC does");
  snprintf(page, sizeof page, "ISC: On-line Bulletin\n%s", rows);
  list_refuse(list_read_events, page,
              ": the catalogue of the ISC ends without its line STOP: it is cut off");
}

/* Reads catalogues in the formats of other programs, taken from public bug reports. */
static void test_dialects(void)
{
  tomo_site *s;
  /* programs write NaN for a missing value (reports obspy/obspy#2627,
   * QuakeMigrate/QuakeMigrate#220) */
  int64_t n = list_read(list_read_events,
                        "id,date,time,lat,lon,depth,mag\nNaN,2010-01-31,nan,1,2,NaN,nan\n"
                        "b,NaN,,NaN,2,3,5\nc,NaN,NaN,4,5,6,7\n",
                        &s);
  CU_ASSERT(n == 2);
  if (n == 2) {
    CU_ASSERT(s[0].id[0] == '\0' && s[0].depth_km == 0.0 && isnan(s[0].magnitude));
    CU_ASSERT(s[0].time_s == 1264896000.0 && isnan(s[1].time_s) && s[1].magnitude == 7.0);
  }
  free(s);
  /* catalogues with a column for each part of a time, and with the column `dep` (reports
   * gem/oq-engine#4496, obspy/obspy#3285) */
  n = list_read(list_read_events,
                "eventID,year,month,day,hour,minute,second,longitude,latitude,dep,magnitude\n"
                "1,2018,1,31,2,0,31.8,10,20,5,6\n2,2018,12,31,24,0,0,10,20,,6\n"
                "3,1905,4,,,,,10,20,,6\n4,,,,,,,10,20,,6\n5,2010.0,2.0,3.0,,,,10,20,,6\n",
                &s);
  CU_ASSERT(n == 5);
  if (n == 5) {
    OSLA_ASSERT_CLOSE(s[0].time_s, 1517364031.8, 1e-5);
    CU_ASSERT(s[0].depth_km == 5.0 && s[1].time_s == 1546300800.0);
    CU_ASSERT(s[2].time_s == -2043446400.0 && isnan(s[3].time_s) && s[4].time_s == 1265155200.0);
  }
  free(s);
  list_refuse(list_read_events, "lat,lon,year,month,day\n1,2,2018,2,30\n",
              ":2: there is no time 2018-2-30 0:0:0");
  list_refuse(list_read_events, "lat,lon,year,month\n1,2,2018.5,2\n",
              ":2: year 2018.5 is not a whole number");
  /* the column names of SeisBench (report seisbench/seisbench#12) */
  static const char seisbench[] =
    "source_id,source_origin_time,source_latitude_deg,source_longitude_deg,source_depth_km,"
    "source_magnitude,station_network_code,station_code,station_latitude_deg,station_longitude_"
    "deg\n"
    "ev1,2018-01-31T00:00:00Z,1,2,3,4,IU,ANMO,34.9,-106.5\n";
  n = list_read(list_read_events, seisbench, &s);
  CU_ASSERT(n == 1 && strcmp(s[0].id, "ev1") == 0 && s[0].depth_km == 3.0 && s[0].magnitude == 4.0);
  free(s);
  n = list_read(list_read_stations, seisbench, &s);
  CU_ASSERT(n == 1 && strcmp(s[0].id, "IU.ANMO") == 0 && s[0].latitude == 34.9);
  free(s);
}

/* Semicolons and tabs are separators as well; a comma in SPECFEM's columns does not make them CSV.
 */
static void test_separators(void)
{
  tomo_site *s;
  int64_t n = list_read(list_read_events,
                        "id;latitude;longitude;depth;\"place, region\";name\n"
                        "a;1.5;2;3;X;\"Y; Z, \"\"W\"\"\"\n",
                        &s);
  CU_ASSERT(n == 1 && s[0].latitude == 1.5 && strcmp(s[0].name, "Y; Z, \"W\"") == 0);
  free(s);
  n = list_read(list_read_events, "id\tlat\tlon\tdepth\tmag\na\t1\t2\t\t\nb\t 1\t2\t3\t5\n", &s);
  CU_ASSERT(n == 2 && s[0].depth_km == 0.0 && s[1].depth_km == 3.0 && s[1].magnitude == 5.0);
  free(s);
  n = list_read(list_read_stations, "net;sta;lat;lon;elevation\nIU;ANMO;34.9;-106.5;1\n", &s);
  CU_ASSERT(n == 1 && strcmp(s[0].id, "IU.ANMO") == 0 && s[0].longitude == -106.5);
  free(s);
  n = list_read(list_read_stations, "net\tsta\tlat\tlon\n\tANMO\t34.9\t-106.5\n", &s);
  CU_ASSERT(n == 1 && strcmp(s[0].id, "ANMO") == 0);
  free(s);
  n = list_read(list_read_stations,
                "ANMO IU 34.9 -106.5 1850 0 Albuquerque, New Mexico\nB\tIU\t1\t2\t0\t0\n", &s);
  CU_ASSERT(n == 2 && strcmp(s[0].id, "IU.ANMO") == 0 && strcmp(s[1].id, "IU.B") == 0);
  free(s);
  list_refuse(
    list_read_events, "latitude longitude depth\n1 2 3\n",
    ":1: the header is one field, \"latitude longitude depth\": fields are separated by commas, "
    "semicolons, tabs or |");
  list_refuse(list_read_events, "latitude;longitude\n1,5;2\n",
              ":2: latitude \"1,5\" is not a number");
  list_refuse(list_read_stations, "<html><body>404</body></html>\n",
              ": is a web page (HTML), not a list of stations");
}

static void refuse(osla_err err, const char *expected)
{
  CU_ASSERT(err == OSLA_ERR_ARG);
  OSLA_ASSERT_MSG(strcmp(osla_error_text(), expected) == 0, "got \"%s\"", osla_error_text());
}

static void test_words(void)
{
  tomo_selection c = tomo_selection_all();
  OSLA_ASSERT_OK(tomo_selection_parse_time(&c, "--time", "2010/2011-06"));
  CU_ASSERT(c.time_given && c.from_s == 1262304000.0 && c.until_s == 1306886400.0);
  OSLA_ASSERT_OK(tomo_selection_parse_magnitude(&c, "--magnitude", "6.5/"));
  CU_ASSERT(c.magnitude_least == 6.5 && c.magnitude_most == INFINITY);
  OSLA_ASSERT_OK(tomo_selection_parse_region(&c.events, "--region", "150/-120/-60/10.5"));
  CU_ASSERT(c.events.given && c.events.east == -120.0 && c.events.north == 10.5);
  refuse(tomo_selection_parse_time(&c, "--time", "2010"),
         "--time: '2010' is not of the form FROM/UNTIL");
  refuse(tomo_selection_parse_time(&c, "--time", "2010/2011/2012"),
         "--time: '2010/2011/2012' is not of the form FROM/UNTIL");
  refuse(tomo_selection_parse_time(&c, "--time", "2010/soon"),
         "--time: 'soon' is not a time of ISO 8601, such as 2018-01-31T02:00:31.8");
  refuse(tomo_selection_parse_time(&c, "--time", "2010/2010"), "--time: 2010 is not before 2010");
  refuse(tomo_selection_parse_magnitude(&c, "--magnitude", "7/6"),
         "--magnitude: 7 is larger than 6");
  refuse(tomo_selection_parse_magnitude(&c, "--magnitude", "x/6"),
         "--magnitude: 'x' is not a number");
  refuse(tomo_selection_parse_region(&c.events, "--region", "1/2/3"),
         "--region: '1/2/3' is not of the form W/E/S/N");
  refuse(tomo_selection_parse_region(&c.events, "--region", "1/2/30/3"),
         "--region: 30 is north of 3");
  refuse(tomo_selection_parse_region(&c.events, "--region", "1/400/3/30"),
         "--region: 400 is outside -360 to 360");
}

/* Concatenates the names of the selected entries. */
static void names_of(const tomo_site *sites, int64_t count, char text[200])
{
  text[0] = '\0';
  for (int64_t i = 0; i < count; i++)
    snprintf(text + strlen(text), 200 - strlen(text), "%s%s", i ? " " : "", sites[i].name);
}

static tomo_counts choose(bool events, char *const *files, int n, const tomo_selection *c,
                          const char *expected)
{
  tomo_site *sites = NULL;
  tomo_counts counts = {0};
  char text[200];
  if (!OSLA_ASSERT_OK(tomo_select_sites(events, files, n, c, &sites, &counts))) return counts;
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
  tomo_selection c = tomo_selection_all();
  tomo_counts k = choose(true, files, 2, &c, "A B C D E G");
  CU_ASSERT(k.read == 7 && k.same == 1);
  OSLA_ASSERT_OK(tomo_selection_parse_time(&c, "--time", "2010/2011"));
  k = choose(true, files, 2, &c, "A B D G");
  CU_ASSERT(k.time == 1 && k.no_time == 1);
  OSLA_ASSERT_OK(tomo_selection_parse_region(&c.events, "--region", "172/-170/0/90"));
  k = choose(true, files, 2, &c, "A B");
  CU_ASSERT(k.region == 2);
  OSLA_ASSERT_OK(tomo_selection_parse_magnitude(&c, "--magnitude", "6.5/7"));
  k = choose(true, files, 2, &c, "B");
  CU_ASSERT(k.magnitude == 1 && k.no_magnitude == 1 && k.region == 1 && k.same == 1);
  c = tomo_selection_all();
  OSLA_ASSERT_OK(tomo_selection_parse_region(&c.events, "--region", "-180/180/-90/90"));
  k = choose(true, files, 2, &c, "A B C D E G");
  CU_ASSERT(k.region == 0);
  tomo_site *sites = NULL;
  OSLA_ASSERT_OK(tomo_selection_parse_magnitude(&c, "--magnitude", "9/"));
  refuse(tomo_select_sites(true, files, 2, &c, &sites, &k),
         "--time, --magnitude and the regions leave none of 7 earthquakes");
  CU_ASSERT(sites == NULL);
  unlink(b);
  list_write("id,date,time,lat,lon,depth,mag,place\n"
             "2,2010-06-011,00:00:01,10,-175,10,7.0,F\n",
             b);
  OSLA_ASSERT_ERR(tomo_select_sites(true, (char *[]){b}, 1, &c, &sites, &k), OSLA_ERR_IO);
  OSLA_ASSERT_MSG(strstr(osla_error_text(), "time \"2010-06-011T00:00:01\" is not a time of"),
                  "got \"%s\"", osla_error_text());
  unlink(a);
  unlink(b);
}

/* Events without coordinates are counted and listed with their lines. They count when events
 * without an id get their index in the list as id. */
static void test_placeless(void)
{
  char a[64], b[64], note[100], text[400] = "lat,lon,place\n,1,A\n1,2,B\n";
  tomo_site *sites = NULL;
  tomo_counts k;
  const tomo_selection c = tomo_selection_all();
  list_write(text, a);
  for (int i = 0; i < 12; i++)
    strcat(text, "1,,C\n");
  list_write(text, b);
  OSLA_ASSERT_OK(tomo_select_sites(true, (char *[]){a, b}, 2, &c, &sites, &k));
  CU_ASSERT(k.read == 16 && k.no_place == 14 && k.used == 2);
  CU_ASSERT(k.placeless.listed == TOMO_UNLOCATED_MAX);
  snprintf(note, sizeof note, "%s:2: the event has no latitude", a);
  CU_ASSERT(strcmp(k.placeless.note[0], note) == 0);
  snprintf(note, sizeof note, "%s:4: the event has no longitude", b);
  CU_ASSERT(strcmp(k.placeless.note[2], note) == 0);
  if (sites) CU_ASSERT(strcmp(sites[0].id, "2") == 0 && strcmp(sites[1].id, "4") == 0);
  free(sites);
  unlink(a);
  list_write("lat,lon,place\n,1,A\n", a);
  OSLA_ASSERT_ERR(tomo_select_sites(true, (char *[]){a}, 1, &c, &sites, &k), OSLA_ERR_IO);
  OSLA_ASSERT_MSG(strstr(osla_error_text(), ":2: the event has no latitude; none of 1 events has"),
                  "got \"%s\"", osla_error_text());
  CU_ASSERT(sites == NULL);
  unlink(a);
  unlink(b);
}

/* Epochs of stations outside the selected time are excluded; a station that has another epoch
 * remains. */
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
  tomo_selection c = tomo_selection_all();
  tomo_counts k = choose(false, files, 2, &c, "IU.ANMO IU.OLD IU.MOVE IU.MOVE  ");
  CU_ASSERT(k.read == 8 && k.same == 2);
  OSLA_ASSERT_OK(tomo_selection_parse_time(&c, "--time", "2000/2005"));
  k = choose(false, files, 1, &c, "IU.MOVE");
  CU_ASSERT(k.time == 4);
  k = choose(false, files, 2, &c, "IU.MOVE IU.ANMO  ");
  CU_ASSERT(k.time == 4 && k.same == 0); /* stations without epochs are always selected */
  OSLA_ASSERT_OK(tomo_selection_parse_region(&c.stations, "--station-region", "-110/-100/0/40"));
  k = choose(false, files, 2, &c, "IU.ANMO");
  CU_ASSERT(k.region == 3);
  tomo_site *sites = NULL;
  char *absent[2] = {a, "/tmp/osla-absent"};
  OSLA_ASSERT_ERR(tomo_select_sites(false, absent, 2, &c, &sites, &k), OSLA_ERR_IO);
  CU_ASSERT(sites == NULL && strstr(osla_error_text(), "osla-absent: ") != NULL);
  unlink(a);
  unlink(b);
}

static const osla_test_case cases[] = {{"times", test_times},
                                       {"words", test_words},
                                       {"event_text", test_event_text},
                                       {"kinds", test_list_kinds},
                                       {"split_times", test_list_times},
                                       {"depths", test_list_depths},
                                       {"isc", test_isc},
                                       {"dialects", test_dialects},
                                       {"separators", test_separators},
                                       {"events", test_events},
                                       {"placeless", test_placeless},
                                       {"stations", test_stations},
                                       {NULL, NULL}};
OSLA_TEST_SUITE(test_tomo_choice, cases);
