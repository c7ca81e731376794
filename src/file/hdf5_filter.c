/* Finds the filters of a data set (contract: hdf5_filter.h).
 * Source: HDF5 Reference Manual, H5Pget_filter2, H5Zfilter_avail, H5PL (plug-ins). */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif
#include "src/file/hdf5_filter.h"

#ifdef HAVE_HDF5

#include <stdbool.h>
#include <stdio.h>

enum { FILTER_TEXT = 64 };

/* Describes the first filter of a data set by its name and number, for example "filter 'lzf'
 * (32000)". If `missing` is true, considers only filters that this HDF5 library neither has nor can
 * load as a plug-in. Returns false if the data set has no such filter. */
static bool find_filter(hid_t set, bool missing, char text[FILTER_TEXT])
{
  hid_t create = H5Dget_create_plist(set);
  const int count = create >= 0 ? H5Pget_nfilters(create) : 0;
  bool found = false;
  for (int i = 0; i < count && !found; i++) {
    char name[32] = "";
    unsigned flags, values[1] = {0};
    size_t n_values = 0;
    const H5Z_filter_t filter =
      H5Pget_filter2(create, (unsigned)i, &flags, &n_values, values, sizeof name, name, NULL);
    name[sizeof name - 1] = '\0'; /* HDF5 does not terminate a name that it cuts */
    found = filter >= 0 && !(missing && H5Zfilter_avail(filter) > 0);
    if (found && name[0] != '\0')
      (void)snprintf(text, FILTER_TEXT, "filter '%s' (%d)", name, (int)filter);
    else if (found)
      (void)snprintf(text, FILTER_TEXT, "filter %d", (int)filter);
  }
  if (create >= 0) (void)H5Pclose(create);
  return found;
}

osla_err osli_hdf5_check_filters(hid_t set, const char *file, const char *name)
{
  char filter[FILTER_TEXT];
  OSLA_CHECK(!find_filter(set, true, filter), OSLA_ERR_UNSUPPORTED,
             "%.200s: %.63s: is stored with %s, which this HDF5 library lacks: store it with gzip, "
             "or set HDF5_PLUGIN_PATH to the folder of the filter's plug-in",
             file, name, filter);
  return OSLA_OK;
}

osla_err osli_hdf5_check_unfiltered(hid_t set, const char *file, const char *name)
{
  char filter[FILTER_TEXT];
  OSLA_CHECK(!find_filter(set, false, filter), OSLA_ERR_IO,
             "%.200s: %.63s: is stored with %s, and osla reads its data as it writes them, without "
             "filters (h5repack -f NONE -l CONTI undoes a compression)",
             file, name, filter);
  return OSLA_OK;
}

#endif
