/* Runs command lines of osla in one process (run_lines.h). */
#include "tests/commands/run_lines.h"
#include "tools/common/command.h"

int main(int argc, char **argv)
{
  return run_lines(argc, argv, command_run);
}
