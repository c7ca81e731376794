/* Parses the text of a reference table; tomo_reference.h describes the format. */
#include "apps/tomography/earth/tomo_reference_table.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORD_MAX = 40 };

/* Position of the parser in the text. */
typedef struct cursor {
  const char *name;
  const char *next, *end; /* rest of the text, from the next line on */
  const char *at, *stop;  /* rest of the current line, from `at` to `stop` */
  long line;
  char word[WORD_MAX + 1]; /* latest word of the line, cut to WORD_MAX characters */
} cursor;

/* Sets and returns the error IO "FILE:LINE: message" for the current line. */
__attribute__((format(printf, 2, 3))) static osla_err parse_error(const cursor *c,
                                                                  const char *format, ...)
{
  char text[400];
  va_list args;
  va_start(args, format);
  (void)vsnprintf(text, sizeof text, format, args);
  va_end(args);
  return osla_error_set(OSLA_ERR_IO, "%s:%ld: %s", c->name, c->line, text);
}
#define PARSE_CHECK(c, condition, ...)                                                             \
  do {                                                                                             \
    if (!(condition)) return parse_error(c, __VA_ARGS__);                                          \
  } while (0)

static bool is_blank(char c)
{
  return c == ' ' || c == '\t' || c == '\r';
}

/* Advances to the next line that is neither blank nor a comment; returns false at the end. */
static bool next_line(cursor *c)
{
  while (c->next < c->end) {
    const char *newline = memchr(c->next, '\n', (size_t)(c->end - c->next));
    c->at = c->next;
    c->stop = newline ? newline : c->end;
    c->next = newline ? newline + 1 : c->end;
    c->line++;
    while (c->at < c->stop && is_blank(*c->at))
      c->at++;
    while (c->stop > c->at && is_blank(c->stop[-1]))
      c->stop--;
    if (c->at < c->stop && *c->at != '#') return true;
  }
  return false;
}

/* Reads the next word of the line into c->word, cut and made printable; returns false at the end of
 * the line. */
static bool next_word(cursor *c)
{
  size_t n = 0;
  while (c->at < c->stop && is_blank(*c->at))
    c->at++;
  if (c->at == c->stop) return false;
  for (; c->at < c->stop && !is_blank(*c->at); c->at++)
    if (n < WORD_MAX) c->word[n++] = isprint((unsigned char)*c->at) ? *c->at : '?';
  c->word[n] = '\0';
  return true;
}

static osla_err parse_number(const cursor *c, const char *what, double low, double high,
                             double *value)
{
  char *end;
  PARSE_CHECK(c, strlen(c->word) < WORD_MAX, "%s: %s... is too long for a number", what, c->word);
  *value = strtod(c->word, &end);
  PARSE_CHECK(c, end != c->word && *end == '\0' && !strpbrk(c->word, "xX"),
              "%s: \"%s\" is not a number", what, c->word);
  PARSE_CHECK(c, isfinite(*value), "%s: %s is not finite", what, c->word);
  PARSE_CHECK(c, *value >= low && *value <= high, "%s: %s is outside %g to %g", what, c->word, low,
              high);
  return OSLA_OK;
}

static osla_err next_number(cursor *c, const char *what, double low, double high, double *value)
{
  PARSE_CHECK(c, next_word(c), "%s: missing at the end of the line", what);
  return parse_number(c, what, low, high, value);
}

/* Reads exactly `count` numbers up to the end of the line. */
static osla_err parse_numbers(cursor *c, const char *what, int count, double *value)
{
  int n = 0;
  while (next_word(c)) {
    if (n < count) OSLA_CALL(parse_number(c, what, -1e3, 1e3, &value[n]));
    n++;
  }
  PARSE_CHECK(c, n == count, "%s: %d values, but there are %d depths", what, n, count);
  return OSLA_OK;
}

