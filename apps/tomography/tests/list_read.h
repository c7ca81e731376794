/* Readers of whole lists of stations and earthquakes, without a selection, for tests and the
 * fuzzer. */
#ifndef LIST_READ_H
#define LIST_READ_H

#include "apps/tomography/readers/tomo_io.h"

/* tomo_read_stations and tomo_read_events read a whole file. Events without coordinates are
 * excluded. The epochs of a station (FDSN text, StationXML) give one entry, from the first epoch.
 *   file  [in]  path
 *   sites [out] malloc'ed array in file order; the caller frees it; NULL on error
 *   count [out] number of sites, at least 1; 0 on error
 * Errors: OSLA_ERR_IO with one line, "FILE:LINE: what and the offending value" for an error in the
 * contents, "FILE: reason" for the file as a whole (missing, unreadable, no entries, no event with
 * coordinates); OSLA_ERR_MEM. */
osla_err list_read_stations(const char *file, tomo_site **sites, int64_t *count);
osla_err list_read_events(const char *file, tomo_site **sites, int64_t *count);

#endif
