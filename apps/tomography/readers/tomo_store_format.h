/* Formats that a store can be written in and read from (private to tomo_store). */
#ifndef TOMO_STORE_FORMAT_H
#define TOMO_STORE_FORMAT_H

#include <stdbool.h>
#include <stddef.h>

#include "apps/tomography/readers/tomo_store.h"

enum { STORE_NAME_MAX = 64 };

typedef enum store_kind { STORE_ARRAY, STORE_NUMBER, STORE_TEXT } store_kind;

typedef struct store_entry {
  store_kind kind;
  char name[STORE_NAME_MAX];
  char unit[STORE_NAME_MAX]; /* unit of an array's elements */
  int rank;
  int64_t dims[TOMO_STORE_RANK_MAX];
  int64_t count;           /* number of elements of an array */
  const double *data;      /* elements of an array of doubles, not owned; NULL for integers */
  const int32_t *integers; /* elements of an array of integers, not owned; NULL for doubles */
  double number;
  char *text; /* value of a text entry, owned */
} store_entry;

struct tomo_store {
  store_entry *entry;
  int64_t count, capacity;
};

/* A format of result files. An image is the file's contents in memory, malloc'ed and owned by the
 * caller; `file` is used in messages only. */
typedef struct store_format {
  bool (*is_mine)(const void *image, size_t size);
  osla_err (*make)(const tomo_store *store, void **image, size_t *size);
  osla_err (*read_array)(const char *file, const void *image, size_t size, const char *name,
                         double **data, int64_t *count);
} store_format;

/* Returns NULL if this build has no HDF5. */
const store_format *store_format_hdf5(void);
const store_format *store_format_plain(void);

#endif
