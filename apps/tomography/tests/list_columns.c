/* Tests of headers and columns of lists of stations and earthquakes; see list_columns.h. */
#include "apps/tomography/tests/list_columns.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apps/tomography/tests/list_help.h"

/* A list of stations is not accepted as earthquakes at depth 0 km, nor a list of earthquakes as
 * stations. */
void test_list_kinds(void)
{
  static const char *const stations[] = {
    "#Network|Station|Latitude|Longitude|Elevation|SiteName|StartTime|EndTime\nIU|A|1|2|3|a||\n",
    "network,station,latitude,longitude\nIU,A,1,2\n", "sta;lat;lon\nA;1;2\n",
    "lat\tlon\tnet\n1\t2\tIU\n", "name,latitude,longitude,elevation,depth\nA,1,2,3,0\n"};
  static const char *const events[] = {"#EventID|Time|Latitude|Longitude\na|2010|1|2\n",
                                       "time,latitude,longitude,depth,mag,net\n2010,1,2,3,4,us\n"};
  char text[400];
  tomo_site *s;
  for (size_t i = 0; i < sizeof stations / sizeof *stations; i++) {
    list_refuse(list_read_events, stations[i],
                ":1: this is the header of a list of stations, not of earthquakes");
    CU_ASSERT(list_read(list_read_stations, stations[i], &s) == 1);
    free(s);
  }
  for (size_t i = 0; i < sizeof events / sizeof *events; i++) {
    list_refuse(list_read_stations, events[i],
                ":1: this is the header of a list of earthquakes, not of stations");
    CU_ASSERT(list_read(list_read_events, events[i], &s) == 1);
    free(s);
  }
  snprintf(text, sizeof text, "%s%s", events[0], stations[0]);
  list_refuse(list_read_events, text,
              ":3: this is the header of a list of stations, not of earthquakes");
  snprintf(text, sizeof text, "%s%s", stations[0], events[0]);
  list_refuse(list_read_stations, text,
              ":3: this is the header of a list of earthquakes, not of stations");
}

/* A time whose parts are in several columns is combined, for any set of columns; no given part is
 * ignored. */
void test_list_times(void)
{
  static const struct {
    const char *table;
    double seconds;
  } good[] = {{"year,month,day,hour,min,sec,lat,lon\n2018,1,31,2,0,31.8,1,2\n", 1517364031.8},
              {"Year\tMo\tDy\tHr\tMn\tSec\tlatitude\tlongitude\n2018\t1\t31\t2\t0\t31.8\t1\t2\n",
               1517364031.8},
              {"date,hour,minute,second,lat,lon\n2018-01-31,2,0,31.8,1,2\n", 1517364031.8},
              {"date,hour,minute,lat,lon\n2018-01-31,24,0,1,2\n", 1517443200.0},
              {"time,hour,lat,lon\n2018-01-31,2,1,2\n", 1517364000.0},
              {"year,month,day,time,lat,lon\n2018,1,31,02:00:31.8,1,2\n", 1517364031.8},
              {"date,time,lat,lon\n2018-01-31,2018-01-31T02:00:31.8Z,1,2\n", 1517364031.8},
              {"date,time,hour,lat,lon\n2018-01-31,,,1,2\n", 1517356800.0},
              {"year,month,lat,lon\n-2150,,1,2\n", NAN},
              {"year,month,day,hour,lat,lon\n-2150,1,1,7,1,2\n", NAN},
              {"date,time,lat,lon\n-2150-01-01,12:00:00,1,2\n", NAN},
              {"time,lat,lon\n-0365-07-21T06:00:00Z,1,2\n", NAN}};
  static const char *const bad[][2] = {
    {"day,lat,lon\n1,1,2\n", ":1: the header has a column for the day and none for the year"},
    {"year,day,lat,lon\n1,1,1,2\n",
     ":1: the header has a column for the day and none for the month"},
    {"date,minute,lat,lon\n1,1,1,2\n",
     ":1: the header has a column for the minute and none for the hour"},
    {"year,month,day,hour,lat,lon\n2018,,31,12,1,2\n", ":2: day 31 is given without the month"},
    {"year,month,day,hour,lat,lon\n,,,12,1,2\n", ":2: hour 12 is given without the year"},
    {"date,hour,minute,lat,lon\n2018-01-31,,30,1,2\n", ":2: minute 30 is given without the hour"},
    {"date,hour,lat,lon\n2018-01,2,1,2\n",
     ":2: time \"2018-01T02:00:00.000000\" is not a time of ..."},
    {"date,hour,lat,lon\n2018-01-31T07:00,2,1,2\n",
     ":2: time \"2018-01-31T07:00T02:00:00.000000\" is..."},
    {"date,time,lat,lon\n2018-01-31,1200,1,2\n",
     ":2: time \"1200\" is neither a time of day, such as 02:00:31.8, nor a day and a time..."},
    {"year,month,day,time,lat,lon\n2018,1,31,1200,1,2\n",
     ":2: time \"1200\" is neither a time of day..."},
    {"date,time,lat,lon\n,1200,1,2\n", ":2: time \"1200\" is neither a time of day..."},
    {"year,month,day,time,lat,lon\n2018,1,,12:00,1,2\n",
     ":2: time \"12:00\" is given without the day"},
    {"date,time,lat,lon\n2018-01-31,2018-02-01T02:00,1,2\n",
     ":2: time \"2018-02-01T02:00\" is not of the date \"2018-01-31\""},
    {"year,lat,lon\n20180131,1,2\n", ":2: year 20180131 is outside -99999 to 9999"}};
  for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
    tomo_site *s;
    const int64_t n = list_read(list_read_events, good[i].table, &s);
    OSLA_ASSERT_MSG(n == 1 && (isnan(good[i].seconds) ? isnan(s->time_s)
                                                      : fabs(s->time_s - good[i].seconds) < 1e-5),
                    "%s: %.6f", good[i].table, n == 1 ? s->time_s : 0.0);
    free(s);
  }
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
    list_refuse(list_read_events, bad[i][0], bad[i][1]);
}

/* A depth column with an unknown name is an error: its depths must not be read as 0 km. */
void test_list_depths(void)
{
  static const char *const names[] = {"depth_m", "Focal Depth", "hypo_DEPTH", "\"Dep.\""};
  static const char *const known =
    "\" is not known; a depth in km has one of the names depth_km|depth|dep|depth/km|...";
  char table[200], expected[200];
  tomo_site *s;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    const int quote = names[i][0] == '"';
    snprintf(table, sizeof table, "id,lat,lon,%s,mag\n1,1,2,500,5\n", names[i]);
    snprintf(expected, sizeof expected, ":1: the column \"%.*s%s",
             (int)strlen(names[i]) - 2 * quote, names[i] + quote, known);
    list_refuse(list_read_events, table, expected);
  }
  CU_ASSERT(list_read(list_read_events, "Latitude\tLongitude\tFocal Depth (km)\n1\t2\t500\n", &s) ==
            1);
  if (s) CU_ASSERT(s->depth_km == 500.0);
  free(s);
  CU_ASSERT(list_read(list_read_events, "lat,lon,depth,depth_error\n1,2,500,7\n", &s) == 1);
  if (s) CU_ASSERT(s->depth_km == 500.0);
  free(s);
}
