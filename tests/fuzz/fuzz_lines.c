/* Lines, fields and numbers of the independent parser of text (fuzz_parse.h). */
#include "tests/fuzz/fuzz_parse.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { LINE = FUZZ_LINE, FIELDS = FUZZ_FIELDS };
typedef fuzz_text text;

uint64_t fuzz_hash_site(uint64_t hash, double latitude, double longitude, double depth,
                        double magnitude, double time_s, const char *id)
{
  const int64_t values[5] = {llround(latitude * 1e9), llround(longitude * 1e9),
                             llround(depth * 1e9),
                             isnan(magnitude) ? INT64_MIN : llround(magnitude * 1e6),
                             isnan(time_s) ? INT64_MIN : llround(time_s * 64)};
  const size_t length = strlen(id);
  return fuzz_hash(fuzz_hash(hash, values, sizeof values), id, length < 64 ? length : 0);
}

bool fuzz_is_given(const char *value)
{
  return *value && strcasecmp(value, "nan") != 0;
}

bool fuzz_text_reject(text *t, const char *why)
{
  if (!t->wrong) t->wrong = why;
  return false;
}

bool fuzz_text_next_raw(text *t)
{
  size_t from = t->at, n = 0;
  if (from >= t->all.size) return false;
  while (from + n < t->all.size && t->all.at[from + n] != '\n')
    n++;
  t->at = from + n + 1;
  if (memchr(t->all.at + from, '\0', n)) return fuzz_text_reject(t, "a zero byte");
  if (n > LINE - 1) return fuzz_text_reject(t, "a long line");
  memcpy(t->line, t->all.at + from, n);
  if (n > 0 && t->line[n - 1] == '\r') n--;
  t->line[n] = '\0';
  if (from == 0 && n >= 3 && memcmp(t->line, "\xef\xbb\xbf", 3) == 0)
    memmove(t->line, t->line + 3, n - 2);
  return true;
}

/* Does the line begin with `wanted`, a text of the form #WORD| in any case? Blanks around # and
 * before | are ignored. */
static bool has_form(const char *line, const char *wanted)
{
  size_t found = 0, length = strlen(wanted);
  for (; *line && found < length; line++) {
    bool inside = found > 1 && found < length - 1;
    if ((*line == ' ' || *line == '\t') && !inside) continue;
    if (tolower((unsigned char)*line) != wanted[found]) return false;
    found++;
  }
  return found == length;
}

bool fuzz_text_is_fdsn(const char *line)
{
  return has_form(line, "#network|") || has_form(line, "#eventid|");
}

bool fuzz_text_next(text *t)
{
  while (fuzz_text_next_raw(t)) {
    const char *c = t->line;
    while (*c && strchr(" \t\f\v\r", *c))
      c++;
    if (*c && (*c != '#' || fuzz_text_is_fdsn(t->line))) return true;
  }
  return false;
}

bool fuzz_text_number(text *t, const char *s, double low, double high, double *value)
{
  const char *c = s;
  int digits = 0;
  if (*c == '+' || *c == '-') c++;
  for (; isdigit((unsigned char)*c); c++)
    digits++;
  if (*c == '.')
    for (c++; isdigit((unsigned char)*c); c++)
      digits++;
  if (digits == 0) return fuzz_text_reject(t, "no number");
  if (*c == 'e' || *c == 'E') {
    c++;
    if (*c == '+' || *c == '-') c++;
    if (!isdigit((unsigned char)*c)) return fuzz_text_reject(t, "no exponent");
    while (isdigit((unsigned char)*c))
      c++;
  }
  if (*c) return fuzz_text_reject(t, "more than a number");
  *value = strtod(s, NULL);
  return (*value >= low && *value <= high) || fuzz_text_reject(t, "out of range");
}

static char *strip(char *s)
{
  while (*s == ' ' || *s == '\t')
    s++;
  for (size_t n = strlen(s); n > 0 && isspace((unsigned char)s[n - 1]);)
    s[--n] = '\0';
  return s;
}

static int count_of(const char *line, char wanted)
{
  int count = 0, quotes = 0;
  for (; *line; line++) {
    quotes += *line == '"';
    count += *line == wanted && quotes % 2 == 0;
  }
  return count;
}

char fuzz_text_separator(const text *t)
{
  char best = ',';
  for (const char *c = ";\t|"; *c; c++)
    if (count_of(t->line, *c) > count_of(t->line, best)) best = *c;
  return best;
}

int fuzz_text_split(text *t, char separator, char **field)
{
  static char room[2 * LINE]; /* memory for the fields, each with its final 0 */
  const bool quotes = separator != '|', tabs = separator == '\t';
  char *to = room;
  int n = 0;
  for (const char *c = t->line;; c++) {
    char *begin = to;
    if (n == FIELDS) return fuzz_text_reject(t, "too many fields") - 1;
    while (*c == ' ' || (*c == '\t' && !tabs))
      c++;
    if (quotes && *c == '"') {
      for (c++; *c && (*c != '"' || c[1] == '"'); c++) {
        if (*c == '"') c++;
        *to++ = *c;
      }
      if (*c++ != '"') return fuzz_text_reject(t, "an open quote") - 1;
      while (*c == ' ' || (*c == '\t' && !tabs))
        c++;
      if (*c && *c != separator) return fuzz_text_reject(t, "text behind a quote") - 1;
    } else {
      while (*c && *c != separator)
        *to++ = *c++;
    }
    *to++ = '\0';
    field[n++] = strip(begin);
    if (!*c) return n;
  }
}

bool fuzz_is_known(const fuzz_site *list, int count, const fuzz_site *new)
{
  for (int i = 0; i < count; i++) {
    double east = fabs(new->x - list[i].x);
    while (east > 180)
      east = fabs(east - 360);
    if (strcmp(list[i].code, new->code) == 0 && fabs(new->y - list[i].y) <= 0.1 &&
        east * cos(new->y *acos(-1) / 180) <= 0.1)
      return true;
  }
  return false;
}

char *fuzz_strip_blanks(char *s)
{
  s += strspn(s, " \t");
  for (size_t n = strlen(s); n > 0 && strchr(" \t", s[n - 1]);)
    s[--n] = '\0';
  return s;
}
