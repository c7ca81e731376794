/* Saves and loads vectors, numbers and texts. */
#include "src/file/file.h"
#include "src/file/file_hdf5.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

static osla_err to_file_type(osla_file_type type, file_type *out)
{
  static const file_type types[] = {FILE_D, FILE_I64, FILE_U64};
  OSLA_CHECK(type >= OSLA_FILE_DOUBLE && type <= OSLA_FILE_UINT64, OSLA_ERR_ARG,
             "type %d of a vector is not known", (int)type);
  *out = types[type];
  return OSLA_OK;
}

/* Checks that a vector's type and `count` are equal on all ranks; sets *wide to the type in the
 * file. */
static osla_err agree_on_vector(osla_file *f, const char *call, osla_file_type type, int64_t count,
                                file_type *wide)
{
  const osla_argument same[] = {{"type", type}, {"count", count}};
  return osli_file_agree_same(f, to_file_type(type, wide), call, same, 2);
}

/* Writes elements [first, first + count) of a vector; sets *sum to their checksum. */
static osla_err write_part(const osla_file *f, const file_item *item, int64_t first, int64_t count,
                           const void *data, uint64_t *sum)
{
  *sum = osli_file_sum(data, 8, count, (uint64_t)first);
  return osli_write_at(f->fd, f->path, data, 8 * (size_t)count, item->offset + 8 * (uint64_t)first);
}

static osla_err read_part(const osla_file *f, const file_item *item, int64_t first, int64_t count,
                          void *data, uint64_t *sum)
{
  OSLA_CALL(
    osli_file_read_at(f->fd, f->path, data, 8 * (size_t)count, item->offset + 8 * (uint64_t)first));
  *sum = osli_file_sum(data, 8, count, (uint64_t)first);
  return OSLA_OK;
}

static osla_err write_vector(osla_file *f, const char *name, file_type type, int64_t total,
                             int64_t first, int64_t count, const void *data)
{
  file_item item = {.m = total, .n = 1, .type = (int32_t)type, .vector = 1};
  uint64_t sum = 0;
  OSLA_CALL(osli_file_reserve(f, name, &item));
  OSLA_CALL(osli_file_agree(f, write_part(f, &item, first, count, data, &sum)));
  return osli_file_store_checksum(f, name, &item, sum);
}

osla_err osla_file_put_vector(osla_file *f, const char *name, osla_file_type type, int64_t count,
                              const void *data)
{
  file_type wide = FILE_D;
  OSLA_CALL(osli_file_check_state(f, true));
  OSLA_CALL(agree_on_vector(f, "osla_file_put_vector", type, count, &wide));
  return write_vector(f, name, wide, count, 0, file_is_root(f) ? count : 0, data);
}

/* Computes the index of this rank's first element, and the total length. */
static osla_err locate_part(osla_file *f, const char *name, int64_t count, int64_t *first,
                            int64_t *total)
{
  int size = osla_transport_size(f->t);
  int64_t *counts = calloc((size_t)size, sizeof *counts);
  osla_err err = counts ? OSLA_OK : osla_error_set(OSLA_ERR_MEM, "table of %d ranks", size);
  if (err == OSLA_OK && count < 0)
    err = osla_error_set(OSLA_ERR_ARG, "%.63s: %" PRId64 " elements", name, count);
  OSLA_TRY(osli_file_agree(f, err));
  counts[osla_transport_rank(f->t)] = count;
  OSLA_TRY(osla_allreduce(f->t, counts, size, MPI_INT64_T, MPI_SUM));
  *first = *total = 0;
  for (int rank = 0; rank < size; rank++) {
    if (rank < osla_transport_rank(f->t)) *first += counts[rank];
    *total += counts[rank];
  }
cleanup:
  free(counts);
  return err;
}

osla_err osla_file_put_parts(osla_file *f, const char *name, osla_file_type type, int64_t count,
                             const void *data)
{
  int64_t first, total;
  file_type wide = FILE_D;
  OSLA_CALL(osli_file_check_state(f, true));
  OSLA_CALL(agree_on_vector(f, "osla_file_put_parts", type, 0, &wide));
  OSLA_CALL(locate_part(f, name, count, &first, &total));
  return write_vector(f, name, wide, total, first, count, data);
}

static osla_err find_vector(osla_file *f, const char *call, const char *name, osla_file_type type,
                            file_item *item)
{
  file_type wide = FILE_D;
  OSLA_CALL(osli_file_check_state(f, false));
  OSLA_CALL(agree_on_vector(f, call, type, 0, &wide));
  OSLA_CALL(osli_file_find_array(f, name, true, item));
  OSLA_CHECK(item->type == (int32_t)wide, OSLA_ERR_IO,
             "%.200s: %.63s is of type %s, and %s was expected", f->path, name,
             osli_file_type_name((file_type)item->type), osli_file_type_name(wide));
  return OSLA_OK;
}

