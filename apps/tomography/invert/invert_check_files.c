/* Checks of the files of a job before it begins: they are different, writable, and there is room
 * for them. */
#include "apps/tomography/invert/invert.h"
#include "tools/common/command_files.h"
#include "tools/common/report_directory.h"

#include <stdlib.h>
#include <string.h>

/* Lists all outputs and input tables, also those of the sample, and checks them. */
static osla_err check_files(const invert_job *job, bool room)
{
  const invert_options *o = job->options;
  const uint64_t n = (uint64_t)job->n, vectors = 3 + 2 * (uint64_t)(o->posterior + o->points);
  /* upper bound of the checkpoint's size; H fits in memory, so no overflow */
  const uint64_t matrix = n * n * osla_dtype_size(o->dtype);
  char page[PATH_MAX] = "", earth[PATH_MAX];
  OSLA_CALL(invert_name_reference(job, earth));
  if (o->report) report_directory_page(o->report, page);
  const command_file outputs[] = {
    {"--output", o->output, OSLA_FILE_REPLACED,
     vectors * n * sizeof(double) + (o->files.xdmf && room ? invert_xdmf_bytes(job) : 0)},
    {"--map", o->map, OSLA_FILE_REPLACED, 0},
    {"--json", o->json, OSLA_FILE_REPLACED, 0},
    {"--report", o->report, OSLA_FILE_REPORT, 0},
    {"--report", page[0] ? page : NULL, OSLA_FILE_REPLACED, 0},
    {"--netcdf", o->files.netcdf, OSLA_FILE_REPLACED,
     o->files.netcdf && room ? invert_netcdf_bytes(job) : 0},
    {"--write-data", o->write_data, OSLA_FILE_REPLACED, 0},
    {"--data", o->data, OSLA_FILE_READ, 0},
    {"--reference", strcmp(earth, "stand-in") == 0 ? NULL : earth, OSLA_FILE_READ, 0},
    {"--scan-plot", o->scan_plot, OSLA_FILE_REPLACED, 0},
    {"--prior", o->prior_file, OSLA_FILE_READ, 0},
    {"--xdmf", o->files.xdmf, OSLA_FILE_REPLACED, 0},
    {"--checkpoint", o->checkpoint, OSLA_FILE_CHECKPOINT, matrix}};
  const int n_outputs = sizeof outputs / sizeof *outputs;
  invert_tables t;
  OSLA_CALL(invert_name_tables(job, &t));
  if (o->files.xdmf) OSLA_CALL(invert_check_xdmf(o));
  command_file *files = malloc((size_t)(n_outputs + t.n_stations + t.n_events) * sizeof *files);
  OSLA_CHECK(files, OSLA_ERR_MEM, "no memory for the names of files");
  int count = 0;
  for (; count < n_outputs; count++)
    files[count] = outputs[count];
  for (int i = 0; i < t.n_stations; i++)
    files[count++] = (command_file){"--stations", t.stations[i], OSLA_FILE_READ, 0};
  for (int i = 0; i < t.n_events; i++)
    files[count++] = (command_file){"--events", t.events[i], OSLA_FILE_READ, 0};
  osla_err err = room ? command_check_room(files, count) : command_check_files(files, count);
  free(files);
  return err;
}

osla_err invert_check_files(const invert_job *job, bool room)
{
  return osla_agree(job->t, osla_transport_rank(job->t) == 0 ? check_files(job, room) : OSLA_OK);
}
