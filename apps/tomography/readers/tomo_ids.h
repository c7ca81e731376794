/* Finds the site of a list that an id names, by hash tables (private to the reader of
 * measurements). Local. */
#ifndef TOMO_IDS_H
#define TOMO_IDS_H

#include <stdint.h>

#include "apps/tomography/readers/tomo_io.h"
#include "osla_error.h"

typedef struct tomo_ids tomo_ids;

enum { TOMO_IDS_NONE = -1, TOMO_IDS_SEVERAL = -2 };

/* Creates the tables for a list of events (key: the id) or of stations (keys: NETWORK.STATION and
 * STATION). In a list of events without ids, ids are numbers (tomo_selection.h). The sites are
 * borrowed. Errors: MEM. */
osla_err tomo_ids_create(const tomo_site *sites, int64_t count, int are_stations, tomo_ids **ids);
void tomo_ids_destroy(tomo_ids **ids);

/* Index of the event with the id; TOMO_IDS_NONE if there is none, TOMO_IDS_SEVERAL if several with
 * different coordinates have it. Several with equal coordinates: the first one. */
int64_t tomo_ids_event(const tomo_ids *ids, const char *id);

/* Index of the station with the network and station code, or TOMO_IDS_NONE or TOMO_IDS_SEVERAL. If
 * the list or the caller (network "") has no network, the station code alone decides, provided that
 * it is unique. */
int64_t tomo_ids_station(const tomo_ids *ids, const char *network, const char *station);

#endif
