/* Runs a command of osla with a planted fault of device memory. Usage: osla_device_fault FAULT
 * COMMAND [OPTION...]. FAULT is a number DEVICE_FAULT_... of src/device/device.h. */
#include "src/device/device.h"
#include "tools/common/command.h"

#include <stdlib.h>

int main(int argc, char **argv)
{
  if (argc < 3) return 2;
  osli_device_faults = atoi(argv[1]);
  return command_exit(command_run(argc - 1, argv + 1));
}
