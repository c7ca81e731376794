/* Runs a command line of osla with a planted fault of src/device/device.h: osla_device_fault FAULT
 * COMMAND [OPTION...] */
#include "src/device/device.h"
#include "tools/common/command.h"

#include <stdlib.h>

int main(int argc, char **argv)
{
  if (argc < 3) return 2;
  osli_device_faults = atoi(argv[1]);
  return command_exit(command_run(argc - 1, argv + 1));
}
