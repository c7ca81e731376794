/* The result file: named arrays, numbers and texts, in HDF5 or in a plain format.
 *
 * HDF5 is used if the build has it (HAVE_HDF5 in config.h) and the file's name does not end in
 * .osla. Arrays are then datasets of little-endian doubles in the root group, each with an
 * attribute "unit"; numbers and texts are attributes of the root group. The plain format has lines
 * that end in \n, then the arrays:
 *
 *     OSLA-RESULT 1
 *     text NAME VALUE
 *     number NAME VALUE                        (%.17g)
 *     array NAME UNIT OFFSET RANK DIM ...      OFFSET in bytes after the header
 *     end
 *
 * Lines between the first and the last one have any order. Blanks before the last \n extend the
 * header to a multiple of 64 bytes. Arrays are little-endian 8-byte doubles, last dimension
 * fastest.
 *
 * A store is in memory until it is written. The file's contents are made in memory, too, so that it
 * appears all at once (new_file.h). Local; one thread per store.
 */
#ifndef TOMO_STORE_H
#define TOMO_STORE_H

#include <stdint.h>

#include "osla_error.h"

typedef struct tomo_store tomo_store;

enum { TOMO_STORE_RANK_MAX = 4 };

/* ".h5" or ".osla", the default format of this build. Constant string. */
const char *tomo_store_suffix(void);

/* Creates an empty store. Errors: OSLA_ERR_MEM. */
osla_err tomo_store_create(tomo_store **store);
void tomo_store_destroy(tomo_store **store);

/* tomo_store_add_NAME adds an entry. A name consists of at most 63 letters, digits and underscores,
 * and is unique; otherwise the error is OSLA_ERR_ARG.
 *   unit  [in]  one word such as "percent", "km", "1"
 *   rank  [in]  1 .. TOMO_STORE_RANK_MAX
 *   dims  [in]  rank lengths >= 0, last dimension fastest
 *   data  [in]  NOT copied: must live until the store is written or destroyed */
osla_err tomo_store_add_array(tomo_store *store, const char *name, const char *unit, int rank,
                              const int64_t *dims, const double *data);
/* Adds an array of integers, with the arguments of tomo_store_add_array. In HDF5 it is a dataset of
 * little-endian 4-byte integers, in the plain format an array of doubles. */
osla_err tomo_store_add_integers(tomo_store *store, const char *name, const char *unit, int rank,
                                 const int64_t *dims, const int32_t *data);
osla_err tomo_store_add_number(tomo_store *store, const char *name, double value);
osla_err tomo_store_add_text(tomo_store *store, const char *name, const char *value);

/* Writes or replaces the file. Errors: OSLA_ERR_IO "FILE: reason", OSLA_ERR_MEM; an existing file
 * is then unchanged. */
osla_err tomo_store_write(const tomo_store *store, const char *file);

/* Reads an array of a file in HDF5 or in the plain format; the format is detected.
 *   data   [out]  malloc'ed, the caller frees it
 *   count  [out]  number of elements of data
 * Errors: OSLA_ERR_IO "FILE: reason", OSLA_ERR_MEM. */
osla_err tomo_store_read_array(const char *file, const char *name, double **data, int64_t *count);

#endif
