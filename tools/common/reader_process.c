/* Starts the child process that reads files, reports how it ended, and stops it. */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif
#include "osla_blas.h"
#include "tools/common/reader_process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef HAVE_HDF5
#include <hdf5.h>
#endif

/* If the process needs more time than the limit, the system ends it with SIGXCPU, or with SIGKILL
 * at a limit that the user has set. */
void reader_process_limit_time(const char *path)
{
  enum { AT_LEAST = 20 };
  struct rusage used;
  struct rlimit limit;
  struct stat status;
  rlim_t seconds = AT_LEAST;
  if (stat(path, &status) == 0) seconds += (rlim_t)(status.st_size >> 20);
  if (getrusage(RUSAGE_SELF, &used) != 0 || getrlimit(RLIMIT_CPU, &limit) != 0) return;
  seconds += (rlim_t)(used.ru_utime.tv_sec + used.ru_stime.tv_sec);
  limit.rlim_cur = seconds < limit.rlim_max ? seconds : limit.rlim_max;
  (void)setrlimit(RLIMIT_CPU, &limit);
}

/* Makes the process die with its parent and write nothing: it makes no core file, and neither the C
 * library nor signal handlers of UCX write to the user's terminal. */
static void become_quiet(pid_t parent)
{
  static const int signals[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT,
                                SIGTERM, SIGINT, SIGHUP, SIGXCPU};
  const struct rlimit none = {0, 0};
  sigset_t empty;
  for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
    (void)signal(signals[i], SIG_DFL);
  (void)sigemptyset(&empty);
  (void)sigprocmask(SIG_SETMASK, &empty, NULL);
  /* with SIGXFSZ ignored, a write beyond the limit of the file size returns an error; the limit
   * also applies to shared memory */
  (void)signal(SIGXFSZ, SIG_IGN);
  (void)setrlimit(RLIMIT_CORE, &none);
  int null = open("/dev/null", O_RDWR);
  for (int fd = 0; fd <= 2; fd++)
    (void)dup2(null, fd);
  (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(EXIT_FAILURE); /* the parent has died before the call of prctl */
}

/* Initializes HDF5 before the fork, because HDF5 calls MPI when it starts. In the child process
 * that call could wait for ever: another thread (MPICH_ASYNC_PROGRESS) may hold a lock of MPI at
 * the time of the fork. */
static void open_hdf5(void)
{
#ifdef HAVE_HDF5
  (void)H5open();
#endif
}

static osla_err start(reader_process *p, int socket_type, reader_serve *serve, void *arg)
{
  int ends[2];
  pid_t parent = getpid();
  OSLA_CHECK(socketpair(AF_UNIX, socket_type | SOCK_CLOEXEC, 0, ends) == 0, OSLA_ERR_MEM,
             "socketpair: %s", strerror(errno));
  p->socket = ends[0];
  /* OpenBLAS ends its threads before a fork; a thread that found no room for its buffer would never
   * end. */
  bool ends_threads = osla_blas_threads() < 2 || osla_blas_has_room(1);
  open_hdf5();
  if (ends_threads) p->process = fork();
  if (p->process == 0) {
    (void)close(ends[0]);
    become_quiet(parent);
    serve(ends[1], arg);
    _exit(EXIT_SUCCESS);
  }
  int error = errno;
  (void)close(ends[1]);
  OSLA_CHECK(
    ends_threads, OSLA_ERR_MEM,
    "no memory for OpenBLAS's buffer: address space is needed for each thread (ulimit -v)");
  OSLA_CHECK(p->process > 0, OSLA_ERR_MEM, "no memory for no process to read files: %s",
             strerror(error));
  return OSLA_OK;
}

osla_err reader_process_start(reader_process *p, int socket_type, reader_serve *serve, void *arg)
{
  *p = READER_PROCESS_NONE;
  osla_err err = start(p, socket_type, serve, arg);
  if (err != OSLA_OK) reader_process_stop(p);
  return err;
}

/* Waits for the end of the process, and returns the exit status of the process. */
static int reap(reader_process *p)
{
  int status = 0;
  while (p->process > 0 && waitpid(p->process, &status, 0) < 0 && errno == EINTR) {
  }
  p->process = -1;
  return status;
}

osla_err reader_process_death(reader_process *p, const char *path)
{
  const int status = reap(p), signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  OSLA_CHECK(signal != 0, OSLA_ERR_IO, "%.200s: the process that reads it has ended (no memory?)",
             path);
  OSLA_CHECK(signal != SIGKILL, OSLA_ERR_IO,
             "%.200s: the process that reads it was killed (no memory, or by ulimit -t?)", path);
  OSLA_CHECK(signal != SIGXCPU, OSLA_ERR_IO, "%.200s: damaged: HDF5 does not finish reading it",
             path);
  return osla_error_set(OSLA_ERR_IO, "%.200s: damaged: HDF5 crashes while it reads it (%s)", path,
                        strsignal(signal));
}

osla_err reader_process_spoilt(reader_process *p, const char *path)
{
  reader_process_stop(p);
  return osla_error_set(OSLA_ERR_IO,
                        "%.200s: damaged: HDF5 overwrites its own memory while it reads it", path);
}

void reader_process_stop(reader_process *p)
{
  if (p->socket >= 0) (void)close(p->socket);
  p->socket = -1;
  if (p->process > 0) (void)kill(p->process, SIGKILL);
  (void)reap(p);
}
