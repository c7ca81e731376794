/* Sorts the data and builds the sets of their paths (contract: tomo_table.h). */
#include "apps/tomography/readers/tomo_table.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "apps/tomography/earth/tomo_reference.h"

/* ---- order of measures and data ---- */

typedef struct numbered {
  tomo_measure measure;
  int32_t number;
} numbered;

static int by_measure(const void *x, const void *y)
{
  return tomo_measure_compare(&((const numbered *)x)->measure, &((const numbered *)y)->measure);
}

/* Sorts the list of measures, and adapts each datum's index into the list. */
static osla_err order_measures(datum_list *in, tomo_data *data)
{
  const size_t n = (size_t)in->n_measures;
  numbered *list = malloc(n * sizeof *list);
  int32_t *new_number = malloc(n * sizeof *new_number);
  data->measure = malloc(n * sizeof *data->measure);
  const bool made = list && new_number && data->measure;
  for (int32_t i = 0; made && i < in->n_measures; i++)
    list[i] = (numbered){in->measure[i], i};
  if (made) qsort(list, n, sizeof *list, by_measure);
  for (int32_t i = 0; made && i < in->n_measures; i++) {
    data->measure[i] = list[i].measure;
    new_number[list[i].number] = i;
  }
  for (int64_t i = 0; made && i < in->count; i++)
    in->datum[i].measure = new_number[in->datum[i].measure];
  free(list);
  free(new_number);
  OSLA_CHECK(made, OSLA_ERR_MEM, "no memory for %zu measures", n);
  data->n_measures = in->n_measures;
  return OSLA_OK;
}

static int by_path(const void *x, const void *y)
{
  const datum *a = x, *b = y;
  if (a->path_id != b->path_id) return a->path_id < b->path_id ? -1 : 1;
  if (a->measure != b->measure) return a->measure < b->measure ? -1 : 1;
  return a->place < b->place ? -1 : a->place > b->place;
}

/* Returns error IO if two rows have the same path and measure; the message names the first such
 * repetition in the file. */
static osla_err refuse_twice(const datum_list *in, const tomo_data *data)
{
  const datum *again = NULL, *before = NULL;
  for (int64_t i = 1; i < in->count; i++) {
    const datum *d = &in->datum[i];
    if (d->path_id != d[-1].path_id || d->measure != d[-1].measure) continue;
    if (again && again->place < d->place) continue;
    again = d;
    before = d - 1;
  }
  if (!again) return OSLA_OK;
  char text[TOMO_MEASURE_TEXT];
  tomo_measure_text(&data->measure[again->measure], text); /* the measures are already sorted */
  return osla_error_set(OSLA_ERR_IO, "%s%s%" PRId64 "%s: the same datum as %s %" PRId64 " (%s)",
                        in->file, in->elements ? ": [" : ":", again->place, in->elements ? "]" : "",
                        in->elements ? "element" : "line", before->place, text);
}

/* ---- sets ---- */

/* Hash table of set indices, by the sets' measures and deviations. */
typedef struct set_table {
  int32_t *slot; /* hash table: index of a set, or -1 if the slot is free */
  uint64_t mask;
} set_table;

static uint64_t hash_set(const datum *d, int64_t count)
{
  uint64_t hash = (uint64_t)count;
  for (int64_t i = 0; i < count; i++) {
    uint64_t bits;
    memcpy(&bits, &d[i].sigma, sizeof bits);
    hash = (hash ^ bits ^ (uint64_t)d[i].measure << 40) * 0x9e3779b97f4a7c15u;
    hash ^= hash >> 29;
  }
  return hash;
}

static bool is_set(const tomo_data *data, int64_t set, const datum *d, int64_t count)
{
  const int64_t first = data->set_first[set];
  if (data->set_first[set + 1] - first != count) return false;
  for (int64_t i = 0; i < count; i++)
    if (data->set_measure[first + i] != d[i].measure ||
        memcmp(&data->set_sigma[first + i], &d[i].sigma, sizeof d->sigma) != 0)
      return false;
  return true;
}

