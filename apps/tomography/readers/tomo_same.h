/* Lists of entries that mean one station or one earthquake. Local, thread-safe. */
#ifndef TOMO_SAME_H
#define TOMO_SAME_H

#include "apps/tomography/readers/tomo_io.h"

/* Keep the first of the entries that are one, in their order; *count is lowered.
 *   stations  the same id within 0.1 degree: epochs, channels, lists of several data centres; a
 *             code has several stations where networks of experiments use it again
 *   events    the same id
 * What has no id is nobody's double. Errors: MEM. */
osla_err tomo_merge_stations(tomo_site *sites, int64_t *count);
osla_err tomo_merge_events(tomo_site *sites, int64_t *count);

#endif
