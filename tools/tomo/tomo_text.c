/* Lines, fields and numbers of text files, with the place of every error.
 *
 * The reader keeps one line of bounded length, so that a file without line ends cannot exhaust
 * memory. CSV follows RFC 4180 but for line ends within quotes, which are errors here: a forgotten
 * quote is then found at its own line. Numbers are decimal; "nan", "inf" and hexadecimal are not.
 */
#include "tomo_text.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { FILE_SHOWN = 200 };

osla_err text_open(text_reader *reader, const char *file)
{
  size_t length = strlen(file);
  reader->file = length > FILE_SHOWN ? file + length - FILE_SHOWN : file;
  reader->line = 0;
  reader->held = false;
  reader->text[0] = '\0';
  reader->stream = fopen(file, "r");
  OSLA_CHECK(reader->stream, OSLA_ERR_IO, "%s: %s", reader->file, strerror(errno));
  return OSLA_OK;
}

void text_close(text_reader *reader)
{
  if (reader->stream) fclose(reader->stream);
  reader->stream = NULL;
}

osla_err text_read(text_reader *reader, bool *more)
{
  *more = true;
  if (reader->held) {
    reader->held = false;
    return OSLA_OK;
  }
  size_t n = 0;
  int c;
  reader->line++;
  while ((c = getc(reader->stream)) != EOF && c != '\n') {
    OSLA_CHECK(c != '\0', OSLA_ERR_IO, "%s:%lld: the line contains a zero byte; is this text?",
               reader->file, (long long)reader->line);
    OSLA_CHECK(n < TOMO_LINE_MAX - 1, OSLA_ERR_IO, "%s:%lld: the line is longer than %d bytes",
               reader->file, (long long)reader->line, TOMO_LINE_MAX - 1);
    reader->text[n++] = (char)c;
  }
  OSLA_CHECK(!ferror(reader->stream), OSLA_ERR_IO, "%s: %s", reader->file, strerror(errno));
  if (c == EOF && n == 0) *more = false;
  if (n > 0 && reader->text[n - 1] == '\r') n--;
  reader->text[n] = '\0';
  if (reader->line == 1 && strncmp(reader->text, "\xef\xbb\xbf", 3) == 0)
    memmove(reader->text, reader->text + 3, n - 2);
  return OSLA_OK;
}

bool text_is_fdsn(const char *line)
{
  static const char name[] = "network";
  line += strspn(line, " \t");
  if (*line++ != '#') return false;
  line += strspn(line, " \t");
  if (strncasecmp(line, name, sizeof name - 1) != 0) return false;
  line += sizeof name - 1;
  return line[strspn(line, " \t")] == '|';
}

osla_err text_read_content(text_reader *reader, bool *more)
{
  for (;;) {
    OSLA_CALL(text_read(reader, more));
    if (!*more) return OSLA_OK;
    const char *p = reader->text + strspn(reader->text, " \t\f\v\r");
    if (*p != '\0' && (*p != '#' || text_is_fdsn(reader->text))) return OSLA_OK;
  }
}

static char *trim(char *field)
{
  field += strspn(field, " \t");
  size_t n = strlen(field);
  while (n > 0 && isspace((unsigned char)field[n - 1]))
    n--;
  field[n] = '\0';
  return field;
}

/* Unquotes in place what begins at the quote *p; *p moves behind the closing quote. */
static bool unquote(char **p)
{
  char *to = *p, *from = *p + 1;
  for (; *from; from++) {
    if (*from == '"' && from[1] != '"') {
      *p = from + 1;
      *to = '\0';
      return true;
    }
    if (*from == '"') from++;
    *to++ = *from;
  }
  return false;
}

osla_err text_split(text_reader *reader, char separator, char **field, int *count)
{
  char *p = reader->text;
  *count = 0;
  for (;;) {
    OSLA_CHECK(*count < TEXT_FIELDS_MAX, OSLA_ERR_IO, "%s:%lld: more than %d fields", reader->file,
               (long long)reader->line, TEXT_FIELDS_MAX);
    p += strspn(p, " \t");
    char *start = p;
    if (*p == '"' && separator == ',') {
      OSLA_CHECK(unquote(&p), OSLA_ERR_IO, "%s:%lld: a quote is not closed", reader->file,
                 (long long)reader->line);
      p += strspn(p, " \t");
      OSLA_CHECK(*p == ',' || *p == '\0', OSLA_ERR_IO, "%s:%lld: '%c' follows a closing quote",
                 reader->file, (long long)reader->line, isprint((unsigned char)*p) ? *p : '?');
    } else {
      p += strcspn(p, (const char[]){separator, '\0'});
    }
    bool last = *p == '\0';
    *p = '\0';
    field[(*count)++] = trim(start);
    if (last) return OSLA_OK;
    p++;
  }
}

osla_err text_split_blanks(text_reader *reader, char *from, char **field, int *count)
{
  *count = 0;
  for (char *p = from;;) {
    p += strspn(p, " \t");
    if (*p == '\0') return OSLA_OK;
    OSLA_CHECK(*count < TEXT_FIELDS_MAX, OSLA_ERR_IO, "%s:%lld: more than %d fields", reader->file,
               (long long)reader->line, TEXT_FIELDS_MAX);
    field[(*count)++] = p;
    p += strcspn(p, " \t");
    if (*p != '\0') *p++ = '\0';
  }
}

void text_show(const char *field, char shown[TEXT_SHOWN])
{
  int n = 0;
  for (; field[n] && n < TEXT_SHOWN - 4; n++)
    shown[n] = isprint((unsigned char)field[n]) ? field[n] : '?';
  strcpy(shown + n, field[n] ? "..." : "");
}

