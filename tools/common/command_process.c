/* Streams, signals and MPI start of a command. See command.h. */
#include "config.h"

#include "osla_blas.h"
#include "osla_farewell.h"
#include "tools/common/command.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void command_prepare_process(void)
{
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
    /* open returns the lowest free descriptor, which is fd */
    if (fcntl(fd, F_GETFD) < 0 && errno == EBADF)
      (void)!open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
  (void)signal(SIGXFSZ, SIG_IGN);
  (void)signal(SIGPIPE, SIG_IGN);
  (void)signal(SIGCHLD, SIG_DFL);
}

/* Returns true if the word is --threads, or a group of short options that contains the letter t,
 * because -t is the short form of --threads. A wrong true is harmless. */
static bool asks_for_threads(const char *word)
{
  if (strncmp(word, "--threads", 9) == 0) return true;
  return word[0] == '-' && word[1] != '-' && strchr(word, 't');
}

int command_thread_level(int argc, char **argv, const char *beside, bool tries)
{
  const char *osc = getenv("OMPI_MCA_osc");
  bool meet = tries && !(osc && strstr(osc, "pt2pt")), threads = false, found = false;
  for (int i = 1; i < argc; i++) {
    if (strcmp(argv[i], "--progress-thread") == 0) meet = true;
    if (asks_for_threads(argv[i])) threads = true;
    if (strstr(argv[i], beside)) found = true;
  }
  return meet || (threads && found) ? MPI_THREAD_MULTIPLE : MPI_THREAD_SERIALIZED;
}

/* UCX 1.13 answers a get over TCP in segments of 8 KiB; segments of 64 KiB need a third of the
 * processor time. Settings of the user have precedence. If UCX_TLS is set, nothing is changed,
 * because UCX warns of settings for transports that are not used. */
static void set_ucx_pieces(void)
{
  static const char *const name[] = {"UCX_TCP_TX_SEG_SIZE", "UCX_TCP_RX_SEG_SIZE"};
  if (getenv(name[0]) || getenv(name[1]) || getenv("UCX_TLS")) return;
  (void)setenv(name[0], "64k", 1);
  (void)setenv(name[1], "64k", 1);
}

int command_start_mpi(const char *name, int argc, char **argv, const char *beside, bool tries)
{
  int level = 0, wanted = command_thread_level(argc, argv, beside, tries);
  osla_err room = osla_blas_fits();
  if (room != OSLA_OK) return command_fail(name, room);
  set_ucx_pieces();
  if (MPI_Init_thread(NULL, NULL, wanted, &level) != MPI_SUCCESS)
    return OSLA_EXIT_FAILED; /* MPI has printed the reason */
  (void)osla_farewell_arrange(MPI_COMM_WORLD);
  return OSLA_EXIT_OK;
}

/* Returns true if standard output is a pipe or socket whose reader has closed it, as in `osla help
 * | head -1`. */
static bool reader_has_left(void)
{
  struct pollfd out = {.fd = STDOUT_FILENO, .events = POLLOUT};
  return poll(&out, 1, 0) == 1 && (out.revents & (POLLERR | POLLHUP));
}

int command_flush_output(const char *name, int status)
{
  bool failed = ferror(stdout);
  errno = 0;
  if (fflush(stdout) != 0) failed = true;
  const int reason = errno;
  if (!failed || status != OSLA_EXIT_OK || reason == EPIPE || reader_has_left()) return status;
  return command_error(name, "standard output cannot be written%s%s", reason ? ": " : "",
                       reason ? strerror(reason) : "");
}
