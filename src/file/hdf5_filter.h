/* Filters (compressors) of data sets in HDF5: errors that name them (floor 2, private). Local. */
#ifndef OSLA_HDF5_FILTER_H
#define OSLA_HDF5_FILTER_H

#include "osla_error.h"

#ifdef HAVE_HDF5

#include <hdf5.h>

/* OSLA_ERR_UNSUPPORTED, with what to do, if this HDF5 library lacks a filter of the data set.
 * Call it after a failed reading, not before one: a filter is not applied to a chunk that it cannot
 * shorten, so that a data set may be readable without it.
 *   file, name [in] of the data set, for the text */
osla_err osli_hdf5_check_filters(hid_t set, const char *file, const char *name);

/* OSLA_ERR_IO, with what to do, if the data set has any filter. For data that osla itself writes.
 *   file, name [in] of the data set, for the text */
osla_err osli_hdf5_check_unfiltered(hid_t set, const char *file, const char *name);

#endif
#endif
