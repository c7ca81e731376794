/* Runs lines of the osla command in one process (run_lines.h). */
#include "command.h"
#include "run_lines.h"

int main(int argc, char **argv)
{
  return run_lines(argc, argv, osla_command_run);
}
