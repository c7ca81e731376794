/* Entry point for the case that a user starts a simulated program directly (linker option -e): an
 * error message instead of a crash. In normal use the simulator loads the program and calls its
 * main. */
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
