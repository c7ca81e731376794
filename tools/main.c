/* Main program of the `osla` command. */
#include "tools/common/command.h"

int main(int argc, char **argv)
{
  return command_exit(command_run(argc, argv));
}