static osla_err read_depths(cursor *c, tomo_reference *reference)
{
  enum { DEEPEST = 10000 };
  int n = 0;
  const cursor begin = *c;
  while (next_word(c))
    n++;
  PARSE_CHECK(c, n >= 2 && n <= REFERENCE_DEPTHS_MAX, "depth_km: %d depths are outside 2 to %d", n,
              REFERENCE_DEPTHS_MAX);
  double *depth = reference->depth = malloc((size_t)n * sizeof *depth);
  OSLA_CHECK(depth, OSLA_ERR_MEM, "no memory for %d depths", n);
  *c = begin;
  for (int i = 0; i < n; i++) {
    OSLA_CALL(next_number(c, "depth_km", 0.0, DEEPEST, &depth[i]));
    PARSE_CHECK(c, i == 0 || depth[i] >= depth[i - 1],
                "depth_km: %s comes after %.9g; depths ascend", c->word, depth[i - 1]);
    PARSE_CHECK(c, i < 2 || depth[i] > depth[i - 2], "depth_km: %s is given three times", c->word);
  }
  PARSE_CHECK(c, depth[n - 1] > depth[n - 2] && depth[1] > depth[0],
              "depth_km: the first and the last depth cannot be jumps");
  reference->n_depths = n;
  return OSLA_OK;
}

static osla_err read_head_line(cursor *c, const char *keyword, char text[REFERENCE_TEXT_MAX])
{
  size_t n = 0;
  PARSE_CHECK(c, text[0] == '\0', "%s: given twice", keyword);
  while (c->at < c->stop && is_blank(*c->at))
    c->at++;
  for (; c->at < c->stop && n < REFERENCE_TEXT_MAX - 1; c->at++)
    text[n++] = iscntrl((unsigned char)*c->at) ? ' ' : *c->at;
  PARSE_CHECK(c, n > 0, "%s: the value is missing", keyword);
  /* drops an incomplete UTF-8 character */
  if (c->at < c->stop && ((unsigned char)*c->at & 0xc0) == 0x80) {
    while (n > 0 && ((unsigned char)text[n - 1] & 0xc0) == 0x80)
      n--;
    if (n > 0) n--;
    text[n] = '\0';
  }
  return OSLA_OK;
}

/* Reads the head, which ends with the line of depths. */
static osla_err read_head(cursor *c, tomo_reference *reference)
{
  static const char *const keyword[N_HEADS] = {"title", "mapping", "source", "made"};
  OSLA_CHECK(next_line(c), OSLA_ERR_IO, "%s: not a reference table: the file is empty", c->name);
  bool ours = next_word(c) && strcmp(c->word, "osla-reference") == 0;
  ours = ours && next_word(c) && strcmp(c->word, "1") == 0 && !next_word(c);
  PARSE_CHECK(c, ours, "not a reference table: the first line must be \"osla-reference 1\"");
  while (next_line(c)) {
    int i = 0;
    (void)next_word(c);
    if (strcmp(c->word, "depth_km") == 0) {
      OSLA_CALL(read_depths(c, reference));
      for (i = 0; i <= HEAD_MAPPING; i++)
        PARSE_CHECK(c, reference->head[i][0], "%s: missing in the head", keyword[i]);
      return OSLA_OK;
    }
    while (i < N_HEADS && strcmp(c->word, keyword[i]) != 0)
      i++;
    PARSE_CHECK(c, i < N_HEADS, "%s: none of title, mapping, source, made, depth_km", c->word);
    OSLA_CALL(read_head_line(c, keyword[i], reference->head[i]));
  }
  return parse_error(c, "depth_km: missing in the head");
}

/* Reads a line of kernel values: its keyword, and n_depths numbers. */
static osla_err read_kernel(cursor *c, const tomo_reference *reference, const char *keyword,
                            double **kernel)
{
  const bool there = next_line(c) && next_word(c) && strcmp(c->word, keyword) == 0;
  PARSE_CHECK(c, there, "%s: expected after the line of its mode", keyword);
  *kernel = malloc((size_t)reference->n_depths * sizeof **kernel);
  OSLA_CHECK(*kernel, OSLA_ERR_MEM, "no memory for a kernel of %d depths", reference->n_depths);
  return parse_numbers(c, keyword, reference->n_depths, *kernel);
}

