/* Runs gnuplot on a drawing.
 *
 * posix_spawnp starts it: unlike fork it copies no memory, and it is safe in a process with
 * threads and with memory that the MPI library has registered. The option -d skips the user's
 * start-up file. */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "apps/tomography/draw/tomo_draw_parts.h"

/* Restores the default action of SIGXFSZ and SIGPIPE in gnuplot, because osla ignores these
 * signals. gnuplot does not check whether its writes succeed, so that only a signal stops it. */
static int reset_signals(posix_spawnattr_t *attributes)
{
  sigset_t set;
  (void)sigemptyset(&set);
  (void)sigaddset(&set, SIGXFSZ);
  (void)sigaddset(&set, SIGPIPE);
  int code = posix_spawnattr_setsigdefault(attributes, &set);
  return code ? code : posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSIGDEF);
}

/* Starts gnuplot; its output goes to the log file. Returns 0 or an errno value. */
static int start_gnuplot(tomo_draw *draw)
{
  extern char **environ;
  char program[] = "gnuplot", defaults[] = "-d", script[32];
  char *argv[] = {program, defaults, script, NULL};
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  (void)snprintf(script, sizeof script, "/dev/fd/%d", fileno(draw->script));
  int code = posix_spawn_file_actions_init(&actions);
  if (code) return code;
  code = posix_spawnattr_init(&attributes);
  if (code) {
    posix_spawn_file_actions_destroy(&actions);
    return code;
  }
  code = reset_signals(&attributes);
  if (!code) code = posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  if (!code) code = posix_spawn_file_actions_adddup2(&actions, fileno(draw->log), 1);
  if (!code) code = posix_spawn_file_actions_adddup2(&actions, 1, 2);
  if (!code) code = posix_spawnp(&draw->child, program, &actions, &attributes, argv, environ);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (code) draw->child = 0;
  return code;
}

static osla_err flush(FILE *file)
{
  OSLA_CHECK(fflush(file) == 0 && !ferror(file), OSLA_ERR_IO, "temporary file of the pictures: %s",
             strerror(errno));
  return OSLA_OK;
}

void draw_end_picture(tomo_draw *draw)
{
  if (draw->n_pictures > 0) fprintf(draw->script, "unset multiplot\nunset output\n");
}

osla_err tomo_draw_start(tomo_draw *draw)
{
  OSLA_CHECK(!draw->lacks_memory, OSLA_ERR_MEM, "no memory for a picture");
  draw_end_picture(draw);
  OSLA_CALL(flush(draw->script));
  OSLA_CALL(flush(draw->pixels));
  const int code = start_gnuplot(draw);
  OSLA_CHECK(code != ENOENT, OSLA_ERR_UNSUPPORTED,
             "gnuplot is not installed (Debian package gnuplot-nox)");
  OSLA_CHECK(code == 0, OSLA_ERR_IO, "gnuplot cannot be started: %s", strerror(code));
  return OSLA_OK;
}

/* Reads from the log gnuplot's version and the last line that is not empty; if gnuplot has failed,
 * that line gives the reason. */
static void read_log(tomo_draw *draw, char *last, size_t size)
{
  static const char version[] = "gnuplot ";
  char line[200];
  last[0] = '\0';
  rewind(draw->log);
  while (fgets(line, sizeof line, draw->log)) {
    line[strcspn(line, "\n")] = '\0';
    if (!draw->version[0] && strncmp(line, version, sizeof version - 1) == 0)
      (void)snprintf(draw->version, sizeof draw->version, "%.31s", line + sizeof version - 1);
    else if (line[strspn(line, " \t^")] != '\0')
      (void)snprintf(last, size, "%s", line);
  }
}

osla_err tomo_draw_wait(tomo_draw *draw)
{
  pid_t ended;
  int status = 0;
  char line[200];
  if (draw->child == 0) return OSLA_OK;
  do
    ended = waitpid(draw->child, &status, 0);
  while (ended < 0 && errno == EINTR);
  const bool is_it = ended == draw->child;
  draw->child = 0;
  OSLA_CHECK(is_it, OSLA_ERR_IO, "gnuplot: %s", strerror(errno));
  const int exit_status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  OSLA_CHECK(exit_status != 127, OSLA_ERR_UNSUPPORTED, "gnuplot cannot run");
  read_log(draw, line, sizeof line);
  OSLA_CHECK(exit_status == 0, OSLA_ERR_IO, "gnuplot ended with status %d: %s", exit_status, line);
  return OSLA_OK;
}

void tomo_draw_destroy(tomo_draw **draw)
{
  tomo_draw *d = *draw;
  if (!d) return;
  (void)tomo_draw_wait(d);
  if (d->script) fclose(d->script);
  if (d->pixels) fclose(d->pixels);
  if (d->log) fclose(d->log);
  for (int i = 0; i < d->n_pictures; i++)
    close(d->picture[i]);
  free(d->picture);
  free(d);
  *draw = NULL;
}
