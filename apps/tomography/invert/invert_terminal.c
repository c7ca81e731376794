/* Finds out whether stderr of this rank appears on a terminal, for progress lines.
 *
 * Under mpiexec, stderr is a pipe to a process of the launcher; the parents of that process may be
 * further launcher processes, up to the mpiexec that the user started. The test walks up these
 * parents through /proc and examines the stderr of the topmost. It works only on Linux, and only if
 * the launcher runs on this host; otherwise there is no progress line. */
#include "apps/tomography/invert/invert.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Reads the command and the parent of a process from /proc/PID/stat, which contains "PID (COMMAND)
 * STATE PARENT ...". */
static bool read_process_stat(long pid, char command[64], long *parent)
{
  char file[64], line[512];
  (void)snprintf(file, sizeof file, "/proc/%ld/stat", pid);
  FILE *stat = fopen(file, "r");
  if (!stat) return false;
  bool read = fgets(line, sizeof line, stat) != NULL;
  (void)fclose(stat);
  char *open = read ? strchr(line, '(') : NULL, *close = read ? strrchr(line, ')') : NULL;
  if (!open || !close || close < open || sscanf(close + 1, " %*c %ld", parent) != 1) return false;
  *close = '\0';
  (void)snprintf(command, 64, "%s", open + 1);
  return true;
}

static bool is_launcher(const char *command)
{
  const char *const names[] = {"hydra_", "mpiexec", "mpirun"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (strncmp(command, names[i], strlen(names[i])) == 0) return true;
  return false;
}

static bool stderr_of_is_terminal(long pid)
{
  char file[64], target[64];
  (void)snprintf(file, sizeof file, "/proc/%ld/fd/2", pid);
  ssize_t length = readlink(file, target, sizeof target - 1);
  if (length < 0) return false;
  target[length] = '\0';
  return strncmp(target, "/dev/pts/", 9) == 0 || strncmp(target, "/dev/tty", 8) == 0 ||
         strcmp(target, "/dev/console") == 0;
}

static bool stderr_is_terminal(void)
{
  struct stat here;
  if (isatty(STDERR_FILENO)) return true;
  if (fstat(STDERR_FILENO, &here) != 0 || !(S_ISFIFO(here.st_mode) || S_ISSOCK(here.st_mode)))
    return false;
  char command[64];
  long pid = (long)getppid(), parent;
  bool terminal = false;
  for (int steps = 0; steps < 8 && pid > 1; steps++, pid = parent) {
    if (!read_process_stat(pid, command, &parent) || !is_launcher(command)) break;
    /* the last process that the loop finds is the topmost launcher */
    terminal = stderr_of_is_terminal(pid);
  }
  return terminal;
}

bool invert_shows_progress(const invert_job *job)
{
  return osla_transport_rank(job->t) == 0 && !job->options->quiet && stderr_is_terminal();
}
