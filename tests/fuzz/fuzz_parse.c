/* The text formats once more, written from their description (tools/tomo/tomo_io.h) and not from
 * the readers: to judge what those take. Where in doubt it refuses. */
#include "fuzz_parse.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { LINE = FUZZ_LINE, FIELDS = FUZZ_FIELDS, SITES = 4096 };
typedef fuzz_text text;

uint64_t fuzz_hash_site(uint64_t hash, double latitude, double longitude, double depth,
                        double magnitude)
{
  const int64_t values[4] = {llround(latitude * 1e9), llround(longitude * 1e9),
                             llround(depth * 1e9),
                             isnan(magnitude) ? INT64_MIN : llround(magnitude * 1e6)};
  return fuzz_hash(hash, values, sizeof values);
}

bool fuzz_text_refuse(text *t, const char *why)
{
  if (!t->wrong) t->wrong = why;
  return false;
}

/* The next line, as it is. */
static bool next_raw(text *t)
{
  size_t from = t->at, n = 0;
  if (from >= t->all.size) return false;
  while (from + n < t->all.size && t->all.at[from + n] != '\n')
    n++;
  t->at = from + n + 1;
  if (memchr(t->all.at + from, '\0', n)) return fuzz_text_refuse(t, "a zero byte");
  if (n > LINE - 1) return fuzz_text_refuse(t, "a long line");
  memcpy(t->line, t->all.at + from, n);
  if (n > 0 && t->line[n - 1] == '\r') n--;
  t->line[n] = '\0';
  if (from == 0 && n >= 3 && memcmp(t->line, "\xef\xbb\xbf", 3) == 0)
    memmove(t->line, t->line + 3, n - 2);
  return true;
}

/* "#Network |", with blanks anywhere but in the word. */
static bool is_fdsn(const char *line)
{
  static const char wanted[] = "#network|";
  size_t found = 0;
  for (; *line && found < sizeof wanted - 1; line++) {
    bool inside = found > 1 && found < sizeof wanted - 2;
    if ((*line == ' ' || *line == '\t') && !inside) continue;
    if (tolower((unsigned char)*line) != wanted[found]) return false;
    found++;
  }
  return found == sizeof wanted - 1;
}

bool fuzz_text_next(text *t)
{
  while (next_raw(t)) {
    const char *c = t->line;
    while (*c && strchr(" \t\f\v\r", *c))
      c++;
    if (*c && (*c != '#' || is_fdsn(t->line))) return true;
  }
  return false;
}

/* Sign, digits with a point, exponent: nothing else; and in the range. */
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
  if (digits == 0) return fuzz_text_refuse(t, "no number");
  if (*c == 'e' || *c == 'E') {
    c++;
    if (*c == '+' || *c == '-') c++;
    if (!isdigit((unsigned char)*c)) return fuzz_text_refuse(t, "no exponent");
    while (isdigit((unsigned char)*c))
      c++;
  }
  if (*c) return fuzz_text_refuse(t, "more than a number");
  *value = strtod(s, NULL);
  return (*value >= low && *value <= high) || fuzz_text_refuse(t, "out of range");
}

static char *strip(char *s)
{
  while (*s == ' ' || *s == '\t')
    s++;
  for (size_t n = strlen(s); n > 0 && isspace((unsigned char)s[n - 1]);)
    s[--n] = '\0';
  return s;
}

/* Quotes count if `quotes`. Returns the number of fields, -1 if the line is wrong. */
int fuzz_text_split(text *t, char separator, bool quotes, char **field)
{
  static char room[2 * LINE]; /* the fields, each with its end */
  char *to = room;
  int n = 0;
  for (const char *c = t->line;; c++) {
    char *begin = to;
    if (n == FIELDS) return fuzz_text_refuse(t, "too many fields") - 1;
    while (*c == ' ' || *c == '\t')
      c++;
    if (quotes && *c == '"') {
      for (c++; *c && (*c != '"' || c[1] == '"'); c++) {
        if (*c == '"') c++;
        *to++ = *c;
      }
      if (*c++ != '"') return fuzz_text_refuse(t, "an open quote") - 1;
      while (*c == ' ' || *c == '\t')
        c++;
      if (*c && *c != separator) return fuzz_text_refuse(t, "text behind a quote") - 1;
    } else {
      while (*c && *c != separator)
        *to++ = *c++;
    }
    *to++ = '\0';
    field[n++] = strip(begin);
    if (!*c) return n;
  }
}

/* The column of the first name of the list; -1: none. Twice: wrong if it is needed, or the same
 * name. */
