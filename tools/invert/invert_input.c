/* Stations, earthquakes and the list of paths. */
#include "command.h"
#include "invert.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef osla_err reader(const char *file, tomo_site **sites, int64_t *count);

/* The file that the user named, or that of the sample. */
static osla_err name_table(const invert_job *job, const char *given, const char *option,
                           const char *shipped, char file[PATH_MAX])
{
  const char *directory = job->options->data_directory;
  OSLA_CHECK(given || directory, OSLA_ERR_IO,
             "the shipped sample is not found (set OSLA_DATA to its folder), and there is no %s",
             option);
  int length = given ? snprintf(file, PATH_MAX, "%s", given)
                     : snprintf(file, PATH_MAX, "%s/%s", directory, shipped);
  OSLA_CHECK(length < PATH_MAX, OSLA_ERR_IO, "%s: %.80s...: %s", option, file,
             strerror(ENAMETOOLONG));
  return OSLA_OK;
}

osla_err invert_name_tables(const invert_job *job, char stations[PATH_MAX], char events[PATH_MAX])
{
  const invert_options *o = job->options;
  OSLA_CALL(name_table(job, o->stations, "--stations", "sample_stations.csv", stations));
  return name_table(job, o->events, "--events", "sample_events.csv", events);
}

/* Rank 0 reads, all ranks get the list. */
static osla_err read_sites(const invert_job *job, reader *read, const char *file, tomo_site **sites,
                           int64_t *count)
{
  bool root = osla_transport_rank(job->t) == 0;
  OSLA_CALL(osla_agree(job->t, root ? read(file, sites, count) : OSLA_OK));
  OSLA_CALL(osla_bcast(job->t, count, 1, MPI_INT64_T, 0));
  if (!root) *sites = malloc((size_t)*count * sizeof **sites);
  OSLA_CALL(osla_agree(
    job->t, *sites ? OSLA_OK : osla_error_set(OSLA_ERR_MEM, "list of %" PRId64 " sites", *count)));
  return osla_bcast(job->t, *sites, *count * (int64_t)sizeof **sites, MPI_BYTE, 0);
}

bool invert_arc(const invert_job *job, int64_t path_id, tomo_arc *arc)
{
  int64_t pair = path_id / 2;
  const tomo_site *event = &job->events[pair / job->n_stations];
  const tomo_site *station = &job->stations[pair % job->n_stations];
  double source[3], receiver[3];
  tomo_unit_vector(event->latitude, event->longitude, source);
  tomo_unit_vector(station->latitude, station->longitude, receiver);
  return tomo_arc_make(source, receiver, path_id % 2 ? TOMO_ARC_MAJOR : TOMO_ARC_MINOR, arc) ==
         TOMO_ARC_OK;
}

/* Both arcs of a pair are used or not by the length of the short one. */
static bool usable(const invert_job *job, int64_t pair)
{
  const double degrees = 57.29577951308232;
  tomo_arc arc;
  if (!invert_arc(job, 2 * pair, &arc)) return false;
  double distance = arc.angle * degrees;
  return distance >= job->options->min_distance && distance <= job->options->max_distance;
}

typedef struct drawn {
  uint64_t lot;
  int64_t id;
} drawn;

static int by_lot(const void *x, const void *y)
{
  const drawn *a = x, *b = y;
  if (a->lot != b->lot) return a->lot < b->lot ? -1 : 1;
  return a->id < b->id ? -1 : a->id > b->id;
}

static int by_id(const void *x, const void *y)
{
  const int64_t *a = x, *b = y;
  return *a < *b ? -1 : *a > *b;
}

/* Keeps the max_paths paths with the lowest lots: a random choice that any rank makes alike. */
static osla_err choose(invert_job *job)
{
  int64_t wanted = job->options->max_paths;
  if (wanted == 0 || job->n_paths <= wanted) return OSLA_OK;
  drawn *list = malloc((size_t)job->n_paths * sizeof *list);
  OSLA_CHECK(list, OSLA_ERR_MEM, "lots of %" PRId64 " paths", job->n_paths);
  for (int64_t i = 0; i < job->n_paths; i++)
    list[i] = (drawn){osla_random_bits(job->options->model.seed, 1, (uint64_t)job->path_ids[i]),
                      job->path_ids[i]};
  qsort(list, (size_t)job->n_paths, sizeof *list, by_lot);
  for (int64_t i = 0; i < wanted; i++)
    job->path_ids[i] = list[i].id;
  job->n_paths = wanted;
  qsort(job->path_ids, (size_t)wanted, sizeof *job->path_ids, by_id);
  free(list);
  return OSLA_OK;
}

static osla_err list_paths(invert_job *job)
{
  int arcs = job->options->major_arc ? 2 : 1;
  job->path_ids = malloc((size_t)(job->n_pairs * arcs) * sizeof *job->path_ids);
  OSLA_CHECK(job->path_ids, OSLA_ERR_MEM, "list of %" PRId64 " paths", job->n_pairs * arcs);
  for (int64_t pair = 0; pair < job->n_pairs; pair++)
    for (int arc = 0; arc < arcs && usable(job, pair); arc++)
      job->path_ids[job->n_paths++] = 2 * pair + arc;
  OSLA_CHECK(job->n_paths > 0, OSLA_ERR_ARG,
             "no usable path: none of %" PRId64
             " station-event pairs is between %g and %g degrees apart",
             job->n_pairs, job->options->min_distance, job->options->max_distance);
  return choose(job);
}

/* The list and the lots that choose from it. */
static osla_err check_list_fits(invert_job *job)
{
  const uint64_t arcs = job->options->major_arc ? 2 : 1, most = UINT64_MAX / 64;
  uint64_t events = (uint64_t)job->n_events, stations = (uint64_t)job->n_stations;
  uint64_t pairs = events <= most / stations ? events * stations : most;
  job->n_pairs = (int64_t)pairs;
  if (osla_memory_check(job->t, pairs * arcs * (sizeof(int64_t) + sizeof(drawn))) == OSLA_OK)
    return OSLA_OK;
  char text[400];
  (void)snprintf(text, sizeof text, "%s", osla_error_text());
  return osla_error_set(OSLA_ERR_MEM, "%" PRIu64 " paths do not fit: %s", pairs * arcs, text);
}

osla_err invert_read_input(invert_job *job)
{
  char stations[PATH_MAX], events[PATH_MAX];
  bool root = osla_transport_rank(job->t) == 0;
  OSLA_CALL(osla_agree(job->t, root ? invert_name_tables(job, stations, events) : OSLA_OK));
  OSLA_CALL(read_sites(job, tomo_read_stations, stations, &job->stations, &job->n_stations));
  OSLA_CALL(read_sites(job, tomo_read_events, events, &job->events, &job->n_events));
  OSLA_CALL(check_list_fits(job));
  return osla_agree(job->t, list_paths(job));
}
