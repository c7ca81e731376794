/* The command `osla reference` (contract: reference.h). */
#include "apps/tomography/reference/reference.h"
#include "apps/tomography/tomography.h"

#include "tools/common/command_files.h"
#include "tools/common/library_files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static osla_err check_files(const reference_options *o)
{
  const bool prem = strcmp(o->model, "prem") == 0;
  const command_file files[] = {{"the model", prem ? NULL : o->model, OSLA_FILE_READ, 0},
                                {"--output", o->output, OSLA_FILE_REPLACED, 0}};
  return command_check_files(files, 2);
}

static osla_err write_output(const reference_options *o, const earth_model *model)
{
  char *text = NULL;
  size_t length = 0;
  FILE *out = open_memstream(&text, &length);
  OSLA_CHECK(out, OSLA_ERR_MEM, "no memory for a table");
  osla_err err =
    o->n_modes > 0 ? reference_list_modes(out, o, model) : reference_make_table(out, o, model);
  if (fclose(out) != 0 && err == OSLA_OK)
    err = osla_error_set(OSLA_ERR_MEM, "no memory for a table");
  if (err == OSLA_OK && o->output)
    err = osli_new_file_write(o->output, text, length);
  else if (err == OSLA_OK)
    (void)fwrite(text, 1, length,
                 stdout); /* command_flush_output reports errors of standard output */
  free(text);
  return err;
}

static osla_err run_command(const reference_options *o)
{
  earth_model *model = NULL;
  OSLA_CALL(check_files(o));
  if (strcmp(o->model, "prem") == 0)
    OSLA_CALL(earth_prem(!o->no_ocean, o->isotropic, &model));
  else
    OSLA_CALL(earth_read(o->model, &model));
  osla_err err = write_output(o, model);
  earth_destroy(&model);
  return err;
}

int command_reference(int argc, char **argv)
{
  reference_options options;
  command_line line;
  int status;
  if (!reference_parse(argc, argv, &options, &line, &status)) return status;
  if (command_rank() == 0) /* only rank 0 computes; other ranks end at once */
    status = command_flush_output("reference", command_fail("reference", run_command(&options)));
  command_release(&line);
  return status;
}
