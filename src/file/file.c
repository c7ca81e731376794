/* Opens, creates, commits and closes files; reserves space for arrays; stores and verifies
 * checksums. */
#include "src/file/file.h"
#include "src/file/file_hdf5.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

osla_err osli_file_agree_same(osla_file *f, osla_err err, const char *call,
                              const osla_argument *arguments, int count)
{
  err = osla_agree_same(f->t, err, call, arguments, count);
  if (err != OSLA_OK) f->failed = true;
  return err;
}

osla_err osli_file_agree(osla_file *f, osla_err err)
{
  return osli_file_agree_same(f, err, "", NULL, 0);
}

static osla_err allocate_object(osla_transport *t, const char *path, osla_file **out)
{
  const uint16_t one = 1;
  unsigned char first;
  memcpy(&first, &one, 1);
  OSLA_CHECK(first == 1, OSLA_ERR_UNSUPPORTED, "%.200s: files need a little-endian machine", path);
  osla_file *f = calloc(1, sizeof *f);
  if (f) f->path = strdup(path);
  if (!f || !f->path) {
    free(f);
    return osla_error_set(OSLA_ERR_MEM, "file object");
  }
  f->t = t;
  f->fd = -1;
  *out = f;
  return OSLA_OK;
}

/* Creates the object on all ranks. If a rank fails, all ranks return the error without an object.
 */
static osla_err create_object(osla_transport *t, const char *path, osla_file **out)
{
  *out = NULL;
  osla_err err = osla_agree(t, allocate_object(t, path, out));
  if (err != OSLA_OK) osla_file_close(out);
  return err;
}

/* Creates the temporary file; called by rank 0 only. */
static osla_err create_on_root(osla_file *f, bool raw, file_identity *identity)
{
  OSLA_CALL(osli_new_file_begin(f->path, OSLA_NEW_FILE_NAMED, &f->created));
  f->fd = osli_new_file_fd(f->created);
  f->temporary = strdup(osli_new_file_name(f->created));
  OSLA_CHECK(f->temporary, OSLA_ERR_MEM, "file name");
  OSLA_CALL(osli_file_identify(f->fd, f->path, osla_transport_n_nodes(f->t) > 1, identity));
  return raw ? OSLA_OK : osli_file_hdf5_create(f->path, &f->hdf5);
}

/* Rank 0 broadcasts the temporary file's name and identity. */
static osla_err broadcast_name(osla_file *f, file_identity *identity)
{
  int64_t size = file_is_root(f) ? (int64_t)strlen(f->temporary) + 1 : 0;
  OSLA_CALL(osla_bcast(f->t, &size, 1, MPI_INT64_T, 0));
  if (!file_is_root(f)) f->temporary = malloc((size_t)size);
  OSLA_CALL(osla_agree(f->t, f->temporary ? OSLA_OK : osla_error_set(OSLA_ERR_MEM, "file name")));
  OSLA_CALL(osla_bcast(f->t, f->temporary, size, MPI_CHAR, 0));
  return osla_bcast(f->t, identity, sizeof *identity, MPI_BYTE, 0);
}

/* Opens the temporary file on all ranks but 0. If a rank fails, rank 0 checks whether the file was
 * replaced by another one. */
static osla_err open_on_other_ranks(osla_file *f, const file_identity *identity)
{
  osla_err err = OSLA_OK;
  if (!file_is_root(f))
    err = osli_file_open_temporary(f->temporary, f->path, identity,
                                   osla_transport_same_node(f->t, 0), &f->fd);
  err = osla_agree(f->t, err);
  if (err == OSLA_OK) return OSLA_OK;
  if (file_is_root(f) && !osli_new_file_has_name(f->temporary, f->fd))
    err = osli_new_file_replaced(f->path);
  return osla_agree(f->t, err);
}

