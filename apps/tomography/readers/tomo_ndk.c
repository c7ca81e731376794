/* GCMT NDK: five lines of 80 fixed columns for each event (tomo_io.h).
 *
 * The columns are those of "allorder.ndk_explained" (www.ldeo.columbia.edu/~gcmt), split by the
 * Fortran formats of the catalogue's own program:
 *   1  a4,1x,i4,'/',i2,'/',i2,1x,i2,':',i2,':',a4,1x,f6.2,f8.2,f6.1,2f4.1,1x,a24
 *   2  a16,' B:',i3,i5,i4,' S:',i3,i5,i4,' M:',i3,i5,i4,' CMT:',i2,1x,a6,f5.1
 *   3  'CENTROID:',f9.1,f4.1,f7.2,f5.2,f8.2,f5.2,f6.1,f5.1,1x,a4,1x,a16
 *   4  i2,6(f7.3,f6.3)
 *   5  'V',i2,3(f8.3,i3,i4),f8.3,2(i4,i3,i5)
 * Neighbouring fields may touch, so lines are not split at blanks. A number must end at its last
 * column and have its point at the right column, so a line that is shifted or lacks a field is
 * detected. Fields that are not used are checked only where that detects a wrong or shifted line. A
 * value of the event is missing if its columns are blank or NaN. Mw = 2/3 log10(M0) - 10.7 (Hanks &
 * Kanamori 1979, J. Geophys. Res. 84, 2348-2350).
 */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "apps/tomography/readers/tomo_text.h"

enum { LINES = 5, COLUMNS = 80, WIDEST = 16 };

#define COUNT(table) (int)(sizeof(table) / sizeof *(table))

/* Required characters from column `first` on: 0 stands for any digit, other characters for
 * themselves. */
typedef struct ndk_mark {
  int line, first;
  const char *pattern;
} ndk_mark;

static const ndk_mark marks[] = {{1, 6, "0000/00/00"}, {1, 17, "00:00:"}, {2, 17, " B:"},
                                 {2, 32, " S:"},       {2, 47, " M:"},    {2, 62, " CMT:"},
                                 {3, 1, "CENTROID:"},  {5, 1, "V"}};

/* A number in the Fortran format F(last - first + 1).(decimals), or in the format I if decimals =
 * 0. */
typedef struct ndk_field {
  int line, first, last, decimals;
  const char *what;
  double low, high;
} ndk_field;

/* The fields that are stored in the event come first in the table. */
enum { LATITUDE, LONGITUDE, DEPTH, EXPONENT, MOMENT, SHIFT, USED };

/* bound for fields that may have any value; greater than every number that fits into the columns */
static const double any = 1e9;

static const ndk_field fields[] = {
  [LATITUDE] = {3, 23, 29, 2, "latitude", -90.0, 90.0},
  [LONGITUDE] = {3, 35, 42, 2, "longitude", -180.0, 360.0},
  [DEPTH] = {3, 48, 53, 1, "depth", TEXT_DEPTH_LOW, TEXT_DEPTH_HIGH},
  [EXPONENT] = {4, 1, 2, 0, "exponent of the moment", 0.0, 40.0},
  [MOMENT] = {5, 49, 56, 3, "scalar moment", 0.0, any},
  [SHIFT] = {3, 10, 18, 1, "time", -any, any},
  {1, 11, 12, 0, "month", 1.0, 12.0},
  {1, 14, 15, 0, "day", 1.0, 31.0},
  {1, 28, 33, 2, "latitude", -90.0, 90.0},
  {1, 34, 41, 2, "longitude", -180.0, 360.0},
  {1, 42, 47, 1, "depth", TEXT_DEPTH_LOW, TEXT_DEPTH_HIGH},
  {3, 19, 22, 1, "error of the time", 0.0, any},
  {3, 30, 34, 2, "error of the latitude", 0.0, any},
  {3, 43, 47, 2, "error of the longitude", 0.0, any},
  {3, 54, 58, 1, "error of the depth", 0.0, any},
  {4, 3, 9, 3, "Mrr", -any, any},
  {4, 16, 22, 3, "Mtt", -any, any},
  {4, 29, 35, 3, "Mpp", -any, any},
  {4, 42, 48, 3, "Mrt", -any, any},
  {4, 55, 61, 3, "Mrp", -any, any},
  {4, 68, 74, 3, "Mtp", -any, any},
  {5, 4, 11, 3, "first eigenvalue", -any, any},
  {5, 19, 26, 3, "second eigenvalue", -any, any},
  {5, 34, 41, 3, "third eigenvalue", -any, any},
};

