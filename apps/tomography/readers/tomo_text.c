/* Lines, fields and numbers of text files; every error names file and line.
 *
 * The reader stores one line of bounded length, so that a file without line ends cannot exhaust
 * memory. CSV follows RFC 4180, but a line end within quotes is an error, so that a missing quote
 * is reported at its own line. Numbers are decimal; "nan", "inf" and hexadecimal numbers are
 * errors.
 */
#include "apps/tomography/readers/tomo_text.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { FILE_SHOWN = 200 };

osla_err text_error(const text_reader *reader, const char *format, ...)
{
  char text[400];
  va_list args;
  va_start(args, format);
  (void)vsnprintf(text, sizeof text, format, args);
  va_end(args);
  return osla_error_set(OSLA_ERR_IO, "%s:%lld: %s", reader->file, (long long)reader->line, text);
}

osla_err text_open(text_reader *reader, const char *file)
{
  size_t length = strlen(file);
  reader->file = length > FILE_SHOWN ? file + length - FILE_SHOWN : file;
  reader->line = 0;
  reader->repeat_line = false;
  reader->text[0] = '\0';
  reader->stream = fopen(file, "r");
  reader->n_ahead = reader->taken = 0;
  OSLA_CHECK(reader->stream, OSLA_ERR_IO, "%s: %s", reader->file, strerror(errno));
  reader->n_ahead = fread(reader->ahead, 1, TEXT_AHEAD, reader->stream);
  OSLA_CHECK(!ferror(reader->stream), OSLA_ERR_IO, "%s: %s", reader->file, strerror(errno));
  return OSLA_OK;
}

