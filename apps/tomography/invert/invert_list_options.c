/* Parsers of those options of `osla invert` whose value is a list. */
#include "apps/tomography/invert/invert_options.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { SHOWN = 60, VECTORS = 16, LEAST = 3 };

double invert_range_value(const invert_range *range, int i)
{
  if (i == 0 || range->count < 2) return range->first;
  if (i == range->count - 1) return range->last;
  return range->first * pow(range->last / range->first, (double)i / (range->count - 1));
}

int invert_scan_count(const invert_scan_plan *plan)
{
  const int dampings = plan->damping.count, smoothings = plan->smoothing.count;
  if (dampings == 0 || smoothings == 0) return dampings + smoothings;
  return dampings * smoothings;
}

static osla_err read_number(const char *option, const char *word, double *value)
{
  char *end;
  *value = strtod(word, &end);
  while (*end == ' ')
    end++;
  OSLA_CHECK(end != word && !*end && isfinite(*value), OSLA_ERR_ARG, "%s: '%.*s' is not a number",
             option, SHOWN, word);
  return OSLA_OK;
}

static osla_err read_count(const char *option, const char *word, int low, int high, int *count)
{
  double value;
  OSLA_CALL(read_number(option, word, &value));
  OSLA_CHECK(value == floor(value) && value >= low && value <= high, OSLA_ERR_ARG,
             "%s: '%.*s' is not a whole number from %d to %d", option, SHOWN, word, low, high);
  *count = (int)value;
  return OSLA_OK;
}

static const char scan_option[] = "--scan";

/* Parses the value "A:B:N" of a keyword of --scan. */
static osla_err read_range(const char *key, char *word, invert_range *range)
{
  char *last = word, *count;
  (void)strsep(&last, ":");
  count = last;
  (void)strsep(&count, ":");
  OSLA_CHECK(last && count, OSLA_ERR_ARG, "--scan: %s needs A:B:N, N values from A to B", key);
  OSLA_CHECK(range->count == 0, OSLA_ERR_ARG, "--scan: %s is given twice", key);
  OSLA_CALL(read_number(scan_option, word, &range->first));
  OSLA_CALL(read_number(scan_option, last, &range->last));
  OSLA_CALL(read_count(scan_option, count, LEAST, INVERT_SCAN_MAX, &range->count));
  OSLA_CHECK(range->first > 0.0 && range->last > range->first, OSLA_ERR_ARG,
             "--scan: %s from %g to %g: both must be positive, the first the smaller", key,
             range->first, range->last);
  return OSLA_OK;
}

static osla_err read_part(char *word, invert_scan_plan *plan)
{
  char *value = word;
  const char *key = strsep(&value, "=");
  const bool damping = strcmp(key, "damping") == 0, smoothing = strcmp(key, "smoothing") == 0;
  OSLA_CHECK(value && (damping || smoothing || strcmp(key, "vectors") == 0), OSLA_ERR_ARG,
             "--scan: '%.*s' is none of damping=A:B:N, smoothing=A:B:N, vectors=K", SHOWN, key);
  if (!damping && !smoothing)
    return read_count(scan_option, value, 2, INVERT_VECTORS_MAX, &plan->vectors);
  return read_range(key, value, damping ? &plan->damping : &plan->smoothing);
}

osla_err invert_parse_scan(const char *text, invert_scan_plan *plan)
{
  *plan = (invert_scan_plan){.vectors = VECTORS};
  if (!text) return OSLA_OK;
  char *copy = strdup(text);
  OSLA_CHECK(copy, OSLA_ERR_MEM, "--scan: no memory");
  osla_err err = OSLA_OK;
  for (char *part = NULL, *rest = copy; err == OSLA_OK && (part = strsep(&rest, ","));)
    err = read_part(part, plan);
  free(copy);
  OSLA_CALL(err);
  const int dampings = plan->damping.count, smoothings = plan->smoothing.count;
  OSLA_CHECK(dampings + smoothings > 0, OSLA_ERR_ARG,
             "--scan needs damping=A:B:N or smoothing=A:B:N");
  OSLA_CHECK(invert_scan_count(plan) <= INVERT_SCAN_MAX, OSLA_ERR_ARG,
             "--scan: %d x %d priors are more than %d", dampings, smoothings, INVERT_SCAN_MAX);
  return OSLA_OK;
}

static osla_err read_point(char *word, double depth_km, tomo_location *point)
{
  const struct {
    const char *name;
    double low, high;
  } part[] = {{"latitude", -90.0, 90.0}, {"longitude", -180.0, 360.0}, {"depth", 0.0, depth_km}};
  double *const value[] = {&point->latitude, &point->longitude, &point->depth_km};
  char *rest = word;
  for (int i = 0; i < 3; i++) {
    OSLA_CHECK(rest, OSLA_ERR_ARG, "--spread: '%.*s' has no %s; write LAT,LON,DEPTH", SHOWN, word,
               part[i].name);
    const char *field = strsep(&rest, ",");
    OSLA_CALL(read_number("--spread", field, value[i]));
    OSLA_CHECK(*value[i] >= part[i].low && *value[i] <= part[i].high, OSLA_ERR_ARG,
               "--spread: %s %g is outside %g to %g", part[i].name, *value[i], part[i].low,
               part[i].high);
  }
  OSLA_CHECK(!rest, OSLA_ERR_ARG, "--spread: unexpected '%.*s' after LAT,LON,DEPTH", SHOWN, rest);
  return OSLA_OK;
}

osla_err invert_parse_spread(const char *text, double depth_km, int *points,
                             tomo_location point[INVERT_POINTS_MAX])
{
  *points = 0;
  if (!text) return OSLA_OK;
  char *copy = strdup(text);
  OSLA_CHECK(copy, OSLA_ERR_MEM, "--spread: no memory");
  osla_err err = OSLA_OK;
  for (char *word = NULL, *rest = copy; err == OSLA_OK && (word = strsep(&rest, ";"));) {
    if (*points == INVERT_POINTS_MAX)
      err = osla_error_set(OSLA_ERR_ARG, "--spread: more than %d points", INVERT_POINTS_MAX);
    else
      err = read_point(word, depth_km, &point[(*points)++]);
  }
  free(copy);
  return err;
}
