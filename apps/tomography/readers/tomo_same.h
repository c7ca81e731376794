/* Merges entries that describe one station or one earthquake. Local, thread-safe. */
#ifndef TOMO_SAME_H
#define TOMO_SAME_H

#include "apps/tomography/readers/tomo_io.h"

/* Removes duplicates: the first of equal entries stays, in its order; *count is reduced.
 *   stations  equal ids within 0.1 degree: epochs, channels, lists of several data centres. Farther
 *             apart they are different stations, because temporary networks use codes again.
 *   events    equal ids
 * An entry without id is never a duplicate. Errors: MEM. */
osla_err tomo_merge_stations(tomo_site *sites, int64_t *count);
osla_err tomo_merge_events(tomo_site *sites, int64_t *count);

#endif