/* Reads the rest of a line "mode": wave, branch, period, phase velocity c and group velocity U.
 * *grouped is false if U is missing. */
static osla_err read_mode(cursor *c, reference_row *row, bool *grouped)
{
  double branch;
  row->line = c->line;
  PARSE_CHECK(c, next_word(c), "wave: missing at the end of the line");
  const bool love = strcmp(c->word, "love") == 0;
  PARSE_CHECK(c, love || strcmp(c->word, "rayleigh") == 0, "wave: %s is neither rayleigh nor love",
              c->word);
  row->wave = love ? TOMO_LOVE : TOMO_RAYLEIGH;
  OSLA_CALL(next_number(c, "branch", 0, REFERENCE_BRANCH_MAX, &branch));
  PARSE_CHECK(c, branch == floor(branch), "branch: %s is not a whole number", c->word);
  row->branch = (int)branch;
  OSLA_CALL(next_number(c, "period", 0.01, 1e5, &row->period));
  OSLA_CALL(next_number(c, "c", 0.01, 100.0, &row->velocity[TOMO_PHASE]));
  *grouped = next_word(c);
  if (*grouped) OSLA_CALL(parse_number(c, "U", 0.01, 100.0, &row->velocity[TOMO_GROUP]));
  PARSE_CHECK(c, !next_word(c), "mode: %s is one value too many", c->word);
  return OSLA_OK;
}

/* Reads all rows. A row is counted in n_rows before it is read, so that tomo_reference_destroy
 * frees it after an error. */
static osla_err read_rows(cursor *c, tomo_reference *reference)
{
  int room = 0;
  while (next_line(c)) {
    bool grouped = false;
    (void)next_word(c);
    PARSE_CHECK(c, strcmp(c->word, "mode") == 0, "%s: mode was expected", c->word);
    PARSE_CHECK(c, reference->n_rows < REFERENCE_ROWS_MAX, "mode: more than %d modes",
                REFERENCE_ROWS_MAX);
    if (reference->n_rows == room) {
      room = room ? 2 * room : 64;
      reference_row *grown = realloc(reference->row, (size_t)room * sizeof *grown);
      OSLA_CHECK(grown, OSLA_ERR_MEM, "no memory for %d rows of a reference table", room);
      reference->row = grown;
    }
    reference_row *row = &reference->row[reference->n_rows++];
    *row = (reference_row){.kernel = {NULL, NULL}};
    OSLA_CALL(read_mode(c, row, &grouped));
    OSLA_CALL(read_kernel(c, reference, "dlnc", &row->kernel[TOMO_PHASE]));
    if (grouped) OSLA_CALL(read_kernel(c, reference, "dlnU", &row->kernel[TOMO_GROUP]));
  }
  PARSE_CHECK(c, reference->n_rows > 0, "mode: the table has no mode");
  return OSLA_OK;
}

osla_err tomo_reference_parse(const char *name, const char *text, size_t length,
                              tomo_reference **out)
{
  const size_t long_name = strlen(name);
  cursor c = {
    .name = long_name > 200 ? name + long_name - 200 : name, .next = text, .end = text + length};
  *out = NULL;
  /* skips a UTF-8 byte order mark */
  if (length >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) c.next += 3;
  OSLA_CHECK(!memchr(text, '\0', length), OSLA_ERR_IO, "%s: it contains a zero byte; is this text?",
             c.name);
  tomo_reference *reference = calloc(1, sizeof *reference);
  OSLA_CHECK(reference, OSLA_ERR_MEM, "no memory for a reference table");
  osla_err err = read_head(&c, reference);
  if (err == OSLA_OK) err = read_rows(&c, reference);
  if (err == OSLA_OK) err = reference_sort_rows(c.name, reference);
  if (err != OSLA_OK) tomo_reference_destroy(&reference);
  *out = reference;
  return err;
}
