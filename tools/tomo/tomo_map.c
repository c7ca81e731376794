/* The picture: writes the parts into a temporary directory, runs gnuplot there, puts the PNG in
 * place.
 *
 * gnuplot is started by posix_spawnp, which is safe in a process with threads and an MPI library,
 * unlike fork and system(). It runs without the user's start-up file (-d) and without terminal. */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif
#include "tomo_map.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tomo_file.h"
#include "tomo_map_parts.h"

enum { DIRECTORY_MAX = 1024 };

osla_err map_open(const char *directory, const char *name, FILE **file)
{
  char path[DIRECTORY_MAX + 64];
  snprintf(path, sizeof path, "%s/%s", directory, name);
  *file = fopen(path, "wb");
  OSLA_CHECK(*file, OSLA_ERR_IO, "%s: %s", path, strerror(errno));
  return OSLA_OK;
}

osla_err map_close(const char *name, FILE *file)
{
  const int failed = ferror(file);
  OSLA_CHECK(fclose(file) == 0 && !failed, OSLA_ERR_IO, "temporary file %s of the map: %s", name,
             strerror(errno));
  return OSLA_OK;
}

static osla_err make_directory(char directory[DIRECTORY_MAX])
{
  const char *parent = getenv("TMPDIR");
  if (!parent || !*parent) parent = "/tmp";
  const int n = snprintf(directory, DIRECTORY_MAX, "%s/osla-map-XXXXXX", parent);
  const char *made = n > 0 && n < DIRECTORY_MAX ? mkdtemp(directory) : NULL;
  if (!made) directory[0] = '\0';
  OSLA_CHECK(made, OSLA_ERR_IO, "temporary directory in %.200s: %s", parent, strerror(errno));
  return OSLA_OK;
}

static void remove_directory(const char *directory)
{
  DIR *handle = directory[0] ? opendir(directory) : NULL;
  if (!handle) return;
  for (struct dirent *entry; (entry = readdir(handle));)
    unlinkat(dirfd(handle), entry->d_name, 0); /* "." and ".." refuse */
  closedir(handle);
  rmdir(directory);
}

/* Starts gnuplot in the directory with its output in "log"; returns an errno value. */
static int start_gnuplot(const char *directory, pid_t *child)
{
  extern char **environ;
  char program[] = "gnuplot", defaults[] = "-d", script[] = "map.gp";
  char *argv[] = {program, defaults, script, NULL};
  posix_spawn_file_actions_t actions;
  int code = posix_spawn_file_actions_init(&actions);
  if (code) return code;
  code = posix_spawn_file_actions_addchdir_np(&actions, directory);
  if (!code) code = posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  if (!code)
    code = posix_spawn_file_actions_addopen(&actions, 1, "log", O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (!code) code = posix_spawn_file_actions_adddup2(&actions, 1, 2);
  if (!code) code = posix_spawnp(child, program, &actions, NULL, argv, environ);
  posix_spawn_file_actions_destroy(&actions);
  return code;
}

/* The first line of gnuplot's output that says something. */
static void first_line(const char *directory, char *line, int size)
{
  char path[DIRECTORY_MAX + 64];
  snprintf(path, sizeof path, "%s/log", directory);
  FILE *log = fopen(path, "r");
  line[0] = '\0';
  while (log && fgets(line, size, log)) {
    line[strcspn(line, "\n")] = '\0';
    if (line[strspn(line, " \t^")] != '\0') break;
  }
  if (log) fclose(log);
}

static osla_err run_gnuplot(const char *directory, const char *file)
{
  pid_t child = 0, ended;
  int status = 0;
  char line[200];
  const int code = start_gnuplot(directory, &child);
  OSLA_CHECK(code != ENOENT, OSLA_ERR_UNSUPPORTED,
             "%s: no picture, because gnuplot is not installed (Debian package gnuplot-nox)", file);
  OSLA_CHECK(code == 0, OSLA_ERR_IO, "%s: gnuplot cannot be started: %s", file, strerror(code));
  do
    ended = waitpid(child, &status, 0);
  while (ended < 0 && errno == EINTR);
  OSLA_CHECK(ended == child, OSLA_ERR_IO, "%s: gnuplot: %s", file, strerror(errno));
  const int exit_status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  OSLA_CHECK(exit_status != 127, OSLA_ERR_UNSUPPORTED, "%s: no picture, gnuplot cannot run", file);
  if (exit_status != 0) first_line(directory, line, sizeof line);
  OSLA_CHECK(exit_status == 0, OSLA_ERR_IO, "%s: gnuplot ended with status %d: %s", file,
             exit_status, line);
  return OSLA_OK;
}

static osla_err put_in_place(const char *directory, const char *file)
{
  char path[DIRECTORY_MAX + 64];
  void *bytes;
  size_t size;
  snprintf(path, sizeof path, "%s/map.png", directory);
  OSLA_CALL(tomo_file_read(path, &bytes, &size));
  osla_err err = size > 0 ? tomo_file_write(file, bytes, size)
                          : osla_error_set(OSLA_ERR_IO, "%s: gnuplot made an empty picture", file);
  free(bytes);
  return err;
}

osla_err tomo_map_write(const tomo_map *map, const char *file)
{
  char directory[DIRECTORY_MAX] = "";
  map_ranges ranges;
  osla_err err = OSLA_OK;
  OSLA_CHECK(map->mesh && map->radial && map->m_recovered && map->density, OSLA_ERR_ARG,
             "a map needs mesh, radial basis, recovered model and density");
  OSLA_CALL(tomo_file_check(file));
  OSLA_TRY(make_directory(directory));
  OSLA_TRY(map_write_rasters(map, directory, &ranges));
  OSLA_TRY(map_write_lines(map, directory));
  OSLA_TRY(map_write_script(map, &ranges, directory));
  OSLA_TRY(run_gnuplot(directory, file));
  OSLA_TRY(put_in_place(directory, file));
cleanup:
  remove_directory(directory);
  return err;
}