/* Index of the file's first byte that is neither blank nor part of a byte order mark. */
static size_t find_begin(const text_reader *reader)
{
  size_t i = reader->n_ahead >= 3 && memcmp(reader->ahead, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
  while (i < reader->n_ahead && isspace((unsigned char)reader->ahead[i]))
    i++;
  return i;
}

bool text_is_html(const text_reader *reader)
{
  static const char *const tags[] = {"<!doctype html", "<html", "<head", "<title", "<body", "<pre"};
  const size_t i = find_begin(reader), n = reader->n_ahead - i;
  for (size_t t = 0; t < sizeof tags / sizeof *tags; t++) {
    const size_t length = strlen(tags[t]);
    if (n > length && strncasecmp(reader->ahead + i, tags[t], length) == 0 &&
        strchr("> \t\r\n", reader->ahead[i + length]) && reader->ahead[i + length])
      return true;
  }
  return false;
}

bool text_is_xml(const text_reader *reader)
{
  const size_t i = find_begin(reader);
  return i < reader->n_ahead && reader->ahead[i] == '<' && !text_is_html(reader);
}

size_t text_read_bytes(text_reader *reader, char *bytes, size_t most)
{
  size_t n = reader->n_ahead - reader->taken;
  if (n == 0) return fread(bytes, 1, most, reader->stream);
  n = n < most ? n : most;
  memcpy(bytes, reader->ahead + reader->taken, n);
  reader->taken += n;
  return n;
}

static int next_byte(text_reader *reader)
{
  if (reader->taken < reader->n_ahead) return (unsigned char)reader->ahead[reader->taken++];
  return getc(reader->stream);
}

void text_close(text_reader *reader)
{
  if (reader->stream) fclose(reader->stream);
  reader->stream = NULL;
}

osla_err text_read_line(text_reader *reader, bool *more)
{
  *more = true;
  if (reader->repeat_line) {
    reader->repeat_line = false;
    return OSLA_OK;
  }
  size_t n = 0;
  int c;
  reader->line++;
  while ((c = next_byte(reader)) != EOF && c != '\n') {
    TEXT_CHECK(reader, c != '\0', "the line contains a zero byte; is this text?");
    TEXT_CHECK(reader, n == 0 || reader->text[n - 1] != '\r' || c == '\r',
               "the line ends in CR alone, as on old Macs; lines must end in LF or CR LF");
    TEXT_CHECK(reader, n < TOMO_LINE_MAX - 1, "the line is longer than %d bytes",
               TOMO_LINE_MAX - 1);
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

text_fdsn text_find_fdsn(const char *line)
{
  static const char *const names[] = {"network", "eventid"};
  static const text_fdsn kinds[] = {TEXT_FDSN_STATIONS, TEXT_FDSN_EVENTS};
  line += strspn(line, " \t");
  if (*line++ != '#') return TEXT_FDSN_NONE;
  line += strspn(line, " \t");
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    const size_t length = strlen(names[i]);
    if (strncasecmp(line, names[i], length) == 0)
      return line[length + strspn(line + length, " \t")] == '|' ? kinds[i] : TEXT_FDSN_NONE;
  }
  return TEXT_FDSN_NONE;
}

osla_err text_wrong_list_error(const text_reader *reader, const char *is, const char * not )
{
  return text_error(reader, "this is the header of a list of %s, not of %s", is, not );
}

char text_separator(const char *header)
{
  static const char candidates[] = ",;\t|";
  int count[sizeof candidates] = {0}, most = 0;
  bool quoted = false;
  for (; *header; header++) {
    const char *candidate = strchr(candidates, *header);
    if (*header == '"') quoted = !quoted;
    if (candidate && !quoted) count[candidate - candidates]++;
  }
  for (int i = 1; candidates[i]; i++)
    if (count[i] > count[most]) most = i;
  return candidates[most];
}

osla_err text_read_content(text_reader *reader, bool *more)
{
  for (;;) {
    OSLA_CALL(text_read_line(reader, more));
    if (!*more) return OSLA_OK;
    const char *p = reader->text + strspn(reader->text, " \t\f\v\r");
    if (*p != '\0' && (*p != '#' || text_find_fdsn(reader->text))) return OSLA_OK;
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

/* Removes the quotes of the field that begins at *p, in place, and moves *p past the closing
 * quote. */
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
  const char *const blanks = separator == '\t' ? " " : " \t";
  char *p = reader->text;
  *count = 0;
  for (;;) {
    TEXT_CHECK(reader, *count < TEXT_FIELDS_MAX, "more than %d fields", TEXT_FIELDS_MAX);
    p += strspn(p, blanks);
    char *start = p;
    if (*p == '"' && separator != '|') {
      TEXT_CHECK(reader, unquote(&p), "a quote is not closed");
      p += strspn(p, blanks);
      TEXT_CHECK(reader, *p == separator || *p == '\0', "'%c' follows a closing quote",
                 isprint((unsigned char)*p) ? *p : '?');
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

osla_err text_split_blanks(text_reader *reader, char **field, int *count)
{
  *count = 0;
  for (char *p = reader->text;;) {
    p += strspn(p, " \t");
    if (*p == '\0') return OSLA_OK;
    TEXT_CHECK(reader, *count < TEXT_FIELDS_MAX, "more than %d fields", TEXT_FIELDS_MAX);
    field[(*count)++] = p;
    p += strcspn(p, " \t");
    if (*p != '\0') *p++ = '\0';
  }
}

void text_printable(const char *field, char shown[TEXT_SHOWN])
{
  int n = 0;
  for (; field[n] && n < TEXT_SHOWN - 4; n++)
    shown[n] = isprint((unsigned char)field[n]) ? field[n] : '?';
  strcpy(shown + n, field[n] ? "..." : "");
}

osla_err text_parse_number(const text_reader *reader, const char *what, const char *field,
                           double low, double high, double *value)
{
  char shown[TEXT_SHOWN];
  char *end;
  text_printable(field, shown);
  TEXT_CHECK(reader, field[0] != '\0', "%s is empty", what);
  double x = strtod(field, &end);
  bool decimal = *end == '\0' && !isspace((unsigned char)field[0]) && !strpbrk(field, "xX");
  TEXT_CHECK(reader, decimal, "%s \"%s\" is not a number", what, shown);
  TEXT_CHECK(reader, isfinite(x), "%s %s is not finite", what, shown);
  TEXT_CHECK(reader, x >= low && x <= high, "%s %s is outside %g to %g", what, shown, low, high);
  *value = x;
  return OSLA_OK;
}

bool text_is_missing(const char *field)
{
  return field[0] == '\0' || strcasecmp(field, "nan") == 0;
}

osla_err text_parse_time(const text_reader *reader, const char *what, const char *field,
                         double *time_s)
{
  char shown[TEXT_SHOWN];
  *time_s = NAN;
  if (field[0] == '\0') return OSLA_OK;
  text_printable(field, shown);
  TEXT_CHECK(reader, tomo_time_read(field, time_s),
             "%s \"%s\" is not a time of ISO 8601, such as 2018-01-31T02:00:31.8", what, shown);
  return OSLA_OK;
}

osla_err text_parse_event_time(const text_reader *reader, const char *what, const char *field,
                               double *time_s)
{
  const bool early = field[0] == '-' && tomo_time_read(field + 1, time_s);
  *time_s = NAN;
  return text_is_missing(field) || early ? OSLA_OK : text_parse_time(reader, what, field, time_s);
}

osla_err text_check_code(const text_reader *reader, const char *what, const char *code)
{
  enum { LONGEST = (TOMO_NAME_MAX - 2) / 2 };
  char shown[TEXT_SHOWN];
  size_t n = 0;
  while (isgraph((unsigned char)code[n]))
    n++;
  text_printable(code, shown);
  TEXT_CHECK(reader, n > 0 && n <= LONGEST && code[n] == '\0',
             "%s \"%s\" is not a code of 1 to %d letters and digits", what, shown, LONGEST);
  return OSLA_OK;
}

osla_err text_parse_position(const text_reader *reader, const char *latitude, const char *longitude,
                             tomo_site *site)
{
  OSLA_CALL(text_parse_number(reader, "latitude", latitude, -90.0, 90.0, &site->latitude));
  return text_parse_number(reader, "longitude", longitude, -180.0, 360.0, &site->longitude);
}

bool text_is_one_of(const char *name, const char *key)
{
  size_t length = strlen(name);
  for (const char *word = key; word; word = strchr(word, '|')) {
    word += *word == '|';
    if (length > 0 && strcspn(word, "|") == length && strncasecmp(word, name, length) == 0)
      return true;
  }
  return false;
}

osla_err text_check_header(const text_reader *reader, char *const *field, int count)
{
  char shown[TEXT_SHOWN];
  text_printable(field[0], shown);
  TEXT_CHECK(reader, count > 1 || !field[0][strcspn(field[0], " \t")],
             "the header is one field, \"%s\": fields are separated by commas, semicolons, "
             "tabs or |",
             shown);
  return OSLA_OK;
}

osla_err text_find_columns(const text_reader *reader, char *const *field, int count,
                           const char *const *keys, int n_keys, int required, int unique,
                           int *column)
{
  for (int i = 0; i < n_keys; i++) {
    column[i] = -1;
    for (int j = 0; j < count; j++) {
      if (!text_is_one_of(field[j], keys[i])) continue;
      bool again = column[i] >= 0 && (i < unique || !strcasecmp(field[j], field[column[i]]));
      TEXT_CHECK(reader, !again, "the header has two columns for %.*s: %s and %s",
                 (int)strcspn(keys[i], "|"), keys[i], field[column[i]], field[j]);
      if (column[i] < 0) column[i] = j;
    }
    TEXT_CHECK(reader, column[i] >= 0 || i >= required, "the header has no column %.*s",
               (int)strcspn(keys[i], "|"), keys[i]);
  }
  return OSLA_OK;
}

osla_err text_parse_header(text_reader *reader, char separator, const char *const *keys, int n_keys,
                           int required, int unique, int *column, int *count)
{
  char *field[TEXT_FIELDS_MAX];
  OSLA_CALL(text_split(reader, separator, field, count));
  OSLA_CALL(text_check_header(reader, field, *count));
  return text_find_columns(reader, field, *count, keys, n_keys, required, unique, column);
}

osla_err text_split_row(text_reader *reader, char separator, char **field, int count)
{
  int found;
  OSLA_CALL(text_split(reader, separator, field, &found));
  TEXT_CHECK(reader, found == count, "%d fields, but the header has %d", found, count);
  return OSLA_OK;
}
