/* Tests of StationXML and QuakeML, good, bad and hostile. No communication. */
#include "config.h"

#include "apps/tomography/tests/list_help.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define STATIONS(content)                                                                          \
  "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"                                                   \
  "<FDSNStationXML xmlns=\"http://www.fdsn.org/xml/station/1\" "                                   \
  "xmlns:x=\"http://example.org\" schemaVersion=\"1.1\">\n"                                        \
  "<Source>a</Source><Created>2020-01-01T00:00:00</Created>\n" content "\n</FDSNStationXML>\n"

#define EVENTS(content)                                                                            \
  "<?xml version='1.0' encoding='utf-8'?>\n"                                                       \
  "<q:quakeml xmlns=\"http://quakeml.org/xmlns/bed/1.2\" "                                         \
  "xmlns:q=\"http://quakeml.org/xmlns/quakeml/1.2\">\n"                                            \
  "<eventParameters publicID=\"smi:local/all\">\n" content "\n</eventParameters></q:quakeml>\n"

#define AT(latitude, longitude)                                                                    \
  "<Latitude>" latitude "</Latitude><Longitude>" longitude "</Longitude>"                          \
  "<Elevation>1200</Elevation>"

#ifdef HAVE_LIBXML2

/* Reads StationXML with a byte order mark, a station with two epochs at one position and one far
 * away, a channel with a position of its own, and elements of other namespaces. */
static void test_stations(void)
{
  tomo_site *s;
  int64_t n = list_read(
    list_read_stations,
    "\xef\xbb\xbf" STATIONS(
      "<Network code=\"IU\" startDate=\"1988-01-01T00:00:00\">"
      "<Description>a &amp; b</Description>\n"
      "<Station code=\"ANMO\" startDate=\"1989-08-29T00:00:00\" endDate=\"1995-07-13T24:00:00\">\n"
      "<x:Latitude>1</x:Latitude>" AT(
        "34.9462",
        "-106.4567") "<Site><Name>A</Name></Site>\n"
                     "<Channel code=\"BHZ\" locationCode=\"00\">" AT(
                       "1", "2") "</Channel></Station>\n"
                                 "<Station code=\"ANMO\" startDate=\"2002-11-19T21:07:00Z\">"
                                 "<Latitude unit=\"DEGREES\"> "
                                 "34.945913\n</Latitude><Longitude>-106.457</Longitude></Station>\n"
                                 "<Station code=\"ANMO\">" AT(
                                   "10",
                                   "20") "</Station></Network>\n"
                                         "<Network code=\"2A\" endDate=\"2010\">"
                                         "<Station code=\"B\" endDate=\"2599-12-31T23:59:59\">" AT(
                                           "-1", "360") "</Station></Network>"),
    &s);
  CU_ASSERT(n == 3);
  if (n == 3) {
    CU_ASSERT(strcmp(s[0].name, "IU.ANMO") == 0 && strcmp(s[0].id, "IU.ANMO") == 0);
    CU_ASSERT(s[0].latitude == 34.9462 && s[0].longitude == -106.4567 && isnan(s[0].magnitude));
    CU_ASSERT(s[0].time_s == 620352000.0 && s[0].end_s == 805680000.0);
    CU_ASSERT(s[1].latitude == 10.0 && s[1].time_s == 567993600.0 && isnan(s[1].end_s));
    CU_ASSERT(strcmp(s[2].id, "2A.B") == 0 && s[2].longitude == 360.0);
    /* the end of the network's epoch, which precedes that of the station */
    CU_ASSERT(s[2].end_s == 1262304000.0);
  }
  free(s);
}

#define ORIGIN(id, latitude)                                                                       \
  "<origin publicID=\"" id "\"><time><value>2012-04-11T08:38:36.720000Z</value></time>"            \
  "<latitude><value>" latitude "</value><uncertainty>77</uncertainty></latitude>"                  \
  "<longitude><value>93.06</value></longitude><depth><value>20000</value></depth></origin>"
#define MAGNITUDE(id, value)                                                                       \
  "<magnitude publicID=\"" id "\"><mag><value>" value "</value></mag><type>Mw</type></magnitude>"

