/* Private headers of the library that the commands use: atomic replacement of files, and names of
 * HDF5's filters. The commands are linked with the static library, which exports these functions.
 */
#ifndef LIBRARY_FILES_H
#define LIBRARY_FILES_H

#include "src/base/new_file.h"
#include "src/file/hdf5_filter.h"

#endif