/* Copies the columns first to last without leading blanks. Columns after the end of the line count
 * as blank. */
static const char *copy_columns(const char *line, int first, int last, char text[WIDEST + 1])
{
  int n = 0, length = (int)strlen(line);
  for (int i = first - 1; i < last; i++)
    if (i < length && (n > 0 || line[i] != ' ')) text[n++] = line[i];
  text[n] = '\0';
  return text;
}

/* True if the line has the pattern's characters at the pattern's column. */
static bool matches(const char *line, const ndk_mark *mark)
{
  size_t from = (size_t)mark->first - 1;
  if (strlen(line) < from) return false;
  for (const char *want = mark->pattern, *c = line + from; *want; want++, c++)
    if (*want == '0' ? !isdigit((unsigned char)*c) : *c != *want) return false;
  return true;
}

bool text_is_ndk(const char *line)
{
  return matches(line, &marks[0]);
}

static osla_err check_mark(const text_reader *reader, const ndk_mark *mark)
{
  char text[WIDEST + 1], shown[TEXT_SHOWN];
  int last = mark->first + (int)strlen(mark->pattern) - 1;
  text_printable(copy_columns(reader->text, mark->first, last, text), shown);
  TEXT_CHECK(reader, matches(reader->text, mark),
             "columns %d-%d of line %d of an NDK event are \"%s\", and have the form "
             "\"%s\"",
             mark->first, last, mark->line, shown, mark->pattern);
  return OSLA_OK;
}

/* Checks for blanks, a sign and digits, with the point and its decimals at the end of the field. */
static bool has_format(const char *line, const ndk_field *field)
{
  const char *end = line + field->last, *c = line + field->first - 1;
  const char *point = end - field->decimals - 1;
  if (strlen(line) < (size_t)field->last || !isdigit((unsigned char)end[-1])) return false;
  while (*c == ' ')
    c++;
  if (*c == '-' || *c == '+') c++;
  if (field->decimals > 0 && c > point) return false; /* the number has no decimal point */
  for (; c < end; c++)
    if (field->decimals > 0 && c == point ? *c != '.' : !isdigit((unsigned char)*c)) return false;
  return true;
}

/* Reads a number. If may_miss is true, *value is NaN for a blank field. A field that lies behind
 * the end of the line is an error, because the line is then cut off. */
static osla_err read_number(const text_reader *reader, const ndk_field *field, bool may_miss,
                            double *value)
{
  char text[WIDEST + 1], shown[TEXT_SHOWN], what[64];
  (void)copy_columns(reader->text, field->first, field->last, text);
  if (may_miss && text_is_missing(text) && strlen(reader->text) >= (size_t)field->last) {
    *value = NAN;
    return OSLA_OK;
  }
  text_printable(text, shown);
  (void)snprintf(what, sizeof what, "columns %d-%d, %s", field->first, field->last, field->what);
  TEXT_CHECK(reader, has_format(reader->text, field),
             "%s \"%s\" is not a number with %d decimals that ends in column %d", what, shown,
             field->decimals, field->last);
  return text_parse_number(reader, what, text, field->low, field->high, value);
}

static osla_err check_length(const text_reader *reader)
{
  size_t n = strlen(reader->text);
  char shown[TEXT_SHOWN];
  while (n > COLUMNS && reader->text[n - 1] == ' ')
    n--;
  if (n <= COLUMNS) return OSLA_OK;
  text_printable(reader->text + COLUMNS, shown);
  return text_error(reader, "columns %d-%zu, \"%s\", are after the %d of an NDK event", COLUMNS + 1,
                    n, shown, COLUMNS);
}

/* Checks the type of depth (free, fixed, or from body waves), which shows that line 3 is not
 * shifted. */