static void test_events(void)
{
  tomo_site *s;
  int64_t n = list_read(
    list_read_events,
    EVENTS("<event publicID=\"smi:local/event/us2012\">"
           "<description><text>Sumatra</text><type>earthquake name</type></description>"
           "<description><type>Flinn-Engdahl region</type><text>OFF &lt;W COAST&gt;</text>"
           "</description>" ORIGIN("q?a&amp;o1", "1.5") ORIGIN("q?a&amp;o2", "2.327")
             MAGNITUDE("m1", "8.4") MAGNITUDE(
               "m2", "8.6") "<preferredOriginID> q?a&amp;o2\n</preferredOriginID>"
                            "<preferredMagnitudeID>m2</preferredMagnitudeID></event>\n"
                            "<event publicID=\"quakeml:earthquake.usgs.gov/fdsnws/event/1/"
                            "query?eventid=us20005j32&amp;format=quakeml\">"
                            "<preferredOriginID>elsewhere</preferredOriginID>" ORIGIN("o1", "-3")
                              ORIGIN("o2", "4")
                                MAGNITUDE("m", "5") "</event>\n"
                                                    "<event><origin><latitude><value>1</value>"
                                                    "</latitude><longitude><value>2</value>"
                                                    "</longitude></origin></event>"),
    &s);
  CU_ASSERT(n == 3);
  if (n == 3) {
    CU_ASSERT(s[0].latitude == 2.327 && s[0].longitude == 93.06 && s[0].depth_km == 20.0);
    CU_ASSERT(s[0].magnitude == 8.6 && strcmp(s[0].name, "OFF <W COAST>") == 0);
    CU_ASSERT(strcmp(s[0].id, "smi:local/event/us2012") == 0);
    OSLA_ASSERT_CLOSE(s[0].time_s, 1334133516.72, 1e-5);
    CU_ASSERT(s[1].latitude == -3.0 && s[1].magnitude == 5.0);
    CU_ASSERT(strcmp(s[1].id, "us20005j32") == 0);
    CU_ASSERT(s[2].depth_km == 0.0 && isnan(s[2].time_s) && isnan(s[2].magnitude));
    CU_ASSERT(s[2].id[0] == '\0' && s[2].name[0] == '\0');
  }
  free(s);
}

/* Events without coordinates are excluded; an origin or a magnitude without a value is ignored. */
static void test_incomplete_events(void)
{
  tomo_site *s;
  int64_t n = list_read(
    list_read_events,
    EVENTS("<event publicID=\"a\"/><event publicID=\"b\">" ORIGIN(
      "o1",
      "") "</event>"
          "<event publicID=\"c\"><preferredOriginID>o1</preferredOriginID>"
          "<preferredMagnitudeID>m1</preferredMagnitudeID>" ORIGIN("o1", "") ORIGIN("o2", "3")
             ORIGIN("o3", "4") MAGNITUDE("m1", "NaN") MAGNITUDE(
               "m2",
               "6") "</event><event publicID=\"d\"><origin><longitude><value>1</value></longitude>"
                    "</origin></event>"),
    &s);
  CU_ASSERT(n == 1);
  if (n == 1) CU_ASSERT(strcmp(s[0].id, "c") == 0 && s[0].latitude == 3.0 && s[0].magnitude == 6.0);
  free(s);
}

static void test_bad_stations(void)
{
  list_reader *read = list_read_stations;
  list_refuse(read, STATIONS(""), ": no station in this file");
  list_refuse(read,
              STATIONS("<Network code=\"IU\">\n<Station>" AT("1", "2") "</Station></Network>"),
              ":5: station \"\" is not a code of 1 to 15 letters and digits");
  list_refuse(read,
              STATIONS("<Network code=\"IU\"><Station code=\"A\">\n<Latitude>\n91</Latitude>"
                       "</Station></Network>"),
              ":5: latitude 91 is outside -90 to 90");
  list_refuse(read,
              STATIONS("<Network code=\"IU\"><Station code=\"A\"><Latitude>9</Latitude></Station>"
                       "</Network>"),
              ":4: station IU.A has no Longitude");
  list_refuse(read,
              STATIONS("<Network code=\"IU\"><Station code=\"A\"><Latitude unit=\"RADIANS\">1"
                       "</Latitude></Station></Network>"),
              ":4: unit \"RADIANS\" of the latitude is not DEGREES");
  list_refuse(read,
              STATIONS("<Network code=\"IU\" startDate=\"1990-02-30\"><Station code=\"A\"/>"
                       "</Network>"),
              ":4: startDate \"1990-02-30\" is not a time of ISO 8601, such as "
              "2018-01-31T02:00:31.8");
  list_refuse(list_read_stations,
              STATIONS("<Network code=\"IU\"><Station code=\"A\" endDate=\"NaN\"/></Network>"),
              ":4: endDate \"NaN\" is not a time of ISO 8601, such as 2018-01-31T02:00:31.8");
  list_refuse(read, EVENTS(""),
              ":2: XML: the root is \"quakeml\" of namespace "
              "\"http://quakeml.org/xmlns/quakeml/1.2\", and FDSN StationXML 1 has "
              "\"FDSNStationXML\" of \"http://www.fdsn.org/xml/station/1\"");
  list_refuse(read, "<FDSNStationXML><Network code=\"IU\"/></FDSNStationXML>",
              ":1: XML: the root is \"FDSNStationXML\" of namespace \"\", and ...");
}

