/* What the commands use of the library's private parts: files that appear whole or not at all, and
 * the names of HDF5's filters. The commands are linked with the static library, which has them. */
#ifndef COMMAND_FILES_OF_LIBRARY_H
#define COMMAND_FILES_OF_LIBRARY_H

#include "src/base/new_file.h"
#include "src/file/hdf5_filter.h"

#endif
