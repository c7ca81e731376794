/* The result file: entries in memory, converted by a format to the file's contents, which are
 * written all at once. Memory while writing: the file's size once for the plain format, twice for
 * HDF5. */
#include "apps/tomography/readers/tomo_store.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "apps/tomography/readers/tomo_io.h"
#include "apps/tomography/readers/tomo_store_format.h"
#include "tools/common/library_files.h"

const char *tomo_store_suffix(void)
{
  return store_format_hdf5() ? ".h5" : ".osla";
}

osla_err tomo_store_create(tomo_store **store)
{
  *store = calloc(1, sizeof **store);
  OSLA_CHECK(*store, OSLA_ERR_MEM, "no memory for a store");
  return OSLA_OK;
}

void tomo_store_destroy(tomo_store **store)
{
  if (!*store) return;
  for (int64_t i = 0; i < (*store)->count; i++)
    free((*store)->entry[i].text);
  free((*store)->entry);
  free(*store);
  *store = NULL;
}

static bool is_word(const char *word, bool plain)
{
  size_t n = 0;
  for (; word[n]; n++) {
    unsigned char c = (unsigned char)word[n];
    if (plain ? !(isalnum(c) || c == '_') : !isgraph(c)) return false;
  }
  return n > 0 && n < STORE_NAME_MAX;
}

static osla_err add_entry(tomo_store *store, store_kind kind, const char *name, store_entry **entry)
{
  OSLA_CHECK(is_word(name, true), OSLA_ERR_ARG, "\"%.80s\" cannot name an entry of a result file",
             name);
  for (int64_t i = 0; i < store->count; i++)
    OSLA_CHECK(strcmp(store->entry[i].name, name) != 0, OSLA_ERR_ARG,
               "the result file has an entry \"%s\" already", name);
  if (store->count == store->capacity) {
    int64_t capacity = store->capacity ? 2 * store->capacity : 32;
    store_entry *grown = realloc(store->entry, (size_t)capacity * sizeof *grown);
    OSLA_CHECK(grown, OSLA_ERR_MEM, "no memory for %lld entries", (long long)capacity);
    store->entry = grown;
    store->capacity = capacity;
  }
  *entry = &store->entry[store->count++];
  memset(*entry, 0, sizeof **entry);
  (*entry)->kind = kind;
  strcpy((*entry)->name, name);
  return OSLA_OK;
}

/* Adds an array of doubles (`data`) or of integers (`integers`); the pointer of the type that is
 * not used is NULL. */
static osla_err add_array(tomo_store *store, const char *name, const char *unit, int rank,
                          const int64_t *dims, const double *data, const int32_t *integers)
{
  store_entry *entry;
  int64_t count = 1;
  OSLA_CHECK(is_word(unit, false), OSLA_ERR_ARG, "\"%.80s\" is not a unit in one word", unit);
  OSLA_CHECK(rank >= 1 && rank <= TOMO_STORE_RANK_MAX, OSLA_ERR_ARG, "rank %d is outside 1 to %d",
             rank, TOMO_STORE_RANK_MAX);
  for (int i = 0; i < rank; i++) {
    OSLA_CHECK(dims[i] >= 0, OSLA_ERR_ARG, "length %lld of %s is negative", (long long)dims[i],
               name);
    OSLA_CHECK(!__builtin_mul_overflow(count, dims[i], &count) && count < INT64_MAX / 16,
               OSLA_ERR_ARG, "%s has too many elements", name);
  }
  OSLA_CHECK(data || integers || count == 0, OSLA_ERR_ARG, "%s has no data", name);
  OSLA_CALL(add_entry(store, STORE_ARRAY, name, &entry));
  strcpy(entry->unit, unit);
  entry->rank = rank;
  for (int i = 0; i < rank; i++)
    entry->dims[i] = dims[i];
  entry->count = count;
  entry->data = data;
  entry->integers = integers;
  return OSLA_OK;
}

osla_err tomo_store_add_array(tomo_store *store, const char *name, const char *unit, int rank,
                              const int64_t *dims, const double *data)
{
  return add_array(store, name, unit, rank, dims, data, NULL);
}

osla_err tomo_store_add_integers(tomo_store *store, const char *name, const char *unit, int rank,
                                 const int64_t *dims, const int32_t *data)
{
  return add_array(store, name, unit, rank, dims, NULL, data);
}

osla_err tomo_store_add_number(tomo_store *store, const char *name, double value)
{
  store_entry *entry;
  OSLA_CALL(add_entry(store, STORE_NUMBER, name, &entry));
  entry->number = value;
  return OSLA_OK;
}

osla_err tomo_store_add_text(tomo_store *store, const char *name, const char *value)
{
  store_entry *entry;
  char *text = strdup(value);
  OSLA_CHECK(text, OSLA_ERR_MEM, "no memory for the text %s", name);
  osla_err err = add_entry(store, STORE_TEXT, name, &entry);
  if (err != OSLA_OK) {
    free(text);
    return err;
  }
  entry->text = text;
  return OSLA_OK;
}

osla_err tomo_store_write(const tomo_store *store, const char *file)
{
  static const char plain_suffix[] = ".osla";
  const size_t length = strlen(file), suffix = sizeof plain_suffix - 1;
  const bool plain = length >= suffix && strcmp(file + length - suffix, plain_suffix) == 0;
  const store_format *format = plain ? NULL : store_format_hdf5();
  if (!format) format = store_format_plain();
  void *image = NULL;
  size_t size = 0;
  OSLA_CALL(osli_new_file_check(file, 0));
  OSLA_CALL(format->make(store, &image, &size));
  osla_err err = osli_new_file_write(file, image, size);
  free(image);
  return err;
}

/* Reads the file and determines its format; the caller frees *image. */
static osla_err open_image(const char *file, void **image, size_t *size,
                           const store_format **format)
{
  const store_format *hdf5 = store_format_hdf5(), *plain = store_format_plain();
  OSLA_CALL(tomo_file_read(file, image, size));
  *format = hdf5 && hdf5->is_mine(*image, *size) ? hdf5
            : plain->is_mine(*image, *size)      ? plain
                                                 : NULL;
  if (*format) return OSLA_OK;
  free(*image);
  return osla_error_set(OSLA_ERR_IO, "%s: is not a result file that this build can read", file);
}

osla_err tomo_store_read_array(const char *file, const char *name, double **data, int64_t *count)
{
  void *image;
  size_t size;
  const store_format *format;
  *data = NULL;
  *count = 0;
  OSLA_CALL(open_image(file, &image, &size, &format));
  osla_err err = format->read_array(file, image, size, name, data, count);
  free(image);
  return err;
}