osla_err osla_file_look_vector(osla_file *f, const char *name, osla_file_type type, int64_t *count)
{
  file_item item;
  OSLA_CALL(find_vector(f, "osla_file_look_vector", name, type, &item));
  *count = item.m;
  return OSLA_OK;
}

static osla_err check_count(const osla_file *f, const char *name, const file_item *item,
                            int64_t count)
{
  OSLA_CHECK(count == item->m, OSLA_ERR_ARG,
             "%.200s: %.63s has %" PRId64 " elements, and not %" PRId64, f->path, name, item->m,
             count);
  return OSLA_OK;
}

osla_err osla_file_get_vector(osla_file *f, const char *name, osla_file_type type, int64_t count,
                              void *data)
{
  file_item item;
  uint64_t sum = 0;
  OSLA_CALL(find_vector(f, "osla_file_get_vector", name, type, &item));
  /* the text of this error says on which rank the count is wrong */
  osla_err err = check_count(f, name, &item, count);
  OSLA_CALL(osli_file_agree(f, err));
  err = file_is_root(f) ? read_part(f, &item, 0, count, data, &sum) : OSLA_OK;
  OSLA_CALL(osli_file_agree(f, err));
  OSLA_CALL(osli_file_verify(f, name, &item, sum));
  return osla_bcast(f->t, data, count, MPI_INT64_T, 0);
}

osla_err osla_file_get_parts(osla_file *f, const char *name, osla_file_type type, int64_t first,
                             int64_t count, void *data)
{
  file_item item;
  uint64_t sum = 0;
  OSLA_CALL(find_vector(f, "osla_file_get_parts", name, type, &item));
  osla_err err = OSLA_OK;
  if (first < 0 || count < 0 || first > item.m || count > item.m - first)
    err = osla_error_set(OSLA_ERR_ARG,
                         "%.200s: elements %" PRId64 " to %" PRId64 " of %.63s, which has %" PRId64,
                         f->path, first, first + count - 1, name, item.m);
  if (err == OSLA_OK) err = read_part(f, &item, first, count, data, &sum);
  OSLA_CALL(osli_file_agree(f, err));
  return osli_file_verify(f, name, &item, sum);
}

static osla_err put_value(osla_file *f, const char *name, file_type type, const void *value)
{
  OSLA_CALL(osli_file_check_state(f, true));
  return osli_file_agree(f, file_is_root(f) ? osli_file_hdf5_put_value(f->hdf5, name, type, value)
                                            : OSLA_OK);
}

/* Reads a value of 8 bytes on rank 0 and broadcasts it to *value on all ranks. */
static osla_err get_value(osla_file *f, const char *name, file_type type, void *value)
{
  OSLA_CALL(osli_file_check_state(f, false));
  osla_err err = file_is_root(f) ? osli_file_hdf5_get_value(f->hdf5, name, type, value) : OSLA_OK;
  OSLA_CALL(osli_file_agree(f, err));
  return osla_bcast(f->t, value, 8, MPI_BYTE, 0);
}

osla_err osla_file_put_number(osla_file *f, const char *name, double value)
{
  return put_value(f, name, FILE_D, &value);
}

osla_err osla_file_put_int(osla_file *f, const char *name, int64_t value)
{
  return put_value(f, name, FILE_I64, &value);
}

osla_err osla_file_get_number(osla_file *f, const char *name, double *value)
{
  return get_value(f, name, FILE_D, value);
}

osla_err osla_file_get_int(osla_file *f, const char *name, int64_t *value)
{
  return get_value(f, name, FILE_I64, value);
}

osla_err osla_file_put_text(osla_file *f, const char *name, const char *value)
{
  OSLA_CALL(osli_file_check_state(f, true));
  return osli_file_agree(f,
                         file_is_root(f) ? osli_file_hdf5_put_text(f->hdf5, name, value) : OSLA_OK);
}

osla_err osla_file_get_text(osla_file *f, const char *name, char *value, size_t size)
{
  OSLA_CALL(osli_file_check_state(f, false));
  /* ranks may pass buffers of different sizes, so the text is cut to the smallest */
  int64_t least = size < INT_MAX ? (int64_t)size : INT_MAX;
  OSLA_CALL(osla_allreduce(f->t, &least, 1, MPI_INT64_T, MPI_MIN));
  OSLA_CHECK(least > 0, OSLA_ERR_ARG, "%.63s: the buffer for the text has size 0", name);
  osla_err err =
    file_is_root(f) ? osli_file_hdf5_get_text(f->hdf5, name, value, (size_t)least) : OSLA_OK;
  OSLA_CALL(osli_file_agree(f, err));
  return osla_bcast(f->t, value, least, MPI_CHAR, 0);
}