static osla_err check_depth_type(const text_reader *reader)
{
  static const char *const types[] = {"FREE", "FIX", "BDY"};
  char type[WIDEST + 1], shown[TEXT_SHOWN];
  text_printable(copy_columns(reader->text, 59, 63, type), shown);
  type[strcspn(type, " ")] = '\0';
  for (int i = 0; i < COUNT(types); i++)
    if (reader->text[58] == ' ' && strcmp(type, types[i]) == 0) return OSLA_OK;
  return text_error(reader, "columns 60-63, type of depth \"%s\" is neither FREE, FIX nor BDY",
                    shown);
}

/* Reads the fields of the current line, which is line number `line` (1 .. 5) of its event. */
static osla_err read_line(const text_reader *reader, int line, double value[USED])
{
  double unused;
  OSLA_CALL(check_length(reader));
  for (int i = 0; i < COUNT(marks); i++)
    if (marks[i].line == line) OSLA_CALL(check_mark(reader, &marks[i]));
  for (int i = 0; i < COUNT(fields); i++)
    if (fields[i].line == line)
      OSLA_CALL(read_number(reader, &fields[i], i < USED, i < USED ? &value[i] : &unused));
  return line == 3 ? check_depth_type(reader) : OSLA_OK;
}

/* Reads the time of line 1, to which the centroid's time on line 3 is relative. */
static osla_err read_time(const text_reader *reader, double *time_s)
{
  const char *line = reader->text;
  char second[WIDEST + 1], shown[TEXT_SHOWN], text[32], *end;
  text_printable(copy_columns(line, 23, 26, second), shown);
  const double s = strtod(second, &end);
  const bool made = end > second && *end == '\0' && !second[strspn(second, "0123456789.")] &&
                    tomo_time_make(atoi(line + 5), atoi(line + 10), atoi(line + 13),
                                   atoi(line + 16), atoi(line + 19), s, time_s);
  (void)snprintf(text, sizeof text, "%.16s:%.4s", line + 5, shown);
  TEXT_CHECK(reader, made, "columns 6-26, time \"%s\" is not valid", text);
  return OSLA_OK;
}

/* Sets the coordinates of the latest event from line 3. */
static void set_coordinates(const text_reader *reader, site_list *list, const double value[USED])
{
  tomo_site *site = &list->site[list->count - 1];
  site->latitude = value[LATITUDE];
  site->longitude = value[LONGITUDE];
  site->depth_km = isnan(value[DEPTH]) ? 0.0 : value[DEPTH];
  if (isnan(site->latitude))
    site_list_mark_unlocated(list, reader, "the event has no latitude");
  else if (isnan(site->longitude))
    site_list_mark_unlocated(list, reader, "the event has no longitude");
}

/* Reads an event; its line 1 is the current line. */
static osla_err read_event(text_reader *reader, site_list *list)
{
  int64_t first = reader->line;
  double value[USED], time_s;
  char name[WIDEST + 1];
  tomo_site *site;
  OSLA_CALL(site_list_add(list, &site));
  for (int line = 1; line <= LINES; line++) {
    bool more = true;
    if (line > 1) OSLA_CALL(text_read_line(reader, &more));
    OSLA_CHECK(more, OSLA_ERR_IO, "%s:%lld: the file ends after %d of the 5 lines of an NDK event",
               reader->file, (long long)first, line - 1);
    OSLA_CALL(read_line(reader, line, value));
    if (line == 1) OSLA_CALL(read_time(reader, &time_s));
    if (line == 2) text_set_id(site, copy_columns(reader->text, 1, 16, name));
    if (line == 1) text_set_name(site, strlen(reader->text) > 56 ? reader->text + 56 : "");
    if (line == 3) set_coordinates(reader, list, value);
  }
  site->time_s = time_s + value[SHIFT];
  if (value[MOMENT] > 0.0)
    site->magnitude = 2.0 / 3.0 * (log10(value[MOMENT]) + value[EXPONENT]) - 10.7;
  return OSLA_OK;
}

osla_err text_read_ndk(text_reader *reader, site_list *list)
{
  bool more;
  for (;;) {
    OSLA_CALL(text_read_content(reader, &more));
    if (!more) return OSLA_OK;
    OSLA_CALL(read_event(reader, list));
  }
}
