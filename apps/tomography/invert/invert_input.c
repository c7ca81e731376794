/* Makes the list of a job's paths. A path id is 2 (source * n_stations + station) + arc. The
 * sources are the earthquakes, followed by the stations; arc is 0 for the minor arc and 1 for the
 * major arc. */
#include "apps/tomography/invert/invert.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* Returns the site where a path begins: an earthquake, or a station for ambient noise. */
static const tomo_site *path_source(const invert_job *job, int64_t path_id)
{
  const int64_t source = path_id / 2 / job->n_stations;
  return source < job->n_events ? &job->events[source] : &job->stations[source - job->n_events];
}

bool invert_path_arc(const invert_job *job, int64_t path_id, tomo_arc *arc)
{
  const tomo_site *from = path_source(job, path_id);
  const tomo_site *station = &job->stations[path_id / 2 % job->n_stations];
  double source[3], receiver[3];
  tomo_unit_vector(from->latitude, from->longitude, source);
  tomo_unit_vector(station->latitude, station->longitude, receiver);
  return tomo_arc_make(source, receiver, path_id % 2 ? TOMO_ARC_MAJOR : TOMO_ARC_MINOR, arc) ==
         TOMO_ARC_OK;
}

/* Returns true if the minor arc between a source and a station has an allowed length. The length of
 * the minor arc decides for the major arc as well. */
static bool is_usable_pair(const invert_job *job, int64_t pair)
{
  const double degrees = 57.29577951308232;
  tomo_arc arc;
  if (!invert_path_arc(job, 2 * pair, &arc)) return false;
  double distance = arc.angle * degrees;
  return distance >= job->options->min_distance && distance <= job->options->max_distance;
}

typedef struct path_lot {
  uint64_t lot;
  int64_t id;
} path_lot;

static int by_lot(const void *x, const void *y)
{
  const path_lot *a = x, *b = y;
  if (a->lot != b->lot) return a->lot < b->lot ? -1 : 1;
  return a->id < b->id ? -1 : a->id > b->id;
}

static int by_id(const void *x, const void *y)
{
  const int64_t *a = x, *b = y;
  return *a < *b ? -1 : *a > *b;
}

/* Keeps only max_paths of the paths: those with the lowest random numbers. The numbers depend on
 * the seed and the path id alone, so that all ranks choose the same paths. */
static osla_err choose_paths(invert_job *job)
{
  const int64_t wanted = job->options->max_paths, count = job->data.n_paths;
  if (wanted == 0 || count <= wanted) return OSLA_OK;
  path_lot *list = malloc((size_t)count * sizeof *list);
  int64_t *kept = malloc((size_t)wanted * sizeof *kept);
  for (int64_t i = 0; list && i < count; i++) {
    const int64_t id = job->data.path_id[i];
    list[i] = (path_lot){osla_random_bits(job->options->model.seed, 1, (uint64_t)id), id};
  }
  if (list) qsort(list, (size_t)count, sizeof *list, by_lot);
  for (int64_t i = 0; list && kept && i < wanted; i++)
    kept[i] = list[i].id;
  const bool made = list && kept;
  if (made) {
    qsort(kept, (size_t)wanted, sizeof *kept, by_id);
    tomo_data_keep_paths(&job->data, kept, wanted);
  }
  free(list);
  free(kept);
  return made ? OSLA_OK
              : osla_error_set(OSLA_ERR_MEM, "no memory for lots of %" PRId64 " paths", count);
}

/* Lists the paths between all sources and stations whose distance is within the limits. */
static osla_err list_paths(invert_job *job)
{
  const int arcs = job->options->major_arc ? 2 : 1;
  tomo_data *data = &job->data;
  data->path_id = malloc((size_t)(job->n_pairs * arcs) * sizeof *data->path_id);
  OSLA_CHECK(data->path_id, OSLA_ERR_MEM, "no memory for list of %" PRId64 " paths",
             job->n_pairs * arcs);
  for (int64_t pair = 0; pair < job->n_pairs; pair++)
    for (int arc = 0; arc < arcs && is_usable_pair(job, pair); arc++)
      data->path_id[data->n_paths++] = 2 * pair + arc;
  OSLA_CHECK(data->n_paths > 0, OSLA_ERR_ARG,
             "no usable path: none of %" PRId64
             " station-event pairs is between %g and %g degrees apart",
             job->n_pairs, job->options->min_distance, job->options->max_distance);
  return OSLA_OK;
}

/* Checks the memory for the list of paths, and for the random numbers by which max_paths of them
 * are chosen. */
static osla_err check_list_fits(invert_job *job)
{
  const uint64_t arcs = job->options->major_arc ? 2 : 1, most = UINT64_MAX / 64;
  uint64_t events = (uint64_t)job->n_events, stations = (uint64_t)job->n_stations;
  uint64_t pairs = events <= most / stations ? events * stations : most;
  job->n_pairs = (int64_t)pairs;
  if (osla_memory_check(job->t, pairs * arcs * (sizeof(int64_t) + sizeof(path_lot))) == OSLA_OK)
    return OSLA_OK;
  char text[400];
  (void)snprintf(text, sizeof text, "%s", osla_error_text());
  return osla_error_set(OSLA_ERR_MEM, "%" PRIu64 " paths do not fit: %s", pairs * arcs, text);
}

/* Makes the list of paths for synthetic data. */
static osla_err make_paths(invert_job *job)
{
  OSLA_CALL(check_list_fits(job));
  return osla_agree(job->t, list_paths(job));
}

osla_err invert_read_input(invert_job *job)
{
  OSLA_CALL(invert_read_tables(job));
  OSLA_CALL(invert_read_reference(job));
  OSLA_CALL(invert_read_data(job));
  if (!job->options->data) OSLA_CALL(make_paths(job));
  OSLA_CALL(osla_agree(job->t, choose_paths(job)));
  job->path_ids = job->data.path_id;
  job->n_paths = job->data.n_paths;
  return OSLA_OK;
}

/* ---- the frame of the maps: the region that the paths cross if that is a small part of the Earth,
 * otherwise the whole world ---- */

/* maximum number of paths that are examined; number of points on each path */
enum { PATHS = 20000, POINTS_OF_PATH = 5 };

/* Lists evenly spaced points of the paths, including both ends, as unit vectors. At most PATHS
 * paths are used, evenly chosen from the list. Returns the number of points. */
static int64_t list_points(const invert_job *job, double (*point)[3])
{
  const int64_t step = job->n_paths / PATHS + 1;
  int64_t n = 0;
  for (int64_t i = 0; i < job->n_paths; i += step) {
    tomo_arc arc;
    if (!invert_path_arc(job, job->path_ids[i], &arc)) continue;
    for (int k = 0; k < POINTS_OF_PATH; k++)
      tomo_arc_point(&arc, arc.angle * k / (POINTS_OF_PATH - 1), point[n++]);
  }
  return n;
}

tomo_world invert_world(const invert_job *job)
{
  const invert_options *o = job->options;
  tomo_world world = {.frame = tomo_frame_world(o->centre),
                      .data_directory = o->data_directory,
                      .stations = job->stations,
                      .events = job->events,
                      .n_stations = job->n_stations,
                      .n_events = job->n_events};
  tomo_frame region;
  if (o->world || job->n_paths == 0) return world;
  double(*point)[3] = malloc((size_t)PATHS * POINTS_OF_PATH * sizeof *point);
  if (point && tomo_frame_region(list_points(job, point), (const double(*)[3])point, &region))
    world.frame = region;
  free(point);
  return world;
}
