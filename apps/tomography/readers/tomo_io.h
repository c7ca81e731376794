/* Stations and earthquakes from files.
 *
 * All calls are local (no communication) and thread-safe. The first line that is not blank
 * determines the format:
 *   both      XML if it begins with < and is not a web page
 *   stations  FDSN text if it begins with "#Network |"; CSV if it contains a comma, a semicolon, a
 *             tab or |, and its third and fourth word are not both numbers; else SPECFEM's columns:
 *             name network latitude longitude [elevation burial ...], separated by blanks
 *   events    GCMT NDK if it has a slash-separated date in columns 6-15, else CSV with a header,
 *             FDSN text or the ISC's catalogue
 * CSV: fields are separated by commas, semicolons, tabs or |, whichever is most frequent in the
 * header.
 * CSV headers: latitude (lat), longitude (lon, long); for stations station (name, code, sta) and
 * network (net); for events depth_km (depth, dep), mag (magnitude), place (region, name), id
 * (event, event_id) and time (origin_time), or date and time, or as many of year, month, day, hour,
 * minute and second as are known (tomo_text.h: a date and parts are combined; a part that
 * would be ignored is an error). The names of SeisBench (source_latitude_deg, station_latitude_deg,
 * ...) are known, too. Case and order do not matter; other columns are ignored. Fields may be
 * quoted with ", which is doubled inside quotes.
 *
 * A list of events that is read as stations, or a list of stations that is read as events, is an
 * error if the header shows the kind. FDSN text shows it by #EventID or #Network. A CSV header
 * shows events if it has a magnitude and no station. It shows stations if it has a station, network
 * or elevation, but no magnitude, time or id, and no depth (a depth beside an elevation does not
 * count).
 *
 * Catalogue of the ISC: CSV whose header ends in DEPFIX, AUTHOR, TYPE, MAG. A row may repeat the
 * last three any number of times; the first magnitude that is not empty is used. Lines before the
 * header, as on the ISC's page (text or HTML), are skipped; the line STOP must then end the
 * catalogue. Lines after STOP are skipped, too, up to the header EVENTID of another catalogue; a
 * row of a table among them is an error.
 *
 * Missing values, in all formats of events: an event without latitude or longitude is excluded, a
 * missing depth is 0 km, and a missing magnitude or time is unknown, like a time before the year 1.
 * A value is missing if its field is empty or NaN; any other invalid value is an error. A column
 * with "dep" in its name is an error if no column is known as a depth.
 *
 * FDSN text: output of the web services fdsnws-station (level=station or channel) and fdsnws-event
 * with format=text (www.fdsn.org/webservices), with | between fields and no quotes. The header
 * determines the columns and may occur again, as in concatenated files: Network, Station, Latitude,
 * Longitude, StartTime, EndTime; for events the columns of CSV, and Depth/km, EventID and
 * EventLocationName. Lines of stations with equal codes within 0.1 degree (channels, epochs, other
 * data centres) are merged to one station at the first line's coordinates.
 *
 * StationXML (FDSN, versions 1.x): stations with their epochs, merged like those of FDSN text.
 * QuakeML 1.2: the preferred origin and magnitude of each event, else the first ones; an origin
 * without latitude and longitude and a magnitude without a value are ignored. An event's id is the
 * publicID or, if that is too long, its last part: the text after eventid=, else after the last
 * slash.
 *
 * NDK: five lines of fixed columns for each event: region and time from line 1, id (CMT event name)
 * from line 2, time shift, latitude, longitude and depth of the centroid from line 3, scalar moment
 * from lines 4-5 (converted to Mw). Source: www.ldeo.columbia.edu/~gcmt. A value of lines 3 to 5 is
 * missing if its columns are blank.
 *
 * Empty lines and lines that begin with # are skipped (except within an NDK event). CR LF, a UTF-8
 * byte order mark and a missing final newline are accepted. A line has at most TOMO_LINE_MAX - 1
 * bytes, except in XML.
 */
#ifndef TOMO_IO_H
#define TOMO_IO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "osla_error.h"

enum { TOMO_NAME_MAX = 32, TOMO_ID_MAX = 64, TOMO_LINE_MAX = 4096 };

/* A station or an event. Plain bytes without pointers: it may be broadcast as sizeof(tomo_site)
 * bytes (padding included, all of it initialised). */
typedef struct tomo_site {
  double latitude;  /* geographic latitude, degrees north, -90 .. 90 */
  double longitude; /* longitude in degrees east, as in the file, -180 .. 360 */
  double depth_km;  /* depth of an event in km, -10 .. 800, positive down; 0 for stations */
  double magnitude; /* magnitude of an event; NaN if unknown, and for stations */
  /* origin time of an event, or begin of a station's epoch, in seconds of UTC since 1970
   * (tomo_text.h); NaN if unknown */
  double time_s;
  double end_s; /* end of a station's epoch; NaN if the epoch is open, and for events */
  /* name: "IU.ANMO" for a station, the region for an event; cut to fit, ends with '\0' */
  char name[TOMO_NAME_MAX];
  /* id by which tables of measurements name the entry: "IU.ANMO" for a station ("ANMO" without a
   * network), the catalogue's id for an event; "" if the id is missing or too long */
  char id[TOMO_ID_MAX];
} tomo_site;

/* The first events that are excluded because they have no coordinates, as "FILE:LINE: what is
 * missing". Plain bytes without pointers. */
enum { TOMO_UNLOCATED_MAX = 10, TOMO_UNLOCATED_TEXT = 320 };
typedef struct tomo_unlocated {
  int64_t listed; /* number of notes, 0 .. TOMO_UNLOCATED_MAX */
  char note[TOMO_UNLOCATED_MAX][TOMO_UNLOCATED_TEXT];
} tomo_unlocated;

/* Functions that read whole files, and check files that are opened more than once. Local,
 * thread-safe. */

/* Reads a file and appends a 0 that *size does not count. The caller frees *bytes. Errors:
 * OSLA_ERR_IO "FILE: reason", OSLA_ERR_MEM. */
osla_err tomo_file_read(const char *file, void **bytes, size_t *size);

/* Returns error OSLA_ERR_IO "FILE: reason" unless the path is a regular file, which can be opened
 * again and read from its beginning (a pipe cannot). */
osla_err tomo_file_check(const char *file);

/* True if the file begins with the signature of HDF5. */
bool tomo_file_is_hdf5(const char *file);

/* Hash tables that find the station or event of a list by its id. All calls are local. */
typedef struct tomo_ids tomo_ids;

enum { TOMO_IDS_NONE = -1, TOMO_IDS_SEVERAL = -2 };

/* Creates the hash tables for a list of events (key: the id) or of stations (keys: NETWORK.STATION
 * and STATION). The id of an event that has none in its file is its index in the list
 * (tomo_selection.h). The array `sites` must outlive the tables. Errors: MEM. */
osla_err tomo_ids_create(const tomo_site *sites, int64_t count, int are_stations, tomo_ids **ids);
void tomo_ids_destroy(tomo_ids **ids);

/* Index of the event with the id. TOMO_IDS_NONE if no event has the id; TOMO_IDS_SEVERAL if events
 * with different coordinates have it. Of events with equal id and coordinates, the first one
 * counts. */
int64_t tomo_ids_event(const tomo_ids *ids, const char *id);

/* Index of the station with the network and station code, or TOMO_IDS_NONE or TOMO_IDS_SEVERAL. If
 * the caller passes no network (""), or the station of the list has none, the station code alone
 * decides; it must then be unique. */
int64_t tomo_ids_station(const tomo_ids *ids, const char *network, const char *station);

#endif