/* Returns the index of the set with these measures and deviations, adding it if it is new. */
static int32_t number_set(tomo_data *data, const set_table *table, const datum *d, int64_t count)
{
  uint64_t at = hash_set(d, count) & table->mask;
  while (table->slot[at] >= 0 && !is_set(data, table->slot[at], d, count))
    at = (at + 1) & table->mask;
  if (table->slot[at] >= 0) return table->slot[at];
  const int64_t set = data->n_sets++, first = data->set_first[set];
  for (int64_t i = 0; i < count; i++) {
    data->set_measure[first + i] = d[i].measure;
    data->set_sigma[first + i] = d[i].sigma;
  }
  data->set_first[set + 1] = first + count;
  return table->slot[at] = (int32_t)set;
}

static int64_t count_paths(const datum_list *in)
{
  int64_t paths = 0;
  for (int64_t i = 0; i < in->count; i++)
    paths += i == 0 || in->datum[i].path_id != in->datum[i - 1].path_id;
  return paths;
}

static osla_err allocate(tomo_data *data, int64_t paths, int64_t count, set_table *table)
{
  const size_t n = (size_t)paths, k = (size_t)count;
  uint64_t slots = 16;
  while (slots < 2 * (uint64_t)paths)
    slots *= 2;
  table->mask = slots - 1;
  table->slot = malloc(slots * sizeof *table->slot);
  data->set_first = calloc(n + 1, sizeof *data->set_first);
  data->set_measure = malloc(k * sizeof *data->set_measure);
  data->set_sigma = malloc(k * sizeof *data->set_sigma);
  data->path_id = malloc(n * sizeof *data->path_id);
  data->path_set = malloc(n * sizeof *data->path_set);
  data->first = malloc((n + 1) * sizeof *data->first);
  data->delay = malloc(k * sizeof *data->delay);
  OSLA_CHECK(table->slot && data->set_first && data->set_measure && data->set_sigma &&
               data->path_id && data->path_set && data->first && data->delay,
             OSLA_ERR_MEM, "no memory for %zu data of %zu paths", k, n);
  memset(table->slot, 0xff, slots * sizeof *table->slot);
  return OSLA_OK;
}

static void fill_table(const datum_list *in, const set_table *table, tomo_data *data)
{
  int64_t path = 0;
  for (int64_t i = 0, end; i < in->count; i = end, path++) {
    const datum *d = &in->datum[i];
    for (end = i; end < in->count && in->datum[end].path_id == d->path_id; end++)
      data->delay[end] = in->datum[end].delay;
    data->path_id[path] = d->path_id;
    data->first[path] = i;
    data->path_set[path] = number_set(data, table, d, end - i);
  }
  data->first[path] = in->count;
  data->n_paths = path;
}

/* Frees the unused ends of the sets' arrays. */
static void shrink(tomo_data *data)
{
  const size_t sets = (size_t)data->n_sets, entries = (size_t)data->set_first[data->n_sets];
  void *first = realloc(data->set_first, (sets + 1) * sizeof *data->set_first);
  if (first) data->set_first = first;
  void *measure = realloc(data->set_measure, entries * sizeof *data->set_measure);
  if (measure) data->set_measure = measure;
  void *sigma = realloc(data->set_sigma, entries * sizeof *data->set_sigma);
  if (sigma) data->set_sigma = sigma;
}

osla_err datum_list_to_table(datum_list *in, tomo_data *data)
{
  set_table table = {0};
  OSLA_CALL(order_measures(in, data));
  qsort(in->datum, (size_t)in->count, sizeof *in->datum, by_path);
  OSLA_CALL(refuse_twice(in, data));
  const int64_t paths = count_paths(in);
  OSLA_CHECK(paths < INT32_MAX, OSLA_ERR_RANGE, "%" PRId64 " paths are too many", paths);
  osla_err err = allocate(data, paths, in->count, &table);
  if (err == OSLA_OK) {
    fill_table(in, &table, data);
    shrink(data);
  }
  free(table.slot);
  return err;
}
