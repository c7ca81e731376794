/* Stations and earthquakes from files.
 *
 * All calls are local (no communication) and thread-safe. The format is found from the first line
 * of content:
 *   both      XML if it begins with <, blanks aside, and is no web page
 *   stations  FDSN text if it begins with "#Network |"; CSV if it contains a comma, a semicolon, a
 *             tab or |, and its third and fourth word are not both numbers; else SPECFEM's columns:
 *             name network latitude longitude [elevation burial ...], blanks between them
 *   events    GCMT NDK when it has a slash-separated date in columns 6-15, else CSV with header,
 *             FDSN text or the ISC's catalogue
 * CSV: fields are separated by commas, semicolons, tabs or |: by what occurs most often in the
 * header.
 * CSV headers: latitude (lat), longitude (lon, long), and for stations station (name, code, sta)
 * and network (net), for events depth_km (depth, dep), mag (magnitude), place (region, name), id
 * (event, event_id) and time (origin_time), or date and time, or year, month, day, hour, minute and
 * second as far as they are given (tomo_event_time.h: a date and parts are combined, and one that
 * would not count is an error); the names of SeisBench (source_latitude_deg,
 * station_latitude_deg, ...); in any case and order; other columns are ignored. Fields may be
 * quoted with ", which is doubled inside.
 *
 * A list of the other kind is refused where its header shows that: #Network or #EventID of FDSN
 * text; in CSV a magnitude without a station; a station, network or elevation without magnitude,
 * time and id (and, but for an elevation, without a depth).
 *
 * Catalogue of the ISC: CSV whose header ends in DEPFIX, AUTHOR, TYPE, MAG. A row may have the last
 * three any number of times; the first magnitude that is given counts. Lines before the header, as
 * the ISC's page has them (text or HTML), are skipped; then the line STOP must end the catalogue.
 * What is behind STOP is skipped, too, up to the header EVENTID of another catalogue; a row of a
 * table there is an error.
 *
 * One rule holds for events of all formats: one without a latitude or a longitude has no place and
 * is left out, a missing depth is 0 km, a missing magnitude or time is not known, and neither is
 * a time before the year 1. A value is missing where the field is empty or NaN; one that is given
 * and wrong is an error. So is, where no depth has a name that is known, a column with "dep" in its
 * name.
 *
 * FDSN text: what the web services fdsnws-station (level=station or channel) and fdsnws-event give
 * with format=text (www.fdsn.org/webservices); | between the fields, no quotes. The columns are
 * found by the header, which may come again, as in files that are put together: Network, Station,
 * Latitude, Longitude, StartTime, EndTime; of events those of CSV, Depth/km, EventID and
 * EventLocationName. Lines of stations with the same codes within 0.1 degree (channels, epochs,
 * other data centres) are one station, at the first line's place.
 *
 * StationXML (FDSN, versions 1.x): stations with their epochs, merged in the same way. QuakeML 1.2:
 * of each event the preferred origin and magnitude, else the first ones; an origin without latitude
 * and longitude, and a magnitude without a value, are passed over. An event's id is the publicID,
 * or, where that does not fit, its last part: behind eventid=, else behind the last slash.
 *
 * NDK: five lines of fixed columns per event; place and time from line 1, id (CMT event name) from
 * line 2, time shift, latitude, longitude and depth of the centroid from line 3, scalar moment from
 * lines 4-5 (turned into Mw). Source: www.ldeo.columbia.edu/~gcmt. A value of lines 3 to 5 is
 * missing where its columns are blank.
 *
 * Lines that are empty or begin with # are skipped (not within an NDK event). CR LF, a UTF-8 byte
 * order mark and a missing final newline are accepted; lines are at most TOMO_LINE_MAX - 1 bytes,
 * but in XML.
 */
#ifndef TOMO_IO_H
#define TOMO_IO_H

#include <stdint.h>

#include "osla_error.h"

enum { TOMO_NAME_MAX = 32, TOMO_ID_MAX = 64, TOMO_LINE_MAX = 4096 };

/* A station or an event. Plain bytes without pointers: it may be broadcast as sizeof(tomo_site)
 * bytes (padding included, all of it initialised). */
typedef struct tomo_site {
  double latitude;  /* geographic, degrees north, -90 .. 90 */
  double longitude; /* degrees east, as read, -180 .. 360 */
  double depth_km;  /* events: -10 .. 800, positive down; stations: 0 */
  double magnitude; /* events: NaN where the file gives none; stations: NaN */
  double time_s; /* events: when, UTC seconds since 1970 (tomo_time.h); stations: begin of an epoch;
                    NaN: not known */
  double end_s;  /* stations: end of that epoch, NaN: open; events: NaN */
  char name[TOMO_NAME_MAX]; /* station "IU.ANMO", event place; cut to fit, ends with '\0' */
  char id[TOMO_ID_MAX];     /* what tables of data call it: station "IU.ANMO", or "ANMO" where there
                               is no network; event as its catalogue names it; "": it has none, or
                               one that does not fit */
} tomo_site;

/* The first events that are left out because their list gives no place for them: "FILE:LINE: what
 * is missing". Plain bytes, as tomo_site. */
enum { TOMO_PLACELESS_MAX = 10, TOMO_PLACELESS_TEXT = 320 };
typedef struct tomo_placeless {
  int64_t listed; /* 0 .. TOMO_PLACELESS_MAX */
  char note[TOMO_PLACELESS_MAX][TOMO_PLACELESS_TEXT];
} tomo_placeless;

/* Read a whole file. Events without a place are left out. Of stations with epochs (FDSN text,
 * StationXML) one entry each, the first.
 *   file  [in]  path
 *   sites [out] malloc'ed array in file order; the caller frees it; NULL on error
 *   count [out] its length, at least 1; 0 on error
 * Errors: OSLA_ERR_IO with one line "FILE:LINE: what and the offending value" for what stands in
 * the file, "FILE: reason" for what is wrong with the file (missing, unreadable, without entries,
 * without an event that has a place);
 * OSLA_ERR_MEM. */
osla_err tomo_read_stations(const char *file, tomo_site **sites, int64_t *count);
osla_err tomo_read_events(const char *file, tomo_site **sites, int64_t *count);

#endif
