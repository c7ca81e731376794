/* Raw files: a column-major matrix, then a trailer of 64 bytes. The trailer follows the data, so
 * numpy.fromfile and fread can read the data without knowing about it. */
#include "src/file/file.h"

#include <inttypes.h>
#include <string.h>

typedef struct trailer {
  char magic[8];
  /* byte-order mark: the constant order_mark in the byte order of the machine that wrote the file
   */
  uint32_t order;
  uint32_t bytes; /* size of the trailer in bytes */
  int64_t m, n;
  uint32_t type; /* 0 float, 1 double, 2 complex float, 3 complex double (file_type) */
  uint32_t stored;
  uint64_t data_bytes;
  uint64_t checksum;
  uint64_t own_checksum; /* checksum of the preceding members of the trailer */
} trailer;
_Static_assert(sizeof(trailer) == 64, "the trailer is written as it lies in memory");

static const char magic[8] = "OSLAraw1";
static const uint32_t order_mark = 0x01020304;

static uint64_t own_checksum(const trailer *tail)
{
  return osli_file_sum(tail, 8, (int64_t)(offsetof(trailer, own_checksum) / 8), 0);
}

static uint64_t data_bytes(const file_item *item)
{
  return (uint64_t)item->m * (uint64_t)item->n * osli_file_type_size((file_type)item->type);
}

osla_err osli_file_raw_write_trailer(const osla_file *file, const file_item *item)
{
  trailer tail = {.order = order_mark,
                  .bytes = sizeof tail,
                  .m = item->m,
                  .n = item->n,
                  .type = (uint32_t)item->type,
                  .stored = (uint32_t)item->stored,
                  .data_bytes = data_bytes(item),
                  .checksum = item->checksum};
  memcpy(tail.magic, magic, sizeof magic);
  tail.own_checksum = own_checksum(&tail);
  return osli_write_at(file->fd, file->path, &tail, sizeof tail, tail.data_bytes);
}

osla_err osli_file_raw_read_trailer(const osla_file *file, bool *is_raw, file_item *item)
{
  uint64_t length;
  trailer tail;
  *is_raw = false;
  OSLA_CALL(osli_file_length(file->fd, file->path, &length));
  if (length < sizeof tail) return OSLA_OK;
  OSLA_CALL(osli_file_read_at(file->fd, file->path, &tail, sizeof tail, length - sizeof tail));
  if (memcmp(tail.magic, magic, sizeof magic) != 0) return OSLA_OK;
  *is_raw = true;
  OSLA_CHECK(tail.order == order_mark && tail.bytes == sizeof tail, OSLA_ERR_IO,
             "%.200s: an OSLA raw matrix of another version or byte order", file->path);
  OSLA_CHECK(tail.own_checksum == own_checksum(&tail) && tail.type <= FILE_Z && tail.stored <= 2 &&
               tail.m >= 0 && tail.n >= 0,
             OSLA_ERR_IO, "%.200s: wrong checksum of the trailer: the file was changed",
             file->path);
  *item = (file_item){.m = tail.m,
                      .n = tail.n,
                      .checksum = tail.checksum,
                      .type = (int32_t)tail.type,
                      .stored = (int32_t)tail.stored};
  OSLA_CHECK(osli_file_check_sizes(file, "matrix", item) == OSLA_OK, OSLA_ERR_IO,
             "%.200s: has the impossible size %" PRId64 " x %" PRId64, file->path, item->m,
             item->n);
  OSLA_CHECK(tail.data_bytes == data_bytes(item) && length == tail.data_bytes + sizeof tail,
             OSLA_ERR_IO,
             "%.200s: truncated: %" PRIu64 " bytes, but a matrix of %" PRId64 " x %" PRId64
             " and its trailer take %" PRIu64,
             file->path, length, tail.m, tail.n, data_bytes(item) + sizeof tail);
  return OSLA_OK;
}
