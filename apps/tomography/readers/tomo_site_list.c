/* Collects the stations or earthquakes of a file in a growing list (contract: tomo_text.h). */
#include <ctype.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "apps/tomography/readers/tomo_text.h"

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

void text_set_id(tomo_site *site, const char *id)
{
  id += strspn(id, " \t");
  size_t n = strlen(id);
  while (n > 0 && (id[n - 1] == ' ' || id[n - 1] == '\t'))
    n--;
  memset(site->id, 0, sizeof site->id);
  if (n < sizeof site->id) memcpy(site->id, id, n);
}

void text_set_codes(tomo_site *site, const char *network, const char *station)
{
  char name[2 * TOMO_NAME_MAX], id[2 * TOMO_ID_MAX + 2];
  const char *point = *network && *station ? "." : "";
  (void)snprintf(name, sizeof name, "%.30s%s%.30s", network, point, station);
  text_set_name(site, name);
  (void)snprintf(id, sizeof id, "%.64s%s%.64s", network, point, station);
  text_set_id(site, id);
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
  (*site)->magnitude = (*site)->time_s = (*site)->end_s = NAN;
  return OSLA_OK;
}

void site_list_mark_unlocated(site_list *list, const text_reader *where, const char *what)
{
  tomo_unlocated *p = &list->placeless;
  list->site[list->count - 1].latitude = NAN;
  if (p->listed == TOMO_UNLOCATED_MAX) return;
  (void)snprintf(p->note[p->listed++], TOMO_UNLOCATED_TEXT, "%s:%lld: %s", where->file,
                 (long long)where->line, what);
}

osla_err site_list_unlocated_error(const site_list *list, int64_t count)
{
  return osla_error_set(OSLA_ERR_IO, "%s; none of %lld events has a place", list->placeless.note[0],
                        (long long)count);
}

static osla_err read_entries(text_reader *reader, site_reader *read, site_reader *read_xml,
                             site_list *list)
{
  bool more;
  if (text_is_xml(reader)) return read_xml(reader, list);
  OSLA_CALL(text_read_content(reader, &more));
  if (!more) return OSLA_OK;
  reader->repeat_line = true;
  return read(reader, list);
}

osla_err text_read_sites(const char *file, const char *what, site_reader *read,
                         site_reader *read_xml, site_list *list)
{
  text_reader reader;
  const int64_t before = list->count;
  osla_err err = text_open(&reader, file);
  if (err == OSLA_OK) err = read_entries(&reader, read, read_xml, list);
  if (err == OSLA_OK && list->count == before)
    err = osla_error_set(OSLA_ERR_IO, "%s: no %s in this file", reader.file, what);
  text_close(&reader);
  return err;
}

osla_err site_list_release(site_list *list, osla_err err, tomo_site **sites, int64_t *count)
{
  const bool good = err == OSLA_OK;
  if (!good) free(list->site);
  *sites = good ? list->site : NULL;
  *count = good ? list->count : 0;
  return err;
}

/* ---- entries that describe one station or one earthquake ---- */

/* Greatest distance in degrees between entries with equal ids that are merged to one station. */
static const double same_place = 0.1;

static bool is_near(const tomo_site *a, const tomo_site *b)
{
  const double radian = 57.29577951308232;
  double east = remainder(a->longitude - b->longitude, 360.0) * cos(a->latitude / radian);
  return fabs(a->latitude - b->latitude) <= same_place && fabs(east) <= same_place;
}

/* Orders sites by id, and sites with equal ids by their order in the list. */
static int by_id(const void *x, const void *y)
{
  const tomo_site *a = *(tomo_site *const *)x, *b = *(tomo_site *const *)y;
  int order = strcmp(a->id, b->id);
  return order ? order : (a > b) - (a < b);
}

/* Sets the latitude of each duplicate to NaN. A duplicate is a site that equals an earlier site of
 * the array. */
static void mark_duplicates(tomo_site **sorted, int64_t count, bool stations)
{
  int64_t n_kept = 0;
  for (int64_t i = 0; i < count; i++) {
    int64_t j = n_kept;
    while (j > 0 && stations && !is_near(sorted[i], sorted[j - 1]))
      j--;
    if (j == 0)
      sorted[n_kept++] = sorted[i];
    else
      sorted[i]->latitude = NAN;
  }
}

osla_err tomo_merge_sites(tomo_site *sites, int64_t *count, bool stations)
{
  int64_t n = 0, n_kept = 0;
  if (*count == 0) return OSLA_OK;
  tomo_site **sorted = malloc((size_t)*count * sizeof *sorted);
  OSLA_CHECK(sorted, OSLA_ERR_MEM, "no memory for %lld stations or events", (long long)*count);
  for (int64_t i = 0; i < *count; i++)
    if (sites[i].id[0] != '\0') sorted[n++] = &sites[i];
  qsort(sorted, (size_t)n, sizeof *sorted, by_id);
  for (int64_t i = 0, end; i < n; i = end) {
    for (end = i + 1; end < n && strcmp(sorted[end]->id, sorted[i]->id) == 0;)
      end++;
    mark_duplicates(sorted + i, end - i, stations);
  }
  free(sorted);
  for (int64_t i = 0; i < *count; i++)
    if (!isnan(sites[i].latitude)) sites[n_kept++] = sites[i];
  *count = n_kept;
  return OSLA_OK;
}
