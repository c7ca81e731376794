/* Private to tomo_store: the formats that a store can be turned into and read from. */
#ifndef TOMO_IMAGE_H
#define TOMO_IMAGE_H

#include <stdbool.h>
#include <stddef.h>

#include "apps/tomography/readers/tomo_store.h"

enum { STORE_NAME_MAX = 64 };

typedef enum store_kind { STORE_ARRAY, STORE_NUMBER, STORE_TEXT } store_kind;

typedef struct store_entry {
  store_kind kind;
  char name[STORE_NAME_MAX];
  char unit[STORE_NAME_MAX]; /* arrays */
  int rank;
  int64_t dims[TOMO_STORE_RANK_MAX];
  int64_t count;           /* elements */
  const double *data;      /* not owned */
  const int32_t *integers; /* in its place; not owned */
  double number;
  char *text; /* owned */
} store_entry;

struct tomo_store {
  store_entry *entry;
  int64_t count, capacity;
};

/* A format. Images are malloc'ed and belong to the caller; `file` is for messages only. */
typedef struct store_format {
  bool (*is_mine)(const void *image, size_t size);
  osla_err (*make)(const tomo_store *store, void **image, size_t *size);
  osla_err (*read_array)(const char *file, const void *image, size_t size, const char *name,
                         double **data, int64_t *count);
  osla_err (*read_number)(const char *file, const void *image, size_t size, const char *name,
                          double *value);
} store_format;

/* NULL when this build has no HDF5. */
const store_format *store_format_hdf5(void);
const store_format *store_format_plain(void);

#endif
