/* Errors that name the filters (compressors) of an HDF5 data set (layer 2, private). Local. */
#ifndef OSLA_HDF5_FILTER_H
#define OSLA_HDF5_FILTER_H

#include "osla_error.h"

#ifdef HAVE_HDF5

#include <hdf5.h>

/* Error UNSUPPORTED, with a remedy, if this HDF5 library lacks a filter of the data set. Call it
 * only after a read has failed: chunks that a filter does not shorten are stored without it, so a
 * data set may be readable although the filter is missing.
 *   file, name [in] of the data set, for the error text */
osla_err osli_hdf5_check_filters(hid_t set, const char *file, const char *name);

/* Fails with error IO, and a remedy in its text, if the data set has any filter. It checks data
 * sets of osla, which writes them without filters.
 *   file, name [in] of the data set, for the error text */
osla_err osli_hdf5_check_unfiltered(hid_t set, const char *file, const char *name);

#endif
#endif
