/* Element types, sizes and checksums of arrays. A checksum is the sum over all words of a hash of
 * the word's index and bits, so it does not depend on the order in which ranks add their parts. The
 * mixing function is the finaliser of SplitMix64 (as in osla_random.h), inlined here. */
#include "src/file/file.h"

#include <inttypes.h>
#include <string.h>

static inline uint64_t mix(uint64_t x)
{
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

static inline uint64_t hash(uint64_t word, uint64_t index)
{
  return mix(word ^ mix((index + 1) * 0x9e3779b97f4a7c15u));
}

uint64_t osli_file_sum(const void *words, size_t size, int64_t count, uint64_t first)
{
  const unsigned char *at = words;
  uint64_t sum = 0;
  for (int64_t k = 0; k < count; k++) {
    uint64_t wide = 0;
    uint32_t narrow;
    if (size == sizeof wide) {
      memcpy(&wide, at + (size_t)k * sizeof wide, sizeof wide);
    } else {
      memcpy(&narrow, at + (size_t)k * sizeof narrow, sizeof narrow);
      wide = narrow;
    }
    sum += hash(wide, first + (uint64_t)k);
  }
  return sum;
}

uint64_t osli_file_sum_head(const file_item *item)
{
  const uint64_t head[] = {(uint64_t)item->type, (uint64_t)item->stored, (uint64_t)item->vector,
                           (uint64_t)item->m, (uint64_t)item->n};
  return ~osli_file_sum(head, sizeof *head, sizeof head / sizeof *head, 0);
}

size_t osli_file_word_size(file_type type)
{
  return type == FILE_S || type == FILE_C ? 4 : 8;
}

size_t osli_file_word_count(file_type type)
{
  return type == FILE_C || type == FILE_Z ? 2 : 1;
}

size_t osli_file_type_size(file_type type)
{
  return osli_file_word_size(type) * osli_file_word_count(type);
}

const char *osli_file_type_name(file_type type)
{
  static const char *const name[FILE_TYPES] = {
    "float", "double", "complex float", "complex double", "int64", "uint64",
  };
  return name[type];
}

/* An empty dimension counts as 1, so that the other dimension is bounded, too. */
osla_err osli_file_check_sizes(const osla_file *f, const char *name, const file_item *item)
{
  int64_t bytes = (int64_t)osli_file_type_size((file_type)item->type);
  OSLA_CHECK(item->m >= 0 && item->n >= 0, OSLA_ERR_ARG,
             "%.63s: %" PRId64 " x %" PRId64 " elements", name, item->m, item->n);
  OSLA_CHECK(!__builtin_mul_overflow(bytes, item->m > 0 ? item->m : 1, &bytes) &&
               !__builtin_mul_overflow(bytes, item->n > 0 ? item->n : 1, &bytes),
             OSLA_ERR_RANGE, "%.200s: %.63s of %" PRId64 " x %" PRId64 " is too large for a file",
             f->path, name, item->m, item->n);
  return OSLA_OK;
}