static void test_bad_events(void)
{
  list_reader *read = list_read_events;
  list_refuse(read, EVENTS(""), ": no event in this file");
  list_refuse(read,
              "<q:quakeml xmlns:q='http://quakeml.org/xmlns/quakeml/1.2'\n "
              "xmlns='http://quakeml.org/xmlns/bed/1.1'>\n<eventParameters>\n<event/>\n"
              "</eventParameters></q:quakeml>",
              ":3: XML: elements below the root have the namespace "
              "\"http://quakeml.org/xmlns/bed/1.1\", and those of QuakeML 1.2 "
              "\"http://quakeml.org/xmlns/bed/1.2\"");
  list_refuse(read, EVENTS("<event publicID=\"a\">\n</event>\n<event/>"),
              ":4: event \"a\" has no origin; none of 2 events has a place");
  list_refuse(read, EVENTS("<event publicID=\"a\"><origin/></event>"),
              ":4: event \"a\" has no origin with a place; none of 1 events has a place");
  list_refuse(read, EVENTS("<event>" ORIGIN("o", "1") ORIGIN("p", "1x") "</event>"),
              ":4: latitude \"1x\" is not a number");
  list_refuse(read,
              EVENTS("<event><origin><depth>\n<value>800001</value></depth></origin></event>"),
              ":5: depth in m 800001 is outside -10000 to 800000");
  list_refuse(read, EVENTS("<event>" ORIGIN("o", "1") MAGNITUDE("m", "inf") "</event>"),
              ":4: magnitude inf is not finite");
  list_refuse(read,
              "<quakeml xmlns=\"http://quakeml.org/xmlns/quakeml/1.1\"><eventParameters/>"
              "</quakeml>",
              ":1: XML: the root is \"quakeml\" of namespace ...");
}

/* The reader opens no other file or address, and expands no entity that the file declares. */
static void test_hostile(void)
{
  list_reader *read = list_read_stations;
  static const char dtd[] = ": XML: a document type declaration, which is not accepted";
  char secret[64], text[8192], expected[128];
  list_write("34.9", secret);
  snprintf(expected, sizeof expected, ":2%s", dtd);
  snprintf(text, sizeof text,
           "<?xml version=\"1.0\"?>\n<!DOCTYPE a [<!ENTITY e SYSTEM \"file://%s\">]>\n"
           "<FDSNStationXML xmlns=\"http://www.fdsn.org/xml/station/1\"><Network code=\"IU\">"
           "<Station code=\"A\"><Latitude>&e;</Latitude></Station></Network></FDSNStationXML>",
           secret);
  list_refuse(read, text, expected);
  list_refuse(read, "<?xml version=\"1.0\"?>\n<!DOCTYPE a SYSTEM \"http://127.0.0.1:1/a.dtd\"><a/>",
              expected);
  list_refuse(read,
              "<?xml version=\"1.0\"?>\n<!DOCTYPE a [<!ENTITY a \"aaaaaaaaaaaaaaaaaaaa\">"
              "<!ENTITY b \"&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;\"><!ENTITY c \"&b;&b;&b;&b;&b;&b;&b;\">"
              "<!ENTITY d \"&c;&c;&c;&c;&c;&c;&c;\"><!ENTITY e \"&d;&d;&d;&d;&d;&d;&d;\">]>"
              "<FDSNStationXML a=\"&e;\">&e;</FDSNStationXML>",
              expected);
  list_refuse(read, STATIONS("<Network code=\"IU\">&unknown;</Network>"), ":4: XML: Entity ...");
  list_refuse(read, "<?xml version=\"1.0\" encoding=\"EUC-JP\"?>\n<a>\xff\xff\xff\xff</a>",
              ":1: XML: input conversion failed ...");
  unlink(secret);

  size_t n = (size_t)snprintf(text, sizeof text,
                              "<FDSNStationXML xmlns=\"http://www.fdsn.org/xml/station/1\">");
  for (int i = 0; i < 1000; i++)
    n += (size_t)snprintf(text + n, sizeof text - n, "<a>");
  list_refuse(read, text, ":1: XML: elements are nested more than 64 deep");
  n = (size_t)snprintf(text, sizeof text,
                       "<FDSNStationXML xmlns=\"http://www.fdsn.org/xml/station/1\"><");
  memset(text + n, 'a', 2000);
  snprintf(text + n + 2000, sizeof text - n - 2000, ">");
  list_refuse(read, text, ":1: XML: names of elements are too long");
}

