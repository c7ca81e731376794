/* Which site of a list does an id name? Hash tables, private to the reader of measurements. Local.
 */
#ifndef TOMO_IDS_H
#define TOMO_IDS_H

#include <stdint.h>

#include "apps/tomography/readers/tomo_io.h"
#include "osla_error.h"

typedef struct tomo_ids tomo_ids;

enum { TOMO_IDS_NONE = -1, TOMO_IDS_SEVERAL = -2 };

/* Of events: their ids (those of a list without are numbers: tomo_choice.h). Of stations:
 * NETWORK.STATION, and STATION. The sites are borrowed. Errors: MEM. */
osla_err tomo_ids_create(const tomo_site *sites, int64_t count, int are_stations, tomo_ids **ids);
void tomo_ids_destroy(tomo_ids **ids);

/* Number of the site, or one of the two above. Sites of one id at one place are the first. */
int64_t tomo_ids_event(const tomo_ids *ids, const char *id);

/* By network and station; by the station alone where the list or the caller (network "") has no
 * network, if that is only one. */
int64_t tomo_ids_station(const tomo_ids *ids, const char *network, const char *station);

#endif
