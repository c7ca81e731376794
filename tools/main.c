/* The `osla` command. */
#include "tools/common/command.h"

int main(int argc, char **argv)
{
  return osla_command_leave(osla_command_run(argc, argv));
}
