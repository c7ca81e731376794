/* Random numbers (SplitMix64), growing bytes, files, a hash (FNV-1a). */
#include "tests/fuzz/fuzz.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void fuzz_require(bool condition, const char *what)
{
  if (condition) return;
  (void)fprintf(stderr, "fuzz: %s: %s\n", what, strerror(errno));
  exit(2);
}

fuzz_random fuzz_begin(uint64_t seed)
{
  return (fuzz_random){seed};
}

uint64_t fuzz_bits(fuzz_random *random)
{
  uint64_t x = random->state += UINT64_C(0x9e3779b97f4a7c15);
  x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
  return x ^ (x >> 31);
}

int64_t fuzz_below(fuzz_random *random, int64_t n)
{
  return (int64_t)(fuzz_bits(random) % (uint64_t)n);
}

bool fuzz_one_in(fuzz_random *random, int64_t n)
{
  return fuzz_below(random, n) == 0;
}

double fuzz_between(fuzz_random *random, double low, double high)
{
  return low + (high - low) * (double)(fuzz_bits(random) >> 11) * 0x1p-53;
}

void fuzz_splice(fuzz_bytes *b, size_t from, size_t remove, const void *put, size_t count)
{
  if (from > b->size) from = b->size;
  if (remove > b->size - from) remove = b->size - from;
  char *made = malloc(b->size - remove + count + 1);
  fuzz_require(made, "memory");
  if (from) memcpy(made, b->at, from);
  if (count) memcpy(made + from, put, count);
  if (b->size > from + remove)
    memcpy(made + from + count, b->at + from + remove, b->size - from - remove);
  free(b->at);
  b->at = made;
  b->size = b->size - remove + count;
  b->at[b->size] = '\0';
}

void fuzz_print(fuzz_bytes *b, const char *format, ...)
{
  char text[1024];
  va_list arguments;
  va_start(arguments, format);
  int n = vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  fuzz_splice(b, b->size, 0, text, (size_t)n);
}

fuzz_bytes fuzz_load(const char *path)
{
  fuzz_bytes b = {NULL, 0};
  char piece[65536];
  size_t n;
  FILE *file = fopen(path, "rb");
  fuzz_require(file, path);
  fuzz_splice(&b, 0, 0, NULL, 0);
  while ((n = fread(piece, 1, sizeof piece, file)) > 0)
    fuzz_splice(&b, b.size, 0, piece, n);
  (void)fclose(file);
  return b;
}

void fuzz_save(const char *path, fuzz_bytes b)
{
  FILE *file = fopen(path, "wb");
  fuzz_require(file, path);
  fuzz_require(fwrite(b.at, 1, b.size, file) == b.size && fclose(file) == 0, path);
}

uint64_t fuzz_hash(uint64_t hash, const void *bytes, size_t size)
{
  const unsigned char *byte = bytes;
  if (hash == 0 && size > 0) hash = UINT64_C(14695981039346656037);
  for (size_t i = 0; i < size; i++)
    hash = (hash ^ byte[i]) * UINT64_C(1099511628211);
  return hash;
}

void fuzz_reject(fuzz_result *result, const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  (void)vsnprintf(result->text, sizeof result->text, format, arguments);
  va_end(arguments);
  result->state = FUZZ_REJECTED;
}
