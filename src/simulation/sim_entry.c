/* A program for simulated machines is loaded by the simulator, which calls its main. Who starts it
 * as a program of its own gets here (the linker's -e), not to a crash. */
#include "config.h"

#include <string.h>
#include <unistd.h>

#ifdef OSLA_INTERPRETER

const char osla_sim_interpreter[] __attribute__((section(".interp"), used)) = OSLA_INTERPRETER;

_Noreturn void osli_sim_entry(void);

_Noreturn void osli_sim_entry(void)
{
  static const char line[] = "osla: this program is for simulated machines: start it by "
                             "bench/scripts/simulate -n RANKS PROGRAM\n";
  ssize_t written = write(STDERR_FILENO, line, sizeof line - 1);
  (void)written;
  _exit(2);
}

#endif
