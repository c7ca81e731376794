/* Merges entries that describe one station or one earthquake (contract: tomo_text.h). */
#include "apps/tomography/readers/tomo_text.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Degrees within which entries of one id are one station. */
static const double same_place = 0.1;

typedef bool same_test(const tomo_site *a, const tomo_site *b);

static bool is_near(const tomo_site *a, const tomo_site *b)
{
  const double radian = 57.29577951308232;
  double east = remainder(a->longitude - b->longitude, 360.0) * cos(a->latitude / radian);
  return fabs(a->latitude - b->latitude) <= same_place && fabs(east) <= same_place;
}

static bool always_same(const tomo_site *a, const tomo_site *b)
{
  (void)a, (void)b;
  return true;
}

/* Orders sites by id, and sites with equal ids by their order in the list. */
static int by_id(const void *x, const void *y)
{
  const tomo_site *a = *(tomo_site *const *)x, *b = *(tomo_site *const *)y;
  int order = strcmp(a->id, b->id);
  return order ? order : (a > b) - (a < b);
}

/* Marks each site that equals an earlier site of its id as a duplicate, by latitude = NaN. */
static void mark_duplicates(tomo_site **sorted, int64_t count, same_test *is_same)
{
  int64_t n_kept = 0;
  for (int64_t i = 0; i < count; i++) {
    int64_t j = n_kept;
    while (j > 0 && !is_same(sorted[i], sorted[j - 1]))
      j--;
    if (j == 0)
      sorted[n_kept++] = sorted[i];
    else
      sorted[i]->latitude = NAN;
  }
}

static osla_err remove_duplicates(tomo_site *sites, int64_t *count, same_test *is_same)
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
    mark_duplicates(sorted + i, end - i, is_same);
  }
  free(sorted);
  for (int64_t i = 0; i < *count; i++)
    if (!isnan(sites[i].latitude)) sites[n_kept++] = sites[i];
  *count = n_kept;
  return OSLA_OK;
}

osla_err tomo_merge_stations(tomo_site *sites, int64_t *count)
{
  return remove_duplicates(sites, count, is_near);
}

osla_err tomo_merge_events(tomo_site *sites, int64_t *count)
{
  return remove_duplicates(sites, count, always_same);
}
