/* Station lists as FDSN text; see tomo_io.h.
 *
 * Source of the columns: FDSN Web Service Specifications, fdsnws-station, "Text". A line is an
 * epoch of a station or of a channel, so a station may have many; and a code may have several
 * stations, because networks of experiments use theirs again. */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tomo_text.h"

/* Degrees within which lines of the same codes are one station. */
static const double same_place = 0.1;

/* The columns that are read; the last need not be there. */
enum { LATITUDE, LONGITUDE, STATION, NETWORK, ELEVATION, KEYS };
static const char *const keys[KEYS] = {"latitude", "longitude", "station", "network", "elevation"};

/* Codes are not cut, because the lines of one station are found by them. */
static osla_err check_code(const text_reader *reader, const char *what, const char *code)
{
  enum { LONGEST = (TOMO_NAME_MAX - 2) / 2 };
  char shown[TEXT_SHOWN];
  size_t n = 0;
  while (isgraph((unsigned char)code[n]))
    n++;
  text_show(code, shown);
  OSLA_CHECK(n > 0 && n <= LONGEST && code[n] == '\0', OSLA_ERR_IO,
             "%s:%lld: %s \"%s\" is not a code of 1 to %d letters and digits", reader->file,
             (long long)reader->line, what, shown, LONGEST);
  return OSLA_OK;
}

static osla_err read_row(text_reader *reader, const int *column, int count, site_list *list)
{
  char *field[TEXT_FIELDS_MAX];
  tomo_site *site;
  double metres;
  OSLA_CALL(text_row(reader, '|', field, count));
  const char *station = field[column[STATION]], *network = field[column[NETWORK]];
  const char *elevation = column[ELEVATION] >= 0 ? field[column[ELEVATION]] : "";
  OSLA_CALL(check_code(reader, "network", network));
  OSLA_CALL(check_code(reader, "station", station));
  OSLA_CALL(site_list_add(list, &site));
  OSLA_CALL(text_position(reader, field[column[LATITUDE]], field[column[LONGITUDE]], site));
  if (*elevation) OSLA_CALL(text_number(reader, "elevation", elevation, -12e3, 12e3, &metres));
  text_set_codes(site, network, station);
  return OSLA_OK;
}

/* By name; those of one name in the order of the file. */
static int by_name(const void *x, const void *y)
{
  const tomo_site *a = *(tomo_site *const *)x, *b = *(tomo_site *const *)y;
  int order = strcmp(a->name, b->name);
  return order ? order : (a > b) - (a < b);
}

static bool is_near(const tomo_site *a, const tomo_site *b)
{
  const double radian = 57.29577951308232;
  double east = remainder(a->longitude - b->longitude, 360.0) * cos(a->latitude / radian);
  return fabs(a->latitude - b->latitude) <= same_place && fabs(east) <= same_place;
}

/* Drops the sites that stand before in sorted[count], all of one name. Dropped ones get no
 * latitude. */
static void drop_same(tomo_site **sorted, int64_t count)
{
  int64_t kept = 0;
  for (int64_t i = 0; i < count; i++) {
    int64_t j = kept;
    while (j > 0 && !is_near(sorted[i], sorted[j - 1]))
      j--;
    if (j == 0)
      sorted[kept++] = sorted[i];
    else
      sorted[i]->latitude = NAN;
  }
}

/* Keeps the first of the lines that are one station. */
static osla_err merge(site_list *list)
{
  int64_t n = list->count, kept = 0;
  if (n == 0) return OSLA_OK;
  tomo_site **sorted = malloc((size_t)n * sizeof *sorted);
  OSLA_CHECK(sorted, OSLA_ERR_MEM, "no memory for %lld lines of stations", (long long)n);
  for (int64_t i = 0; i < n; i++)
    sorted[i] = &list->site[i];
  qsort(sorted, (size_t)n, sizeof *sorted, by_name);
  for (int64_t i = 0, end; i < n; i = end) {
    for (end = i + 1; end < n && strcmp(sorted[end]->name, sorted[i]->name) == 0;)
      end++;
    drop_same(sorted + i, end - i);
  }
  free(sorted);
  for (int64_t i = 0; i < n; i++)
    if (!isnan(list->site[i].latitude)) list->site[kept++] = list->site[i];
  list->count = kept;
  return OSLA_OK;
}

osla_err text_read_fdsn(text_reader *reader, site_list *list)
{
  int column[KEYS], count = 0;
  bool more;
  for (;;) {
    OSLA_CALL(text_read_content(reader, &more));
    if (!more) return merge(list);
    if (text_is_fdsn(reader->text)) {
      *strchr(reader->text, '#') = ' ';
      OSLA_CALL(text_header(reader, '|', keys, KEYS, ELEVATION, column, &count));
    } else {
      OSLA_CALL(read_row(reader, column, count, list));
    }
  }
}