/* Returns StationXML with n different attributes or namespace declarations between `before` and
 * `after`; the caller frees it. Within a comment, a CDATA section or an attribute's value they are
 * no attributes. */
static char *make_attributes(const char *before, const char *attribute, const char *value, int n,
                             const char *after)
{
  const size_t room = 32 * (size_t)n + 1024;
  char *text = calloc(room, 1);
  CU_ASSERT_FATAL(text != NULL);
  size_t at = (size_t)snprintf(text, room,
                               "<FDSNStationXML xmlns=\"http://www.fdsn.org/xml/station/1\">"
                               "<Network code=\"IU\"><Station code=\"A\"%s",
                               before);
  for (int i = 0; i < n; i++)
    at += (size_t)snprintf(text + at, room - at, " %s%d=\"%s\"", attribute, i, value);
  (void)snprintf(text + at, room - at, "%s" AT("1", "2") "</Station></Network></FDSNStationXML>",
                 after);
  return text;
}

static void refuse_attributes(const char *before, const char *attribute, const char *value, int n,
                              const char *expected)
{
  char *text = make_attributes(before, attribute, value, n, ">");
  list_refuse(list_read_stations, text, expected);
  free(text);
}

static void accept_attributes(const char *before, int n, const char *after)
{
  char *text = make_attributes(before, "a", "", n, after);
  tomo_site *s;
  CU_ASSERT(list_read(list_read_stations, text, &s) == 1);
  free(s);
  free(text);
}

/* Input that would make libxml2 work for a time quadratic in its size is rejected before that time
 * is large. */
static void test_many_attributes(void)
{
  static const char tag[] = ":1: XML: a tag of more than 65536 bytes";
  enum { MANY = 200000 };
  refuse_attributes("", "a", "", MANY, tag);
  refuse_attributes(" b='>' c='/>'", "a", ">", MANY, tag);
  refuse_attributes("", "xmlns:a", "u", MANY, tag);
  refuse_attributes("", "a", "", 256, ":1: XML: an element has 257 attributes, more than 256");
  refuse_attributes("", "xmlns:a", "u", 256, ":1: XML: 257 namespaces are declared here, more ...");
  refuse_attributes(" xmlns:a='u'><b xmlns:c='v'", "xmlns:a", "u", 254,
                    ":1: XML: 257 namespaces are declared here, more ...");
  accept_attributes("", 255, ">");
  accept_attributes("><!--", MANY, "-->");
  accept_attributes("><?x", MANY, "?>");
  accept_attributes("><Site><![CDATA[<b", MANY, "]]></Site>");
}

/* A file that is cut at any byte is rejected with a message of one line; control characters in the
 * region of an event become blanks. */
static void test_cut(void)
{
  static const char whole[] =
    STATIONS("<Network code=\"IU\"><Station code=\"A\">" AT("1", "2") "</Station></Network>");
  char path[64], text[sizeof whole];
  tomo_site *sites;
  int64_t count;
  for (size_t n = 1; n < sizeof whole - 2; n++) {
    memcpy(text, whole, n);
    text[n] = '\0';
    list_write(text, path);
    OSLA_ASSERT_ERR(list_read_stations(path, &sites, &count), OSLA_ERR_IO);
    OSLA_ASSERT_MSG(strncmp(osla_error_text(), path, strlen(path)) == 0, "%s", osla_error_text());
    CU_ASSERT(!strchr(osla_error_text(), '\n') && sites == NULL);
    unlink(path);
  }
  int64_t n =
    list_read(list_read_events,
              EVENTS("<event><description><text> a&#9;b&#10;c </text></description>" ORIGIN(
                "o", "1") "</event>"),
              &sites);
  CU_ASSERT(n == 1 && strcmp(sites[0].name, "a b c") == 0);
  free(sites);
}

#else

static void test_none(void)
{
  list_refuse(list_read_stations, STATIONS(""), ": is XML, and ...");
  list_refuse(list_read_events, EVENTS(""), ": is XML, and ...");
}

#endif

static const osla_test_case cases[] = {
#ifdef HAVE_LIBXML2
  {"stations", test_stations},
  {"events", test_events},
  {"incomplete_events", test_incomplete_events},
  {"bad_stations", test_bad_stations},
  {"bad_events", test_bad_events},
  {"hostile", test_hostile},
  {"many_attributes", test_many_attributes},
  {"cut", test_cut},
#else
  {"none", test_none},
#endif
  {NULL, NULL}};
OSLA_TEST_SUITE(test_tomo_xml, cases);