osla_err osli_file_create_any(osla_transport *t, const char *path, bool raw, osla_file **out)
{
  file_identity identity = {.device = 0};
  osla_err err;
  OSLA_CALL(create_object(t, path, out));
  osla_file *f = *out;
  OSLA_TRY(osla_agree(t, file_is_root(f) ? create_on_root(f, raw, &identity) : OSLA_OK));
  OSLA_TRY(broadcast_name(f, &identity));
  OSLA_TRY(open_on_other_ranks(f, &identity));
  return OSLA_OK;
cleanup:
  osla_file_close(out);
  return err;
}

osla_err osla_file_create(osla_transport *t, const char *path, osla_file **out)
{
  return osli_file_create_any(t, path, false, out);
}

static osla_err open_on_root(osla_file *f, bool *is_raw, file_item *raw)
{
  uint64_t length;
  char begin[8] = {0};
  OSLA_CALL(osli_file_raw_read_trailer(f, is_raw, raw));
  if (*is_raw) return OSLA_OK;
  OSLA_CALL(osli_file_length(f->fd, f->path, &length));
  if (length >= sizeof begin) OSLA_CALL(osli_file_read_at(f->fd, f->path, begin, sizeof begin, 0));
  OSLA_CHECK(memcmp(begin, "\x89HDF\r\n\x1a\n", sizeof begin) == 0, OSLA_ERR_IO,
             "%.200s: neither HDF5 nor an OSLA raw matrix (%" PRIu64
             " bytes, no trailer at the end): another format, or truncated",
             f->path, length);
  return osli_file_hdf5_open(f->path, &f->hdf5);
}

osla_err osli_file_open_any(osla_transport *t, const char *path, osla_file **out, file_item *raw,
                            bool *is_raw)
{
  struct {
    file_item item;
    int64_t is_raw;
  } found = {.is_raw = 0};
  osla_err err;
  OSLA_CALL(create_object(t, path, out));
  osla_file *f = *out;
  OSLA_TRY(osla_agree(t, osli_file_open_fd(path, &f->fd)));
  *is_raw = false;
  OSLA_TRY(osla_agree(t, file_is_root(f) ? open_on_root(f, is_raw, &found.item) : OSLA_OK));
  found.is_raw = *is_raw;
  OSLA_TRY(osla_bcast(t, &found, sizeof found, MPI_BYTE, 0));
  *is_raw = found.is_raw;
  *raw = found.item;
  return OSLA_OK;
cleanup:
  osla_file_close(out);
  return err;
}

osla_err osla_file_open(osla_transport *t, const char *path, osla_file **out)
{
  file_item raw;
  bool is_raw;
  OSLA_CALL(osli_file_open_any(t, path, out, &raw, &is_raw));
  if (!is_raw) return OSLA_OK;
  osla_file_close(out);
  return osla_error_set(OSLA_ERR_IO, "%.200s: is an OSLA raw matrix, but HDF5 was expected", path);
}

static osla_err sync_own_data(osla_file *f)
{
  if (!f->created) return osli_file_sync_fd(f->path, &f->fd);
  f->fd = -1;
  return osli_new_file_sync(f->created);
}

/* All ranks flush their data to disk before rank 0 renames the file. */
osla_err osla_file_commit(osla_file **file)
{
  osla_file *f = *file;
  osla_err err;
  OSLA_TRY(osli_file_check_state(f, true));
  err = f->failed
          ? osla_error_set(OSLA_ERR_STATE,
                           "%.200s: not written, because an earlier call on it failed", f->path)
          : OSLA_OK;
  OSLA_TRY(err);
  if (f->hdf5) err = osli_file_hdf5_finish(f->hdf5, f->fd);
  if (err == OSLA_OK) err = sync_own_data(f);
  OSLA_TRY(osla_agree(f->t, err));
  OSLA_TRY(osla_agree(f->t, f->created ? osli_new_file_place(&f->created) : OSLA_OK));
cleanup:
  osla_file_close(file);
  return err;
}

