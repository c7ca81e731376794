/* Reads stations and earthquakes from several files and selects some of them (contract:
 * tomo_selection.h). */
#include "apps/tomography/readers/tomo_selection.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "apps/tomography/readers/tomo_text.h"

tomo_selection tomo_selection_all(void)
{
  return (tomo_selection){.from_s = -INFINITY,
                          .until_s = INFINITY,
                          .magnitude_least = -INFINITY,
                          .magnitude_most = INFINITY};
}

/* --- parsing of options --- */

enum { PARTS_MAX = 4, PART_MAX = 64 };

/* Splits a text at its slashes into exactly `wanted` parts. */
static osla_err split_at_slashes(const char *option, const char *text, const char *form, int wanted,
                                 char part[PARTS_MAX][PART_MAX])
{
  char shown[TEXT_SHOWN];
  int n = 0;
  bool fits = true;
  text_printable(text, shown);
  for (const char *at = text; fits; at++) {
    const size_t length = strcspn(at, "/");
    fits = n < wanted && length < PART_MAX;
    if (!fits) break;
    memcpy(part[n], at, length);
    part[n++][length] = '\0';
    at += length;
    if (*at == '\0') break;
  }
  OSLA_CHECK(fits && n == wanted, OSLA_ERR_ARG, "%s: '%s' is not of the form %s", option, shown,
             form);
  return OSLA_OK;
}

static osla_err parse_number(const char *option, const char *text, double low, double high,
                             double *value)
{
  char *end;
  const double x = strtod(text, &end);
  OSLA_CHECK(end > text && *end == '\0' && isfinite(x), OSLA_ERR_ARG, "%s: '%s' is not a number",
             option, text);
  OSLA_CHECK(x >= low && x <= high, OSLA_ERR_ARG, "%s: %g is outside %g to %g", option, x, low,
             high);
  *value = x;
  return OSLA_OK;
}

osla_err tomo_selection_parse_time(tomo_selection *choice, const char *option, const char *text)
{
  char part[PARTS_MAX][PART_MAX];
  double *value[2] = {&choice->from_s, &choice->until_s};
  OSLA_CALL(split_at_slashes(option, text, "FROM/UNTIL", 2, part));
  for (int i = 0; i < 2; i++)
    OSLA_CHECK(part[i][0] == '\0' || tomo_time_read(part[i], value[i]), OSLA_ERR_ARG,
               "%s: '%s' is not a time of ISO 8601, such as 2018-01-31T02:00:31.8", option,
               part[i]);
  OSLA_CHECK(choice->from_s < choice->until_s, OSLA_ERR_ARG, "%s: %s is not before %s", option,
             part[0], part[1]);
  choice->time_given = true;
  return OSLA_OK;
}

osla_err tomo_selection_parse_magnitude(tomo_selection *choice, const char *option,
                                        const char *text)
{
  char part[PARTS_MAX][PART_MAX];
  double *value[2] = {&choice->magnitude_least, &choice->magnitude_most};
  OSLA_CALL(split_at_slashes(option, text, "MIN/MAX", 2, part));
  for (int i = 0; i < 2; i++)
    if (part[i][0] != '\0') OSLA_CALL(parse_number(option, part[i], -5.0, 11.0, value[i]));
  OSLA_CHECK(choice->magnitude_least <= choice->magnitude_most, OSLA_ERR_ARG,
             "%s: %s is larger than %s", option, part[0], part[1]);
  choice->magnitude_given = true;
  return OSLA_OK;
}

osla_err tomo_selection_parse_region(tomo_region *region, const char *option, const char *text)
{
  char part[PARTS_MAX][PART_MAX];
  OSLA_CALL(split_at_slashes(option, text, "W/E/S/N", 4, part));
  OSLA_CALL(parse_number(option, part[0], -360.0, 360.0, &region->west));
  OSLA_CALL(parse_number(option, part[1], -360.0, 360.0, &region->east));
  OSLA_CALL(parse_number(option, part[2], -90.0, 90.0, &region->south));
  OSLA_CALL(parse_number(option, part[3], -90.0, 90.0, &region->north));
  OSLA_CHECK(region->south <= region->north, OSLA_ERR_ARG, "%s: %s is north of %s", option, part[2],
             part[3]);
  region->given = true;
  return OSLA_OK;
}

/* --- selection --- */