static int column(text *t, char **field, int n, const char *const *names, bool needed)
{
  int found = -1;
  for (int i = 0; i < n; i++)
    for (const char *const *name = names; *name; name++) {
      if (strcasecmp(field[i], *name) != 0) continue;
      if (found >= 0 && (needed || strcasecmp(field[i], field[found]) == 0))
        (void)fuzz_text_refuse(t, "a column twice");
      if (found < 0) found = i;
    }
  if (found < 0 && needed) (void)fuzz_text_refuse(t, "a column is missing");
  return found;
}

static const char *const latitude[] = {"latitude", "lat", NULL};
static const char *const longitude[] = {"longitude", "lon", "long", "lng", NULL};
static const char *const depth[] = {"depth_km", "depth", NULL};
static const char *const magnitude[] = {"mag", "magnitude", "mw", NULL};
static const char *const plain[][2] = {
  {"latitude", NULL}, {"longitude", NULL}, {"network", NULL}, {"station", NULL}};

/* CSV of stations or events, the header in the line. */
static void csv(text *t, bool events, fuzz_result *result)
{
  char *field[FIELDS];
  int n = fuzz_text_split(t, ',', true, field);
  int lat = column(t, field, n, latitude, true), lon = column(t, field, n, longitude, true);
  int deep = events ? column(t, field, n, depth, false) : -1;
  int mag = events ? column(t, field, n, magnitude, false) : -1;
  while (!t->wrong && fuzz_text_next(t)) {
    double y = 0, x = 0, z = 0, m = NAN;
    if (fuzz_text_split(t, ',', true, field) != n)
      (void)fuzz_text_refuse(t, "another number of fields");
    if (t->wrong) return;
    const bool placed = !events || (*field[lat] && *field[lon]); /* an event may have no place */
    if (*field[lat] || !events) (void)fuzz_text_number(t, field[lat], -90, 90, &y);
    if (*field[lon] || !events) (void)fuzz_text_number(t, field[lon], -180, 360, &x);
    if (deep >= 0 && *field[deep]) (void)fuzz_text_number(t, field[deep], -10, 800, &z);
    if (mag >= 0 && *field[mag]) (void)fuzz_text_number(t, field[mag], -5, 11, &m);
    if (!placed) continue;
    result->digest = fuzz_hash_site(result->digest, y, x, z, m);
    result->high++;
  }
}

/* Name, network, latitude, longitude between blanks; the line is in the text. */
static void specfem(text *t, fuzz_result *result)
{
  do {
    char *field[LINE], *rest = NULL;
    double y = 0, x = 0, unused;
    int n = 0;
    for (char *word = strtok_r(t->line, " \t", &rest); word; word = strtok_r(NULL, " \t", &rest))
      field[n++] = word;
    if (n < 4 || n > FIELDS) (void)fuzz_text_refuse(t, "columns");
    if (t->wrong) return;
    (void)fuzz_text_number(t, field[2], -90, 90, &y);
    (void)fuzz_text_number(t, field[3], -180, 360, &x);
    for (int i = 4; i < n && i < 6; i++)
      (void)fuzz_text_number(t, field[i], -12e3, 12e3, &unused);
    result->digest = fuzz_hash_site(result->digest, y, x, 0, NAN);
    result->high++;
  } while (fuzz_text_next(t));
}

typedef struct site {
  char code[96];
  double y, x;
} site;

static bool is_code(const char *s, size_t most)
{
  size_t n = strlen(s);
  for (size_t i = 0; i < n; i++)
    if (!isgraph((unsigned char)s[i])) return false;
  return n > 0 && n <= most;
}

/* Is it a station that is listed? */
static bool is_known(const site *list, int count, const site *new)
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

static void fdsn(text *t, fuzz_result *result)
{
  static site list[SITES];
  char *field[FIELDS];
  int n = 0, at[4] = {0}, count = 0, high = -1;
  static const char *const elevation[] = {"elevation", NULL};
  do {
    site *new = &list[count];
    double unused;
    if (is_fdsn(t->line)) {
      *strchr(t->line, '#') = ' ';
      n = fuzz_text_split(t, '|', false, field);
      for (int i = 0; i < 4; i++)
        at[i] = column(t, field, n, plain[i], true);
      high = column(t, field, n, elevation, false);
      if (t->wrong) return;
      continue;
    }
    if (fuzz_text_split(t, '|', false, field) != n)
      (void)fuzz_text_refuse(t, "another number of fields");
    if (t->wrong) return;
    (void)fuzz_text_number(t, field[at[0]], -90, 90, &new->y);
    (void)fuzz_text_number(t, field[at[1]], -180, 360, &new->x);
    if (high >= 0 && *field[high]) (void)fuzz_text_number(t, field[high], -12e3, 12e3, &unused);
    if (!is_code(field[at[2]], 15) || !is_code(field[at[3]], 15))
      (void)fuzz_text_refuse(t, "no code");
    if (t->wrong || count == SITES - 1) return;
    strcat(strcat(strcpy(new->code, field[at[2]]), "."), field[at[3]]);
    if (is_known(list, count, new)) continue;
    result->digest = fuzz_hash_site(result->digest, new->y, new->x, 0, NAN);
    result->high++;
    count++;
  } while (fuzz_text_next(t));
}