void osla_file_close(osla_file **file)
{
  osla_file *f = file ? *file : NULL;
  if (!f) return;
  osli_file_hdf5_close(&f->hdf5);
  if (f->fd >= 0 && !f->created) (void)close(f->fd);
  osli_new_file_drop(&f->created);
  free(f->temporary);
  free(f->path);
  free(f);
  *file = NULL;
}

osla_err osli_file_check_state(osla_file *f, bool write)
{
  OSLA_CHECK(write == (f->temporary != NULL), OSLA_ERR_STATE, "%.200s: is being %s", f->path,
             write ? "read, and cannot be written" : "written, and cannot be read");
  return OSLA_OK;
}

osla_err osli_file_reserve(osla_file *f, const char *name, file_item *item)
{
  OSLA_CALL(osli_file_check_state(f, true));
  osla_err err = osli_file_check_sizes(f, name, item);
  item->offset = 0;
  if (err == OSLA_OK && f->hdf5) err = osli_file_hdf5_reserve(f->hdf5, name, item);
  OSLA_CALL(osli_file_agree(f, err));
  return osla_bcast(f->t, &item->offset, 1, MPI_UINT64_T, 0);
}

osla_err osli_file_store_checksum(osla_file *f, const char *name, file_item *item, uint64_t sum)
{
  osla_err err = osla_allreduce(f->t, &sum, 1, MPI_UINT64_T, MPI_SUM);
  item->checksum = sum + osli_file_sum_head(item);
  if (err == OSLA_OK && file_is_root(f))
    err = f->hdf5 ? osli_file_hdf5_store_checksum(f->hdf5, name, item)
                  : osli_file_raw_write_trailer(f, item);
  return osli_file_agree(f, err);
}

static osla_err find_on_root(osla_file *f, const char *name, bool vector, file_item *item)
{
  uint64_t length;
  OSLA_CALL(osli_file_hdf5_find(f->hdf5, name, vector, item));
  OSLA_CHECK(osli_file_check_sizes(f, name, item) == OSLA_OK, OSLA_ERR_IO,
             "%.200s: %.63s has the impossible size %" PRId64 " x %" PRId64, f->path, name, item->m,
             item->n);
  OSLA_CALL(osli_file_length(f->fd, f->path, &length));
  uint64_t bytes = (uint64_t)file_elements(item) * osli_file_type_size((file_type)item->type);
  OSLA_CHECK(item->offset <= length && bytes <= length - item->offset, OSLA_ERR_IO,
             "%.200s: truncated: %.63s would end at byte %" PRIu64 " of %" PRIu64, f->path, name,
             item->offset + bytes, length);
  return OSLA_OK;
}

osla_err osli_file_find_array(osla_file *f, const char *name, bool vector, file_item *item)
{
  OSLA_CALL(osli_file_check_state(f, false));
  OSLA_CALL(osli_file_agree(f, file_is_root(f) ? find_on_root(f, name, vector, item) : OSLA_OK));
  return osla_bcast(f->t, item, sizeof *item, MPI_BYTE, 0);
}

osla_err osli_file_verify(osla_file *f, const char *name, const file_item *item, uint64_t sum)
{
  OSLA_CALL(osla_allreduce(f->t, &sum, 1, MPI_UINT64_T, MPI_SUM));
  OSLA_CHECK(sum + osli_file_sum_head(item) == item->checksum, OSLA_ERR_IO,
             "%.200s: wrong checksum of %.63s: the data were changed", f->path, name);
  return OSLA_OK;
}

osla_err osla_file_has(osla_file *f, const char *name, bool *has)
{
  int32_t found = 0;
  OSLA_CALL(osli_file_check_state(f, false));
  if (file_is_root(f)) found = osli_file_hdf5_has(f->hdf5, name);
  OSLA_CALL(osla_bcast(f->t, &found, 1, MPI_INT32_T, 0));
  *has = found;
  return OSLA_OK;
}