/* Reduces x degrees to 0 <= x < 360. */
static double reduce_degrees(double x)
{
  const double rest = fmod(x, 360.0);
  return rest < 0.0 ? rest + 360.0 : rest;
}

static bool is_in_region(const tomo_region *r, const tomo_site *s)
{
  if (!r->given) return true;
  if (s->latitude < r->south || s->latitude > r->north) return false;
  const double width = r->east - r->west;
  return fabs(width) >= 360.0 || reduce_degrees(s->longitude - r->west) <= reduce_degrees(width);
}

/* Returns the counter for the reason why an entry is excluded, or NULL if it is selected. */
typedef int64_t *exclusion_test(const tomo_selection *choice, const tomo_site *site,
                                tomo_counts *counts);

static int64_t *find_station_exclusion(const tomo_selection *c, const tomo_site *s,
                                       tomo_counts *counts)
{
  /* the end of an open epoch is NaN, and comparisons with NaN are false */
  if (c->time_given && (s->time_s >= c->until_s || s->end_s <= c->from_s)) return &counts->time;
  return is_in_region(&c->stations, s) ? NULL : &counts->region;
}

static int64_t *find_event_exclusion(const tomo_selection *c, const tomo_site *s,
                                     tomo_counts *counts)
{
  if (isnan(s->latitude)) return &counts->no_place;
  if (c->time_given && isnan(s->time_s)) return &counts->no_time;
  if (c->time_given && !(s->time_s >= c->from_s && s->time_s < c->until_s)) return &counts->time;
  if (c->magnitude_given && isnan(s->magnitude)) return &counts->no_magnitude;
  if (c->magnitude_given &&
      !(s->magnitude >= c->magnitude_least && s->magnitude <= c->magnitude_most))
    return &counts->magnitude;
  return is_in_region(&c->events, s) ? NULL : &counts->region;
}

static void keep_selected(site_list *list, const tomo_selection *choice, exclusion_test *where,
                          tomo_counts *counts)
{
  int64_t n_kept = 0;
  for (int64_t i = 0; i < list->count; i++) {
    int64_t *reason = where(choice, &list->site[i], counts);
    if (reason)
      ++*reason;
    else
      list->site[n_kept++] = list->site[i];
  }
  list->count = n_kept;
}

/* Gives each event without an id its index in the list of all events, from 1, as id. The id stays
 * empty if another event already has this number as id. */
static osla_err number_events(site_list *list)
{
  bool *is_used = calloc((size_t)list->count + 1, sizeof *is_used);
  OSLA_CHECK(is_used, OSLA_ERR_MEM, "numbers of %lld events", (long long)list->count);
  for (int64_t i = 0; i < list->count; i++) {
    char *end;
    const long long number = strtoll(list->site[i].id, &end, 10);
    if (!*end && number >= 1 && number <= list->count) is_used[number - 1] = true;
  }
  for (int64_t i = 0; i < list->count; i++)
    if (!list->site[i].id[0] && !is_used[i])
      (void)snprintf(list->site[i].id, sizeof list->site[i].id, "%lld", (long long)(i + 1));
  free(is_used);
  return OSLA_OK;
}

static osla_err read_and_select(char *const *files, int n, const tomo_selection *choice,
                                site_list *list, bool events, tomo_counts *counts)
{
  *counts = (tomo_counts){0};
  for (int i = 0; i < n; i++)
    OSLA_CALL(events ? text_read_events(files[i], list) : text_read_stations(files[i], list));
  counts->read = list->count;
  if (events) OSLA_CALL(number_events(list));
  keep_selected(list, choice, events ? find_event_exclusion : find_station_exclusion, counts);
  counts->placeless = list->placeless;
  if (counts->no_place == counts->read) return site_list_unlocated_error(list, counts->read);
  const int64_t chosen = list->count;
  OSLA_CALL(tomo_merge_sites(list->site, &list->count, !events));
  counts->same = chosen - list->count;
  counts->used = list->count;
  OSLA_CHECK(
    list->count > 0, OSLA_ERR_ARG, "--time, --magnitude and the regions leave none of %lld %s",
    (long long)(counts->read - counts->no_place), events ? "earthquakes" : "entries of stations");
  return OSLA_OK;
}

osla_err tomo_select_sites(bool events, char *const *files, int n, const tomo_selection *choice,
                           tomo_site **sites, tomo_counts *counts)
{
  site_list list = {0};
  int64_t count;
  return site_list_release(&list, read_and_select(files, n, choice, &list, events, counts), sites,
                           &count);
}
