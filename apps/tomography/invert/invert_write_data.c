/* --write-data: writes the synthetic data as a table for --data (doc/measurements.md). The ranks
 * compute the data in blocks of paths, and rank 0 writes them. */
#include "apps/tomography/invert/invert.h"
#include "apps/tomography/readers/tomo_io.h"
#include "tools/common/library_files.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BLOCK = 1 << 16 /* number of data in a block */ };

typedef struct writer {
  invert_job *job;
  bool stations; /* true if some paths begin at stations */
  tomo_path *path;
  /* [BLOCK + number of data in the largest set of measurements] delays of a block in seconds; zero
   * for paths of other ranks */
  double *delay;
  osla_new_file *file;
  FILE *stream;
} writer;

/* Writes the text of a cell, in quotes if necessary: without quotes a # at the start of a line
 * would begin a comment. */
static void put_text(FILE *stream, const char *text)
{
  if (!strpbrk(text, ",\"") && *text != '#') {
    (void)fputs(text, stream);
    return;
  }
  (void)fputc('"', stream);
  for (; *text; text++)
    (void)fprintf(stream, *text == '"' ? "\"\"" : "%c", *text);
  (void)fputc('"', stream);
}

/* Writes "NET.STA" as two cells. */
static void put_codes(FILE *stream, const char *id)
{
  const char *point = strchr(id, '.');
  char network[TOMO_ID_MAX];
  (void)snprintf(network, sizeof network, "%.*s", point ? (int)(point - id) : 0, id);
  put_text(stream, network);
  (void)fputc(',', stream);
  put_text(stream, point ? point + 1 : id);
}

/* Writes the cells that are the same for all data of a path. */
static void put_path(const writer *w, int64_t id)
{
  const invert_job *job = w->job;
  const int64_t source = id / 2 / job->n_stations;
  const bool event = source < job->n_events;
  if (event) put_text(w->stream, job->events[source].id);
  (void)fputc(',', w->stream);
  put_codes(w->stream, job->stations[id / 2 % job->n_stations].id);
  if (!w->stations) return;
  (void)fputc(',', w->stream);
  put_codes(w->stream, event ? "" : job->stations[source - job->n_events].id);
}

static void put_block(const writer *w, int64_t from, int64_t to)
{
  const tomo_data *data = &w->job->data;
  const int64_t base = tomo_data_first(data, from);
  for (int64_t p = from; p < to; p++) {
    const tomo_set set = tomo_data_set(data, p);
    const double *delay = w->delay + (tomo_data_first(data, p) - base);
    for (int i = 0; i < set.count; i++) {
      const tomo_measure *m = &data->measure[set.measure[i]];
      put_path(w, data->path_id[p]);
      (void)fprintf(w->stream, ",%s,%s,%d,%.9g,%s,%.7g,%.7g\n", tomo_wave_name(m->wave),
                    tomo_observable_name(m->observable), m->branch, m->period_s,
                    data->path_id[p] % 2 ? "major" : "minor", delay[i], set.sigma[i]);
    }
  }
}

/* Computes the delays of this rank's paths in a block. */
static void make_block(const writer *w, int64_t from, int64_t to)
{
  const invert_job *job = w->job;
  const invert_options *o = job->options;
  const int size = osla_transport_size(job->t), rank = osla_transport_rank(job->t);
  const int64_t base = tomo_data_first(&job->data, from);
  for (int64_t p = from; p < to; p++) {
    const tomo_set set = tomo_data_set(&job->data, p);
    double *d = w->delay + (tomo_data_first(&job->data, p) - base);
    tomo_arc arc;
    memset(d, 0, (size_t)set.count * sizeof *d);
    if (p % size != rank || !invert_path_arc(job, job->path_ids[p], &arc)) continue;
    (void)tomo_path_trace(w->path, &arc);
    tomo_path_set_data(w->path, &set, NULL);
    tomo_path_data(w->path, job->m_true, o->noise, o->model.seed, job->path_ids[p], d);
    for (int i = 0; i < set.count; i++)
      d[i] *= set.sigma[i];
  }
}

/* Writes all data in blocks of whole paths. */
static osla_err write_blocks(const writer *w)
{
  const tomo_data *data = &w->job->data;
  for (int64_t from = 0, to; from < data->n_paths; from = to) {
    const int64_t base = tomo_data_first(data, from);
    for (to = from + 1; to < data->n_paths && tomo_data_first(data, to) - base < BLOCK;)
      to++;
    make_block(w, from, to);
    OSLA_CALL(
      osla_allreduce(w->job->t, w->delay, tomo_data_first(data, to) - base, MPI_DOUBLE, MPI_SUM));
    if (w->stream) put_block(w, from, to);
  }
  return OSLA_OK;
}

