/* The plain result format: a text header and raw little-endian doubles (tomo_store.h). */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apps/tomography/readers/tomo_store_format.h"

static const char magic[] = "OSLA-RESULT 1\n";
static const size_t alignment = 64;

/* Writes a text, with blanks in place of line ends. */
static void put_text(FILE *out, const store_entry *entry)
{
  fprintf(out, "text %s ", entry->name);
  for (const char *c = entry->text; *c; c++)
    putc(*c == '\n' || *c == '\r' ? ' ' : *c, out);
  putc('\n', out);
}

static void put_array(FILE *out, const store_entry *entry, int64_t offset)
{
  fprintf(out, "array %s %s %" PRId64 " %d", entry->name, entry->unit, offset, entry->rank);
  for (int i = 0; i < entry->rank; i++)
    fprintf(out, " %" PRId64, entry->dims[i]);
  putc('\n', out);
}

/* Writes the header to a stream; returns the number of bytes of all arrays. */
static int64_t put_header(FILE *out, const tomo_store *store)
{
  int64_t offset = 0;
  fputs(magic, out);
  for (int64_t i = 0; i < store->count; i++) {
    const store_entry *entry = &store->entry[i];
    if (entry->kind == STORE_TEXT) put_text(out, entry);
    if (entry->kind == STORE_NUMBER) fprintf(out, "number %s %.17g\n", entry->name, entry->number);
    if (entry->kind == STORE_ARRAY) {
      put_array(out, entry, offset);
      offset += entry->count * 8;
    }
  }
  fputs("end", out);
  return offset;
}

static void put_little_endian(unsigned char *to, double value)
{
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  for (int i = 0; i < 8; i++)
    to[i] = (unsigned char)(bits >> (8 * i));
}

static double get_little_endian(const unsigned char *from)
{
  uint64_t bits = 0;
  double value;
  for (int i = 0; i < 8; i++)
    bits |= (uint64_t)from[i] << (8 * i);
  memcpy(&value, &bits, sizeof value);
  return value;
}

static osla_err make_image(const tomo_store *store, void **image, size_t *size)
{
  char *header = NULL;
  size_t length = 0;
  FILE *out = open_memstream(&header, &length);
  OSLA_CHECK(out, OSLA_ERR_MEM, "no memory for the header of the result file");
  const int64_t arrays = put_header(out, store);
  const bool complete = fclose(out) == 0;
  /* leaves at least one byte for the newline */
  const size_t start = (length / alignment + 1) * alignment;
  unsigned char *bytes = complete ? malloc(start + (size_t)arrays) : NULL;
  if (!bytes) {
    free(header);
    return osla_error_set(OSLA_ERR_MEM, "no memory for a result file of %zu bytes",
                          start + (size_t)arrays);
  }
  memset(bytes, ' ', start);
  memcpy(bytes, header, length);
  bytes[start - 1] = '\n';
  free(header);
  unsigned char *to = bytes + start;
  for (int64_t i = 0; i < store->count; i++) {
    const store_entry *entry = &store->entry[i];
    for (int64_t j = 0; entry->kind == STORE_ARRAY && j < entry->count; j++, to += 8)
      put_little_endian(to, entry->integers ? entry->integers[j] : entry->data[j]);
  }
  *image = bytes;
  *size = start + (size_t)arrays;
  return OSLA_OK;
}

static bool is_mine(const void *image, size_t size)
{
  return size >= sizeof magic - 1 && memcmp(image, magic, sizeof magic - 1) == 0;
}

/* Copies the header's line "KIND NAME ..." to `line`; *start gets the offset at which the arrays
 * begin, or 0 if the header has no end. Returns whether the line was found. */
static bool find_entry(const char *image, size_t size, const char *kind, const char *name,
                       char *line, size_t line_size, size_t *start)
{
  char wanted[2 * STORE_NAME_MAX];
  bool found = false;
  const int length = snprintf(wanted, sizeof wanted, "%s %.63s ", kind, name);
  *start = 0;
  for (size_t at = 0; at < size;) {
    const char *end = memchr(image + at, '\n', size - at);
    if (!end) return false;
    const size_t n = (size_t)(end - image) - at;
    if (!found && n >= (size_t)length && memcmp(image + at, wanted, (size_t)length) == 0) {
      snprintf(line, line_size, "%.*s", (int)(n < line_size ? n : line_size - 1), image + at);
      found = true;
    }
    if (n >= 3 && memcmp(image + at, "end", 3) == 0) {
      *start = at + n + 1;
      return found;
    }
    at += n + 1;
  }
  return false;
}

static osla_err read_array(const char *file, const void *image, size_t size, const char *name,
                           double **data, int64_t *count)
{
  char line[512];
  size_t start;
  int64_t offset, dims[TOMO_STORE_RANK_MAX] = {1, 1, 1, 1}, n = 1;
  int rank;
  OSLA_CHECK(find_entry(image, size, "array", name, line, sizeof line, &start), OSLA_ERR_IO,
             "%s: no array %.63s", file, name);
  const int fields =
    sscanf(line, "array %*63s %*63s %" SCNd64 " %d %" SCNd64 " %" SCNd64 " %" SCNd64 " %" SCNd64,
           &offset, &rank, &dims[0], &dims[1], &dims[2], &dims[3]);
  bool sound = fields >= 3 && rank >= 1 && rank <= TOMO_STORE_RANK_MAX && fields == 2 + rank;
  for (int i = 0; sound && i < rank; i++)
    sound = dims[i] >= 0 && !__builtin_mul_overflow(n, dims[i], &n);
  sound = sound && offset >= 0 && (size_t)offset <= size - start &&
          (size_t)n <= (size - start - (size_t)offset) / 8;
  OSLA_CHECK(sound, OSLA_ERR_IO, "%s: malformed or cut array %.63s", file, name);
  *data = malloc((size_t)n * sizeof **data + 1);
  OSLA_CHECK(*data, OSLA_ERR_MEM, "no memory for %lld elements of %.63s", (long long)n, name);
  const unsigned char *from = (const unsigned char *)image + start + offset;
  for (int64_t i = 0; i < n; i++)
    (*data)[i] = get_little_endian(from + 8 * i);
  *count = n;
  return OSLA_OK;
}

const store_format *store_format_plain(void)
{
  static const store_format format = {is_mine, make_image, read_array};
  return &format;
}
