#include "tests/process_state.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

extern char **environ;

static struct {
  char **environment;
  int folder;
  mode_t mask;
} start;

void process_state_note(void)
{
  size_t n = 0;
  while (environ[n])
    n++;
  start.environment = calloc(n + 1, sizeof *start.environment);
  for (size_t i = 0; start.environment && i < n; i++)
    start.environment[i] = strdup(environ[i]);
  start.folder = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  start.mask = umask(0);
  (void)umask(start.mask);
}

void process_state_restore(void)
{
  (void)clearenv();
  for (char **entry = start.environment; entry && *entry; entry++)
    (void)putenv(*entry);
  if (fchdir(start.folder)) perror("test: the working directory");
  (void)umask(start.mask);
}
