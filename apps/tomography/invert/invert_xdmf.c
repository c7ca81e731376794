/* The model for ParaView (--xdmf): a mesh in the result file, and an XDMF file that describes it.
 */
#include "apps/tomography/earth/tomo_prisms.h"
#include "apps/tomography/invert/invert.h"
#include "apps/tomography/readers/tomo_grid_file.h"
#include "tools/common/command.h"
#include "tools/common/library_files.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Finds the directory of a file, as an absolute path without symbolic links. */
static osla_err find_directory(const char *option, const char *file, char directory[PATH_MAX])
{
  char given[PATH_MAX];
  OSLA_CALL(osli_new_file_directory(file, given));
  OSLA_CHECK(realpath(given, directory), OSLA_ERR_IO, "%s: %.200s: %s", option, given,
             strerror(errno));
  return OSLA_OK;
}

/* Returns the name by which the XDMF file refers to the result file. If both files are in the same
 * directory, the name has no directory, so that the files can be moved together. */
static osla_err name_result(const invert_options *o, char name[PATH_MAX])
{
  char data[PATH_MAX], text[PATH_MAX];
  const char *slash = strrchr(o->output, '/'), *last = slash ? slash + 1 : o->output;
  OSLA_CALL(find_directory("--output", o->output, data));
  OSLA_CALL(find_directory("--xdmf", o->files.xdmf, text));
  const bool together = strcmp(data, text) == 0;
  const int length =
    snprintf(name, PATH_MAX, "%s%s%s", together ? "" : data, together ? "" : "/", last);
  OSLA_CHECK(length < PATH_MAX, OSLA_ERR_IO, "--output: %.80s...: %s", name,
             strerror(ENAMETOOLONG));
  return OSLA_OK;
}

osla_err invert_check_xdmf(const invert_options *o)
{
  char name[PATH_MAX];
  bool printable = true;
  OSLA_CALL(name_result(o, name));
  OSLA_CHECK(!strchr(name, ':'), OSLA_ERR_ARG,
             "--xdmf: the result file %.200s has a colon, which separates file and data set in "
             "XDMF: rename it",
             name);
  for (const char *c = name; *c; c++)
    printable = printable && (unsigned char)*c >= ' ';
  json_t *string = json_string(name);
  json_decref(string);
  OSLA_CHECK(string && printable, OSLA_ERR_ARG,
             "--xdmf: the name of the result file %.200s is not UTF-8 text that XML allows", name);
  return OSLA_OK;
}

uint64_t invert_xdmf_bytes(const invert_job *job)
{
  const double *depth_km;
  return tomo_prisms_bytes(job->options->frequency, invert_count_slices(job->options, &depth_km),
                           3);
}

osla_err invert_make_prisms(const invert_job *job, tomo_prisms **mesh)
{
  tomo_variable field[TOMO_GRID_VARIABLES_MAX];
  char ancillary[80];
  tomo_slices *slices;
  const double *depth_km;
  const int depths = invert_count_slices(job->options, &depth_km);
  OSLA_CALL(tomo_slices_create(job->mesh, job->radial, depths, depth_km, &slices));
  osla_err err =
    tomo_prisms_create(slices, invert_list_variables(job, field, ancillary), field, mesh);
  tomo_slices_destroy(&slices);
  return err;
}

osla_err invert_write_xdmf(const invert_job *job, const tomo_prisms *mesh)
{
  const invert_options *o = job->options;
  char name[PATH_MAX], *text = NULL;
  size_t length = 0;
  OSLA_CALL(name_result(o, name));
  FILE *out = open_memstream(&text, &length);
  OSLA_CHECK(out, OSLA_ERR_MEM, "no memory for %s", o->files.xdmf);
  const int failed = tomo_prisms_describe(mesh, name, out);
  osla_err err = fclose(out) == 0 && !failed
                   ? osli_new_file_write(o->files.xdmf, text, length)
                   : osla_error_set(OSLA_ERR_MEM, "no memory for %s", o->files.xdmf);
  free(text);
  return err;
}