/* Columns of the line, counted from 1: a number with a point (or without) that fills them to the
 * right. */
static double fixed(text *t, int first, int last, bool point, double low, double high)
{
  char s[16] = "";
  double value = 0;
  if (strlen(t->line) < (size_t)last) return fuzz_text_refuse(t, "a short line");
  memcpy(s, t->line + first - 1, (size_t)(last - first + 1));
  char *c = s;
  while (*c == ' ')
    c++;
  if (strchr(c, 'e') || strchr(c, 'E') || (strchr(c, '.') != NULL) != point)
    (void)fuzz_text_refuse(t, "not fixed");
  (void)fuzz_text_number(t, c, low, high, &value);
  return value;
}

static bool has_date(const char *line)
{
  static const char form[] = "dddd/dd/dd";
  for (int i = 0; i < 5; i++)
    if (!line[i]) return false;
  for (int i = 0; form[i]; i++)
    if (form[i] == 'd' ? !isdigit((unsigned char)line[5 + i]) : line[5 + i] != form[i])
      return false;
  return true;
}

static void ndk(text *t, fuzz_result *result)
{
  do {
    double y, x, z, moment, power;
    if (!has_date(t->line)) (void)fuzz_text_refuse(t, "no date");
    (void)fixed(t, 28, 33, true, -90, 90);
    if (!next_raw(t) || strlen(t->line) < 61 || strncmp(t->line + 16, " B:", 3) != 0)
      (void)fuzz_text_refuse(t, "line 2");
    if (!next_raw(t) || strncmp(t->line, "CENTROID:", 9) != 0) (void)fuzz_text_refuse(t, "line 3");
    if (t->wrong) return;
    y = fixed(t, 23, 29, true, -90, 90);
    x = fixed(t, 35, 42, true, -180, 360);
    z = fixed(t, 48, 53, true, -10, 800);
    if (t->wrong) return;
    const char *type = t->line + 58;
    if (strncmp(type, " FREE", 5) != 0 && strncmp(type, " FIX", 4) != 0 &&
        strncmp(type, " BDY", 4) != 0)
      (void)fuzz_text_refuse(t, "type of depth");
    if (!next_raw(t)) (void)fuzz_text_refuse(t, "line 4");
    power = fixed(t, 1, 2, false, 0, 40);
    (void)fixed(t, 3, 9, true, -1e6, 1e6);
    if (!next_raw(t) || t->line[0] != 'V') (void)fuzz_text_refuse(t, "line 5");
    moment = fixed(t, 49, 56, true, 0, 1e6);
    result->digest = fuzz_hash_site(result->digest, y, x, z,
                                    moment > 0 ? (log10(moment) + power) / 1.5 - 10.7 : NAN);
    result->high++;
  } while (!t->wrong && fuzz_text_next(t));
}

static void judge(const char *path, bool events, fuzz_result *result)
{
  static text t;
  t = (text){.all = fuzz_load(path)};
  if (!fuzz_text_next(&t))
    (void)fuzz_text_refuse(&t, "no content");
  else if (events)
    has_date(t.line) ? ndk(&t, result) : csv(&t, true, result);
  else if (is_fdsn(t.line))
    fdsn(&t, result);
  else
    strchr(t.line, ',') ? csv(&t, false, result) : specfem(&t, result);
  if (result->high == 0) (void)fuzz_text_refuse(&t, "no entries");
  result->state = FUZZ_TAKEN;
  if (t.wrong) fuzz_refuse(result, "%s", t.wrong);
  free(t.all.at);
}

void fuzz_judge_stations(const char *path, fuzz_result *result)
{
  judge(path, false, result);
}

void fuzz_judge_events(const char *path, fuzz_result *result)
{
  judge(path, true, result);
}