osla_err text_number(const text_reader *reader, const char *what, const char *field, double low,
                     double high, double *value)
{
  char shown[TEXT_SHOWN];
  char *end;
  text_show(field, shown);
  OSLA_CHECK(field[0] != '\0', OSLA_ERR_IO, "%s:%lld: %s is empty", reader->file,
             (long long)reader->line, what);
  double x = strtod(field, &end);
  bool decimal = *end == '\0' && !isspace((unsigned char)field[0]) && !strpbrk(field, "xX");
  OSLA_CHECK(decimal, OSLA_ERR_IO, "%s:%lld: %s \"%s\" is not a number", reader->file,
             (long long)reader->line, what, shown);
  OSLA_CHECK(isfinite(x), OSLA_ERR_IO, "%s:%lld: %s %s is not finite", reader->file,
             (long long)reader->line, what, shown);
  OSLA_CHECK(x >= low && x <= high, OSLA_ERR_IO, "%s:%lld: %s %s is outside %g to %g", reader->file,
             (long long)reader->line, what, shown, low, high);
  *value = x;
  return OSLA_OK;
}

osla_err text_position(const text_reader *reader, const char *latitude, const char *longitude,
                       tomo_site *site)
{
  OSLA_CALL(text_number(reader, "latitude", latitude, -90.0, 90.0, &site->latitude));
  return text_number(reader, "longitude", longitude, -180.0, 360.0, &site->longitude);
}

void text_set_name(tomo_site *site, const char *name)
{
  name += strspn(name, " \t");
  size_t n = strlen(name);
  if (n > sizeof site->name - 1) {
    n = sizeof site->name - 1;
    while (n > 0 && ((unsigned char)name[n] & 0xc0) == 0x80)
      n--;
  }
  for (size_t i = 0; i < n; i++)
    site->name[i] = iscntrl((unsigned char)name[i]) ? ' ' : name[i];
  while (n > 0 && site->name[n - 1] == ' ')
    n--;
  memset(site->name + n, 0, sizeof site->name - n);
}

void text_set_codes(tomo_site *site, const char *network, const char *station)
{
  char name[2 * TOMO_NAME_MAX];
  (void)snprintf(name, sizeof name, "%.30s%s%.30s", network, *network && *station ? "." : "",
                 station);
  text_set_name(site, name);
}

osla_err site_list_add(site_list *list, tomo_site **site)
{
  if (list->count == list->capacity) {
    int64_t capacity = list->capacity ? 2 * list->capacity : 64;
    tomo_site *grown = realloc(list->site, (size_t)capacity * sizeof *grown);
    OSLA_CHECK(grown, OSLA_ERR_MEM, "no memory for %lld stations or events", (long long)capacity);
    list->site = grown;
    list->capacity = capacity;
  }
  *site = &list->site[list->count++];
  memset(*site, 0, sizeof **site);
  (*site)->magnitude = NAN;
  return OSLA_OK;
}

/* Is `name` one of the words in "latitude|lat"? */
static bool is_one_of(const char *name, const char *key)
{
  size_t length = strlen(name);
  for (const char *word = key; word; word = strchr(word, '|')) {
    word += *word == '|';
    if (length > 0 && strcspn(word, "|") == length && strncasecmp(word, name, length) == 0)
      return true;
  }
  return false;
}

osla_err text_header(text_reader *reader, char separator, const char *const *keys, int n_keys,
                     int required, int *column, int *count)
{
  char *field[TEXT_FIELDS_MAX];
  OSLA_CALL(text_split(reader, separator, field, count));
  for (int i = 0; i < n_keys; i++) {
    column[i] = -1;
    for (int j = 0; j < *count; j++) {
      if (!is_one_of(field[j], keys[i])) continue;
      bool again = column[i] >= 0 && (i < required || !strcasecmp(field[j], field[column[i]]));
      OSLA_CHECK(!again, OSLA_ERR_IO, "%s:%lld: the header has two columns for %.*s: %s and %s",
                 reader->file, (long long)reader->line, (int)strcspn(keys[i], "|"), keys[i],
                 field[column[i]], field[j]);
      if (column[i] < 0) column[i] = j;
    }
    OSLA_CHECK(column[i] >= 0 || i >= required, OSLA_ERR_IO,
               "%s:%lld: the header has no column %.*s", reader->file, (long long)reader->line,
               (int)strcspn(keys[i], "|"), keys[i]);
  }
  return OSLA_OK;
}

osla_err text_row(text_reader *reader, char separator, char **field, int count)
{
  int found;
  OSLA_CALL(text_split(reader, separator, field, &found));
  OSLA_CHECK(found == count, OSLA_ERR_IO, "%s:%lld: %d fields, but the header has %d", reader->file,
             (long long)reader->line, found, count);
  return OSLA_OK;
}

static osla_err read_entries(text_reader *reader, const char *what, site_reader *read,
                             site_list *list)
{
  bool more;
  OSLA_CALL(text_read_content(reader, &more));
  OSLA_CHECK(more, OSLA_ERR_IO, "%s: no %s in this file", reader->file, what);
  reader->held = true;
  OSLA_CALL(read(reader, list));
  OSLA_CHECK(list->count > 0, OSLA_ERR_IO, "%s: no %s in this file", reader->file, what);
  return OSLA_OK;
}

osla_err text_read_sites(const char *file, const char *what, site_reader *read, tomo_site **sites,
                         int64_t *count)
{
  text_reader reader;
  site_list list = {0};
  *sites = NULL;
  *count = 0;
  osla_err err = text_open(&reader, file);
  if (err == OSLA_OK) err = read_entries(&reader, what, read, &list);
  text_close(&reader);
  if (err != OSLA_OK) {
    free(list.site);
    return err;
  }
  *sites = list.site;
  *count = list.count;
  return OSLA_OK;
}
