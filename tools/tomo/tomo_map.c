/* The picture: writes the parts into nameless temporary files, runs gnuplot on them, puts the PNG
 * in place.
 *
 * gnuplot is started by posix_spawnp, which is safe in a process with threads and an MPI library,
 * unlike fork and system(). It runs without the user's start-up file (-d) and without terminal. */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif
#include "tomo_map.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "new_file.h"
#include "tomo_file.h"
#include "tomo_map_parts.h"

osla_err map_open(map_files *files, const char *name, FILE **file)
{
  char path[1024];
  const char *parent = getenv("TMPDIR");
  if (!parent || !*parent) parent = "/tmp";
  const int n = snprintf(path, sizeof path, "%s/osla-map-XXXXXX", parent);
  OSLA_CHECK(n < (int)sizeof path && files->count < MAP_FILES_MAX, OSLA_ERR_IO,
             "temporary file %s of the map: no room", name);
  const int descriptor = mkstemp(path);
  OSLA_CHECK(descriptor >= 0, OSLA_ERR_IO, "temporary file %s of the map in %.200s: %s", name,
             parent, strerror(errno));
  (void)unlink(path);
  files->name[files->count] = name;
  files->descriptor[files->count++] = descriptor;
  if (!file) return OSLA_OK;
  const int copy = dup(descriptor);
  *file = copy < 0 ? NULL : fdopen(copy, "wb");
  if (!*file && copy >= 0) close(copy);
  OSLA_CHECK(*file, OSLA_ERR_IO, "temporary file %s of the map: %s", name, strerror(errno));
  return OSLA_OK;
}

int map_descriptor(const map_files *files, const char *name)
{
  for (int i = 0; i < files->count; i++)
    if (strcmp(files->name[i], name) == 0) return files->descriptor[i];
  return -1;
}

osla_err map_close(const char *name, FILE *file)
{
  const int failed = ferror(file);
  OSLA_CHECK(fclose(file) == 0 && !failed, OSLA_ERR_IO, "temporary file %s of the map: %s", name,
             strerror(errno));
  return OSLA_OK;
}

static void close_files(map_files *files)
{
  for (int i = 0; i < files->count; i++)
    close(files->descriptor[i]);
  files->count = 0;
}

/* The name under which this process and gnuplot open a file from its beginning. */
typedef struct file_path {
  char s[32];
} file_path;

static file_path path_of(const map_files *files, const char *name)
{
  file_path path;
  snprintf(path.s, sizeof path.s, "/dev/fd/%d", map_descriptor(files, name));
  return path;
}

/* A child does not inherit what the command ignores: gnuplot does not look whether it could write.
 */
static int give_signals(posix_spawnattr_t *attributes)
{
  sigset_t set;
  (void)sigemptyset(&set);
  (void)sigaddset(&set, SIGXFSZ);
  (void)sigaddset(&set, SIGPIPE);
  int code = posix_spawnattr_setsigdefault(attributes, &set);
  return code ? code : posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSIGDEF);
}

/* Starts gnuplot with its output in "log"; returns an errno value. */
static int start_gnuplot(const map_files *files, pid_t *child)
{
  extern char **environ;
  char program[] = "gnuplot", defaults[] = "-d";
  file_path script = path_of(files, "map.gp");
  char *argv[] = {program, defaults, script.s, NULL};
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  int code = posix_spawn_file_actions_init(&actions);
  if (code) return code;
  code = posix_spawnattr_init(&attributes);
  if (code) {
    posix_spawn_file_actions_destroy(&actions);
    return code;
  }
  code = give_signals(&attributes);
  if (!code) code = posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  if (!code) code = posix_spawn_file_actions_adddup2(&actions, map_descriptor(files, "log"), 1);
  if (!code) code = posix_spawn_file_actions_adddup2(&actions, 1, 2);
  if (!code) code = posix_spawnp(child, program, &actions, &attributes, argv, environ);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  return code;
}

/* The first line of gnuplot's output that says something. */
static void first_line(const map_files *files, char *line, int size)
{
  FILE *log = fopen(path_of(files, "log").s, "r");
  line[0] = '\0';
  while (log && fgets(line, size, log)) {
    line[strcspn(line, "\n")] = '\0';
    if (line[strspn(line, " \t^")] != '\0') break;
  }
  if (log) fclose(log);
}

static osla_err run_gnuplot(const map_files *files, const char *file)
{
  pid_t child = 0, ended;
  int status = 0;
  char line[200];
  const int code = start_gnuplot(files, &child);
  OSLA_CHECK(code != ENOENT, OSLA_ERR_UNSUPPORTED,
             "%s: no picture, because gnuplot is not installed (Debian package gnuplot-nox)", file);
  OSLA_CHECK(code == 0, OSLA_ERR_IO, "%s: gnuplot cannot be started: %s", file, strerror(code));
  do
    ended = waitpid(child, &status, 0);
  while (ended < 0 && errno == EINTR);
  OSLA_CHECK(ended == child, OSLA_ERR_IO, "%s: gnuplot: %s", file, strerror(errno));
  const int exit_status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  OSLA_CHECK(exit_status != 127, OSLA_ERR_UNSUPPORTED, "%s: no picture, gnuplot cannot run", file);
  if (exit_status != 0) first_line(files, line, sizeof line);
  OSLA_CHECK(exit_status == 0, OSLA_ERR_IO, "%s: gnuplot ended with status %d: %s", file,
             exit_status, line);
  return OSLA_OK;
}

static osla_err put_in_place(const map_files *files, const char *file)
{
  void *bytes;
  size_t size;
  OSLA_CALL(tomo_file_read(path_of(files, "map.png").s, &bytes, &size));
  osla_err err = size > 0 ? osla_new_file_write(file, bytes, size)
                          : osla_error_set(OSLA_ERR_IO, "%s: gnuplot made an empty picture", file);
  free(bytes);
  return err;
}

osla_err tomo_map_write(const tomo_map *map, const char *file)
{
  map_files files = {0};
  map_ranges ranges;
  osla_err err = OSLA_OK;
  OSLA_CHECK(map->mesh && map->radial && map->m_recovered && map->density, OSLA_ERR_ARG,
             "a map needs mesh, radial basis, recovered model and density");
  OSLA_CALL(osla_new_file_check(file, 0));
  OSLA_TRY(map_open(&files, "log", NULL));
  OSLA_TRY(map_open(&files, "map.png", NULL));
  OSLA_TRY(map_write_rasters(map, &files, &ranges));
  OSLA_TRY(map_write_lines(map, &files));
  OSLA_TRY(map_write_script(map, &ranges, &files));
  OSLA_TRY(run_gnuplot(&files, file));
  OSLA_TRY(put_in_place(&files, file));
cleanup:
  close_files(&files);
  return err;
}
