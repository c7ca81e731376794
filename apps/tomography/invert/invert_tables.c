/* Lists of stations and earthquakes: rank 0 reads the files and sends them to all ranks. */
#include "apps/tomography/invert/invert.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Finds the path of a shipped file, which replaces a list that the user did not give. */
static osla_err name_sample(const invert_job *job, const char *option, const char *shipped,
                            char file[PATH_MAX])
{
  const char *directory = job->options->data_directory;
  OSLA_CHECK(directory, OSLA_ERR_IO,
             "the shipped sample is not found (set OSLA_DATA to its folder), and there is no %s",
             option);
  OSLA_CHECK(snprintf(file, PATH_MAX, "%s/%s", directory, shipped) < PATH_MAX, OSLA_ERR_IO,
             "%s: %.80s...: %s", option, file, strerror(ENAMETOOLONG));
  return OSLA_OK;
}

/* Counts the files of a list, and checks the lengths of their path names. */
static osla_err count_files(const char *option, char *const *files, int *count)
{
  for (*count = 0; files[*count]; ++*count)
    OSLA_CHECK(strlen(files[*count]) < PATH_MAX, OSLA_ERR_IO, "%s: %.80s...: %s", option,
               files[*count], strerror(ENAMETOOLONG));
  return OSLA_OK;
}

osla_err invert_name_tables(const invert_job *job, invert_tables *tables)
{
  const invert_file_options *f = &job->options->files;
  tables->one[0] = tables->sample_stations;
  tables->one[1] = tables->sample_events;
  tables->stations = f->stations ? f->stations : &tables->one[0];
  tables->events = f->events ? f->events : &tables->one[1];
  tables->n_stations = tables->n_events = 1;
  if (!f->stations)
    OSLA_CALL(name_sample(job, "--stations", "sample_stations.csv", tables->sample_stations));
  else
    OSLA_CALL(count_files("--stations", f->stations, &tables->n_stations));
  if (!f->events) return name_sample(job, "--events", "sample_events.csv", tables->sample_events);
  return count_files("--events", f->events, &tables->n_events);
}

osla_err invert_bcast_new(const invert_job *job, void **array, int64_t bytes)
{
  if (osla_transport_rank(job->t) != 0) *array = malloc((size_t)bytes + 1);
  OSLA_CALL(osla_agree(
    job->t, *array
              ? OSLA_OK
              : osla_error_set(OSLA_ERR_MEM, "no memory for %" PRId64 " bytes of input", bytes)));
  return osla_bcast(job->t, *array, bytes, MPI_BYTE, 0);
}

/* Broadcasts the list that rank 0 has read. */
static osla_err broadcast_list(const invert_job *job, tomo_site **sites, int64_t *count,
                               tomo_counts *counts)
{
  OSLA_CALL(osla_bcast(job->t, counts, (int64_t)sizeof *counts, MPI_BYTE, 0));
  *count = counts->used;
  return invert_bcast_new(job, (void **)sites, *count * (int64_t)sizeof **sites);
}

static osla_err read_both(invert_job *job)
{
  invert_tables t;
  const tomo_selection *choice = &job->options->files.choice;
  OSLA_CALL(invert_name_tables(job, &t));
  OSLA_CALL(tomo_select_sites(false, t.stations, t.n_stations, choice, &job->stations,
                              &job->read_stations));
  return tomo_select_sites(true, t.events, t.n_events, choice, &job->events, &job->read_events);
}

osla_err invert_read_tables(invert_job *job)
{
  OSLA_CALL(osla_agree(job->t, osla_transport_rank(job->t) == 0 ? read_both(job) : OSLA_OK));
  OSLA_CALL(broadcast_list(job, &job->stations, &job->n_stations, &job->read_stations));
  return broadcast_list(job, &job->events, &job->n_events, &job->read_events);
}
