/* `osla info`: the doctor. */
#include "command.h"

int osla_command_info(int argc, char **argv)
{
  char *json = NULL;
  const struct poptOption options[] = {
    {"json", '\0', POPT_ARG_STRING, &json, 0, "Also write the findings to FILE as JSON", "FILE"},
    POPT_TABLEEND};
  osla_command_line line = {
    .name = "info",
    .about = "Shows this machine, its MPI and BLAS, and tests what OSLA relies on.\n",
    .options = options};
  int status;
  if (!osla_command_parse(&line, argc, argv, &status)) return status;
  osla_command_release(&line);
  return OSLA_EXIT_OK;
}