/* Opens the file on rank 0 and writes its header lines. */
static osla_err open_file(writer *w)
{
  const invert_options *o = w->job->options;
  OSLA_CALL(osli_new_file_begin(o->write_data, 0, &w->file));
  const int copy = dup(osli_new_file_fd(w->file));
  w->stream = copy < 0 ? NULL : fdopen(copy, "w");
  if (!w->stream && copy >= 0) (void)close(copy);
  OSLA_CHECK(w->stream, OSLA_ERR_IO, "%.200s: %s", o->write_data, strerror(errno));
  (void)fprintf(
    w->stream,
    "# osla invert --write-data: test %s, reference %s, noise %g sigma, seed %llu\n"
    "event,network,station,%swave,observable,branch,period_s,arc,delay_s,sigma\n",
    tomo_model_name(o->model.kind),
    w->job->reference ? tomo_reference_head(w->job->reference, HEAD_TITLE) : w->job->earth,
    o->noise, (unsigned long long)o->model.seed, w->stations ? "network2,station2," : "");
  return OSLA_OK;
}

static osla_err open_writer(writer *w)
{
  const invert_job *job = w->job;
  const int most = tomo_data_max_count(&job->data);
  for (int64_t p = 0; p < job->n_paths; p++)
    w->stations = w->stations || job->path_ids[p] / 2 / job->n_stations >= job->n_events;
  OSLA_CALL(tomo_path_create(job->mesh, job->kernel, most, &w->path));
  w->delay = malloc((BLOCK + (size_t)most) * sizeof *w->delay);
  OSLA_CHECK(w->delay, OSLA_ERR_MEM, "no memory for a block of data");
  return osla_transport_rank(job->t) == 0 ? open_file(w) : OSLA_OK;
}

static osla_err close_file(writer *w)
{
  const bool failed = ferror(w->stream) != 0;
  const bool closed = fclose(w->stream) == 0;
  w->stream = NULL;
  OSLA_CHECK(closed && !failed, OSLA_ERR_IO, "%.200s: %s", w->job->options->write_data,
             strerror(errno));
  OSLA_CALL(osli_new_file_sync(w->file));
  return osli_new_file_place(&w->file);
}

/* Returns an array with a mark for each site where a path begins or ends: [n_stations + n_events],
 * stations before earthquakes. The caller frees it. NULL: no memory. */
static bool *find_used(const invert_job *job)
{
  bool *used = calloc((size_t)(job->n_stations + job->n_events) + 1, sizeof *used);
  for (int64_t p = 0; used && p < job->n_paths; p++) {
    const int64_t pair = job->path_ids[p] / 2, source = pair / job->n_stations;
    used[pair % job->n_stations] = true;
    used[source < job->n_events ? job->n_stations + source : source - job->n_events] = true;
  }
  return used;
}

static osla_err check_stations(const invert_job *job, const bool *used, const tomo_ids *ids)
{
  for (int64_t s = 0; s < job->n_stations; s++) {
    if (!used[s]) continue;
    char network[TOMO_ID_MAX];
    const char *id = job->stations[s].id, *point = strchr(id, '.');
    (void)snprintf(network, sizeof network, "%.*s", point ? (int)(point - id) : 0, id);
    OSLA_CHECK(id[0], OSLA_ERR_ARG,
               "--write-data: the station at %g, %g has no code, which --data needs",
               job->stations[s].latitude, job->stations[s].longitude);
    OSLA_CHECK(
      tomo_ids_station(ids, network, point ? point + 1 : id) == s, OSLA_ERR_ARG,
      "--write-data: %s is the code of several stations, which --data could not tell apart", id);
  }
  return OSLA_OK;
}

static osla_err check_used(const invert_job *job, const bool *used)
{
  tomo_ids *ids;
  for (int64_t e = 0; e < job->n_events; e++)
    OSLA_CHECK(
      !used[job->n_stations + e] || job->events[e].id[0], OSLA_ERR_ARG,
      "--write-data: the earthquake at %g, %g has no id, and its number is the id of another",
      job->events[e].latitude, job->events[e].longitude);
  OSLA_CALL(tomo_ids_create(job->stations, job->n_stations, 1, &ids));
  osla_err err = check_stations(job, used, ids);
  tomo_ids_destroy(&ids);
  return err;
}

static osla_err check_lists(const invert_job *job)
{
  bool *used = find_used(job);
  OSLA_CHECK(used, OSLA_ERR_MEM, "no memory for a list of stations and earthquakes");
  osla_err err = check_used(job, used);
  free(used);
  return err;
}

osla_err invert_check_write_data(const invert_job *job)
{
  const bool checks = job->options->write_data && osla_transport_rank(job->t) == 0;
  return osla_agree(job->t, checks ? check_lists(job) : OSLA_OK);
}

osla_err invert_write_data(invert_job *job)
{
  writer w = {.job = job};
  if (!job->options->write_data) return OSLA_OK;
  osla_err err = osla_agree(job->t, open_writer(&w));
  if (err == OSLA_OK) err = write_blocks(&w);
  if (err == OSLA_OK) err = osla_agree(job->t, w.stream ? close_file(&w) : OSLA_OK);
  if (w.stream) (void)fclose(w.stream);
  osli_new_file_drop(&w.file);
  tomo_path_destroy(&w.path);
  free(w.delay);
  return err;
}
