/* Tables of measurements in memory (contract: tomo_data.h). */
#include "apps/tomography/readers/tomo_data.h"

#include <stdlib.h>
#include <string.h>

int64_t tomo_path_id(int64_t source, int64_t station, int64_t stations, tomo_arc_kind kind)
{
  return (source * stations + station) * 2 + (kind == TOMO_ARC_MAJOR);
}

tomo_set tomo_data_set(const tomo_data *data, int64_t path)
{
  const int64_t number = data->path_set ? data->path_set[path] : 0;
  const int64_t first = data->set_first[number];
  return (tomo_set){.number = number,
                    .count = (int)(data->set_first[number + 1] - first),
                    .measure = data->set_measure + first,
                    .sigma = data->set_sigma + first};
}

int64_t tomo_data_first(const tomo_data *data, int64_t path)
{
  return data->first ? data->first[path] : path * data->set_first[1];
}

int tomo_data_max_count(const tomo_data *data)
{
  int64_t most = 0;
  for (int64_t s = 0; s < data->n_sets; s++) {
    const int64_t count = data->set_first[s + 1] - data->set_first[s];
    if (count > most) most = count;
  }
  return (int)most;
}

osla_err tomo_data_create_common(tomo_measure *measure, int count, double sigma_fraction,
                                 tomo_data *data)
{
  const size_t k = (size_t)count;
  *data = (tomo_data){.n_measures = count, .measure = measure, .n_sets = 1};
  data->set_first = calloc(2, sizeof *data->set_first);
  data->set_measure = malloc(k * sizeof *data->set_measure);
  data->set_sigma = malloc(k * sizeof *data->set_sigma);
  if (!data->set_first || !data->set_measure || !data->set_sigma) {
    tomo_data_free(data);
    return osla_error_set(OSLA_ERR_MEM, "no memory for %d measures", count);
  }
  data->set_first[1] = count;
  for (int i = 0; i < count; i++) {
    data->set_measure[i] = i;
    data->set_sigma[i] = sigma_fraction * measure[i].period_s;
  }
  return OSLA_OK;
}

void tomo_data_keep_paths(tomo_data *data, const int64_t *path_id, int64_t n_paths)
{
  int64_t kept = 0, at = 0;
  for (int64_t p = 0; p < data->n_paths && kept < n_paths; p++) {
    if (data->path_id[p] != path_id[kept]) continue;
    const int64_t from = tomo_data_first(data, p), count = tomo_data_first(data, p + 1) - from;
    data->path_id[kept] = path_id[kept];
    if (data->path_set) data->path_set[kept] = data->path_set[p];
    if (data->delay)
      memmove(data->delay + at, data->delay + from, (size_t)count * sizeof *data->delay);
    if (data->first) data->first[kept] = at;
    at += count;
    kept++;
  }
  if (data->first) data->first[kept] = at;
  data->n_paths = kept;
}

void tomo_data_free(tomo_data *data)
{
  free(data->measure);
  free(data->set_first);
  free(data->set_measure);
  free(data->set_sigma);
  free(data->path_id);
  free(data->path_set);
  free(data->first);
  free(data->delay);
  *data = (tomo_data){0};
}
