/* Random damage to files: to lines and fields of a text, or to the bytes of any file. */
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

/* Texts that replace a number or are inserted next to a number. */
static const char *const odd[] = {
  "nan",
  "NaN(1)",
  "inf",
  "-Infinity",
  "1e999",
  "-1e999",
  "1e-999",
  "0x1p3",
  "0X10",
  "9,03",
  "1.5.2",
  "--1",
  "-",
  "+",
  ".",
  "e5",
  "1e",
  "",
  " ",
  "1d2",
  "1_000",
  "1 2",
  ("\xe2\x88\x92"
   "5"),
  "5\xc2\xa0",
  "180.0000001",
  "-90.5",
  "99999999999999999999",
  "1e2",
  "+1.0",
  ".5",
  "5.",
  "\"",
  "\"1\"",
  "\"1",
  "''",
  "|",
  ",",
  ";",
  "\t",
  "\v1",
  "\f",
  "\r",
  "\x1b[31m",
  "\x7f",
  "\xff\xfe",
  "#",
  "%s%n",
  "\xef\xbb\xbf",
  "CENTROID:",
  "FREE",
  "#Network|Station|Latitude|Longitude",
  "latitude,longitude",
};

typedef struct span {
  size_t from, count;
} span;

/* Chooses a random line of the text, without the end of the line. */
static span some_line(fuzz_random *random, const fuzz_bytes *b)
{
  size_t at = b->size ? (size_t)fuzz_below(random, (int64_t)b->size) : 0, end = at;
  while (at > 0 && b->at[at - 1] != '\n')
    at--;
  while (end < b->size && b->at[end] != '\n')
    end++;
  return (span){at, end - at};
}

/* Chooses a random field of a line, between two separators. */
static span some_field(fuzz_random *random, const fuzz_bytes *b, span line)
{
  static const char separators[] = " ,|";
  if (line.count == 0) return line;
  size_t at = line.from + (size_t)fuzz_below(random, (int64_t)line.count), end = at;
  while (at > line.from && !strchr(separators, b->at[at - 1]))
    at--;
  while (end < line.from + line.count && !strchr(separators, b->at[end]))
    end++;
  return (span){at, end - at};
}

static char *copy(const fuzz_bytes *b, span s)
{
  char *text = malloc(s.count + 2);
  fuzz_require(text, "memory");
  memcpy(text, b->at + s.from, s.count);
  text[s.count] = '\n';
  text[s.count + 1] = '\0';
  return text;
}

/* Exchanges two pieces of the text if they do not overlap. */
static void swap(fuzz_bytes *b, span x, span y)
{
  if (x.from > y.from) {
    span z = x;
    x = y;
    y = z;
  }
  if (x.from + x.count > y.from) return;
  char *first = copy(b, x), *second = copy(b, y);
  fuzz_splice(b, y.from, y.count, first, x.count);
  fuzz_splice(b, x.from, x.count, second, y.count);
  free(first);
  free(second);
}

static void move_lines(fuzz_random *random, fuzz_bytes *b)
{
  span line = some_line(random, b), other = some_line(random, b);
  char *text = copy(b, line);
  switch (fuzz_below(random, 5)) {
    case 0: fuzz_splice(b, line.from, line.count + 1, NULL, 0); break;
    case 1: fuzz_splice(b, other.from, 0, text, line.count + 1); break;
    case 2: swap(b, line, other); break;
    case 3: /* inserts a copy of the first line, the header */
      free(text);
      line = (span){0, strcspn(b->at, "\n")};
      text = copy(b, line);
      fuzz_splice(b, other.from, 0, text, line.count + 1);
      break;
    /* joins two lines of the text */
    default: fuzz_splice(b, line.from + line.count, 1, NULL, 0); break;
  }
  free(text);
}

static void change_fields(fuzz_random *random, fuzz_bytes *b)
{
  span line = some_line(random, b), field = some_field(random, b, line);
  const char *put = odd[fuzz_below(random, (int64_t)(sizeof odd / sizeof *odd))];
  size_t n = strlen(put);
  switch (fuzz_below(random, 6)) {
    case 0: swap(b, field, some_field(random, b, line)); break;
    case 1: fuzz_splice(b, field.from, field.count, put, n); break;
    /* overwrites bytes of the field, so that later columns keep their position */
    case 2: fuzz_splice(b, field.from, n, put, n); break;
    case 3: fuzz_splice(b, field.from + field.count, 0, put, n); break;
    /* removes the field and its separator */
    case 4: fuzz_splice(b, field.from, field.count + 1, NULL, 0); break;
    /* joins two fields of the line */
    default: fuzz_splice(b, field.from + field.count, 1, NULL, 0); break;
  }
}

