/* Provides the reference Earth and the measurements of a job. Rank 0 reads the files, and all ranks
 * receive the contents.
 *
 * Without --reference, a job with --data uses the shipped table of PREM if the table exists. All
 * other jobs use the stand-in formulas (tomo_reference.h), which need no file. */
#include "apps/tomography/invert/invert.h"
#include "apps/tomography/readers/tomo_io.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char stand_in[] = "stand-in";

/* Sets `file` to the path of the reference table, or to "stand-in" for the formulas. */
osla_err invert_name_reference(const invert_job *job, char file[PATH_MAX])
{
  const invert_options *o = job->options;
  const bool prem = o->reference && strcmp(o->reference, "prem") == 0;
  const bool shipped = prem || (!o->reference && o->data);
  const char *given = o->reference ? o->reference : stand_in;
  OSLA_CHECK(!prem || o->data_directory, OSLA_ERR_IO,
             "--reference: the shipped tables are not found (set OSLA_DATA to their folder)");
  int length = shipped && o->data_directory
                 ? snprintf(file, PATH_MAX, "%s/%s", o->data_directory, INVERT_PREM)
                 : snprintf(file, PATH_MAX, "%s", given);
  OSLA_CHECK(length < PATH_MAX, OSLA_ERR_IO, "--reference: %.80s...: %s", file,
             strerror(ENAMETOOLONG));
  if (!o->reference && shipped && access(file, R_OK) != 0) (void)strcpy(file, stand_in);
  return OSLA_OK;
}

/* Broadcasts the contents of a file from rank 0. */
static osla_err broadcast_file(const invert_job *job, const char *file, void **bytes, int64_t *size)
{
  const bool root = osla_transport_rank(job->t) == 0;
  size_t length = 0;
  *bytes = NULL;
  OSLA_CALL(osla_agree(job->t, root ? tomo_file_read(file, bytes, &length) : OSLA_OK));
  *size = (int64_t)length;
  OSLA_CALL(osla_bcast(job->t, size, 1, MPI_INT64_T, 0));
  return invert_bcast_new(job, bytes, *size);
}

osla_err invert_read_reference(invert_job *job)
{
  const bool root = osla_transport_rank(job->t) == 0;
  void *bytes;
  int64_t size;
  OSLA_CALL(osla_agree(job->t, root ? invert_name_reference(job, job->earth) : OSLA_OK));
  OSLA_CALL(osla_bcast(job->t, job->earth, sizeof job->earth, MPI_BYTE, 0));
  if (strcmp(job->earth, stand_in) == 0) return OSLA_OK;
  osla_err err = broadcast_file(job, job->earth, &bytes, &size);
  if (err == OSLA_OK) {
    job->earth_hash = checkpoint_hash(0, bytes, (size_t)size);
    err =
      osla_agree(job->t, tomo_reference_parse(job->earth, bytes, (size_t)size, &job->reference));
  }
  free(bytes);
  return err;
}

static osla_err read_table(invert_job *job)
{
  const invert_options *o = job->options;
  const tomo_data_lists lists = {.stations = job->stations,
                                 .n_stations = job->n_stations,
                                 .events = job->events,
                                 .n_events = job->n_events,
                                 .reference = job->reference,
                                 .sigma_fraction = o->kernel.sigma_fraction,
                                 .min_distance = o->min_distance,
                                 .max_distance = o->max_distance};
  return tomo_data_read(o->data, job->reader, &lists, &job->data, &job->notes);
}

/* An array of the table of measurements that rank 0 broadcasts. */
typedef struct table_array {
  void **array;
  int64_t count;
  size_t element;
} table_array;

static osla_err broadcast_table(invert_job *job)
{
  const bool root = osla_transport_rank(job->t) == 0;
  tomo_data *d = &job->data;
  int64_t size[5] = {d->n_measures, d->n_sets, d->n_paths, 0, 0};
  if (root) size[3] = d->set_first[d->n_sets];
  if (root) size[4] = d->first[d->n_paths];
  OSLA_CALL(osla_bcast(job->t, size, 5, MPI_INT64_T, 0));
  d->n_measures = size[0];
  d->n_sets = size[1];
  d->n_paths = size[2];
  const table_array parts[] = {{(void **)&d->measure, size[0], sizeof *d->measure},
                               {(void **)&d->set_first, size[1] + 1, sizeof *d->set_first},
                               {(void **)&d->set_measure, size[3], sizeof *d->set_measure},
                               {(void **)&d->set_sigma, size[3], sizeof *d->set_sigma},
                               {(void **)&d->path_id, size[2], sizeof *d->path_id},
                               {(void **)&d->path_set, size[2], sizeof *d->path_set},
                               {(void **)&d->first, size[2] + 1, sizeof *d->first},
                               {(void **)&d->delay, size[4], sizeof *d->delay}};
  const size_t n = sizeof parts / sizeof *parts;
  uint64_t bytes = 0;
  for (size_t i = 0; i < n; i++)
    bytes += (uint64_t)parts[i].count * parts[i].element;
  OSLA_CALL(osla_memory_check(job->t, root ? 0 : bytes));
  for (size_t i = 0; i < n; i++)
    OSLA_CALL(invert_bcast_new(job, parts[i].array, parts[i].count * (int64_t)parts[i].element));
  job->n_pairs = d->n_paths;
  return osla_bcast(job->t, &job->notes, sizeof job->notes, MPI_BYTE, 0);
}

/* Makes the list of synthetic measurements, which is the same for all paths. */
static osla_err make_common(invert_job *job)
{
  const invert_options *o = job->options;
  tomo_measure *measure;
  int count;
  OSLA_CALL(tomo_kernel_list_measures(&o->kernel, &measure, &count));
  return tomo_data_create_common(measure, count, o->kernel.sigma_fraction, &job->data);
}

osla_err invert_read_data(invert_job *job)
{
  const bool root = osla_transport_rank(job->t) == 0;
  if (!job->options->data) return osla_agree(job->t, make_common(job));
  osla_err err = root ? read_table(job) : OSLA_OK;
  tomo_data_reader_stop(&job->reader);
  OSLA_CALL(osla_agree(job->t, err));
  return broadcast_table(job);
}