/* Copies a range of columns over another range of the line, or blanks it. */
static void change_columns(fuzz_random *random, fuzz_bytes *b)
{
  span line = some_line(random, b);
  if (line.count < 2) return;
  size_t width = 1 + (size_t)fuzz_below(random, (int64_t)line.count / 2 > 9 ? 9 : 1);
  size_t most = line.count - width;
  size_t from = line.from + (size_t)fuzz_below(random, (int64_t)most + 1);
  size_t to = line.from + (size_t)fuzz_below(random, (int64_t)most + 1);
  if (fuzz_one_in(random, 3))
    memset(b->at + to, ' ', width);
  else
    memmove(b->at + to, b->at + from, width);
}

static void change_ends(fuzz_random *random, fuzz_bytes *b, bool only_cr)
{
  (void)random;
  for (size_t i = 0; i < b->size; i++) {
    if (b->at[i] != '\n') continue;
    if (only_cr)
      b->at[i] = '\r';
    else
      fuzz_splice(b, i++, 0, "\r", 1);
  }
}

static void lengthen(fuzz_random *random, fuzz_bytes *b)
{
  static char many[6000];
  span line = some_line(random, b), field = some_field(random, b, line);
  memset(many, " x1|,"[fuzz_below(random, 5)], sizeof many);
  fuzz_splice(b, fuzz_one_in(random, 2) ? line.from + line.count : field.from, 0, many,
              (size_t)fuzz_below(random, (int64_t)sizeof many));
}

void fuzz_damage_text(fuzz_random *random, fuzz_bytes *b)
{
  switch (fuzz_below(random, 16)) {
    case 0:
    case 1:
    case 2: move_lines(random, b); break;
    case 3:
    case 4:
    case 5:
    case 6: change_fields(random, b); break;
    case 7:
    case 8:
    case 9: change_columns(random, b); break;
    case 10:
      fuzz_splice(b, fuzz_one_in(random, 2) ? 0 : some_line(random, b).from, 0, "\xef\xbb\xbf", 3);
      break;
    case 11: change_ends(random, b, fuzz_one_in(random, 4)); break;
    case 12: lengthen(random, b); break;
    case 13:
      fuzz_splice(b, b->size ? (size_t)fuzz_below(random, (int64_t)b->size) : 0, b->size, NULL, 0);
      break;
    default: fuzz_damage_bytes(random, b); break;
  }
}

void fuzz_damage_bytes(fuzz_random *random, fuzz_bytes *b)
{
  static const uint64_t words[] = {
    0, UINT64_MAX, UINT64_C(1) << 60, UINT64_C(1) << 61, UINT64_C(1) << 63, UINT64_C(1) << 32,
    1, 0x7fffffff};
  if (b->size == 0) return;
  size_t at = (size_t)fuzz_below(random, (int64_t)b->size);
  /* in one of three files the changed bytes lie in the first 2048 bytes, with the superblock and
   * the first headers of HDF5 */
  if (fuzz_one_in(random, 3)) at %= 2048;
  size_t room = b->size - at, other = (size_t)fuzz_below(random, (int64_t)b->size);
  uint64_t word = words[fuzz_below(random, (int64_t)(sizeof words / sizeof *words))];
  size_t n = 1 + (size_t)fuzz_below(random, 64);
  switch (fuzz_below(random, 8)) {
    case 0: b->at[at] = (char)fuzz_bits(random); break;
    case 1: b->at[at] = (char)(b->at[at] ^ (1 << fuzz_below(random, 8))); break;
    case 2: b->at[at] = (char)(b->at[at] + (fuzz_one_in(random, 2) ? 1 : -1)); break;
    case 3: memcpy(b->at + at, &word, room < sizeof word ? room : sizeof word); break;
    case 4:
      if (room >= 8) memcpy(b->at + at / 8 * 8, &word, sizeof word);
      break;
    case 5: fuzz_splice(b, at, n, NULL, 0); break;
    case 6: /* copies one piece of the file over another */
      if (room > n && b->size - other > n) memmove(b->at + at, b->at + other, n);
      break;
    default:
      if (fuzz_one_in(random, 3))
        fuzz_splice(b, at, b->size, NULL, 0);
      else
        memset(b->at + at, fuzz_one_in(random, 2) ? 0 : 255, room < n ? room : n);
      break;
  }
}
